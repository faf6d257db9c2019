"""`init` and what it makes: the device, and how kernels are compiled."""

import os
import re
import warnings
import weakref
from dataclasses import dataclass, field
from typing import Literal

from qd import _core
from qd._dtypes import DataType, f32, f64, i32, i64, u1
from qd._logging import LEVELS, logger, set_logging_level
from qd.exception import QuadrantsAssertionError, QuadrantsRuntimeError


# The cpu's own name.
_HOST = "arm64" if os.uname().machine == "aarch64" else "x64"


class Arch:
    """A kind of device. The cpu has two names, which are equal."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Arch.{self.name}"

    def __eq__(self, other):
        return isinstance(other, Arch) and self._kind == other._kind

    def __hash__(self):
        return hash(self._kind)

    @property
    def _kind(self):
        return _HOST if self.name == "cpu" else self.name


cpu = Arch("cpu")
x64 = Arch("x64")
arm64 = Arch("arm64")
cuda = Arch("cuda")
vulkan = Arch("vulkan")
amdgpu = Arch("amdgpu")
metal = Arch("metal")
python = Arch("python")
gpu = [cuda, metal, vulkan, amdgpu]
ARCHES = {arch.name: arch for arch in (cpu, x64, arm64, cuda, vulkan, amdgpu, metal, python)} | {"x86_64": x64}


# What the runtime calls a device of each kind; Metal has no driver yet, and Python executes no kernel.
_DEVICES = {"cpu": "cpu", "cuda": "cuda", "vulkan": "vulkan", "amdgpu": "hip"}


def host_arch():
    """What the cpu is."""
    return ARCHES[_HOST]


# Kinds that the cpu stands in for where it is asked to. Those of AMD have 64 lanes, and the cpu 32.
_EMULATED = ("cuda", "vulkan")


def _emulated(told):
    """The names of those that it stands in for."""
    variable = "QD_EMULATE"
    named = [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]
    for name in named:
        if name not in _EMULATED:
            raise NotImplementedError(f"{variable}={name}: the cpu stands in for {' and '.join(_EMULATED)}")
    return _EMULATED if told is not None and told.emulate else named


def is_emulated(arch, told=None):
    """Whether the cpu stands in for a kind of device, by the environment or by what `init` is told, or has been."""
    return arch.name in _emulated(told or config())


def device_of(arch, told=None):
    """The name of the first device of a kind; None if there is none to open."""
    if is_emulated(arch, told):
        return "cpu"
    return _DEVICES.get("cpu" if arch == cpu else arch.name)


@dataclass
class Config:
    """What `init` was told."""

    arch: Arch
    default_fp: DataType = f32
    default_ip: DataType = i32
    short_circuit_operators: bool = True
    unrolling_limit: int = 32
    debug: bool = False
    check_out_of_bound: bool = False
    print_full_traceback: bool = False
    cpu_max_num_threads: int | None = None
    kernel_profiler: bool = False
    print_ir: bool = False
    raise_on_templated_floats: bool = False
    debug_dump_path: str | None = None
    # Whether what is compiled is kept for other processes, and in which folder, if not where `QD_CACHE_DIR` says.
    offline_cache: bool = True
    offline_cache_file_path: str | None = None
    # Whether the cpu stands in for other kinds of devices.
    emulate: bool = False
    log_level: Literal["trace", "debug", "info", "warn", "error", "critical"] | None = None

    @property
    def defaults(self):
        """The types that Python's own stand for."""
        return {int: self.default_ip, float: self.default_fp, bool: u1}


# Options of which no value changes a result. `fast_math` is a permission, which is not used, and nor is `default_gpu_block_dim`:
# threads of a block are as many on every device.
_ACCEPTED = set("""
    fast_math offline_cache_cleaning_policy offline_cache_max_size_of_files offline_cache_cleaning_factor
    random_seed num_compile_threads device_memory_GB device_memory_fraction _test_mode cuda_stack_limit gpu_max_reg vk_api_version
    opt_level cfg_optimization advanced_optimization flatten_if lower_access move_loop_invariant_outside_if cache_loop_invariant_global_vars
    simplify_before_lower_access simplify_after_lower_access detect_read_only make_thread_local make_block_local make_cpu_multithreading_loop
    demote_dense_struct_fors demote_no_access_mesh_fors real_matrix_scalarize force_scalarize_matrix half2_vectorization quant_opt_store_fusion
    quant_opt_atomic_demotion make_mesh_block_local mesh_localize_to_end_mapping mesh_localize_from_end_mapping
    mesh_localize_all_attr_mappings optimize_mesh_reordered_mapping experimental_auto_mesh_local auto_mesh_local_default_occupacy
    default_cpu_block_dim cpu_block_dim_adaptive default_gpu_block_dim saturating_grid_dim max_block_dim
    gdb_trigger timeline verbose verbose_kernel_launches print_preprocessed_ir print_ir_dbg_info print_accessor_ir
    print_struct_llvm_ir print_kernel_llvm_ir print_kernel_llvm_ir_optimized print_kernel_asm print_kernel_amdgcn
""".split())
# What flags are in the environment.
_FLAGS = {"0": False, "1": True, "false": False, "true": True}
_OPTIONS = (
    "debug", "check_out_of_bound", "short_circuit_operators", "unrolling_limit", "print_full_traceback", "cpu_max_num_threads",
    "kernel_profiler", "print_ir", "debug_dump_path", "log_level", "offline_cache", "offline_cache_file_path",
    "raise_on_templated_floats",
)  # fmt: skip
# Variables that options have besides those of their names.
_ALIASES = {"debug_dump_path": "QD_DUMP_IR"}


@dataclass
class Runtime:
    """What is between `init` and `reset`."""

    config: Config
    device: _core.Device
    # Counts calls of `init`: what was compiled for another is not used.
    generation: int
    # Those of other libraries, by their handles.
    streams: dict = field(default_factory=dict)
    profiler: _core.Profiler | None = None
    # Those in memory of the device.
    arrays: weakref.WeakSet = field(default_factory=weakref.WeakSet)


_runtime = None
_generation = 0
# Tasks of the kernel that was called last, as its source has them.
last_tasks = 0


def init(
    arch=None,
    default_fp=None,
    default_ip=None,
    enable_fallback=True,
    require_version=None,
    print_non_pure=False,
    src_ll_cache=True,
    emulate=False,
    **options,
):
    """Opens a device; all that was there before is reset. `emulate`: the cpu stands in for other kinds, as for those that
    `QD_EMULATE` names."""
    global _runtime, _generation
    known = {*_ACCEPTED, *_OPTIONS}
    if "default_up" in options:
        raise KeyError("default_up is the unsigned type of default_ip")
    # Sizes of stacks that gradients take, of which there are none.
    unknown = [name for name in options if name not in known and not name.startswith("ad_stack_")]
    if unknown:
        raise KeyError(f"Unrecognized keyword argument(s) for qd.init: {', '.join(unknown)}")
    if require_version is not None:
        _check_version(require_version)
    reset()
    config = Config(
        cpu,
        _default("fp", default_fp, (f32, f64)),
        _default("ip", default_ip, (i32, i64)),
        **{name: value for name in _OPTIONS if (value := _option(name, options)) is not None},
        emulate=bool(emulate),
    )
    config.arch, device = _opened(arch, config, enable_fallback)
    _generation += 1
    _runtime = Runtime(config, device, _generation)
    if config.kernel_profiler:
        _runtime.profiler = _core.Profiler(device)
    if config.log_level is not None:
        set_logging_level(config.log_level)


def _check_version(required):
    """That programs for a version of the peer run here: those for 1.x do."""
    known = re.match(r"(\d+)\.\d+", str(required))
    if known is None:
        raise ValueError(f"require_version={required!r}: a version such as '1.0.0' is expected")
    if known[1] != "1":
        raise QuadrantsRuntimeError(f"require_version={required!r}: programs for versions 1.x run here")


def _flag(value):
    if isinstance(value, str):
        return _FLAGS[value.lower()]
    if not isinstance(value, int) or value < 0:
        raise ValueError
    return bool(value)


def _natural(value):
    number = int(value)
    if number != float(value) or number < 0:
        raise ValueError
    return number


def _level(value):
    if value.lower() not in LEVELS:
        raise ValueError
    return value.lower()


# Of an option's type what is expected, and what makes that of what is given.
_KINDS = {
    bool: ("0 or 1", _flag), int: ("a number from 0 on", _natural), int | None: ("a number from 0 on", _natural),
    str | None: ("the path of a folder", os.fspath), Config.__annotations__["log_level"]: (f"one of {', '.join(LEVELS)}", _level),
}  # fmt: skip


def _option(name, options):
    """An option as it is given, or as the environment has it; None."""
    variable = f"QD_{name.upper()}"
    if not os.environ.get(variable):
        variable = _ALIASES.get(name, variable)
    text = os.environ.get(variable)
    expected, made = _KINDS[Config.__annotations__[name]]
    given, said = (options[name], f"{name}={options[name]!r}") if name in options else (text or None, f"{variable}={text}")
    if name in options and text:
        warnings.warn(f"{variable}={text} is not used: qd.init is given {said}", stacklevel=4)
    if given is None:
        return None
    try:
        return made(given)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"{said}: {expected} is expected") from None


def _opened(arch, config, enable_fallback):
    """The first device of these kinds that there is, or the cpu."""
    given = os.environ.get("QD_ARCH")
    if given:
        if given not in ARCHES:
            raise ValueError(f"QD_ARCH={given} is no arch: expected one of {', '.join(ARCHES)}")
        arch = ARCHES[given]
    wanted = [cpu] if arch is None else arch if isinstance(arch, (list, tuple)) else [arch]
    if not wanted or not all(isinstance(one, Arch) for one in wanted):
        raise TypeError(f"arch={arch!r}: one of qd.{', qd.'.join(ARCHES)} is expected, or a list of these")

    def opened(name):
        checks = config.debug or config.check_out_of_bound
        return _core.Device(name, config.cpu_max_num_threads, checks, config.offline_cache, config.offline_cache_file_path)

    refused = []
    for one in wanted:
        name = device_of(one, config)
        try:
            if name is not None:
                device = opened(name)
                if is_emulated(one, config):
                    logger.warning("the cpu stands in for %s", one.name)
                return one, device
            refused.append(f"{one.name}: it has no driver")
        except _core.Failed as error:
            refused.append(f"{one.name}: {error}")
    names = ", ".join(one.name for one in wanted)
    message = f"arch {names} is not supported here ({'; '.join(refused)})"
    if not enable_fallback:
        raise QuadrantsRuntimeError(message)
    warnings.warn(f"{message}: the cpu is used instead", stacklevel=3)
    return cpu, opened("cpu")


def _default(which, given, allowed):
    variable = f"QD_DEFAULT_{which.upper()}"
    if given is None and os.environ.get(variable):
        # By its name, or by its bits alone.
        text = os.environ[variable]
        given = next((dtype for dtype in allowed if text in (dtype.name, dtype.name[1:])), text)
    if given is None:
        return allowed[0]
    if given not in allowed:
        names = " or ".join(dtype.name for dtype in allowed)
        raise ValueError(f"default_{which} is {names}, and not {given}")
    return given


def reset():
    """Gives the device back, and the memory of arrays on it. Kernels are compiled again when they are called after the next `init`."""
    global _runtime, last_tasks
    ended, _runtime = _runtime, None
    last_tasks = 0
    if ended is not None:
        try:
            with Failures():
                ended.device.synchronize()
        finally:
            for array in ended.arrays:
                array.free()


def sync():
    """Waits until all that was launched has ended."""
    device = current().device
    with Failures():
        device.synchronize()


def told(error):
    """What the device reports, as the package's exception."""
    return (QuadrantsAssertionError if isinstance(error, _core.Faulted) else QuadrantsRuntimeError)(str(error))


class Failures:
    """What the device reports, as the package's exceptions."""

    def __enter__(self):
        return self

    def __exit__(self, _, error, trace):
        if isinstance(error, _core.Failed):
            raise told(error) from None


def current():
    """What `init` made."""
    if _runtime is None:
        raise QuadrantsRuntimeError("qd.init has not been called")
    return _runtime


def generation():
    """Which call of `init` this is; None before it."""
    return None if _runtime is None else _runtime.generation


def config():
    """What `init` was told; None before it."""
    return None if _runtime is None else _runtime.config
