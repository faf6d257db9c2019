"""What the tests share: a device, and kernels from text."""

import importlib.util
import itertools

import pytest

import qd


@pytest.fixture(autouse=True)
def device():
    qd.init()
    yield
    qd.reset()


@pytest.fixture
def module(tmp_path):
    """Makes a module of a text: kernels need a source file."""
    numbers = itertools.count()

    def make(text):
        path = tmp_path / f"kernels_{next(numbers)}.py"
        path.write_text("import qd\n" + text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        return loaded

    return make
