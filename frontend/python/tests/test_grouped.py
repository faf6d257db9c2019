"""Loops over grouped indices, which are one vector."""

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


# Arithmetic.


def test_stencils():
    """Neighbours by an offset that is written out, that a static loop has, that is a vector, and that is computed."""

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 2], out: qd.types.NDArray[qd.i32, 2]):
        for I in qd.grouped(qd.ndrange((1, a.shape[0] - 1), (1, a.shape[1] - 1))):
            total = a[I + (1, 0)] + a[I - [1, 0]] + a[(0, 1) + I]
            for J in qd.static(qd.grouped(qd.ndrange((-1, 2), (-1, 2)))):
                total += (2 + J[0] + 3 * J.y) * a[I + J]
            for J in qd.static(qd.ndrange(2, 2)):
                total += a[J + I] * 20
            for J in qd.grouped(qd.ndrange(2, (-1, 1))):
                total += a[I + J] * J.x * 300
            n = I.x % 2
            out[I] = total + a[I + (n, -n)] * 4000

    a = np.arange(42, dtype=np.int32).reshape(6, 7) ** 2 % 23
    out, wanted = np.zeros_like(a), np.zeros_like(a)
    k(a, out)
    for i in range(1, 5):
        for j in range(1, 6):
            wanted[i, j] = a[i + 1, j] + a[i - 1, j] + a[i, j + 1]
            wanted[i, j] += sum((2 + x + 3 * y) * a[i + x, j + y] for x in (-1, 0, 1) for y in (-1, 0, 1))
            wanted[i, j] += a[i : i + 2, j : j + 2].sum() * 20 + a[i + 1, j - 1 : j + 1].sum() * 300
            wanted[i, j] += a[i + i % 2, j - i % 2] * 4000
    np.testing.assert_array_equal(out, wanted)


def test_operators_of_vectors():
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 3], n: qd.i32, out: qd.types.NDArray[qd.i32, 4]):
        for I in qd.grouped(a):
            J = 10 - I * (3, n, 5)
            K = -J // 4 + J % 3 - ~I
            L = (I << 2) ^ (J & 7) | 1
            x, y, z = K
            out[I, 0] = K.x * 100 + K.y * 10 + K.z
            out[I, 1] = x + y + z - K.sum()
            out[I, 2] = L.max() * 1000 + L.min()
            out[I, 3] = len(K) + len(I + J)

    a, out = np.zeros((2, 3, 4), np.int32), np.zeros((2, 3, 4, 4), np.int32)
    k(a, 4, out)
    I = np.indices(a.shape).reshape(3, -1)
    J = 10 - I * [[3], [4], [5]]
    K = -J // 4 + J % 3 - ~I
    L = (I << 2) ^ (J & 7) | 1
    wanted = np.stack([K[0] * 100 + K[1] * 10 + K[2], 0 * K[0], L.max(0) * 1000 + L.min(0), 6 + 0 * K[0]], -1)
    np.testing.assert_array_equal(out, wanted.reshape(out.shape))


def test_members_and_extremes():
    """Several members by name, in any order; a slice; and the least and the greatest by members."""

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 3], n: qd.i32, out: qd.types.NDArray[qd.i32, 4]):
        for I in qd.grouped(a):
            J, K = I.zxy, I[1:] * 2
            L = min(I, n, (1, 9, n + 1))
            M = qd.max(I.xyz, J)
            out[I, 0] = J.r * 100 + J.g * 10 + J.b
            out[I, 1] = K.x * 10 + K.y + len(K) * 1000 + I.zz.sum()
            out[I, 2] = L.x * 100 + L.y * 10 + L.z
            out[I, 3] = M.x * 100 + M.y * 10 + M.z

    a, out = np.zeros((2, 3, 4), np.int32), np.zeros((2, 3, 4, 4), np.int32)
    k(a, 1, out)
    i, j, l = np.indices(a.shape)
    least = [np.minimum(np.minimum(each, 1), most) for each, most in ((i, 1), (j, 9), (l, 2))]
    greatest = [np.maximum(i, l), np.maximum(j, i), np.maximum(l, j)]
    wanted = [l * 100 + i * 10 + j, j * 20 + l * 2 + 2000 + 2 * l, *(x * 100 + y * 10 + z for x, y, z in (least, greatest))]
    np.testing.assert_array_equal(out, np.stack(wanted, -1))


def test_transposes_and_comparisons():
    @qd.func
    def mirrored(I, shape):
        I = shape - I - 1
        return I

    @qd.func
    def is_inside(I, n):
        inside = 1 <= I < n
        return all(I >= 1) and not any(n <= I + 1) and all(inside) and all(0 <= I < 100 > I) and not any(0 < I < 1)

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 2], t: qd.types.NDArray[qd.i32, 2], m: qd.types.NDArray[qd.i32, 2], inner: qd.types.NDArray[qd.i32, 2]):
        for I in qd.grouped(a):
            i, j = I
            t[j, i] = a[I]
            m[mirrored(I, a.shape)] = a[I]
            inner[I] = 10 * is_inside(I, a.shape) + all(I == (1, 2))

    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    t, m, inner = np.zeros((4, 3), np.int32), np.zeros_like(a), np.zeros_like(a)
    k(a, t, m, inner)
    np.testing.assert_array_equal(t, a.T)
    np.testing.assert_array_equal(m, a[::-1, ::-1])
    assert inner.tolist() == [[0, 0, 0, 0], [0, 10, 11, 0], [0, 0, 0, 0]]


def test_variables_are_vectors():
    @qd.func
    def moved(I, by: qd.template()):
        I += by
        return I, I * 2

    @qd.kernel
    def k(out: qd.types.NDArray[qd.i32, 2]):
        for I in qd.grouped(out):
            J = I + 1
            for step in range(3):
                J = J * 2 - I
                J -= (step, 1)
                if J.x > 5:
                    J += [10, 0]
            J *= 2
            K, L = moved(J, (1, 0))
            I = I
            out[I] = K.x * 10000 + L.y * 100 + (M := J - K).x + M[1]

    out, wanted = np.zeros((3, 5), np.int32), np.zeros((3, 5), np.int32)
    k(out)
    for i, j in np.ndindex(out.shape):
        x, y = i + 1, j + 1
        for step in range(3):
            x, y = x * 2 - i - step, y * 2 - j - 1
            x += 10 * (x > 5)
        wanted[i, j] = (x * 2 + 1) * 10000 + y * 4 * 100 - 1
    np.testing.assert_array_equal(out, wanted)


def test_vectors_of_several_tasks():
    """A variable that all tasks have is added to by each thread; what functions with tasks return is a vector, too."""

    @qd.func
    def first_beyond(a, J, least):
        K = J
        for i in a:
            if a[i] < least:
                K += (1, 2)
        return K + 1

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 1], out: qd.types.NDArray[qd.i32, 2]):
        for J in qd.static(qd.grouped(qd.ndrange(2, (1, 3)))):
            K = J * 100
            for i in a:
                K += (a[i], -1)
            L = K - first_beyond(a, J, 5)
            for i in range(1):
                out[J.x, J.y - 1] = K.x * 1000000 + K.y * 1000 + (L + J).sum()

    a, out = np.arange(10, dtype=np.int32), np.zeros((2, 2), np.int32)
    k(a, out)
    for i, j in np.ndindex(out.shape):
        x, y = i * 100 + 45, (j + 1) * 100 - 10
        assert out[i, j] == x * 1000000 + y * 1000 + x + y - 5 - 10 - 2


def test_members_are_assigned():
    @qd.func
    def doubled(J):
        """Of a copy: the caller's stay what they are."""
        J.x *= 2
        J[1] = J[1] * 2
        return J

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 1], out: qd.types.NDArray[qd.i32, 2], sums: qd.types.NDArray[qd.i32, 1]):
        for I in qd.grouped(out):
            J = I
            J.x = J.y * 10
            J[-1] += 5
            for step in range(3):
                J.g *= 2
                if J[0] > 5:
                    J[0] -= step
            K = doubled(I)
            out[I] = J.x * 1000 + J.y + (K - I).sum() * 100000
        for J in qd.static(qd.grouped(qd.ndrange(1, (1, 2)))):
            K = J
            for i in a:
                K[1] += a[i]
            K.x = 7
            for i in range(1):
                sums[i] = K.x * 1000 + K.y

    a, out, sums = np.arange(10, dtype=np.int32), np.zeros((3, 4), np.int32), np.zeros(1, np.int32)
    k(a, out, sums)
    for i, j in np.ndindex(out.shape):
        x = j * 10
        for step in range(3):
            x -= step * (x > 5)
        assert out[i, j] == x * 1000 + (j + 5) * 8 + (i + j) * 100000
    assert sums[0] == 7046


def test_casts_and_choices_by_members():
    @qd.kernel
    def k(out: qd.types.NDArray[qd.i64, 2], at: qd.types.NDArray[qd.i32, 2]):
        for I in qd.grouped(out):
            J = qd.select(I < (1, 2), I + 1, -1)
            K = qd.cast(I, qd.i64) * qd.i64(2**33) + qd.i64(J)
            out[I] = K.x + K.y
            # One condition for all members.
            at[qd.select(I.x > I.y, I, [0, 0])] += 1

    out, at = np.zeros((3, 4), np.int64), np.zeros((3, 4), np.int32)
    k(out, at)
    counts = np.zeros_like(at)
    for i, j in np.ndindex(out.shape):
        assert out[i, j] == (i + j) * 2**33 + (i + 1 if i < 1 else -1) + (j + 1 if j < 2 else -1)
        counts[(i, j) if i > j else (0, 0)] += 1
    np.testing.assert_array_equal(at, counts)


def test_vectors_of_fewer_dimensions():
    c = qd.field(qd.i32, shape=())

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i64, 1], out: qd.types.NDArray[qd.i64, 1]):
        for I in qd.grouped(a):
            out[I + 1] = a[I] + I.sum()
            out[(a.shape[0] + 1) * (I % 2)] += I.x
        for I in qd.grouped(c):
            c[I + 1] = len(I * 2) + I.sum() + 5
        for I in qd.grouped(a):
            # Of 64 bits.
            J = I + a[0]
            out[J - a[0]] += J[0] > qd.i64(2**40)

    a, out = np.arange(4) + 2**41, np.zeros(6, np.int64)
    k(a, out)
    assert out.tolist() == [2 + 1, *(2**41 + 2 * np.arange(4) + [1, 1, 1, 0]), 4]
    assert c[None] == 5


def test_python_computes_with_vectors():
    (I,) = qd.grouped(qd.ndrange((3, 4), (5, 6)))
    assert I + 1 == (4, 6) and 1 + I == (4, 6) and (10, 20) - I == (7, 15) and I // 2 * [1, 3] == (1, 6) and -I % 4 == (1, 3)
    assert (I.x, I.y, I.sum(), I.max(), I.min()) == (3, 5, 8, 5, 3) and type(I + I) is type(I)
    assert (I.g, I.yx, I.ssts, I[1:] * 2, I.xx + I[:]) == (5, (5, 3), (3, 3, 5, 3), (10,), (6, 8))
    with pytest.raises(ValueError, match="a vector of 2 indices computes with a scalar, or as many values, and not 1"):
        I + (1,)
    for name in ("z", "xz", "xg", "xyxyx", "shape"):
        with pytest.raises(AttributeError, match=f"a vector of 2 indices has no '{name}'"):
            getattr(I, name)

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 2]):
        for J in qd.static(qd.grouped(qd.ndrange(2, 3))):
            if qd.static((J * 2).sum() > 2):
                a[qd.static((1, 2) - J)] = J.max()

    a = np.zeros((2, 3), np.int32)
    k(a)
    assert a.tolist() == [[2, 1, 0], [2, 0, 0]]


@pytest.mark.parametrize(
    "body, message, marked",
    [
        ("for i, j in qd.grouped(a):\n        a[i, j] = 0", "has one variable, which is a vector, and not 2", "i, j"),
        ("for I in qd.grouped(range(3)):\n        a[0, 0] = 0", "qd.grouped takes qd.ndrange(…), or an array, and no range", "range(3)"),
        ("for I in qd.grouped(n):\n        a[0, 0] = 0", "a loop over anything but range(…), qd.ndrange(…) and arrays isn't there", "n"),
        ("for I in qd.grouped(a, n):\n        a[I] = 0", "takes 1 argument, and not 2", "qd.grouped(a, n)"),
        ("for I in qd.grouped(a):\n        a[I] = I + 1", "a vector of indices is no scalar: it wants an index", "I + 1"),
        ("for I in qd.grouped(a):\n        a[I] = I + (1, 2, n)", "a vector of 2 indices computes with a scalar, or as many values, and not 3", "I + (1, 2, n)"),
        ("for I in qd.grouped(a):\n        for J in qd.grouped(qd.ndrange(3)):\n            a[J - I] = 0", "a vector of 1 index computes with a scalar, or as many values, and not 2", "J - I"),
        ("for I in qd.grouped(a):\n        J = I\n        J += (1,)", "a vector of 2 indices computes with a scalar, or as many values, and not 1", "J += (1,)"),
        ("for I in qd.grouped(a):\n        J = I\n        J = 1", "'J' is a tuple of 2 values already", "J"),
        ("for I in qd.grouped(a):\n        a[I * 0.5] = 1", "a vector of reals isn't there yet", "I * 0.5"),
        ("for I in qd.grouped(a):\n        a[I] = I.z", "a vector of 2 indices has no 'z'", "I.z"),
        ("for I in qd.grouped(a):\n        a[I.xz] = 1", "a vector of 2 indices has no 'xz'", "I.xz"),
        ("for I in qd.grouped(a):\n        a[min(I, (1, n, 2))] = 1", "a vector of 2 indices computes with a scalar, or as many values, and not 3", "min(I, (1, n, 2))"),
        ("for I in qd.grouped(a):\n        a[max(I, 0.5)] = 1", "a vector of reals isn't there yet", "max(I, 0.5)"),
        ("for I in qd.grouped(a):\n        a[I] = max(I, 0)", "a vector of indices is no scalar: it wants an index", "max(I, 0)"),
        ("for I in qd.grouped(a):\n        a[I] = I.sum(1)", "'sum' of a vector of indices takes no arguments", "I.sum(1)"),
        ("for I in qd.grouped(a):\n        a[I] = a + I", "an array is no scalar: it wants an index", "a"),
        ("for I in qd.grouped(a):\n        if I == 0:\n            a[I] = 1", "a vector of indices is no scalar: it wants an index", "I == 0"),
        ("for I in qd.grouped(a):\n        a[I] = all(0 <= I < (n, n, n))", "a vector of 2 indices computes with a scalar, or as many values, and not 3", "0 <= I < (n, n, n)"),
        ("for I in qd.grouped(a):\n        J = (1, n)\n        J[0] = 1", "elements of a tuple are not assigned: assign all of it", "J[0]"),
        ("for I in qd.grouped(a):\n        I[2] = 1", "a member of a vector of 2 indices is one of 0 to 1", "2"),
        ("for I in qd.grouped(a):\n        I[n] = 1", "a member of a vector of indices by a number that is computed isn't there yet", "n"),
        ("for I in qd.grouped(a):\n        I.z += 1", "a vector of 2 indices has no 'z'", "I.z"),
        ("for I in qd.grouped(a):\n        I.yx = 1", "an assignment to several members of a vector of indices isn't there yet", "I.yx"),
        ("for I in qd.grouped(a):\n        I.x = I", "a vector of indices is no scalar: it wants an index", "I"),
        ("for I in qd.grouped(a):\n        a[qd.select(I > 0, I, (1, 2, 3))] = 1", "a vector of 2 indices computes with a scalar, or as many values, and not 3", "qd.select(I > 0, I, (1, 2, 3))"),
        ("for I in qd.grouped(a):\n        a[qd.cast(I, qd.f32)] = 1", "a vector of reals isn't there yet", "qd.cast(I, qd.f32)"),
        ("for I in qd.grouped(a):\n        a[I[0]] = 1", "an array of 2 dimensions takes as many indices, and not 1", "a[I[0]]"),
        ("for I in qd.grouped(a):\n        a[I, 0] = 1", "an array of 2 dimensions takes as many indices, and not 3", "a[I, 0]"),
        ("for I in qd.grouped(qd.ndrange(n, 1.5)):\n        a[I] = 1", "a bound is an integer", "1.5"),
    ],
)
def test_errors(module, body, message, marked):
    of = module(f"@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 2], n: qd.i32):\n    {body}\n")
    with pytest.raises(qd.QuadrantsCompilationError) as caught:
        of.k(np.zeros((2, 2), np.int32), 2)
    _, line, carets, text = str(caught.value).split("\n")
    assert line[carets.index("^") : carets.rindex("^") + 1] == marked and message in text
