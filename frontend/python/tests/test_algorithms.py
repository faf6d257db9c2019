"""`qd.algorithms`, against NumPy."""

import inspect

import numpy as np
import pytest

import qd

OF_NUMPY = {qd.i32: np.int32, qd.u32: np.uint32, qd.f32: np.float32, qd.i64: np.int64, qd.u64: np.uint64, qd.f64: np.float64}
SCALARS = list(OF_NUMPY)
SIZES = [0, 1, 255, 256, 257, 65535, 65536, 65537]
D = 1


def one(dtype=qd.i32):
    return qd.types.NDArray[dtype, 1]


def scratch_of(dtype, slots):
    return np.empty(slots, np.uint64 if OF_NUMPY[dtype]().nbytes == 8 else np.uint32)


def sample(dtype, size, seed=0):
    """Numbers whose sums are exact."""
    random = np.random.default_rng(seed)
    of = OF_NUMPY[dtype]
    if np.issubdtype(of, np.floating):
        return random.integers(-8, 8, size).astype(of) / of(4)
    return random.integers(0, 2 ** (8 * of().nbytes - 1), size).astype(of) * of(2) + random.integers(0, 2, size).astype(of)


def identity(name, of):
    if name == "add":
        return of(0)
    least, most = (-np.inf, np.inf) if np.issubdtype(of, np.floating) else (np.iinfo(of).min, np.iinfo(of).max)
    return of(most if name == "min" else least)


def combined(name, values):
    """The combination of values before each, and of all."""
    of = values.dtype.type
    function = {"add": np.add, "min": np.minimum, "max": np.maximum}[name]
    with np.errstate(over="ignore"):
        inclusive = function.accumulate(values, dtype=of)
    return np.concatenate([[identity(name, of)], inclusive]).astype(of)


# All types, and the sizes at which blocks and levels begin.


@pytest.mark.parametrize("dtype", SCALARS, ids=str)
@pytest.mark.parametrize("name", ["add", "min", "max"])
def test_reductions_and_scans(name, dtype):
    reduce = getattr(qd.algorithms, f"reduce_{name}")
    scan = getattr(qd.algorithms, f"exclusive_scan_{name}")
    wide = qd.u64 if OF_NUMPY[dtype]().nbytes == 8 else qd.u32

    @qd.kernel
    def run(arr: one(dtype), prefixes: one(dtype), out: one(dtype), scratch: one(wide), n: qd.types.NDArray[qd.i32, 0]):
        scan(arr, prefixes, scratch, n[()], dtype, 3)
        reduce(arr, out, scratch, n, dtype, 3)

    arr = sample(dtype, SIZES[-1])
    scratch = scratch_of(dtype, qd.algorithms.reduce_scratch_slots(len(arr), 3))
    for n in SIZES:
        prefixes, out = np.full_like(arr, 3), np.full(1, 7, arr.dtype)
        run(arr, prefixes, out, scratch, np.array(n, np.int32))
        expected = combined(name, arr[:n])
        np.testing.assert_array_equal(prefixes[:n], expected[:n])
        assert (prefixes[n:] == 3).all() and out[0] == expected[n]


@pytest.mark.parametrize("dtype", SCALARS, ids=str)
def test_selections(dtype):
    @qd.kernel
    def run(arr: one(dtype), flags: one(), out: one(dtype), num_out: one(), scratch: one(qd.u32), n: qd.i32):
        qd.algorithms.select(arr, flags, out, num_out, scratch, n, 3)

    arr = sample(dtype, SIZES[-1])
    flags = np.random.default_rng(3).integers(0, 2, len(arr)).astype(np.int32)
    scratch = np.empty(qd.algorithms.select_scratch_slots(len(arr)), np.uint32)
    for n in SIZES:
        out, num_out = np.zeros_like(arr), np.full(1, -1, np.int32)
        run(arr, flags, out, num_out, scratch, n)
        expected = arr[:n][flags[:n] == 1]
        assert num_out[0] == len(expected)
        np.testing.assert_array_equal(out[: len(expected)], expected)
        assert not out[len(expected) :].any()


@pytest.mark.parametrize("has_values", [False, True])
@pytest.mark.parametrize("dtype", SCALARS, ids=str)
def test_sorts(dtype, has_values):
    width = 8 * OF_NUMPY[dtype]().nbytes

    @qd.kernel
    def run(keys: one(dtype), tmp: one(dtype), values: one(), tmp_values: one(), scratch: one(qd.u32), n: one()):
        if qd.static(has_values):
            qd.algorithms.sort(keys, tmp, values, tmp_values, scratch, n[0], dtype, True, width, 3)
        else:
            qd.algorithms.sort(keys, tmp, keys, tmp, scratch, n[0], dtype, False, width, 3)

    given = sample(dtype, SIZES[-1])
    scratch = np.empty(qd.algorithms.sort_scratch_slots(len(given), 3), np.uint32)
    for n in SIZES:
        keys, values = given.copy(), np.arange(len(given), dtype=np.int32)
        run(keys, np.empty_like(keys), values, np.empty_like(values), scratch, np.array([n], np.int32))
        order = np.argsort(given[:n], kind="stable")
        np.testing.assert_array_equal(keys[:n], given[:n][order])
        np.testing.assert_array_equal(keys[n:], given[n:])
        np.testing.assert_array_equal(values[:n], order if has_values else np.arange(n))


def test_a_million_elements_and_the_largest_depth():
    if qd.cfg.arch == qd.amdgpu:
        pytest.skip("minutes in the oracle")

    @qd.kernel
    def run(
        arr: one(), keys: one(), tmp: one(), values: one(), tmp_values: one(), prefixes: one(), out: one(), flags: one(), kept: one(), num_kept: one(),
        runs: one(), sums: one(), num_runs: one(), scratch: one(qd.u32), n: one(),
    ):  # fmt: skip
        qd.algorithms.exclusive_scan_add(arr, prefixes, scratch, n[0], qd.i32, 4)
        qd.algorithms.reduce_max(arr, out, scratch, n[0], qd.i32, 4)
        qd.algorithms.select(arr, flags, kept, num_kept, scratch, n[0], 4)
        qd.algorithms.sort(keys, tmp, values, tmp_values, scratch, n[0], qd.i32, True, 32, 4)
        qd.algorithms.reduce_by_key_add(keys, flags, runs, sums, num_runs, scratch, n[0], qd.i32, 4)

    size = 10**6
    random = np.random.default_rng(6)
    arr, flags = random.integers(-(2**31), 2**31, size).astype(np.int32), random.integers(0, 2, size).astype(np.int32)
    few = random.integers(-500, 500, size).astype(np.int32)
    slots = [getattr(qd.algorithms, f"{each}_scratch_slots")(size, 4) for each in ("sort", "exclusive_scan", "reduce")]
    slots += [getattr(qd.algorithms, f"{each}_scratch_slots")(size) for each in ("select", "reduce_by_key")]
    scratch = np.empty(max(slots), np.uint32)
    for n in (size, 65537, 0, 777_777):
        keys, values, prefixes, out = few.copy(), np.arange(size, dtype=np.int32), np.zeros_like(arr), np.zeros(1, np.int32)
        kept, runs, sums, (num_kept, num_runs) = np.zeros_like(arr), np.zeros_like(arr), np.zeros_like(arr), np.zeros((2, 1), np.int32)
        work = np.empty((2, size), np.int32)
        run(arr, keys, work[0], values, work[1], prefixes, out, flags, kept, num_kept, runs, sums, num_runs, scratch, np.array([n], np.int32))
        expected = combined("add", arr[:n])
        np.testing.assert_array_equal(prefixes[:n], expected[:n])
        assert out[0] == (arr[:n].max() if n else -(2**31))
        np.testing.assert_array_equal(kept[: num_kept[0]], arr[:n][flags[:n] == 1])
        order = np.argsort(few[:n], kind="stable")
        np.testing.assert_array_equal(keys[:n], few[:n][order])
        np.testing.assert_array_equal(values[:n], order)
        numbers, groups = np.unique(few[:n][order], return_inverse=True)
        np.testing.assert_array_equal(runs[: num_runs[0]], numbers)
        np.testing.assert_array_equal(sums[: num_runs[0]], np.bincount(groups, flags[:n], len(numbers)))


def test_a_sort_orders_by_bits():
    @qd.kernel
    def run(keys: one(qd.f32), tmp: one(qd.f32), scratch: one(qd.u32), n: qd.i32):
        qd.algorithms.sort(keys, tmp, keys, tmp, scratch, n, qd.f32, False, 32, 1)

    keys = np.array([np.nan, 0.0, -np.inf, -0.0, 1.0, np.inf, -1.0], np.float32)
    keys = np.append(keys, -np.nan).astype(np.float32)
    keys[-1] = np.array(0xFFC00000, np.uint32).view(np.float32)
    run(keys, np.empty_like(keys), np.empty(qd.algorithms.sort_scratch_slots(8, 1), np.uint32), 8)
    assert np.isnan(keys[[0, 7]]).all()
    assert keys[1:7].view(np.uint32).tolist() == np.array([-np.inf, -1, -0.0, 0.0, 1, np.inf], np.float32).view(np.uint32).tolist()


@pytest.mark.parametrize("keys_of, values_of", [(qd.i32, qd.f32), (qd.u32, qd.i32), (qd.f32, qd.u32)])
def test_runs(keys_of, values_of):
    @qd.kernel
    def run(
        keys: one(keys_of), values: one(values_of), keys_out: one(keys_of), values_out: one(values_of),
        runs: one(), scratch: one(qd.u32), n: qd.i32,
    ):  # fmt: skip
        qd.algorithms.reduce_by_key_add(keys, values, keys_out, values_out, runs, scratch, n, values_of, 3)

    random = np.random.default_rng(5)
    keys = np.repeat(random.integers(0, 9, SIZES[-1]), random.integers(1, 5, SIZES[-1]))[: SIZES[-1]].astype(OF_NUMPY[keys_of])
    values = sample(values_of, len(keys))
    scratch = np.empty(qd.algorithms.reduce_by_key_scratch_slots(len(keys)), np.uint32)
    for n in SIZES:
        keys_out, values_out, runs = np.zeros_like(keys), np.zeros_like(values), np.full(1, -1, np.int32)
        run(keys, values, keys_out, values_out, runs, scratch, n)
        begins = np.flatnonzero(np.append(True, keys[1:n] != keys[: n - 1])) if n else np.array([], int)
        assert runs[0] == len(begins)
        np.testing.assert_array_equal(keys_out[: len(begins)], keys[begins])
        with np.errstate(over="ignore"):
            sums = np.add.reduceat(values[:n], begins, dtype=values.dtype) if n else values[:0]
        np.testing.assert_array_equal(values_out[: len(begins)], sums)


def test_several_among_other_tasks():
    """A kernel as programs have it: the sum of the squares of the elements above a bound, by two algorithms and two loops."""

    @qd.func
    def keep(arr, flags, bound):
        for i in range(arr.shape[0]):
            flags[i] = arr[i] > bound

    @qd.kernel
    def run(
        arr: one(), flags: one(), kept: one(), num: one(), out: one(), scratch: one(qd.u32), n: qd.types.NDArray[qd.i32, 0]
    ) -> qd.i32:
        keep(arr, flags, 50)
        total = 0
        qd.algorithms.select(arr, flags, kept, num, scratch, n, 2)
        for i in range(num[0]):
            kept[i] = kept[i] * kept[i]
        qd.algorithms.reduce_add(kept, out, scratch, num[0], qd.i32, log256_max_n=2)
        total = out[0] + 1
        return total

    arr = np.random.default_rng(1).integers(0, 100, 5000).astype(np.int32)
    slots = max(qd.algorithms.select_scratch_slots(5000), qd.algorithms.reduce_scratch_slots(5000, 2))
    work = [np.zeros_like(arr) for _ in range(2)]
    small = [np.zeros(1, np.int32) for _ in range(2)]
    assert run(arr, *work, *small, np.empty(slots, np.uint32), np.array(5000, np.int32)) == (arr[arr > 50] ** 2).sum() + 1


def test_counts_are_computed_and_kept():
    @qd.kernel
    def run(arr: one(), out: one(), scratch: one(qd.u32), m: qd.i32):
        n = 0
        for i in range(m):
            qd.atomic_add(n, 1)
        qd.algorithms.reduce_add(arr, out, scratch, n, qd.i32, 2)
        for i in range(1):
            out[1] = out[0]
        qd.algorithms.reduce_add(arr, out, scratch, n - arr[2] * 3, qd.i32, 2)

    arr, out = np.arange(1000, dtype=np.int32), np.zeros(2, np.int32)
    run(arr, out, np.empty(8, np.uint32), 700)
    assert out.tolist() == [sum(range(694)), sum(range(700))]


def test_counts_that_functions_are_given():
    """One thread writes a value down once, whatever is done with it; a place that has one stays where it is."""

    @qd.func
    def ends(arr, out, scratch, n, at: qd.template()):
        qd.algorithms.reduce_add(arr, out, scratch, n, qd.i32, 2)
        out[at] = out[0]
        qd.algorithms.reduce_max(arr, out, scratch, n, qd.i32, 2)
        out[at + 1] = out[0]

    @qd.func
    def by_place(arr, out, scratch, n: qd.template(), at: qd.template()):
        ends(arr, out, scratch, n, at)
        n += 1

    @qd.kernel
    def run(arr: one(), out: one(), scratch: one(qd.u32), n: qd.types.NDArray[qd.i32, 0], m: qd.i32):
        ends(arr, out, scratch, n[None] - arr[1], 1)
        last = n[None] - 100
        by_place(arr, out, scratch, last, 3)
        ends(arr, out, scratch, last, 5)
        ends(arr, out, scratch, n, 7)
        ends(arr, out, scratch, 50, 9)

    @qd.kernel
    def known(arr: one(), out: one(), scratch: one(qd.u32), n: qd.i32):
        ends(arr, out, scratch, n, 1)
        ends(arr, out, scratch, n, 3)
        ends(arr, out, scratch, arr.shape[0], 5)
        ends(arr, out, scratch, 50, 7)
        qd.algorithms.reduce_add(arr, out, scratch, n, qd.i32, 2)

    arr, out, scratch = np.arange(1000, dtype=np.int32), np.zeros(11, np.int32), np.empty(8, np.uint32)
    run(arr, out, scratch, np.array(500, np.int32), 0)
    wanted = [(sum(range(n)), n - 1) for n in (499, 400, 401, 500, 50)]
    assert out.tolist()[1:] == [each for pair in wanted for each in pair]
    known(arr, out, scratch, 700)
    wanted = [(sum(range(n)), n - 1) for n in (700, 700, 1000, 50)]
    assert out.tolist()[:9] == [sum(range(700)), *(each for pair in wanted for each in pair)]
    # The three counts, and the two statements of each call.
    assert known.record().count(": Task(") == 3 + 4 * 2


def test_types_of_python():
    @qd.kernel
    def run(arr: qd.types.NDArray[float, 1], out: qd.types.NDArray[float, 1], scratch: one(qd.u32), n: int):
        qd.algorithms.reduce_add(arr, out, scratch, n, float, 2)

    arr, out = np.arange(300, dtype=np.float32), np.zeros(1, np.float32)
    run(arr, out, np.empty(qd.algorithms.reduce_scratch_slots(300, 2), np.uint32), 300)
    assert out[0] == 44850


def test_sums_that_are_deterministic():
    @qd.kernel
    def run(arr: one(qd.f32), out: one(qd.f32), scratch: one(qd.u32), n: qd.i32):
        qd.algorithms.reduce_add(arr, out, scratch, n, qd.f32, 3, deterministic=True)

    arr = np.random.default_rng(0).random(100_000, np.float32)
    scratch = np.empty(qd.algorithms.reduce_scratch_slots(len(arr), 3), np.uint32)
    sums = []
    for _ in range(3):
        out = np.zeros(1, np.float32)
        run(arr, out, scratch, len(arr))
        sums.append(out.tobytes())
    assert len(set(sums)) == 1
    np.testing.assert_allclose(np.frombuffer(sums[0], np.float32), arr.sum(dtype=np.float64), rtol=1e-5)


# Scratch.


def test_scratch_slots():
    slots = qd.algorithms
    assert slots.exclusive_scan_scratch_slots(1_000_000) == slots.exclusive_scan_scratch_slots(1_000_000, 3)
    assert [slots.reduce_scratch_slots(n, 1) for n in (0, 1, 256)] == [1, 1, 1]
    assert slots.select_scratch_slots(N=1000) >= 1000

    @qd.kernel
    def k(n: qd.i32) -> (qd.i32, qd.i32, qd.i32, qd.i32, qd.i32, qd.i32):
        return (
            qd.algorithms.reduce_scratch_slots(n, 3), qd.algorithms.exclusive_scan_scratch_slots(n, 3),
            qd.algorithms.sort_scratch_slots(n, 2), qd.algorithms.select_scratch_slots(n),
            qd.algorithms.reduce_by_key_scratch_slots(n), qd.algorithms.sort_scratch_slots(1000, D),
        )  # fmt: skip

    for n in [0, 1, 256, 257, 65536, 65537, 10**6]:
        assert k(n) == (
            slots.reduce_scratch_slots(n, 3), slots.exclusive_scan_scratch_slots(n, 3), slots.sort_scratch_slots(n, 2),
            slots.select_scratch_slots(n), slots.reduce_by_key_scratch_slots(n), slots.sort_scratch_slots(1000, D),
        )  # fmt: skip
    for wrong, message in [((1, 5), "log256_max_n=5 exceeds the maximum of 4"), ((1, 0), "log256_max_n=0"), ((-1,), "not negative")]:
        with pytest.raises(ValueError, match=message):
            qd.algorithms.reduce_scratch_slots(*wrong)


# Errors.

CALL = "reduce_add(a, out, scratch, n[0], qd.i32, 2)"


@pytest.mark.parametrize(
    "call, error, message",
    [
        ("reduce_add(a, out, scratch, n[0], qd.i32, 5)", ValueError, "log256_max_n=5 exceeds the maximum of 4"),
        ("reduce_add(a, out, scratch, n[0], qd.i16, 2)", NotImplementedError, "i16 is not supported"),
        ("reduce_add(a, out, scratch, n[0], qd.f32, 2)", TypeError, "'arr' is of f32, and not of i32"),
        ("reduce_add(a, 3, scratch, n[0], qd.i32, 2)", TypeError, "'out' is an array of one dimension, and not int"),
        ("reduce_add(a, b, scratch, n[0], qd.i32, 2)", TypeError, "'out' is an array of one dimension, and not of 2"),
        ("reduce_add(w, w, scratch, n[0], qd.i64, 2)", TypeError, "'scratch' is of u64 or i64, and not of u32"),
        ("reduce_add(a, out, scratch, f, qd.i32, 2)", TypeError, "'n' is an integer, and not 'f32'"),
        ("reduce_add(a, out, scratch, a, qd.i32, 2)", TypeError, "'n' is a number, and not an array"),
        ("reduce_add(a, out, scratch)", TypeError, "missing a required argument: 'n'"),
        ("exclusive_scan_add(a, a, scratch, n[0], qd.i32, 2)", ValueError, "'out' is a buffer of its own"),
        ("sort(a, out, a, out, scratch, n[0], qd.i32, False, 24, 2)", ValueError, "end_bit=24 is no multiple of 16 up to 32"),
        ("sort(a, out, a, out, scratch, n[0], qd.i32, False, 64, 2)", ValueError, "end_bit=64 is no multiple of 16 up to 32"),
        ("reduce_by_key_add(a, w, out, w, n, scratch, n[0], qd.i64, 2)", NotImplementedError, "i64 is not supported"),
        ("select(a, w, out, n, scratch, n[0], 2)", TypeError, "'flags' is of i32, and not of i64"),
    ],
)
def test_errors_have_a_place(module, call, error, message):
    program = module(
        "@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 1], b: qd.types.NDArray[qd.i32, 2], out: qd.types.NDArray[qd.i32, 1],\n"
        "      w: qd.types.NDArray[qd.i64, 1], scratch: qd.types.NDArray[qd.u32, 1], n: qd.types.NDArray[qd.i32, 1], f: qd.f32):\n"
        f"    qd.algorithms.{call}\n"
    )
    i32, i64 = np.zeros(4, np.int32), np.zeros(4, np.int64)
    with pytest.raises(error, match=f"(?s)qd.algorithms.*\\^.*{message}") as raised:
        program.k(i32, np.zeros((2, 2), np.int32), i32.copy(), i64, np.zeros(4, np.uint32), i32.copy(), 1.0)
    assert isinstance(raised.value, qd.QuadrantsCompilationError)


@pytest.mark.parametrize("around", ["if n[0] > 1:", "while n[0] > 1:", "for i in range(2):"])
def test_algorithms_are_for_the_top_level(module, around):
    program = module(
        "@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 1], out: qd.types.NDArray[qd.i32, 1], scratch: qd.types.NDArray[qd.u32, 1],\n"
        f"      n: qd.types.NDArray[qd.i32, 1]):\n    {around}\n        qd.algorithms.{CALL}\n"
    )
    a = np.zeros(2, np.int32)
    with pytest.raises(qd.QuadrantsSyntaxError, match="requires_top_level=True and must be called at the top level"):
        program.k(a, a.copy(), np.zeros(4, np.uint32), a.copy())


def test_python_does_not_call_them():
    with pytest.raises(qd.QuadrantsRuntimeError, match="cannot be called from Python-scope"):
        qd.algorithms.reduce_add(1, 2, 3, 4, qd.i32, 1)


def test_what_is_written_is_not_read_only():
    @qd.kernel
    def run(arr: one(), out: one(), scratch: one(qd.u32), n: qd.i32):
        qd.algorithms.reduce_add(arr, out, scratch, n, qd.i32, 1)

    arr, out, scratch = np.ones(5, np.int32), np.zeros(1, np.int32), np.zeros(1, np.uint32)
    arr.flags.writeable = False
    run(arr, out, scratch, 5)
    assert out[0] == 5
    out.flags.writeable = False
    with pytest.raises(qd.QuadrantsRuntimeError, match="'out' is written to, but the array is read-only"):
        run(arr, out, scratch, 5)


def test_buffers_that_share_memory():
    @qd.kernel
    def sort(keys: one(), tmp: one(), values: one(), tmp_values: one(), scratch: one(qd.u32), has_values: qd.template()):
        qd.algorithms.sort(keys, tmp, values, tmp_values, scratch, keys.shape[0], qd.i32, has_values, 32, 1)

    @qd.kernel
    def scan(arr: one(), out: one(), total: one(), scratch: one(qd.u32)):
        qd.algorithms.exclusive_scan_add(arr, out, scratch, 100, qd.i32, 1)
        qd.algorithms.reduce_add(arr, total, scratch, 100, qd.i32, 1)

    def array(values=range(100, 0, -1)):
        made = qd.ndarray(qd.i32, len(values))
        made.from_numpy(np.array(values))
        return made

    scratch = qd.ndarray(qd.u32, qd.algorithms.sort_scratch_slots(100, 1))
    keys, tmp = array(), array()
    # Those of no values are not used.
    sort(keys, tmp, keys, tmp, scratch, False)
    assert keys.to_numpy().tolist() == [*range(1, 101)]
    keys, out = array(), array()
    # A sum may be put in the place of an element.
    scan(keys, out, keys, scratch)
    assert out[2] == 199 and keys[0] == 5050
    for _ in range(2):
        with pytest.raises(qd.QuadrantsRuntimeError, match=r"(?s)File .*qd\.algorithms\.sort\(.*\^.*sort: 'keys' and 'tmp_keys' share memory"):
            sort(keys, keys, out, tmp, scratch, True)
        with pytest.raises(qd.QuadrantsRuntimeError, match="sort: 'tmp_keys' and 'values' share memory"):
            sort(keys, out, out, tmp, scratch, True)
        with pytest.raises(qd.QuadrantsRuntimeError, match="exclusive_scan_add: 'arr' and 'out' share memory"):
            scan(keys, keys, out, scratch)
    sort(keys, tmp, out, array(), scratch, True)
    if qd.cfg.arch == qd.cpu:
        both = np.zeros(150, np.int32)
        with pytest.raises(qd.QuadrantsRuntimeError, match="exclusive_scan_add: 'arr' and 'out' share memory"):
            scan(both[:100], both[50:], out, scratch)
        # Each is copied.
        both = np.ones(200, np.int32)
        scan(both[::2], both[1::2], out, scratch)
        assert both[1::2].tolist() == [*range(100)]


def test_signatures():
    for name in ("reduce_min", "exclusive_scan_max"):
        parameters = list(inspect.signature(getattr(qd.algorithms, name)).parameters)
        assert parameters[:6] == ["arr", "out", "scratch", "n", "dtype", "log256_max_n"]
    assert str(inspect.signature(qd.algorithms.sort_scratch_slots)) == "(N, log256_max_n=None)"
