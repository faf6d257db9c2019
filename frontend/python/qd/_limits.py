"""That a parallel loop over several dimensions has no more elements than an i32 counts.

Where the host knows its bounds a launch computes how many there are, in Python's integers, before anything is launched. It does so by a
function that is made here, of what the tracer asked for where the host knows a value.
"""

from collections.abc import Callable
from typing import NamedTuple

from qd import _core
from qd._storage import MOST_ELEMENTS, of_dlpack


def _shape(value):
    return value.shape if hasattr(value, "shape") else of_dlpack(value).shape


# As no parameter is called.
_NAMES = {"_int": int, "_max": max, "_min": min, "_shape": _shape, "_scratch_slots": _core.scratch_slots}
# Those that have operands; the values of others are within their type.
_COMPUTED = ("unary", "binary", "cast")


def _wrapped(text, dtype):
    """An integer as its type has it."""
    return f"(({text}) - {dtype.least} & {dtype.most - dtype.least}) + {dtype.least}"


class Host:
    """How the host computes values: by their numbers, what the recorder was asked for, and their types."""

    def __init__(self):
        self._asked = {}
        self._names = dict(_NAMES)
        # The extents of arrays, by their numbers: no array has too many elements.
        self._shapes = []

    def key(self, key):
        """The key of a container in Python, which is a part of an argument's name."""
        if type(key) in (int, str):
            return repr(key)
        name = f"_key{len(self._names)}"
        self._names[name] = key
        return name

    def note(self, value, method, *args):
        # A cast to the type that it has is the value itself.
        self._asked.setdefault(value.number, (method, args, value.dtype))

    def note_shape(self, name, shape):
        for axis, extent in enumerate(shape):
            self._asked[extent.number] = "shape", (name, axis), extent.dtype
        self._shapes.append(sorted(extent.number for extent in shape))

    def is_shape(self, bounds):
        """Whether dimensions are all those of one array."""
        begins = {self._asked[begin.number][:2] for begin, _ in bounds}
        return begins == {("integer", (0, "i32"))} and sorted(end.number for _, end in bounds) in self._shapes

    def counter(self, bounds, parameters):
        """A function of a kernel's arguments: how many elements there are. And whether it uses any of these."""
        lines, extents = {}, []
        for bound in bounds:
            for value in bound:
                self._add(lines, value.number)
            extents.append("_max(_v{1} - _v{0}, 0)".format(*(value.number for value in bound)))
        text = "\n    ".join([f"def count({', '.join(parameters)}):", *lines.values(), f"return {' * '.join(extents)}"])
        names = dict(self._names)
        exec(text, names)
        uses = any(self._asked[number][0] in ("shape", "parameter") for number in lines)
        return names["count"], uses

    def _add(self, lines, number):
        """Adds the lines that compute a value."""
        if number in lines:
            return
        method, args, dtype = self._asked[number]
        match method, *args:
            case "integer" | "boolean", value, *_:
                operands, text = [], str(int(value))
            case "parameter", name, _:
                operands, text = [], f"_int({name})"
            case "shape", name, axis:
                operands, text = [], f"_int(_shape({name})[{axis}])"
            case "unary", "neg", a:
                operands, text = [a], f"-_v{a}"
            case "binary", "min" | "max" as name, a, b:
                operands, text = [a, b], f"_{name}(_v{a}, _v{b})"
            case "binary", name, a, b:
                operands, text = [a, b], f"_v{a} {name} _v{b}"
            case "cast", a, _:
                operands, text = [a], f"_v{a}"
            case "scratch_slots", algorithm, n, depth:
                operands, text = [n], f"_scratch_slots({algorithm!r}, _v{n}, {depth})"
        for operand in operands:
            self._add(lines, operand)
        lines[number] = f"_v{number} = {_wrapped(text, dtype) if method in _COMPUTED else text}"


class Limit(NamedTuple):
    """A loop of a kernel: its number of elements, of the kernel's arguments, and what is wrong if that is too large."""

    count: Callable
    text: str

    def is_exceeded(self, arguments):
        try:
            return self.count(*arguments) > MOST_ELEMENTS
        except ZeroDivisionError:
            # What is divided by 0 is undefined in kernels, too.
            return False
