"""Scans and reductions of tiles by any associative function: `qd.simt.reductions`.

A tile is `2 ** log2_size` lanes in a row, from one lane to the whole subgroup. `op(lower, upper)` is a function of kernels that combines two
values, that of lower lanes first, and need not commute; it is computed in lanes whose result does not count, too. What is missing of a subgroup
contributes nothing.
"""

from math import inf

from qd._functions import func, static, template
from qd._operations import CAST as cast
from qd._operations import SELECT as select
from qd._operations import UNARY
from qd._subgroup import _lane_tiled, ballot, shuffle_down, shuffle_up

popcnt = UNARY["popcnt"]


@func
def _inclusive_scan_tiled(value, op: template(), log2_size: template()):
    """The values of the tile up to this lane, combined: the scan of Hillis and Steele."""
    place = _lane_tiled(log2_size) & static(2**log2_size - 1)
    result = value
    for step in static(range(log2_size)):
        lower = shuffle_up(result, static(1 << step))
        result = select(place >= static(1 << step), op(lower, result), result)
    return result


@func
def _exclusive_scan_tiled(value, op: template(), identity, log2_size: template()):
    """The values of the tile below this lane, combined; in the tile's lane 0 the identity, in the type of the value."""
    place = _lane_tiled(log2_size) & static(2**log2_size - 1)
    lower = shuffle_up(_inclusive_scan_tiled(value, op, log2_size), 1)
    return select(place == 0, cast(identity, value.dtype), cast(lower, value.dtype))


@func
def _reduce_tiled(value, op: template(), log2_size: template()):
    """The values of the tile, combined; in the tile's lane 0."""
    lane = _lane_tiled(log2_size)
    # What is read of a lane that is missing is no value of its own.
    present = popcnt(ballot(True))
    result = value
    for step in static(range(log2_size)):
        upper = shuffle_down(result, static(1 << step))
        result = select(lane + static(1 << step) < present, op(result, upper), result)
    return result


@func
def _bin_add(a, b):
    """The sum."""
    return a + b


@func
def _bin_mul(a, b):
    """The product."""
    return a * b


@func
def _bin_min(a, b):
    """The lesser."""
    return min(a, b)


@func
def _bin_max(a, b):
    """The larger."""
    return max(a, b)


@func
def _bin_and(a, b):
    """The bits that both have."""
    return a & b


@func
def _bin_or(a, b):
    """The bits that one has."""
    return a | b


@func
def _bin_xor(a, b):
    """The bits that one alone has."""
    return a ^ b


@func
def _typed_min_identity(value):
    """The identity of `min` in the type of a value: +inf, or its largest integer."""
    return value.dtype(static(inf if value.dtype.is_real else value.dtype.most))


@func
def _typed_max_identity(value):
    """The identity of `max` in the type of a value: −inf, or its least integer."""
    return value.dtype(static(-inf if value.dtype.is_real else value.dtype.least))
