from typing import Any

from qd._reductions import *

def __getattr__(name: str) -> Any: ...
