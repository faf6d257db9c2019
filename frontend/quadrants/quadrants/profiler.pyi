from typing import Any

from qd.profiler import *

def __getattr__(name: str) -> Any: ...
