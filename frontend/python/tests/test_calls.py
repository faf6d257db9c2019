"""Later calls of a kernel, whose arguments Rust looks at: they do what the first does."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import qd

DTYPES = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
    "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "u1": np.bool_,
}  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_of_every_type_and_rank(name):
    dtype = getattr(qd, name)

    @qd.kernel
    def copy(a: qd.types.ndarray(), b: qd.types.ndarray(), n: qd.i32) -> qd.i32:
        for i in range(n):
            b[i] = a[i]
        return n

    @qd.kernel
    def transpose(a: qd.types.NDArray[dtype, 2], b: qd.types.NDArray[dtype, 2]):
        for i, j in a:
            b[j, i] = a[i, j]

    for size in (7, 7, 0, 100):
        a = (np.arange(size) % 2).astype(DTYPES[name])
        b = np.zeros_like(a)
        assert copy(a, b, size) == size
        np.testing.assert_array_equal(a, b)
        mine = qd.ndarray(dtype, size)
        assert copy(a, mine, size) == size
        np.testing.assert_array_equal(mine.to_numpy(), a)
    for shape in ((2, 3), (3, 2), (1, 9)):
        a = (np.arange(shape[0] * shape[1]).reshape(shape) % 2).astype(DTYPES[name])
        b = np.zeros(shape[::-1], DTYPES[name])
        transpose(a, b)
        np.testing.assert_array_equal(b, a.T)
        # Which Rust leaves to Python.
        c = np.zeros(shape, DTYPES[name])
        transpose(a.T, c)
        np.testing.assert_array_equal(c, a)
    assert len(copy._compiled) == 1 and len(transpose._compiled) == 1


@pytest.mark.parametrize("name", DTYPES)
def test_numbers_of_every_type(name):
    dtype = getattr(qd, name)

    @qd.kernel
    def same(x: dtype) -> dtype:
        return x

    def outcome(call, *args):
        try:
            return repr(call(*args))
        except qd.QuadrantsRuntimeTypeError as error:
            return str(error)

    values = [
        0, 1, -1, 127, 128, 255, 256, -129, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 0.5, -0.0, 1e40, 65504.0, float("inf"), True, False,
        np.float32(1.5), np.int64(3), np.array(2), "1", None,
    ]  # fmt: skip
    same(1)
    for value in values:
        # As Python takes it.
        assert outcome(same, value) == outcome(same._call, (value,), {}), value
    if dtype.is_real:
        assert np.isnan(same(float("nan")))


def test_what_later_calls_refuse():
    @qd.kernel
    def add(a: qd.types.NDArray[qd.f32, 1], b: qd.types.NDArray[qd.f32, 1]):
        for i in a:
            b[i] += a[i]

    a, b = np.ones(4, np.float32), np.zeros(4, np.float32)
    add(a, b)
    add(a, b)
    for wrong in (np.ones(4), np.ones((2, 2), np.float32), [1.0], None, qd.ndarray(qd.i32, 4), np.ones(4, ">f4")):
        with pytest.raises(qd.QuadrantsRuntimeTypeError, match="Argument 0 .* cannot be converted"):
            add(wrong, b)
    with pytest.raises(TypeError):
        add(a)
    with pytest.raises(TypeError):
        add(a, b, a)
    b.flags.writeable = False
    with pytest.raises(qd.QuadrantsRuntimeError, match="'b' is written to, but the array is read-only"):
        add(a, b)
    add(b, a)
    assert b.tolist() == [2] * 4 and a.tolist() == [3] * 4
    add(b=a, a=b)
    assert a.tolist() == [5] * 4


def test_arrays_that_overlap_later():
    @qd.kernel
    def shift(a: qd.types.NDArray[qd.i32, 1], b: qd.types.NDArray[qd.i32, 1]):
        for i in range(1):
            for j in range(a.shape[0]):
                b[j] = a[j] + 1

    mine = [qd.ndarray(qd.i32, 10) for _ in range(2)]
    for a, b in [(0, 1), (0, 1), (0, 0), (0, 0), (1, 0)]:
        shift(mine[a], mine[b])
    assert len(shift._compiled) == 2
    assert mine[0].to_numpy().tolist() == [2] * 10 and mine[1].to_numpy().tolist() == [1] * 10


def test_fields_and_variables_of_later_calls():
    f = qd.field(qd.i32, shape=5)
    by_columns = qd.field(qd.i32, shape=(2, 3), order="ji")

    @qd.kernel
    def count(a: qd.types.NDArray[qd.i32, 1]) -> qd.i32:
        total = 0
        for i in a:
            total += a[i]
            f[i] += 1
        for i, j in by_columns:
            by_columns[i, j] += i
        return total

    a = np.arange(5, dtype=np.int32)
    assert [count(a), count(a), count(2 * a)] == [10, 10, 20]
    assert f.to_numpy().tolist() == [3] * 5
    assert by_columns.to_numpy().tolist() == [[0] * 3, [3] * 3]
    qd.reset()
    with pytest.raises(qd.QuadrantsRuntimeError, match="qd.init has not been called"):
        count(a)
    qd.init(enable_fallback=False)
    with pytest.raises(qd.QuadrantsRuntimeError, match="freed"):
        count(a)


def test_faults_of_later_calls():
    qd.init(debug=True, enable_fallback=False)

    @qd.kernel
    def positive(a: qd.types.NDArray[qd.i32, 1]):
        for i in a:
            assert a[i] > 0, "positive"

    positive(np.ones(3, np.int32))
    positive(np.ones(3, np.int32))
    with pytest.raises(qd.QuadrantsAssertionError, match="positive"):
        positive(np.zeros(3, np.int32))


def test_threads_call_while_others_compile():
    @qd.kernel
    def double(a: qd.types.ndarray()):
        for i in range(a.shape[0]):
            a[i] *= 2

    double(np.ones(4, np.int8))

    def work(dtype):
        a = np.ones(1000, dtype)
        for _ in range(5):
            double(a)
        return a

    with ThreadPoolExecutor(4) as pool:
        for a in pool.map(work, [np.int8, np.int16, np.int32, np.int64, np.uint8, np.float32, np.float64, np.int8]):
            assert (a == 32).all()


def test_a_later_call_is_rust_s(monkeypatch):
    @qd.kernel
    def fill(a: qd.types.NDArray[qd.f32, 1], x: qd.f32):
        for i in a:
            a[i] = x

    arrays = [np.zeros(3, np.float32), qd.ndarray(qd.f32, 3)]
    fill(arrays[0], 1.0)
    monkeypatch.setattr(fill, "_call", None)
    for a in arrays:
        fill(a, 2.5)
    assert arrays[0].tolist() == arrays[1].to_numpy().tolist() == [2.5] * 3
