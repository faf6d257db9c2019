"""Functions."""

import numpy as np
import pytest

import qd

Ints = qd.types.NDArray[qd.i32, 1]


@qd.func
def add(a, b):
    return a + b


@qd.func
def times(a, b):
    return a * b


@qd.func
def twice_by(op: qd.template(), x):
    return op(x, x)


@qd.func
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@qd.func
def extremes(a: qd.template(), first, last):
    low, high = a[first], a[first]
    for i in range(first + 1, last):
        low = min(low, a[i])
        high = max(high, a[i])
    return low, high


def test_a_function_is_a_parameter():
    @qd.kernel
    def k(x: qd.i32) -> (qd.i32, qd.i32):
        return twice_by(add, x), twice_by(times, x)

    assert k(7) == (14, 49)


def test_parameters_are_copies_of_scalars_and_references_to_arrays():
    @qd.func
    def count(to, n):
        for i in range(n):
            to[i] = n
        n = 5
        return n

    @qd.kernel
    def k(a: Ints, n: qd.i32) -> (qd.i32, qd.i32):
        m = n
        five = count(a, m)
        return m, five

    a = np.zeros(4, np.int32)
    assert k(a, 3) == (3, 5)
    assert a.tolist() == [3, 3, 3, 0]


def test_loops_and_branches_of_functions():
    def steps(n):
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    @qd.kernel
    def k(a: Ints):
        for i in range(a.shape[0]):
            a[i] = collatz(i + 1)

    a = np.zeros(300, np.int32)
    k(a)
    assert a.tolist() == [steps(i + 1) for i in range(300)]


def test_functions_return_any_number_of_values():
    @qd.kernel
    def k(a: Ints, out: Ints):
        for i in range(out.shape[0] // 2):
            low, high = extremes(a, 4 * i, 4 * i + 4)
            out[2 * i] = low
            out[2 * i + 1] = high

    a = np.random.default_rng(0).integers(-1000, 1000, 40).astype(np.int32)
    out = np.zeros(20, np.int32)
    k(a, out)
    rows = a.reshape(10, 4)
    np.testing.assert_array_equal(out.reshape(10, 2), np.stack([rows.min(1), rows.max(1)], 1))


def test_defaults_keywords_and_stars():
    @qd.func
    def line(x, slope=2, *, base: qd.f32 = 1):
        return base + slope * x

    @qd.func
    def total(*values):
        sum = 0
        for value in qd.static(values):
            sum += value
        return sum

    @qd.kernel
    def k(x: qd.i32) -> (qd.f32, qd.f32, qd.i32):
        return line(x), line(slope=3, base=0.5, x=x), total(x, 2, *(3, 4))

    assert k(5) == (11.0, 15.5, 14)


def test_annotations_of_functions_cast():
    @qd.func
    def half(x: float):
        return x / 2

    @qd.func
    def low(x: qd.u8):
        return x

    @qd.kernel
    def k(x: qd.i32) -> (qd.f32, qd.i32):
        return half(x), low(x)

    assert k(259) == (129.5, 3)


def test_templates_of_kernels_are_compiled_by_value():
    @qd.kernel
    def k(op: qd.template(), dtype: qd.Template, times: qd.template, x: qd.f32) -> qd.f32:
        y = qd.cast(x, dtype)
        for _ in qd.static(range(times)):
            y = op(y, y)
        return y

    for _ in range(2):
        assert k(add, qd.i32, 3, 2.5) == 16.0
        assert k(add, qd.f32, 3, 2.5) == 20.0
        assert k(times, qd.f32, 2, 2.0) == 16.0
    assert len(k._compiled) == 3
    k(add, qd.f32, True, 1.0)
    assert len(k._compiled) == 4


def test_methods_of_objects():
    class Scale:
        def __init__(self, by, then=None):
            self.by, self.then = by, then

        @qd.func
        def apply(self, x):
            y = x * self.by
            if qd.static(self.then is not None):
                y = self.then.apply(y)
            return y

    @qd.kernel
    def k(scale: qd.template(), x: qd.i32) -> qd.i32:
        return scale.apply(x)

    assert k(Scale(3), 5) == 15
    assert k(Scale(3, Scale(7)), 5) == 105


def test_loops_of_functions_at_the_top_level_are_tasks():
    @qd.func
    def fill(a, value):
        for i in range(a.shape[0]):
            a[i] = value

    @qd.func
    def ramp(a, by):
        fill(a, by)
        for i in range(a.shape[0]):
            a[i] *= i

    @qd.kernel
    def k(a: Ints, b: Ints, twice: qd.template()):
        ramp(a, 3)
        if qd.static(twice):
            for each in qd.static((a, b)):
                for i in range(each.shape[0]):
                    each[i] += 1
        else:
            fill(b, 9)

    def tasks():
        return k.record().count("Task")

    a, b = np.zeros(1000, np.int32), np.zeros(10, np.int32)
    k(a, b, True)
    assert tasks() == 4
    np.testing.assert_array_equal(a, 3 * np.arange(1000) + 1)
    assert b.tolist() == [1] * 10
    k(a, b, False)
    assert tasks() == 3
    assert b.tolist() == [9] * 10


def test_functions_called_from_python():
    with pytest.raises(qd.QuadrantsRuntimeError, match="Quadrants functions cannot be called from Python-scope"):
        add(1, 2)

    @qd.pyfunc
    def mean(a, b):
        return (a + b) / 2

    @qd.kernel
    def k(a: qd.f32, b: qd.f32) -> qd.f32:
        return mean(a, b)

    assert k(1, 4) == mean(1, 4) == 2.5


def test_what_requires_the_top_level():
    @qd.func(requires_top_level=True)
    def top(a):
        for i in range(a.shape[0]):
            a[i] += 1

    @qd.func
    def helper(a):
        top(a)

    @qd.kernel
    def good(a: Ints):
        helper(a)

    @qd.kernel
    def bad(a: Ints, n: qd.i32):
        if n > 1:
            helper(a)

    a = np.zeros(3, np.int32)
    good(a)
    assert a.tolist() == [1, 1, 1]
    with pytest.raises(qd.QuadrantsSyntaxError, match="requires_top_level=True and must be called at the top level"):
        bad(a, 2)


def test_errors_name_the_calls():
    @qd.func
    def inner(x):
        return x + unknown  # noqa: F821

    @qd.func
    def outer(x):
        y = inner(x)
        return y

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        return outer(x) + 1

    with pytest.raises(qd.QuadrantsNameError) as caught:
        k(1)
    lines = str(caught.value).split("\n")
    assert [line.split(" in ")[-1] for line in lines[::3]] == ["inner:", "outer:", "k:", 'Name "unknown" is not defined']
    assert [line.startswith("called from File") for line in lines[:9:3]] == [False, True, True]
    marked = [text[carets.index("^") : carets.rindex("^") + 1] for text, carets in zip(lines[1:9:3], lines[2:9:3])]
    assert marked == ["unknown", "inner(x)", "outer(x)"]


def refused(kind, message, kernel, *args):
    with pytest.raises(kind, match=message) as caught:
        kernel(*args)
    assert type(caught.value) is kind


def test_recursion_is_an_error_that_names_the_cycle():
    @qd.func
    def even(n):
        return odd(n - 1)

    @qd.func
    def odd(n):
        return even(n - 1)

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        return even(n)

    refused(qd.QuadrantsCompilationError, "themselves: even calls odd calls even$", k, 3)


def test_functions_call_themselves_for_other_objects():
    @qd.func
    def power(x, n: qd.template()):
        if qd.static(n == 0):
            return 1
        return x * power(x, qd.static(n - 1))

    @qd.func
    def endless(x, n: qd.template()):
        return endless(x, qd.static(n + 1))

    @qd.kernel
    def k(x: qd.i32) -> (qd.i32, qd.i32):
        return power(x, 0), power(x, 5)

    @qd.kernel
    def no_end(x: qd.i32) -> qd.i32:
        return endless(x, 0)

    assert k(3) == (1, 243)
    refused(qd.QuadrantsCompilationError, "more than 50 deep", no_end, 3)


def test_assignments_in_expressions():
    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        y = (square := x * x) + 1
        while (rest := square - 10) > 0:
            square = rest
        last = 7 if x > 5 and (half := x // 2) > 2 else (half := 1)
        return 1000 * y + 100 * square + 10 * half + last

    assert k(5) == 26000 + 500 + 10 + 1
    assert k(8) == 65000 + 400 + 40 + 7


def test_conditions_of_loops_call_functions():
    @qd.func
    def halve(x: qd.template()):
        x //= 2
        return x > 0

    @qd.kernel
    def k(x: qd.i32) -> (qd.i32, qd.i32):
        n = x
        bits = 1
        even = 0
        while halve(n):
            bits += 1
            if n % 2 == 1:
                continue
            even += 1
            if even == 3:
                break
        return bits, even

    assert k(0b1011) == (4, 1)
    assert k(0b10000000) == (4, 3)


def test_wrong_uses_are_errors():
    @qd.kernel
    def too_many(n: qd.i32) -> qd.i32:
        return add(n, n, n)

    @qd.func
    def early(n):
        if n > 1:
            return 1
        return 2

    @qd.kernel
    def returns(n: qd.i32) -> qd.i32:
        return early(n)

    @qd.kernel
    def computed(n: qd.i32) -> qd.i32:
        m = n + 1
        for _ in qd.static(range(m)):
            m += 1
        return m

    @qd.kernel
    def parameter(n: qd.i32) -> qd.i32:
        return qd.static(n)

    @qd.kernel
    def unrolled(n: qd.i32):
        for i in qd.static(range(3)):
            if n > i:
                break

    @qd.kernel
    def fails(n: qd.i32):
        qd.static_assert(1 > 2, "never")

    @qd.kernel
    def baked(n: qd.template()):
        n = 3

    refused(qd.QuadrantsTypeError, "add: too many positional arguments", too_many, 1)
    refused(qd.QuadrantsSyntaxError, "Return inside non-static if/for is not supported", returns, 1)
    refused(qd.QuadrantsSyntaxError, '"m" is computed by the kernel', computed, 1)
    refused(qd.QuadrantsSyntaxError, "not known while tracing", parameter, 1)
    refused(qd.QuadrantsSyntaxError, "Cannot break an unrolled loop", unrolled, 1)
    refused(qd.QuadrantsStaticAssertionError, "AssertionError: never", fails, 1)
    refused(qd.QuadrantsSyntaxError, 'Kernel argument "n" is immutable in the kernel', baked, 1)


def test_arguments_are_computed_in_order():
    @qd.func
    def bump(x: qd.template()):
        x += 10
        return x

    @qd.func
    def pair(x, y):
        return 1000 * x + y

    @qd.func
    def all_of(*numbers):
        return 1000 * numbers[0] + numbers[1]

    @qd.kernel
    def k(x: qd.i32) -> (qd.i32, qd.i32, qd.i32):
        y = x
        before = pair(y, bump(y))
        after = pair(y=bump(y), x=y)
        return before, after, all_of(y, bump(y))

    @qd.kernel
    def spanning(out: qd.types.NDArray[qd.i32, 1]):
        offset = 1
        for i in out:
            j = i
            j *= 2
            out[i] = all_of(offset, j)
        offset = 2

    @qd.func
    def replace(a):
        a[0] = 7
        return 3

    @qd.kernel
    def multiply(a: qd.types.NDArray[qd.i32, 1]):
        a[0] *= replace(a)

    assert k(5) == (5015, 25025, 25035)
    a = np.array([5], np.int32)
    multiply(a)
    assert a[0] == 15
    out = np.zeros(3, np.int32)
    spanning(out)
    assert out.tolist() == [1000, 1002, 1004]


def test_variables_that_are_given_on():
    @qd.func
    def bump(x: qd.template()):
        x += 1

    @qd.func
    def count(x: qd.template()):
        qd.atomic_add(x, 1)

    @qd.func
    def both(x: qd.template(), y: qd.template()):
        bump(x)
        count(x=y)

    @qd.func
    def next_of(x, y):
        both(x, y)
        return 10 * x + y

    @qd.kernel
    def k(n: qd.i32) -> (qd.i32, qd.i32, qd.i32):
        x = n
        y = 0
        for i in range(n):
            both(x, y)
        return x, y, next_of(n, 1)

    assert k(100) == (200, 100, 1012)


@qd.func
def swapped(t):
    t = (t[1], t[0])
    return t


def test_tuples_are_variables():
    @qd.kernel
    def fibonacci(n: qd.i32) -> (qd.i32, qd.i32, qd.i32, qd.i32):
        t = (1, 1)
        i = 0
        while i < n:
            t = (t[1], t[0] + t[1])
            i += 1
        a, b = t
        return a, b, swapped(t)[0], len(t)

    assert fibonacci(10) == (89, 144, 144, 2)

    @qd.kernel
    def spans(a: Ints) -> qd.i32:
        t = (a[0], (a[1], 2))
        for i in range(3):
            a[i] += t[0] + t[1][1]
        t = (7, (a[0], 9))
        for i in range(t[0]):
            qd.atomic_add(a[3], t[1][0])
        return t[1][1]

    a = np.array([1, 2, 3, 4], np.int32)
    assert spans(a) == 9
    assert a.tolist() == [4, 5, 6, 32]

    @qd.kernel
    def sorts(a: Ints) -> (qd.i32, qd.f32):
        for i in range(a.shape[0] // 2):
            x, y = a[2 * i], a[2 * i + 1]
            x, y = (y, x) if x > y else (x, y)
            a[2 * i], a[2 * i + 1] = x, y
        return (a[0], 1) if a[0] > 5 else (5, 1.5)

    b = np.array([4, 2, 1, 7], np.int32)
    assert sorts(b) == (5, 1.5)
    assert b.tolist() == [2, 4, 1, 7]

    @qd.kernel
    def of_objects(a: Ints):
        for i in range(1):
            t = (times, a, 5)
            if a[0] > 1:
                t = (times, a, 6.5)
            t[1][0] = t[0](t[1][1], t[2])

    of_objects(a)
    assert a[0] == 30


def test_functions_with_loops_have_copies_of_their_scalars():
    @qd.func
    def fill(a, n, t, *more):
        n = 2 * n
        x = more[0]
        for i in range(n):
            a[i] += t[0] + x
        n += 1
        for i in range(1):
            n += 10
        a[0] = n
        t = (7, 8)
        for i in qd.static(range(2)):
            a[i + 1] = t[i]

    @qd.func
    def count(total: qd.template(), a):
        for i in a:
            total += a[i]
        add_to(total, 1)

    @qd.func
    def add_to(total: qd.template(), x: qd.template()):
        for i in range(2):
            total += x

    @qd.kernel
    def k(a: Ints, n: qd.i32) -> (qd.i32, qd.i32):
        m = n
        fill(a, m, (a[3], 2), a[4] + 1)
        fill(a, n, (a[3], 2), 1)
        s = 100
        count(s, a)
        add_to(s, a[1] + 1)
        return m, s

    a = np.array([0, 0, 0, 5, 6, 0, 0], np.int32)
    # The first adds 12 to six, the second 18.
    wanted = [17, 7, 8, 35, 36, 30, 0]
    assert k(a, 3) == (3, 100 + sum(wanted) + 2 + 2 * 8)
    assert a.tolist() == wanted


def test_annotations_of_functions_check_what_is_given(module):
    program = """
@qd.func
def f(a: qd.types.NDArray[qd.i32, 1], n: qd.i32 = 0, b: qd.types.ndarray(ndim=2) = None):
    a[0] = n

@qd.kernel
def k(a: qd.types.NDArray[qd.i32, 1], b: qd.types.NDArray[qd.f32, 2], n: qd.i32):
    f(%s)
"""
    a, b = np.zeros(2, np.int32), np.zeros((2, 2), np.float32)
    for given in ("a, n", "a, 2.5, b", "a=a, b=b"):
        module(program % given).k(a, b, 3)
    for given, message in [
        ("b", r"'a' of 'f' \(f32\[2-D\]\) cannot be converted into required type i32\[1-D\]"),
        ("a, b=a", r"'b' of 'f' \(i32\[1-D\]\) cannot be converted into required type scalars\[2-D\]"),
        ("n", "'a' of 'f' is an array, and not a scalar of type 'i32'"),
        ("5", "'a' of 'f' is an array, and not '5'"),
        ("a, b", "'n' of 'f' is a scalar of type 'i32', and not an array"),
    ]:
        with pytest.raises(qd.QuadrantsTypeError, match=rf"(?s)line 9, in k:.*\^{{4,}}.*{message}"):
            module(program % given).k(a, b, 3)


def test_annotations_that_mean_nothing_to_a_kernel(module):
    k = module("@qd.func\ndef f(x: [1, 2], y: {}): return x + y\n@qd.kernel\ndef k(n: qd.i32) -> qd.i32: return f(n, 2)\n").k
    assert k(3) == 5
