"""Annotations of parameters."""

import sys
from typing import Any

from qd import _functions as annotations
from qd._dtypes import DataType

# As a package has its modules.
__path__ = []
sys.modules[f"{__name__}.annotations"] = annotations


class NdarrayType:
    """An array of a type and a number of dimensions; None: that of the argument."""

    def __init__(self, dtype=None, ndim=None):
        if dtype is not None and not isinstance(dtype, DataType):
            raise NotImplementedError(f"arrays of {dtype!r} aren't there yet: only of scalar types")
        self.dtype = dtype
        self.ndim = ndim


def ndarray(dtype=None, ndim=None):
    """An array parameter."""
    return NdarrayType(dtype, ndim)


class _NDArray:
    """`NDArray[dtype, ndim]`, `NDArray[dtype]`: an array parameter."""

    def __class_getitem__(cls, key):
        return NdarrayType(*key) if isinstance(key, tuple) else NdarrayType(key)


# To type checkers an array may be of any library.
NDArray: Any = _NDArray
