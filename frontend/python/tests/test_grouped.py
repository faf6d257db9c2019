"""Loops over grouped indices, which are one tuple."""

import numpy as np
import pytest

import qd


@qd.func
def place(I, factor):
    return I[0] * factor + I[1]


def test_over_arrays_of_each_rank():
    @qd.kernel
    def k(one: qd.types.NDArray[qd.i32, 1], two: qd.types.NDArray[qd.i32, 2], three: qd.types.NDArray[qd.i32, 3]):
        for I in qd.grouped(one):
            one[I] = I[0] * 2
        for I in qd.grouped(two):
            J = (I[0], I[1])
            two[I] = place(J, 100)
        for I in qd.grouped(three):
            i, j, l = I
            three[I] += i * 100 + j * 10 + l
            three[I[0], I[1], l] += len(I) * 1000

    one, two, three = (np.zeros(shape, np.int32) for shape in ((5,), (3, 4), (2, 3, 4)))
    k(one, two, three)
    assert one.tolist() == [0, 2, 4, 6, 8]
    np.testing.assert_array_equal(two, np.fromfunction(lambda i, j: 100 * i + j, two.shape))
    np.testing.assert_array_equal(three, np.fromfunction(lambda i, j, l: 3000 + 100 * i + 10 * j + l, three.shape))
    # Each is one task.
    assert k.record().count(": Task(") == 3


def test_over_fields_and_what_has_no_dimensions():
    c = qd.field(qd.i32, shape=())
    shifted = qd.field(qd.i32, shape=(2, 3), order="ji", offset=(-1, 5))

    @qd.kernel
    def k():
        for I in qd.grouped(c):
            c[I] += 7 + len(I)
        for I in qd.grouped(shifted):
            shifted[I] = I[0] * 10 + I[1]
            for _ in range(2):
                for J in qd.grouped(c):
                    qd.atomic_add(c[J], 1)

    k()
    assert c[None] == 7 + 12
    assert [shifted[i, j] for i in (-1, 0) for j in (5, 6, 7)] == [-5, -4, -3, 5, 6, 7]


def test_over_ndrange():
    @qd.kernel
    def k(n: qd.types.NDArray[qd.i32, 0], out: qd.types.NDArray[qd.i32, 2], order: qd.types.NDArray[qd.i32, 2]):
        for I in qd.grouped(qd.ndrange((1, 3), out.shape[1])):
            out[I] = I[0]
        # Whose bounds the device computes, and a serial one that ends early.
        for I in qd.grouped(qd.ndrange(n[None], (0, n[None]))):
            qd.atomic_add(out[I], 100)
        qd.loop_config(serialize=True)
        for I in qd.grouped(qd.ndrange(4, 4)):
            if I[0] == 2:
                break
            if I[1] == 1:
                continue
            out[I] += 1000
        count = 0
        qd.loop_config(serialize=True)
        for I in qd.grouped(qd.ndrange(2, 3, axes=(1, 0))):
            order[I] = count
            count += 1

    out, order = np.zeros((4, 5), np.int32), np.zeros((2, 3), np.int32)
    k(np.array(2, np.int32), out, order)
    wanted = np.zeros((4, 5), np.int32)
    wanted[1:3] = [[1], [2]]
    wanted[:2, :2] += 100
    wanted[:2, [0, 2, 3]] += 1000
    np.testing.assert_array_equal(out, wanted)
    assert order.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_python_has_them_too():
    f = qd.field(qd.i32, shape=(2, 2), offset=(1, -1))
    assert [*qd.grouped(qd.ndrange(2, (1, 3)))] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert [*qd.grouped(f)] == [(1, -1), (1, 0), (2, -1), (2, 0)]
    assert [*qd.grouped(np.zeros(2))] == [(0,), (1,)] and len(qd.grouped(f)) == 4
    with pytest.raises(TypeError, match="qd.grouped takes an ndrange, or an array, and not 3"):
        qd.grouped(3)

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 2]):
        for I in qd.static(qd.grouped(qd.ndrange(2, 3))):
            a[I] = I[0] * 10 + I[1]
        for I in qd.static(qd.grouped(f)):
            f[I] = I[0]

    a = np.zeros((2, 3), np.int32)
    k(a)
    assert a.tolist() == [[0, 1, 2], [10, 11, 12]]
    assert f.to_numpy().tolist() == [[1, 1], [2, 2]]


@pytest.mark.parametrize(
    "body, message, marked",
    [
        ("for i, j in qd.grouped(a):\n        a[i, j] = 0", "has one variable, which is a tuple, and not 2", "i, j"),
        ("for I in qd.grouped(range(3)):\n        a[0, 0] = 0", "qd.grouped takes qd.ndrange(…), or an array, and no range", "range(3)"),
        ("for I in qd.grouped(n):\n        a[0, 0] = 0", "a loop over anything but range(…), qd.ndrange(…) and arrays isn't there", "n"),
        ("for I in qd.grouped(a, n):\n        a[I] = 0", "takes 1 argument, and not 2", "qd.grouped(a, n)"),
        ("for I in qd.grouped(a):\n        a[I] = I + 1", "a value of type 'tuple' in a kernel isn't there yet", "I"),
        ("for I in qd.grouped(a):\n        a[I[0]] = 1", "an array of 2 dimensions takes as many indices, and not 1", "a[I[0]]"),
        ("for I in qd.grouped(a):\n        a[I, 0] = 1", "a value of type 'tuple' in a kernel isn't there yet", "I, 0"),
        ("for I in qd.grouped(qd.ndrange(n, 1.5)):\n        a[I] = 1", "a bound is an integer", "1.5"),
    ],
)
def test_errors(module, body, message, marked):
    of = module(f"@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 2], n: qd.i32):\n    {body}\n")
    with pytest.raises(qd.QuadrantsCompilationError) as caught:
        of.k(np.zeros((2, 2), np.int32), 2)
    _, line, carets, text = str(caught.value).split("\n")
    assert line[carets.index("^") : carets.rindex("^") + 1] == marked and message in text
