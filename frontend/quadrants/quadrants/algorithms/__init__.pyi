from typing import Any

from qd.algorithms import *

def __getattr__(name: str) -> Any: ...
