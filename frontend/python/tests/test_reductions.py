"""`qd.simt.reductions`, against Python's own folds."""

import itertools

import numpy as np
import pytest

import qd
from qd.simt import reductions, subgroup


@qd.pyfunc
def then(f, g):
    """One affine map after another: the factor is in the upper 16 bits, the summand in the lower. Their order matters."""
    return ((f >> 16) * (g >> 16) & 65535) << 16 | (f & 65535) * (g >> 16) + g & 65535


NOTHING = 1 << 16


def tiles(values, lanes):
    return [values[at : at + lanes] for at in range(0, len(values), lanes)]


def test_the_order_of_lanes_is_kept():
    log2_sizes = range(subgroup.log2_group_size() + 1)

    @qd.kernel
    def k(a: qd.types.NDArray[qd.u32, 1], out: qd.types.NDArray[qd.u32, 3]):
        for i in a:
            for log2_size in qd.static(log2_sizes):
                out[i, log2_size, 0] = reductions._inclusive_scan_tiled(a[i], then, log2_size)
                out[i, log2_size, 1] = reductions._exclusive_scan_tiled(a[i], then, NOTHING, log2_size)
                out[i, log2_size, 2] = reductions._reduce_tiled(a[i], then, log2_size)

    for size in (1, 45, 64):
        a = np.random.default_rng(size).integers(0, 2**32, size, np.uint32)
        out = np.zeros((size, len(log2_sizes), 3), np.uint32)
        k(a, out)
        for log2_size in log2_sizes:
            for values, rows in zip(tiles(a.tolist(), 1 << log2_size), tiles(out[:, log2_size], 1 << log2_size)):
                upto = [*itertools.accumulate(values, then)]
                assert rows[:, 0].tolist() == upto
                assert rows[:, 1].tolist() == [NOTHING, *upto[:-1]]
                assert rows[0, 2] == upto[-1]


@pytest.mark.parametrize("dtype, of", [(qd.i32, np.int32), (qd.u64, np.uint64), (qd.f16, np.float16)])
def test_functions_and_identities(dtype, of):
    names = ["add", "mul", "min", "max"] + ["and", "or", "xor"] * (not dtype.is_real)
    functions = [getattr(reductions, f"_bin_{name}") for name in names]
    of_numpy = [np.add, np.multiply, np.minimum, np.maximum, np.bitwise_and, np.bitwise_or, np.bitwise_xor]

    @qd.kernel
    def k(a: qd.types.NDArray[dtype, 1], out: qd.types.NDArray[dtype, 2], identities: qd.types.NDArray[dtype, 2]):
        for i in a:
            for column in qd.static(range(len(functions))):
                out[i, column] = reductions._inclusive_scan_tiled(a[i], functions[column], 2)
            identities[i, 0] = reductions._typed_min_identity(a[i])
            identities[i, 1] = reductions._typed_max_identity(a[i])

    a = np.random.default_rng(1).integers(1, 6, 32).astype(of)
    out, identities = np.zeros((32, len(names)), of), np.zeros((32, 2), of)
    k(a, out, identities)
    for column, function in enumerate(of_numpy[: len(names)]):
        expected = [function.accumulate(tile, dtype=of) for tile in tiles(a, 4)]
        np.testing.assert_array_equal(out[:, column], np.concatenate(expected))
    bounds = (np.inf, -np.inf) if dtype.is_real else (np.iinfo(of).max, np.iinfo(of).min)
    assert (identities == np.array(bounds, of)).all()


@pytest.mark.parametrize(
    "body, error, message",
    [
        ("a[i] = reductions._reduce_tiled(a[i], max, 7)", AssertionError, "log2_size <= 6"),
        ("a[i] = reductions._exclusive_scan_tiled(a[i], max, 0, a[i])", TypeError, "known while tracing"),
        ("a[i] = reductions._reduce_tiled(a[i], 4, 1)", qd.QuadrantsTypeError, "'int' is not callable"),
        ("if a[i] > 0:\n            a[i] = reductions._reduce_tiled(a[i], max, 1)", qd.QuadrantsCompilationError, "not uniform"),
    ],
)
def test_errors_have_a_place(module, body, error, message):
    program = module(
        "from qd.simt import reductions\n@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 1]):\n    for i in a:\n        " + body + "\n"
    )
    with pytest.raises(error, match=f"(?s)^File \"[^\"]*kernels_0.py\", line [67], in k:.*reductions\\._.*\\^.*{message}"):
        program.k(np.zeros(32, np.int32))
