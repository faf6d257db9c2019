"""`qd.simt.subgroup`: each operation against NumPy."""

import inspect
import warnings

import numpy as np
import pytest

import qd
from qd.simt import subgroup

OF_NUMPY = {
    qd.i32: np.int32, qd.u32: np.uint32, qd.f16: np.float16, qd.f32: np.float32, qd.i64: np.int64, qd.u64: np.uint64, qd.f64: np.float64,
}  # fmt: skip


def one(dtype=qd.i32):
    return qd.types.NDArray[dtype, 1]


def sample(dtype, size):
    """Numbers whose sums and products are exact."""
    random = np.random.default_rng(size)
    # Products of many threes have more bits than floats.
    numbers = 2 ** random.integers(0, 3, size) if dtype.is_real else random.integers(1, 4, size)
    return numbers.astype(OF_NUMPY[dtype])


def on_lanes(operations, dtype, sizes):
    """For each size: values of as many lanes, and what each operation gives them, a column each. An operation is a name, and
    log2 of the lanes of a tile or None."""
    calls = []
    for name, log2_size in operations:
        suffix, more = ("", ()) if log2_size is None else ("_tiled", (log2_size,))
        calls.append((getattr(subgroup, name + suffix), more))

    @qd.kernel
    def k(a: one(dtype), out: qd.types.NDArray[dtype, 2]):
        for i in a:
            for column in qd.static(range(len(calls))):
                out[i, column] = calls[column][0](a[i], *calls[column][1])

    for size in sizes:
        a = sample(dtype, size)
        out = np.zeros((size, len(calls)), OF_NUMPY[dtype])
        k(a, out)
        yield a, out


def tiles(values, lanes):
    return [values[at : at + lanes] for at in range(0, len(values), lanes)]


def test_part_of_a_subgroup():
    @qd.kernel
    def lanes(o: one()):
        qd.loop_config(block_dim=16)
        for i in range(16):
            o[i] = subgroup.inclusive_add_tiled(i, 2)

    o = np.zeros(16, np.int32)
    lanes(o)
    assert o.tolist() == [0, 1, 3, 6, 4, 9, 15, 22, 8, 17, 27, 38, 12, 25, 39, 54]


# Each operation.

FUNCTIONS = {
    "add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


def identity(name, of):
    is_real = np.issubdtype(of, np.floating)
    return {
        "add": 0, "mul": 1, "or": 0, "xor": 0, "and": None if is_real else ~of(0),
        "min": np.inf if is_real else np.iinfo(of).max, "max": -np.inf if is_real else np.iinfo(of).min,
    }[name]  # fmt: skip


@pytest.mark.parametrize("dtype", OF_NUMPY, ids=str)
def test_reductions(dtype):
    asked = [("add", None), ("add", 0), ("add", 2), ("min", None), ("max", subgroup.log2_group_size())]
    operations = [(f"{form}_{name}", log2_size) for form in ("reduce", "reduce_all") for name, log2_size in asked]
    for a, out in on_lanes(operations, dtype, [1, 31, 64, 77]):
        for column, (operation, log2_size) in enumerate(operations):
            lanes = subgroup.group_size() if log2_size is None else 1 << log2_size
            expected = [FUNCTIONS[operation.rpartition("_")[2]].reduce(tile) for tile in tiles(a, lanes)]
            if operation.startswith("reduce_all"):
                np.testing.assert_array_equal(out[:, column], np.repeat(expected, lanes)[: len(a)].astype(a.dtype))
            else:
                np.testing.assert_array_equal(out[::lanes, column], np.array(expected, a.dtype))


@pytest.mark.parametrize("dtype", OF_NUMPY, ids=str)
def test_scans(dtype):
    of = OF_NUMPY[dtype]
    # Bits are the same whatever the sign, and tiles whatever the type.
    names = [name for name in FUNCTIONS if name not in ("and", "or", "xor") or dtype in (qd.i32, qd.u64)]
    most = min(3, subgroup.log2_group_size())
    operations = [(f"{form}_{name}", None) for form in ("inclusive", "exclusive") for name in names]
    if dtype in (qd.i32, qd.f64):
        operations += [("inclusive_min", most), ("exclusive_add", most)]
    for a, out in on_lanes(operations, dtype, [19, 64]):
        for column, (operation, log2_size) in enumerate(operations):
            form, name = operation.split("_")
            with np.errstate(over="ignore"):
                expected = [FUNCTIONS[name].accumulate(tile, dtype=of) for tile in tiles(a, subgroup.group_size() if log2_size is None else 1 << log2_size)]
            if form == "exclusive":
                expected = [np.append(of(identity(name, of)), each[:-1]).astype(of) for each in expected]
            np.testing.assert_array_equal(out[:, column], np.concatenate(expected))


def test_bits_of_floats_are_not_combined():
    with pytest.raises(qd.QuadrantsTypeError, match="takes integral inputs only, however 'f32' is provided"):
        list(on_lanes([("inclusive_xor", None)], qd.f32, [32]))


@pytest.mark.parametrize("log2_size", [None, pytest.param(3, marks=pytest.mark.lanes(8))])
def test_segments(log2_size):
    suffix, more = ("", ()) if log2_size is None else ("_tiled", (log2_size,))
    names = ["add", "min", "max"]
    operations = [getattr(subgroup, f"segmented_reduce_{name}{suffix}") for name in names]
    lanes = subgroup.group_size() if log2_size is None else 1 << log2_size

    @qd.kernel
    def k(a: one(), heads: one(), out: qd.types.NDArray[qd.i32, 2]):
        for i in a:
            for column in qd.static(range(3)):
                out[i, column] = operations[column](a[i], heads[i], *more)

    a, heads = sample(qd.i32, 64), np.random.default_rng(4).integers(0, 3, 64).astype(np.int32) * 7
    out = np.zeros((64, 3), np.int32)
    k(a, heads, out)
    for i in range(64):
        first = i // lanes * lanes
        head = max([j for j in range(first, i + 1) if heads[j]], default=first)
        assert out[i].tolist() == [FUNCTIONS[name].reduce(a[head : i + 1]) for name in names]


@pytest.mark.parametrize("log2_size", [None, 0, pytest.param(3, marks=pytest.mark.lanes(8))])
def test_votes(log2_size):
    suffix, more = ("", ()) if log2_size is None else ("_tiled", (log2_size,))
    lanes = subgroup.group_size() if log2_size is None else 1 << log2_size
    all_true, any_true, all_equal = (getattr(subgroup, name + suffix) for name in ("all_true", "any_true", "all_equal"))

    @qd.kernel
    def k(a: one(qd.f32), out: qd.types.NDArray[qd.i32, 2]):
        for i in range(a.shape[0]):
            out[i, 0], out[i, 1], out[i, 2] = all_true(a[i], *more), any_true(a[i], *more), all_equal(a[i], *more)

    random = np.random.default_rng(6)
    a = np.repeat(random.integers(0, 2, 12), 8).astype(np.float32)
    a[random.integers(0, 96, 3)] = 0.5
    out = np.zeros((96, 3), np.int32)
    k(a, out)
    expected = [(tile.all(), tile.any(), (tile == tile[0]).all()) for tile in tiles(a, lanes) for _ in tile]
    np.testing.assert_array_equal(out, np.array(expected, np.int32))


def test_lanes_and_masks():
    @qd.kernel
    def k(out: qd.types.NDArray[qd.u64, 2]):
        for i in range(out.shape[0]):
            lane = subgroup.invocation_id()
            out[i, 0], out[i, 1], out[i, 2] = lane, subgroup.elect(), subgroup.ballot(lane % 3 == 0)
            out[i, 3], out[i, 4] = subgroup.lanemask_lt(lane), subgroup.lanemask_le(lane)
            out[i, 5], out[i, 6] = subgroup.lanemask_eq(lane), subgroup.lanemask_gt(lane)
            out[i, 7], out[i, 8] = subgroup.lanemask_ge(lane), subgroup.ballot_first_n(lane >= 0, 5)
            out[i, 9] = subgroup.group_size() * 10 + subgroup.log2_group_size()
            subgroup.sync()
            subgroup.mem_fence()

    out = np.zeros((64, 10), np.uint64)
    k(out)
    size, log2_size = subgroup.group_size(), subgroup.log2_group_size()
    # The masks have 32 bits, however many lanes there are, and are of the first 32.
    full = 2**32 - 1
    thirds = sum(1 << lane for lane in range(0, size, 3))
    for i, row in enumerate(out.tolist()):
        lane = i % size
        lt, eq = (1 << lane) - 1, 1 << lane
        assert row[:3] == [lane, lane == 0, thirds]
        assert row[8:] == [min(31, 2**size - 1), size * 10 + log2_size]
        if lane < 32:
            assert row[3:8] == [lt, lt | eq, eq, full & ~(lt | eq), full & ~lt]
    assert size == 2**log2_size
    assert size == 32 or qd.cfg.arch != qd.cpu


@pytest.mark.parametrize("size", [64, 50])
def test_moves(size):
    @qd.kernel
    def k(a: one(qd.i64), out: qd.types.NDArray[qd.i64, 2]):
        for i in a:
            out[i, 0], out[i, 1] = subgroup.shuffle_up(a[i], 3), subgroup.shuffle_down(a[i], qd.u32(5))
            out[i, 2], out[i, 3] = subgroup.shuffle_xor(a[i], 6), subgroup.broadcast(a[i], 2)
            out[i, 4] = subgroup.broadcast_first(a[i])

    a = np.random.default_rng(8).integers(-(2**62), 2**62, size)
    out = np.zeros((size, 5), np.int64)
    k(a, out)
    for tile, rows in zip(tiles(a, subgroup.group_size()), tiles(out, subgroup.group_size())):
        for lane, row in enumerate(rows.tolist()):
            # Of a lane that is not there it is the lane's own.
            read = lambda other: tile[other] if 0 <= other < len(tile) else tile[lane]  # noqa: B023, E731
            assert row == [read(lane - 3), read(lane + 5), read(lane ^ 6), read(2), tile[0]]


@pytest.mark.parametrize("log2_size", [1, pytest.param(3, marks=pytest.mark.lanes(8)), pytest.param(5, marks=pytest.mark.lanes(32))])
def test_sorts_of_tiles(log2_size):
    @qd.kernel
    def k(keys: one(qd.u32), values: one(qd.f64)):
        for i in keys:
            keys[i], values[i] = subgroup.bitonic_sort_kv_tiled(keys[i], values[i], log2_size)

    random = np.random.default_rng(3)
    keys, values = random.integers(0, 5, 64).astype(np.uint32), random.integers(-9, 9, 64).astype(np.float64)
    expected = [pair for tile in tiles(list(zip(keys, values)), 1 << log2_size) for pair in sorted(tile)]
    k(keys, values)
    assert list(zip(keys, values)) == expected


# Errors.


def test_older_names_are_told_of_once(monkeypatch):
    for name in ("barrier", "memory_barrier", "ballot_full_subgroup"):
        monkeypatch.setattr(subgroup, f"_{name}_deprecation_warned", False)

    @qd.kernel
    def k(out: one(qd.u64)):
        for i in out:
            subgroup.barrier()
            subgroup.memory_barrier()
            out[i] = subgroup.ballot_full_subgroup(i < 3)

    out = np.zeros(32, np.uint64)
    with pytest.warns(DeprecationWarning) as told:
        k(out)
    messages = [str(each.message) for each in told]
    assert len(messages) == 3 and set(out[: subgroup.group_size()]) == {7}
    assert messages[0] == "qd.simt.subgroup.barrier() is deprecated: use qd.simt.subgroup.sync()"
    qd.init(enable_fallback=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        k(out)


def test_older_names_are_functions_of_python(monkeypatch):
    """Each calls what has the newer name when it is called, from Python or in a kernel."""
    for name, now in (("barrier", "sync"), ("memory_barrier", "mem_fence"), ("ballot_full_subgroup", "ballot")):
        older, given = getattr(subgroup, name), [3] if name.startswith("ballot") else []
        monkeypatch.setattr(subgroup, f"_{name}_deprecation_warned", False)
        assert inspect.isfunction(older)
        with pytest.warns(DeprecationWarning, match=rf"qd\.simt\.subgroup\.{name}\(\) .* qd\.simt\.subgroup\.{now}\(\)") as told:
            with pytest.raises(qd.QuadrantsRuntimeError, match="cannot be called from Python-scope"):
                older(*given)
        assert [each.filename for each in told] == [__file__]
        calls = []
        monkeypatch.setattr(subgroup, now, lambda *args: (calls.append(args), 7)[1])  # noqa: B023
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert [older(*given), older(*given)] == [7, 7]
        assert calls == [tuple(given)] * 2
    assert list(inspect.signature(subgroup.ballot_full_subgroup).parameters) == ["predicate"]

    @qd.func
    def next_one(predicate):
        return predicate + 1

    monkeypatch.setattr(subgroup, "ballot", next_one)

    @qd.kernel
    def k(out: one()):
        for i in out:
            out[i] = subgroup.ballot_full_subgroup(i)

    out = np.zeros(3, np.int32)
    k(out)
    assert list(out) == [1, 2, 3]


# Of a tile that has more lanes than subgroups have here, or anywhere.
TOO_LARGE = r"log2_size(=\d: a subgroup has 2 \*\* \d lanes here| <= 6)"


@pytest.mark.parametrize(
    "body, error, message",
    [
        ("a[i] = subgroup.reduce_add_tiled(a[i], qd.static(subgroup.log2_group_size() + 1))", qd.QuadrantsCompilationError, TOO_LARGE),
        ("x, y = subgroup.bitonic_sort_kv_tiled(a[i], 1, qd.static(subgroup.log2_group_size() + 1))", qd.QuadrantsCompilationError, TOO_LARGE),
        ("x, y = subgroup.bitonic_sort_kv_tiled(a[i], 1, -1)", TypeError, "known while tracing, from 0 on"),
        ("a[i] = subgroup.segmented_reduce_add_tiled(a[i], 1, 7)", AssertionError, "log2_size <= 6"),
        ("a[i] = subgroup.reduce_add_tiled(a[i], a[i])", TypeError, "known while tracing"),
        ("a[i] = subgroup.shuffle(a[i], 1.5)", TypeError, "an index is an integer, and not 'f32'"),
        ("a[i] = subgroup.ballot_first_n(a[i], 33)", AssertionError, "n is from 1 to 32"),
        ("if a[i] > 0:\n            a[i] = subgroup.reduce_add(a[i])", qd.QuadrantsCompilationError, "control flow that is not uniform"),
    ],
)
def test_errors_have_a_place(module, body, error, message):
    program = module(
        "from qd.simt import subgroup\n@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 1]):\n    for i in a:\n        " + body + "\n"
    )
    with pytest.raises(error, match=f"(?s)subgroup.*\\^.*{message}"):
        program.k(np.zeros(32, np.int32))


def test_loops_whose_bounds_the_device_computes(module):
    """Their threads go over them in strides, and some lanes have a round more: what lanes do together is an error there, and inside of a
    loop that all do as often it is not."""

    @qd.kernel
    def k(n: qd.types.NDArray[qd.i32, 0], a: one(), out: qd.types.NDArray[qd.i32, 2]):
        for i in range(n[None]):
            out[i, 0], out[i, 1] = subgroup.invocation_id(), subgroup.elect()
            subgroup.mem_fence()
        for i in a:
            for j in range(n[None] - 38):
                out[i, 2] += subgroup.reduce_all_add(a[i])
            count = 0
            while count < n[None] // 10:
                count += subgroup.broadcast_first(a[i])
            out[i, 3] = count

    a, out = np.ones(64, np.int32), np.zeros((64, 4), np.int32)
    k(np.array(40, np.int32), a, out)
    lanes = np.arange(40) % subgroup.group_size()
    np.testing.assert_array_equal(out[:40, :2], np.stack([lanes, lanes == 0], 1))
    assert not out[40:, :2].any()
    assert (out[:, 2] == 2 * subgroup.group_size()).all() and (out[:, 3] == 4).all()
    of = module(
        "from qd.simt import subgroup, warp\n@qd.func\ndef sum_of(x):\n    return subgroup.reduce_add(x)\n"
        "@qd.kernel\ndef k(n: qd.types.NDArray[qd.i32, 0]):\n    for i in range(n[None]):\n        x = i\n        if i > 3:\n            x += sum_of(i)\n"
    )
    with pytest.raises(qd.QuadrantsSyntaxError, match=r"(?s)line 5, in sum_of:.*\^.*called from .*line 11, in k:.*loops whose bounds the host knows"):
        of.k(np.array(40, np.int32))


@pytest.mark.parametrize("block_dim", [1, 16, 33, 96, 1024])
@pytest.mark.parametrize("n", [1, 16, 1000])
def test_blocks_that_no_subgroups_fill(block_dim, n):
    """The last subgroup of each block has its first lanes, and that of the last block fewer."""

    @qd.kernel
    def k(a: one(), sums: one(), lanes: one(), next_ones: one()):
        qd.loop_config(block_dim=block_dim)
        for i in a:
            sums[i] = subgroup.reduce_all_add(a[i])
            lanes[i] = subgroup.invocation_id()
            next_ones[i] = subgroup.shuffle_down(a[i], qd.u32(1))

    a = np.random.default_rng(n).integers(-1000, 1000, n, np.int32)
    sums, lanes, next_ones = (np.zeros(n, np.int32) for _ in range(3))
    k(a, sums, lanes, next_ones)
    for begin in range(0, n, block_dim):
        block = a[begin : min(begin + block_dim, n)]
        for first in range(0, len(block), subgroup.group_size()):
            there = block[first : first + subgroup.group_size()]
            at = slice(begin + first, begin + first + len(there))
            assert (sums[at] == there.sum()).all()
            assert (lanes[at] == np.arange(len(there))).all()
            assert (next_ones[at] == np.append(there[1:], there[-1])).all()


def test_python_does_not_call_them():
    with pytest.raises(qd.QuadrantsRuntimeError, match="cannot be called from Python-scope"):
        subgroup.reduce_add(1)
