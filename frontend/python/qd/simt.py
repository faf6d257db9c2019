"""What threads do together: `qd.simt.subgroup`."""

import sys

from qd import _subgroup as subgroup

# As a package has its modules.
__path__ = []
sys.modules[f"{__name__}.subgroup"] = subgroup
