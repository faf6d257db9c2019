"""Kernels: what they are called with, and what is compiled for that."""

import functools
import inspect
import struct
from typing import get_args, get_origin

from qd import _core, _runtime
from qd._dtypes import OF_NUMPY, DataType, u1
from qd._functions import Baked, Template, is_template
from qd._perf_dispatch import DispatchImpl
from qd._source import Source
from qd._tracer import Tracer
from qd.exception import QuadrantsCompilationError, QuadrantsRuntimeError, QuadrantsRuntimeTypeError, QuadrantsSyntaxError
from qd.types import NDArray, NdarrayType, ndarray

# Extents are i32 in kernels.
MOST_ELEMENTS = 2**31 - 1


def kernel(function=None, **options):
    """Makes a kernel of a function."""
    if options:
        raise NotImplementedError(f"kernel options aren't there yet: {', '.join(options)}")
    if function is None:
        return kernel
    if isinstance(function, DispatchImpl):
        raise QuadrantsSyntaxError(
            f"[KERNEL_ANNOTATION_ORDER] '{function.__name__}': '@….register' stands above '@qd.kernel', and not below it"
        )
    return Kernel(function)


class Kernel:
    """A function that runs on the device."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
        self.source = Source(function)
        self._signature = None
        # Compiled kernels, by the types of their arguments.
        self._compiled = {}
        self._generation = None
        self._recorder = None

    def __call__(self, *args, **kwargs):
        runtime = _runtime.current()
        if self._generation != runtime.generation:
            self._compiled.clear()
            self._generation = runtime.generation
            # Annotations may mean other types by default.
            self._signature = Signature(self.function, self.source, runtime.config)
        given = self._signature.bind(args, kwargs)
        compiled = self._compiled.get(given.key)
        if compiled is None:
            compiled = self._compiled[given.key] = self._compile(given, runtime)
        try:
            bits = compiled.launch(given.packed)
        except _core.Failed as error:
            raise QuadrantsRuntimeError(str(error)) from None
        for number, _, copy, original in given.copies:
            if compiled.written[number]:
                original[...] = copy
        return self._signature.returned(bits)

    def _compile(self, given, runtime):
        tracer = Tracer(self.function, self.source, self._signature, given.key, runtime.config)
        self._recorder = tracer.trace()
        try:
            return runtime.device.compile(self._recorder)
        except _core.Diagnosed as error:
            line, column, message = error.args[0][0]
            where = self.source.shown_at(line, column)
        raise QuadrantsCompilationError(f"{where}\n{message}")

    def record(self):
        """The record of what was compiled last, as text."""
        if self._recorder is None:
            raise QuadrantsRuntimeError(f"{self.__name__} has not been compiled")
        return self._recorder.text()


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
        nodes = {node.arg: node for node in source.tree.args.args}
        self.parameters = {}
        for parameter in self.python.parameters.values():
            node = nodes.get(parameter.name, source.tree)
            self.parameters[parameter.name] = self._parameter(parameter, node)
        self.is_tuple, self.results = self._results()

    def _parameter(self, parameter, node):
        annotation = parameter.annotation
        if annotation in (ndarray, NDArray):
            annotation = NdarrayType()
        if is_template(annotation):
            return Template()
        if isinstance(annotation, NdarrayType):
            return annotation
        if annotation is inspect.Parameter.empty:
            raise QuadrantsSyntaxError(
                f"{self.source.shown(node)}\nKernel parameter \"{parameter.name}\" must be annotated"
            )
        dtype = self.scalar(annotation)
        if dtype is None:
            self._later(node, f"a parameter of type {annotation!r} isn't there yet")
        return dtype

    def scalar(self, annotation):
        if isinstance(annotation, DataType):
            return annotation
        return self.defaults.get(annotation) if isinstance(annotation, type) else None

    def _results(self):
        annotation = self.python.return_annotation
        if annotation in (inspect.Signature.empty, None):
            return False, []
        is_tuple = isinstance(annotation, tuple) or get_origin(annotation) is tuple
        each = get_args(annotation) or annotation if is_tuple else [annotation]
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
        types = []
        for number, (parameter, value) in enumerate(zip(self.parameters.values(), args)):
            packs = {NdarrayType: self._array, Template: self._template}
            pack = packs.get(type(parameter), self._scalar)
            types.append(pack(given, number, parameter, value))
        for _, number, _, original in given.copies:
            _check_alone(number, original, given.arrays)
        given.key = (*types, _overlap(given.ranges))
        return given

    def _template(self, given, number, parameter, value):
        if hasattr(value, "__array_interface__") and getattr(value, "ndim", 0):
            raise QuadrantsRuntimeTypeError(
                f"Argument {number} (type={type(value)}) cannot be converted into required type: a template, which takes "
                "no arrays yet"
            )
        return Baked(value)

    def _array(self, given, number, parameter, value):
        # Whatever NumPy's arrays are used by is loaded already: the package itself does not import it.
        import numpy

        if not isinstance(value, numpy.ndarray):
            raise QuadrantsRuntimeTypeError(
                f"Argument {number} (type={type(value)}) cannot be converted into required type: a NumPy array, and "
                "nothing else is there yet"
            )
        dtype = OF_NUMPY.get(value.dtype.str[1:]) if value.dtype.isnative else None
        wanted = parameter.dtype
        rank = value.ndim if parameter.ndim is None else parameter.ndim
        if dtype is None or wanted not in (None, dtype) or value.ndim != rank:
            required = f"{wanted or 'scalars'}[{rank}-D]"
            raise QuadrantsRuntimeTypeError(
                f"Argument {number} (type={value.dtype}[{value.ndim}-D]) cannot be converted into required type "
                f"{required}"
            )
        if value.size > MOST_ELEMENTS:
            raise QuadrantsRuntimeError(
                f"Argument {number}: {value.shape} is not a valid shape for ndarray: at most {MOST_ELEMENTS} elements"
            )
        is_read_only = not value.flags.writeable
        given.arrays.append((number, value))
        given.ranges.append(_bounds(value))
        if not (value.flags.c_contiguous and value.flags.aligned):
            original, value = value, value.copy()
            given.copies.append((len(given.packed), number, value, original))
        given.keep.append(value)
        given.packed.append((value.ctypes.data, value.size, is_read_only))
        if rank != 1:
            given.packed.extend(value.shape)
        return dtype, rank

    def _scalar(self, given, number, dtype, value):
        try:
            # A number, or what acts like one: a scalar or an array of rank 0.
            plain = value.item() if hasattr(value, "item") else value
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


def _check_alone(number, original, arrays):
    """That a copy is of memory that no other argument has: what is written to one would not be seen in the other."""
    import numpy

    for other, array in arrays:
        if other != number and numpy.shares_memory(original, array):
            raise QuadrantsRuntimeError(
                f"Argument {number} is not contiguous, and shares memory with argument {other}: pass a copy"
            )


def _bounds(array):
    """The first address of an array, and that after its last."""
    first = last = array.ctypes.data
    if array.size == 0:
        return first, first
    for extent, stride in zip(array.shape, array.strides):
        reach = (extent - 1) * stride
        first, last = first + min(reach, 0), last + max(reach, 0)
    return first, last + array.itemsize


def _overlap(ranges):
    ranges = sorted(ranges)
    return any(first[1] > second[0] for first, second in zip(ranges, ranges[1:]))
