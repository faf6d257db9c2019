"""Names that programs reach for inside of the peer."""

import copy
import os
import sys
import types

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
