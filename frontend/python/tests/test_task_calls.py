"""Calls of functions with loops, in expressions of the top level: the loops are tasks, and all is evaluated in Python's order."""

import numpy as np
import pytest

import qd

Ints = qd.types.NDArray[qd.i32, 1]


def loops(kernel):
    """How many parallel loops the record of a kernel has: the tasks that do not end at the constant 1."""
    lines = kernel.record().split("\n")
    ends = [line.split(" at ")[0].split()[-1] for line in lines if ": Task(" in line]
    return sum(not any(line.startswith(f"{end}: Constant(1)") for line in lines) for end in ends)


def threads(kernel):
    """How many tasks of one thread it has."""
    return kernel.record().count(": Task(") - loops(kernel)


def ints(*numbers):
    return np.array(numbers, np.int32)


@qd.func
def total(a):
    s = 0
    for i in a:
        s += a[i]
    return s


@qd.func
def raised(a, by):
    """The sum before it adds a number to each element."""
    s = 0
    for i in a:
        s += a[i]
        a[i] += by
    return s


def raised_by_numpy(a, by):
    s = int(a.sum())
    a += by
    return s


def test_what_a_statement_takes_alone():
    @qd.func
    def ends(a, by: qd.i32):
        most, least = -(2**31), 2**31 - 1
        for i in a:
            qd.atomic_max(most, a[i] * by)
        for i in a:
            qd.atomic_min(least, a[i] * by)
        return most, least

    @qd.func
    def passed_on(a):
        return total(a)

    @qd.kernel
    def k(a: Ints, out: qd.types.ndarray(dtype=qd.i64, ndim=1)) -> qd.i32:
        n = total(a)
        for i in a:
            a[i] += n
        most, least = ends(a, 3)
        wide: qd.i64 = passed_on(a)
        n += total(a)
        out[0] = total(a)
        for i in range(1):
            out[1], out[2], out[3], out[4] = n, most, least, wide * 1000000
        return total(a)

    a, out = np.arange(1000, dtype=np.int32), np.zeros(5, np.int64)
    first = int(a.sum())
    wanted = a + first
    with np.errstate(over="ignore"):
        total_of = int(wanted.sum(dtype=np.int32))
        expected = [total_of, np.int32(first + total_of), (wanted * np.int32(3)).max(), (wanted * np.int32(3)).min(), total_of * 1000000]
    assert k(a, out) == total_of
    np.testing.assert_array_equal(a, wanted)
    assert out.tolist() == [int(each) for each in expected]
    # Five totals, one loop of the kernel, and two for both ends; the rest are of one thread.
    assert loops(k) == 8


# Expressions of arrays `a` and `b` and a number `n`, and how many calls in them have loops that are tasks.
EXPRESSIONS = [
    ("2 * total(a)", 1),
    ("total(a) * total(b) - total(a)", 3),
    ("a[0] + raised(a, 3)", 1),
    ("raised(a, 3) + a[0]", 1),
    ("a[0] * 1000 + raised(a, 3) * 100 + a[0]", 1),
    ("raised(a, a[1]) - raised(a, a[1]) * 7 + a[2]", 2),
    ("a[raised(a, 1) % 4] + 10 * a[0]", 1),
    ("b[a[0]] + raised(b, raised(a, 1))", 2),
    ("n + raised(a, n) * n", 1),
    ("-raised(a, 2) + abs(a[0] - raised(a, 5))", 2),
    ("raised(a, by=raised(b, 1))", 2),
    ("raised(by=a[0] + raised(b, 1), a=a)", 2),
    ("max(a[0], raised(a, 50), a[0], raised(b, 7), b[0])", 2),
    ("int(raised(a, 1) < a[0] + raised(a, 1))", 2),
    ("int(a[0] < raised(a, 1) < total(a))", 1),
    ("int(raised(a, 1) > 1000 and total(a) > 3)", 1),
    ("int(raised(a, 1) > 1000 or raised(a, 1) > 3)", 1),
    ("(raised(a, 1) if a[0] == 99 else raised(b, 1)) + a[0] + b[0]", 0),
    ("raised(a, 1) if raised(b, 2) > 5 else b[0]", 1),
    ("(a[0], raised(a, 1), (a[0], raised(a, 1)))[2][1] + a[0]", 2),
    ("(m := a[0] + 1) * 100 + raised(a, 1) * m + (m := a[0])", 1),
    ("(m := raised(a, 1)) + raised(a, m) * m + m", 2),
    ("((m := a[0]), m * 10, raised(a, (m := -7)), m)[1] + 100 * m", 1),
    ("(third_of(a[0]) << 2) + raised(a, 3) + third_of(a[0])", 1),
]


@qd.func
def third_of(x):
    return x % 3


EXPRESSION = """
from test_task_calls import Ints, third_of, raised, total

@qd.kernel
def k(a: Ints, b: Ints, n: qd.i32) -> qd.i32:
    {0}

def plain(a, b, n, total, raised, third_of):
    {0}
"""


STATEMENTS = [
    "x = {}; return x",
    "x = n + 1; x += {}; return x",
    "x = n + 1; x *= {}; return x * n",
    "a[1] = {}; return a[0] + b[0]",
    "a[a[0]] *= {}; return a[0]",
    "x, y = {}, a[0]; return 10 * x + y",
    "x = y = {}; return x + 3 * y",
    "a[({}) % 4] = a[3] + 5; return a[0]",
    "x: qd.i32 = {}; return x",
    "b[0], a[({}) % 4], y = a[0], b[1], a[2]; return 10 * y + b[0]",
    "b[1] = a[({}) % 4] = x = a[0] + n; return x",
    "x, y = 1, 2; (x, a[(x + ({})) % 4]), a[y] = (n, a[1]), 9; return x",
    "t = (a[0], n); t, a[({}) % 4] = (t[1], t[0]), t[0]; return t[0] * 100 + t[1]",
]
CASES = [("return {}", *each) for each in EXPRESSIONS] + [(statement, *each) for statement in STATEMENTS for each in EXPRESSIONS[4:8]]


@pytest.mark.parametrize("statement, expression, loops_of", CASES)
def test_expressions_are_evaluated_as_python_does(module, statement, expression, loops_of):
    of = module(EXPRESSION.format(statement.format(expression)))
    a, b = ints(1, 2, 3, 4), ints(*range(5, 45))
    mine, pythons = [a.copy(), b.copy()], [a.copy(), b.copy()]
    wanted = of.plain(*pythons, 3, lambda a: int(a.sum()), raised_by_numpy, lambda x: x % 3)
    assert of.k(*mine, 3) == wanted
    assert [each.tolist() for each in mine] == [each.tolist() for each in pythons]
    assert loops(of.k) == loops_of


def test_the_old_value_of_what_is_atomic_is_that_after_the_call():
    @qd.kernel
    def k(a: Ints):
        a[a[0]] -= raised(a, 10)

    a = ints(1, 2, 3)
    k(a)
    assert a.tolist() == [11, 12 - 6, 13]


def test_conditions_and_bounds():
    @qd.kernel
    def k(a: Ints, b: Ints) -> qd.i32:
        count = 0
        if a[0] + raised(a, 1) == 1 + 10:
            count += 1
        elif total(a) == 0:
            count += 100
        qd.loop_config(block_dim=64)
        for i in range(a[0] - 2, raised(a, 1) - 2 * a[0]):
            count += 10
        for i, j in qd.ndrange(total(b), (1, a[0])):
            count += 1000
        qd.loop_config(serialize=True)
        for i in range(raised(b, 1)):
            if i == 1:
                break
            count += 100000
        while total(a) > a[0] and count < 10**6:
            count += 10**6
        return count

    a, b = ints(1, 2, 3, 4), ints(0, 1, 2)
    # The sum is 14, and the first element then 3.
    assert k(a, b) == 1 + 8 * 10 + 3 * 2 * 1000 + 100000 + 10**6
    assert a.tolist() == [3, 4, 5, 6] and b.tolist() == [1, 2, 3]
    # Of the condition of `while` and of the `elif` one thread executes them.
    assert loops(k) == 4 + 2


def test_what_is_given_to_other_calls():
    @qd.func
    def note(log, x):
        log[log[0]] = x
        log[0] += 1
        return x

    @qd.func
    def pair(x, y):
        return 100 * x + y

    @qd.func
    def bump(x: qd.template(), a):
        x += 1
        for i in a:
            x += a[i]
        return x

    @qd.func
    def before(x: qd.template(), y: qd.template(), a):
        return x + 0 * bump(y, a) - x

    @qd.kernel
    def k(a: Ints, log: Ints, out: Ints) -> (qd.i32, qd.i32):
        n = 5
        n += before(n, n, a)
        m = note(log, 1) + pair(note(log, 2), note(log, total(a))) + note(log, 4)
        qd.atomic_max(a[note(log, 0)], raised(a, 1) + note(log, 5))
        # The variable that a function changes is read before, and after.
        out[0] = n + bump(n, a) * 10 + n
        n += pair(n, bump(n, a))
        out[1] = n
        n *= pair(y=bump(n, a), x=n)
        print(note(log, 6), f"{total(a)} {note(log, 7)}", "%d %d" % (note(log, 8), total(a)), total(a) + note(log, 9))
        return n, m

    a, log, out = ints(1, 2, 3), ints(1, *[0] * 12), ints(0, 0)
    n, m = k(a, log, out)
    assert m == 1 + 206 + 4
    assert log.tolist() == [11, 1, 2, 6, 4, 0, 5, 6, 7, 8, 9, 0, 0]
    # Its sum is 6, which one variable that has two names is raised by: before and after it differ by 7. Then a is 11, 3, 4.
    assert a.tolist() == [11, 3, 4]
    x = 5 + 19
    assert out[0] == 5 + x * 10 + x
    # What is atomic adds to what the call leaves.
    y = x + 19
    wanted = y + 100 * x + y
    assert out[1] == wanted
    z = wanted + 19
    assert n == wanted * (100 * z + z)
    assert loops(k) == 9


def test_what_is_printed_is_that_before_a_call(capfd):
    @qd.kernel
    def k(a: Ints):
        print(a[0], "%d-%d" % (a[1], a[2]), f"{a[0]}.{raised(a, 10)}", a[0], sep=" ")

    k(ints(1, 2, 3))
    qd.sync()
    assert capfd.readouterr().out == "1 2-3 1.6 11\n"
    assert loops(k) == 1


def test_templates_methods_properties_and_tuples():
    @qd.func
    def by(op: qd.template(), a):
        return op(a) + 1

    @qd.func
    def ends(a, by: qd.i32):
        most, least = -(2**31), 2**31 - 1
        for i in a:
            qd.atomic_max(most, a[i] * by)
            qd.atomic_min(least, a[i] * by)
        return most, (least, total)

    @qd.func
    def falling(a, n: qd.template()):
        for i in a:
            a[i] += n
        if qd.static(n == 1):
            return a[0]
        return a[0] + 10 * falling(a, n - 1)

    @qd.data_oriented
    class Holder:
        def __init__(self, a):
            self.a = a

        @property
        @qd.func
        def sum(self):
            return total(self.a)

        @qd.func
        def first(self, by):
            return self.a[0] + raised(self.a, by)

        @qd.kernel
        def run(self, more: qd.template()) -> qd.i32:
            x = (self.sum if qd.static(more) else 5) * 100 + self.first(3) + self.sum
            return x

    @qd.kernel
    def k(a: Ints) -> (qd.i32, qd.i32, qd.i32):
        x = 2 * ends(a, 3)[0]
        y = ends(a, 2)[1][1](a) + 100 * ends(a, -1)[1][0]
        return x, y + by(total, a) * 1000, falling(a, 3) - a[0]

    assert k(ints(1, 2, 3, 4)) == (24, 10 - 400 + 11000, 4 + 10 * (6 + 10 * 7) - 7)
    assert loops(k) == 1 + 3 + 1 + 3
    holder = Holder(ints(1, 2, 3, 4))
    assert holder.run(True) == 10 * 100 + 1 + 10 + 22
    assert loops(holder.run._kernel) == 3
    assert holder.run(False) == 5 * 100 + 4 + 22 + 34
    assert loops(holder.run._kernel) == 2


def test_targets_among_several_and_static_loops():
    @qd.func
    def most(a):
        found = -(2**31)
        for i in a:
            qd.atomic_max(found, a[i])
        return found

    @qd.kernel
    def several(a: Ints, b: Ints) -> qd.i32:
        i = 5
        i, a[i + raised(b, 1)] = 0, raised(b, 1)
        a[raised(b, 1)] = a[i] = b[0]
        return i

    @qd.kernel
    def unrolled(a: Ints) -> qd.i32:
        n = 0
        for i, of in qd.static(enumerate((total, most, total))):
            if qd.static(of is most):
                continue
            n += (a[0] + of(a)) * 10**i - (most(a) if qd.static(i == 2) else 0)
        return n

    a, b = ints(*[0] * 10), ints(1, 1)
    # The second target has the first, which is 0 then, and its sum is 4.
    assert several(a, b) == 0
    assert a.tolist() == [3, 0, 0, 0, 2, 0, 3, 0, 0, 0] and b.tolist() == [4, 4]
    assert loops(several) == 3
    # And what is before, between and after them.
    assert qd.lang.impl.get_runtime().prog.get_num_offloaded_tasks_on_last_call() == 7
    assert unrolled(ints(1, 2, 3)) == 7 + 700 - 3
    assert loops(unrolled) == 3


def test_what_stays_known_while_tracing():
    """Numbers, and what the host knows, are no variables because a function with loops returns them."""

    @qd.func
    def size(a):
        for i in a:
            a[i] += 1
        return a.shape[0] // 2, 40

    @qd.func
    def shifted(n: qd.template(), x):
        return x >> n

    @qd.kernel
    def k(a: Ints) -> qd.i32:
        y = shifted(size(a)[1] - 8, qd.i64(3) << size(a)[1])
        qd.loop_config(block_dim=32)
        for i in range(size(a)[0]):
            qd.simt.block.sync()
            a[i] += 100
        return y + a[0]

    a = ints(1, 2, 3, 4)
    assert k(a) == (3 << 8) + 104
    assert a.tolist() == [104, 105, 6, 7]
    assert loops(k) == 4


def test_what_needs_no_task_has_none():
    """What is before a call and cannot be another after it is not computed apart."""

    @qd.kernel
    def k(a: Ints, n: qd.i32, out: Ints):
        m = a[0]
        out[n + 1] = m * n + a.shape[0] + abs(qd.i32(n)) - m * total(a) + m

    out = ints(0, 0, 0)
    k(ints(1, 2, 3, 4), 1, out)
    assert out.tolist() == [0, 0, 1 + 4 + 1 - 10 + 1]
    # Of `m`, of the sum, which is 0 first and then returned, and of the statement.
    assert (loops(k), threads(k)) == (1, 4)


def test_algorithms_in_functions_that_expressions_call():
    @qd.func
    def reduced(a, out, scratch, count):
        qd.algorithms.reduce_add(a, out, scratch, count, qd.i32, 1)
        return out[0]

    @qd.kernel
    def k(a: Ints, out: Ints, scratch: qd.types.NDArray[qd.u32, 1], count: Ints):
        a[0] = 3 * reduced(a, out, scratch, count[0]) + out[0]
        qd.algorithms.reduce_add(a, out, scratch, total(count) + 1, qd.i32, 1)

    a, out = ints(1, 2, 3, 4, 5), ints(1000)
    k(a, out, np.zeros(8, np.uint32), ints(3))
    assert a[0] == 24 and out[0] == 24 + 2 + 3 + 4


@pytest.mark.parametrize("debug", [False, True])
def test_assertions_and_operators_that_are_all_evaluated(debug):
    qd.init(debug=debug, enable_fallback=False, short_circuit_operators=False)

    @qd.kernel
    def k(a: Ints) -> qd.i32:
        assert a[0] + raised(a, 1) == 7
        return qd.i32(a[0] > 100 and raised(a, 1) > 0) + a[0]

    assert k(ints(1, 2, 3)) == (3 if debug else 2)
    assert loops(k) == 1 + debug


def test_errors_are_where_the_call_is(module):
    program = """
@qd.func
def inner(a):
    s = 0
    for i in a:
        s += a[i] + {0}
    return s

@qd.func
def outer(a):
    return 2 * inner(a) + {1}

@qd.kernel
def k(a: qd.types.NDArray[qd.i32, 1], out: qd.types.NDArray[qd.i32, 1]):
    n = 1
    out[0] = n + out[1] * outer(a) - {2}
"""
    a = ints(1, 2)
    out = ints(0, 3)
    module(program.format(1, "a[0]", "outer(a)")).k(a, out)
    assert out[0] == 1 + 3 * 11 - 11
    for wrong, calls, marked in [
        (("missing", "a[0]", "n"), ["inner", "outer", "k"], ["missing", "inner(a)", "outer(a)"]),
        (("1", "missing", "n"), ["outer", "k"], ["missing", "outer(a)"]),
        (("1", "a[0]", "missing"), ["k"], ["missing"]),
        (("1", "a[0]", "outer(a, a)"), ["k"], ["outer(a, a)"]),
        (("1", "(inner(a) & 1.5)", "n"), ["outer", "k"], ["inner(a) & 1.5", "outer(a)"]),
    ]:
        with pytest.raises(qd.QuadrantsCompilationError) as caught:
            module(program.format(*wrong)).k(a, out)
        lines = str(caught.value).split("\n")
        assert [line.split(" in ")[-1] for line in lines[:-1:3]] == [f"{call}:" for call in calls]
        found = [text[carets.index("^") : carets.rindex("^") + 1] for text, carets in zip(lines[1:-1:3], lines[2:-1:3])]
        assert found == marked


def test_the_top_level_that_a_function_requires():
    @qd.func(requires_top_level=True)
    def top(a):
        for i in a:
            a[i] += 1
        return a[0]

    @qd.kernel
    def good(a: Ints) -> qd.i32:
        return 10 * top(a) + top(a)

    @qd.kernel
    def bad(a: Ints) -> qd.i32:
        return 10 * top(a) + (top(a) if a[0] > 1 else 0)

    assert good(ints(1, 2)) == 23
    assert loops(good) == 2
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"\n {30}\^{6}\n.*requires_top_level=True and must be called at the top level"):
        bad(ints(1, 2))


@pytest.mark.parametrize(
    "body, message, marked",
    [
        ("x, a[total(a)] = n, 1, 2", "2 names take as many values, and not 3", "x, a[total(a)]"),
        ("x, (y, a[total(a)]) = n, n", "2 names take as many values, and not 1", "(y, a[total(a)])"),
        ("x, a[total(a)], *y = n, 1, 2", "the values that are left isn't there yet", "*y"),
        ("n, a[total(a)] = 1, 2", 'Kernel argument "n" is immutable in the kernel', "n"),
        ("x, a[total(a)], a[0, 1] = 1, 2, 3", "an array of 1 dimension takes as many indices, and not 2", "a[0, 1]"),
    ],
)
def test_errors_of_targets(module, body, message, marked):
    of = module(f"from test_task_calls import Ints, total\n\n@qd.kernel\ndef k(a: Ints, n: qd.i32):\n    {body}\n")
    with pytest.raises(qd.QuadrantsCompilationError, match="(?s)line 6, in k") as caught:
        of.k(ints(1, 2, 3), 3)
    _, line, carets, text = str(caught.value).split("\n")
    assert line[carets.index("^") : carets.rindex("^") + 1] == marked and message in text


def test_functions_that_others_return():
    """They are evaluated before the arguments of their call, whatever they do besides."""

    @qd.func
    def choose(op: qd.template(), log):
        log[0] = log[0] * 10 + 1
        return (1, op), log

    @qd.func
    def loud(log):
        for i in log:
            log[i] = log[i] * 10 + 2
        return total

    @qd.func
    def note(log, x):
        log[0] = log[0] * 10 + 3
        return x

    @qd.func
    def by_itself(n: qd.template(), a):
        return by_itself(n - 1, a)[0] if qd.static(n > 0) else total(a), by_itself

    @qd.func
    def either(which: qd.template()):
        if qd.static(which):
            return total
        return raised

    @qd.kernel
    def k(a: Ints, log: Ints, out: Ints):
        out[0] = choose(total, log)[0][1](a)
        out[1] = 100 * choose(raised, log)[0][1](a, by=note(log, raised(a, 0))) + loud(log)(a)
        out[2] = choose(choose, log)[0][1](total, log)[0][1](a)
        out[3] = either(True)(a) + by_itself(2, a)[0]

    a, log, out = ints(1, 2, 3), ints(0), ints(*[0] * 4)
    k(a, log, out)
    assert out.tolist() == [6, 624, 24, 48]
    assert log[0] == 1132 * 100 + 11
    # What one of several statements returns is not known before, and one thread executes its loops.
    assert loops(k) == 1 + 4 + 1 + 1
