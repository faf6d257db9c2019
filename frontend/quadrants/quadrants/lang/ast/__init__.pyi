from typing import Any

from qd._ast import *

def __getattr__(name: str) -> Any: ...
