"""The quicksort article's programs: a prefix sum, a partition, the whole sort, a fold of any operator, and the Game of
Life. Each is checked against NumPy.

    python quicksort.py [elements]
"""

import sys

import numpy as np

import qd

# Elements that one thread goes over, in order.
BLOCK = 64

I32 = qd.types.NDArray[qd.i32, 1]
F32 = qd.types.NDArray[qd.f32, 1]


@qd.kernel
def scan_step(y: I32, next_y: I32, stride: qd.i32):
    for i in y:
        if i >= stride:
            next_y[i] = y[i] + y[i - stride]
        else:
            next_y[i] = y[i]


def prefix_sum(x):
    """The inclusive prefix sum, a level of the tree at a time."""
    y, next_y = x.copy(), np.empty_like(x)
    stride = 1
    while stride < len(x):
        scan_step(y, next_y, stride)
        y, next_y = next_y, y
        stride *= 2
    return y


@qd.kernel
def count(x: F32, pivot: qd.f32, below: I32, above: I32):
    for block in below:
        less = 0
        first = block * BLOCK
        last = min(first + BLOCK, x.shape[0])
        for i in range(first, last):
            if x[i] < pivot:
                less += 1
        below[block] = less
        above[block] = last - first - less


@qd.kernel
def place(x: F32, y: F32, pivot: qd.f32, below: I32, above: I32, below_sums: I32, above_sums: I32):
    for block in below:
        # Where this block's elements go: behind those of the blocks before it.
        to_below = below_sums[block] - below[block]
        to_above = below_sums[below.shape[0] - 1] + above_sums[block] - above[block]
        first = block * BLOCK
        for i in range(first, min(first + BLOCK, x.shape[0])):
            value = x[i]
            if value < pivot:
                y[to_below] = value
                to_below += 1
            else:
                y[to_above] = value
                to_above += 1


def partition(x, y, pivot):
    """Copies what is less than the pivot to the front of `y`, and the rest behind it; how many are less."""
    blocks = -(-len(x) // BLOCK)
    below, above = np.empty(blocks, np.int32), np.empty(blocks, np.int32)
    count(x, pivot, below, above)
    below_sums, above_sums = prefix_sum(below), prefix_sum(above)
    place(x, y, pivot, below, above, below_sums, above_sums)
    return int(below_sums[-1])


def quicksort(x, random):
    """Sorts in place."""
    other = np.empty_like(x)
    parts = [(0, len(x))]
    while parts:
        first, last = parts.pop()
        if last - first <= 1:
            continue
        pivot = x[first + random.integers(last - first)]
        less = partition(x[first:last], other[first:last], pivot)
        x[first:last] = other[first:last]
        if less == 0:
            # The pivot is the least. What is equal to it is in place, once it stands in front.
            rest = x[first:last]
            rest[:] = np.concatenate([rest[rest == pivot], rest[rest != pivot]])
            parts.append((first + int((rest == pivot).sum()), last))
        else:
            parts += [(first, first + less), (first + less, last)]


@qd.func
def largest(a, b):
    return max(a, b)


@qd.func
def total(a, b):
    return a + b


@qd.func
def composed(a, b):
    """Two linear functions modulo 256, one after the other, each in 16 bits: it is associative, but not commutative."""
    slope = (a >> 8) * (b >> 8) & 255
    offset = ((a & 255) * (b >> 8) + (b & 255)) & 255
    return slope << 8 | offset


@qd.kernel
def fold_level(op: qd.template(), x: qd.template(), y: qd.template()):
    for i in y:
        if 2 * i + 1 < x.shape[0]:
            y[i] = op(x[2 * i], x[2 * i + 1])
        else:
            y[i] = x[2 * i]


def fold(op, x):
    """All elements combined, a level of the tree at a time."""
    while len(x) > 1:
        y = np.empty(-(-len(x) // 2), x.dtype)
        fold_level(op, x, y)
        x = y
    return x[0]


@qd.kernel
def life(now: qd.types.NDArray[qd.i32, 2], then: qd.types.NDArray[qd.i32, 2]):
    for i, j in now:
        alive = 0
        for di, dj in qd.static(qd.ndrange((-1, 2), (-1, 2))):
            if qd.static((di, dj) != (0, 0)):
                alive += now[(i + di) % now.shape[0], (j + dj) % now.shape[1]]
        then[i, j] = 1 if alive == 3 or (alive == 2 and now[i, j] == 1) else 0


def check_sums(n, random):
    x = random.integers(-1000, 1000, n).astype(np.int32)
    np.testing.assert_array_equal(prefix_sum(x), np.cumsum(x, dtype=np.int32))


def check_partition(n, random):
    x = random.random(n, np.float32)
    y, pivot = np.empty_like(x), x[random.integers(n)]
    less = partition(x, y, pivot)
    np.testing.assert_array_equal(y, np.concatenate([x[x < pivot], x[x >= pivot]]))
    assert less == (x < pivot).sum()


def check_sort(n, random):
    x = random.integers(0, max(2, n // 2), n).astype(np.float32)
    wanted = np.sort(x)
    quicksort(x, random)
    np.testing.assert_array_equal(x, wanted)


def check_fold(n, random):
    x = random.integers(-1000, 1000, n).astype(np.int32)
    assert fold(largest, x) == x.max()
    assert fold(total, x) == x.sum(dtype=np.int32)
    functions = random.integers(0, 2**16, n).astype(np.int32)
    slope, offset = 1, 0
    for each in functions.tolist():
        slope, offset = slope * (each >> 8) % 256, (offset * (each >> 8) + each % 256) % 256
    assert fold(composed, functions) == slope << 8 | offset


def check_life(n, random):
    side = max(3, int(n**0.5))
    now = random.integers(0, 2, (side, side + 1)).astype(np.int32)
    then = np.empty_like(now)
    wanted = now.copy()
    for _ in range(10):
        moves = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        alive = sum(np.roll(wanted, move, (0, 1)) for move in moves)
        wanted = ((alive == 3) | ((alive == 2) & (wanted == 1))).astype(np.int32)
        life(now, then)
        now, then = then, now
    np.testing.assert_array_equal(now, wanted)


CHECKS = {
    "prefix sum": check_sums, "partition": check_partition, "quicksort": check_sort, "fold": check_fold, "Game of Life": check_life,
}  # fmt: skip


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    qd.init()
    for name, check in CHECKS.items():
        check(n, np.random.default_rng(n))
        print(f"{name} of {n}: as NumPy has it")


if __name__ == "__main__":
    main()
