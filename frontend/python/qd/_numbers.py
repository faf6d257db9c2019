"""What the operations of kernels are of numbers: Python computes it, as in a function that `@qd.pyfunc` makes.

Results are Python's own numbers, and mathematics is as precise as Python's.
"""

import math

from qd import _runtime
from qd._dtypes import BY_NAME, OF_NUMPY, DataType, f64, i64, scalar_of, u1, u32, u64
from qd._values import Array, Value, is_number, plain
from qd.exception import QuadrantsTypeError


def _config():
    """What `init` was told, or would be."""
    return _runtime.config() or _runtime.Config(_runtime.cpu)


def dtype_of(x):
    """The type of a value of a kernel, or of a number. NumPy's have types; a real of Python has 64 bits, and an integer the default
    type, or the next one that holds it."""
    if isinstance(x, (Value, Array)):
        return x.dtype
    if not is_number(x):
        raise QuadrantsTypeError(f"'{type(x).__name__}' is no type of a number")
    dtype = OF_NUMPY.get(getattr(getattr(x, "dtype", None), "str", "")[1:])
    x = plain(x)
    if dtype is not None or not isinstance(x, int):
        return dtype or f64
    if isinstance(x, bool):
        return u1
    holding = [each for each in (_config().default_ip, u32, i64, u64) if each.least <= x <= each.most]
    if not holding:
        raise QuadrantsTypeError(f"{x} has more than 64 bits")
    return holding[0]


def _given(dtype):
    """The type that an argument says."""
    found = dtype if isinstance(dtype, DataType) else scalar_of(dtype, _config().defaults)
    if found is None:
        raise QuadrantsTypeError("a type is expected")
    return found


def _bit_cast(x, dtype):
    """A number of Python has as many bits as the type."""
    to, own = _given(dtype), dtype_of(x)
    if not hasattr(x, "dtype") and own is not u1:
        own = BY_NAME.get(f"{'f' if own.is_real else 'i' if x < 0 else 'u'}{8 * to.size}", own)
        if not own.is_real and not own.least <= x <= own.most:
            raise QuadrantsTypeError(f"{x} has more bits than '{to}'")
    if own.size != to.size or (own is u1) != (to is u1):
        raise QuadrantsTypeError(f"bit_cast is between types of one width, and not from '{own}' to '{to}'")
    return to.of_bits(own.bits_of(plain(x)))


def _raw_div(x1, x2):
    if not (isinstance(plain(x1), int) and isinstance(plain(x2), int)):
        return x1 / x2
    quotient = abs(plain(x1)) // abs(plain(x2))
    return quotient if (x1 < 0) == (x2 < 0) else -quotient


def _raw_mod(x1, x2):
    if not (isinstance(plain(x1), int) and isinstance(plain(x2), int)):
        return math.fmod(x1, x2)
    return plain(x1) - plain(x2) * _raw_div(x1, x2)


def _bit_shr(x1, x2):
    dtype = dtype_of(x1)
    if dtype.is_real or dtype_of(x2).is_real:
        raise QuadrantsTypeError(f"unsupported operand type(s) for 'bit_shr': '{dtype}' and '{dtype_of(x2)}'")
    return dtype.of_bits(dtype.bits_of(plain(x1)) >> plain(x2))


def _of_bits(name, count):
    """A function of the bits of an integer, and of how many its type has."""

    def compute(x):
        dtype = dtype_of(x)
        if dtype.is_real or dtype.size < 4:
            takes = "integral inputs only" if dtype.is_real else "integers of 32 and 64 bits"
            raise QuadrantsTypeError(f"'{name}' takes {takes}, however '{dtype}' is provided")
        return count(dtype.bits_of(plain(x)), 8 * dtype.size)

    return compute


def _real(function):
    """A function of one number whose result is a real, as in kernels; they name the number."""
    return lambda x: float(function(x))


# By the names of operations.
OF_NUMBERS = {
    **{name: _real(getattr(math, name)) for name in "sqrt exp log sin cos tan asin acos tanh floor ceil".split()},
    "round": _real(round),
    "abs": lambda x: abs(x),
    "raw_div": _raw_div,
    "raw_mod": _raw_mod,
    "bit_shr": _bit_shr,
    "atan2": lambda x1, x2: math.atan2(x1, x2),
    "**": lambda base, exponent: base**exponent,
    "min": min,
    "max": max,
    "select": lambda cond, x1, x2: x1 if cond else x2,
    "cast": lambda x, dtype: _given(dtype)(x),
    "bit_cast": _bit_cast,
    "popcnt": _of_bits("popcnt", lambda bits, _: bits.bit_count()),
    "clz": _of_bits("clz", lambda bits, width: width - bits.bit_length()),
    "ffs": _of_bits("ffs", lambda bits, _: (bits & -bits).bit_length()),
}
