"""What threads do together: `qd.simt.subgroup`, `qd.simt.reductions`, `qd.simt.block` and `qd.simt.grid`."""

import sys

from qd import _block as block
from qd import _grid as grid
from qd import _reductions as reductions
from qd import _subgroup as subgroup

MODULES = {"subgroup": subgroup, "reductions": reductions, "block": block, "grid": grid}
# As a package has its modules.
__path__ = []
sys.modules |= {f"{__name__}.{name}": module for name, module in MODULES.items()}
