"""A picture of the distances that flights.py finds, the twenty with the longest mean delays, and a trace of how it was done.

    python flights_picture.py FILE [--trace FILE]

The picture takes matplotlib. The trace is for chrome://tracing or Perfetto. What the kernel found is checked against NumPy.
"""

import argparse

import flights
import numpy as np

import qd


def expected(delay, distance):
    """What `flights.run` returns, by NumPy."""
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
    parser.add_argument("picture", metavar="FILE", nargs="?", help="draw the worst distances into this file")
    parser.add_argument("--trace", metavar="FILE", help="write what the device did when into this file")
    options = parser.parse_args()
    qd.init(kernel_profiler=options.trace is not None)
    given = [np.load(flights.DATA / f"{name}.npy") for name in ("delay", "distance")]
    worst, mean, distances, means = run = flights.run(*given)
    for ours, numpys in zip(run, expected(*given)):
        np.testing.assert_array_equal(ours, numpys)
    print(f"{worst} miles: {mean:.1f} minutes")
    if options.picture:
        draw(distances, means, options.picture)
    if options.trace:
        qd.profiler.write_trace(options.trace)


if __name__ == "__main__":
    main()
