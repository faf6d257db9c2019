"""Fields and ndarrays."""

import math

import numpy as np
import pytest

import qd
from qd._dtypes import ALL


def test_the_program_of_the_design():
    c = qd.field(qd.i32, shape=())
    g = qd.field(qd.f32, shape=(3, 4))

    @qd.kernel
    def count():
        for i, j in g:
            c[None] += 1

    count()
    assert c[None] == 12
    count()
    assert c[()] == 24
    assert (g.shape, g.dtype, c.shape) == ((3, 4), qd.f32, ())


@pytest.mark.parametrize("order", [None, "ijk", "kji", "jik"])
def test_order_and_offset(order):
    f = qd.field(qd.i32, shape=(2, 3, 5), order=order, offset=(-1, 10, 0))

    @qd.kernel
    def fill():
        for i, j, k in f:
            f[i, j, k] += 100 * i + 10 * j + k

    fill()
    wanted = np.fromfunction(lambda i, j, k: 100 * (i - 1) + 10 * (j + 10) + k, (2, 3, 5)).astype(np.int32)
    np.testing.assert_array_equal(f.to_numpy(), wanted)
    assert f[-1, 12, 4] == wanted[0, 2, 4]
    f[0, 10, 1] = 7
    assert f.to_numpy()[1, 0, 1] == 7
    for wrong in [(1, 10, 0), (-2, 10, 0), (0, 9, 0), (0, 0), None]:
        with pytest.raises(qd.QuadrantsIndexError):
            f[wrong]
    if qd.cfg.arch != qd.cpu:
        return
    memory = {None: (0, 1, 2), "ijk": (0, 1, 2), "kji": (2, 1, 0), "jik": (1, 0, 2)}[order]
    strides = f.to_numpy(copy=False).strides
    assert sorted(range(3), key=lambda axis: -strides[axis]) == list(memory)


def test_ndarrays_are_given():
    @qd.kernel
    def twice(a: qd.types.NDArray[qd.f64, 2]):
        for i, j in a:
            a[i, j] *= 2

    @qd.kernel
    def by_template(a: qd.template()):
        for i in a:
            a[i] = a[i] + 1

    a = qd.ndarray(qd.f64, (4, 3))
    a.from_numpy(np.arange(12).reshape(4, 3))
    twice(a)
    np.testing.assert_array_equal(a.to_numpy(), 2.0 * np.arange(12).reshape(4, 3))
    b = qd.ndarray(qd.u8, 5)
    by_template(b)
    by_template(qd.ndarray(qd.u8, 50))
    assert b.to_numpy().tolist() == [1] * 5 and len(by_template._compiled) == 1
    f = qd.field(qd.f64, (4, 3), order="ji")
    f.copy_from(a)
    twice(f)
    np.testing.assert_array_equal(f.to_numpy(), 4.0 * np.arange(12).reshape(4, 3))


def test_fields_of_objects_and_templates():
    @qd.data_oriented
    class Sums:
        def __init__(self, n):
            self.values = qd.field(qd.i32, n)
            self.totals = [qd.field(qd.i64, ()) for _ in range(2)]

        @qd.kernel
        def run(self):
            for i in self.values:
                self.totals[0][None] += self.values[i]
                self.totals[1][None] += 1

    @qd.kernel
    def clear(f: qd.template(), value: qd.i32):
        for i in range(f.shape[0]):
            f[i] = value

    sums = Sums(1000)
    clear(sums.values, 3)
    sums.run()
    assert [total[None] for total in sums.totals] == [3000, 1000]
    other = Sums(10)
    other.run()
    assert [total[None] for total in other.totals] == [0, 10]
    clear(other.values, 1)
    assert len(clear._compiled) == 2


def test_a_field_whose_first_use_is_in_a_branch():
    """Its extents are constants, which each use has for itself."""
    f = qd.field(qd.i32, (4, 4))
    f.from_numpy(np.arange(16, dtype=np.int32).reshape(4, 4))

    @qd.kernel
    def add(out: qd.types.NDArray[qd.i32, 1]):
        for i in range(4):
            if i > 2:
                out[i] = f[i, 1]
            for j in qd.static(range(f.shape[1])):
                out[i] += f[i, j]
        for i in range(4):
            out[i] += f[i, 0] if out[i] > 0 and f[i, 3] > 0 else 0
        out[0] += qd.i32(qd.f32(f.shape[0]) + qd.f64(len(f)))

    out = np.zeros(4, np.int32)
    add(out)
    assert out.tolist() == [6 + 8, 22 + 4, 38 + 8, 13 + 54 + 12]


@pytest.mark.host
def test_conversions():
    f = qd.field(qd.i16, (2, 2))
    f.fill(3)
    f[0, 1] = -4
    assert f.to_numpy(qd.f32).dtype == np.float32
    assert f.to_numpy(dtype=np.int64).tolist() == [[3, -4], [3, 3]]
    shared = f.to_numpy(copy=False)
    shared[1, 1] = 9
    assert f[1, 1] == 9
    f.to_numpy()[0, 0] = 5
    assert f[0, 0] == 3
    np.testing.assert_array_equal(np.from_dlpack(f), shared)
    for fails, kind, message in [
        (lambda: f.to_numpy(qd.f32, copy=False), ValueError, "is not shared"),
        (lambda: f.from_numpy(np.zeros(4)), ValueError, "Mismatch shape"),
        (lambda: f.copy_from(qd.ndarray(qd.i16, 4)), ValueError, "Mismatch shape"),
        (lambda: f.from_numpy([1]), TypeError, "an array of NumPy"),
        (lambda: f.copy_from(np.zeros((2, 2))), TypeError, "a field or an ndarray"),
    ]:
        with pytest.raises(kind, match=message):
            fails()


# Integers are outside of narrower types, and reals are outside of all.
INTEGERS = [0, -1, 127, 128, 300, -129, 2**31 - 1, 2**31, -(2**31) - 1, 2**32 + 5, 2**40, 2**63 - 1, -(2**63)]
REALS = [0.0, -0.5, 0.5, -0.99, 127.9, 128.0, 255.9, 256.0, -129.0, 65519.0, 65520.0, 2.0**31 - 1, 2.0**31, -(2.0**31) - 1, 2.0**63, 2.0**64]
REALS += [1e20, -1e20, 1e300, math.inf, -math.inf, math.nan]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("source, numbers", [(qd.i64, INTEGERS), (qd.f64, REALS), (qd.f32, REALS[:-5]), (qd.f16, [*REALS[:9], *REALS[-3:]])])
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_what_the_host_stores_is_what_a_kernel_casts(dtype, source, numbers):
    @qd.kernel
    def cast(a: qd.types.NDArray[source, 1], out: qd.types.NDArray[dtype, 1]):
        for i in a:
            out[i] = a[i]

    given = np.array(numbers, qd.lang.util.to_numpy_type(source))
    made, f = (qd.ndarray(dtype, len(numbers)) for _ in range(2))
    cast(given, made)
    wanted = made.to_numpy()
    f.from_numpy(given)
    np.testing.assert_array_equal(f.to_numpy(), wanted)
    other = qd.ndarray(source, len(numbers))
    other.from_numpy(given)
    f.fill(0)
    f.copy_from(other)
    np.testing.assert_array_equal(f.to_numpy(), wanted)
    for i, number in enumerate(given.tolist()):
        f[i] = number
    np.testing.assert_array_equal(f.to_numpy(), wanted)
    for number, each in zip(given, wanted[:3]):
        f.fill(number)
        assert (f.to_numpy() == each).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "dtype, number, wanted",
    [
        (qd.i32, 2**40, 0), (qd.i32, 2**70 + 3, 3), (qd.i8, 300, 44), (qd.u8, -1, 255), (qd.u1, 2**40, True), (qd.u1, math.nan, True),
        (qd.i32, 1e20, 2**31 - 1), (qd.i32, -1e20, -(2**31)), (qd.u64, -1.5, 0), (qd.i64, 2.0**63, 2**63 - 1), (qd.u16, math.nan, 0),
        (qd.f16, 1e6, math.inf), (qd.f32, -1e300, -math.inf), (qd.f32, 2**24 + 1, 2**24),
    ],
)  # fmt: skip
def test_numbers_outside_of_a_type(dtype, number, wanted):
    f = qd.field(dtype, (2, 2), order="ji")
    f[0, 1] = number
    assert f[0, 1] == wanted
    f[0, 1] = 0
    f.fill(number)
    assert f[0, 1] == f[1, 0] == wanted
    if abs(number) < 2**63 or isinstance(number, float):
        f.from_numpy(np.full((2, 2), number))
        assert f[0, 1] == f[1, 0] == wanted


@pytest.mark.filterwarnings("error")
def test_an_array_of_no_dimensions_is_converted():
    f = qd.field(qd.i32, ())
    for number, wanted in [(math.nan, 0), (1e20, 2**31 - 1), (-2.5, -2)]:
        f.from_numpy(np.array(number))
        assert f[None] == wanted


def test_wrong_shapes():
    for shape in (-1, (2, -3), 2**31, (2**16, 2**16)):
        with pytest.raises(qd.QuadrantsRuntimeError, match="is not a valid shape for ndarray"):
            qd.ndarray(qd.u8, shape)
    assert qd.ndarray(qd.f32, (0, 3)).to_numpy().shape == (0, 3)
    with pytest.raises(ValueError, match="order='ii'"):
        qd.field(qd.f32, (1, 2), order="ii")
    with pytest.raises(qd.QuadrantsTypeError, match="offset"):
        qd.field(qd.f32, (1, 2), offset=3)
    for shape in (-1, (2**16, 2**16), (0, 2**31), (1,) * 9):
        with pytest.raises(ValueError, match="is not a valid shape for a field"):
            qd.field(qd.u8, shape)
    for offset in (2**31 - 3, -(2**31) - 1):
        with pytest.raises(ValueError, match=f"offset=.{offset},.: with shape"):
            qd.field(qd.u8, 3, offset=offset)
    for make in (lambda number: qd.ndarray(qd.u8, number), lambda number: qd.field(qd.u8, 3, offset=number)):
        with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
            make(1.5)
    for options in ({"needs_grad": True}, {"needs_dual": True}):
        with pytest.raises(NotImplementedError):
            qd.field(qd.f32, 3, **options)


def test_shapes_are_of_any_integers():
    for shape in (np.int64(3), [np.int32(3)], np.array([3])):
        f = qd.field(qd.i32, shape, offset=shape)
        assert (f.shape, f.offset, qd.ndarray(qd.i32, shape).shape) == ((3,), (3,), (3,))
        assert {type(each) for each in f.shape + f.offset} == {int}


def test_the_first_and_the_last_offset():
    for first in (-(2**31), 2**31 - 4):
        f = qd.field(qd.i32, 3, offset=first)

        @qd.kernel
        def fill():
            for i in f:
                f[i] = i

        fill()
        assert [f[first + place] for place in range(3)] == f.to_numpy().tolist() == [first, first + 1, first + 2]


def test_indices_and_elements_that_are_none():
    f = qd.field(qd.f32, (3, 4))
    for index in [(1.0, 0), ("a", 0), (slice(0, 2), 0), (None, 0)]:
        with pytest.raises(qd.QuadrantsTypeError, match="an index is an integer"):
            f[index]
    f[np.int64(2), np.array(3)] = np.float64(1.5)
    assert f[2, 3] == 1.5
    for value in (None, [1], "1", 1j, np.zeros(1)):
        with pytest.raises(TypeError, match="an element is a number, and not "):
            f[0, 0] = value
        with pytest.raises(TypeError, match="an element is a number, and not "):
            f.fill(value)
    assert f[0, 0] == 0


@pytest.mark.parametrize("statement", ["return a[0]", "return holder.a[0]", "return a.shape[0]", "a[0] = 1", "a[0] += 1", "qd.atomic_add(a[0], 1)", "return first(a)"])
def test_ndarrays_are_not_found_by_name(module, statement):
    program = module(
        "import types\nholder = types.SimpleNamespace()\n@qd.func\ndef first(x):\n    return x[0]\n@qd.kernel\ndef k() -> qd.i32:\n    " + statement + "\n"
    )
    program.a = program.holder.a = qd.ndarray(qd.i32, 3)
    with pytest.raises(qd.QuadrantsTypeError, match=r"(?s)File .*\^.*an ndarray is given to a kernel, as a parameter or a template"):
        program.k()


def test_fields_of_another_order_are_given_once():
    f = qd.field(qd.i32, (3, 4), order="ji", name="f")

    @qd.kernel
    def two(a: qd.types.NDArray[qd.i32, 2], b: qd.types.NDArray[qd.i32, 2]) -> qd.i32:
        a[0, 0] = 5
        return b[0, 0]

    @qd.kernel
    def named(a: qd.types.NDArray[qd.i32, 2]) -> qd.i32:
        a[0, 0] = 5
        return f[0, 0]

    @qd.kernel
    def reads(a: qd.types.NDArray[qd.i32, 2]) -> qd.i32:
        return a[0, 0] + f[0, 0]

    for call, other in [(lambda: two(f, f), "argument"), (lambda: named(f), "field 'f'")]:
        with pytest.raises(qd.QuadrantsRuntimeError, match=f"Argument 0 is not contiguous, and shares memory with {other}"):
            call()
    f[0, 0] = 3
    assert reads(f) == 6
    assert two(qd.field(qd.i32, (3, 4), order="ji"), f) == named(qd.field(qd.i32, (3, 4), order="ji")) == 3


def test_fields_that_are_given_and_found_by_name():
    f, g = qd.field(qd.i32, 1000, name="f"), qd.field(qd.i32, 1000)

    @qd.kernel
    def follow(a: qd.types.NDArray[qd.i32, 1]) -> qd.i32:
        for i in range(1):
            for j in range(1, 1000):
                f[j] = a[j - 1] + 1
        return a[999] + f[999]

    @qd.kernel
    def reads(a: qd.types.NDArray[qd.i32, 1], out: qd.types.NDArray[qd.i32, 1]):
        for i in a:
            out[i] = a[i] + f[i]

    @qd.kernel
    def scan(a: qd.types.NDArray[qd.i32, 1], scratch: qd.types.NDArray[qd.i32, 1]):
        qd.algorithms.exclusive_scan_add(a, f, scratch, a[0], qd.i32, 1)

    # First with another, and after that one again.
    for given, wanted in [(g, 1), (f, 2 * 999), (f, 2 * 999), (g, 1)]:
        f.fill(0)
        assert follow(given) == wanted
    f.from_numpy(np.arange(1000))
    for given in (f, g, f):
        out = qd.ndarray(qd.i32, 1000)
        reads(given, out)
        assert out[999] == 999 * (2 if given is f else 1)
    scratch = qd.ndarray(qd.i32, qd.algorithms.exclusive_scan_scratch_slots(1000, 1))
    g.fill(1)
    for _ in range(2):
        scan(g, scratch)
        with pytest.raises(qd.QuadrantsRuntimeError, match=r"(?s)File .*\^.*exclusive_scan_add: 'arr' and 'out' share memory"):
            scan(f, scratch)


def test_addresses():
    a, b = qd.ndarray(qd.i32, 3), qd.ndarray(qd.f64, ())
    first, other = (each.arr.device_allocation_ptr() for each in (a, b))
    assert first == a.arr.device_allocation_ptr() and abs(first - other) >= 8
    if qd.cfg.arch == qd.cpu:
        assert first == a.to_numpy(copy=False).ctypes.data
    qd.reset()
    with pytest.raises(qd.QuadrantsRuntimeError, match="freed"):
        a.arr.device_allocation_ptr()


def test_elements_in_their_order():
    f = qd.field(qd.i32, 3, offset=5)
    f.from_numpy(np.arange(3))
    assert list(f) == [0, 1, 2] and 2 in f and 5 not in f
    with pytest.raises(TypeError, match="an array of 2 dimensions has no order"):
        list(qd.ndarray(qd.i32, (2, 2)))


@pytest.mark.parametrize("default_ip, default_fp", [(qd.i32, qd.f32), (qd.i64, qd.f64)])
def test_types_of_python(default_ip, default_fp):
    """`int`, `float` and `bool` are what `init` says when an array is made, and when a kernel is compiled."""

    @qd.func
    def element(a: qd.types.NDArray[float, 1], i: int) -> float:
        return a[i]

    @qd.kernel
    def k(a: qd.types.NDArray[float, 1], b: qd.types.ndarray(dtype=int), c: qd.types.NDArray[bool]) -> float:
        return element(a, 1) + b[0] + c[0]

    qd.init(enable_fallback=False, default_ip=default_ip, default_fp=default_fp)
    a, b, c = qd.ndarray(float, 3), qd.field(int, 2), qd.tensor(bool, (1,), backend=qd.Backend.FIELD)
    later = qd.field(float)
    qd.root.dense(qd.i, 4).place(later)
    assert (a.dtype, b.dtype, c.dtype, later.dtype) == (default_fp, default_ip, qd.u1, default_fp)
    assert qd.tensor(int, 3).dtype is default_ip
    for array, value in ((a, 0.5), (b, 7), (c, True)):
        array.fill(value)
    assert k(a, b, c) == 8.5
    other = np.zeros(3, np.float64 if default_fp is qd.f32 else np.float32)
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match=rf"Argument 0 .* required type {default_fp}\[1-D\]"):
        k(other, b, c)
    for make in (lambda: qd.field(str, 3), lambda: qd.types.ndarray(np.dtype(float))):
        with pytest.raises(NotImplementedError, match="only of scalar types"):
            make()


def test_reset_frees_arrays():
    f = qd.field(qd.i32, 3)
    a = qd.ndarray(qd.i32, 3)

    @qd.kernel
    def k():
        for i in f:
            f[i] = i

    @qd.kernel
    def given(a: qd.types.NDArray[qd.i32, 1]):
        a[0] = 1

    k()
    qd.init()
    for use in (lambda: f[0], lambda: a.fill(1), k, lambda: given(a)):
        with pytest.raises(qd.QuadrantsRuntimeError, match="freed"):
            use()


def test_fields_are_no_places(module):
    program = module("""
f = qd.field(qd.i32, shape=())
class Holder:
    pass
holder = Holder()
holder.f = f
@qd.kernel
def swaps():
    qd.atomic_cas(f, 1, 2)
@qd.kernel
def loads() -> qd.i32:
    return qd.volatile_load(holder.f)
@qd.kernel
def loads_an_element() -> qd.i32:
    return qd.volatile_load(holder.f[None])
""")
    for kernel in (program.swaps, program.loads):
        with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)\^.*Field directly"):
            kernel()
    program.f[None] = 5
    assert program.loads_an_element() == 5
