"""Device-wide algorithms: steps of a kernel's top level, on arrays of one dimension.

`n` is how many elements count: an element of an array, which is read on the device, or any integer. There may be
256 ** log256_max_n of them. `scratch` is uninitialised memory of as many elements as the function of that name says.
"""

from sys import modules as _modules

from qd import _algorithms
from qd._algorithms import (
    exclusive_scan_add,
    exclusive_scan_max,
    exclusive_scan_min,
    exclusive_scan_scratch_slots,
    reduce_add,
    reduce_by_key_add,
    reduce_by_key_scratch_slots,
    reduce_max,
    reduce_min,
    reduce_scratch_slots,
    select,
    select_scratch_slots,
    sort,
    sort_scratch_slots,
)
from qd._host_algorithms import PrefixSumExecutor, parallel_sort

__all__ = [name for name in dir() if not name.startswith("_")]

# As a package has its modules.
__path__ = []
_reduce = _radix_sort = _algorithms
_modules.update({f"{__name__}.{name}": _algorithms for name in ("_reduce", "_radix_sort")})
