"""Where programs for the peer find its modules: they are those of `qd`."""

import sys

from qd import exception, simt

# As a package has its modules.
__path__ = []
sys.modules |= {f"{__name__}.exception": exception, f"{__name__}.simt": simt}
sys.modules |= {f"{__name__}.simt.{name}": module for name, module in simt.MODULES.items()}
