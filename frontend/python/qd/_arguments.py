"""Arguments of kernels: what a call gives, and what is compiled for that."""

import dataclasses
import inspect
import struct
import sys
import typing

from qd._dtypes import OF_NUMPY, DataType, u1
from qd._functions import ArrayOf, Baked, Members, Template, is_data_oriented, is_template
from qd._storage import MOST_ELEMENTS, Ndarray, Storage, bounds, of_dlpack
from qd.exception import QuadrantsCompilationError, QuadrantsRuntimeError, QuadrantsRuntimeTypeError, QuadrantsSyntaxError
from qd.types import NDArray, NdarrayType, ndarray


_ANY = NdarrayType()

# The order of bytes in a word, as NumPy's type strings have it; a byte has none.
_NATIVE = "|<" if sys.byteorder == "little" else "|>"


@dataclasses.dataclass(frozen=True)
class Record:
    """A dataclass as a parameter: what each of its members is."""

    type: type
    kinds: dict


class Given:
    """The arguments of a call: what they are compiled for, and as the runtime takes them."""

    def __init__(self):
        self.key = ()
        self.packed = []
        # Of each array the first address, and that after its last.
        self.ranges = []
        # Numbers among what is packed, and of arguments; copies, and what they are copied back to.
        self.copies = []
        # The arrays as they were given, and those that the kernel sees, which have to live as long as the call.
        self.arrays = []
        self.keep = []


class Signature:
    """Parameters and results, with what annotations mean by default."""

    def __init__(self, function, source, config):
        self.source = source
        self.defaults = {int: config.default_ip, float: config.default_fp, bool: u1}
        try:
            self.python = inspect.signature(function, eval_str=True)
        except NameError:
            self.python = inspect.signature(function)
        *_, owner, _ = ["<locals>", *function.__qualname__.split(".")]
        self.is_method = owner != "<locals>"
        nodes = {node.arg: node for node in source.tree.args.args}
        self.parameters = {}
        for parameter in self.python.parameters.values():
            node = nodes.get(parameter.name, source.tree)
            self.parameters[parameter.name] = self._parameter(parameter, node)
        kinds = enumerate(self.parameters.values())
        self.packers = [(self._packer(kind), str(number), kind) for number, kind in kinds]
        self.is_tuple, self.results = self._results()

    def _parameter(self, parameter, node):
        annotation = parameter.annotation
        if annotation is inspect.Parameter.empty:
            if not self.parameters and self.is_method:
                return Template()
            raise QuadrantsSyntaxError(
                f"{self.source.shown(node)}\nKernel parameter \"{parameter.name}\" must be annotated"
            )
        kind = self._kind(annotation)
        if kind is None:
            self._later(node, f"a parameter of type {annotation!r} isn't there yet")
        return kind

    def _kind(self, annotation):
        """What an annotation asks for: a template, an array, a scalar, or the members of a dataclass; None."""
        if is_template(annotation):
            return Template()
        if annotation in (ndarray, NDArray):
            return NdarrayType()
        if isinstance(annotation, NdarrayType):
            return annotation
        if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
            hints = typing.get_type_hints(annotation)
            kinds = {field.name: self._kind(hints[field.name]) for field in dataclasses.fields(annotation)}
            return None if None in kinds.values() else Record(annotation, kinds)
        return self.scalar(annotation)

    def scalar(self, annotation):
        if isinstance(annotation, DataType):
            return annotation
        return self.defaults.get(annotation) if isinstance(annotation, type) else None

    def _results(self):
        annotation = self.python.return_annotation
        if annotation in (inspect.Signature.empty, None):
            return False, []
        is_tuple = isinstance(annotation, tuple) or typing.get_origin(annotation) is tuple
        each = typing.get_args(annotation) or annotation if is_tuple else [annotation]
        results = [self.scalar(one) for one in each]
        if None in results:
            self._later(self.source.tree.returns, "a result that is no scalar isn't there yet")
        return is_tuple, results

    def _later(self, node, message):
        raise QuadrantsCompilationError(f"{self.source.shown(node)}\n{message}")

    def bind(self, args, kwargs):
        """What a call gives."""
        given = Given()
        if kwargs or len(args) != len(self.parameters):
            bound = self.python.bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        types = [pack(given, number, kind, value) for (pack, number, kind), value in zip(self.packers, args)]
        for _, number, _, original in given.copies:
            _check_alone(number, original, given.arrays)
        given.key = (*types, _overlap(given.ranges))
        return given

    def _packer(self, kind):
        """What packs an argument, or a member of one, and says what it is compiled for."""
        packers = {NdarrayType: self._array, Template: self._template, Record: self._record}
        return packers.get(type(kind), self._scalar)

    def _packed(self, given, number, kind, value):
        return self._packer(kind)(given, number, kind, value)

    def _template(self, given, number, template, value):
        """An array is an argument, and so are those of an object; all else is compiled in."""
        if isinstance(value, Ndarray) or (hasattr(value, "__array_interface__") and not _is_scalar(value)):
            return self._array(given, number, _ANY, value)
        if not is_data_oriented(value):
            return Baked(value)
        members = []
        for name, member in vars(value).items():
            kind = Template()
            if not value._qd_template_primitives and type(member) in self.defaults:
                kind = self.defaults[type(member)]
            members.append((name, self._packed(given, f"{number}.{name}", kind, member)))
        return Members(type(value), tuple(members))

    def _record(self, given, number, record, value):
        if not isinstance(value, record.type):
            raise QuadrantsRuntimeTypeError(
                f"Argument {number} (type={type(value)}) cannot be converted into required type {record.type.__name__}"
            )
        members = []
        for name, kind in record.kinds.items():
            member = getattr(value, name)
            kind = Template() if member is None else kind
            members.append((name, self._packed(given, f"{number}.{name}", kind, member)))
        return Members(record.type, tuple(members))

    def _array(self, given, number, parameter, value):
        if isinstance(value, Storage):
            value = value.array()
        # Whatever NumPy's arrays are used by is loaded already: the package itself does not import it.
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(value, numpy.ndarray):
            value = self._foreign(number, value)
        # One question instead of five: a launch is to take microseconds.
        said = value.__array_interface__
        order, dtype = said["typestr"][0], OF_NUMPY.get(said["typestr"][1:])
        shape = said["shape"]
        rank = len(shape)
        if dtype is None or order not in _NATIVE or parameter.dtype not in (None, dtype) or parameter.ndim not in (None, rank):
            required = f"{parameter.dtype or 'scalars'}[{rank if parameter.ndim is None else parameter.ndim}-D]"
            raise QuadrantsRuntimeTypeError(
                f"Argument {number} (type={value.dtype}[{rank}-D]) cannot be converted into required type {required}"
            )
        size = value.size
        if size > MOST_ELEMENTS:
            raise QuadrantsRuntimeError(
                f"Argument {number}: {shape} is not a valid shape for ndarray: at most {MOST_ELEMENTS} elements"
            )
        address, is_read_only = said["data"]
        given.arrays.append((number, value))
        # Without strides it is contiguous.
        if said["strides"] is None and address % value.itemsize == 0:
            given.ranges.append((address, address + value.nbytes))
        else:
            given.ranges.append(bounds(value))
            original, value = value, value.copy()
            address = value.ctypes.data
            given.copies.append((len(given.packed), number, value, original))
        given.keep.append(value)
        given.packed.append((address, size, is_read_only))
        if rank != 1:
            given.packed.extend(shape)
        return ArrayOf(dtype, rank)

    def _foreign(self, number, value):
        """An array of another library, as one of NumPy's over the same memory."""
        why = "it has no '__dlpack__'"
        if hasattr(value, "__dlpack__"):
            try:
                return of_dlpack(value)
            except (BufferError, RuntimeError, TypeError) as error:
                why = error
        raise QuadrantsRuntimeTypeError(
            f"Argument {number} (type={type(value)}) cannot be converted into required type: an array in memory of the host "
            f"is expected, and {why}"
        )

    def _scalar(self, given, number, dtype, value):
        try:
            # A number, or what acts like one: a scalar or an array of rank 0.
            plain = value if type(value) in (int, float) else value.item() if hasattr(value, "item") else value
            if not isinstance(plain, (bool, int, float)) or (isinstance(plain, float) and not dtype.is_real):
                raise TypeError
            given.packed.append(dtype.bits_of(plain))
        except (struct.error, TypeError, ValueError, OverflowError):
            raise QuadrantsRuntimeTypeError(
                f"Argument {number} (type={type(value)}) cannot be converted into required type {dtype}"
            ) from None
        return dtype

    def returned(self, bits):
        """Results as Python's numbers."""
        values = tuple(dtype.of_bits(one) for dtype, one in zip(self.results, bits))
        if self.is_tuple:
            return values
        return values[0] if values else None


def _is_scalar(value):
    """Whether it is a number of NumPy."""
    return getattr(value, "shape", None) == () and not hasattr(value, "__setitem__")


def _check_alone(number, original, arrays):
    """That a copy is of memory that no other argument has: what is written to one would not be seen in the other."""
    import numpy

    for other, array in arrays:
        if other != number and numpy.shares_memory(original, array):
            raise QuadrantsRuntimeError(
                f"Argument {number} is not contiguous, and shares memory with argument {other}: pass a copy"
            )


def _overlap(ranges):
    ranges = sorted(ranges)
    return any(first[1] > second[0] for first, second in zip(ranges, ranges[1:]))
