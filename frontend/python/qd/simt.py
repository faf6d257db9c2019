"""What threads do together: `qd.simt.subgroup`, `qd.simt.block` and `qd.simt.grid`."""

import sys

from qd import _block as block
from qd import _grid as grid
from qd import _subgroup as subgroup

# As a package has its modules.
__path__ = []
sys.modules |= {f"{__name__}.{name}": module for name, module in (("subgroup", subgroup), ("block", block), ("grid", grid))}
