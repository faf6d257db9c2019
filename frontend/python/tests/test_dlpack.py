"""Arrays of other libraries, by DLPack."""

import numpy as np
import pytest

import qd

Reals = qd.types.NDArray[qd.f32, 1]


class Tensor:
    """An array of another library: all that is known of it is what DLPack says."""

    def __init__(self, array, device=None):
        self.hidden = array
        self.device = device or array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.hidden.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


@qd.kernel
def double(a: qd.types.ndarray()):
    for i in range(a.shape[0]):
        a[i] *= 2


@qd.kernel
def transpose(a: qd.types.NDArray[qd.i64, 2], b: qd.types.NDArray[qd.i64, 2]):
    for i, j in a:
        b[j, i] = a[i, j]


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_arguments_share_memory(dtype, size):
    a = np.arange(size).astype(dtype)
    wanted = a * dtype(2)
    double(Tensor(a))
    np.testing.assert_array_equal(a, wanted)


def test_arguments_that_are_not_contiguous():
    a = np.arange(24, dtype=np.int64).reshape(4, 6)
    b = np.zeros((10, 4), np.int64)
    transpose(Tensor(a[::-1]), Tensor(b[2:8]))
    np.testing.assert_array_equal(b[2:8], a[::-1].T)
    assert not b[:2].any() and not b[8:].any()


@pytest.mark.host
def test_from_dlpack_shares_memory_and_keeps_it():
    a = np.arange(5, dtype=np.float32)
    shared = qd.from_dlpack(Tensor(a))
    assert (shared.dtype, shared.shape, shared[3]) == (qd.f32, (5,), 3.0)
    shared[0] = 7
    double(shared)
    assert a.tolist() == [14, 2, 4, 6, 8]
    del a
    assert shared.to_numpy().tolist() == [14, 2, 4, 6, 8]
    qd.reset()
    qd.init()
    with pytest.raises(qd.QuadrantsRuntimeError, match="freed"):
        double(shared)


@pytest.mark.host
def test_ours_are_exported():
    a = qd.ndarray(qd.i32, (2, 3))
    a.fill(4)
    theirs = np.from_dlpack(a)
    a[1, 2] = 9
    assert theirs.tolist() == [[4, 4, 4], [4, 4, 9]]
    f = qd.field(qd.f64, shape=3)

    class Capsule:
        def __dlpack__(self, **_):
            return f.to_dlpack()

        def __dlpack_device__(self):
            return f.__dlpack_device__()

    theirs = np.from_dlpack(Capsule())
    f[1] = 2.5
    assert theirs.tolist() == [0, 2.5, 0]


@pytest.mark.host
def test_consumers_may_ask_for_version_1():
    a = qd.ndarray(qd.i32, 3)
    asked = {"max_version": (1, 0), "dl_device": a.__dlpack_device__(), "copy": False}
    capsule = a.__dlpack__(**asked)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert "dltensor_versioned" in repr(capsule) and "dltensor_versioned" in repr(a.to_dlpack(versioned=True))
        return
    assert '"dltensor"' in repr(capsule)
    for options in ({"copy": True}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError, match="only the memory itself"):
            a.__dlpack__(**options)
    with pytest.raises(BufferError, match="since its 2.1"):
        a.to_dlpack(versioned=True)


@pytest.mark.host
def test_arrays_that_cannot_be_used():
    with pytest.raises(TypeError, match="an array with '__dlpack__' is expected, and not list"):
        qd.from_dlpack([1])
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match=r"Argument 0 \(type=.*Tensor'>\) cannot be converted .*host is expected"):
        double(Tensor(np.zeros(3, np.float32), device=(2, 0)))
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match="Argument 0 .* it has no '__dlpack__'"):
        double([1.0, 2.0])
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match=r"Argument 0 \(type=complex64\[1-D\]\) cannot be converted"):
        double(Tensor(np.zeros(3, np.complex64)))
    with pytest.raises(qd.QuadrantsTypeError, match="arrays of 'complex64' aren't there yet"):
        qd.from_dlpack(Tensor(np.zeros(3, np.complex64)))
