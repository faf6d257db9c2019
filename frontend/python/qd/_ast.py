"""Where programs for the peer find `graph_api`: `qd.lang.ast.ast_transformers`."""

import sys

from qd import _graph_api as graph_api

ast_transformers = sys.modules[__name__]
# As a package has its modules.
__path__ = []
