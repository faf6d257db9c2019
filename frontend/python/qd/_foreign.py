"""Arrays of other libraries in memory of a device, by DLPack or `__cuda_array_interface__`."""

import collections
import sys

from qd import _core, _runtime
from qd._dtypes import BY_NAME

# DLPack's number for memory of NVIDIA's devices.
CUDA = 2

# DLPack's number for the default stream that waits for all others, which drivers have as 0, too.
_LEGACY = 1

# And for that of each thread.
_PER_THREAD = 2

# What DLPack has in place of a stream where nobody is to wait.
_UNORDERED = -1

# Libraries whose arrays never change.
_IMMUTABLE = ("jax", "jaxlib")


def is_on_device(value):
    """Whether it is an array of another library in memory of an NVIDIA device, which is open."""
    if _runtime.current().device.is_host:
        return False
    if hasattr(value, "__dlpack_device__"):
        return value.__dlpack_device__()[0] == CUDA
    return hasattr(value, "__cuda_array_interface__")


class Taken:
    """An array that was taken, for a launch on the stream that its library works on."""

    def __init__(self, value):
        if not hasattr(value, "__dlpack__"):
            self._take_said(value)
            return
        library = type(value).__module__.partition(".")[0]
        handle, owner = _current_stream(library, value) or (None, None)
        # Otherwise the library does not know when a launch has ended.
        self.is_ordered = handle is not None
        self.stream = stream(handle or _LEGACY, owner)
        if library == "torch" and value.is_neg():
            raise BufferError("its elements are negated where they are read")
        # On its own stream the library has nothing to wait for.
        wanted = _UNORDERED if self.is_ordered else _LEGACY
        try:
            capsule = value.__dlpack__(stream=wanted, max_version=(1, 0))
        except TypeError:
            # It is of before version 1.
            capsule = value.__dlpack__(stream=wanted)
        self._import(capsule, library in _IMMUTABLE)

    def _take_said(self, value):
        """One that has no DLPack: its contents are ready in the order of the stream that it names, if it names one."""
        # Few arrays want it, and it takes long to import.
        from qd import _interface

        self.is_ordered = False
        handle = value.__cuda_array_interface__.get("stream") or _LEGACY
        # The array keeps a stream that is not one of the driver's own.
        self.stream = stream(handle, value if handle > _PER_THREAD else None)
        self._import(*_interface.capsule_of(value, CUDA))

    def _import(self, capsule, is_read_only):
        self.memory, dtype, self.shape = _core.imported(capsule, self.stream, is_read_only)
        self.dtype = BY_NAME[dtype]


def _current_stream(library, value):
    """The stream that a library works on now: its handle, and what keeps it; None where nobody says."""
    if library == "torch":
        current = sys.modules["torch"].cuda.current_stream(value.device)
        return current.cuda_stream or _LEGACY, current
    if library == "cupy":
        current = sys.modules["cupy"].cuda.get_current_stream()
        return current.ptr or _LEGACY, current
    return None


# What the extension asks tensors of PyTorch by.
_Torch = collections.namedtuple("_Torch", "tensor, to_dlpack, current_stream, streams, legacy")


def torch():
    """PyTorch, as the extension asks it; None where no program has it."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    return _Torch(torch.Tensor, torch.utils.dlpack.to_dlpack, torch.cuda.current_stream, _runtime.current().streams, _LEGACY)


def stream(handle, owner=None):
    """A stream of another library, by its handle, as DLPack has these. `owner` is kept until `reset`."""
    runtime = _runtime.current()
    known = runtime.streams.get(handle)
    if known is None:
        known = runtime.streams[handle] = _core.Stream(runtime.device, handle, owner)
    return known


def export(memory, dtype, shape, wanted, max_version):
    """A capsule, for use on a stream as DLPack numbers these."""
    if wanted == 0:
        raise ValueError("stream=0 may be either default stream: 1 is the legacy one, and 2 that of each thread")
    on = None if wanted == _UNORDERED else stream(_LEGACY if wanted is None else wanted)
    return _core.exported(memory, dtype.name, shape, on, max_version is not None and max_version[0] >= 1)
