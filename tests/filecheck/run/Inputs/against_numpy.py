"""Runs the kernels of a module with qd-run on inputs that break things, and compares with NumPy.

    against_numpy.py ALGORITHM MODULE QD_TRANSLATE QD_RUN FOLDER [TARGET [SIZE …]]

The module is compiled once; every kernel of it then runs on every size with two shapes of input, or on those that are named
with one, taken in turns. How a kernel is called says what it is: `sort_u32` has keys of u32, `scan_add_f32` adds floats.
"""

import os
import subprocess
import sys

import numpy as np

SIZES = [0, 1, 2, 31, 32, 33, 255, 256, 257, 65535, 65536, 65537, 1000003]
TYPES = {"i32": "i4", "u32": "u4", "i64": "i8", "u64": "u8", "f32": "f4", "f64": "f8"}


class Runner:
    """A module that is compiled, and a folder for its data."""

    def __init__(self, module, qd_translate, qd_run, folder, target):
        self.qd_run = qd_run
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self.artifact = os.path.join(folder, "kernels.qdart")
        subprocess.run([qd_translate, module, "--target=" + target, "-o", self.artifact], check=True)

    def run(self, entry, arguments, outputs):
        """The outputs, after a run on arrays and values."""
        command = [self.qd_run, self.artifact, "--entry=" + entry, "--quiet"]
        for name, value in arguments.items():
            if isinstance(value, np.ndarray):
                path = os.path.join(self.folder, name + ".npy")
                np.save(path, value)
                value = path
            command += ["--arg", f"{name}={value}"]
        for name in outputs:
            command += ["--out", f"{name}={self.folder}/{name.split('[')[0]}.out.npy"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        names = [name.split("[")[0] for name in outputs]
        return [np.load(os.path.join(self.folder, name + ".out.npy")) for name in names]


def integers(shape, dtype, n, random):
    """Integers of a type, in one of the shapes that break things."""
    info = np.iinfo(dtype)
    any_value = random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    if shape == "equal":
        return np.full(n, 7, dtype=dtype)
    if shape == "sorted":
        return np.sort(any_value)
    if shape == "reversed":
        return np.sort(any_value)[::-1].copy()
    if shape == "outlier":
        values = np.full(n, 3, dtype=dtype)
        values[n // 2 : n // 2 + 1] = info.max
        return values
    if shape == "few":
        return random.integers(0, 5, n).astype(dtype)
    if shape == "grouped":
        return np.repeat(any_value, 8)[:n]
    if shape == "extreme":
        return random.choice(np.array([info.min, info.max, 0, 1, 255], dtype=dtype), n)
    return any_value


def floats(shape, dtype, n, random):
    """Floats of a type, in one of the shapes that break things."""
    if shape == "extreme":
        tiny = np.finfo(dtype).smallest_subnormal
        special = [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, tiny, -tiny, 1.5]
        return random.choice(np.array(special, dtype=dtype), n)
    if shape == "random":
        return random.standard_normal(n).astype(dtype)
    # Whole numbers between −1000 and 1000.
    return (integers(shape, np.int32, n, random) % 1000).astype(dtype)


SHAPES = ["random", "equal", "sorted", "reversed", "outlier", "few", "grouped", "extreme"]


def data(shape, dtype, n, random):
    """Data of a type."""
    dtype = np.dtype(dtype)
    return (floats if dtype.kind == "f" else integers)(shape, dtype, n, random)


def ordered_bits(keys):
    """Unsigned integers that order as the sort does: floats by their bits, −0 before +0, NaNs at the ends."""
    size = keys.dtype.itemsize
    bits = keys.view(f"u{size}")
    sign = np.array(1 << (8 * size - 1), dtype=bits.dtype)
    if keys.dtype.kind == "i":
        return bits ^ sign
    if keys.dtype.kind == "f":
        return np.where(bits & sign, ~bits, bits | sign)
    return bits


def same(found, wanted, what):
    """Bit for bit."""
    if found.shape != wanted.shape or found.tobytes() != wanted.astype(found.dtype).tobytes():
        report(found, wanted, what)


def close(found, wanted, scale, what):
    """Equal up to rounding; `scale` is the sum of what was added, signs left out."""
    # The bound of k terms added one after another is (k - 1) * eps * sum |x|; a chunk of up to 2^16
    # elements may be. What is not rounding, such as a lost element, the integer cases find.
    terms = min(max(found.size, 64), 1 << 16) if np.size(scale) > 1 else 64
    tolerance = terms * np.finfo(found.dtype).eps * scale
    with np.errstate(invalid="ignore"):
        agree = (np.abs(found - wanted) <= tolerance) | (found == wanted)
    if found.shape != wanted.shape or not np.all(agree | (np.isnan(found) & np.isnan(wanted))):
        report(found, wanted, what)


def report(found, wanted, what):
    if found.shape == wanted.shape:
        where = np.flatnonzero(found.ravel() != wanted.ravel())[:1]
        what += f", first at {where}"
    sys.exit(f"{what}: {found}\ninstead of {wanted}")


# One function for each algorithm: (runner, kernel, data for it, buffers' length, count, random numbers, description).


def reduce(runner, kernel, values, n, what):
    kind = kernel.split("_")[1]
    [found] = runner.run(kernel, {"a": values, "n": n}, ["out"])
    values = values[:n]
    if kind == "add" and values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            wide = values.astype(np.float64)
            close(found, wide.sum(keepdims=True), np.abs(wide).sum(), what)
    elif kind == "add":
        same(found, np.add.reduce(values, keepdims=True, dtype=values.dtype), what)
    elif values.dtype.kind == "f":
        # A NaN loses against a number; of NaNs alone nothing is promised.
        wanted = np.fmin.reduce(values, initial=np.inf, keepdims=True)
        if not np.all(np.isnan(values)) or n == 0:
            close(found, wanted, 0, what)
    else:
        initial = np.iinfo(values.dtype).min
        same(found, np.maximum.reduce(values, initial=initial, keepdims=True), what)


def scan(runner, kernel, values, n, what):
    _, order, kind, _ = kernel.split("_")
    [found] = runner.run(kernel, {"a": values, "n": n}, [f"out[:{n}]"])
    values = values[:n]
    if kind == "max":
        wanted = np.maximum.accumulate(values)
        first = np.iinfo(values.dtype).min
    else:
        with np.errstate(invalid="ignore"):
            wide = values.astype(np.float64) if values.dtype.kind == "f" else values
            wanted = np.add.accumulate(wide, dtype=wide.dtype)
        first = 0
    if order == "exclusive":
        wanted = np.concatenate([np.array([first], dtype=wanted.dtype), wanted])[:n]
    if values.dtype.kind == "f":
        close(found, wanted, np.add.accumulate(np.abs(wide)), what)
    else:
        same(found, wanted, what)


def flags_of(values, n):
    """Flags that are all 0, all 1, or neither."""
    random = np.random.default_rng(n)
    return [
        np.zeros(len(values), dtype=np.int32),
        np.ones(len(values), dtype=np.int32),
        random.integers(0, 2, len(values), dtype=np.int32),
    ]


def rows_of(kernel, values):
    """Rows of three where the kernel moves those."""
    if not kernel.endswith("x3"):
        return values
    return np.stack([values, values[::-1], values], axis=1)


def select(runner, kernel, values, n, what):
    rows = rows_of(kernel, values)
    for flags in flags_of(values, n):
        arguments = {"a": rows, "flags": flags, "n": n}
        [num, found] = runner.run(kernel, arguments, ["num", "out[:num]"])
        wanted = rows[:n][flags[:n] == 1]
        same(num, np.array(len(wanted)), what + ", number")
        same(found, wanted, what)


def partition(runner, kernel, values, n, what):
    rows = rows_of(kernel, values)
    for flags in flags_of(values, n):
        arguments = {"a": rows, "flags": flags, "n": n}
        [num, found] = runner.run(kernel, arguments, ["num", f"out[:{n}]"])
        chosen = flags[:n] == 1
        same(num, np.array(chosen.sum()), what + ", number")
        same(found, np.concatenate([rows[:n][chosen], rows[:n][~chosen]]), what)


def sort(runner, kernel, values, n, what):
    arguments = {"keys": values, "n": n}
    if kernel.endswith("kv"):
        positions = np.arange(len(values), dtype=np.int32)
        outputs = [f"keys[:{n}]", f"values[:{n}]"]
        [keys, moved] = runner.run(kernel, {**arguments, "values": positions}, outputs)
    else:
        [keys] = runner.run(kernel, arguments, [f"keys[:{n}]"])
    bits = ordered_bits(values[:n])
    if "16bit" in kernel:
        bits = bits & np.array(0xFFFF, dtype=bits.dtype)
    order = np.argsort(bits, kind="stable")
    same(keys, values[:n][order], what + ", keys")
    if kernel.endswith("kv"):
        same(moved, order, what + ", values")


def heads_of(values):
    """Where runs of equal elements begin."""
    heads = np.ones(len(values), dtype=bool)
    # A NaN is not even equal to itself.
    heads[1:] = ~(values[1:] == values[:-1])
    return np.flatnonzero(heads)


def unique(runner, kernel, values, n, what):
    outputs = ["runs", "out[:runs]"] + ["lengths[:runs]"] * kernel.startswith("lengths")
    [runs, firsts, *lengths] = runner.run(kernel, {"in": values, "n": n}, outputs)
    starts = heads_of(values[:n])
    same(runs, np.array(len(starts)), what + ", runs")
    same(firsts, values[:n][starts], what)
    for found in lengths:
        same(found, np.diff(starts, append=n), what + ", lengths")


def reduce_by_key(runner, kernel, keys, n, what):
    value_type = kernel.split("_")[-1]
    random = np.random.default_rng(n)
    values = data("few", TYPES[value_type], len(keys), random)
    outputs = ["runs", "keys_out[:runs]", "sums[:runs]"]
    [runs, found_keys, sums] = runner.run(kernel, {"keys": keys, "values": values, "n": n}, outputs)
    keys, values = keys[:n], values[:n]
    starts = heads_of(keys)
    same(runs, np.array(len(starts)), what + ", runs")
    same(found_keys, keys[starts], what + ", keys")
    wanted = np.add.reduceat(values, starts) if n else values
    if values.dtype.kind == "f":
        # Small whole numbers: sums are exact in any order.
        close(sums, wanted, 0, what + ", sums")
    else:
        same(sums, wanted, what + ", sums")


ALGORITHMS = {
    "reduce": reduce,
    "scan": scan,
    "select": select,
    "partition": partition,
    "sort": sort,
    "reduce_by_key": reduce_by_key,
    "unique": unique,
}


def kernels_of(module):
    """Each kernel's name and the type of its data, which the name has."""
    with open(module, encoding="utf-8") as file:
        lines = file.read().split("qd.grid.kernel @")[1:]
    names = [line.split("(")[0] for line in lines]
    return [(name, next(word for word in name.split("_") if word in TYPES)) for name in names]


def main():
    algorithm, module, qd_translate, qd_run, folder = sys.argv[1:6]
    target = sys.argv[6] if len(sys.argv) > 6 else "cpu"
    named = [int(size) for size in sys.argv[7:]]
    runner = Runner(module, qd_translate, qd_run, folder, target)
    cases = 0
    for k, (kernel, dtype) in enumerate(kernels_of(module)):
        for i, n in enumerate(named or SIZES):
            # Over all kernels and sizes each size meets each shape.
            shapes = {SHAPES[(i + k) % 8]} if named else {SHAPES[(i + k) % 8], SHAPES[(3 * i + 5 * k + 1) % 8]}
            for shape in shapes:
                random = np.random.default_rng([n, k])
                # Beyond the live count there is data that must not matter.
                values = data(shape, TYPES[dtype], n + i % 3, random)
                ALGORITHMS[algorithm](runner, kernel, values, n, f"{kernel}, {n} elements, {shape}")
                cases += 1
    print(f"{algorithm}: {cases} cases agree with NumPy")


if __name__ == "__main__":
    main()
