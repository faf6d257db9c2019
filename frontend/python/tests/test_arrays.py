"""Arrays of any rank, and loops over them."""

import itertools
import re
import warnings

import numpy as np
import pytest

import qd


@qd.kernel
def transpose(a: qd.types.NDArray[qd.f32, 2], b: qd.types.NDArray[qd.f32, 2]):
    for i, j in a:
        b[j, i] = a[i, j]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (2, 3), (257, 129)])
def test_arrays_of_two_dimensions(shape):
    a = np.random.default_rng(0).random(shape, np.float32)
    b = np.zeros(shape[::-1], np.float32)
    transpose(a, b)
    np.testing.assert_array_equal(b, a.T)


def test_one_compilation_serves_all_shapes_but_not_all_ranks():
    @qd.kernel
    def negate(a: qd.types.ndarray()):
        for i in range(a.shape[0]):
            a[i] = -a[i]

    @qd.kernel
    def extents(a: qd.types.ndarray()) -> (qd.i32, qd.i32):
        rank = qd.static(len(a.shape))
        count = 1
        for extent in qd.static(a.shape):
            count *= extent
        return rank, count

    for shape in [(), (7,), (2, 3), (5, 4), (2, 3, 4)]:
        assert extents(np.zeros(shape, np.int16)) == (len(shape), np.prod(shape))
    assert len(extents._compiled) == 4
    a = np.arange(4, dtype=np.int32)
    negate(a)
    assert a.tolist() == [0, -1, -2, -3]
    with pytest.raises(qd.QuadrantsIndexError, match="an array of 2 dimensions takes as many indices, and not 1"):
        negate(a.reshape(2, 2))


def test_arrays_that_are_not_contiguous_are_copied_and_copied_back():
    whole = np.arange(48, dtype=np.float32).reshape(6, 8)
    wanted = whole.copy()
    part, out = whole[1:6:2, ::3], np.zeros((3, 3), np.float32).T
    transpose(part, out)
    np.testing.assert_array_equal(out, part.T)
    transpose(out, part)
    np.testing.assert_array_equal(whole, wanted)


def test_arrays_that_are_not_contiguous_may_be_read_twice():
    @qd.kernel
    def dot(a: qd.types.NDArray[qd.i32, 1], b: qd.types.NDArray[qd.i32, 1]) -> qd.i32:
        total = 0
        for i in a:
            total += a[i] * b[i]
        return total

    a = np.arange(8, dtype=np.int32)
    assert dot(a[::2], a[::2]) == 56 and dot(a[:4], a[::2]) == 28


def test_rank_0():
    @qd.kernel
    def count(a: qd.types.NDArray[qd.i32, 1], n: qd.types.NDArray[qd.i32, 0]):
        n[None] = 100
        for i in a:
            if a[i] > 2:
                n[()] += 1

    n = np.zeros((), np.int32)
    count(np.arange(10, dtype=np.int32), n)
    assert n[()] == 107


def test_three_dimensions_and_indices_of_any_type():
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i64, 3], out: qd.types.NDArray[qd.i64, 2], last: qd.u8):
        for i, j, l in a:
            if l == last:
                out[i, qd.u16(j)] = 10 * a[i, j, last] + a.shape[2]

    a = np.random.default_rng(0).integers(0, 99, (3, 5, 7))
    out = np.zeros((3, 5), np.int64)
    k(a, out, 6)
    np.testing.assert_array_equal(out, 10 * a[:, :, 6] + 7)


def test_shapes_as_bounds():
    field = qd.field(qd.i32, shape=(3, 4), offset=(0, 0))
    bounds = (1, 3)

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 3], b: qd.types.NDArray[qd.i32, 2]) -> qd.i32:
        for i, j, l in qd.ndrange(*a.shape):
            a[i, j, l] = 100 * i + 10 * j + l
        for [i, j] in qd.ndrange((1, 2), *b.shape[1:]):
            b[i, j] += 1
        for i, j in qd.ndrange(*field.shape):
            field[i, j] = i * j
        sum = 0
        for i in range(*bounds):
            [x, (y, z)] = i, (2, *bounds[1:])
            sum += x * y * z
        return sum

    a, b = np.zeros((2, 3, 5), np.int32), np.zeros((2, 3), np.int32)
    assert k(a, b) == 18
    np.testing.assert_array_equal(a, np.fromfunction(lambda i, j, l: 100 * i + 10 * j + l, a.shape))
    np.testing.assert_array_equal(field.to_numpy(), np.outer(range(3), range(4)))
    assert b.tolist() == [[0] * 3, [1] * 3]


def test_bounds_of_several_dimensions_that_the_device_computes():
    @qd.kernel
    def k(out: qd.types.NDArray[qd.i32, 3], a: qd.types.NDArray[qd.i32, 1], n: qd.i32):
        a[2] += 1
        for i, j, l in qd.ndrange(a[0], (a[1], n), (n - 1, a[2]), axes=(2, 0, 1)):
            if j == 5:
                continue
            out[i, j, l] += 100 * i + 10 * j + l + 1
            a[0] = 0

    field = qd.field(qd.i32, shape=())

    @qd.kernel
    def count(n: qd.types.NDArray[qd.i64, 0]) -> qd.i32:
        rounds = 0
        for i, j in qd.ndrange(n[None], (field[None], 300)):
            rounds += 1
        return rounds

    def wanted(a, n):
        out = np.zeros((4, 7, 9), np.int32)
        for i, j, l in itertools.product(range(a[0]), range(a[1], n), range(n - 1, a[2] + 1)):
            out[i, j, l] = 0 if j == 5 else 100 * i + 10 * j + l + 1
        return out

    for a, n in [((4, 2, 8), 7), ((3, 5, 5), 6), ((0, 2, 8), 7), ((-2, -3, 8), 7), ((4, 7, 8), 6)]:
        out = np.zeros((4, 7, 9), np.int32)
        k(out, np.array(a, np.int32), n)
        np.testing.assert_array_equal(out, wanted(a, n))
    field[None] = -100
    with pytest.warns(UserWarning, match="'i64' is cast to i32"):
        # More rounds than threads, and one of none.
        assert count(np.array(1000)) == 400_000
    assert count(np.array(-1)) == 0


def test_ndrange():
    @qd.kernel
    def k(out: qd.types.NDArray[qd.i32, 3], n: qd.i32):
        for i, j, l in qd.ndrange(2, (1, n), (n - 1, n + 1)):
            out[i, j, l] += 100 * i + 10 * j + l

    @qd.kernel
    def serial(n: qd.i32) -> (qd.i32, qd.i32):
        sum = 0
        rounds = 0
        if n >= 0:
            for i, j in qd.ndrange(n, (2, 4)):
                if j == 3 and i == 1:
                    continue
                if i == 3:
                    break
                sum = 3 * sum + i + j
                rounds += 1
        return sum, rounds

    out, wanted = np.zeros((2, 4, 5), np.int32), np.zeros((2, 4, 5), np.int32)
    k(out, 4)
    for i in range(2):
        for j in range(1, 4):
            for l in range(3, 5):
                wanted[i, j, l] = 100 * i + 10 * j + l
    np.testing.assert_array_equal(out, wanted)
    out[:] = 0
    k(out, -1)
    assert not out.any()
    for n in range(6):
        sum = rounds = 0
        for i, j in qd.ndrange(n, (2, 4)):
            if (i, j) == (1, 3):
                continue
            if i == 3:
                break
            sum, rounds = 3 * sum + i + j, rounds + 1
        assert serial(n) == (sum, rounds)


def test_ndrange_in_python_and_unrolled():
    assert list(qd.ndrange(2, (3, 5))) == [(0, 3), (0, 4), (1, 3), (1, 4)]
    assert len(qd.ndrange(2, (5, 3))) == 0
    for wrong in (1.5, (0, "a")):
        with pytest.raises(qd.QuadrantsTypeError, match="a dimension is an integer"):
            qd.ndrange(wrong)

    @qd.kernel
    def k() -> qd.i32:
        sum = 0
        for i, j in qd.static(qd.ndrange(3, 2)):
            sum = 10 * sum + i + j
        return sum

    assert k() == 11223


def test_wrong_loops_and_indices():
    @qd.kernel
    def too_few(a: qd.types.NDArray[qd.f32, 2]):
        for i in a:
            pass

    @qd.kernel
    def real(n: qd.f32):
        for i, j in qd.ndrange(2, n):
            pass

    @qd.kernel
    def twice(a: qd.types.NDArray[qd.f32, 2]):
        for i, i in a:
            pass

    a = np.zeros((2, 2), np.float32)
    with pytest.raises(qd.QuadrantsSyntaxError, match="a loop over 2 dimensions has as many variables, and not 1"):
        too_few(a)
    with pytest.raises(qd.QuadrantsSyntaxError, match='"i" is already declared'):
        twice(a)
    with pytest.raises(qd.QuadrantsTypeError, match="a bound is an integer, and not 'f32'"):
        real(1.0)
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match=r"f32\[2-D\]"):
        too_few(np.zeros(3, np.float32))


def test_loops_over_several_dimensions_have_no_more_elements_than_are_counted():
    @qd.kernel
    def of_numbers(a: qd.types.NDArray[qd.i32, 1], n: qd.i32, max: qd.i64):
        m = qd.cast(max, qd.i32)
        for i, j in qd.ndrange((-n, n), m % 100000 + 1):
            a[0] = 1

    @qd.kernel
    def of_arrays(a: qd.types.NDArray[qd.u8, 1], b: qd.types.NDArray[qd.u8, 2]):
        for i, j in qd.ndrange(a.shape[0], qd.max(b.shape[0], b.shape[1])):
            a[i] = j

    @qd.data_oriented
    class Grid:
        def __init__(self, n):
            self.n, self.arrays = n, {"a": np.zeros(1 << 16, np.uint8), qd.i32: np.zeros((1 << 16, 1), np.uint8)}

        @qd.kernel
        def k(self):
            for i, j in qd.ndrange(self.n, self.arrays[qd.i32].shape[0]):
                self.arrays[qd.i32][i, 0] = self.arrays["a"][j]

        @qd.kernel
        def known(self):
            for j, k in qd.ndrange(1 << 16, self.n):
                self.arrays["a"][0] = j

    def refused(kind, call, *args):
        with pytest.raises(kind, match=r"(?s)for .*\^{9,}\n.*more than 2147483647 elements") as caught:
            call(*args)
        assert type(caught.value) is kind

    a, small, large = np.zeros(4, np.int32), np.zeros(3, np.uint8), np.zeros(1 << 16, np.uint8)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            of_numbers(a, 3, 5)
            refused(qd.QuadrantsRuntimeError, of_numbers, a, 50000, 99999)
            refused(qd.QuadrantsRuntimeError, of_numbers, a, 2**30, 1)
            # It wraps, as a kernel has it.
            of_numbers(a, 30000, 2**32 + 1)
        with pytest.raises(qd.QuadrantsRuntimeTypeError):
            of_numbers(a, float("inf"), 1)
        of_arrays(small, large.reshape(-1, 1))
        assert small.tolist() != [0, 0, 0]
        refused(qd.QuadrantsRuntimeError, of_arrays, large, large.reshape(1, -1))
        refused(qd.QuadrantsRuntimeError, Grid(1 << 15).k)
        Grid(3).k()
        refused(qd.QuadrantsValueError, Grid(1 << 15).known)


def test_serial_loops_over_several_dimensions():
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 1], n: qd.i32) -> (qd.i32, qd.i32, qd.i32):
        count, last, early = 0, 0, 0
        if n > 0:
            for i, j, l in qd.ndrange((-1, n), a[0], (a[1], 3), axes=(2, 0, 1)):
                if j == 1:
                    continue
                count += 1
                last = 1000 * l + 10 * i + j
            # More than an i32 counts.
            for i, j in qd.ndrange(1 << 28, (5, 21)):
                early = 10 * i + j
                if j == 7:
                    continue
                if i == 2 and early == 28:
                    break
        return count, last, early

    for n, a in [(2, (3, 0)), (1, (0, 0)), (3, (2, 2)), (1, (3, 5))]:
        rounds = [(i, j, l) for l in range(a[1], 3) for i in range(-1, n) for j in range(a[0]) if j != 1]
        last = 1000 * rounds[-1][2] + 10 * rounds[-1][0] + rounds[-1][1] if rounds else 0
        assert k(np.array(a, np.int32), n) == (len(rounds), last, 28)


def test_the_elements_of_loops_with_bounds_of_the_device_are_counted_in_64_bits():
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 1]):
        for i, j in qd.ndrange((-1, a[0]), a[1]):
            qd.atomic_add(a[2], 10 * i + j)

    a = np.array([2, 3, 0], np.int32)
    k(a)
    assert a[2] == sum(10 * i + j for i in range(-1, 2) for j in range(3))
    assert len(re.findall("^argument .*: bound of line .* i64", k.record(), re.MULTILINE)) == 3


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_the_order_of_an_ndrange(axes):
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 2], n: qd.i32):
        at = 0
        qd.loop_config(serialize=True)
        for i, j, l in qd.ndrange(2, (1, n), (-1, 1), axes=axes):
            a[at, 0], a[at, 1], a[at, 2] = i, j, l
            at += 1

    a = np.zeros((2 * 3 * 2, 3), np.int32)
    k(a, 4)
    bounds = [range(2), range(1, 4), range(-1, 1)]
    expected = []
    for first in bounds[axes[0]]:
        for second in bounds[axes[1]]:
            for third in bounds[axes[2]]:
                index = [0, 0, 0]
                for axis, value in zip(axes, (first, second, third)):
                    index[axis] = value
                expected.append(index)
    assert a.tolist() == expected
    assert [list(each) for each in qd.ndrange(2, (1, 4), (-1, 1), axes=axes)] == expected


@pytest.mark.parametrize(
    "axes, error, message",
    [
        ((0, 0), qd.QuadrantsSyntaxError, "does not have the number of each of 2 dimensions once"),
        ((0,), qd.QuadrantsSyntaxError, "does not have the number of each of 2 dimensions once"),
        ([1, 0], qd.QuadrantsSyntaxError, "axes is a tuple of the numbers of all dimensions"),
        ((0, 1.0), qd.QuadrantsTypeError, "axes are numbers of dimensions"),
    ],
)
def test_orders_that_are_none(axes, error, message):
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 2]):
        for i, j in qd.ndrange(2, 2, axes=axes):
            a[i, j] = 1

    with pytest.raises(error, match=f"(?s)axes=axes.*\\^.*{message}"):
        k(np.zeros((2, 2), np.int32))
    with pytest.raises(error, match=message):
        qd.ndrange(2, 2, axes=axes)
