from typing import Any

from qd._algorithms import *

def __getattr__(name: str) -> Any: ...
