from typing import Any

from qd._internals import *

def __getattr__(name: str) -> Any: ...
