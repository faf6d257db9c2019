"""Where programs for the peer find what it has compiled: `qd._lib.core`."""

import sys

from qd import _internals as core

# As a package has its modules.
__path__ = []
sys.modules[f"{__name__}.core"] = core
