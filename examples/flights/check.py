"""Compares what flights.mlir computed with NumPy.

    qd-run flights.mlir … --out num_late=OUT/num_late.npy …
    python3 check.py OUT

OUT is a folder with a file per result; tests/filecheck/run/flights.mlir has the full command.
"""

import os
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))


def expected():
    """The same group-by, in NumPy."""
    delay = np.load(os.path.join(here, "delay.npy"))
    distance = np.load(os.path.join(here, "distance.npy"))
    late = delay > 15
    # Stable, as the kernel's sort is.
    order = np.argsort(distance[late], kind="stable")
    late_distance = distance[late][order]
    late_delay = delay[late][order]
    distances, starts, counts = np.unique(late_distance, return_index=True, return_counts=True)
    totals = np.add.reduceat(late_delay, starts)
    means = totals.astype(np.float32) / counts.astype(np.float32)
    # The first of the largest: distances ascend, so ties go to the shorter one.
    worst = np.argmax(means)
    return {
        "num_late": np.int32(late.sum()),
        "late_distance": late_distance,
        "late_delay": late_delay,
        "num_distances": np.int32(len(distances)),
        "distances": distances,
        "totals": totals,
        "counts": counts,
        "offsets": starts,
        "means": means,
        "worst_distance": distances[worst : worst + 1],
        "worst_mean": means[worst : worst + 1],
    }


def main():
    folder = sys.argv[1]
    for name, value in expected().items():
        found = np.load(os.path.join(folder, name + ".npy"))
        wanted = np.asarray(value).astype(found.dtype)
        if found.shape != wanted.shape or not np.array_equal(found, wanted):
            sys.exit(f"{name} differs from NumPy's:\n{found}\ninstead of\n{wanted}")
    print("All results agree with NumPy's")


if __name__ == "__main__":
    main()
