"""To type checkers, too, it is `qd`."""

from typing import Any

from qd import *

def __getattr__(name: str) -> Any: ...
