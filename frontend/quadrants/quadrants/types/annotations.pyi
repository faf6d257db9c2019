from typing import Any

from qd._functions import *

def __getattr__(name: str) -> Any: ...
