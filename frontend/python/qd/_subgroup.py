"""Operations of the lanes of a subgroup: `qd.simt.subgroup`.

Elements in a row are a subgroup: in a parallel loop, the lane of a thread is its number modulo the size. The last subgroup may have its first
lanes alone: others contribute nothing, and what would be read from one is the lane's own value. All lanes of a subgroup come to an
operation together.
"""

import inspect
import warnings
from typing import TYPE_CHECKING, Any

from qd import _runtime
from qd._dtypes import i32, u32
from qd._functions import func, static, static_assert, template
from qd._operations import SELECT as select
from qd.exception import QuadrantsRuntimeError


class SubgroupFunc:
    """An operation: what the recorder calls it, how it combines, and the type that its result is made."""

    def __init__(self, name, operation, parameters=(), combine=None, result=None, doc=""):
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.operation, self.combine, self.result = operation, combine, result
        self.is_tiled = name.endswith("_tiled")
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = [*parameters, "log2_size"] if self.is_tiled else parameters
        self.signature = self.__signature__ = inspect.Signature([inspect.Parameter(each, kind) for each in names])

    @property
    def is_of_lane(self):
        """Whether a lane may come to it alone."""
        return self.operation in ("lane_id", "elect", "mem_fence")

    def __call__(self, *args, **kwargs):
        raise QuadrantsRuntimeError("Quadrants functions cannot be called from Python-scope")


# Whether the process has been told of each older name.
_barrier_deprecation_warned = _memory_barrier_deprecation_warned = _ballot_full_subgroup_deprecation_warned = False


def barrier():
    """Deprecated: `sync`."""
    return current(barrier)()


def memory_barrier():
    """Deprecated: `mem_fence`."""
    return current(memory_barrier)()


def ballot_full_subgroup(predicate):
    """Deprecated: `ballot`."""
    return current(ballot_full_subgroup)(predicate)


# Functions of Python, and what each calls: the tracer does so, too.
DEPRECATED = {barrier: "sync", memory_barrier: "mem_fence", ballot_full_subgroup: "ballot"}


def is_deprecated(value):
    """Whether it is an older name."""
    return any(value is each for each in DEPRECATED)


def current(older):
    """What an older name calls: whatever has the newer one in this module now. Each process is told once."""
    name, now = older.__name__, DEPRECATED[older]
    flag = f"_{name}_deprecation_warned"
    if not globals()[flag]:
        globals()[flag] = True
        message = f"qd.simt.subgroup.{name}() is deprecated: use qd.simt.subgroup.{now}()"
        warnings.warn(message, DeprecationWarning, stacklevel=3)
    return globals()[now]


invocation_id = SubgroupFunc("invocation_id", "lane_id", doc="The number of this lane, i32.")
# The same; the tracer checks the tile.
_lane_tiled = SubgroupFunc("lane_tiled", "lane_id")
elect = SubgroupFunc("elect", "elect", result=i32, doc="1 in lane 0, and 0 in the others.")
sync = SubgroupFunc("sync", "sync", doc="Waits for all lanes.")
mem_fence = SubgroupFunc("mem_fence", "mem_fence", doc="Orders accesses to memory among the lanes.")
shuffle = SubgroupFunc("shuffle", "idx", ["value", "index"], doc="The value of the lane with a number.")
shuffle_up = SubgroupFunc("shuffle_up", "up", ["value", "offset"], doc="The value of the lane so many below.")
shuffle_down = SubgroupFunc("shuffle_down", "down", ["value", "offset"], doc="The value of the lane so many above.")
shuffle_xor = SubgroupFunc("shuffle_xor", "xor", ["value", "mask"], doc="The value of the lane whose number differs by a mask.")
broadcast = SubgroupFunc("broadcast", "broadcast", ["value", "index"], doc="The value of one lane, in all.")
broadcast_first = SubgroupFunc("broadcast_first", "broadcast_first", ["value"], doc="The value of lane 0, in all.")
ballot = SubgroupFunc("ballot", "ballot", ["predicate"], doc="A mask, u64, of the lanes whose predicate is not 0.")
# Of an integer. A mask may have lanes beyond those of a subgroup that is filled in part: callers take them out.
_match_any = SubgroupFunc("match_any", "match_any", ["value"], doc="A mask, u64, of the lanes with the same value.")

_VOTES = {
    "all_true": ("all", "predicate", "1 if the predicate of each lane is not 0, else 0."),
    "any_true": ("any", "predicate", "1 if the predicate of some lane is not 0, else 0."),
    "all_equal": ("all_equal", "value", "1 if all lanes have the same value, by ==, else 0."),
}
_FORMS = {
    "reduce": ("reduce", ["value"], "The values of all lanes, combined; in lane 0."),
    "reduce_all": ("reduce_all", ["value"], "The values of all lanes, combined."),
    "segmented_reduce": (
        "segmented_reduce", ["value", "head_flag"],
        "The values from the last lane up to this one whose flag is not 0, or from lane 0, up to this one, combined.",
    ),
    "inclusive": ("inclusive_scan", ["value"], "The values up to this lane, combined."),
    "exclusive": ("exclusive_scan", ["value"], "The values below this lane, combined; in lane 0 the identity."),
}  # fmt: skip
_COMBINE = {"add": "+", "min": "min", "max": "max", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_TILED = " Tiles of `2 ** log2_size` lanes do so by themselves."

for _name, (_operation, _parameter, _doc) in _VOTES.items():
    for _suffix, _more in (("", ""), ("_tiled", _TILED)):
        globals()[_name + _suffix] = SubgroupFunc(_name + _suffix, _operation, [_parameter], result=i32, doc=_doc + _more)
for _form, (_operation, _parameters, _doc) in _FORMS.items():
    for _name, _sign in list(_COMBINE.items())[: None if _form.endswith("clusive") else 3]:
        for _suffix, _more in (("", ""), ("_tiled", _TILED)):
            _full = f"{_form}_{_name}{_suffix}"
            globals()[_full] = SubgroupFunc(_full, _operation, _parameters, _sign, doc=_doc + _more)
if TYPE_CHECKING:
    # The names that are made above, to type checkers.
    def __getattr__(name: str) -> Any: ...


def group_size():
    """Lanes in a subgroup, a number of Python's in kernels, too."""
    return _runtime.current().device.subgroup_size


def log2_group_size():
    """The logarithm of that to the base of 2."""
    return group_size().bit_length() - 1


# What Python calls while it traces.
STATIC = (group_size, log2_group_size)


@func
def ballot_first_n(predicate, n: template()):
    """A mask, u32, of those among the first `n` lanes, at most 32, whose predicate is not 0."""
    static_assert(1 <= n <= 32, "n is from 1 to 32")
    return u32(ballot(predicate)) & u32(static(2**n - 1))


@func
def lanemask_eq(lane_id):
    """A mask, u32, of the lane with a number below 32."""
    return u32(1) << u32(lane_id)


@func
def lanemask_lt(lane_id):
    """A mask, u32, of the lanes below one."""
    return lanemask_eq(lane_id) - u32(1)


@func
def lanemask_le(lane_id):
    """A mask, u32, of the lanes up to one."""
    return lanemask_lt(lane_id) | lanemask_eq(lane_id)


@func
def lanemask_gt(lane_id):
    """A mask, u32, of the lanes above one."""
    return ~lanemask_le(lane_id)


@func
def lanemask_ge(lane_id):
    """A mask, u32, of the lanes from one on."""
    return ~lanemask_lt(lane_id)


@func
def bitonic_sort_kv_tiled(key, value, log2_size: template()):
    """The pairs of each tile in ascending order, by key and then by value, one a lane: Batcher's bitonic network."""
    lane = _lane_tiled(log2_size)
    k, v = key, value
    for stage in static(range(1, log2_size + 1)):
        for step in static(range(stage - 1, -1, -1)):
            other_k, other_v = shuffle_xor(k, static(1 << step)), shuffle_xor(v, static(1 << step))
            is_less = (other_k < k) | ((other_k == k) & (other_v < v))
            is_more = (k < other_k) | ((k == other_k) & (v < other_v))
            is_first = lane & static(1 << step) == 0
            # In the end all of a tile ascends.
            ascends = lane & static(0 if stage == log2_size else 1 << stage) == 0
            takes = select(is_first == ascends, is_less, is_more)
            k, v = select(takes, other_k, k), select(takes, other_v, v)
    return k, v


@func
def bitonic_sort_kv(key, value):
    """The pairs of the subgroup in ascending order, by key and then by value, one a lane."""
    k, v = bitonic_sort_kv_tiled(key, value, static(log2_group_size()))
    return k, v
