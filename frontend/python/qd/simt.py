"""What threads do together: `qd.simt.subgroup`, `qd.simt.reductions`, `qd.simt.block`, `qd.simt.grid` and `qd.simt.warp`."""

import sys

from qd import _block as block
from qd import _grid as grid
from qd import _later
from qd import _reductions as reductions
from qd import _subgroup as subgroup
from qd import _warp as warp

MODULES = {"subgroup": subgroup, "reductions": reductions, "block": block, "grid": grid, "warp": warp}
# As a package has its modules.
__path__ = []
sys.modules |= {f"{__name__}.{name}": module for name, module in MODULES.items()}
globals().update(_later.SIMT)
