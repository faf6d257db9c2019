"""What differs where memory is not the host's. With `QD_ARCH=vulkan` all tests run there."""

import sys

import numpy as np
import pytest

import qd


@pytest.fixture(autouse=True)
def elsewhere(device):
    if qd.cfg.arch == qd.cpu:
        pytest.skip("of devices other than the cpu")


@qd.kernel
def shift(a: qd.types.NDArray[qd.i32, 1], b: qd.types.NDArray[qd.i32, 1], by: qd.i32):
    for i in range(a.shape[0] - by):
        b[i] = a[i + by]


def test_arrays_of_the_host_that_share_memory():
    a = np.arange(10, dtype=np.int32)
    for first, second in [(a, a), (a[:5], a[4:]), (a[2:], a[:3])]:
        with pytest.raises(qd.QuadrantsRuntimeError, match="share memory of the host, and one is written to: .* Pass a qd.ndarray"):
            shift(first, second, 0)
    shift(a[:5], a[5:], 2)
    assert a.tolist() == [0, 1, 2, 3, 4, 2, 3, 4, 8, 9]

    @qd.kernel
    def sums(a: qd.types.NDArray[qd.i32, 1], b: qd.types.NDArray[qd.i32, 1], c: qd.types.NDArray[qd.i32, 1]):
        for i in c:
            c[i] = a[i] + b[i]

    c = np.zeros(4, np.int32)
    sums(a[:4], a[1:5], c)
    assert c.tolist() == [1, 3, 5, 7]


def test_arrays_of_the_device_may_be_given_twice():
    a = qd.ndarray(qd.i32, 10)
    a.from_numpy(np.arange(10))

    @qd.kernel
    def add(a: qd.types.NDArray[qd.i32, 1], b: qd.types.NDArray[qd.i32, 1]):
        for i in a:
            a[i] += b[i]

    add(a, a)
    assert a.to_numpy().tolist() == list(range(0, 20, 2))


@pytest.mark.parametrize("shape, order", [((), None), (5, None), ((2, 3, 4), "kij"), ((0, 3), None)])
@pytest.mark.parametrize("dtype", [qd.u1, qd.i8, qd.u16, qd.f32, qd.f64], ids=str)
def test_elements_from_the_host(shape, order, dtype):
    f = qd.field(dtype, shape, order)
    values = np.arange(f.to_numpy().size).reshape(f.shape) % 2
    f.from_numpy(values)
    np.testing.assert_array_equal(f.to_numpy(), values)
    np.testing.assert_array_equal(f.to_numpy(qd.i64), values)
    for place in np.ndindex(f.shape):
        assert f[place] == values[place]
        f[place] = 1
    assert f.to_numpy().all()
    g = qd.ndarray(dtype, f.shape)
    g.copy_from(f)
    f.fill(0)
    assert not f.to_numpy().any() and g.to_numpy().all()


def test_memory_is_not_shared_with_numpy():
    a = qd.ndarray(qd.i32, 3)
    with pytest.raises(ValueError, match="not shared with NumPy"):
        a.to_numpy(copy=False)
    copy = a.to_numpy(copy=None)
    copy[0] = 1
    assert a[0] == 0


def test_launches_follow_each_other():
    a, b = (qd.ndarray(qd.i32, 1000) for _ in range(2))
    a.from_numpy(np.arange(1000))
    for _ in range(10):
        shift(a, b, 1)
        shift(b, a, 1)
    assert a.to_numpy()[:980].tolist() == list(range(20, 1000))


def test_faults_are_told_at_the_end():
    qd.init(enable_fallback=False, debug=True)
    a, b = (qd.ndarray(qd.i32, 10) for _ in range(2))
    with pytest.raises(qd.QuadrantsAssertionError, match='index 0 of .* is within the extent.* thread 0'):
        shift(a, b, -1)


def test_arrays_end_with_the_device():
    a = qd.ndarray(qd.i32, 3)
    qd.reset()
    qd.init(enable_fallback=False)
    for use in (lambda: a[0], a.to_numpy, lambda: shift(a, a, 0), lambda: a.fill(1)):
        with pytest.raises(qd.QuadrantsRuntimeError, match="freed"):
            use()


def test_a_reset_frees_memory_that_a_program_still_refers_to():
    a = qd.ndarray(qd.i32, 3)
    shift(a, a, 0)
    memory = a.elements().memory
    qd.reset()
    # That of the name, and that of the call.
    assert sys.getrefcount(memory) == 2
    with pytest.raises(qd.QuadrantsRuntimeError, match="freed"):
        a.to_numpy()


def test_fields_of_another_order_are_given():
    f = qd.field(qd.i32, (3, 4), order="ji")
    f.from_numpy(np.arange(12).reshape(3, 4))

    @qd.kernel
    def numbered(a: qd.types.NDArray[qd.i32, 2], out: qd.types.NDArray[qd.i32, 2]):
        for i, j in a:
            out[i, j] = a[i, j] * 100 + i * 10 + j
            a[i, j] = -a[i, j]

    out = np.zeros((3, 4), np.int32)
    numbered(f, out)
    wanted = np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(out, wanted * 100 + np.add.outer(np.arange(3) * 10, np.arange(4)))
    np.testing.assert_array_equal(f.to_numpy(), -wanted)
