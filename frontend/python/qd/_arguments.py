"""Arguments of kernels: what a call gives, and what is compiled for that."""

import ast
import dataclasses
import functools
import inspect
import itertools
import struct
import sys
import typing

from qd import _foreign
from qd._dtypes import OF_NUMPY, DataType, scalar_of
from qd._functions import ArrayOf, Baked, Members, Same, Template, container_of, is_data_oriented, is_template, members_of, signature_of
from qd._storage import MOST_ELEMENTS, Ndarray, OnDevice, Storage, bounds, of_dlpack
from qd._tensor import Tensor
from qd.exception import (
    QuadrantsCompilationError,
    QuadrantsNameError,
    QuadrantsRuntimeError,
    QuadrantsRuntimeTypeError,
    QuadrantsSyntaxError,
    QuadrantsTypeError,
)
from qd.types import NdarrayType


_ANY = NdarrayType()
_TEMPLATE = Template()

# What has no members and is no array.
_PLAIN = {int, float, bool, str, type(None)}

# Whose memory.
HOST, DEVICE = 0, 1

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
        self.arguments = ()
        self.packed = []
        # Of each array whose memory it is, the first address, that after its last, and its number among what is packed.
        self.ranges = []
        self.overlap = False
        # That of another library, if an array is of one, and whether the launch has to wait for its end.
        self.stream = None
        self.waits = False
        # Numbers among what is packed, and of arguments; copies, and what they are copied back to.
        self.copies = []
        # The same of arrays of the device.
        self.moved = []
        # The arrays as they were given, and those that the kernel sees, which have to live as long as the call.
        self.arrays = []
        self.keep = []
        # How many objects there are with members that are arguments, and the numbers of some by their identity.
        self.objects = 0
        self.numbers = {}

    def meets(self, appended):
        """Whether an argument shares memory with a field that the kernel finds by its name. Takes note of where fields are."""
        for number, field in enumerate(appended, len(self.packed)):
            if field is not None:
                elements = field.elements()
                if isinstance(elements, OnDevice):
                    self.ranges.append((DEVICE, *elements.memory.addresses, number))
                else:
                    self.ranges.append((HOST, *bounds(elements.flat), number))
        return any(_overlaps(self.ranges))

    def share(self):
        """What it is compiled for, if arrays share memory."""
        self.overlap = True
        self.key = (*self.key[:-1], True)

    def check_apart(self, pairs):
        """That pairs of arrays, each with what is wrong otherwise, share no memory."""
        if not pairs:
            return
        # Those that are copied share nothing.
        copied = {number for number, *_ in self.copies}
        ranges = {number: known for *known, number in self.ranges if number not in copied}
        for one, other, text in pairs:
            if one in ranges and other in ranges and any(_overlaps([ranges[one], ranges[other]])):
                raise QuadrantsRuntimeError(text)

    def check_alone(self, written, appended):
        """That what is copied is no other argument, and no field that the kernel finds by its name, if one is written to."""
        first = len(self.packed)
        others = [(number, f"argument {argument}", array) for number, argument, array in self.arrays]
        others += [(number, f"argument {argument}", elements) for number, argument, _, elements in self.moved]
        for number, field in enumerate(appended, first):
            if field is not None:
                elements = field.elements()
                memory = elements if isinstance(elements, OnDevice) else elements.array
                others.append((number, f"field '{field.name}'" if field.name else "a field", memory))
        for number, argument, _, original in (*self.copies, *self.moved):
            for other, name, memory in others:
                if other != number and (written[number] or written[other]) and _is_shared(original, memory):
                    raise QuadrantsRuntimeError(f"Argument {argument} is not contiguous, and shares memory with {name}: pass a copy")

    def check_copies(self, written):
        """That of arrays of the host that share memory none is written to: a device has a copy of each."""
        # Those that were copied before share nothing.
        copied = {number for number, *_ in self.copies}
        shared = [each for each in self.ranges if each[0] == HOST and each[3] not in copied]
        for one, other in itertools.combinations(sorted(shared), 2):
            if one[2] > other[1] and (written[one[3]] or written[other[3]]):
                raise QuadrantsRuntimeError(
                    "Arguments share memory of the host, and one is written to: the device has a copy of each. Pass a qd.ndarray"
                )


class Signature:
    """Parameters and results, with what annotations mean by default."""

    def __init__(self, function, source, config):
        self.source = source
        self.is_cuda = config.arch.name == "cuda"
        self.defaults = config.defaults
        self.has_no_templated_floats = config.raise_on_templated_floats
        try:
            self.python = signature_of(function)
        except NameError as error:
            raise self._unknown(error.name) from None
        except (AttributeError, SyntaxError, TypeError) as error:
            # An annotation that is text.
            raise QuadrantsTypeError(f"{source.shown(source.tree)}\nInvalid annotation: {error}") from None
        *_, owner, _ = ["<locals>", *function.__qualname__.split(".")]
        self.is_method = owner != "<locals>"
        nodes = {node.arg: node for node in ast.walk(source.tree.args) if isinstance(node, ast.arg)}
        self.parameters = {}
        for parameter in self.python.parameters.values():
            node = nodes.get(parameter.name, source.tree)
            self.parameters[parameter.name] = self._parameter(parameter, node)
        kinds = enumerate(self.parameters.values())
        # Whether a call may give all of them without their names.
        self.is_positional = all(each.kind is not each.KEYWORD_ONLY for each in self.python.parameters.values())
        self.packers = [(self._packer(kind), str(number), kind) for number, kind in kinds]
        self.is_tuple, self.results = self._results()

    def _unknown(self, name):
        """An error of an annotation that has a name which means nothing."""
        tree = self.source.tree
        nodes = [node for part in (tree.args, tree.returns) if part for node in ast.walk(part)]
        # An annotation may be text.
        has_it = (each for each in nodes if getattr(each, "id", None) == name or name in str(getattr(each, "value", "")))
        return QuadrantsNameError(f'{self.source.shown(next(has_it, tree))}\nName "{name}" is not defined')

    def _parameter(self, parameter, node):
        annotation = parameter.annotation
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise QuadrantsSyntaxError(f"{self.source.shown(node)}\nA kernel has a fixed number of parameters: \"{parameter.name}\" is any number")
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
        if annotation is Tensor:
            return Tensor
        if is_template(annotation):
            return Template()
        if (array := NdarrayType.of(annotation, self.defaults)) is not None:
            return array
        if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
            hints = typing.get_type_hints(annotation)
            kinds = {field.name: self._kind(hints[field.name]) for field in dataclasses.fields(annotation)}
            return None if None in kinds.values() else Record(annotation, kinds)
        return self.scalar(annotation)

    def plain(self):
        """The parameters as Rust takes them, if each is a scalar or an array, without a name; None."""
        kinds = self.parameters.values()
        if not self.is_positional or not all(isinstance(kind, (DataType, NdarrayType)) for kind in kinds):
            return None
        return [kind.name if isinstance(kind, DataType) else (kind.dtype and kind.dtype.name, kind.ndim) for kind in kinds]

    def scalar(self, annotation):
        return scalar_of(annotation, self.defaults)

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
        if kwargs or len(args) != len(self.parameters) or not self.is_positional:
            try:
                bound = self.python.bind(*args, **kwargs)
            except TypeError as error:
                raise QuadrantsRuntimeTypeError(f"{self.source.name}: {error}") from None
            bound.apply_defaults()
            args = bound.arguments.values()
        given.arguments = args
        types = [pack(given, number, kind, value) for (pack, number, kind), value in zip(self.packers, args)]
        given.overlap = any(_overlaps(given.ranges))
        given.key = (*types, given.overlap)
        return given

    def _packer(self, kind):
        """What packs an argument, or a member of one, and says what it is compiled for."""
        packers = {NdarrayType: self._array, Template: self._template, type(Tensor): self._tensor, Record: self._record}
        return packers.get(type(kind), self._scalar)

    def _packed(self, given, number, kind, value):
        return self._packer(kind)(given, number, kind, value)

    def _tensor(self, given, number, kind, value):
        if not isinstance(value, Tensor) and not _is_array(value):
            raise _not_converted(number, value, "a field or an array is expected")
        return self._template(given, number, kind, value)

    def _template(self, given, number, template, value):
        """An array is an argument, and so are those of an object; all else is compiled in."""
        # Those of objects are constants of the kernel.
        if self.has_no_templated_floats and isinstance(value, float) and template is not _TEMPLATE:
            raise ValueError(
                f"Floats not allowed as templated types: argument {number} is {value!r}, for which the kernel would be compiled anew"
            )
        if type(value) in _PLAIN:
            return Baked(value)
        if is_data_oriented(value):
            return self._object(given, number, value)
        if _members(value) is None and _is_argument(value):
            return self._array(given, number, _ANY, value)
        if _members(value) is None or not _has_arrays(value, set()):
            return Baked(value)
        kind = container_of(type(value))
        if kind is None:
            return self._object(given, number, value)
        each = value.items() if kind is dict else enumerate(value)
        members = tuple((key, self._template(given, f"{number}[{key!r}]", template, member)) for key, member in each)
        return Members(kind, members)

    def _object(self, given, number, value):
        """An object whose arrays are arguments. Where it leads back to one of these it is that."""
        if id(value) in given.numbers:
            return Same(given.numbers[id(value)])
        given.numbers[id(value)] = given.objects
        given.objects += 1
        numbers = {} if getattr(value, "_qd_template_primitives", True) else self.defaults
        members = []
        for name, member in members_of(value).items():
            kind = numbers.get(type(member)) or _TEMPLATE
            members.append((name, self._packed(given, f"{number}.{name}", kind, member)))
        return Members(type(value), tuple(members))

    def _record(self, given, number, record, value):
        if not isinstance(value, record.type):
            raise QuadrantsRuntimeTypeError(
                f"Argument {number} (type={type(value)}) cannot be converted into required type {record.type.__name__}"
            )
        given.objects += 1
        members = []
        for name, kind in record.kinds.items():
            if not hasattr(value, name):
                raise QuadrantsRuntimeTypeError(f"Argument {number} ({record.type.__name__}) has no member {name!r}")
            member = getattr(value, name)
            kind = Template() if member is None else kind
            members.append((name, self._packed(given, f"{number}.{name}", kind, member)))
        return Members(record.type, tuple(members))

    def _array(self, given, number, parameter, value):
        if isinstance(value, Storage):
            elements = value.elements()
            if isinstance(elements, OnDevice):
                if elements.is_row_major:
                    given.waits |= elements.is_foreign
                    return self._on_device(given, number, parameter, elements.memory, value.dtype, value.shape)
                # As it is indexed, by the host.
                copy = elements.array.copy()
                given.moved.append((len(given.packed), number, copy, elements))
                value = copy
            else:
                value = elements.array
        if self.is_cuda and _foreign.is_on_device(value):
            return self._taken(given, number, parameter, value)
        # Whatever NumPy's arrays are used by is loaded already: the package itself does not import it.
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(value, numpy.ndarray):
            value = self._foreign(number, value)
        # One question instead of five: a launch is to take microseconds.
        said = value.__array_interface__
        order, dtype = said["typestr"][0], OF_NUMPY.get(said["typestr"][1:])
        shape = said["shape"]
        rank = len(shape)
        if order not in _NATIVE:
            dtype = None
        _check_type(number, parameter, dtype, rank, value.dtype)
        size = value.size
        if size > MOST_ELEMENTS:
            raise QuadrantsRuntimeError(
                f"Argument {number}: {shape} is not a valid shape for ndarray: at most {MOST_ELEMENTS} elements"
            )
        address, is_read_only = said["data"]
        given.arrays.append((len(given.packed), number, value))
        # Without strides it is contiguous.
        if said["strides"] is None and address % value.itemsize == 0:
            given.ranges.append((HOST, address, address + value.nbytes, len(given.packed)))
        else:
            given.ranges.append((HOST, *bounds(value), len(given.packed)))
            original, value = value, value.copy()
            address = value.ctypes.data
            given.copies.append((len(given.packed), number, value, original))
        given.keep.append(value)
        given.packed.append((address, size, is_read_only))
        if rank != 1:
            given.packed.extend(shape)
        return ArrayOf(dtype, rank)

    def _on_device(self, given, number, parameter, memory, dtype, shape):
        """An array in memory of the device."""
        rank = len(shape)
        _check_type(number, parameter, dtype, rank, dtype)
        given.ranges.append((DEVICE, *memory.addresses, len(given.packed)))
        given.packed.append(memory)
        if rank != 1:
            given.packed.extend(shape)
        return ArrayOf(dtype, rank)

    def _taken(self, given, number, parameter, value):
        """An array of another library in memory of the device."""
        try:
            taken = _foreign.Taken(value)
        except (BufferError, RuntimeError) as error:
            raise _not_converted(number, value, error) from None
        if given.stream is None:
            given.stream = taken.stream
        # The work of one library is ordered on its stream, and not after that of others.
        given.waits |= not taken.is_ordered or taken.stream is not given.stream
        return self._on_device(given, number, parameter, taken.memory, taken.dtype, taken.shape)

    def _foreign(self, number, value):
        """An array of another library, as one of NumPy's over the same memory."""
        why = "it has no '__dlpack__'"
        if hasattr(value, "__dlpack__"):
            try:
                return of_dlpack(value)
            except (BufferError, RuntimeError, TypeError) as error:
                why = error
        raise _not_converted(number, value, f"an array in memory of the host is expected, and {why}")

    def _scalar(self, given, number, dtype, value):
        try:
            # A number, or what acts like one: a scalar or an array of rank 0.
            is_plain = type(value) in (int, float) or getattr(value, "shape", None) != () or not hasattr(value, "item")
            plain = value if is_plain else value.item()
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


def _not_converted(number, value, why):
    return QuadrantsRuntimeTypeError(f"Argument {number} (type={type(value)}) cannot be converted into required type: {why}")


def _members(value):
    """What a container has in it, or an object whose arrays are arguments; None of all else."""
    kind = container_of(type(value))
    if kind is not None:
        return value.values() if kind is dict else value
    return members_of(value).values() if _has_members(type(value)) else None


@functools.lru_cache
def _has_members(kind):
    """Whether arrays of objects of a class are arguments."""
    return hasattr(kind, "_qd_template_primitives") or dataclasses.is_dataclass(kind)


def _is_array(value):
    """Whether it is an array of any library, and no number of NumPy."""
    is_scalar = getattr(value, "shape", None) == () and not hasattr(value, "__setitem__")
    return not is_scalar and (hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__"))


def _has_arrays(value, seen):
    """Whether it is an array that is an argument, or leads to one, but for what has been seen."""
    if type(value) in _PLAIN or id(value) in seen:
        return False
    members = _members(value)
    if members is None:
        return _is_argument(value)
    seen.add(id(value))
    return any(_has_arrays(member, seen) for member in members)


def _is_argument(value):
    """Whether it is an array, but for fields, which a kernel finds."""
    return isinstance(value, Ndarray) or (not isinstance(value, Storage) and _is_array(value))


def _is_shared(one, other):
    """Whether two arrays of NumPy have elements in common, or two on a device are the same."""
    if isinstance(one, OnDevice) or isinstance(other, OnDevice):
        return one is other
    import numpy

    return numpy.shares_memory(one, other)


def _overlaps(ranges):
    """Pairs of neighbours that share memory. If any share any, some neighbours do."""
    ranges = sorted(ranges)
    for one, next in zip(ranges, ranges[1:]):
        if one[0] == next[0] and one[2] > next[1]:
            yield one, next


def _check_type(number, parameter, dtype, rank, given):
    """That an array is of the type and rank that a parameter has, if it has any; `dtype` is None if kernels have no such."""
    if not parameter.takes(dtype, rank):
        raise QuadrantsRuntimeTypeError(
            f"Argument {number} (type={given}[{rank}-D]) cannot be converted into required type {parameter.required(rank)}"
        )
