"""Operations of warps, which are subgroups of 32 lanes, by CUDA's names: `qd.simt.warp`. `qd.simt.subgroup` has the like for any size.

`mask` has a bit for each lane that takes part. All lanes of the warp come to an operation together, whatever the mask says: under an `if` that
differs among them it is an error, and so it is where subgroups have another size. Masks and votes are u32.
"""

from qd import _subgroup as subgroup
from qd._dtypes import f32, i32, u32
from qd._functions import func, static_assert
from qd._operations import BIT_CAST as bit_cast
from qd._operations import SELECT as select
from qd._operations import UNARY
from qd._subgroup import group_size

ffs = UNARY["ffs"]


@func
def _check():
    """That subgroups are warps."""
    static_assert(group_size() == 32, f"qd.simt.warp is for subgroups of 32 lanes, and here they have {group_size()}: see qd.simt.subgroup")


@func
def _takes_part(mask):
    """Whether this lane is one of a mask."""
    _check()
    return u32(mask) >> u32(subgroup.invocation_id()) & u32(1) != 0


@func
def ballot(predicate):
    """A mask of the lanes whose predicate is not 0."""
    _check()
    return u32(subgroup.ballot(predicate))


@func
def active_mask():
    """A mask of the lanes that there are: the last warp may have its first ones alone."""
    return ballot(True)


@func
def all_nonzero(mask, predicate):
    """1 if the predicate of each lane of the mask is not 0, else 0."""
    return u32(subgroup.all_true((predicate != 0) | (not _takes_part(mask))))


@func
def any_nonzero(mask, predicate):
    """1 if the predicate of some lane of the mask is not 0, else 0."""
    return u32(subgroup.any_true((predicate != 0) & _takes_part(mask)))


@func
def unique(mask, predicate):
    """1 if the predicates of the mask's lanes are all 0, or none is, else 0."""
    return all_nonzero(mask, predicate) | all_nonzero(mask, predicate == 0)


@func
def match_any(mask, value):
    """Those lanes of the mask whose value has the same bits as this lane's. It has 32 bits."""
    return u32(subgroup._match_any(bit_cast(value, u32))) & ballot(_takes_part(mask))


@func
def match_all(mask, value):
    """The lanes of the mask if their values all have the same bits, else 0. These are 32."""
    bits = bit_cast(value, u32)
    takes_part = _takes_part(mask)
    lanes = ballot(takes_part)
    is_same = bits == subgroup.shuffle(bits, max(ffs(lanes) - 1, 0))
    return select(subgroup.all_true(is_same | (not takes_part)), lanes, u32(0))


@func
def shfl_sync_i32(mask, value, lane):
    """The value, i32, of the lane with a number, modulo 32."""
    _check()
    return subgroup.shuffle(i32(value), lane & 31)


@func
def shfl_sync_f32(mask, value, lane):
    """The value, f32, of the lane with a number, modulo 32."""
    _check()
    return subgroup.shuffle(f32(value), lane & 31)


@func
def shfl_up_i32(mask, value, offset):
    """The value, i32, of the lane so many below; where there is none the lane's own."""
    _check()
    return subgroup.shuffle_up(i32(value), offset)


@func
def shfl_up_f32(mask, value, offset):
    """The value, f32, of the lane so many below; where there is none the lane's own."""
    _check()
    return subgroup.shuffle_up(f32(value), offset)


@func
def shfl_down_i32(mask, value, offset):
    """The value, i32, of the lane so many above; where there is none the lane's own."""
    _check()
    return subgroup.shuffle_down(i32(value), offset)


@func
def shfl_down_f32(mask, value, offset):
    """The value, f32, of the lane so many above; where there is none the lane's own."""
    _check()
    return subgroup.shuffle_down(f32(value), offset)


@func
def shfl_xor_i32(mask, value, lanes):
    """The value, i32, of the lane whose number differs by the bits of `lanes`."""
    _check()
    return subgroup.shuffle_xor(i32(value), lanes)


@func
def sync(mask):
    """Waits for all lanes, those of the mask among them."""
    _check()
    subgroup.sync()
