"""`qd.simt.warp`, against CUDA's definitions."""

import numpy as np
import pytest

import qd
from qd.simt import subgroup, warp

MASKS = [0xFFFFFFFF, 0x0000FFF0, 0x80000001, 0]


@pytest.fixture
def of_warps():
    if subgroup.group_size() != 32:
        pytest.skip("of subgroups with 32 lanes")


def warps(values):
    return [values[at : at + 32] for at in range(0, len(values), 32)]


def lanes_of(mask, tile):
    return [lane for lane in range(len(tile)) if mask >> lane & 1]


def bits(lanes):
    return sum(1 << int(lane) for lane in lanes)


@pytest.mark.usefixtures("of_warps")
@pytest.mark.parametrize("block_dim", [None, 64])
def test_votes_and_matches(block_dim):
    @qd.kernel
    def k(a: qd.types.NDArray[qd.f32, 1], mask: qd.u32, out: qd.types.NDArray[qd.u32, 2]):
        qd.loop_config(block_dim=block_dim)
        for i in a:
            out[i, 0] = warp.all_nonzero(mask, a[i])
            out[i, 1] = warp.any_nonzero(mask, a[i])
            out[i, 2] = warp.unique(mask, a[i])
            out[i, 3] = warp.match_any(mask, a[i])
            out[i, 4] = warp.match_all(mask, a[i])
            out[i, 5] = warp.ballot(a[i])
            out[i, 6] = warp.active_mask()
            if qd.static(block_dim is not None):
                qd.simt.block.sync()
            warp.sync(mask)

    random = np.random.default_rng(2)
    zeros, ones, mixed = np.zeros(32), np.ones(32), random.integers(-1, 3, 45)
    a = np.concatenate([zeros, ones, mixed]).astype(np.float32)
    # It is equal to the others, and its bits differ.
    a[5] = -0.0
    # A lane that some masks leave out.
    a[32] = 3
    for mask in MASKS:
        out = np.zeros((len(a), 7), np.uint32)
        k(a, mask, out)
        for tile, rows in zip(warps(a), warps(out)):
            lanes, words = lanes_of(mask, tile), tile.view(np.uint32)
            counted = tile[lanes]
            is_same = len({*words[lanes]}) < 2
            for lane, row in enumerate(rows.tolist()):
                peers = bits(each for each in lanes if words[each] == words[lane])
                votes = [all(counted), any(counted), all(counted) or not any(counted)]
                assert row == [*votes, peers, bits(lanes) * is_same, bits(np.flatnonzero(tile)), 2 ** len(tile) - 1]


@pytest.mark.usefixtures("of_warps")
@pytest.mark.parametrize("dtype, of", [(qd.i32, np.int32), (qd.f32, np.float32)])
def test_shuffles(dtype, of):
    sync, up, down = [getattr(warp, f"shfl_{way}_{dtype}") for way in ("sync", "up", "down")]

    @qd.kernel
    def k(a: qd.types.NDArray[dtype, 1], out: qd.types.NDArray[dtype, 2]):
        for i in a:
            mask = qd.u32(0xFFFFFFFF)
            out[i, 0], out[i, 1], out[i, 2] = sync(mask, a[i], i + 35), up(mask, a[i], 3), down(mask, a[i], 5)
            if qd.static(dtype == qd.i32):
                out[i, 3] = warp.shfl_xor_i32(mask, a[i], 9)

    a = np.random.default_rng(3).integers(-9, 9, 64).astype(of)
    out = np.zeros((64, 4), of)
    k(a, out)
    for tile, rows in zip(warps(a), warps(out)):
        for lane, row in enumerate(rows.tolist()):
            below, above = tile[lane - 3 if lane >= 3 else lane], tile[lane + 5 if lane + 5 < 32 else lane]
            assert row == [tile[(lane + 3) % 32], below, above, tile[lane ^ 9] if dtype == qd.i32 else 0]


SMALL = "qd.simt.warp is for subgroups of 32 lanes, and here they have 64"


_OPERATIONS = "shfl_sync_i32(m, x, 3)", "shfl_up_f32(m, x, 1)", "any_nonzero(m, x)", "unique(m, x)", "match_any(m, x)", "active_mask()"
_UNDER = (
    "for _ in range(x):\n            a[i] += {}", "while a[i] > 7:\n            a[i] = {}", "a[i] = x if x > 7 else {}",
    "if x > 7 and {} > 3:\n            a[i] = 1",
)  # fmt: skip


@pytest.mark.usefixtures("of_warps")
@pytest.mark.parametrize(
    "operation, body", [*((each, "if x > 0:\n            a[i] = {}") for each in _OPERATIONS), *(("shfl_xor_i32(m, x, 1)", each) for each in _UNDER)]
)
def test_where_lanes_differ_no_operation_is_wrong_in_silence(module, operation, body):
    text = "from qd.simt import warp\n@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 1]):\n    for i in a:\n        x, m = a[i], qd.u32(255)\n        "
    program = module(text + body.format(f"qd.i32(warp.{operation})") + "\n")
    with pytest.raises(qd.QuadrantsCompilationError, match=r"(?s)^File .*\^.*not uniform in its subgroup"):
        program.k(np.zeros(32, np.int32))


@pytest.mark.parametrize(
    "lanes, body, error, message",
    [
        (32, "if a[i] > 0:\n            a[i] = warp.ballot(a[i])", qd.QuadrantsCompilationError, "not uniform"),
        (32, "a[i] = warp.match_any(qd.u32(7), qd.f64(a[i]))", TypeError, "bit_cast is between types of one width, and not from 'f64'"),
        (64, "a[i] = warp.shfl_xor_i32(qd.u32(7), a[i], 1)", AssertionError, SMALL),
        (64, "a[i] = warp.any_nonzero(qd.u32(7), a[i])", AssertionError, SMALL),
    ],
)
def test_errors_have_a_place(module, monkeypatch, lanes, body, error, message):
    monkeypatch.setattr(warp, "group_size", lambda: lanes)
    program = module(
        "from qd.simt import warp\n@qd.kernel\ndef k(a: qd.types.NDArray[qd.i32, 1]):\n    for i in a:\n        " + body + "\n"
    )
    with pytest.raises(error, match=f"(?s)^File \"[^\"]*kernels_0.py\", line [67], in k:.*warp.*\\^.*{message}"):
        program.k(np.zeros(32, np.int32))
