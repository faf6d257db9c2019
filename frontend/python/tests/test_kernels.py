"""Kernels over arrays: tasks, statements, arguments."""

import re

import numpy as np
import pytest

import qd


@qd.kernel
def twice(a: qd.types.NDArray[qd.f32, 1]):
    for i in range(a.shape[0]):
        a[i] = 2 * a[i]


@pytest.mark.parametrize("length", [0, 1, 5, 257, 10**7])
def test_every_element_is_doubled(length):
    x = np.arange(length, dtype=np.float32)
    twice(x)
    np.testing.assert_array_equal(x, 2 * np.arange(length, dtype=np.float32))


def test_one_compilation_serves_all_lengths():
    twice(np.zeros(3, np.float32))
    compiled = dict(twice._compiled)
    twice(np.zeros(300, np.float32))
    assert twice._compiled == compiled


def test_memory_is_borrowed_or_copied_back():
    x = np.arange(12, dtype=np.float32)
    twice(x[::3])
    twice(x[::-1])
    wanted = 2 * np.arange(12, dtype=np.float32)
    wanted[::3] *= 2
    np.testing.assert_array_equal(x, wanted)
    packed = np.zeros(4, np.dtype([("tag", "u1"), ("value", "f4")]))
    packed["value"] = 1
    twice(packed["value"])
    assert packed["value"].tolist() == [2, 2, 2, 2]


@qd.kernel
def shift(a: qd.types.ndarray(), b: qd.types.ndarray, by: int):
    n = b.shape[0] - by
    for i in range(n):
        b[i] = a[i + by] * 2


@pytest.mark.host
def test_arrays_may_overlap_and_have_any_type():
    for dtype in (np.int8, np.uint16, np.int64, np.float64):
        a = np.arange(100).astype(dtype)
        b = np.zeros(100, dtype)
        shift(a, b, 3)
        np.testing.assert_array_equal(b[:97], a[3:] * dtype(2))
        shift(a[:50], a[50:], 0)
        np.testing.assert_array_equal(a[50:], a[:50] * dtype(2))
        shift(a, a, 0)
        np.testing.assert_array_equal(a[:50], np.arange(50).astype(dtype) * dtype(2))


def test_booleans_are_bytes():
    @qd.kernel
    def both(a: qd.types.NDArray[qd.u1], b: qd.types.NDArray[qd.u1], n: qd.types.NDArray[qd.i32]):
        for i in range(len(a)):
            n[i] = 1 if a[i] and not b[i] else 0
            b[i] = a[i] != b[i]

    a, b, n = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool), np.zeros(4, np.int32)
    both(a, b, n)
    assert (b.tolist(), n.tolist()) == ([False, True, True, False], [0, 0, 1, 0])


def test_read_only_arrays_are_read():
    @qd.kernel
    def copy(a: qd.types.NDArray[qd.f32], b: qd.types.NDArray[qd.f32]):
        for i in range(a.shape[0]):
            b[i] = a[i]

    a, b = np.ones(4, np.float32), np.zeros(4, np.float32)
    a.flags.writeable = False
    copy(a, b)
    assert b.tolist() == [1, 1, 1, 1]
    with pytest.raises(qd.QuadrantsRuntimeError, match="'b' is written to, but the array is read-only"):
        copy(b, a)


@qd.kernel
def statements(a: qd.types.NDArray[qd.i32, 1], b: qd.types.NDArray[qd.i32, 1], k: qd.i32):
    """Tasks and what lies between them."""
    half = a.shape[0] // 2
    scale = 2 * k
    a[0] = 100
    for i in range(1, half):
        a[i] = i * scale
    for i in range(half, a.shape[0]):
        a[i] = -i
    total = 0
    for_odd = 0
    b[0], b[1] = 0, 1
    if k > 2:
        total = a[1]
    elif k == 2:
        total = a[2]
    else:
        total = a[3]
        for_odd += 1
    b[2] = total
    b[3] = for_odd


def test_tasks_run_in_program_order():
    for k in (1, 2, 3):
        a, b = np.zeros(9, np.int32), np.full(4, 7, np.int32)
        statements(a, b, k)
        assert a.tolist() == [100, 2 * k, 4 * k, 6 * k, -4, -5, -6, -7, -8]
        assert b.tolist() == [0, 1, a[{1: 3, 2: 2, 3: 1}[k]], int(k == 1)]


@qd.kernel
def collatz(n: qd.types.NDArray[qd.i64, 1], steps: qd.types.NDArray[qd.i32, 1]):
    for i in range(n.shape[0]):
        x = n[i]
        count = 0
        while x != 1:
            if x % 2 == 0:
                x //= 2
            else:
                x = 3 * x + 1
            count += 1
        steps[i] = count


@qd.kernel
def primes(found: qd.types.NDArray[qd.i32, 1]):
    for i in range(found.shape[0]):
        if i < 2:
            continue
        is_prime = True
        for d in range(2, i):
            if d * d > i:
                break
            if i % d == 0:
                is_prime = False
                break
        found[i] = is_prime


@qd.kernel
def odd_below(n: qd.i32, most: qd.i32) -> (qd.i32, qd.i32):
    total = 0
    rounds = 0
    i = 0
    while True:
        i += 1
        if i >= n:
            break
        for j in range(2):
            if j == 0:
                continue
            rounds += j
        if i % 2 == 0:
            continue
        if total + i > most:
            break
        total += i
    return total, rounds


def test_loops_and_branches():
    n = np.array([1, 2, 3, 7, 27, 97], np.int64)
    steps = np.zeros(6, np.int32)
    collatz(n, steps)
    assert steps.tolist() == [0, 1, 7, 16, 111, 118]
    found = np.zeros(50, np.int32)
    primes(found)
    assert np.flatnonzero(found).tolist() == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
    assert odd_below(10, 1000) == (25, 9)
    assert odd_below(1000, 30) == (25, 11)


def test_operands_that_do_not_matter_are_not_computed():
    @qd.kernel
    def at(a: qd.types.NDArray[qd.i32], out: qd.types.NDArray[qd.i32]):
        for i in range(out.shape[0]):
            n = a.shape[0]
            # Far outside: to read there would end the process.
            far = (i + 1) * 500000000
            is_inside = far < n and a[far] > 0
            is_outside = far >= n or a[far] > 0
            out[i] = (a[far] if is_inside else 7) + is_outside
            if 0 <= far < n and a[far] == 1:
                out[i] = 0

    out = np.zeros(3, np.int32)
    at(np.ones(3, np.int32), out)
    assert out.tolist() == [8, 8, 8]


def test_variables_keep_their_first_type():
    @qd.kernel
    def k(x: qd.f32) -> (qd.i32, qd.f32):
        n = 1
        n = n + x
        y: qd.f32 = 3
        y += 0.25
        a = b = n
        a, b = b, a + 1
        return n + a - a, y * b / b

    assert k(2.75) == (3, 3.25)


def test_elements_are_added_to_atomically():
    @qd.kernel
    def count(n: qd.i32, ones: qd.types.NDArray[qd.i32], halves: qd.types.NDArray[qd.f64], bits: qd.types.NDArray[qd.u32]):
        for i in range(n):
            ones[0] += 1
            ones[1] -= 2
            halves[0] += 0.5
            bits[0] |= 1 << (i % 32)
            bits[1] ^= i
        ones[2] *= 5

    ones, halves, bits = np.array([0, 0, 3], np.int32), np.zeros(1), np.zeros(2, np.uint32)
    count(100000, ones, halves, bits)
    assert ones.tolist() == [100000, -200000, 15]
    assert halves[0] == 50000
    assert bits.tolist() == [0xFFFFFFFF, int(np.bitwise_xor.reduce(np.arange(100000)))]


FACTOR = 3


def test_closures_and_globals_are_constants():
    offset = np.int64(5)

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return a * FACTOR + offset

    assert k(2) == 11


def test_scalars_are_numbers_or_arrays_of_rank_0():
    @qd.kernel
    def k(a: qd.i32, x: float = 0.5) -> float:
        return a * x

    assert k(4) == 2.0
    assert k(np.int32(4), x=np.array(2.0)) == 8.0
    assert k(x=1, a=3) == 3.0
    assert k(1, 1e300) == float("inf")
    assert k(1, -3.4028235e38) == -3.4028234663852886e38
    assert np.isnan(k(1, float("nan")))
    with pytest.raises(qd.QuadrantsRuntimeTypeError, match=r"Argument 1 \(type=.*ndarray.*\) cannot be converted into required type f32"):
        k(1, np.array([2.0]))


def test_kernels_are_compiled_again_after_reset():
    x = np.ones(2, np.float32)
    twice(x)
    qd.reset()
    assert qd.cfg is None
    with pytest.raises(qd.QuadrantsRuntimeError, match="qd.init has not been called"):
        twice(x)
    qd.init(cpu_max_num_threads=1)
    twice(x)
    qd.sync()
    assert x.tolist() == [4, 4]


def test_records_are_text():
    twice(np.zeros(1, np.float32))
    text = twice.record()
    assert re.match(r"record \d+ of twice in ", text)
    assert "argument 0: a f32[]" in text
    assert "Load(0) f32" in text


@qd.kernel
def first_only(a: qd.types.ndarray(), b: qd.types.ndarray()):
    for i in range(a.shape[0]):
        a[i] = a[i] + b[0]


def test_what_is_not_written_is_not_copied_back():
    x = np.arange(6, dtype=np.int32)
    read_only = x[::2].view()
    read_only.flags.writeable = False
    a = np.zeros(2, np.int32)
    first_only(a, read_only[::-1])
    assert a.tolist() == [4, 4]
    # Two that lie between each other share nothing.
    first_only(x[::2], x[1::2])
    assert x.tolist() == [1, 1, 3, 3, 5, 5]


def test_copies_share_no_memory():
    x = np.arange(6, dtype=np.int32)
    with pytest.raises(qd.QuadrantsRuntimeError, match="Argument 1 is not contiguous, and shares memory with argument 0"):
        first_only(x, x[::2])
    assert x.tolist() == list(range(6))


def test_lengths_are_i32():
    long = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (2**31,), (0,))
    with pytest.raises(qd.QuadrantsRuntimeError, match="is not a valid shape for ndarray"):
        twice_any(long)


@qd.kernel
def twice_any(a: qd.types.ndarray()):
    for i in range(a.shape[0]):
        a[i] = a[i] * 2


def test_what_was_compiled_is_explained():
    @qd.kernel
    def k(a: qd.types.ndarray(), n: qd.i32, op: qd.template()):
        for i in range(n):
            a[i] = op

    k(np.zeros(4, np.int32), 1, 7)
    k(np.zeros(4, np.float32), 1, 2.5)
    first, *rest = k.explain().split("\n")
    assert first == "k: 2 compiled in this process"
    for line, what in zip(rest, ["(i32[1-D], i32, 7)", "(f32[1-D], i32, 2.5)"]):
        assert re.fullmatch(rf"  {re.escape(what)}: traced in [0-9.]+ ms, compiled in [0-9.]+ ms", line)


def test_slow_compilations_say_so(monkeypatch, capsys):
    monkeypatch.setattr("qd._kernel.SLOW", 1e-9)

    @qd.kernel
    def k(a: qd.types.ndarray()):
        for i in a:
            a[i] = a[i] + 1

    k(np.zeros(4, np.int32))
    assert "qd: compiling 'k' takes more than 1e-09 s" in capsys.readouterr().err
    monkeypatch.undo()
    k(np.zeros(4, np.int64))
    assert capsys.readouterr().err == ""


def test_options_of_the_environment(monkeypatch):
    monkeypatch.setenv("QD_CHECK_OUT_OF_BOUND", "true")
    monkeypatch.setenv("QD_UNROLLING_LIMIT", "5")
    monkeypatch.setenv("QD_DEBUG", "1")
    with pytest.warns(UserWarning, match="QD_DEBUG=1 is not used: qd.init is given debug=False"):
        qd.init(debug=False)
    assert (qd.cfg.check_out_of_bound, qd.cfg.unrolling_limit, qd.cfg.debug) == (True, 5, False)
    monkeypatch.setenv("QD_DEBUG", "maybe")
    with pytest.raises(ValueError, match="QD_DEBUG=maybe: 0 or 1 is expected"):
        qd.init()
    monkeypatch.setenv("QD_DEBUG", "0")
    monkeypatch.setenv("QD_UNROLLING_LIMIT", "-5")
    with pytest.raises(ValueError, match="QD_UNROLLING_LIMIT=-5: a number from 0 on is expected"):
        qd.init()
    monkeypatch.setenv("QD_UNROLLING_LIMIT", "5")
    monkeypatch.setenv("QD_RAISE_ON_TEMPLATED_FLOATS", "1")
    qd.init()
    assert qd.cfg.raise_on_templated_floats is True


@pytest.mark.host
def test_floats_are_no_templates_where_that_is_asked(module):
    kernels = module("""
@qd.kernel
def fill(a: qd.types.NDArray[qd.f32, 1], x: qd.Template):
    for i in a:
        a[i] = x

@qd.data_oriented
class Filler:
    def __init__(self, x):
        self.x = x

    @qd.kernel
    def fill(self, a: qd.types.NDArray[qd.f32, 1]):
        for i in a:
            a[i] = self.x
""")
    qd.init(raise_on_templated_floats=True)
    a = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match=r"Floats not allowed as templated types: argument 1 is 0.5"):
        kernels.fill(a, 0.5)
    with pytest.raises(ValueError, match="Floats not allowed as templated types"):
        kernels.fill(a, np.float64(0.5))
    kernels.fill(a, 2)
    assert a.tolist() == [2, 2, 2]
    kernels.Filler(0.5).fill(a)
    assert a.tolist() == [0.5, 0.5, 0.5]
    qd.init()
    kernels.fill(a, 1.5)
    assert a.tolist() == [1.5, 1.5, 1.5]


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.float32, np.float64])
def test_volatile_loads_are_loads(dtype):
    @qd.kernel
    def k(a: qd.types.NDArray, out: qd.types.NDArray, f: qd.types.NDArray[qd.i32, 0]) -> qd.i32:
        total = 0
        for i in a:
            out[i] = qd.volatile_load(a[i]) + qd.volatile_load(a[i])
            qd.atomic_add(total, qd.volatile_load(f[()]))
        once = qd.volatile_load(total)
        return once

    a, out = np.arange(7).astype(dtype), np.zeros(7, dtype)
    assert k(a, out, np.array(3, np.int32)) == 21
    assert (out == 2 * a).all()
    # Neither is the other's value.
    assert k.record().count("VolatileLoad") == 4


def test_atomics_of_booleans():
    @qd.kernel
    def k(flags: qd.types.NDArray[qd.u1, 1], old: qd.types.NDArray[qd.u1, 1], a: qd.types.NDArray[qd.i32, 1]):
        for i in a:
            qd.atomic_or(flags[0], a[i] > 5)
            qd.atomic_and(flags[1], a[i] > 5)
            qd.atomic_xor(flags[2], a[i] > 5)
            qd.atomic_max(flags[3], a[i] > 5)
            qd.atomic_min(flags[4], a[i] > 5)
            if i == 0:
                old[0] = qd.atomic_exchange(flags[5], a[i])
                old[1] = qd.atomic_cas(flags[6], False, True)
                old[2] = qd.atomic_cas(flags[7], False, True)
            if qd.volatile_load(flags[8]):
                old[3] = True

    for a in ([1, 2, 3], [7, 2, 9, 8], [6, 7]):
        a = np.array(a, np.int32)
        flags, old = np.array([0, 1, 0, 0, 1, 0, 0, 1, 1], bool), np.zeros(4, bool)
        k(flags, old, a)
        big = a > 5
        assert flags.tolist() == [big.any(), big.all(), big.sum() % 2 == 1, big.any(), big.all(), True, True, True, True]
        assert old.tolist() == [False, False, True, True]


def test_what_a_kernel_becomes_is_written(tmp_path, capsys, monkeypatch):
    @qd.kernel
    def doubled(a: qd.types.NDArray):
        for i in a:
            a[i] *= 2

    qd.init(enable_fallback=False, debug_dump_path=str(tmp_path / "dump"), print_ir=True)
    a, b = np.arange(3, dtype=np.int32), np.arange(3, dtype=np.float32)
    doubled(a)
    doubled(b)
    doubled(a)
    assert a.tolist() == [0, 4, 8]
    assert capsys.readouterr().out.count("qd.grid.kernel @doubled") == 2
    files = sorted(path.name for path in (tmp_path / "dump").iterdir())
    ends = ["0-algo.mlir", "1-grid.mlir", "2-plan.mlir", "3-subgroup.mlir", "4-target.mlir", "5-code.txt", "record.txt"]
    assert files == [f"doubled-{number}.{end}" for number in (0, 1) for end in ends]
    first = {end: (tmp_path / f"dump/doubled-0.{end}").read_text() for end in ends}
    assert "qd.grid.for_each" in first["0-algo.mlir"] and "qd.grid.phase" not in first["0-algo.mlir"]
    assert "qd.grid.launch" in first["2-plan.mlir"]
    assert first["record.txt"].startswith("record ")
    # Also what is found in the cache is written.
    for times in (1, 2):
        for variable in ("QD_DEBUG_DUMP_PATH", "QD_DUMP_IR"):
            folder = tmp_path / f"{variable}-{times}"
            monkeypatch.setenv(variable, str(folder))
            qd.init(enable_fallback=False, offline_cache_file_path=str(tmp_path / "caches"))
            doubled(a)
            assert len(list(folder.iterdir())) == 7
            monkeypatch.delenv(variable)
    assert "found in the cache" in doubled.explain()
    monkeypatch.setenv("QD_DUMP_IR", str(tmp_path / "other"))
    with pytest.warns(UserWarning, match="QD_DUMP_IR=.*other is not used: qd.init is given debug_dump_path=.*given"):
        qd.init(enable_fallback=False, debug_dump_path=str(tmp_path / "given"))
    doubled(a)
    assert (tmp_path / "given").exists() and not (tmp_path / "other").exists()


def test_parameters_that_have_to_be_named():
    @qd.kernel
    def k(a: qd.i32, /, b: qd.i32 = 5, *, c: qd.f32, d: qd.f32 = 0.5) -> qd.f32:
        return 100 * a + 10 * b + c + d

    for _ in range(2):
        assert (k(1, c=2.5), k(1, 2, c=1, d=0.25), k(1, d=1, b=0, c=0)) == (153.0, 121.25, 101.0)
        with pytest.raises(TypeError, match="k: too many positional arguments"):
            k(1, 2, 3.0, 4.0)
        with pytest.raises(TypeError, match="k: missing a required .*'c'"):
            k(1, 2)
