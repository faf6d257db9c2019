"""Arrays that are fields or ndarrays, as a program chooses for each."""

from enum import IntEnum
from typing import Any

from qd._functions import Template
from qd._storage import AXES, Ndarray, Storage, field, integers


class Backend(IntEnum):
    """What an array is: one that kernels find by its name, or one that they are given."""

    FIELD = 0
    NDARRAY = 1


class Layout(IntEnum):
    """How the numbers of vectors lie in memory: those of each together, or those of each place in one."""

    AOS = 1
    SOA = 2


class _Tensor(Template):
    """What fields and ndarrays are, and a parameter that takes either. Each field is compiled by itself."""

    def __call__(self, array):
        return wrap(array)

    def __instancecheck__(self, value):
        return isinstance(value, Storage)


# To type checkers it may be of any library.
Tensor: Any = _Tensor()


def wrap(array):
    """A field or an ndarray as a tensor, which each is."""
    if not isinstance(array, Tensor):
        raise TypeError(f"a field or an ndarray is expected, and not {type(array).__name__}")
    return array


def tensor(dtype, shape, *, backend=Backend.NDARRAY, layout=None, needs_grad=False):
    """Makes an array. `layout` has the numbers of its axes from the outermost in memory: `(1, 0)` is by columns."""
    if needs_grad:
        raise NotImplementedError("tensors with gradients aren't there yet")
    shape = integers(shape)
    layout = tuple(range(len(shape))) if layout is None else integers(layout)
    if sorted(layout) != list(range(len(shape))):
        raise ValueError(f"layout={layout} does not have the number of each of {len(shape)} dimensions once")
    if Backend(backend) is Backend.FIELD:
        return field(dtype, shape, "".join(AXES[axis] for axis in layout))
    return Ndarray(dtype, shape, layout)
