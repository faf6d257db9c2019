"""Algorithms that Python calls: older ones, in place, which are those of kernels with memory of their own."""

import warnings

from qd._algorithms import exclusive_scan_add, exclusive_scan_scratch_slots, least_depth, sort, sort_scratch_slots
from qd._dtypes import f16, f32, i8, i16, i32, u1, u8, u16, u32
from qd._functions import template
from qd._kernel import kernel
from qd._storage import Storage, ndarray
from qd.exception import QuadrantsRuntimeError
from qd.types import ndarray as array

# Sorts are of 32 bits and of 64.
_WIDE = {u1: u32, i8: i32, i16: i32, u8: u32, u16: u32, f16: f32}


@kernel
def _sort_keys(keys: array(ndim=1), tmp: array(ndim=1), scratch: array(u32, 1), end_bit: template(), depth: template()):
    sort(keys, tmp, None, None, scratch, keys.shape[0], keys.dtype, False, end_bit, depth)


@kernel
def _sort_pairs(
    keys: array(ndim=1),
    tmp: array(ndim=1),
    values: array(ndim=1),
    tmp_values: array(ndim=1),
    scratch: array(u32, 1),
    end_bit: template(),
    depth: template(),
):
    sort(keys, tmp, values, tmp_values, scratch, keys.shape[0], keys.dtype, True, end_bit, depth)


@kernel
def _scan(arr: array(i32, 1), before: array(i32, 1), scratch: array(u32, 1), depth: template()):
    exclusive_scan_add(arr, before, scratch, arr.shape[0], i32, depth)
    for i in arr:
        arr[i] = arr[i] + before[i]


def _warn(name, now):
    warnings.warn(f"qd.algorithms.{name} is deprecated: use qd.algorithms.{now}", DeprecationWarning, stacklevel=3)


def _check(name, given, shape=None):
    """That something is an array of one dimension, and of a shape."""
    if not isinstance(given, Storage):
        raise TypeError(f"{name}: a field or an ndarray is expected, and not {type(given).__name__}")
    if len(given.shape) != 1:
        raise ValueError(f"{name}: an array of one dimension is expected, and not of {len(given.shape)}")
    if shape not in (None, given.shape):
        raise ValueError(f"{name}: Mismatch shape: {given.shape} is given, and {shape} is expected")


def _widened(given):
    """An array of a type that sorts take: itself, or a copy."""
    dtype = _WIDE.get(given.dtype)
    if dtype is None:
        return given
    wide = ndarray(dtype, given.shape)
    wide.copy_from(given)
    return wide


def parallel_sort(keys, values=None):
    """Deprecated: `qd.algorithms.sort`. Sorts a field or an ndarray of one dimension in place, and moves values with it."""
    _warn("parallel_sort", "sort")
    _check("parallel_sort", keys)
    given = [keys]
    if values is not None:
        _check("parallel_sort", values, keys.shape)
        if values is keys:
            raise ValueError("parallel_sort: keys and values are arrays of their own")
        given.append(values)
    wide = [_widened(each) for each in given]
    buffers = [each for one in wide for each in (one, ndarray(one.dtype, one.shape))]
    (count,) = keys.shape
    depth = least_depth(count)
    scratch = ndarray(u32, sort_scratch_slots(count, depth))
    end_bit = 64 if wide[0].dtype.name.endswith("64") else 32
    (_sort_keys if values is None else _sort_pairs)(*buffers, scratch, end_bit, depth)
    for one, sorted in zip(given, wide):
        if one is not sorted:
            one.copy_from(sorted)


class PrefixSumExecutor:
    """Deprecated: `qd.algorithms.exclusive_scan_add`. Sums of the elements of arrays of `length` i32 up to each one."""

    def __init__(self, length):
        _warn("PrefixSumExecutor", "exclusive_scan_add")
        self._shape = (length,)
        self._depth = least_depth(length)
        self._before = ndarray(i32, length)
        self._scratch = ndarray(u32, exclusive_scan_scratch_slots(length, self._depth))

    def run(self, input_arr):
        """Puts the sum of the elements up to each one in its place, of a field or an ndarray of one dimension."""
        _warn("PrefixSumExecutor", "exclusive_scan_add")
        _check("PrefixSumExecutor", input_arr, self._shape)
        if input_arr.dtype != i32:
            raise QuadrantsRuntimeError("Only qd.i32 type is supported for prefix sum.")
        _scan(input_arr, self._before, self._scratch, self._depth)
