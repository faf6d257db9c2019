"""What names and expressions are while a kernel is traced, besides Python's own objects."""

from dataclasses import dataclass

from qd._dtypes import DataType
from qd._indices import Indices


@dataclass(frozen=True, eq=False)
class Value:
    """A node of the record that has a value. Python, which asks while a kernel is traced, does not learn it, but that it is not None."""

    number: int
    dtype: DataType
    # Whether the host can compute it before a launch; and, as it is used in any task, whether it is pure.
    is_host: bool = False
    is_pure: bool = False
    # If it is a parameter.
    parameter: str | None = None

    def __bool__(self):
        raise TypeError(f"a value of type '{self.dtype}' is neither true nor false")

    def __eq__(self, other):
        if self is other or other is None:
            return self is other
        raise TypeError(f"a value of type '{self.dtype}' is not compared")

    __hash__ = object.__hash__

    def __repr__(self):
        return f"a value of the kernel, '{self.dtype}'"


@dataclass(frozen=True)
class Variable:
    """A variable of one task."""

    number: int
    task: int
    # Whether its type is that of what it is assigned first, which has not been traced yet; and then how many runtime branches and
    # loops are open where it is declared.
    is_pending: bool = False
    depth: int = 0


@dataclass(frozen=True)
class Array:
    """An array, as a parameter of the record."""

    number: int
    dtype: DataType
    # Numbers where they are known while tracing, and else values.
    shape: tuple
    # Of a field: its axes from the outermost in memory, and the index of its first element.
    axes: tuple | None = None
    offset: tuple | None = None

    def __getitem__(self, index):
        # As properties and plain functions do, which Python calls.
        raise TypeError("elements of arrays are read in kernels and functions of @qd.func, also below @property, and not by Python")


@dataclass(frozen=True)
class Spanning:
    """A variable that several tasks have: an array of one element, which the launch brings along."""

    array: Array


def is_number(value):
    """Whether it is a number of Python or NumPy."""
    return isinstance(value, (bool, int, float)) or (hasattr(value, "dtype") and hasattr(value, "item") and value.ndim == 0)


def plain(number):
    """A number of Python, of one of NumPy, whose arithmetic is its own."""
    return number.item() if hasattr(number, "item") else number


def is_tuple(value):
    """Whether it is a tuple that has a value for each of its members in kernels, too. Others that have names are objects of Python."""
    return type(value) in (tuple, Indices)


def leaves(value):
    """A value, or those in a tuple."""
    if not is_tuple(value):
        yield value
        return
    for each in value:
        yield from leaves(each)


def is_variable(value):
    """Whether it is a variable, or a tuple with some."""
    return any(isinstance(each, (Variable, Spanning)) for each in leaves(value))
