"""Arrays of PyTorch, CuPy and JAX on an NVIDIA device, without copies."""

import numpy as np
import pytest

import qd


@pytest.fixture(autouse=True)
def on_cuda(device):
    if qd.cfg.arch != qd.cuda:
        pytest.skip("of NVIDIA's devices")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


@qd.kernel
def double(a: qd.types.ndarray()):
    for i in range(a.shape[0]):
        a[i] *= 2


@qd.kernel
def add(a: qd.types.NDArray[qd.f32, 2], b: qd.types.NDArray[qd.f32, 2], c: qd.types.NDArray[qd.f32, 2]):
    for i, j in c:
        c[i, j] = a[i, j] + b[i, j]


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_tensors_share_memory(torch, name, size):
    a = torch.arange(size, device="cuda").to(getattr(torch, name))
    wanted = (a * 2).cpu().numpy()
    double(a)
    np.testing.assert_array_equal(a.cpu().numpy(), wanted)


def test_tensors_on_their_streams(torch):
    """Long work before, and work after that does not wait for the host."""
    n = 1 << 22
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            a = torch.zeros(n, device="cuda", dtype=torch.float32)
            for turn in range(20):
                a += 1
                double(a)
            total = a.double().sum()
        stream.synchronize()
        assert total.item() == n * float(2 ** 21 - 2)


def test_calls_again_are_as_the_first(torch):
    """Those that the extension looks at itself."""
    c = torch.zeros((5, 4), device="cuda")
    refused = {
        "grad": torch.zeros((3, 4), device="cuda", requires_grad=True),
        "contiguous|strides": torch.zeros((4, 3), device="cuda").T,
        "negated": torch.ones((1, 1), dtype=torch.complex64, device="cuda").conj().imag,
        "into required type f32": torch.zeros((3, 4), dtype=torch.float64, device="cuda"),
    }
    for turn in range(3):
        a = torch.full((3, 4), float(turn), device="cuda")
        mine = qd.ndarray(qd.f32, (3, 4))
        mine.fill(10)
        # A part of another one, and one that is given twice.
        add(a, mine, c[1:4])
        add(a, a, a)
        assert c.tolist() == [[0.0] * 4, *[[10.0 + turn] * 4] * 3, [0.0] * 4]
        assert (a == 2 * turn).all().item()
        for why, tensor in refused.items():
            with pytest.raises(qd.QuadrantsRuntimeTypeError, match=why):
                add(tensor, tensor, tensor)


def test_results_and_booleans(torch):
    @qd.kernel
    def count(a: qd.types.NDArray[qd.u1, 1]) -> qd.i32:
        n = 0
        for i in range(a.shape[0]):
            if a[i]:
                n += 1
            a[i] = not a[i]
        return n

    a = torch.arange(100, device="cuda") % 3 == 0
    assert count(a) == 34
    assert a.sum().item() == 66


def test_of_several_libraries(torch, cupy, jax):
    a = torch.full((4, 5), 1.0, device="cuda")
    b = cupy.full((4, 5), 2.0, dtype=cupy.float32)
    c = torch.zeros((4, 5), device="cuda")
    add(a, b, c)
    assert (c == 3).all().item()
    on_device = jax.device_put(np.full((4, 5), 7.0, np.float32), jax.devices("gpu")[0])
    add(a, on_device, c)
    assert (c == 8).all().item()
    with pytest.raises(qd.QuadrantsRuntimeError, match="'c' is written to, but the array is read-only"):
        add(a, a, on_device)
    mine = qd.ndarray(qd.f32, (4, 5))
    mine.fill(10)
    add(mine, on_device, b)
    assert (cupy.asnumpy(b) == 17).all()
    host = np.zeros((4, 5), np.float32)
    add(mine, b, host)
    assert (host == 27).all()


def test_from_dlpack(torch):
    a = torch.arange(6, device="cuda", dtype=torch.float32).reshape(2, 3)
    shared = qd.from_dlpack(a)
    assert (shared.dtype, shared.shape, shared[1, 2]) == (qd.f32, (2, 3), 5.0)
    add(shared, shared, shared)
    a += 1
    torch.cuda.synchronize()
    np.testing.assert_array_equal(shared.to_numpy(), a.cpu().numpy())
    del a
    assert shared[0, 1] == 3


def test_ours_are_exported(torch, cupy, jax):
    a = qd.ndarray(qd.i32, (2, 3))
    a.fill(4)
    for theirs in (torch.from_dlpack(a), cupy.from_dlpack(a)):
        theirs[0, 1] += 1
        assert str(theirs.dtype).endswith("int32") and tuple(theirs.shape) == (2, 3)
    torch.cuda.synchronize()
    cupy.cuda.runtime.deviceSynchronize()
    assert a.to_numpy().tolist() == [[4, 6, 4], [4, 4, 4]]
    flags = qd.field(qd.u1, shape=3)
    flags[1] = True
    assert torch.from_dlpack(flags).tolist() == [False, True, False]
    by_columns = qd.field(qd.f32, (2, 3), order="ji")
    with pytest.raises(BufferError, match="order of their indices"):
        torch.from_dlpack(by_columns)


def test_exports_keep_the_memory(torch):
    theirs = torch.from_dlpack(filled(3))
    others = [filled(9) for _ in range(20)]
    assert (theirs == 3).all().item() and len(others) == 20


def filled(value):
    a = qd.ndarray(qd.f32, 100_000)
    a.fill(value)
    return a


def test_arrays_that_cannot_be_used(torch):
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match="Argument 0 .*contiguous"):
        double(torch.arange(10, device="cuda")[::2])
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match="Argument 0 .*(complex|kernel takes)"):
        double(torch.zeros(3, device="cuda", dtype=torch.complex64))
    needs_grad = torch.zeros(3, device="cuda", requires_grad=True)
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match="Argument 0 .*grad"):
        double(needs_grad)


def test_tensors_of_the_host_are_copied(torch):
    a = torch.arange(5, dtype=torch.float32)
    double(a)
    assert a.tolist() == [0, 2, 4, 6, 8]


class Said:
    """An array that has no DLPack."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_arrays_without_dlpack(cupy):
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
        with stream:
            a = cupy.zeros((3, 4), dtype=cupy.float32)
            for _ in range(20):
                a += 1
                add(Said(a), Said(a), Said(a))
            assert cupy.asnumpy(a).tolist() == [[2.0**21 - 2] * 4] * 3
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match="Argument 0"):
        double(Said(a[:, ::2]))
    mine = qd.ndarray(qd.f32, (3, 4))
    mine.fill(3)
    add(mine, mine, mine)

    class Mine:
        __cuda_array_interface__ = mine.__cuda_array_interface__

    assert cupy.asnumpy(cupy.asarray(Mine())).tolist() == [[6.0] * 4] * 3
