"""Tuples, which are a variable for each of their values: what assigns one of these, or several at once."""

import numpy as np
import pytest

import qd

Ints = qd.types.NDArray[qd.i32, 1]


def ints(*numbers):
    return np.array(numbers, np.int32)


# Atomics of members.


def test_atomics_of_members_that_one_thread_has():
    @qd.func
    def of_its_own(t):
        return qd.atomic_add(t[0], 100) + t[0]

    @qd.kernel
    def k(out: Ints):
        for i in range(1):
            t = (i + 1, (i + 2, 7.5))
            out[0] = qd.atomic_add(t[0], 10)
            out[1] = qd.atomic_max(t[1][0], 20) * 100 + qd.atomic_cas(t[-1][0], 20, 21)
            out[2] = qd.atomic_exchange(y=1.5, x=t[1][1])
            out[3] = of_its_own(t)
            out[4], out[5], out[6] = t[0], t[1][0], t[1][1] * 2
            out[7] = qd.volatile_load(t[0])

    out = np.zeros(8, np.int32)
    k(out)
    assert out.tolist() == [1, 220, 7, 122, 11, 21, 3, 11]


def test_atomics_of_members_that_all_threads_have():
    """Also of a tuple of constants, and of one that a call with tasks stands beside."""

    @qd.func
    def total(a):
        s = 0
        for i in a:
            s += a[i]
        return s

    @qd.kernel
    def k(a: Ints, out: Ints):
        t = (0, (1000, 5))
        for i in a:
            qd.atomic_add(t[0], a[i])
            qd.atomic_min(t[1][0], a[i])
        out[0], out[1], out[2] = t[0], t[1][0], t[1][1]
        u = (1, 2)
        out[3] = qd.atomic_add(u[0], 5) * 10 + total(a) * 100 + u[0]
        out[4] = u[0] + total(a) * qd.atomic_add(u[0], 1)
        out[5] = u[0]
        v = u
        qd.atomic_add(v[0], 1)
        out[6] = v[0] * 100 + u[0]

    a, out = np.arange(3, 103, dtype=np.int32), np.zeros(7, np.int32)
    k(a, out)
    assert out.tolist() == [a.sum(), 3, 5, 10 + a.sum() * 100 + 6, 6 + a.sum() * 6, 7, 807]


def test_atomics_of_elements_leave_arrays_constants():
    """An array by another name takes no task, also where its elements are atomic."""

    @qd.kernel
    def k(a: Ints):
        b = a
        c = b
        for i in a:
            qd.atomic_add(c[0], 1)

    a = np.zeros(7, np.int32)
    k(a)
    assert a[0] == 7
    assert k.record().count(": Task(") == 1


# `:=` of a tuple.


def test_named_tuples():
    @qd.func
    def both(x, y):
        return x + y, (x - y, 0.5)

    @qd.kernel
    def k(a: Ints, out: qd.types.NDArray[qd.f32, 2]):
        for i in a:
            n = (t := (a[i], a[i] * 0.25))[0] * 10 + t[1]
            out[i, 0], out[i, 1] = n, t[0] + t[1]
            # One that a function returns, and that has members.
            m = (u := both(a[i], 1))[0] + u[1][0]
            u = (u[1][0], (m, u[1][1] * 2))
            out[i, 2], out[i, 3], out[i, 4] = u[0], u[1][0], u[1][1]
            # With an array, and a type, in it.
            v = (w := (i, a, qd.f64))[0] + w[1][i]
            out[i, 5] = w[2](v)
            (x := (i, 2), x := (x[1], x[0] + 7))
            out[i, 6] = x[0] * 100 + x[1]

    a, out = np.arange(6, dtype=np.int32), np.zeros((6, 7), np.float32)
    k(a, out)
    for i, row in enumerate(out.tolist()):
        assert row == [i * 10.25, i * 1.25, i - 1, 2 * i, 1, 2 * i, 200 + i + 7]


def test_named_tuples_that_may_be_skipped_or_repeated():
    @qd.kernel
    def k(a: Ints, out: qd.types.NDArray[qd.i32, 2]):
        for i in a:
            t = (-1, -1)
            if a[i] > 2 and (t := (i, (a[i])))[0] % 2 == 0:
                out[i, 0] = 1
            out[i, 1], out[i, 2] = t
            last = 0
            rounds = 0
            while (u := (a[i] - rounds, rounds * 1.5))[0] > 3:
                rounds += 1
                last += u[0]
            out[i, 3], out[i, 4], out[i, 5] = last, u[0], u[1] * 2
            m = (v := (i, 1))[0] if i > 2 else (v := (-i, 2.75))[1]
            out[i, 6], out[i, 7], out[i, 8] = m * 4, v[0], v[1]

    a, out = np.arange(8, dtype=np.int32), np.zeros((8, 9), np.int32)
    k(a, out)
    for i, row in enumerate(out.tolist()):
        t = (i, i) if i > 2 else (-1, -1)
        rounds = max(i - 3, 0)
        assert row[:6] == [int(i > 2 and i % 2 == 0), *t, sum(range(4, i + 1)), i - rounds, rounds * 3]
        # The first that is traced says of which type a member is.
        assert row[6:] == ([i * 4, i, 1] if i > 2 else [8, -i, 2])


def test_named_tuples_of_several_tasks():
    @qd.func
    def total(a):
        s = 0
        for i in a:
            s += a[i]
        return s

    @qd.func
    def halves(a):
        return total(a) // 2, total(a) - total(a) // 2

    @qd.kernel
    def k(a: Ints, out: Ints):
        out[0] = (t := (a[0], 3))[0] * 10 + total(a) + t[1]
        out[1] = (u := halves(a))[1] * 100 + u[0]
        for i in range(2, 3):
            out[i] = t[0] + u[0]

    a, out = np.arange(1, 8, dtype=np.int32), np.zeros(3, np.int32)
    k(a, out)
    assert out.tolist() == [10 + 28 + 3, 1414, 15]
