"""Portable GPU kernels in Python."""

from types import SimpleNamespace as _Namespace
from typing import Any

from qd import _later, _lib, _runtime, algorithms, exception, lang, math, profiler, simt, types
from qd._dtypes import f16, f32, f64, i8, i16, i32, i64, u1, u8, u16, u32, u64
from qd._functions import Template, data_oriented, func, grouped, loop_config, ndrange, pyfunc, static, static_assert, static_print, template
from qd._internals import DeviceCapability, dump_compile_config, extension, is_extension_enabled
from qd._kernel import kernel
from qd._logging import CRITICAL, DEBUG, ERROR, INFO, TRACE, WARN, is_logging_effective, set_logging_level
from qd._operations import EXPORTED
from qd._perf_dispatch import perf_dispatch
from qd._quadrants import install_as_quadrants
from qd._root import EXPORTED as _places
from qd._root import FieldsBuilder, SNode
from qd._runtime import amdgpu, arm64, cpu, cuda, gpu, init, metal, python, reset, sync, vulkan, x64
from qd._storage import Field, Ndarray, field, from_dlpack, ndarray
from qd._tensor import Backend, Layout, Tensor, tensor, wrap
from qd.exception import *  # noqa: F403
from qd.types import float16, float32, float64, int8, int16, int32, int64, uint1, uint8, uint16, uint32, uint64

x86_64 = x64
real_func = func
experimental = _Namespace(real_func=real_func)
global_thread_idx = simt.block.global_thread_idx
# What kernels find by its name, and what they are given: either has scalars.
ScalarField, ScalarNdarray = Field, Ndarray
globals().update(EXPORTED)
globals().update(math.EXPORTED)
globals().update({**_later.TOP, **_later.HINTS, **_places})


def __getattr__(name: str) -> Any:
    if name == "cfg":
        return _runtime.config()
    raise AttributeError(f"module 'qd' has no attribute {name!r}: {math.instead(name)}")
