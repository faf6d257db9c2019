"""Mathematics of kernels: the operations of `qd`, and functions that are made of them.

Those that have the name of a function of GLSL are what its specification (OpenGL Shading Language 4.60, chapter 8) says, on
scalars.
"""

from math import e, inf, nan, pi
from math import frexp as _frexp
from math import log as _log
from typing import Any

from qd import _later, _operations
from qd._dtypes import f64, i32, i64, u32
from qd._functions import func, pyfunc, static, static_assert, template
from qd._numbers import dtype_of as _dtype_of
from qd._operations import BIT_CAST as bit_cast
from qd._operations import CAST as cast
from qd._operations import MAX as max
from qd._operations import MIN as min
from qd._operations import POW as pow
from qd._operations import SELECT as select
from qd._values import is_number as _is_number

globals().update({**_operations.UNARY, **_later.MATH})
atan2 = _operations.BINARY["atan2"]
floor, log, sqrt = (_operations.UNARY[name] for name in ("floor", "log", "sqrt"))


@pyfunc
def zero(x):
    """0, of a value's type."""
    return cast(0, static(_dtype_of(x)))


@pyfunc
def one(x):
    """1, of a value's type."""
    return cast(1, static(_dtype_of(x)))


@pyfunc
def rsqrt(x):
    """One over the square root; of an integer, that of it as a float."""
    return 1 / sqrt(x)


@pyfunc
def frexp(x):
    """The mantissa, from 0.5 to 1 or of a negative value from −1 to −0.5, and the exponent of two that a value is their
    product of, as i32. Zeros, infinities and NaNs are their own mantissa; their exponent is 0."""
    static_assert(_dtype_of(x).is_real, "frexp takes real inputs only")
    if static(_is_number(x)):
        return _frexp(x)
    is_double = static(x.dtype == f64)
    integer = static(i64 if is_double else i32)
    # Bits of the mantissa, and the exponent of 0.5 as it is stored.
    bits, half = static((52, 1022) if is_double else (23, 126))
    exponents = static(2 * half + 3)
    # Where the mantissa does not begin with a bit that is left out.
    is_small = abs(x) < x.dtype(static(2.0 ** (1 - half)))
    word = bit_cast(select(is_small, x * x.dtype(static(2.0 ** (bits + 2))), x), integer)
    exponent = cast(word >> bits & exponents, i32) - half
    mantissa = bit_cast(word & ~(cast(exponents, integer) << bits) | cast(half, integer) << bits, x.dtype)
    is_finite = x != 0 and abs(x) < inf
    return select(is_finite, mantissa, x), select(is_finite, select(is_small, exponent - static(bits + 2), exponent), 0)


@pyfunc
def fns(mask: u32, base: u32, offset: i32) -> u32:
    """The place of a set bit of `mask`: of those from `base` on that with the number `offset`, counted from 1; of those from
    `base` down that with the number `-offset`; `base` itself, if `offset` is 0. 0xFFFFFFFF if there is none."""
    found = u32(0xFFFFFFFF)
    # There are no more than 32.
    left = select(offset < -32 or offset > 32, 33, max(abs(offset), 1))
    at = i32(base)
    while left > 0 and 0 <= at < 32:
        if mask >> u32(at) & u32(1) != 0:
            left -= 1
            if left == 0:
                found = u32(at)
        if offset == 0:
            left = 0
        at += select(offset < 0, -1, 1)
    return found


@pyfunc
def isnan(x):
    """Whether a value is no number."""
    return x != x


@pyfunc
def isinf(x):
    """Whether a value is an infinity, of either sign."""
    return abs(x) == inf


@pyfunc
def sign(x):
    """−1, 0 or 1, of the value's type; 0 of a NaN."""
    dtype = static(_dtype_of(x))
    return cast(x > 0, dtype) - cast(x < 0, dtype)


@pyfunc
def clamp(x, low, high):
    """The value, or the bound that is nearer where it is outside."""
    return min(max(x, low), high)


@pyfunc
def mix(x, y, a):
    """From `x` to `y`, as `a` goes from 0 to 1."""
    return x * (1 - a) + y * a


@pyfunc
def fract(x):
    """What is above the next lower integer."""
    return x - floor(x)


@pyfunc
def mod(x, y):
    """The remainder that has the sign of `y`."""
    return x - y * floor(x / y)


@pyfunc
def step(edge, x):
    """0 below an edge, and 1 from it on, of the type of `x`."""
    return cast(x >= edge, static(_dtype_of(x)))


@pyfunc
def smoothstep(low, high, x):
    """From 0 at `low` to 1 at `high`, with slope 0 at both."""
    t = clamp((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3 - 2 * t)


@pyfunc
def _number(x, number: template()):
    """A number, as precise as a value is."""
    dtype = static(_dtype_of(x))
    if static(dtype.is_real):
        return dtype(number)
    return number


@pyfunc
def log2(x):
    """The logarithm to the base of 2."""
    return _over(log(x), static(_log(2)))


@pyfunc
def _over(x, number: template()):
    return x / _number(x, number)


@pyfunc
def degrees(x):
    """An angle in degrees, given in radians."""
    return x * _number(x, static(180 / pi))


@pyfunc
def radians(x):
    """An angle in radians, given in degrees."""
    return x * _number(x, static(pi / 180))


# What kernels have as `qd.…`, too.
EXPORTED = {each.__name__: each for each in (zero, one, rsqrt, frexp)}


# What other languages, and Python, call it.
_INSTEAD = {
    "atan": "qd.atan2(x, 1)", "arctan": "qd.atan2(x, 1)", "arctan2": "qd.atan2", "arcsin": "qd.asin", "arccos": "qd.acos", "inversesqrt": "qd.rsqrt",
    "exp2": "2.0 ** x", "log10": "qd.math.log2(x) * 0.30102999566398120", "sinh": "(qd.exp(x) - qd.exp(-x)) / 2", "cosh": "(qd.exp(x) + qd.exp(-x)) / 2",
    "hypot": "qd.sqrt(x * x + y * y)", "fabs": "qd.abs", "fmin": "qd.min", "fmax": "qd.max", "fmod": "qd.raw_mod", "trunc": "x - qd.raw_mod(x, 1.0)",
    "lerp": "qd.math.mix", "saturate": "qd.math.clamp(x, 0.0, 1.0)", "where": "qd.select", "bitcast": "qd.bit_cast", "ctz": "qd.ffs(x) - 1",
    "popcount": "qd.popcnt", "bitCount": "qd.popcnt",
}  # fmt: skip


def instead(name):
    """What a message adds of a name that there is none of: what has its meaning."""
    found = f"qd.math.{name}" if name in globals() else _INSTEAD.get(name)
    return f"use {found}" if found else "it may not be there yet"


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'qd.math' has no attribute {name!r}: {instead(name)}")
