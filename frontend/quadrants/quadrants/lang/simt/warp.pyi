from typing import Any

from qd._warp import *

def __getattr__(name: str) -> Any: ...
