"""What the tests share: a device, and kernels from text."""

import importlib.util
import itertools
import os
import zlib

import pytest

import qd

try:
    from hypothesis import HealthCheck, settings
except ImportError:
    settings = None

if settings is not None:
    # The fixtures are for all examples of a test: a device, and a folder. Runs are alike, and none depends on a clock.
    alike = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
    settings.register_profile("short", max_examples=40, derandomize=True, **alike)
    settings.register_profile("long", max_examples=2000, print_blob=True, **alike)
    settings.load_profile("short")

# What is tested is compiled, and not found.
os.environ["QD_CACHE_DIR"] = ""


def pytest_addoption(parser):
    parser.addoption("--every", type=int, default=1, metavar="N", help="one of N of each test's parameters, drawn")
    parser.addoption("--part", default="0/1", metavar="K/N", help="the K-th of N parts of the files, from 0 on")


def pytest_collection_modifyitems(config, items):
    every, seen = config.getoption("every"), set()
    part, parts = map(int, config.getoption("part").split("/"))

    def is_left(item):
        """The first of each test is, and others by their names, so that each choice of several parameters meets some."""
        if zlib.crc32(item.path.name.encode()) % parts != part:
            return False
        test = (item.path, item.originalname)
        is_first = test not in seen
        seen.add(test)
        return is_first or zlib.crc32(item.nodeid.encode()) % every == 0

    left = [item for item in items if is_left(item)]
    config.hook.pytest_deselected(items=list(set(items).difference(left)))
    items[:] = left


def pytest_configure(config):
    config.addinivalue_line("markers", "host: of what is so on the cpu alone")
    config.addinivalue_line("markers", "lanes(most): of subgroups with at least so many lanes")


@pytest.fixture(autouse=True)
def device(request):
    """That of `QD_ARCH`, or the cpu."""
    qd.init(enable_fallback=False)
    of_host, lanes = (request.node.get_closest_marker(name) for name in ("host", "lanes"))
    if of_host and qd.cfg.arch != qd.cpu:
        pytest.skip("of the cpu alone")
    if lanes and qd.simt.subgroup.group_size() < lanes.args[0]:
        pytest.skip(f"of subgroups with {lanes.args[0]} lanes")
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
