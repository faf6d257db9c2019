"""The programs in `examples/python`."""

import importlib.util
import json
import pathlib
import sys

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples/python"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    # One imports another.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


quicksort = load("quicksort")


@pytest.mark.parametrize("check", quicksort.CHECKS.values(), ids=quicksort.CHECKS)
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000])
def test_the_quicksort_articles_programs(check, n):
    check(n, np.random.default_rng(n))


flights, picture = load("flights"), load("flights_picture")


def test_the_flights():
    for size in (1, 300, 70_000, None):
        delay, distance = (np.load(flights.DATA / f"{name}.npy")[:size] for name in ("delay", "distance"))
        # Some flight is late.
        delay[0] = 99
        for ours, numpys in zip(flights.run(delay, distance), picture.expected(delay, distance)):
            np.testing.assert_array_equal(ours, numpys)


def test_the_trace_of_the_flights(tmp_path, monkeypatch):
    file = tmp_path / "flights.json"
    monkeypatch.setattr(sys, "argv", ["flights_picture.py", "--trace", str(file)])
    picture.main()
    events = json.loads(file.read_text())["traceEvents"]
    assert [event["name"] for event in events].count("worst_distance") == 1
    assert sum(event["args"].get("kernel") == "worst_distance" for event in events) > 10


def test_the_picture_of_the_flights(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    file = tmp_path / "flights.png"
    monkeypatch.setattr(sys, "argv", ["flights_picture.py", str(file)])
    picture.main()
    assert capsys.readouterr().out == "115 miles: 154.3 minutes\n"
    from matplotlib import pyplot

    bars, names = pyplot.gca().patches, pyplot.gca().get_yticklabels()
    assert len(bars) == 20 and names[-1].get_text() == "115 miles"
    np.testing.assert_allclose(bars[-1].get_width(), 154.33333)
    # The bars are in the file, too.
    pixels = pyplot.imread(file)
    assert np.isclose(pixels, bars[0].get_facecolor()).all(axis=2).mean() > 0.1
    pyplot.close()
