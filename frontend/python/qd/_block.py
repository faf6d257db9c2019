"""Operations of the threads of a block: `qd.simt.block`, and `qd.simt.grid`.

They are for parallel loops after `qd.loop_config(block_dim=…)`: the loop's numbers in a row are the threads of a block. All threads of a block
come to an operation together, but to the fences. Where the last block is not full, what is missing contributes nothing.
"""

import inspect
import warnings
from typing import TYPE_CHECKING, Any

from qd._dtypes import i32
from qd._functions import func
from qd.exception import QuadrantsRuntimeError


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
_COMBINE = {"add": "+", "min": "min", "max": "max"}

for _form, (_operation, _doc) in _FORMS.items():
    for _name, _sign in _COMBINE.items():
        _full = f"{_form}_{_name}"
        globals()[_full] = BlockFunc(
            _full, _operation, ["value", "block_dim", "dtype"], _sign, _doc + " They are of `dtype`; `block_dim` is the loop's."
        )

if TYPE_CHECKING:
    # The names that are made above, to type checkers.
    def __getattr__(name: str) -> Any: ...

_sum, _least, _most = (BlockFunc("sync", "block.reduce_all", ["value"], sign) for sign in _COMBINE.values())


@func
def sync_count_nonzero(predicate):
    """How many threads have a predicate that is not 0, i32."""
    return _sum(i32(predicate != 0))


@func
def sync_all_nonzero(predicate):
    """1 if the predicate of each thread is not 0, else 0."""
    return _least(i32(predicate != 0))


@func
def sync_any_nonzero(predicate):
    """1 if the predicate of some thread is not 0, else 0."""
    return _most(i32(predicate != 0))
