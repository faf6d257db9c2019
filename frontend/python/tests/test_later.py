"""Names that programs for the peer have: what isn't there yet says so, and hints do nothing."""

import numpy as np
import pytest

import qd

NAMES = {
    "": """
        svd eig sym_eig solve polar_decompose make_spd random randn Vector Matrix Struct dataclass BufferView
        create_stream create_event Stream Event stream_parallel checkpoint GraphStatus
        activate deactivate append length is_active
        Mesh MeshInstance mesh_local mesh_patch_idx stop_grad
    """,
    "graph": "do_while parallel parallel_context",
    "math": "vec2 ivec3 uvec4 mat2 dot cross normalize eye inverse rotation3d cexp",
    "profiler": "set_kernel_profiler_metrics print_scoped_profiler_info",
    "types": "vector matrix struct",
    "Vector": "field ndarray tensor",
    "ad": "Tape",
    "linalg": "SparseMatrixBuilder",
}


@pytest.mark.parametrize("module", NAMES)
def test_names_say_that_they_are_not_there_yet(module):
    holder = qd
    for part in filter(None, [module]):
        holder = getattr(holder, part)
    for name in NAMES[module].split():
        full = ".".join(filter(None, ["qd", module, name]))
        with pytest.raises(NotImplementedError, match=f"^{full} isn't there yet$"):
            getattr(holder, name)(3)


def test_in_kernels_they_have_a_place(module):
    program = module("""
@qd.kernel
def calls(x: qd.f32) -> qd.f32:
    return qd.math.normalize(x)
@qd.kernel
def loops(a: qd.types.NDArray[qd.i32, 0]):
    while qd.graph.do_while(a):
        a[None] -= 1
@qd.kernel
def takes(v: qd.math.vec3):
    pass
@qd.kernel
def views(v: qd.BufferView[qd.f32]):
    pass
""")
    for kernel, name in [
        (program.calls, "qd.math.normalize"),
        (program.loops, "qd.graph.do_while"),
        (program.takes, "qd.math.vec3"),
        (program.views, r"qd.BufferView\[f32\]"),
    ]:
        with pytest.raises(qd.QuadrantsCompilationError, match=rf"(?s)File .*\^.*{name}.* isn't there yet"):
            kernel(np.zeros((), np.int32))


def test_as_types_they_are_named_and_nothing_is_one():
    with pytest.raises(NotImplementedError, match="arrays of qd.math.vec3 aren't there yet"):
        qd.field(qd.math.vec3, 3)
    with pytest.raises(NotImplementedError, match="arrays of qd.math.mat4 aren't there yet"):
        qd.types.ndarray(qd.math.mat4)
    assert not isinstance(1, qd.Vector) and not isinstance(qd.field(qd.i32, 3), (qd.MatrixField, qd.VectorNdarray))
    assert isinstance(qd.field(qd.i32, 3), qd.ScalarField) and isinstance(qd.ndarray(qd.i32, 3), qd.ScalarNdarray)
    assert [name for name in dir(qd.graph) if not name.startswith("_")] == ["do_while", "parallel", "parallel_context"]
    assert qd.graph_do_while is qd.graph.do_while and qd.graph_parallel_context is qd.graph.parallel_context
    assert not hasattr(qd.Vector, "__dlpack__")
    with pytest.raises(TypeError, match="not iterable"):
        iter(qd.BufferView)


def test_hints_do_nothing():
    @qd.pure
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 1]):
        qd.cache_read_only(a)
        qd.block_local(a)
        for i in range(a.shape[0]):
            a[qd.loop_unique(i)] += qd.assume_in_range(i, 0, 0, 4)

    a = np.ones(4, np.int32)
    k(a)
    assert a.tolist() == [1, 2, 3, 4]
    # Those of the top level are no task.
    assert k.record().count("Task(") == 1


def test_kinds_of_types():
    kinds = qd.types.is_real, qd.types.is_integral, qd.types.is_signed, qd.types.is_tensor
    wanted = {qd.u1: (0, 1, 0, 0), qd.u32: (0, 1, 0, 0), qd.types.i8: (0, 1, 1, 0), qd.types.float16: (1, 0, 1, 0)}
    assert {dtype: tuple(kind(dtype) for kind in kinds) for dtype in wanted} == wanted
