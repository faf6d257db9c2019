from typing import Any

from qd._perf_dispatch import *

def __getattr__(name: str) -> Any: ...
