"""Where programs for the peer find its modules: they are those of `qd`."""

import sys

from qd import _ast, _graph_api, _internals, _later, _perf_dispatch, exception, simt
from qd._runtime import amdgpu, arm64, cpu, cuda, gpu, metal, python, vulkan, x64

x86_64 = x64
impl = misc = util = _exceptions = _internals
matrix = stream = _later
ast = _ast

# As a package has its modules.
__path__ = []
_MODULES = {name: _internals for name in ("impl", "misc", "util", "_exceptions")}
_MODULES |= {name: _later for name in ("matrix", "stream")}
_MODULES |= {"ast": _ast, "ast.ast_transformers": _ast, "ast.ast_transformers.graph_api": _graph_api}
_MODULES |= {"_perf_dispatch": _perf_dispatch, "exception": exception, "simt": simt}
_MODULES |= {f"simt.{name}": module for name, module in simt.MODULES.items()}
sys.modules |= {f"{__name__}.{name}": module for name, module in _MODULES.items()}
