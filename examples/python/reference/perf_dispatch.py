# The examples of the reference's page on performance dispatch, unchanged, a cell each. test_reference.py runs them.

# %% prototype
@qd.perf_dispatch(get_geometry_hash=lambda a, b: hash(a.shape + b.shape))
def my_op(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]): ...

# %% kernels
@my_op.register
@qd.kernel
def my_op_v1(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2

@my_op.register
@qd.kernel
def my_op_v2(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]) -> None:
    i = 0
    # will run the same speed as the other version, but just an example
    while i < a.shape[0]:
        b[i] = a[i] << 1

# %% call
my_op(a, b)

# %% python
@my_op.register
def my_op_python(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2

# %% return value
@qd.perf_dispatch(get_geometry_hash=lambda a, b: hash(a.shape + b.shape))
def my_op(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]) -> int: ...

@my_op.register
def my_op_python(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]) -> int:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    return a.shape[0]

count = my_op(a, b)  # receives the return value from whichever impl runs

# %% compatible
@my_op.register(is_compatible=lambda a, b: a.shape[0] >= 1024)
@qd.kernel
def my_op_large(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]) -> None:
    # optimized for large inputs
    ...

# %% geometry
# Different shapes benchmark independently
@qd.perf_dispatch(get_geometry_hash=lambda a, b: hash(a.shape + b.shape))
def my_op(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]): ...

# %% tuning
@qd.perf_dispatch(
    get_geometry_hash=lambda a, b: hash(a.shape),
    warmup=5,
    active=2,
    repeat_after_seconds=60.0,
)
def my_op(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]): ...

# %% complete
import quadrants as qd

@qd.perf_dispatch(
    get_geometry_hash=lambda data, out: hash(data.shape),
    repeat_after_seconds=0,
)
def transform(data: qd.types.NDArray[qd.f32, 1], out: qd.types.NDArray[qd.f32, 1]): ...

@transform.register
@qd.kernel
def transform_v1(data: qd.types.NDArray[qd.f32, 1], out: qd.types.NDArray[qd.f32, 1]) -> None:
    for i in range(data.shape[0]):
        out[i] = data[i] * 2

@transform.register
@qd.kernel
def transform_v2(data: qd.types.NDArray[qd.f32, 1], out: qd.types.NDArray[qd.f32, 1]) -> None:
    i = 0
    # will run the same speed as the other version, but just an example
    while i < data.shape[0]:
        out[i] = data[i] << 1

data = qd.ndarray(qd.f32, (1024,))
out = qd.ndarray(qd.f32, (1024,))

for _ in range(100):
    transform(data, out)
