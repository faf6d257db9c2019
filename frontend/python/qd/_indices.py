"""Vectors of indices: what a loop over `qd.grouped` has as one."""

import operator

# The names of members, in each of which several are a vector of these.
_NAMES = ("xyzw", "rgba", "stpq")


def _named(count):
    return f"a vector of {count} {'index' if count == 1 else 'indices'}"


def places(vector, name):
    """The numbers of the members that a name is of."""
    for names in _NAMES:
        if 0 < len(name) <= len(names) and all(each in names[: len(vector)] for each in name):
            return [names.index(each) for each in name]
    raise AttributeError(f"{_named(len(vector))} has no '{name}'")


def by_member(*operands):
    """The operands of each member, where one of them is a vector of indices, and each other has as many values, or is one for all."""
    count = len(next(each for each in operands if isinstance(each, Indices)))
    rows = [each if isinstance(each, (tuple, list)) else (each,) * count for each in operands]
    for row in rows:
        if len(row) != count:
            raise ValueError(f"{_named(count)} computes with a scalar, or as many values, and not {len(row)}")
    return [*zip(*rows)]


class Indices(tuple):
    """The indices of an element, `I` of `a[I]`: a tuple that computes by members, as in `I + 1` and `I + (1, 0)`, and of which
    members are taken by name, as in `I.x` and `I.yx`. Python compares it as a tuple, for which it stands; a kernel compares members."""

    __slots__ = ()

    def __getattr__(self, name):
        members = Indices(self[each] for each in places(self, name))
        return members if len(name) > 1 else members[0]

    def __getitem__(self, key):
        members = super().__getitem__(key)
        return Indices(members) if isinstance(key, slice) else members

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
    setattr(Indices, f"__{name}__", lambda self, other: Indices(operate(*pair) for pair in by_member(self, other)))
    setattr(Indices, f"__r{name}__", lambda self, other: Indices(operate(*pair) for pair in by_member(other, self)))


for _name in "add sub mul floordiv mod and or xor lshift rshift".split():
    _define(_name)
