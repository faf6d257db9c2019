"""Where fields are that are made without a shape: `qd.root`, and `FieldsBuilder`. Each has memory of its own."""

from qd._later import Later
from qd._storage import Field, integers
from qd.exception import QuadrantsRuntimeError


def axes(*numbers):
    """Axes by their numbers, for `dense`; `qd.ij` are the first two."""
    return integers(numbers)


AXES = {letters: axes(*("ijkl".index(each) for each in letters)) for letters in "i j k l ij ik il jk jl kl ijk ijl ikl jkl ijkl".split()}


class SNode:
    """Ranges of indices, which fields are placed in."""

    pointer, bitmasked, dynamic, hash, quant_array, bit_struct, lazy_grad, lazy_dual = (
        Later(f"qd.root.{name}") for name in "pointer bitmasked dynamic hash quant_array bit_struct lazy_grad lazy_dual".split()
    )

    def __init__(self, builder=None, extents=()):
        # Whose it is; `qd.root` belongs to none.
        self._builder = builder
        # By axes, from the outermost in memory.
        self._extents = dict(extents)

    @property
    def shape(self):
        """The extents, in the order of the axes."""
        return tuple(self._extents[axis] for axis in sorted(self._extents))

    def dense(self, axes, dimensions):
        """Ranges inside of these: of one extent for all axes, or of one for each. Several ranges of one axis are one of as many
        indices as all have."""
        axes, sizes = integers(axes), integers(dimensions)
        sizes = sizes * len(axes) if len(sizes) == 1 else sizes
        if len(sizes) != len(axes) or len(set(axes)) != len(axes):
            raise ValueError(f"dense takes an extent for each of several axes, and not {sizes} for {axes}")
        if min(sizes, default=1) < 1:
            raise ValueError(f"{sizes} are no extents of dense: they are above 0")
        inside = SNode(self._builder, self._extents)
        for axis, size in zip(axes, sizes):
            inside._extents[axis] = inside._extents.get(axis, 1) * size
        return inside

    def place(self, *fields, offset=None):
        """Gives fields these ranges; their indices begin at `offset`."""
        for field in fields:
            if not isinstance(field, Field):
                raise TypeError(f"a field that was made without a shape is expected, and not {type(field).__name__}")
            if field.is_placed:
                raise QuadrantsRuntimeError("the field has a place already")
        if len(set(map(id, fields))) < len(fields):
            raise QuadrantsRuntimeError("a field is given twice, and has one place")
        if self._builder is not None:
            self._builder.add(fields)
        numbers = sorted(self._extents)
        for field in fields:
            field.put(self.shape, tuple(map(numbers.index, self._extents)), offset)
        return self


class FieldsBuilder(SNode):
    """Places fields that end together, by `destroy` of what `finalize` returns."""

    def __init__(self):
        super().__init__(self)
        self._tree = SNodeTree()
        self._is_final = False

    def add(self, fields):
        """Takes fields that are placed."""
        if self._is_final:
            raise QuadrantsRuntimeError("FieldsBuilder finalized: no more fields are placed by it")
        self._tree.fields.extend(fields)

    def finalize(self, raise_warning=True):
        """From here on it places no more fields."""
        self._is_final = True
        return self._tree


class SNodeTree:
    """The fields of a `FieldsBuilder`."""

    def __init__(self):
        self.fields = []

    def destroy(self):
        """Frees them."""
        for field in self.fields:
            field.free()


root = SNode()
EXPORTED = {"root": root, "axes": axes, **AXES}
