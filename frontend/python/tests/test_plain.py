"""Plain functions of Python, and lambdas, in kernels: Python calls them, or they are inlined."""

import numpy as np
import pytest

import qd

Ints = qd.types.NDArray[qd.i32, 1]


def ints(*numbers):
    return np.array(numbers, np.int32)


def size(n, more=0):
    return n + more


def longest(names):
    return max([len(name) for name in names])


def head(a):
    return a[0]


def mean(a: int, b: int):
    total = a
    total += b
    return total / 2


class Scaled:
    def __init__(self, by):
        self.by = by

    def of(self, x):
        return mean(x, x) * self.by


def test_plain_functions_are_called_by_python_or_inlined():
    scaled = Scaled(3)

    @qd.kernel
    def k(a: qd.types.NDArray[qd.f32, 1], x: qd.f32) -> qd.i32:
        first = head(a)
        n = longest(("x", "abc"))
        for i in range(size(a.shape[0], more=-1)):
            a[i] = mean(a[i], b=x) + scaled.of(qd.f32(i)) + longest("a")
        while mean(n, n) < 10:
            n *= 2
        return n + first

    a = np.zeros(4, np.float32)
    with pytest.warns(SyntaxWarning, match="Calling non-quadrants function 'mean': @qd.func makes it one"):
        assert k(a, 0.5) == 12
    assert a.tolist() == [1.25, 4.25, 7.25, 0]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize(
    "function, message",
    [
        ("def f(x):\n    return f(x)", "f calls f"),
        ("f = lambda x: [x]", 'Unsupported node "List"'),
        ("f = lambda x, y: x", "<lambda>: missing a required argument: 'y'"),
        ("f = lambda x: f(x)", "<lambda> calls <lambda>"),
        ("f = eval('lambda x: x')", "a lambda that a kernel calls is read from its file, or cell"),
        ("def f(x):\n    return [x]", 'Unsupported node "List"'),
        ("def f(x, y): pass", "f: missing a required argument: 'y'"),
    ],
)
def test_plain_functions_that_cannot_be_inlined(module, function, message):
    of = module(f"{function}\n\n@qd.kernel\ndef k(x: qd.i32) -> qd.i32:\n    return f(x)\n")
    with pytest.raises(qd.QuadrantsCompilationError) as caught:
        of.k(1)
    assert "    return f(x)\n           ^^^^" in str(caught.value) and message in str(caught.value)


# Lambdas.

OPERATORS = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y}
by_lines = lambda x, n=3: (  # noqa: E731
    x * n
    + 1
)


def times(n):
    return lambda x, *rest: x * n + len(rest)


@qd.func
def folded(op: qd.template(), a, n):
    result = a[0]
    for i in range(1, n):
        result = op(result, a[i])
    return result


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_lambdas_are_inlined():
    add, sub, mul = (OPERATORS[name] for name in ("add", "sub", "mul"))
    twice, seven = times(2), times(7)
    larger = qd.func(lambda x, y: x if x > y else y)

    @qd.kernel
    def k(a: Ints, op: qd.template(), out: Ints):
        for i in range(1):
            out[0], out[1] = add(a[0], 1), sub(a[0], y=a[1])
            out[2] = op(a[1], a[2])
            out[3] = folded(mul, a, 3)
            out[4] = by_lines(a[0]) * 100 + by_lines(a[0], n=a[1])
            out[5] = twice(a[0]) + seven(a[0], 0, 0)
            out[6] = larger(a[0], a[1])

    out = np.zeros(7, np.int32)
    for op in (add, mul):
        k(ints(3, 5, 7), op, out)
        assert out.tolist() == [4, -2, op(5, 7), 105, 1016, 29, 5]


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_lambdas_of_a_line_are_told_apart(module):
    of = module(
        "f, g, h, i = (lambda x: x + 1), (lambda x: x - 1 if x > 1 else x), (lambda: 0), lambda x: (lambda y: x * y)(2)\n\n"
        "@qd.kernel\ndef k(x: qd.i32) -> (qd.i32, qd.i32):\n    return f(x), g(x)\n\n"
        "@qd.kernel\ndef inner(x: qd.i32) -> qd.i32:\n    return i(x)\n"
    )
    if not hasattr(of.f.__code__, "co_positions"):
        with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)return f\(x\).*\^.*of those in line 2 of .*, does not show"):
            of.k(1)
        return
    assert of.k(10) == (11, 9)
    with pytest.raises(qd.QuadrantsSyntaxError, match='(?s)in <lambda>.*lambda y: x.*\\^.*called from.*Unsupported node "Lambda"'):
        of.inner(3)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_lambdas_without_a_place(module):
    """One of another version of its file, and one that Python makes of what is static."""
    text = "f = lambda x: x + 1\n\n@qd.kernel\ndef k(x: qd.i32) -> qd.i32:\n    return f(x)\n"
    of = module(text)
    with open(of.__file__, "w") as file:
        file.write("import qd\n" + text.replace("x + 1", "x + 100"))
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)return f\(x\).*\^.*the lambda of line 2 of .* is not there: has the file changed"):
        of.k(1)
    of = module("@qd.kernel\ndef k(x: qd.i32) -> qd.i32:\n    f = qd.static(lambda x: x + 1)\n    return f(x)\n")
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)return f\(x\).*\^.*a lambda that qd.static makes is not called with what the kernel"):
        of.k(1)


# Their loops.


def loops(kernel):
    """How many parallel loops the record of a kernel has: the tasks that do not end at the constant 1."""
    lines = kernel.record().split("\n")
    ends = [line.split(" at ")[0].split()[-1] for line in lines if ": Task(" in line]
    return sum(not any(line.startswith(f"{end}: Constant(1)") for line in lines) for end in ends)


def total(a):
    s = 0
    for i in a:
        s += a[i]
    return s


def of_texts(texts):
    n = 0
    for each in texts:
        n += len(each)
    return n


class Sum:
    def of(self, a, by=1):
        return total(a) * by


@qd.data_oriented
class Holder:
    def __init__(self, a):
        self.a = a

    def total(self):
        n = 0
        for i in self.a:
            n += self.a[i]
        return n

    @qd.kernel
    def run(self) -> qd.i32:
        return self.total() * 2


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_loops_of_plain_functions_are_tasks():
    by_lambda, of = (lambda a: total(a) + 1), Sum()

    @qd.kernel
    def k(a: Ints) -> (qd.i32, qd.i32, qd.i32):
        x = total(a)
        y = a[0] + by_lambda(a) * 10
        z = 0
        if x > 1000:
            z = total(a)
        z, a[total(a) % 4] = of.of(a, by=2), 1
        return x, y, z + total(a)

    a = ints(3, 1, 4, 1)
    assert k(a) == (9, 3 + 100, 18 + 9 + 1 - 1)
    assert a.tolist() == [3, 1, 4, 1]
    # But that which may be skipped.
    assert loops(k) == 5
    holder = Holder(ints(1, 2, 3))
    assert holder.run() == 12
    assert loops(holder.run._kernel) == 1


def test_a_call_with_loops_warns_once_where_it_stands():
    @qd.kernel
    def k(a: Ints) -> qd.i32:
        return 2 * total(a)

    with pytest.warns(SyntaxWarning, match=r"(?s)return 2 \* total\(a\)\n *\^+\nCalling non-quadrants function 'total'") as told:
        assert k(ints(1, 2)) == 6
    assert len([each for each in told if issubclass(each.category, SyntaxWarning)]) == 1


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_python_calls_those_without_values_of_the_kernel():
    texts = ("a", "bc")

    @qd.kernel
    def k(n: qd.i32) -> (qd.i32, qd.i32, qd.i32):
        more = qd.static([*texts, "def"])
        x = of_texts(texts) + n
        y = of_texts(more)
        return x, y, of_texts([each + "x" for each in more])

    assert k(100) == (103, 6, 9)
    assert loops(k) == 0
