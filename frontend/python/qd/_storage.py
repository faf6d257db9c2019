"""Arrays that the package allocates: fields, which kernels find by name, and ndarrays, which they are given."""

import math
import operator

from qd import _core, _foreign, _runtime
from qd._dtypes import OF_NUMPY, DataType, i32
from qd.exception import QuadrantsIndexError, QuadrantsRuntimeError, QuadrantsTypeError

# Extents and places of elements are i32 in kernels.
MOST_ELEMENTS = 2**31 - 1

# By these names `order` has them.
AXES = "ijklmnop"

# DLPack's numbers of memory of the host, pageable and pinned.
_OF_HOST = (1, 3)

TO_NUMPY = {dtype: name for name, dtype in OF_NUMPY.items()}


def _arch():
    """Whose memory arrays are in, by the name of the kind of device."""
    runtime = _runtime.current()
    return "cpu" if runtime.device.is_host else runtime.config.arch.name


def integers(given):
    """An integer or several, of Python or of NumPy, as a tuple of Python's."""
    return tuple(map(operator.index, given if hasattr(given, "__iter__") else (given,)))


def _are_valid(extents):
    """Whether an array may have them."""
    count = 1
    for extent in extents:
        count *= extent
    return all(extent >= 0 for extent in extents) and max((count, *extents)) <= MOST_ELEMENTS


def _cast(array, dtype):
    """The elements of an array of NumPy as a cast in a kernel makes them: integers wrap, and reals become integers by truncation,
    within the limits of the type; NaN is 0."""
    import numpy

    to = numpy.dtype(TO_NUMPY[dtype])
    if array.dtype == to:
        return array
    # What is outside of the limits is another number by each version and processor, some of which warn.
    with numpy.errstate(all="ignore"):
        if array.dtype.kind != "f" or to.kind not in "iu":
            return array.astype(to)
        # The first number above the limits is a power of two, which 64 bits have.
        reals = array.astype(numpy.float64)
        made = reals.astype(to)
    made[reals < dtype.least] = dtype.least
    made[reals >= float(dtype.most + 1)] = dtype.most
    made[numpy.isnan(reals)] = 0
    return made


def _torch():
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"to_torch and from_torch are for PyTorch, which is not there: {error}") from None
    return torch


def bounds(array):
    """The first address of an array, and that after its last."""
    first = last = array.ctypes.data
    if array.size == 0:
        return first, first
    for extent, stride in zip(array.shape, array.strides):
        reach = (extent - 1) * stride
        first, last = first + min(reach, 0), last + max(reach, 0)
    return first, last + array.itemsize


def _has_version_1():
    """Whether NumPy has version 1 of DLPack."""
    import numpy

    return numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0"


def of_dlpack(value):
    """The elements of an array of any library, as an array of NumPy over the same memory."""
    import ctypes

    import numpy

    kind, _ = value.__dlpack_device__()
    if kind not in _OF_HOST:
        raise BufferError(f"its memory is of a device (DLPack's number {int(kind)})")
    array = numpy.from_dlpack(value)
    # Older NumPy takes all of them to be read-only, which the protocol could not say then.
    if array.flags.writeable or _has_version_1():
        return array
    first, last = bounds(array)
    memory = (ctypes.c_char * (last - first)).from_address(first)
    memory.owner = array
    return numpy.ndarray(array.shape, array.dtype, memory, array.ctypes.data - first, array.strides)


class OnHost:
    """Elements that are an array of NumPy."""

    def __init__(self, flat, array):
        # As it lies in memory, and as it is indexed.
        self.flat = flat
        self.array = array

    def place(self, dtype, shape, generation):
        """What a launch takes without a question, if it can be used as it is; None."""
        is_plain = self.array.flags.carray and self.array.dtype.isnative
        return _core.Place(dtype.name, shape, generation, self.array.ctypes.data) if is_plain else None

    @property
    def address(self):
        """That of the first element."""
        return self.flat.ctypes.data

    def packed(self):
        """As a launch takes it: address, length and whether it is read-only."""
        return self.address, self.flat.size, False

    def get(self, place):
        return self.array[place].item()

    def set(self, place, value):
        self.array[place] = value

    def assign(self, value):
        self.array[...] = value


class OnDevice:
    """Elements in memory of a device, of which the host has copies."""

    def __init__(self, memory, dtype, extents, axes, is_foreign=False):
        self.memory = memory
        # Whether another library uses it, which does not know of what is done here.
        self.is_foreign = is_foreign
        self._numpy = TO_NUMPY[dtype]
        self._extents = extents
        self._axes = axes

    def place(self, dtype, shape, generation):
        """As that of the host."""
        is_plain = self.is_row_major and not self.is_foreign
        return _core.Place(dtype.name, shape, generation, self.memory) if is_plain else None

    @property
    def is_row_major(self):
        return tuple(self._axes) == tuple(range(len(self._axes)))

    def is_alike(self, other):
        """Whether elements of both are in one order, of one type, and in memory of their own."""
        (first, after), (begin, end) = self.memory.addresses, other.memory.addresses
        is_apart = after <= begin or end <= first
        return is_apart and (self._numpy, self._extents, self._axes) == (other._numpy, other._extents, other._axes)

    @property
    def array(self):
        """A copy."""
        import numpy

        flat = numpy.empty(self._extents, self._numpy)
        with _runtime.Failures():
            self.memory.read(0, flat.size, flat.ctypes.data)
        return _indexed(flat, self._axes)

    @property
    def address(self):
        """That of the first element, as the device has it."""
        first, _ = self.memory.addresses
        return first

    def packed(self):
        """As a launch takes it."""
        return self.memory

    def get(self, place):
        return self._element(place, self.memory.read).item()

    def set(self, place, value):
        self._element(place, self.memory.write, value)

    def _element(self, place, copy, value=0):
        import numpy

        number = 0
        for axis, extent in zip(self._axes, self._extents):
            number = number * extent + place[axis]
        element = numpy.array(value, self._numpy)
        with _runtime.Failures():
            copy(number, 1, element.ctypes.data)
        return element

    def assign(self, value):
        import numpy

        flat = numpy.empty(self._extents, self._numpy)
        _indexed(flat, self._axes)[...] = value
        with _runtime.Failures():
            self.memory.write(0, flat.size, flat.ctypes.data)


def _indexed(flat, axes):
    """An array with its axes in the order of indices; `axes` are those of memory, from the outermost."""
    return flat.transpose([axes.index(axis) for axis in range(len(axes))]) if axes else flat


class Storage:
    """An array of scalars. It lives until `reset`."""

    has_grad = has_dual = False
    grad = dual = None

    def __init__(self, dtype):
        if isinstance(dtype, type):
            # Those of Python, as `init` said.
            dtype = _runtime.current().config.defaults.get(dtype, dtype)
        if not isinstance(dtype, DataType):
            raise NotImplementedError(f"arrays of {dtype!r} aren't there yet: only of scalar types")
        self.dtype = dtype

    def _allocate(self, shape, axes):
        """Makes the elements, zeros on the host; `axes` are those of memory, from the outermost."""
        import numpy

        dtype, runtime = self.dtype, _runtime.current()
        self.shape, self.axes = shape, axes
        self._generation = runtime.generation
        extents = [shape[axis] for axis in axes]
        if runtime.device.is_host:
            flat = numpy.zeros(extents, TO_NUMPY[dtype])
            self._elements = OnHost(flat, _indexed(flat, axes))
        else:
            with _runtime.Failures():
                memory = runtime.device.allocate(dtype.name, math.prod(extents))
            self._elements = OnDevice(memory, dtype, extents, axes)
            runtime.arrays.add(self)
        self._at = self._elements.place(dtype, shape, runtime.generation)

    def elements(self):
        """Where they are."""
        elements = self._elements
        if elements is None or _runtime.generation() != self._generation:
            raise QuadrantsRuntimeError("the array has been freed: by qd.init, by qd.reset, or with the fields that were placed with it")
        return elements

    @property
    def layout(self):
        """The axes of memory, from the outermost; None where they are in order."""
        return None if self.axes == tuple(range(len(self.shape))) else self.axes

    def free(self):
        """Ends the array. Its memory is free when no launch and no other library uses it."""
        self._elements = self._at = None

    def packed(self):
        """As a launch takes it."""
        return self.elements().packed()

    def _place(self, key):
        """The index of an element as NumPy takes it."""
        key = () if key is None else key if isinstance(key, tuple) else (key,)
        if len(key) != len(self.shape):
            raise QuadrantsIndexError(f"an array of {len(self.shape)} dimensions takes as many indices, and not {len(key)}")
        try:
            key = integers(key)
        except TypeError as error:
            raise QuadrantsTypeError(f"an index is an integer: {error}") from None
        place = tuple(index - first for index, first in zip(key, self._first()))
        for index, extent, given in zip(place, self.shape, key):
            if not 0 <= index < extent:
                raise QuadrantsIndexError(f"index {given} is out of range of an array of shape {self.shape}")
        return place

    def _first(self):
        """The index of the first element."""
        return (0,) * len(self.shape)

    def __getitem__(self, key):
        return self.elements().get(self._place(key))

    def __setitem__(self, key, value):
        self.elements().set(self._place(key), self._number(value))

    def __iter__(self):
        """The elements of an array of one dimension, copied."""
        if len(self.shape) != 1:
            raise TypeError(f"an array of {len(self.shape)} dimensions has no order of its elements: see to_numpy")
        return iter(self.to_numpy().tolist())

    def fill(self, value):
        """Sets every element."""
        self.elements().assign(self._number(value))

    def _number(self, value):
        """What a cast to the type of this array makes of a number, or of what acts like one: a scalar or an array of rank 0."""
        plain = value.item() if getattr(value, "shape", None) == () else value
        if not isinstance(plain, (bool, int, float)):
            raise TypeError(f"an element is a number, and not {type(value).__name__}")
        return self.dtype(plain)

    def to_numpy(self, dtype=None, *, copy=True):
        """The elements as an array of NumPy. `copy=False` shares the memory, or is a ValueError where it cannot, as on devices
        other than the cpu; None shares it if it can."""
        elements = self.elements()
        is_shared = isinstance(elements, OnHost)
        if copy is False and not is_shared:
            raise ValueError("memory of a device is not shared with NumPy")
        array = elements.array
        wanted = array.dtype if dtype is None else TO_NUMPY.get(dtype, dtype)
        if copy is False and array.dtype != wanted:
            raise ValueError(f"an array of {self.dtype} is not shared as one of {wanted}")
        return array.astype(wanted, order="C" if copy else "K", copy=bool(copy) and is_shared)

    def from_numpy(self, array):
        """Copies the elements of an array of the same shape, converted to the type of this one, as kernels do it."""
        import numpy

        if not hasattr(array, "__array_interface__"):
            raise TypeError(f"an array of NumPy is expected, and not {type(array).__name__}")
        self._check_shape(array.shape)
        self.elements().assign(_cast(numpy.asarray(array), self.dtype))

    def to_torch(self, device=None, *, copy=True):
        """The elements as a tensor of PyTorch: a copy on a device, or on PyTorch's default one. `copy=False` shares the memory,
        where it is, or is a ValueError where it cannot; None shares it if it can."""
        torch = _torch()
        elements = self.elements()
        try:
            # DLPack of older versions of NumPy has no booleans.
            shared = torch.from_numpy(elements.array) if isinstance(elements, OnHost) else torch.from_dlpack(self)
        except BufferError as error:
            if copy is False:
                raise ValueError(f"the memory is not shared with PyTorch: {error}") from None
            shared, copy = torch.from_numpy(elements.array), True
        if copy:
            device = torch.empty(0).device if device is None else device
            return shared.to(device, copy=True, memory_format=torch.contiguous_format)
        there = shared if device is None else shared.to(device)
        if copy is False and there is not shared:
            raise ValueError(f"memory of {shared.device} is not shared with {device}")
        return there

    def from_torch(self, tensor):
        """Copies the elements of a tensor of the same shape, on any device, converted as by `from_numpy`."""
        torch = _torch()
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"a tensor of PyTorch is expected, and not {type(tensor).__name__}")
        self._check_shape(tensor.shape)
        tensor = tensor.detach().contiguous()
        if _arch() == "cuda" and tensor.is_cuda:
            self.copy_from(from_dlpack(tensor))
        else:
            self.elements().assign(_cast(tensor.cpu().numpy(), self.dtype))

    def copy_from(self, other):
        """Copies the elements of another array of the same shape, converted as by `from_numpy`."""
        if not isinstance(other, Storage):
            raise TypeError(f"a field or an ndarray is expected, and not {type(other).__name__}")
        self._check_shape(other.shape)
        mine, theirs = self.elements(), other.elements()
        if isinstance(mine, OnDevice) and isinstance(theirs, OnDevice) and mine.is_alike(theirs):
            with _runtime.Failures():
                theirs.memory.copy_to(mine.memory)
            return
        mine.assign(_cast(theirs.array, self.dtype))

    def _check_shape(self, shape):
        if tuple(shape) != self.shape:
            raise ValueError(f"Mismatch shape: {tuple(shape)} is given, and the array has {self.shape}")

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        elements = self.elements()
        if isinstance(elements, OnHost):
            options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
            options = {name: value for name, value in options.items() if value is not None}
            if not _has_version_1():
                # It exports the memory itself, of before version 1, which a consumer has to take.
                if copy or dl_device not in (None, self.__dlpack_device__()):
                    raise BufferError("only the memory itself is exported, and no copy")
                options = {}
            return elements.array.__dlpack__(stream=stream, **options)
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("only the memory itself is exported, and no copy")
        if not elements.is_row_major:
            raise BufferError(f"only fields in the order of their indices are exported from {_arch()}")
        return _foreign.export(elements.memory, self.dtype, self.shape, stream, max_version)

    def to_dlpack(self, versioned=False):
        """A capsule of DLPack that shares the memory; `versioned`: of version 1, which NumPy knows since its 2.1."""
        if versioned and isinstance(self.elements(), OnHost) and not _has_version_1():
            raise BufferError("NumPy has version 1 of DLPack since its 2.1")
        return self.__dlpack__(max_version=(1, 0) if versioned else None)

    def __dlpack_device__(self):
        elements = self.elements()
        if isinstance(elements, OnHost):
            return elements.array.__dlpack_device__()
        if _arch() != "cuda":
            raise BufferError(f"memory of {_arch()} cannot be exported")
        return _foreign.CUDA, 0

    @property
    def __cuda_array_interface__(self):
        """Where the elements are, to libraries that have no DLPack, when what was launched has ended."""
        elements = self.elements()
        if _arch() != "cuda" or not isinstance(elements, OnDevice) or not elements.is_row_major:
            raise AttributeError("__cuda_array_interface__ is of arrays on NVIDIA's devices, in the order of their indices")
        import numpy

        _runtime.sync()
        typestr = numpy.dtype(TO_NUMPY[self.dtype]).str
        return {"shape": self.shape, "typestr": typestr, "data": (elements.address, False), "version": 3}

    def __repr__(self):
        return f"<{type(self).__name__} of {self.dtype}, shape {self.shape}>"


class Ndarray(Storage):
    """An array that kernels are given."""

    def __init__(self, dtype, shape, axes=None):
        super().__init__(dtype)
        if not _are_valid(shape):
            raise QuadrantsRuntimeError(f"{shape} is not a valid shape for ndarray: at most {MOST_ELEMENTS} elements")
        self._allocate(shape, axes or tuple(range(len(shape))))

    @classmethod
    def over(cls, array):
        """One over the memory of an array of NumPy."""
        dtype = OF_NUMPY.get(array.dtype.str[1:])
        if dtype is None:
            raise QuadrantsTypeError(f"arrays of '{array.dtype}' aren't there yet")
        return cls._of(dtype, array.shape, OnHost(array, array))

    @classmethod
    def taken(cls, taken):
        """One over an array of another library on the device."""
        axes = range(len(taken.shape))
        made = cls._of(taken.dtype, taken.shape, OnDevice(taken.memory, taken.dtype, taken.shape, axes, is_foreign=True))
        _runtime.current().arrays.add(made)
        return made

    @property
    def arr(self):
        """What programs for the peer ask for `device_allocation_ptr`."""
        return self

    def device_allocation_ptr(self):
        """The address of the first element, as the device has it."""
        return self.elements().address

    @classmethod
    def _of(cls, dtype, shape, elements):
        made = cls.__new__(cls)
        made.dtype, made.shape, made.axes = dtype, tuple(shape), tuple(range(len(shape)))
        made._generation = _runtime.current().generation
        made._elements = elements
        made._at = elements.place(dtype, made.shape, made._generation)
        return made


class Field(Storage):
    """An array that kernels find by its name, or by that of what holds it. Before it has a place it has no shape."""

    _at = None

    def __init__(self, dtype, name):
        super().__init__(dtype)
        self.name = name

    def __getattr__(self, name):
        if name in ("shape", "axes", "offset", "_elements"):
            raise QuadrantsRuntimeError("the field has no place yet, as of qd.root.dense(qd.i, 8).place(field)")
        raise AttributeError(f"a field has no attribute {name!r}")

    @property
    def is_placed(self):
        """Whether it has a place."""
        return "shape" in vars(self)

    def put(self, shape, axes, offset):
        """Gives it a place; indices begin at `offset`, or at 0."""
        if not _are_valid(shape) or len(shape) > len(AXES):
            raise ValueError(
                f"{shape} is not a valid shape for a field: at most {len(AXES)} dimensions, and {MOST_ELEMENTS} elements"
            )
        offset = (0,) * len(shape) if offset is None else integers(offset)
        if len(offset) != len(shape):
            raise QuadrantsTypeError(f"offset={offset} has another number of dimensions than shape={shape}")
        if any(first < i32.least or first + extent > i32.most for first, extent in zip(offset, shape)):
            raise ValueError(f"offset={offset}: with shape={shape} the indices are from {i32.least} to {i32.most - 1}")
        self._allocate(shape, axes)
        self.offset = offset

    def _first(self):
        return self.offset

    def __repr__(self):
        return super().__repr__() if self.is_placed else f"<Field of {self.dtype}, without a place>"


def ndarray(dtype, shape):
    """Makes an array that kernels are given; `shape` is an extent or a tuple."""
    return Ndarray(dtype, integers(shape))


def from_dlpack(value):
    """An ndarray over the memory of an array of any library that exports it by DLPack. It is memory of the device."""
    if not hasattr(value, "__dlpack_device__"):
        raise TypeError(f"an array with '__dlpack__' is expected, and not {type(value).__name__}")
    if _arch() == "cuda" and _foreign.is_on_device(value):
        return Ndarray.taken(_foreign.Taken(value))
    if not _runtime.current().device.is_host:
        raise BufferError(f"memory of {_arch()} is expected, and DLPack's number of this is {value.__dlpack_device__()[0]}")
    return Ndarray.over(of_dlpack(value))


def field(dtype, shape=None, order=None, name="", offset=None, needs_grad=False, needs_dual=False):
    """Makes an array of zeros that kernels find by name. `order` names the axes from the outermost in memory: `"ji"` is by
    columns. Indices begin at `offset`. Without a shape it has a place when `qd.root` gives it one."""
    if needs_grad or needs_dual:
        raise NotImplementedError("fields with gradients aren't there yet")
    made = Field(dtype, name)
    if shape is None:
        if order is not None or offset is not None:
            raise ValueError("order and offset go with a shape; place takes an offset, too")
        return made
    shape = integers(shape)
    letters = AXES[: len(shape)]
    order = letters if order is None else order
    if sorted(order) != list(letters):
        raise ValueError(f"order={order!r} does not have each of the axes '{letters}' once")
    made.put(shape, tuple(letters.index(each) for each in order), offset)
    return made
