from typing import Any

from qd._block import *

def __getattr__(name: str) -> Any: ...
