"""`qd.simt.block` and `qd.simt.grid`."""

import functools
import itertools

import numpy as np
import pytest

import qd
from qd.simt import block, grid, subgroup
from test_reductions import NOTHING, then

SIZES = [0, 1, 31, 32, 64, 100, 1000]


def one(dtype=qd.i32):
    return qd.types.NDArray[dtype, 1]


def skip_unless_whole(block_dim):
    """Skips where subgroups are too large for blocks of whole ones."""
    if block_dim % subgroup.group_size():
        pytest.skip(f"of subgroups that {block_dim} threads are a multiple of")


def blocks(values, block_dim):
    return [values[at : at + block_dim] for at in range(0, len(values), block_dim)]


@pytest.mark.parametrize("block_dim", [1, 20, 32, 64, 96, 256])
def test_threads_and_shared_memory(block_dim):
    @qd.kernel
    def reverse(a: one(qd.f64), b: one(qd.f64), numbers: qd.types.NDArray[qd.i32, 2]):
        qd.loop_config(block_dim=block_dim)
        for i in range(a.shape[0]):
            tile = block.SharedArray((block_dim,), qd.f64)
            thread = block.thread_idx()
            tile[thread] = a[i]
            block.sync()
            other = block_dim - 1 - thread
            first = i - thread
            if first + other < a.shape[0]:
                b[i] = tile[other]
            numbers[i, 0], numbers[i, 1] = thread, block.global_thread_idx()

    for size in SIZES:
        a, b, numbers = np.random.default_rng(size).random(size), np.full(size, -1.0), np.zeros((size, 2), np.int32)
        reverse(a, b, numbers)
        wanted = [a[i - i % block_dim + block_dim - 1 - i % block_dim] if i - i % block_dim + block_dim - 1 - i % block_dim < size else -1 for i in range(size)]
        assert b.tolist() == wanted
        assert numbers.tolist() == [[i % block_dim, i] for i in range(size)]


def test_blocks_of_which_nothing_is_said_have_128_threads():
    @qd.func
    def neighbour(value):
        """The value of the next thread of the block, or of its first."""
        tile = block.SharedArray(128, qd.i32)
        tile[block.thread_idx()] = value
        block.sync()
        return tile[(block.thread_idx() + 1) % 128]

    @qd.kernel
    def k(n: qd.i32, a: qd.types.NDArray[qd.i32, 2]):
        for i in range(200):
            a[i, 0], a[i, 1] = block.thread_idx(), qd.global_thread_idx()
        for i in range(5, 2 * n):
            a[i, 2], a[i, 3] = neighbour(i), block.sync_count_nonzero(i % 2)
        for i, j in qd.ndrange(n, 3):
            a[3 * i + j, 4] = block.reduce_all_add(j, 128, qd.i32)
            a[3 * i + j, 5] = block.inclusive_scan(1, 128, qd.max, qd.i32) + block.thread_idx()
        # It is of the loop before alone.
        qd.loop_config(block_dim=64)
        for i in range(200):
            a[i, 6] = block.thread_idx()
        for i in range(200):
            a[i, 7] = block.thread_idx()

    for n in (0, 3, 64, 100):
        a, wanted = np.full((300, 8), -1, np.int32), np.full((300, 8), -1, np.int32)
        k(n, a)
        numbers = np.arange(200)
        for column, of in ((0, numbers % 128), (1, numbers), (6, numbers % 64), (7, numbers % 128)):
            wanted[:200, column] = of
        for begin in range(5, 2 * n, 128):
            values = np.arange(begin, min(begin + 128, 2 * n))
            wanted[values, 2], wanted[values, 3] = np.roll(values, -1), np.count_nonzero(values % 2)
            # The last thread of a block that is not full has a neighbour that is missing.
            if len(values) < 128:
                a[values[-1], 2] = wanted[values[-1], 2]
        for begin in range(0, 3 * n, 128):
            rows = np.arange(begin, min(begin + 128, 3 * n))
            wanted[rows, 4], wanted[rows, 5] = (rows % 3).sum(), rows % 128 + 1
        assert a.tolist() == wanted.tolist()


FUNCTIONS = {"add": np.add, "min": np.minimum, "max": np.maximum}


@pytest.mark.parametrize("block_dim", [32, 96, 256])
@pytest.mark.parametrize("dtype, numpy", [(qd.i32, np.int32), (qd.f32, np.float32), (qd.u64, np.uint64), (qd.f16, np.float16)])
def test_reductions_and_scans(block_dim, dtype, numpy):
    skip_unless_whole(block_dim)
    names = [(form, name) for form in ("reduce", "reduce_all", "inclusive", "exclusive") for name in FUNCTIONS]
    operations = [getattr(block, f"{form}_{name}") for form, name in names]

    @qd.kernel
    def k(a: one(dtype), out: qd.types.NDArray[dtype, 2]):
        qd.loop_config(block_dim=block_dim)
        for i in a:
            for column in qd.static(range(len(operations))):
                out[i, column] = operations[column](a[i], block_dim, dtype)

    for size in (1, 47, 256, 300):
        a = np.random.default_rng(size).integers(1, 5, size).astype(numpy)
        out = np.zeros((size, len(names)), numpy)
        k(a, out)
        for column, (form, name) in enumerate(names):
            function = FUNCTIONS[name]
            for given, got in zip(blocks(a, block_dim), blocks(out[:, column], block_dim)):
                if form == "reduce":
                    assert got[0] == function.reduce(given)
                elif form == "reduce_all":
                    assert (got == function.reduce(given)).all()
                elif form == "inclusive":
                    np.testing.assert_array_equal(got, function.accumulate(given, dtype=numpy))
                else:
                    np.testing.assert_array_equal(got[1:], function.accumulate(given, dtype=numpy)[:-1])
                    assert name != "add" or got[0] == 0


@pytest.mark.parametrize("block_dim", [32, 96, 256, 1024])
def test_functions_whose_order_matters(block_dim):
    skip_unless_whole(block_dim)

    @qd.kernel
    def k(a: one(qd.u32), out: qd.types.NDArray[qd.u32, 2]):
        qd.loop_config(block_dim=block_dim)
        for i in a:
            x = y = a[i]
            # In loops, where shared memory is used again.
            for _ in range(2):
                x = block.inclusive_scan(x, block_dim, then, qd.u32)
            for _ in range(2):
                y = block.exclusive_scan(y, block_dim, then, NOTHING, qd.u32)
            out[i, 0], out[i, 1] = x, y
            for column in range(2, 4):
                out[i, column] = block.reduce_all(a[i] + column, block_dim, then, qd.u32)
            out[i, 4] = block.reduce(a[i], block_dim, then, qd.u32)

    for size in (1, 33, block_dim, 2 * block_dim + 45):
        a = np.random.default_rng(size).integers(0, 2**31, size, np.uint32)
        out = np.zeros((size, 5), np.uint32)
        k(a, out)
        for values, rows in zip(blocks(a.tolist(), block_dim), blocks(out, block_dim)):
            x = y = values
            for _ in range(2):
                x, y = [*itertools.accumulate(x, then)], [NOTHING, *itertools.accumulate(y[:-1], then)]
            totals = [functools.reduce(then, [value + more for value in values]) for more in (2, 3, 0)]
            assert rows[:, 0].tolist() == x and rows[:, 1].tolist() == y[: len(values)]
            assert (rows[:, 2:4] == totals[:2]).all() and rows[0, 4] == totals[2]


@pytest.mark.parametrize("dtype, numpy", [(qd.u8, np.uint8), (qd.f16, np.float16), (qd.f64, np.float64)])
def test_functions_of_any_type(dtype, numpy):
    @qd.func
    def last(a, b):
        return b

    @qd.kernel
    def k(a: one(), out: qd.types.NDArray[dtype, 2]):
        qd.loop_config(block_dim=64)
        for i in a:
            out[i, 0] = block.inclusive_scan(a[i], 64, qd.max, dtype)
            out[i, 1] = block.exclusive_scan(a[i], 64, last, 7, dtype)
            out[i, 2] = block.reduce_all(a[i], 64, last, dtype)

    a = np.random.default_rng(5).integers(0, 200, 100).astype(np.int32)
    out = np.zeros((100, 3), numpy)
    k(a, out)
    for values, rows in zip(blocks(a, 64), blocks(out, 64)):
        assert rows[:, 0].tolist() == np.maximum.accumulate(values).tolist()
        assert rows[:, 1].tolist() == [7, *values[:-1]]
        assert (rows[:, 2] == values[-1]).all()


@pytest.mark.parametrize("radix_bits, bit_start, num_bits", [(5, 3, 5), (8, 0, 8), (8, 20, 3), (10, 16, 10)])
def test_ranks_of_digits(radix_bits, bit_start, num_bits):
    block_dim = 2**radix_bits
    skip_unless_whole(block_dim)

    @qd.kernel
    def k(keys: one(qd.u32), ranks: one(), counts: qd.types.NDArray[qd.i32, 3]):
        qd.loop_config(block_dim=block_dim)
        for i in keys:
            bins, prefix = block.SharedArray((block_dim,), qd.i32), block.SharedArray((block_dim,), qd.i32)
            # In a loop, where the arrays are used again.
            for turn in range(2):
                key = keys[i] if turn == 1 else qd.u32(0)
                ranks[i] = block.radix_rank_match_atomic_or(key, block_dim, radix_bits, bit_start, num_bits, bins, prefix)
            if block.thread_idx() == 0:
                for digit in range(block_dim):
                    counts[i // block_dim, digit, 0], counts[i // block_dim, digit, 1] = bins[digit], prefix[digit]

    for size in (1, block_dim, 2 * block_dim + 45):
        keys = np.random.default_rng(size).integers(0, 2**32, size, np.uint32)
        # Many threads with one digit.
        keys[block_dim + 7 :] |= np.uint32(63 << bit_start & 0xFFFFFFFF)
        ranks, counts = np.zeros(size, np.int32), np.zeros((-(-size // block_dim), block_dim, 2), np.int32)
        k(keys, ranks, counts)
        for values, places, (bins, prefix) in zip(blocks(keys, block_dim), blocks(ranks, block_dim), counts.transpose(0, 2, 1)):
            digits = values >> bit_start & 2**num_bits - 1
            assert places[np.argsort(digits, kind="stable")].tolist() == [*range(len(values))]
            expected = np.bincount(digits, minlength=block_dim)
            assert bins.tolist() == expected.tolist() and prefix.tolist() == (np.cumsum(expected) - expected).tolist()


@pytest.mark.parametrize("size", SIZES)
def test_votes(size):
    @qd.kernel
    def k(a: one(qd.f32), out: qd.types.NDArray[qd.i32, 2]):
        qd.loop_config(block_dim=64)
        for i in range(a.shape[0]):
            out[i, 0] = block.sync_count_nonzero(a[i])
            out[i, 1] = block.sync_all_nonzero(a[i] < 3)
            out[i, 2] = block.sync_any_nonzero(a[i] == 0.0)

    a = np.random.default_rng(size + 1).integers(0, 4, size).astype(np.float32)
    out = np.zeros((size, 3), np.int32)
    k(a, out)
    for values, rows in zip(blocks(a, 64), blocks(out, 64)):
        assert (rows == [np.count_nonzero(values), (values < 3).all(), (values == 0).any()]).all()


@pytest.mark.parametrize("block_dim", [None, 128])
def test_what_is_missing_of_a_block_writes_nothing(block_dim):
    @qd.kernel
    def k(a: one(), total: one(), old: one()) -> qd.i32:
        qd.loop_config(block_dim=block_dim)
        for i in range(a.shape[0]):
            count = block.SharedArray(2, qd.i32)
            if block.thread_idx() == 0:
                count[0] = 0
            block.sync()
            qd.atomic_add(count[0], 1)
            old[i] = qd.atomic_add(total[0], 1)
            block.sync()
            a[i] += count[0]
        return 7

    for size in (1, 127, 128, 129, 500):
        a, total, old = np.zeros(size, np.int32), np.zeros(1, np.int32), np.zeros(size, np.int32)
        assert k(a, total, old) == 7
        assert a.tolist() == [min(128, size - i // 128 * 128) for i in range(size)]
        assert total[0] == size and sorted(old) == list(range(size))


@pytest.mark.parametrize("block_dim", [96, 192])
def test_subgroups_in_blocks(block_dim):
    skip_unless_whole(block_dim)

    @qd.kernel
    def k(a: one(), out: qd.types.NDArray[qd.i32, 2]):
        qd.loop_config(block_dim=block_dim)
        for i in a:
            of_block = block.reduce_all_add(a[i], block_dim, qd.i32)
            out[i, 0], out[i, 1] = of_block, subgroup.reduce_all_add(a[i])
            out[i, 2] = qd.popcnt(subgroup.ballot(a[i] > 0))
            out[i, 3] = subgroup.all_true(a[i]) * 2 + subgroup.any_true(a[i] == 3)

    wave = subgroup.group_size()
    for size in (5, block_dim, 200):
        a = np.random.default_rng(size).integers(0, 4, size).astype(np.int32)
        out = np.zeros((size, 4), np.int32)
        k(a, out)
        for values, rows in zip(blocks(a, block_dim), blocks(out, block_dim)):
            assert (rows[:, 0] == values.sum()).all()
            for lanes, row in zip(blocks(values, wave), blocks(rows, wave)):
                assert (row[:, 1:] == [lanes.sum(), (lanes > 0).sum(), lanes.all() * 2 + (lanes == 3).any()]).all()


def test_a_matrix_is_transposed_by_tiles():
    tile = 8

    @qd.func
    def exchange(cell, row, column, value):
        cell[row, column] = value
        block.sync()
        return cell[column, row]

    @qd.kernel
    def transpose(a: qd.types.NDArray[qd.f32, 2], b: qd.types.NDArray[qd.f32, 2]):
        qd.loop_config(block_dim=tile * tile)
        for at_row, at_column, row, column in qd.ndrange(a.shape[0] // tile, a.shape[1] // tile, tile, tile):
            cell = block.SharedArray((tile, tile), qd.f32)
            value = exchange(cell, row, column, a[at_row * tile + row, at_column * tile + column])
            b[at_column * tile + row, at_row * tile + column] = value

    a = np.random.default_rng(0).random((24, 40)).astype(np.float32)
    b = np.zeros((40, 24), np.float32)
    transpose(a, b)
    np.testing.assert_array_equal(b, a.T)


def test_sizes_are_computed_while_tracing():
    half = 32

    @qd.func
    def unrolled(x, times: qd.template()):
        total = 0
        for _ in qd.static(range(times)):
            total += x
        return total

    @qd.kernel
    def k(a: one(), out: qd.types.NDArray[qd.i32, 2]):
        qd.loop_config(block_dim=2 * half)
        for i in a:
            padded = block.SharedArray((half + 1, 2**1), qd.i32)
            padded[block.thread_idx() % half, block.thread_idx() // half] = a[i]
            block.sync()
            out[i, 0] = padded[half - 1 - block.thread_idx() % half, block.thread_idx() // half]
            out[i, 1] = block.reduce_all_add(a[i], half * 2, qd.i32)
            out[i, 2] = block.reduce_all(a[i], 2 * half, qd.max, qd.i32)
            out[i, 3] = subgroup.reduce_all_add_tiled(1, subgroup.log2_group_size() - 1)
            out[i, 4] = unrolled(a[i], half // 8 + 1)

    a, out = np.arange(64, dtype=np.int32), np.zeros((64, 5), np.int32)
    k(a, out)
    assert out[:, 0].tolist() == [*range(31, -1, -1), *range(63, 31, -1)]
    assert (out[:, 1:4] == [a.sum(), 63, subgroup.group_size() // 2]).all() and (out[:, 4] == 5 * a).all()


def test_fences_are_of_any_loop():
    @qd.kernel
    def k(a: one()):
        for i in a:
            if i % 2 == 0:
                a[i] = 1
                block.mem_fence()
                grid.mem_fence()

    a = np.zeros(10, np.int32)
    k(a)
    assert a.tolist() == [1, 0] * 5


def test_older_names_are_told_of_once(monkeypatch):
    for older in (block.mem_sync, grid.memfence):
        monkeypatch.setattr(older, "_is_told", False)

    @qd.kernel
    def k(a: one()):
        for i in a:
            block.mem_sync()
            block.mem_sync()
            grid.memfence()

    with pytest.warns(DeprecationWarning) as told:
        k(np.zeros(3, np.int32))
    assert [str(each.message) for each in told] == [
        "qd.simt.block.mem_sync() is deprecated: use qd.simt.block.mem_fence()",
        "qd.simt.grid.memfence() is deprecated: use qd.simt.grid.mem_fence()",
    ]


@pytest.mark.parametrize("default_ip, default_fp", [(qd.i32, qd.f32), (qd.i64, qd.f64)])
def test_types_of_python(default_ip, default_fp):
    """`int`, `float` and `bool` as types of what threads share and combine."""
    qd.init(enable_fallback=False, default_ip=default_ip, default_fp=default_fp)

    @qd.kernel
    def k(sums: qd.types.NDArray[float, 1], products: qd.types.NDArray[int, 1], is_high: qd.types.NDArray[bool, 1]):
        qd.loop_config(block_dim=64)
        for i in sums:
            numbers, flags = block.SharedArray((64,), int), block.SharedArray(64, bool)
            numbers[i], flags[i] = i, i > 3
            block.sync()
            # Beyond 32 bits.
            products[i] = numbers[63 - i] * 100000 * 100000
            is_high[i] = flags[63 - i]
            sums[i] = block.reduce_all_add(i, 64, float) / 4

    sums, products, is_high = (qd.ndarray(dtype, 64) for dtype in (float, int, bool))
    assert (sums.dtype, products.dtype, is_high.dtype) == (default_fp, default_ip, qd.u1)
    k(sums, products, is_high)
    assert (sums.to_numpy() == 2016 / 4).all()
    below = np.arange(63, -1, -1, np.int64)
    np.testing.assert_array_equal(products.to_numpy(), (below * 10**10).astype(products.to_numpy().dtype))
    np.testing.assert_array_equal(is_high.to_numpy(), below > 3)


@pytest.mark.parametrize(
    "config, body, error, message",
    [
        ("block.sync()\n    ", "pass", qd.QuadrantsSyntaxError, "parallel loops whose bounds the host knows"),
        ("for i in range(a[0]):\n        a[i] = block.thread_idx()\n    ", "pass", qd.QuadrantsSyntaxError, "parallel loops whose bounds the host knows"),
        ("qd.loop_config(serialize=True)\n    ", "s = block.SharedArray(4, qd.i32)", qd.QuadrantsSyntaxError, "parallel loops whose bounds the host knows"),
        ("qd.loop_config(block_dim=64)\n    ", "a[i] = block.reduce_add(a[i], 32, qd.i32)", ValueError, "block_dim=32, and the loop has blocks of 64"),
        ("qd.loop_config(block_dim=64)\n    ", "s = block.SharedArray((a[i],), qd.i32)", ValueError, "known while tracing"),
        ("qd.loop_config(block_dim=64)\n    ", "s = block.SharedArray((0,), qd.i32)", ValueError, "numbers above 0"),
        ("qd.loop_config(block_dim=64)\n    ", "s = block.SharedArray((4,), qd.math.vec3)", qd.QuadrantsCompilationError, "no scalar type"),
        ("qd.loop_config(block_dim=64)\n    ", "s = block.SharedArray((4,), str)", qd.QuadrantsCompilationError, "no scalar type"),
        ("qd.loop_config(block_dim=64)\n    ", "a[i] = block.reduce_add(a[i], 64, str)", TypeError, "'dtype' is a type"),
        ("qd.loop_config(block_dim=64)\n    ", "a[i] = block.reduce_add(a[i], 64, 4)", TypeError, "'dtype' is a type"),
        ("qd.loop_config(block_dim=64)\n    ", "if a[i] > 0:\n            block.sync()", qd.QuadrantsCompilationError, "not uniform"),
        ("", "a[i] = block.reduce(a[i], 64, max, qd.i32)", ValueError, "block_dim=64, and the loop has blocks of 128 threads: qd.loop_config"),
        ("", "a[i] = block.reduce_add(a[i], 64, qd.i32)", ValueError, "block_dim=64, and the loop has blocks of 128 threads: qd.loop_config"),
        ("qd.loop_config(block_dim=64)\n    ", "a[i] = block.inclusive_scan(a[i], 32, max, qd.i32)", ValueError, "block_dim=32, and the loop has blocks of 64"),
        ("qd.loop_config(block_dim=33)\n    ", "a[i] = block.reduce(a[i], 33, max, qd.i32)", AssertionError, "block_dim=33 is no multiple of a subgroup's"),
        *(
            (f"qd.loop_config(block_dim={threads})\n    ", f"a[i] = block.{form}_{name}(a[i], {threads}, qd.i32)", AssertionError, f"block_dim={threads} is no multiple of a subgroup's")
            for threads, form, name in [(1, "reduce", "add"), (30, "reduce_all", "min"), (33, "inclusive", "max"), (33, "exclusive", "add")]
        ),
        ("qd.loop_config(block_dim=64)\n    ", "a[i] = block.reduce_add(a[i], a[i], qd.i32)", AssertionError, "block_dim is a number that is known while tracing"),
        ("qd.loop_config(block_dim=64)\n    ", "a[i] = block.reduce(a[i], a[i], max, qd.i32)", AssertionError, "block_dim is a number that is known while tracing"),
        ("qd.loop_config(block_dim=64)\n    ", "a[i] = block.reduce(a[i], 64, max, 4)", TypeError, "a type is expected"),
        ("qd.loop_config(block_dim=64)\n    ", "a[i] = block.radix_rank_match_atomic_or(a[i], 64, 5, 0, 5, a, a)", AssertionError, "block_dim=64 is not 2 \\*\\* radix_bits"),
    ],
)
def test_errors_have_a_place(module, config, body, error, message):
    program = module(
        f"from qd.simt import block\n@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 1]):\n    {config}for i in a:\n        {body}\n"
    )
    with pytest.raises(error, match=f"(?s)^File [^\\n]*kernels_0.*block.*\\^.*{message}"):
        program.k(np.zeros(64, np.int32))


def test_python_does_not_call_them():
    for call in (block.sync, lambda: block.SharedArray((3,), qd.i32), lambda: block.reduce_add(1, 32, qd.i32)):
        with pytest.raises(qd.QuadrantsRuntimeError):
            call()
