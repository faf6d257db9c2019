from typing import Any

from qd.simt import *

def __getattr__(name: str) -> Any: ...
