"""Times of qd's kernels and algorithms beside those of other libraries, on the same arrays, in one run: a table in Markdown.

    python peers.py [--arch cpu|cuda] [--size N] [--only NAME …]

Each case is checked against NumPy first. "first" is the first call, with what is compiled for it, and "then" the median of
repeated calls, of which the device's work is waited for once in a batch. A library that is not installed has no column.
"""

import argparse
import contextlib
import importlib
import math
import statistics
import sys
import time

import numpy as np

import qd

# The capacity of algorithms, as an exponent of 256.
D = 4
SOFTENING = 1e-3


def inputs(size, bodies):
    random = np.random.default_rng(0)
    return {
        "x": random.random(size, np.float32),
        "y": random.random(size, np.float32),
        "keys": random.integers(-(2**31), 2**31, size, np.int32),
        "flags": random.integers(0, 2, size, np.int32),
        "runs": np.sort(random.integers(0, max(size // 16, 1), size, np.int32)),
        "ones": random.integers(0, 8, size, np.int32),
        "position": random.random((bodies, 3), np.float32),
    }


def forces(position):
    """The acceleration of each body, of equal masses."""
    out = np.empty_like(position)
    for first in range(0, len(position), 256):
        way = position[None] - position[first : first + 256, None]
        square = (way**2).sum(2) + np.float32(SOFTENING)
        out[first : first + 256] = (way / (square * np.sqrt(square))[..., None]).sum(1)
    return out


def expected(given):
    runs, first = np.unique(given["runs"], return_index=True)
    return {
        "saxpy": 2 * given["x"] + given["y"],
        "scan": np.cumsum(given["ones"], dtype=np.int32),
        "select": given["keys"][given["flags"] == 1],
        "reduce by key": np.add.reduceat(given["ones"], first),
        "sort": np.sort(given["keys"]),
        "n-body step": forces(given["position"]),
    }


def of_qd(given, arch):
    def moved(values):
        array = qd.ndarray(OF_NUMPY[values.dtype.type], values.shape)
        array.from_numpy(values)
        return array

    def empty(like, of=qd.i32):
        return qd.ndarray(of, like.shape)

    OF_NUMPY = {np.float32: qd.f32, np.int32: qd.i32}
    I32, U32, F32 = (qd.types.NDArray[dtype, 1] for dtype in (qd.i32, qd.u32, qd.f32))
    Number, Points = qd.types.NDArray[qd.i32, 0], qd.types.NDArray[qd.f32, 2]
    g = {name: moved(values) for name, values in given.items()}
    size = g["x"].shape[0]
    number = moved(np.array(size, np.int32))
    algorithms = qd.algorithms
    of_sort, of_scan = (slots(size, D) for slots in (algorithms.sort_scratch_slots, algorithms.exclusive_scan_scratch_slots))
    slots = max(of_sort, of_scan, algorithms.select_scratch_slots(size), algorithms.reduce_by_key_scratch_slots(size))
    scratch = qd.ndarray(qd.u32, slots)

    @qd.kernel
    def saxpy(s: qd.f32, x: F32, y: F32, out: F32):
        for i in x:
            out[i] = s * x[i] + y[i]

    @qd.kernel
    def scan(values: I32, out: I32, work: U32, n: Number):
        algorithms.exclusive_scan_add(values, out, work, n, qd.i32, D)

    @qd.kernel
    def select(values: I32, flags: I32, out: I32, count: I32, work: U32, n: Number):
        algorithms.select(values, flags, out, count, work, n, D)

    @qd.kernel
    def by_key(keys: I32, values: I32, keys_out: I32, sums: I32, count: I32, work: U32, n: Number):
        algorithms.reduce_by_key_add(keys, values, keys_out, sums, count, work, n, qd.i32, D)

    @qd.kernel
    def sort(keys: I32, out: I32, tmp: I32, work: U32, n: Number):
        for i in keys:
            out[i] = keys[i]
        algorithms.sort(out, tmp, out, tmp, work, n, qd.i32, False, 32, D)

    subgroup = qd.simt.subgroup
    LANES = subgroup.group_size()

    @qd.kernel
    def step(position: Points, out: Points):
        # A subgroup for each body, whose lanes take the others in turns.
        count = position.shape[0]
        qd.loop_config(block_dim=256)
        for thread in range(count * LANES):
            i, lane = thread // LANES, subgroup.invocation_id()
            x, y, z = position[i, 0], position[i, 1], position[i, 2]
            fx, fy, fz = 0.0, 0.0, 0.0
            for turn in range((count - lane + LANES - 1) // LANES):
                j = turn * LANES + lane
                dx, dy, dz = position[j, 0] - x, position[j, 1] - y, position[j, 2] - z
                square = dx * dx + dy * dy + dz * dz + SOFTENING
                factor = 1.0 / (square * qd.sqrt(square))
                fx += dx * factor
                fy += dy * factor
                fz += dz * factor
            fx, fy, fz = subgroup.reduce_add(fx), subgroup.reduce_add(fy), subgroup.reduce_add(fz)
            if lane == 0:
                out[i, 0], out[i, 1], out[i, 2] = fx, fy, fz

    real, whole, more, keys_out = empty(g["x"], qd.f32), empty(g["x"]), empty(g["x"]), empty(g["x"])
    count, moves = qd.ndarray(qd.i32, 1), empty(g["position"], qd.f32)
    # An exclusive scan and the elements are the inclusive one that others have.
    return {
        "saxpy": (lambda: saxpy(2.0, g["x"], g["y"], real), real.to_numpy),
        "scan": (lambda: scan(g["ones"], whole, scratch, number), lambda: whole.to_numpy() + given["ones"]),
        "select": (lambda: select(g["keys"], g["flags"], whole, count, scratch, number), lambda: whole.to_numpy()[: count[0]]),
        "reduce by key": (
            lambda: by_key(g["runs"], g["ones"], keys_out, whole, count, scratch, number), lambda: whole.to_numpy()[: count[0]],
        ),
        "sort": (lambda: sort(g["keys"], whole, more, scratch, number), whole.to_numpy),
        "n-body step": (lambda: step(g["position"], moves), moves.to_numpy),
    }, qd.sync  # fmt: skip


def of_arrays(xp, sync, as_numpy, moved):
    """The cases in a library with NumPy's functions."""

    def cases(given):
        g = {name: moved(values) for name, values in given.items()}
        kept = {}

        def keeps(name, compute):
            def run():
                kept[name] = compute()

            return run, lambda: as_numpy(kept[name])

        def step():
            way = g["position"][None] - g["position"][:, None]
            square = (way**2).sum(2) + np.float32(SOFTENING)
            return (way / (square * xp.sqrt(square))[..., None]).sum(1)

        def by_key():
            is_first = xp.concatenate([xp.ones(1, bool), g["runs"][1:] != g["runs"][:-1]])
            first = xp.flatnonzero(is_first)
            if hasattr(xp.add, "reduceat"):
                return xp.add.reduceat(g["ones"], first)
            ends = xp.concatenate([first[1:], xp.asarray([g["runs"].shape[0]])]) - 1
            sums = xp.cumsum(g["ones"])[ends]
            return xp.diff(sums, prepend=xp.zeros(1, sums.dtype))

        computed = {
            "saxpy": lambda: np.float32(2) * g["x"] + g["y"],
            "scan": lambda: xp.cumsum(g["ones"], dtype=np.int32),
            "select": lambda: g["keys"][g["flags"] == 1],
            "reduce by key": by_key,
            "sort": lambda: xp.sort(g["keys"]),
            "n-body step": step,
        }
        return {name: keeps(name, compute) for name, compute in computed.items()}, sync

    return cases


def of_numpy(given, arch):
    cases, sync = of_arrays(np, lambda: None, np.asarray, np.copy)(given)
    kept = []

    def step():
        kept[:] = [forces(given["position"])]

    # All pairs at once are more than its memory.
    return cases | {"n-body step": (step, lambda: kept[0])}, sync


def of_cupy(given, arch):
    import cupy

    sync = cupy.cuda.runtime.deviceSynchronize
    return of_arrays(cupy, sync, cupy.asnumpy, cupy.asarray)(given)


def of_torch(given, arch):
    import torch

    device = "cuda" if arch == "cuda" else "cpu"
    g = {name: torch.from_numpy(values).to(device) for name, values in given.items()}
    kept = {}

    def keeps(name, compute):
        def run():
            kept[name] = compute()

        return run, lambda: kept[name].cpu().numpy()

    def by_key():
        _, number = torch.unique_consecutive(g["runs"], return_inverse=True)
        sums = torch.zeros(int(number[-1]) + 1, dtype=torch.int32, device=device)
        return sums.index_add_(0, number, g["ones"])

    def step():
        way = g["position"][None] - g["position"][:, None]
        square = (way**2).sum(2) + SOFTENING
        return (way / (square * torch.sqrt(square))[..., None]).sum(1)

    computed = {
        "saxpy": lambda: torch.add(g["y"], g["x"], alpha=2),
        "scan": lambda: torch.cumsum(g["ones"], 0, dtype=torch.int32),
        "select": lambda: g["keys"][g["flags"] == 1],
        "reduce by key": by_key,
        "sort": lambda: torch.sort(g["keys"]).values,
        "n-body step": torch.compile(step) if arch == "cuda" else step,
    }
    sync = torch.cuda.synchronize if arch == "cuda" else lambda: None
    return {name: keeps(name, compute) for name, compute in computed.items()}, sync


def of_triton(given, arch):
    if arch != "cuda":
        raise ImportError("it is for devices")
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def saxpy(x, y, out, size, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, 2.0 * tl.load(x + at, at < size) + tl.load(y + at, at < size), at < size)

    @triton.jit
    def step(position, out, count, SOFT: tl.constexpr, BLOCK: tl.constexpr, TILE: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(position + 3 * i, i < count)
        y = tl.load(position + 3 * i + 1, i < count)
        z = tl.load(position + 3 * i + 2, i < count)
        fx = tl.zeros((BLOCK,), tl.float32)
        fy, fz = fx, fx
        for first in range(0, count, TILE):
            j = first + tl.arange(0, TILE)
            dx = tl.load(position + 3 * j, j < count)[None] - x[:, None]
            dy = tl.load(position + 3 * j + 1, j < count)[None] - y[:, None]
            dz = tl.load(position + 3 * j + 2, j < count)[None] - z[:, None]
            square = dx * dx + dy * dy + dz * dz + SOFT
            factor = tl.where((j < count)[None], 1.0 / (square * tl.sqrt(square)), 0.0)
            fx += tl.sum(dx * factor, 1)
            fy += tl.sum(dy * factor, 1)
            fz += tl.sum(dz * factor, 1)
        tl.store(out + 3 * i, fx, i < count)
        tl.store(out + 3 * i + 1, fy, i < count)
        tl.store(out + 3 * i + 2, fz, i < count)

    g = {name: torch.from_numpy(given[name]).cuda() for name in ("x", "y", "position")}
    real, moves = torch.empty_like(g["x"]), torch.empty_like(g["position"])
    size, count = len(g["x"]), len(g["position"])
    return {
        "saxpy": (lambda: saxpy[(triton.cdiv(size, 1024),)](g["x"], g["y"], real, size, BLOCK=1024), lambda: real.cpu().numpy()),
        "n-body step": (
            lambda: step[(triton.cdiv(count, 64),)](g["position"], moves, count, SOFT=SOFTENING, BLOCK=64, TILE=32),
            lambda: moves.cpu().numpy(),
        ),
    }, torch.cuda.synchronize  # fmt: skip


def of_numba_cuda(given):
    """It has no sort, scan or selection for devices."""
    try:
        from numba import cuda, float32
    except AttributeError as error:
        raise ImportError(f"numba-cuda and NumPy {np.__version__} do not go together: {error}") from error

    BLOCK = 256

    @cuda.jit
    def saxpy(x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = float32(2) * x[i] + y[i]

    @cuda.jit
    def step(position, out):
        # A thread for each body; a block takes the others from shared memory, a tile at a time.
        tile = cuda.shared.array((BLOCK, 3), float32)
        i, thread, count = cuda.grid(1), cuda.threadIdx.x, position.shape[0]
        own = min(i, count - 1)
        x, y, z = position[own, 0], position[own, 1], position[own, 2]
        fx = fy = fz = float32(0)
        for first in range(0, count, BLOCK):
            if first + thread < count:
                for axis in range(3):
                    tile[thread, axis] = position[first + thread, axis]
            cuda.syncthreads()
            for j in range(min(BLOCK, count - first)):
                dx, dy, dz = tile[j, 0] - x, tile[j, 1] - y, tile[j, 2] - z
                square = dx * dx + dy * dy + dz * dz + float32(SOFTENING)
                factor = float32(1) / (square * cuda.libdevice.sqrtf(square))
                fx += dx * factor
                fy += dy * factor
                fz += dz * factor
            cuda.syncthreads()
        if i < count:
            out[i, 0], out[i, 1], out[i, 2] = fx, fy, fz

    def blocks(count):
        return (count + BLOCK - 1) // BLOCK

    g = {name: cuda.to_device(given[name]) for name in ("x", "y", "position")}
    real, moves = cuda.device_array_like(g["x"]), cuda.device_array_like(g["position"])
    return {
        "saxpy": (lambda: saxpy[blocks(len(real)), BLOCK](g["x"], g["y"], real), real.copy_to_host),
        "n-body step": (lambda: step[blocks(len(moves)), BLOCK](g["position"], moves), moves.copy_to_host),
    }, cuda.synchronize


def of_numba(given, arch):
    if arch == "cuda":
        return of_numba_cuda(given)
    import numba

    @numba.njit(parallel=True, fastmath=False)
    def saxpy(x, y, out):
        for i in numba.prange(len(x)):
            out[i] = np.float32(2) * x[i] + y[i]

    @numba.njit
    def scan(values, out):
        total = np.int32(0)
        for i in range(len(values)):
            total += values[i]
            out[i] = total

    @numba.njit
    def select(values, flags, out):
        count = 0
        for i in range(len(values)):
            if flags[i]:
                out[count] = values[i]
                count += 1
        return count

    @numba.njit
    def by_key(keys, values, out):
        count = 0
        for i in range(len(keys)):
            if i == 0 or keys[i] != keys[i - 1]:
                out[count] = 0
                count += 1
            out[count - 1] += values[i]
        return count

    @numba.njit
    def sort(keys):
        return np.sort(keys)

    @numba.njit(parallel=True)
    def step(position, out):
        for i in numba.prange(len(position)):
            force = np.zeros(3, np.float32)
            for j in range(len(position)):
                dx, dy, dz = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1], position[j, 2] - position[i, 2]
                square = dx * dx + dy * dy + dz * dz + np.float32(SOFTENING)
                factor = np.float32(1) / (square * np.sqrt(square))
                force[0] += dx * factor
                force[1] += dy * factor
                force[2] += dz * factor
            out[i] = force

    real, whole, moves = np.empty_like(given["x"]), np.empty_like(given["ones"]), np.empty_like(given["position"])
    kept = {}
    return {
        "saxpy": (lambda: saxpy(given["x"], given["y"], real), lambda: real),
        "scan": (lambda: scan(given["ones"], whole), lambda: whole),
        "select": (lambda: kept.update(n=select(given["keys"], given["flags"], whole)), lambda: whole[: kept["n"]]),
        "reduce by key": (lambda: kept.update(n=by_key(given["runs"], given["ones"], whole)), lambda: whole[: kept["n"]]),
        "sort": (lambda: kept.update(sorted=sort(given["keys"])), lambda: kept["sorted"]),
        "n-body step": (lambda: step(given["position"], moves), lambda: moves),
    }, lambda: None  # fmt: skip


LIBRARIES = {
    "cpu": {"qd": of_qd, "NumPy": of_numpy, "Numba": of_numba, "PyTorch": of_torch},
    "cuda": {"qd": of_qd, "CuPy": of_cupy, "PyTorch": of_torch, "Triton": of_triton, "Numba": of_numba},
}


def measured(run, sync):
    """The time of the first call, and that of one among many, in seconds."""
    start = time.perf_counter()
    run()
    sync()
    first = time.perf_counter() - start
    calls, took = 1, 0
    while took < 0.05:
        calls *= 2
        start = time.perf_counter()
        for _ in range(calls):
            run()
        sync()
        took = time.perf_counter() - start
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        sync()
        times.append((time.perf_counter() - start) / calls)
    return first, statistics.median(times)


def shown(seconds):
    unit, factor = ("µs", 1e6) if seconds < 1e-3 else ("ms", 1e3) if seconds < 1 else ("s", 1)
    value = seconds * factor
    return f"{value:.{max(0, 2 - int(math.log10(max(value, 1))))}f} {unit}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", choices=LIBRARIES, default="cpu")
    parser.add_argument("--size", type=int, help="elements of the arrays")
    parser.add_argument("--bodies", type=int, help="bodies of the n-body step")
    parser.add_argument("--only", nargs="*", help="cases")
    options = parser.parse_args()
    is_cpu = options.arch == "cpu"
    size, bodies = options.size or 1 << (22 if is_cpu else 26), options.bodies or (2048 if is_cpu else 8192)
    qd.init(arch=getattr(qd, options.arch), enable_fallback=False)
    given = inputs(size, bodies)
    wanted = expected(given)
    times, versions = {}, {}
    for library, cases_of in LIBRARIES[options.arch].items():
        try:
            cases, sync = cases_of(given, options.arch)
        except ImportError as error:
            print(f"{library} is left out: {error}", file=sys.stderr)
            continue
        with contextlib.suppress(AttributeError, ImportError):
            module = importlib.import_module("torch" if library == "PyTorch" else library.lower())
            versions[library] = getattr(module, "__version__", "")
        for case, (run, result) in cases.items():
            if options.only and case not in options.only:
                continue
            times[library, case] = measured(run, sync)
            np.testing.assert_allclose(result(), wanted[case], rtol=1e-3, err_msg=f"{case} of {library}")
    libraries = [library for library in LIBRARIES[options.arch] if library in versions]
    print(f"{size:,} elements, {bodies:,} bodies; " + ", ".join(f"{name} {versions[name]}".strip() for name in libraries) + "\n")
    print("| | " + " | ".join(f"{name}: first | then" for name in libraries) + " | others / qd |")
    print("|---|" + "---:|" * (2 * len(libraries) + 1))
    for case in wanted:
        row = [times.get((name, case)) for name in libraries]
        if not any(row):
            continue
        cells = [cell for each in row for cell in (("–", "–") if each is None else map(shown, each))]
        best = min((each[1] for name, each in zip(libraries, row) if each and name != "qd"), default=None)
        ratio = f"{best / times['qd', case][1]:.2f}" if best and ("qd", case) in times else "–"
        print(f"| {case} | " + " | ".join(cells) + f" | {ratio} |")


if __name__ == "__main__":
    main()
