from typing import Any

from qd.math import *

def __getattr__(name: str) -> Any: ...
