"""Types, and annotations of parameters."""

import sys
from typing import Any

from qd import _functions as annotations
from qd import _later
from qd._dtypes import DataType, f16, f32, f64, i8, i16, i32, i64, scalar_of, u1, u8, u16, u32, u64
from qd._functions import Template, template

int8, int16, int32, int64 = i8, i16, i32, i64
uint1, uint8, uint16, uint32, uint64 = u1, u8, u16, u32, u64
float16, float32, float64 = f16, f32, f64
globals().update(_later.TYPES)

# As a package has its modules.
__path__ = []
sys.modules[f"{__name__}.annotations"] = annotations


class NdarrayType:
    """An array of a type and a number of dimensions; None: that of the argument."""

    def __init__(self, dtype=None, ndim=None):
        is_scalar = isinstance(dtype, DataType) or (isinstance(dtype, type) and dtype in (int, float, bool))
        if dtype is not None and not is_scalar:
            raise NotImplementedError(f"arrays of {dtype!r} aren't there yet: only of scalar types")
        if ndim is not None and not (hasattr(ndim, "__index__") and ndim >= 0):
            raise TypeError(f"ndim is a number of dimensions, and not {ndim!r}")
        self.dtype = dtype
        self.ndim = ndim

    @staticmethod
    def of(annotation, defaults):
        """That which an annotation asks for, of a scalar type; None. `defaults` are those of `int`, `float` and `bool`, which
        `init` may say after the annotation."""
        if annotation is ndarray or annotation is NDArray:
            return NdarrayType()
        if not isinstance(annotation, NdarrayType):
            return None
        return NdarrayType(scalar_of(annotation.dtype, defaults), annotation.ndim)

    def takes(self, dtype, rank):
        """Whether it takes an array of a type, None if kernels have no such, and a rank."""
        return dtype is not None and self.dtype in (None, dtype) and self.ndim in (None, rank)

    def required(self, rank):
        """What it takes, for an error of an array of a rank."""
        return f"{self.dtype or 'scalars'}[{rank if self.ndim is None else self.ndim}-D]"


def ndarray(dtype=None, ndim=None):
    """An array parameter."""
    return NdarrayType(dtype, ndim)


class _NDArray:
    """`NDArray[dtype, ndim]`, `NDArray[dtype]`: an array parameter."""

    def __class_getitem__(cls, key):
        return NdarrayType(*key) if isinstance(key, tuple) else NdarrayType(key)


# To type checkers an array may be of any library.
NDArray: Any = _NDArray


def is_real(dtype):
    """Whether a type is of reals."""
    return dtype.is_real


def is_integral(dtype):
    """Whether a type is of integers, of which `u1` is one."""
    return not dtype.is_real


def is_signed(dtype):
    """Whether a type has negative numbers."""
    return dtype.is_real or dtype.least < 0


def is_tensor(dtype):
    """Whether a type is of vectors or matrices: there are none yet."""
    return False
