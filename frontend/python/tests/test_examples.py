"""The programs in `examples/python`."""

import importlib.util
import pathlib

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples/python"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


quicksort = load("quicksort")


@pytest.mark.parametrize("check", quicksort.CHECKS.values(), ids=quicksort.CHECKS)
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000])
def test_the_quicksort_articles_programs(check, n):
    check(n, np.random.default_rng(n))


flights = load("flights")


def test_the_flights():
    for size in (1, 300, 70_000, None):
        delay, distance = (np.load(flights.DATA / f"{name}.npy")[:size] for name in ("delay", "distance"))
        # Some flight is late.
        delay[0] = 99
        for ours, numpys in zip(flights.run(delay, distance), flights.expected(delay, distance)):
            np.testing.assert_array_equal(ours, numpys)
