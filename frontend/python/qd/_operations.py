"""The functions that kernels call. The tracer finds them as objects, whatever they are called there."""

import builtins

from qd._dtypes import DataType
from qd._numbers import OF_NUMBERS
from qd._values import is_number
from qd.exception import QuadrantsRuntimeError


class Operation:
    """An operation of kernels: what the recorder calls it, and its parameters, None for any number of values."""

    def __init__(self, name, parameters):
        self.name = name
        self.parameters = parameters and parameters.split()
        self.dtype_last = parameters is not None and self.parameters[-1] == "dtype"

    def __repr__(self):
        return f"qd.{self.name}"

    def __call__(self, *args, **kwargs):
        """What Python computes of numbers, as in a function that `@qd.pyfunc` makes."""
        compute, given = OF_NUMBERS.get(self.name), (*args, *kwargs.values())
        if compute is None or not all(is_number(each) or (self.dtype_last and isinstance(each, (DataType, type))) for each in given):
            raise QuadrantsRuntimeError("Quadrants functions cannot be called from Python-scope")
        return compute(*args, **kwargs)


UNARY = {name: Operation(name, "x") for name in "sqrt exp log sin cos tan asin acos tanh floor ceil round abs popcnt clz ffs".split()}
BINARY = {name: Operation(name, "x1 x2") for name in "raw_div raw_mod bit_shr atan2".split()}
POW = Operation("**", "base exponent")
MIN = Operation("min", None)
MAX = Operation("max", None)
SELECT = Operation("select", "cond x1 x2")
CAST = Operation("cast", "x dtype")
BIT_CAST = Operation("bit_cast", "x dtype")

# What combines a value into a variable or an element, by the sign of the operation.
SIGNS = {
    "atomic_add": "+", "atomic_sub": "-", "atomic_mul": "*", "atomic_min": "min", "atomic_max": "max", "atomic_and": "&",
    "atomic_or": "|", "atomic_xor": "^", "atomic_exchange": "exchange",
}  # fmt: skip
CAS = Operation("atomic_cas", "x expected desired")
ATOMICS = {**{name: Operation(name, "x y") for name in SIGNS}, CAS.name: CAS}
VOLATILE_LOAD = Operation("volatile_load", "x")
# What sums and products of bits are, which wrap as all integers do.
OF_BITS = {"+": "^", "-": "^", "*": "&"}
# Those that `+=` and the like are.
ASSIGNING = ("+", "-", "&", "|", "^")

EXPORTED = {**ATOMICS, VOLATILE_LOAD.name: VOLATILE_LOAD, **UNARY, **BINARY, "pow": POW, "min": MIN, "max": MAX, "select": SELECT, "cast": CAST, "bit_cast": BIT_CAST}

# Python's own functions that are operations of kernels.
BUILTINS = {builtins.abs: UNARY["abs"], builtins.round: UNARY["round"], builtins.pow: POW, builtins.min: MIN, builtins.max: MAX}
