"""Operations of the threads of a block: `qd.simt.block`, and `qd.simt.grid`.

They are for parallel loops: the loop's numbers in a row are the threads of a block, 128 unless `qd.loop_config(block_dim=…)` says how many. All threads
of a block come to an operation together, but to the fences. Where the last block is not full, what is missing contributes nothing.
"""

import inspect
import warnings
from typing import TYPE_CHECKING, Any

from qd._dtypes import i32, u32, u64
from qd._functions import func, static, static_assert, template
from qd._operations import CAST as cast
from qd._operations import SELECT as select
from qd._operations import UNARY
from qd._reductions import _inclusive_scan_tiled, _reduce_tiled
from qd._subgroup import ballot, broadcast_first, group_size, invocation_id, log2_group_size, shuffle, shuffle_up
from qd.exception import QuadrantsRuntimeError

ffs, popcnt = UNARY["ffs"], UNARY["popcnt"]


class BlockFunc:
    """An operation: what the recorder calls it, and how it combines."""

    def __init__(self, name, operation, parameters=(), combine=None, doc=""):
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.operation, self.combine = operation, combine
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.signature = self.__signature__ = inspect.Signature([inspect.Parameter(each, kind) for each in parameters])

    def __call__(self, *args, **kwargs):
        raise QuadrantsRuntimeError("Quadrants functions cannot be called from Python-scope")

    @property
    def needs_blocks(self):
        """Whether it is for loops whose blocks the program knows."""
        return not self.operation.endswith("mem_fence")

    def current(self):
        """What it is a name of."""
        return self


class Deprecated(BlockFunc):
    """An older name, of which each process is told once."""

    def __init__(self, module, name, now):
        super().__init__(name, now.operation, doc=f"Deprecated: `{now.__name__}`.")
        self._names = [f"qd.simt.{module}.{each}()" for each in (name, now.__name__)]
        self._now = now
        self._is_told = False

    def current(self):
        if not self._is_told:
            self._is_told = True
            warnings.warn("{} is deprecated: use {}".format(*self._names), DeprecationWarning, stacklevel=3)
        return self._now


class SharedArray:
    """An array in the memory of a block: `SharedArray((64,), qd.f32)` in a loop, where it gets a name. Its elements are undefined at first."""

    def __init__(self, shape, dtype):
        raise QuadrantsRuntimeError("a SharedArray is made in a kernel")


thread_idx = BlockFunc("thread_idx", "block.thread_id", doc="The number of this thread in its block, i32.")
global_thread_idx = BlockFunc("global_thread_idx", "block.global_thread_id", doc="The number of this thread among all of the loop, i32.")
sync = BlockFunc("sync", "block.sync", doc="Waits for all threads of the block, and shows each what the others have written.")
mem_fence = BlockFunc("mem_fence", "block.mem_fence", doc="Orders accesses to memory, as the block sees them. Threads may come to it alone.")
mem_sync = Deprecated("block", "mem_sync", mem_fence)

_FORMS = {
    "reduce": ("block.reduce", "The values of all threads, combined; in thread 0."),
    "reduce_all": ("block.reduce_all", "The values of all threads, combined."),
    "inclusive": ("block.inclusive_scan", "The values up to this thread, combined."),
    "exclusive": ("block.exclusive_scan", "The values below this thread, combined; in thread 0 the identity."),
}
_GIVEN = " They are of `dtype`; `block_dim` is the loop's, a multiple of a subgroup's lanes."
_COMBINE = {"add": "+", "min": "min", "max": "max"}

for _form, (_operation, _doc) in _FORMS.items():
    for _name, _sign in _COMBINE.items():
        _full = f"{_form}_{_name}"
        globals()[_full] = BlockFunc(_full, _operation, ["value", "block_dim", "dtype"], _sign, _doc + _GIVEN)

if TYPE_CHECKING:
    # The names that are made above, to type checkers.
    def __getattr__(name: str) -> Any: ...

_sum, _least, _most = (BlockFunc("sync", "block.reduce_all", ["value"], sign) for sign in _COMBINE.values())


@func
def sync_count_nonzero(predicate):
    """How many threads have a predicate that is not 0, i32. As `sync`, it waits for what threads wrote."""
    sync()
    return _sum(i32(predicate != 0))


@func
def sync_all_nonzero(predicate):
    """1 if the predicate of each thread is not 0, else 0. It waits as `sync` does."""
    sync()
    return _least(i32(predicate != 0))


@func
def sync_any_nonzero(predicate):
    """1 if the predicate of some thread is not 0, else 0. It waits as `sync` does."""
    sync()
    return _most(i32(predicate != 0))


# By any associative function.

# The number of this thread; the tracer checks that the loop's blocks have as many, in whole subgroups.
_thread_idx_of = BlockFunc("thread_idx", "block.thread_id", ["block_dim"])
_sum_below = BlockFunc("exclusive_add", "block.exclusive_scan", ["value"], "+")


@func
def _subgroup_idx(block_dim: template()):
    """The number of this thread's subgroup in a block of whole ones."""
    return _thread_idx_of(block_dim) >> static(log2_group_size())


@func
def _aggregates(aggregate, is_holder, block_dim: template(), dtype: template()):
    """The aggregate of each subgroup, which one of its lanes holds, for all threads of the block."""
    aggregates = SharedArray(static(block_dim // group_size()), dtype)
    # In a loop, others may still read those of the last round.
    sync()
    if is_holder:
        aggregates[_subgroup_idx(block_dim)] = aggregate
    sync()
    return aggregates


@func
def _scan(value, block_dim: template(), op: template(), dtype: template()):
    """The inclusive scan of the subgroup, and the subgroup's exclusive prefix, which has no meaning in the first."""
    subgroup = _subgroup_idx(block_dim)
    scan = _inclusive_scan_tiled(cast(value, dtype), op, static(log2_group_size()))
    if static(block_dim == group_size()):
        return scan, scan
    aggregates = _aggregates(scan, invocation_id() == static(group_size() - 1), block_dim, dtype)
    prefix = aggregates[0]
    for i in range(1, subgroup):
        prefix = op(prefix, aggregates[i])
    return scan, prefix


@func
def inclusive_scan(value, block_dim: template(), op: template(), dtype: template()):
    """The values up to this thread, combined by `op(lower, upper)`. They are of `dtype`; `block_dim` is the loop's, a multiple of a subgroup's lanes.

    `op` is any associative function, which need not commute; it is computed in threads whose result does not count, too. Each subgroup scans its
    values and publishes its aggregate, and each thread combines those of the subgroups below one after another.
    """
    scan, prefix = _scan(value, block_dim, op, dtype)
    return cast(select(_subgroup_idx(block_dim) == 0, scan, op(prefix, scan)), dtype)


@func
def exclusive_scan(value, block_dim: template(), op: template(), identity, dtype: template()):
    """The values below this thread, combined as in `inclusive_scan`; in thread 0 the identity."""
    scan, prefix = _scan(value, block_dim, op, dtype)
    lower = shuffle_up(scan, 1)
    upper = select(invocation_id() == 0, prefix, op(prefix, lower))
    result = cast(select(_subgroup_idx(block_dim) == 0, lower, upper), dtype)
    return select(thread_idx() == 0, cast(identity, dtype), result)


@func
def reduce_all(value, block_dim: template(), op: template(), dtype: template()):
    """The values of all threads, combined in their order, as in `inclusive_scan`."""
    subgroup = _subgroup_idx(block_dim)
    aggregate = _reduce_tiled(cast(value, dtype), op, static(log2_group_size()))
    if static(block_dim == group_size()):
        return cast(broadcast_first(aggregate), dtype)
    present = _sum(i32(1))
    aggregates = _aggregates(aggregate, invocation_id() == 0, block_dim, dtype)
    result = aggregates[0]
    for i in range(1, i32((present + static(group_size() - 1)) >> static(log2_group_size()))):
        result = op(result, aggregates[i])
    return result


@func
def reduce(value, block_dim: template(), op: template(), dtype: template()):
    """The values of all threads, combined in their order, as in `inclusive_scan`; in thread 0."""
    return reduce_all(value, block_dim, op, dtype)


@func
def radix_rank_match_atomic_or(
    key, block_dim: template(), radix_bits: template(), bit_start: template(), num_bits: template(), bins, excl_prefix
):
    """The stable rank of this thread's key, i32: its place when the block sorts its keys by a digit, `num_bits` bits of a u32 from `bit_start` on.

    `bins` and `excl_prefix` are SharedArrays of `2 ** radix_bits` integers; `block_dim` is as much. They become the histogram of the digits and
    its exclusive prefix sum, which all threads may read on return. Lanes match digits by ballots, and subgroups take turns at the histogram.
    """
    subgroup = _subgroup_idx(block_dim)
    static_assert(block_dim == 2**radix_bits, f"block_dim={block_dim} is not 2 ** radix_bits, with radix_bits={radix_bits}")
    static_assert(0 <= num_bits <= radix_bits, f"num_bits={num_bits} is not from 0 to radix_bits={radix_bits}")
    digit = i32(u32(key) >> u32(bit_start) & u32(static(2**num_bits - 1)))
    peers = ballot(True)
    for bit in range(num_bits):
        is_set = digit >> bit & 1 != 0
        holders = ballot(is_set)
        peers &= select(is_set, holders, ~holders)
    before = popcnt(peers & (u64(1) << u64(invocation_id())) - u64(1))

    thread = thread_idx()
    # Fewer than there are bins, in a block that is not full.
    present = sync_count_nonzero(True)
    at = thread
    while at < block_dim:
        bins[at] = 0
        at += present
    sync()
    first = i32(0)
    for turn in range(static(block_dim // group_size())):
        if (subgroup == turn) & (before == 0):
            first = bins[digit]
            bins[digit] = first + popcnt(peers)
        sync()
    rank = before + shuffle(first, max(ffs(peers) - 1, 0))

    begin, total = i32(0), i32(0)
    while begin < block_dim:
        at = begin + thread
        count = i32(0)
        if at < block_dim:
            count = bins[at]
        place = total + _sum_below(count)
        if at < block_dim:
            excl_prefix[at] = place
        sync()
        begin = min(begin + present, block_dim)
        total = excl_prefix[begin - 1] + bins[begin - 1]
    return excl_prefix[digit] + rank
