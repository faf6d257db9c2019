"""Names that programs for the peer reach for inside of it: those of `qd.lang.impl`, `misc`, `util` and `_exceptions`, and of
`qd._lib.core`."""

from enum import Enum, auto

from qd import _core, _runtime
from qd._runtime import cpu, host_arch
from qd._storage import TO_NUMPY
from qd.exception import QuadrantsRuntimeError


def current_cfg():
    """What `init` was told, as `qd.cfg`."""
    return _runtime.config()


def dump_compile_config():
    """Prints what `init` was told."""
    for name, value in sorted(vars(_runtime.current().config).items()):
        print(f"{name}={value}")


class extension(Enum):
    """What the peer has on some kinds of devices alone."""

    sparse = auto()
    quant = auto()
    mesh = auto()
    quant_basic = auto()
    data64 = auto()
    adstack = auto()
    bls = auto()
    assertion = auto()
    extfunc = auto()


# By the names of kinds of devices, what each device of a kind has. Of Vulkan's some have no words of 64 bits.
_EXTENSIONS = {name: {extension.data64, extension.assertion} for name in ("cpu", "x64", "arm64", "cuda", "amdgpu")}
_EXTENSIONS["vulkan"] = {extension.assertion}


def is_extension_supported(arch, ext):
    """Whether each device of a kind has something; the cpu has what it has in its own name where it stands in for another kind."""
    name = "cpu" if _runtime.is_emulated(arch) else arch.name
    return ext in _EXTENSIONS.get(name, ())


def is_extension_enabled(ext):
    """Whether each device of the kind that `init` has opened has something."""
    return is_extension_supported(_runtime.current().config.arch, ext)


class DeviceCapability(Enum):
    """What may be asked of `get_device_caps`, all of Vulkan's devices, with SPIR-V's names."""

    spirv_has_int8 = "Int8"
    spirv_has_int16 = "Int16"
    spirv_has_int64 = "Int64"
    spirv_has_float16 = "Float16"
    spirv_has_float64 = "Float64"
    spirv_has_atomic_int64 = "Int64Atomics"
    spirv_has_atomic_float_add = "AtomicFloat32AddEXT"
    spirv_has_atomic_float64_add = "AtomicFloat64AddEXT"


# Bytes of memory that a block may have: what each kind of device has at least, and those where it is all that kernels get.
_SHARED = {"cpu": 1 << 18, "x64": 1 << 18, "arm64": 1 << 18, "vulkan": 1 << 14, "cuda": 48 << 10, "amdgpu": 1 << 16}
_MORE = ("cuda",)


def get_max_shared_memory_bytes(*, is_lowerbound_ok):
    """The bytes of memory that a block may have."""
    runtime = _runtime.current()
    arch = runtime.config.arch
    if arch.name in _MORE and not (is_lowerbound_ok or runtime.device.is_host):
        raise QuadrantsRuntimeError(f"get_max_shared_memory_bytes: of {arch.name} only a lower bound is known")
    return _SHARED[arch.name]


def get_cuda_compute_capability():
    """The compute capability of NVIDIA's device: 90 of sm_90, and where the cpu stands in for one."""
    runtime = _runtime.current()
    arch = runtime.config.arch
    if arch != _runtime.cuda:
        raise QuadrantsRuntimeError(f"get_cuda_compute_capability: the device is no NVIDIA's, but {arch.name}")
    return 90 if runtime.device.is_host else int(runtime.device.target.removeprefix("nvptx:sm_"))


class _Running:
    """What is between `init` and `reset`."""

    sync = staticmethod(_runtime.sync)

    @property
    def prog(self):
        return _Program()

    @property
    def print_full_traceback(self):
        return _runtime.current().config.print_full_traceback


class _Program:
    """What is known of the device."""

    # Kernels have no graphs.
    def get_graph_cache_size(self):
        return 0

    get_graph_num_nodes_on_last_call = get_graph_total_builds = get_graph_cache_size

    def get_graph_cache_used_on_last_call(self):
        return False

    def get_num_offloaded_tasks_on_last_call(self):
        """The tasks of the kernel that was called last, as its source has them: loops, algorithms, and runs of other statements."""
        _runtime.current()
        return _runtime.last_tasks

    def get_device_caps(self):
        return _Capabilities()

    @property
    def subgroup_size(self):
        return _runtime.current().device.subgroup_size


class _Capabilities:
    """What a device of Vulkan's has, and the cpu, which has all of it, where it stands in for one; others have none of it."""

    def get(self, capability):
        """Whether it has something, as 1 or 0."""
        runtime = _runtime.current()
        if runtime.config.arch != _runtime.vulkan:
            return 0
        return int(runtime.device.is_host or DeviceCapability(capability).value in runtime.device.capabilities)


def get_runtime():
    """What runs now."""
    return _Running()


def arch_from_name(name):
    """An arch by its name."""
    if name not in _runtime.ARCHES:
        raise ValueError(f"{name} is no arch: expected one of {', '.join(_runtime.ARCHES)}")
    return _runtime.ARCHES[name]


def get_host_arch_list():
    """The cpu, by each of its names."""
    return [cpu, host_arch()]


def is_arch_supported(arch):
    """Whether `init` can open a device of this kind. It is opened, and given back."""
    name = _runtime.device_of(arch)
    if name is None:
        return False
    try:
        _core.Device(name, None, False, False, None)
    except _core.Failed:
        return False
    return True


def _with(arch):
    """What tells whether there is a driver for a kind of device, on whatever machine."""
    return lambda: _runtime.device_of(arch) is not None


with_cuda, with_amdgpu, with_vulkan, with_metal = map(_with, (_runtime.cuda, _runtime.amdgpu, _runtime.vulkan, _runtime.metal))


def data_type_size(dt):
    """The bytes of a number of a type."""
    return dt.size


def to_numpy_type(dt):
    """NumPy's type of the same numbers."""
    import numpy

    return numpy.dtype(TO_NUMPY[dt]).type


def has_pytorch():
    """Whether PyTorch can be imported."""
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def raise_exception(exception_class, msg, err_code):
    """Raises an exception whose text ends with a code."""
    raise exception_class(f"{msg} (error code: {err_code}).")
