from typing import Any

from qd._grid import *

def __getattr__(name: str) -> Any: ...
