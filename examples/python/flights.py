"""Which distance has the worst delays? A group-by over 200,000 flights in one kernel: those that were more than 15 minutes
late, and of each distance the mean of their delays. The answer is checked against NumPy.

    python flights.py [--picture FILE] [--trace FILE]

The picture has the distances with the longest mean delays; it takes matplotlib. The trace is for chrome://tracing or Perfetto.
"""

import argparse
import pathlib

import numpy as np

import qd

DATA = pathlib.Path(__file__).parents[1] / "flights"
# Up to 256 ** 3 flights.
D = 3

I32, U32, F32 = (qd.types.NDArray[dtype, 1] for dtype in (qd.i32, qd.u32, qd.f32))


@qd.kernel
def worst_distance(
    delay: I32, distance: I32, flags: I32, delays: I32, late: I32, tmp: I32, more_tmp: I32, distances: I32, totals: I32,
    counts: I32, means: F32, num_late: I32, num_distances: I32, scratch: U32,
) -> (qd.i32, qd.f32):  # fmt: skip
    for i in delay:
        flags[i] = delay[i] > 15
    qd.algorithms.select(delay, flags, delays, num_late, scratch, delay.shape[0], D)
    qd.algorithms.select(distance, flags, late, num_late, scratch, delay.shape[0], D)
    # Distances are below 2 ** 16.
    qd.algorithms.sort(late, tmp, delays, more_tmp, scratch, num_late[0], qd.i32, True, 16, D)
    qd.algorithms.reduce_by_key_add(late, delays, distances, totals, num_distances, scratch, num_late[0], qd.i32, D)
    for i in flags:
        flags[i] = 1
    qd.algorithms.reduce_by_key_add(late, flags, tmp, counts, num_distances, scratch, num_late[0], qd.i32, D)
    worst, mean = 2**31 - 1, 0.0
    for i in range(num_distances[0]):
        means[i] = totals[i] / counts[i]
        qd.atomic_max(mean, means[i])
    for i in range(num_distances[0]):
        if means[i] == mean:
            qd.atomic_min(worst, distances[i])
    return worst, mean


def run(delay, distance):
    """The worst distance, its mean delay, and all distances with their means."""
    size = len(delay)
    slots = max(qd.algorithms.sort_scratch_slots(size, D), qd.algorithms.reduce_by_key_scratch_slots(size))
    work = [np.empty(size, np.int32) for _ in range(5)]
    distances, totals, counts, means = (np.empty(size, of) for of in (np.int32, np.int32, np.int32, np.float32))
    num_late, num_distances = np.empty(1, np.int32), np.empty(1, np.int32)
    found = worst_distance(
        delay, distance, *work, distances, totals, counts, means, num_late, num_distances, np.empty(slots, np.uint32)
    )
    return *found, distances[: num_distances[0]], means[: num_distances[0]]


def expected(delay, distance):
    """The same, by NumPy."""
    late = delay > 15
    distances, groups = np.unique(distance[late], return_inverse=True)
    means = (np.bincount(groups, delay[late]) / np.bincount(groups)).astype(np.float32)
    worst = means.argmax()
    return distances[worst], means[worst], distances, means


def draw(distances, means, file):
    """Draws the twenty worst distances."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    worst = np.argsort(means)[-20:]
    pyplot.barh([f"{each} miles" for each in distances[worst]], means[worst])
    pyplot.xlabel("mean delay of late flights, minutes")
    pyplot.tight_layout()
    pyplot.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--picture", metavar="FILE", help="draw the worst distances into this file")
    parser.add_argument("--trace", metavar="FILE", help="write what the device did when into this file")
    options = parser.parse_args()
    qd.init(kernel_profiler=options.trace is not None)
    delay, distance = np.load(DATA / "delay.npy"), np.load(DATA / "distance.npy")
    worst, mean, distances, means = run(delay, distance)
    for ours, numpys in zip((worst, mean, distances, means), expected(delay, distance)):
        np.testing.assert_array_equal(ours, numpys)
    print(f"{worst} miles: {mean:.1f} minutes")
    if options.picture:
        draw(distances, means, options.picture)
    if options.trace:
        qd.profiler.write_trace(options.trace)


if __name__ == "__main__":
    main()
