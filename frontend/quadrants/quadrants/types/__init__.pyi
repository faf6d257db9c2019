from typing import Any

from qd.types import *

def __getattr__(name: str) -> Any: ...
