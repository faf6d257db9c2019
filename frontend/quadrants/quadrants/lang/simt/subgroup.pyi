from typing import Any

from qd._subgroup import *

def __getattr__(name: str) -> Any: ...
