"""Templates and what is static."""

import warnings

import numpy as np
import pytest

import qd

Ints = qd.types.NDArray[qd.i32, 1]


def test_a_template_parameter_of_a_function_is_the_variable_itself():
    @qd.func
    def swap(a: qd.template(), b: qd.template()):
        c = a
        a = b
        b = c

    @qd.kernel
    def k(x: qd.i32, y: qd.i32) -> (qd.i32, qd.i32):
        a = x
        b = y
        swap(a, b)
        return a, b

    assert k(1, 2) == (2, 1)


def test_equal_templates_are_compiled_once():
    @qd.kernel
    def k(value: qd.template(), x: qd.f32) -> qd.f32:
        y = x
        for one in qd.static(value if isinstance(value, tuple) else (value,)):
            y *= one
        return y

    for value in (np.float32(2), (1, 2.0), (1, (2, 3))[0], True, 0.0, -0.0):
        for _ in range(2):
            k(value, 3)
    assert len(k._compiled) == 6


def test_static_loops_and_branches():
    weights = {"a": 2, "b": 3}

    @qd.kernel
    def k(x: qd.i32, verbose: qd.template()) -> qd.i32:
        sum = 0
        for i, (name, weight) in qd.static(enumerate(weights.items())):
            if qd.static(name in ("b", "c")):
                sum += weight * x
                continue
            sum += 100 * (i + 1)
        for i in qd.static(range(10)):
            if qd.static(i == 3):
                break
            sum += 1000
        if qd.static(verbose):
            scale = 2
        elif qd.static(verbose is None):
            scale = 3
        else:
            scale = 1
        return sum * (scale if qd.static(not verbose) else 10)

    assert k(5, False) == 3115
    assert k(5, None) == 3 * 3115
    assert k(5, True) == 31150


def test_static_names_and_checks(capsys):
    @qd.kernel
    def k(a: Ints) -> qd.i32:
        n, m = qd.static((3, 4))
        qd.static_assert(n < m, "n is less")
        qd.static_assert(a.dtype == qd.i32)
        qd.static_print("n is", n)
        table = qd.static([value * value for value in range(n)])
        sum = 0
        for value in qd.static(table):
            sum += value
        return sum * m

    assert k(np.zeros(1, np.int32)) == 20
    assert capsys.readouterr().out == "n is 3\n"


def test_long_unrolled_loops_warn():
    @qd.kernel
    def k(n: qd.template()) -> qd.i32:
        sum = 0
        for i in qd.static(range(n)):
            sum += i
        return sum

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert k(32) == 496
    with pytest.warns(SyntaxWarning, match="unrolled 33 times"):
        assert k(33) == 528
    qd.init(unrolling_limit=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert k(100) == 4950


@pytest.mark.parametrize("is_computed", [False, True], ids=["host", "device"])
def test_a_break_of_a_parallel_loop_that_is_not_taken(is_computed):
    @qd.kernel
    def k(a: Ints, n: Ints, leaves: qd.template()):
        for i in range(n[0] if qd.static(is_computed) else a.shape[0]):
            a[i] += 1
            if qd.static(leaves):
                if a[i] > 2:
                    break
            a[i] += 10

    a, n = np.zeros(4, np.int32), np.array([4], np.int32)
    k(a, n, False)
    assert a.tolist() == [11] * 4
    # Nothing is asked that the loop without it would not be.
    assert " If " not in k.record()
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)break\n *\^{5}\nCannot break out of a parallel loop"):
        k(a, n, True)


def test_what_follows_a_branch_that_is_not_taken():
    @qd.kernel
    def k(a: Ints, skips: qd.template(), ends: qd.template(), returns: qd.template()):
        if qd.static(returns):
            return
        for i in a:
            if qd.static(skips):
                if i % 2 == 0:
                    continue
            elif qd.static(ends):
                break
            elif qd.static(returns):
                return
            for j in range(10):
                if qd.static(ends):
                    break
                elif j == 3:
                    continue
                if j > 4:
                    break
                a[i] += 1
            a[i] += 100

    for given, expected in [((False, False, False), [104] * 4), ((True, False, False), [0, 104] * 2), ((False, False, True), [0] * 4), ((True, True, False), [0, 100] * 2)]:
        a = np.zeros(4, np.int32)
        k(a, *given)
        assert a.tolist() == expected
    with pytest.raises(qd.QuadrantsSyntaxError, match="Cannot break out of a parallel loop"):
        k(a, False, True, False)


def test_a_return_in_a_parallel_loop_is_an_error_where_it_is_taken():
    @qd.kernel
    def k(a: Ints, returns: qd.template()):
        for i in a:
            a[i] = 1
            if qd.static(returns):
                return

    a = np.zeros(2, np.int32)
    k(a, False)
    assert a.tolist() == [1, 1]
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)return\n *\^{6}\nReturn inside non-static if/for is not supported"):
        k(a, True)
