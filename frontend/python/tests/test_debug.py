"""What is checked in debug."""

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
