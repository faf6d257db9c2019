"""Names that programs reach for inside of the peer."""

import ast
import copy
import dataclasses
import os
import sys
import types
import warnings

import numpy as np
import pytest

import qd


def test_archs():
    from qd.lang import misc

    host = qd.arm64 if os.uname().machine == "aarch64" else qd.x64
    assert misc.get_host_arch_list() == [qd.cpu, host] and qd._lib.core.host_arch() == host
    assert all(misc.is_arch_supported(arch) for arch in (qd.cpu, host, qd.cfg.arch))
    assert not any(misc.is_arch_supported(arch) for arch in (qd.python, qd.metal))
    for name in "cpu x64 x86_64 arm64 cuda amdgpu metal vulkan python".split():
        arch = getattr(qd, name)
        assert arch == getattr(qd.lang, name) == qd._lib.core.arch_from_name(name) == copy.deepcopy(arch)
    other = qd.arm64 if host == qd.x64 else qd.x64
    assert qd.cpu == host != other and hash(qd.cpu) == hash(host) and qd.cpu not in (other, *qd.gpu)
    assert qd.lang.gpu is qd.gpu
    with pytest.raises(ValueError, match="tpu is no arch: expected one of cpu, "):
        qd._lib.core.arch_from_name("tpu")
    drivers = {name: getattr(qd._lib.core, f"with_{name}")() for name in ("cuda", "amdgpu", "vulkan", "metal")}
    assert drivers == {"cuda": True, "amdgpu": True, "vulkan": True, "metal": False}


def test_what_is_not_supported_is_what_init_refuses(monkeypatch):
    monkeypatch.delenv("QD_ARCH", raising=False)
    for arch in qd.gpu:
        if qd.lang.misc.is_arch_supported(arch):
            continue
        with pytest.raises(RuntimeError, match="is not supported"):
            qd.init(arch, enable_fallback=False)


def test_types():
    from qd.lang.util import to_numpy_type

    for dtype in (qd.u1, qd.i8, qd.u16, qd.f16, qd.i32, qd.f64):
        assert to_numpy_type(dtype) is qd.field(dtype, 1).to_numpy().dtype.type
        assert qd._lib.core.data_type_size(dtype) == np.dtype(to_numpy_type(dtype)).itemsize
    from qd.types.annotations import Template, template

    assert (Template, template) == (qd.Template, qd.template)


def test_what_runs():
    from qd.lang.impl import current_cfg, get_runtime

    assert current_cfg() is qd.cfg
    runtime = get_runtime()
    runtime.sync()
    assert runtime.prog.subgroup_size == qd.simt.subgroup.group_size()
    qd.init(print_full_traceback=True)
    assert runtime.print_full_traceback
    qd.reset()
    assert current_cfg() is None


def test_others():
    from qd.algorithms._radix_sort import _min_log256_for_n
    from qd.algorithms._reduce import _reduce_depth_for_n
    from qd.lang import _perf_dispatch
    from qd.lang._exceptions import raise_exception

    for depth in (_min_log256_for_n, _reduce_depth_for_n):
        assert [depth(n) for n in (0, 1, 256, 257, 65536, 65537, 2**32)] == [1, 1, 1, 2, 2, 3, 4]
    assert _perf_dispatch.NUM_ACTIVE == 1
    with pytest.raises(qd.QuadrantsTypeError, match=r"^no such type \(error code: 7\)\.$"):
        raise_exception(qd.QuadrantsTypeError, "no such type", 7)


def test_pytorch_is_there_or_not(monkeypatch):
    for module in (None, types.ModuleType("torch")):
        monkeypatch.setitem(sys.modules, "torch", module)
        assert qd.lang.util.has_pytorch() == (module is not None)


def test_extensions():
    extension, core = qd.extension, qd._lib.core
    assert core.is_extension_supported(qd.cuda, extension.data64) and not core.is_extension_supported(qd.vulkan, extension.data64)
    assert not core.is_extension_supported(qd.metal, extension.assertion)
    assert qd.is_extension_enabled(extension.assertion) and not qd.is_extension_enabled(extension.adstack)
    assert not any(core.is_extension_supported(qd.cpu, each) for each in (extension.sparse, extension.quant, extension.mesh))


def test_what_devices_have():
    from qd.lang.impl import get_cuda_compute_capability, get_max_shared_memory_bytes, get_runtime

    program = get_runtime().prog
    if qd.cfg.arch == qd.cuda:
        assert get_cuda_compute_capability() >= 80
    else:
        with pytest.raises(RuntimeError, match=f"get_cuda_compute_capability: the device is no NVIDIA's, but {qd.cfg.arch.name}"):
            get_cuda_compute_capability()
    size = get_max_shared_memory_bytes(is_lowerbound_ok=True)

    @qd.kernel
    def k(length: qd.template()):
        qd.loop_config(block_dim=64)
        for i in range(64):
            shared = qd.simt.block.SharedArray(length, qd.i32)
            shared[i] = 0

    k(size // 4)
    if qd.cfg.arch != qd.cuda:
        assert get_max_shared_memory_bytes(is_lowerbound_ok=False) == size
        with pytest.raises(qd.QuadrantsCompilationError, match=f"has {size}"):
            k(size // 4 + 1)
    counts = program.get_graph_cache_size(), program.get_graph_total_builds(), program.get_graph_num_nodes_on_last_call()
    assert counts == (0, 0, 0) and not program.get_graph_cache_used_on_last_call()
    if qd.cfg.arch != qd.vulkan:
        assert not any(map(program.get_device_caps().get, qd.DeviceCapability))


@pytest.mark.parametrize("dtype, name", [(qd.i64, "int64"), (qd.f64, "float64")], ids=str)
def test_a_device_of_vulkans_has_what_its_kernels_need(dtype, name):
    if qd.cfg.arch != qd.vulkan:
        pytest.skip("of Vulkan's devices")
    asked = getattr(qd.DeviceCapability, f"spirv_has_{name}")
    has = qd.lang.impl.get_runtime().prog.get_device_caps().get(asked)

    @qd.kernel
    def twice(x: dtype) -> dtype:
        return x + x

    if has:
        assert twice(3) == 6
    else:
        with pytest.raises(RuntimeError):
            twice(3)


def test_what_the_driver_says_of_a_device(monkeypatch):
    """Of devices that are not here."""
    from qd import _runtime
    from qd.lang.impl import get_cuda_compute_capability, get_runtime

    def told(arch, **of_device):
        device = types.SimpleNamespace(is_host=False, **of_device)
        config = dataclasses.replace(qd.cfg, arch=arch)
        monkeypatch.setattr(_runtime, "_runtime", dataclasses.replace(_runtime.current(), config=config, device=device))

    names = qd._lib.core.DeviceCapability
    with monkeypatch.context() as monkeypatch:
        told(qd.vulkan, target="vulkan:1.3", capabilities=["Shader", "Int16", "Float64", "AtomicFloat32AddEXT", "Int64Atomics"])
        has = get_runtime().prog.get_device_caps().get
        known = {name: has(name) for name in names}
        assert set(known.values()) == {0, 1}
        there = {names.spirv_has_int16, names.spirv_has_float64, names.spirv_has_atomic_float_add, names.spirv_has_atomic_int64}
        assert {name for name in known if known[name]} == there
        with pytest.raises(ValueError, match="spirv_has_magic"):
            has("spirv_has_magic")
        for target, capability in (("nvptx:sm_80", 80), ("nvptx:sm_90", 90), ("nvptx:sm_100", 100)):
            told(qd.cuda, target=target, capabilities=[])
            assert get_cuda_compute_capability() == capability
        told(qd.amdgpu, target="amdgpu:gfx942", capabilities=[])
        assert not has(names.spirv_has_float64)
        with pytest.raises(RuntimeError, match="the device is no NVIDIA's, but amdgpu"):
            get_cuda_compute_capability()


Ints = qd.types.NDArray[qd.i32, 1]


def tasks():
    return qd.lang.impl.get_runtime().prog.get_num_offloaded_tasks_on_last_call()


@qd.func
def summed(a: qd.template()):
    s = 0
    for i in a:
        s += a[i]
    return s


@qd.kernel
def of_nothing(a: Ints):
    pass


@qd.kernel
def of_two_loops(a: Ints):
    for i in a:
        a[i] += 1
    for i in a:
        a[i] *= 2


@qd.kernel
def of_loops_and_statements(a: Ints):
    a[0] = 1
    a[1] = 2
    for i in a:
        a[i] += 1
    if a[0] > 0:
        for i in range(3):
            a[i] = 0
    n = a.shape[0]
    for i in range(n):
        a[i] += 1
    qd.loop_config(serialize=True)
    for i in range(2):
        a[i] = 7


@qd.kernel
def of_static_loops(a: Ints):
    for k in qd.static(range(3)):
        for i in a:
            a[i] += k
    if qd.static(False):
        for i in a:
            a[i] = 0


@qd.kernel
def of_a_bound_on_the_device(a: Ints) -> qd.i32:
    s = 0
    for i in range(a[0]):
        qd.atomic_add(s, i)
    return s


@qd.kernel
def of_a_function(a: Ints) -> qd.i32:
    a[1] = 0
    n = summed(a)
    n += 1
    return n


@qd.kernel
def of_algorithms(a: Ints, b: Ints, scratch: qd.types.NDArray[qd.u32, 1]):
    a[0] = 1
    qd.algorithms.exclusive_scan_add(a, b, scratch, a[0] + 3, qd.i32, 1)
    for i in a:
        a[i] += 1
    qd.algorithms.exclusive_scan_add(a, b, scratch, a.shape[0], qd.i32, 1)


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize(
    "kernel, wanted",
    [
        (of_nothing, 0),
        (of_two_loops, 2),
        (of_loops_and_statements, 5),
        (of_static_loops, 3),
        (of_a_bound_on_the_device, 3),
        (of_a_function, 3),
        (of_algorithms, 4),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_tasks_are_those_of_the_source(kernel, wanted, debug):
    """Whatever is fused, or added: each loop and each algorithm is one, and so are other statements in a row."""
    qd.init(debug=debug, enable_fallback=False)
    assert tasks() == 0
    given = [np.ones(8, np.int32)]
    if kernel is of_algorithms:
        slots = qd.algorithms.exclusive_scan_scratch_slots(8, 1)
        given += [np.zeros(8, np.int32), np.zeros(slots, np.uint32)]
    for _ in range(2):
        kernel(*given)
        assert tasks() == wanted


def test_tasks_are_those_of_the_last_call():
    @qd.kernel
    def of_its_type(a: qd.types.NDArray):
        for i in a:
            a[i] += 1
        if qd.static(a.dtype == qd.f32):
            for i in a:
                a[i] += 1

    @qd.data_oriented
    class Holder:
        @qd.kernel
        def sets(self, a: Ints):
            a[0] = 1

    reals, integers = np.zeros(3, np.float32), np.zeros(3, np.int32)
    for _ in range(3):
        of_its_type(reals)
        assert tasks() == 2
        of_its_type(integers)
        assert tasks() == 1
        of_its_type(integers.astype(np.int64))
        assert tasks() == 1
    assert reals.tolist() == [6] * 3 and integers.tolist() == [3] * 3
    of_loops_and_statements(integers)
    Holder().sets(integers)
    assert tasks() == 1
    of_loops_and_statements(integers)
    with pytest.raises(qd.QuadrantsRuntimeTypeError):
        of_two_loops("none")
    assert tasks() == 5
    qd.reset()
    with pytest.raises(RuntimeError, match="qd.init has not been called"):
        tasks()


def test_what_kernels_have_inside():
    @qd.data_oriented
    class Holder:
        @qd.kernel
        def nothing(self):
            pass

    for kernel in (of_nothing, Holder.nothing, Holder().nothing):
        primal = kernel._primal
        assert primal.graph_do_while_arg is None and len(primal.graph_do_while_levels) == 0
        seen = primal.src_ll_cache_observations
        assert not (seen.cache_key_generated or seen.cache_validated or seen.cache_loaded or seen.cache_stored)
        for name in ("_adjoint", "grad"):
            with pytest.raises(NotImplementedError, match=f"^kernel.{name} isn't there yet$"):
                getattr(kernel, name)()


@pytest.mark.parametrize("name", ["do_while", "parallel", "parallel_context"])
def test_how_names_of_graphs_are_spelled(name):
    from qd.lang.ast.ast_transformers import graph_api

    now = f"qd.graph.{name}", f"graph.{name}", f"modules[0].graph.{name}"
    older = f"qd.graph_{name}", f"graph_{name}"
    others = name, f"qd.{name}", f"qd.graph.{name}.inner", f"graph_{name}()", "qd.graph", "qd.graph.other", f"qd.graph_{name}_2", "(lambda: 0)"
    for text in (*now, *older, *others):
        called = ast.parse(text, mode="eval").body
        assert graph_api.matches(called, name) == (text in (*now, *older)), text
        assert graph_api.is_deprecated_spelling(called) == (text in older), text
        assert not graph_api.matches(called, "other") and not graph_api.matches(called, f"graph_{name}"), text
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            graph_api.warn_if_deprecated(called)
        assert len(warned) == (text in older), text
        for each in warned:
            assert each.category is DeprecationWarning and f"qd.graph.{name}()" in str(each.message)
    called = ast.parse("qd.graph.parallel", mode="eval").body
    assert graph_api.matches(called, name) == (name == "parallel")


def test_modules_of_what_is_not_there_yet():
    from qd.lang.matrix import Matrix
    from qd.lang.stream import create_stream

    assert (Matrix, create_stream) == (qd.Matrix, qd.create_stream)


@pytest.mark.host
@pytest.mark.parametrize("by", ["option", "environment"])
@pytest.mark.parametrize("arch", [qd.cuda, qd.vulkan], ids=lambda arch: arch.name)
def test_the_cpu_stands_in_for_other_kinds(arch, by, monkeypatch, caplog):
    monkeypatch.delenv("QD_ARCH", raising=False)
    if by == "environment":
        monkeypatch.setenv("QD_EMULATE", "vulkan, cuda")
        qd.init(arch=arch, enable_fallback=False)
    else:
        qd.init(arch=arch, emulate=True, enable_fallback=False)
    assert f"the cpu stands in for {arch.name}" in caplog.text
    assert qd.cfg.arch == arch and qd.lang.misc.is_arch_supported(arch)
    assert qd.is_extension_enabled(qd.extension.data64) and qd.simt.subgroup.group_size() == 32
    if arch == qd.cuda:
        assert qd.lang.impl.get_cuda_compute_capability() == 90
    assert qd.lang.impl.get_max_shared_memory_bytes(is_lowerbound_ok=False) > 0
    # What kernels may have on a device of 64-bit data.
    has = qd.lang.impl.get_runtime().prog.get_device_caps().get
    assert [has(qd.DeviceCapability.spirv_has_int64), has(qd.DeviceCapability.spirv_has_float64)] == [int(arch == qd.vulkan)] * 2

    @qd.kernel
    def double(a: qd.types.NDArray[qd.f64, 1]):
        for i in a:
            a[i] *= 2

    a, f = np.arange(4.0), qd.ndarray(qd.f64, 3)
    double(a)
    assert a.tolist() == [0, 2, 4, 6]
    double(qd.from_dlpack(a))
    assert a.tolist() == [0, 4, 8, 12] and np.from_dlpack(f).shape == (3,) and not hasattr(f, "__cuda_array_interface__")

    class OfDevice:
        def __dlpack__(self, **_):
            raise AssertionError

        def __dlpack_device__(self):
            return 2, 0

    with pytest.raises(qd.QuadrantsRuntimeTypeError, match="its memory is of a device"):
        double(OfDevice())


@pytest.mark.host
def test_where_the_cpu_stands_in_tensors_of_a_device_are_copied(monkeypatch):
    class Tensor:
        shape, is_cuda = (3,), True

        def detach(self):
            return self

        contiguous = cpu = detach

        def numpy(self):
            return np.arange(3)

    monkeypatch.delenv("QD_ARCH", raising=False)
    monkeypatch.setattr("qd._storage._torch", lambda: types.SimpleNamespace(Tensor=Tensor))
    qd.init(arch=qd.cuda, emulate=True)
    f = qd.field(qd.i32, 3)
    f.from_torch(Tensor())
    assert f.to_numpy().tolist() == [0, 1, 2]


@pytest.mark.host
def test_whom_the_cpu_does_not_stand_in_for(monkeypatch):
    monkeypatch.setenv("QD_EMULATE", "amdgpu")
    with pytest.raises(NotImplementedError, match="QD_EMULATE=amdgpu: the cpu stands in for cuda and vulkan"):
        qd.init()
    monkeypatch.delenv("QD_EMULATE")
    with pytest.raises(RuntimeError, match="arch amdgpu is not supported"):
        qd.init(arch=qd.amdgpu, emulate=True, enable_fallback=False)


def test_what_init_was_told_is_printed(capsys):
    qd.init(default_ip=qd.i64, enable_fallback=False)
    qd.dump_compile_config()
    lines = capsys.readouterr().out.split("\n")
    assert f"arch={qd.cfg.arch}" in lines and "default_ip=i64" in lines and "debug=False" in lines
