"""Names that programs for the peer reach for inside of it: those of `qd.lang.impl`, `misc`, `util` and `_exceptions`, and of
`qd._lib.core`."""

from qd import _core, _runtime
from qd._runtime import cpu, host_arch
from qd._storage import TO_NUMPY


def current_cfg():
    """What `init` was told, as `qd.cfg`."""
    return _runtime.config()


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

    @property
    def subgroup_size(self):
        return _runtime.current().device.subgroup_size


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
        _core.Device(name, None, False)
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
