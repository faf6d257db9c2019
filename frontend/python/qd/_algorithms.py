"""Device-wide algorithms: steps of a kernel's top level, on arrays of one dimension.

`n` is how many elements count: an element of an array, which is read on the device, or any integer. There may be
256 ** log256_max_n of them. `scratch` is uninitialised memory of as many elements as the function of that name says.
"""

import functools
import inspect
import itertools
from typing import NamedTuple

from qd import _core
from qd._dtypes import f32, f64, i32, i64, u32, u64
from qd._values import Array
from qd.exception import QuadrantsRuntimeError

MOST_LEVELS = 4
_SCALARS = (i32, u32, f32, i64, u64, f64)
_WORDS = (i32, u32, f32)


class Step(NamedTuple):
    """An algorithm with what it is given, checked."""

    algorithm: str
    inputs: list
    outputs: list
    scratch: Array
    log256_max_n: int
    # How many of the outputs, the last ones, have one element.
    numbers: int = 0
    combine: str | None = None
    end_bit: int | None = None
    deterministic: bool = False

    def apart(self):
        """Pairs of arrays that share no memory: each one that is written, but for numbers, and any other."""
        written = [*self.outputs[: len(self.outputs) - self.numbers], self.scratch]
        return [*itertools.product(self.inputs, written), *itertools.combinations(written, 2)]


class AlgorithmFunc:
    """An algorithm that kernels call: from its arguments to a step."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = inspect.signature(function)

    def __call__(self, *args, **kwargs):
        raise QuadrantsRuntimeError("Quadrants functions cannot be called from Python-scope")


class SlotsFunc:
    """How many elements of scratch an algorithm takes, for Python and for kernels."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.algorithm = function.__name__.removesuffix("_scratch_slots")
        self.signature = inspect.signature(function)

    def __call__(self, *args, **kwargs):
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        count, *depth = bound.arguments.values()
        if depth and depth[0] is not None:
            check_depth(depth[0])
        if count < 0:
            raise ValueError(f"a number of elements is not negative, as {count} is")
        return _core.scratch_slots(self.algorithm, count, *(depth or [None]))


def check_depth(depth):
    """That a capacity is one."""
    if not isinstance(depth, int) or depth < 1:
        raise ValueError(f"log256_max_n={depth!r} is no number from 1 to {MOST_LEVELS}")
    if depth > MOST_LEVELS:
        raise ValueError(f"log256_max_n={depth} exceeds the maximum of {MOST_LEVELS}")


def least_depth(n):
    """The least capacity, as `log256_max_n`, that has room for so many elements."""
    return next(depth for depth in itertools.count(1) if 256**depth >= n)


# Names that programs for the peer look for.
_reduce_depth_for_n = _min_log256_for_n = least_depth


def _checked(name, given, depth, **dtypes):
    """That arrays are such, of one dimension and of these types."""
    check_depth(depth)
    for parameter, array in given.items():
        if not isinstance(array, Array):
            raise TypeError(f"{name}: '{parameter}' is an array of one dimension, and not {type(array).__name__}")
        if len(array.shape) > 1:
            raise TypeError(f"{name}: '{parameter}' is an array of one dimension, and not of {len(array.shape)}")
        expected = dtypes.get(parameter)
        if expected is not None and array.dtype not in expected:
            names = " or ".join(dtype.name for dtype in expected)
            raise TypeError(f"{name}: '{parameter}' is of {names}, and not of {array.dtype}")


def _supported(name, dtype, supported):
    if dtype not in supported:
        raise NotImplementedError(f"{name}: the type {dtype!r} is not supported")


def _as(array):
    """The types of an array that is like another one."""
    return (array.dtype,) if isinstance(array, Array) else None


def _scratch_of(dtype):
    """The types of scratch for values of a type."""
    return (u64, i64) if dtype in (i64, u64, f64) else (u32, i32)


def _combining(name, algorithm, combine, arr, out, scratch, dtype, depth, deterministic):
    _supported(name, dtype, _SCALARS)
    given = {"arr": arr, "out": out, "scratch": scratch}
    _checked(name, given, depth, arr=(dtype,), out=(dtype,), scratch=_scratch_of(dtype))
    numbers = int(algorithm == "reduce")
    return Step(algorithm, [arr], [out], scratch, depth, numbers, combine, deterministic=deterministic)


def _reduction(combine, name, what):
    def reduce(arr, out, scratch, n, dtype, log256_max_n, *, deterministic=False):
        return _combining(name, "reduce", combine, arr, out, scratch, dtype, log256_max_n, deterministic)

    reduce.__name__ = reduce.__qualname__ = name
    reduce.__doc__ = f"`out[0]` is {what} of the first `n` elements of `arr`; of none it is the identity.\n\n" + _DETERMINISTIC
    return AlgorithmFunc(reduce)


def _scan(combine, name, what):
    def scan(arr, out, scratch, n, dtype, log256_max_n, *, deterministic=False):
        if isinstance(arr, Array) and isinstance(out, Array) and arr.number == out.number:
            raise ValueError(f"{name}: 'out' is a buffer of its own, and not 'arr'")
        return _combining(name, "exclusive_scan", combine, arr, out, scratch, dtype, log256_max_n, deterministic)

    scan.__name__ = scan.__qualname__ = name
    scan.__doc__ = f"`out[i]` is {what} of the elements of `arr` before `i`; `out[0]` is the identity.\n\n" + _DETERMINISTIC
    return AlgorithmFunc(scan)


_DETERMINISTIC = "`deterministic`: sums of floats depend on the elements and the capacity alone, to the last bit."

reduce_add = _reduction("+", "reduce_add", "the sum")
reduce_min = _reduction("min", "reduce_min", "the least")
reduce_max = _reduction("max", "reduce_max", "the largest")
exclusive_scan_add = _scan("+", "exclusive_scan_add", "the sum")
exclusive_scan_min = _scan("min", "exclusive_scan_min", "the least")
exclusive_scan_max = _scan("max", "exclusive_scan_max", "the largest")


@AlgorithmFunc
def select(arr, flags, out, num_out, scratch, n, log256_max_n):
    """Copies the elements of `arr` whose flag is 1 to the front of `out`, in their order, and writes their number to
    `num_out[0]`. Flags are 0 or 1."""
    given = {"arr": arr, "flags": flags, "out": out, "num_out": num_out, "scratch": scratch}
    _checked("select", given, log256_max_n, flags=(i32,), out=_as(arr), num_out=(i32,), scratch=(u32, i32))
    _supported("select", arr.dtype, _SCALARS)
    return Step("select", [arr, flags], [out, num_out], scratch, log256_max_n, numbers=1)


@AlgorithmFunc
def sort(keys, tmp_keys, values, tmp_values, scratch, n, key_dtype, has_values, end_bit, log256_max_n):
    """Sorts `keys` in place by their lowest `end_bit` bits, stably, and moves `values` with them if it `has_values`."""
    _supported("sort", key_dtype, _SCALARS)
    width = 64 if key_dtype in (i64, u64, f64) else 32
    if not isinstance(end_bit, int) or end_bit % 16 or not 0 < end_bit <= width:
        message = f"sort: end_bit={end_bit!r} is no multiple of 16 up to {width}: digits have 8 bits, and their number is even"
        raise ValueError(message)
    given = {"keys": keys, "tmp_keys": tmp_keys, "scratch": scratch}
    buffers = [keys, tmp_keys]
    if has_values:
        given |= {"values": values, "tmp_values": tmp_values}
        buffers += [values, tmp_values]
    of_values = _as(values) if has_values else None
    _checked("sort", given, log256_max_n, keys=(key_dtype,), tmp_keys=(key_dtype,), tmp_values=of_values, scratch=(u32, i32))
    if has_values:
        _supported("sort", values.dtype, _SCALARS)
    return Step("sort", [], buffers, scratch, log256_max_n, end_bit=end_bit)


@AlgorithmFunc
def reduce_by_key_add(
    keys_in, values_in, keys_out, values_out, num_runs, scratch, n, value_dtype, log256_max_n, *, deterministic=False
):
    """Writes the key of each run of equal keys, and the sum of its values, and the number of runs to `num_runs[0]`."""
    _supported("reduce_by_key_add", value_dtype, _WORDS)
    given = {
        "keys_in": keys_in, "values_in": values_in, "keys_out": keys_out, "values_out": values_out, "num_runs": num_runs,
        "scratch": scratch,
    }  # fmt: skip
    _checked(
        "reduce_by_key_add", given, log256_max_n, values_in=(value_dtype,), keys_out=_as(keys_in),
        values_out=(value_dtype,), num_runs=(i32,), scratch=(u32, i32),
    )  # fmt: skip
    _supported("reduce_by_key_add", keys_in.dtype, _WORDS)
    outputs = [keys_out, values_out, num_runs]
    return Step("reduce_by_key", [keys_in, values_in], outputs, scratch, log256_max_n, 1, "+", deterministic=deterministic)


@SlotsFunc
def reduce_scratch_slots(N, log256_max_n=None):
    """How many elements of scratch reductions of up to `N` elements take."""


@SlotsFunc
def exclusive_scan_scratch_slots(N, log256_max_n=None):
    """How many elements of scratch scans of up to `N` elements take."""


@SlotsFunc
def sort_scratch_slots(N, log256_max_n=None):
    """How many elements of scratch a sort of up to `N` keys takes."""


@SlotsFunc
def select_scratch_slots(N):
    """How many elements of scratch `select` takes of up to `N` elements."""


@SlotsFunc
def reduce_by_key_scratch_slots(N):
    """How many elements of scratch `reduce_by_key_add` takes for up to `N` elements."""
