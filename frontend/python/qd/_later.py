"""Names that programs for the peer have and that do nothing here yet: each says so where it is called."""

from qd._functions import func


class Later:
    """What isn't there yet: a function, a class, or what has such as members."""

    def __init__(self, name):
        self.__name__ = self.__qualname__ = name

    def __repr__(self):
        return self.__name__

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self} isn't there yet")

    def __getattr__(self, name):
        # What Python and libraries ask objects for is none of its members.
        if name.startswith("_"):
            raise AttributeError(name)
        return Later(f"{self}.{name}")

    def __getitem__(self, key):
        return Later(f"{self}[{key!r}]")

    # What has items is not iterable for that.
    __iter__ = None

    def __instancecheck__(self, _):
        """Nothing is one."""
        return False


def later(module, names):
    """Such objects by their names in a module."""
    return {name: Later(f"{module}.{name}") for name in names.split()}


_TOP = """
    Vector Matrix Struct dataclass VectorTensor MatrixTensor MatrixField MatrixNdarray VectorNdarray StructField
    svd eig sym_eig solve polar_decompose make_spd linalg
    random randn clock_counter clock_freq_hz
    BufferView Stream Event create_stream create_event stream_parallel
    checkpoint GraphStatus
    sparse activate deactivate append length is_active get_addr rescale_index deactivate_all_snodes BitpackedFields Format
    Mesh MeshInstance mesh_local mesh_patch_idx ad stop_grad ref tools interop
"""
_TYPES = "vector matrix struct quant sparse_matrix_builder BufferViewType"
_SIMT = "Tile16x16 Tile32x32"
_PROFILER = """
    set_kernel_profiler_metrics set_kernel_profiler_toolkit collect_kernel_profiler_metrics CuptiMetric get_predefined_cupti_metrics
    print_memory_profiler_info print_scoped_profiler_info clear_scoped_profiler_info
"""
_MATH = """
    vec2 vec3 vec4 ivec2 ivec3 ivec4 uvec2 uvec3 uvec4 mat2 mat3 mat4
    dot cross length distance normalize reflect refract eye determinant inverse
    translate scale rot_by_axis rot_yaw_pitch_roll rotation2d rotation3d vdir
    cconj cinv cmul cdiv cexp clog cpow csqrt
"""


class graph:
    """What kernels are to repeat without the host."""

    do_while, parallel, parallel_context = (Later(f"qd.graph.{name}") for name in ("do_while", "parallel", "parallel_context"))


_GRAPH = {"graph": graph, "graph_do_while": graph.do_while, "graph_parallel": graph.parallel, "graph_parallel_context": graph.parallel_context}
TOP = {**later("qd", _TOP), **_GRAPH}
# Where programs for the peer find them.
globals().update(TOP)
TYPES, SIMT, MATH = later("qd.types", _TYPES), later("qd.simt", _SIMT), later("qd.math", _MATH)
PROFILER = later("qd.profiler", _PROFILER)


# Hints, which change no result.


@func
def block_local(*arrays):
    """Says which arrays a loop reads several times."""


@func
def cache_read_only(*arrays):
    """Says which arrays a loop only reads."""


@func
def no_activate(*arrays):
    """Says which sparse arrays a loop adds nothing to."""


@func
def assume_in_range(value, base, low, high):
    """Says that a value is from `base + low` on and below `base + high`."""
    return value


@func
def loop_unique(value, covers=None):
    """Says that no two rounds of a loop have the same value."""
    return value


def pure(function):
    """Says that a kernel uses nothing but its arguments."""
    return function


HINTS = {each.__name__: each for each in (block_local, cache_read_only, no_activate, assume_in_range, loop_unique, pure)}
