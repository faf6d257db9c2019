"""Vectors of indices: what a loop over `qd.grouped` has as one."""

import operator

# The names of members.
_NAMES = "xyzw"


def _named(count):
    return f"a vector of {count} {'index' if count == 1 else 'indices'}"


def paired(a, b):
    """The operands of each member, where one of two operands is a vector of indices, and the other has as many values, or is one for all."""
    count = len(a if isinstance(a, Indices) else b)
    rows = [each if isinstance(each, (tuple, list)) else (each,) * count for each in (a, b)]
    for row in rows:
        if len(row) != count:
            raise ValueError(f"{_named(count)} computes with a scalar, or as many values, and not {len(row)}")
    return [*zip(*rows)]


class Indices(tuple):
    """The indices of an element, `I` of `a[I]`: a tuple that computes by members, as in `I + 1` and `I + (1, 0)`. Python compares
    it as a tuple, for which it stands; a kernel compares members."""

    __slots__ = ()

    def __getattr__(self, name):
        place = _NAMES.find(name) if len(name) == 1 else -1
        if not 0 <= place < len(self):
            raise AttributeError(f"{_named(len(self))} has no '{name}'")
        return self[place]

    def sum(self):
        return sum(self)

    def max(self):
        return max(self)

    def min(self):
        return min(self)

    def __neg__(self):
        return Indices(map(operator.neg, self))


def _define(name):
    """Defines an operator from both sides."""
    operate = getattr(operator, f"__{name}__")
    setattr(Indices, f"__{name}__", lambda self, other: Indices(operate(*pair) for pair in paired(self, other)))
    setattr(Indices, f"__r{name}__", lambda self, other: Indices(operate(*pair) for pair in paired(other, self)))


for _name in "add sub mul floordiv mod and or xor lshift rshift".split():
    _define(_name)
