from typing import Any

from qd._graph_api import *

def __getattr__(name: str) -> Any: ...
