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
