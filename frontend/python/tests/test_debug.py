"""What is checked in debug."""

import itertools

import numpy as np
import pytest

import qd


@pytest.fixture
def debug():
    qd.init(debug=True)


def faults(message, kernel, *args):
    with pytest.raises(qd.QuadrantsAssertionError, match=message) as caught:
        kernel(*args)
    assert isinstance(caught.value, (AssertionError, qd.QuadrantsRuntimeError))


@qd.kernel
def positive(a: qd.types.NDArray[qd.i32, 1], bound: qd.template()):
    for i in a:
        assert a[i] < bound, f"below {bound}"
        a[i] += 1


def test_assertions_hold_in_debug_alone():
    a = np.arange(10, dtype=np.int32)
    positive(a, 5)
    assert a.tolist() == list(range(1, 11))


def test_assertions_say_what_and_where(debug):
    a = np.arange(100, dtype=np.int32)
    a[41] = 1000
    # The decorator is its first line.
    line = positive.source.first_line + 3
    where = rf"test_debug.py:{line}:\d+, in thread 41 of block 0 of phase 'positive:{line - 1}'"
    faults(rf'"below 500" does not hold at .*{where}: 1000 < 500 is false', positive, a, 500)
    # A device has a copy, which is not copied back.
    assert a[40] == (41 if qd.cfg.arch == qd.cpu else 40)
    positive(a[:10], 500)


@qd.func
def element(a, i):
    return a[i]


@qd.kernel
def read(a: qd.types.NDArray[qd.f32, 1], i: qd.i32) -> qd.f32:
    return element(a, i)


@qd.kernel
def write(a: qd.types.NDArray[qd.i32, 2], i: qd.i32, j: qd.u32):
    a[i, j] = 1


@pytest.mark.parametrize("option", ["debug", "check_out_of_bound"])
def test_indices_are_checked(option):
    qd.init(**{option: True})
    a = np.arange(4, dtype=np.float32)
    assert [read(a, i) for i in range(4)] == [0, 1, 2, 3]
    for index in (-1, 4, 2**31 - 1, -(2**31)):
        line = read.source.first_line + 2
        said = rf"{index % 2**64} \({index} if it is signed\)" if index < 0 else index
        faults(rf"index 0 .* is within the extent.*test_debug.py:{line}:.*: {said} < 4 is false", read, a, index)
    b = np.zeros((3, 5), np.int32)
    write(b, 2, 4)
    assert b.sum() == b[2, 4] == 1
    for i, j, axis in [(3, 0, 0), (-1, 0, 0), (0, 5, 1), (0, 2**32 - 1, 1), (1, 7, 1)]:
        faults(f"index {axis} is within the extent", write, b, i, j)
    assert b.shape == (3, 5)


def test_assertions_formatted_with_percent(debug):
    bound = 5

    @qd.kernel
    def k(n: qd.i32):
        assert n < bound, "below %d, %s" % (bound, "and no more")

    faults('"below 5, and no more" does not hold', k, 7)


@pytest.mark.parametrize(
    "text, shown, said",
    [
        ('f"{m} is not above {least}"', r"f'\{m\} is not above \{least\}'", "2 is not above 3"),
        ('"100%%: %d and %s" % (m, f[None])', r"'100%%: %d and %s' % \(m, f\[None\]\)", "100%: 2 and 7"),
        ('f"{a[0]:.2f}"', r"f'\{a\[0\]:.2f\}'", "1.50"),
        ("m", '"m', "2"),
    ],
)
def test_values_in_the_text_of_an_assertion_are_printed(debug, module, capfd, text, shown, said):
    of = module(
        f"""
f = qd.field(qd.i32, ())
least = 3

@qd.kernel
def k(a: qd.types.NDArray[qd.f32, 1], n: qd.i32):
    m = n + 1
    assert m > least, {text}
"""
    )
    of.f[None] = 7
    a = np.full(1, 1.5, np.float32)
    of.k(a, 3)
    assert capfd.readouterr().out == ""
    faults(rf"{shown}.* does not hold at", of.k, a, 1)
    assert capfd.readouterr().out == f"{said}\n"


@qd.func
def inner(a, i):
    assert a[i, 0] > 0, "positive"
    return a[i, 1 + i]


@qd.func
def outer(a, i):
    return inner(a, i)


@qd.kernel
def nested(a: qd.types.NDArray[qd.i32, 2]) -> qd.i32:
    return outer(a, 1)


def test_assertions_name_the_calls_that_are_inlined(debug):
    first, second, at = (each.source.first_line + 2 for each in (inner, outer, nested))
    where = rf"\(in inner at .*test_debug.py:{{}}, called from outer at .*test_debug.py:{second}\)\" does not hold at .*test_debug.py:{at}:"
    faults('"positive ' + where.format(first), nested, np.zeros((2, 2), np.int32))
    faults('"index 1 is within the extent ' + where.format(first + 1), nested, np.ones((2, 2), np.int32))


INTEGERS = [(qd.i8, np.int8), (qd.i16, np.int16), (qd.i32, np.int32), (qd.i64, np.int64), (qd.u8, np.uint8), (qd.u16, np.uint16), (qd.u32, np.uint32), (qd.u64, np.uint64)]
OPERATIONS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x // y": lambda x, y: x // y if y else None,
    "qd.raw_div(x, y)": lambda x, y: (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1) if y else None,
    "x % y": lambda x, y: x % y if y else None,
}
# Of signed integers.
SIGNED = {"-x": lambda x, y: -x, "abs(x)": lambda x, y: abs(x)}
SHIFTS = ("x << y", "x >> y", "qd.bit_shr(x, y)")


@pytest.mark.parametrize("dtype, of", INTEGERS, ids=[str(dtype) for dtype, _ in INTEGERS])
def test_integers_that_do_not_fit(debug, module, dtype, of):
    """Against integers of Python, at the ends of types and in their midst."""
    low, high, bits = int(np.iinfo(of).min), int(np.iinfo(of).max), 8 * dtype.size
    operations = {**OPERATIONS, **(SIGNED if low else {}), **dict.fromkeys(SHIFTS)}
    text = "@qd.kernel\ndef k{}(x: qd.{}, y: qd.{}) -> qd.{}:\n    return {}\n"
    kernels = module("".join(text.format(i, dtype, dtype, dtype, each) for i, each in enumerate(operations)))
    root = int(high**0.5)
    values = {each for each in (low, low + 1, -root - 1, -bits, -2, -1, 0, 1, 2, 3, bits - 1, bits, root, root + 1, high // 2 + 1, high - 1, high) if low <= each <= high}
    for i, (text, compute) in enumerate(operations.items()):
        kernel = getattr(kernels, f"k{i}")
        for x, y in itertools.product(values, values):
            exact = compute(x, y) if compute else 0 if 0 <= y < bits else None
            is_fault = exact is None or not low <= exact <= high
            try:
                made = kernel(x, y)
            except qd.QuadrantsAssertionError as error:
                assert is_fault, (text, x, y, str(error))
                continue
            assert not is_fault and (compute is None or made == exact), (text, x, y, made)


@qd.func
def square(x):
    return x * x


@qd.kernel
def squares(a: qd.types.NDArray[qd.i32, 1], n: qd.i32):
    m = n + 1
    for i in range(min(m - 1, 2)):
        a[i] = square(a[i])
    a[0] -= 5
    s = a[0]
    s *= 3
    for i in range(1):
        a[i] = s if n > 0 else s << n


def test_overflow_says_what_and_where(debug):
    line = squares.source.first_line + 1
    a = np.array([7, 46341], np.int32)
    where = rf"in square at .*test_debug.py:{square.source.first_line + 2}\)\" does not hold at .*test_debug.py:{line + 3}:\d+, in thread 1 of block 0"
    faults(rf"kernel 'squares': \"'\*' of i32 does not overflow \({where}.*2147488281 = -2147479015 is false", squares, a, 2)
    # Of what the host computes.
    faults(rf"'\+' of i32 does not overflow\" does not hold at .*test_debug.py:{line + 1}:", squares, a, 2**31 - 1)
    a = np.array([30000, 2], np.int32)
    faults(rf"'\*' of i32 does not overflow\" does not hold at .*test_debug.py:{line + 6}:", squares, a, 1)
    # A shift that is not computed is not checked.
    a = np.array([3, 2], np.int32)
    squares(a, 2)
    assert a.tolist() == [12, 4]
    faults(rf"the amount of '<<' is below 32, and not negative\" does not hold at .*test_debug.py:{line + 8}:.*: 4294967295 < 32 is false", squares, a, -1)


def test_integers_of_several_types_are_checked_as_they_are_promoted(debug):
    @qd.kernel
    def add(x: qd.u8, y: qd.i32) -> qd.i32:
        return x + y

    @qd.kernel
    def shift(x: qd.i64, y: qd.i8, z: qd.u1) -> qd.i64:
        return (x << y) + (y << z)

    assert add(255, -256) == -1
    faults(r"'\+' of i32 does not overflow", add, 1, 2**31 - 1)
    assert shift(1, 62, False) == 2**62 + 62
    for amount in (64, -1):
        faults("the amount of '<<' is below 64", shift, 1, amount, True)


def test_what_wraps_on_purpose_is_not_checked(debug):
    @qd.kernel
    def k(a: qd.types.NDArray[qd.u32, 1], x: qd.u32, y: qd.i32) -> (qd.u32, qd.i8, qd.u32):
        for i in a:
            a[0] += x
            qd.atomic_sub(a[1], x)
        total = qd.u32(0)
        for i in range(4):
            total += x
        return qd.math.fns(qd.u32(0x80000000), 31, -1), qd.cast(y, qd.i8), x ** 2 + 1

    a = np.zeros(2, np.uint32)
    assert k(a, 2**32 - 1, 300) == (31, 44, 2)
    assert a.tolist() == [2**32 - 2, 2]


def test_operators_are_checked_in_debug_alone():
    options, records = [{}, {"check_out_of_bound": True}, {"debug": True}], []
    for option in options:
        qd.init(**option)
        a = np.full(2, 2**16, np.int32)
        if not option.get("debug"):
            squares(a, 2)
            assert a.tolist() == [-15, 0]
        else:
            faults("does not overflow", squares, a, 2)
        records.append(squares.record())
    assert records[0] == records[1] and "Assert" not in records[0] and "Assert" in records[2]
