from typing import Any

from qd.exception import *

def __getattr__(name: str) -> Any: ...
