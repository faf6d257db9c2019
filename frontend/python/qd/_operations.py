"""The functions that kernels call. The tracer finds them as objects, whatever they are called there."""

import builtins

from qd.exception import QuadrantsRuntimeError


class Operation:
    """An operation of kernels: what the recorder calls it, and how many values it takes."""

    def __init__(self, name, arity, dtype_last=False):
        self.name = name
        self.arity = arity
        self.dtype_last = dtype_last

    def __repr__(self):
        return f"qd.{self.name}"

    def __call__(self, *args):
        raise QuadrantsRuntimeError("Quadrants functions cannot be called from Python-scope")


UNARY = {name: Operation(name, 1) for name in "sqrt exp log sin cos tan asin acos tanh floor ceil round abs popcnt clz ffs".split()}
BINARY = {name: Operation(name, 2) for name in "raw_div raw_mod bit_shr atan2".split()}
POW = Operation("**", 2)
MIN = Operation("min", None)
MAX = Operation("max", None)
SELECT = Operation("select", 3)
CAST = Operation("cast", 2, dtype_last=True)
BIT_CAST = Operation("bit_cast", 2, dtype_last=True)

# What combines a value into a variable or an element, by the sign of the operation.
SIGNS = {
    "atomic_add": "+", "atomic_sub": "-", "atomic_mul": "*", "atomic_min": "min", "atomic_max": "max", "atomic_and": "&",
    "atomic_or": "|", "atomic_xor": "^", "atomic_exchange": "exchange",
}  # fmt: skip
CAS = Operation("atomic_cas", 3)
ATOMICS = {**{name: Operation(name, 2) for name in SIGNS}, CAS.name: CAS}
VOLATILE_LOAD = Operation("volatile_load", 1)
# Those that `+=` and the like are.
ASSIGNING = ("+", "-", "&", "|", "^")

EXPORTED = {**ATOMICS, VOLATILE_LOAD.name: VOLATILE_LOAD, **UNARY, **BINARY, "pow": POW, "min": MIN, "max": MAX, "select": SELECT, "cast": CAST, "bit_cast": BIT_CAST}

# Python's own functions that are operations of kernels.
BUILTINS = {builtins.abs: UNARY["abs"], builtins.round: UNARY["round"], builtins.pow: POW, builtins.min: MIN, builtins.max: MAX}
