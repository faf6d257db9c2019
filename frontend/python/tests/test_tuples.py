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
