"""The examples of the reference: the cells of `examples/python/reference`, as they stand on its pages. What a page takes for
granted is given to its cells by name."""

import pathlib
from types import SimpleNamespace

import numpy as np
import pytest

import qd
from qd import _perf_dispatch

PAGES = pathlib.Path(__file__).parents[3] / "examples/python/reference"


@pytest.fixture(autouse=True)
def as_the_pages_have_it(device, monkeypatch):
    qd.install_as_quadrants()
    # One of the cells asks for whatever device there is.
    monkeypatch.setenv("QD_ARCH", qd.cfg.arch.name)


def run(page, *titles, **names):
    """Executes cells of a page, in this order; all names that there are then."""
    path = PAGES / f"{page}.py"
    names |= {"__name__": "reference", "np": np, "qd": qd}
    for title in titles:
        before, rest = path.read_text().split(f"# %% {title}\n")
        cell = rest.partition("\n# %% ")[0]
        # Each line has its number in the file, where kernels look for their source.
        exec(compile("\n" * (before.count("\n") + 1) + cell, path, "exec"), names)
    return SimpleNamespace(**names)


def test_capacity_and_scratch():
    of = run("algorithms", "capacity", "scratch")
    assert [of.log256_max_n(n) for n in (0, 256, 257, 65_536, of.N, 2**32)] == [1, 1, 2, 2, of.D, 4]
    assert of.scratch.shape == of.scratch64.shape and of.scratch.shape[0] >= of.N / 256


PRINTED = {
    "reduce": "31\n",
    "exclusive scan": "[ 0  3  4  8  9 14 23 25]\n",
    "select": "4\n[10 12 13 16]\n",
    "sort": "[1 1 2 3 4 5 6 9]\n[1 3 6 0 2 4 7 5]\n",
    "reduce by key": "3\n[1 2 3]\n[8 8 8]\n",
}


@pytest.mark.parametrize("title", PRINTED)
def test_algorithms_print_what_the_page_says(title, capsys):
    run("algorithms", "prelude", title)
    assert capsys.readouterr().out == PRINTED[title]


@pytest.mark.parametrize("title, now", [("parallel sort", "sort"), ("prefix sum", "exclusive_scan_add")])
def test_deprecated_algorithms(title, now):
    with pytest.warns(DeprecationWarning, match=rf"use qd\.algorithms\.{now}$"):
        run("algorithms", "prelude", title)


def test_an_algorithm_among_other_phases():
    of = run("algorithms", "composition", log256_max_n=1)
    out, scratch = np.zeros(1, np.float32), np.zeros(qd.algorithms.reduce_scratch_slots(8, 1), np.uint32)
    of.my_pipeline(np.arange(8, dtype=np.float32), out, scratch, np.array([5], np.int32))
    assert out == 0 + 1 + 2 + 3 + 4


def floats(n):
    """Two arrays: numbers, and zeros."""
    a, b = qd.ndarray(qd.f32, n), qd.ndarray(qd.f32, n)
    a.from_numpy(np.arange(n, dtype=np.float32))
    b.fill(0)
    return a, b


def check_doubled(a, b):
    np.testing.assert_array_equal(b.to_numpy(), 2 * a.to_numpy())


def test_dispatch_to_a_kernel_and_to_python():
    a, b = floats(8)
    of = run("perf_dispatch", "prototype", "kernels", "python", "call", a=a, b=b)
    check_doubled(a, b)
    # It shifts a real. If it might, it would not end.
    with pytest.raises(qd.QuadrantsTypeError, match="'<<': 'f32' and 'i32'"):
        of.my_op_v2(a, b)
    for implementation in (of.my_op_v1, of.my_op_python):
        b.fill(0)
        implementation(a, b)
        check_doubled(a, b)


def test_dispatch_returns_what_an_implementation_does():
    a, b = floats(8)
    assert run("perf_dispatch", "return value", a=a, b=b).count == 8
    check_doubled(a, b)


def test_dispatch_to_what_is_compatible():
    of = run("perf_dispatch", "geometry", "python", "compatible")
    for n, tried in ((8, []), (1024, [of.my_op_python, of.my_op_large])):
        a, b = floats(n)
        for _ in range(2):
            of.my_op(a, b)
        # One that is alone is not measured.
        counts = of.my_op._trial_count_by_dispatch_impl_by_geometry_hash.get(hash((n, n)), {})
        assert list(counts) == tried
        check_doubled(a, b)


def test_dispatch_as_it_is_tuned():
    of = run("perf_dispatch", "tuning")
    assert (of.my_op.num_warmup, of.my_op.num_active, of.my_op.repeat_after_seconds) == (5, 2, 60.0)


def test_the_complete_example_of_dispatch(monkeypatch):
    # As the page forces it: the other one shifts reals, too.
    monkeypatch.setattr(_perf_dispatch, "_FORCE_MAP", _perf_dispatch._parse_force_map("my_op:my_op_v2,transform:transform_v1"))
    monkeypatch.setattr(_perf_dispatch, "_ANY_FORCE_ACTIVE", True)
    of = run("perf_dispatch", "complete")
    of.data.fill(3)
    of.transform(of.data, of.out)
    assert (of.out.to_numpy() == 6).all()


@pytest.fixture
def x():
    return np.random.default_rng(0).integers(-9, 9, 128).astype(np.float32)


def lanes_of(x, size=32):
    """A row for each so many lanes."""
    return x.reshape(-1, size)


def test_broadcast(x):
    first = lanes_of(x, qd.simt.subgroup.group_size())[:, :1]
    expected = np.broadcast_to(first, (len(first), len(x) // len(first))).ravel()
    run("subgroup", "broadcast").broadcast(x)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize(
    "name, lanes, expected",
    [
        ("identity", slice(None), lambda x: x),
        ("swap_pairs", slice(None), lambda x: lanes_of(x, 2)[:, ::-1].ravel()),
        ("reverse4", slice(None), lambda x: lanes_of(x, 4)[:, ::-1].ravel()),
        ("reduce4", slice(None, None, 4), lambda x: lanes_of(x, 4).sum(1)),
        pytest.param("sum32", slice(4), lambda x: lanes_of(x).sum(1), marks=pytest.mark.lanes(32)),
    ],
)
def test_from_one_array_to_another(x, name, lanes, expected):
    of = run("subgroup", "broadcast", name)
    out = np.zeros_like(x)
    getattr(of, name)(x, out)
    np.testing.assert_array_equal(out[lanes], expected(x))


@pytest.mark.lanes(32)
def test_ballot(x):
    counts = np.zeros(4, np.uint32)
    run("subgroup", "broadcast", "count_positive").count_positive(x, counts)
    np.testing.assert_array_equal(counts, np.packbits(x > 0, bitorder="little").view(np.uint32))


@pytest.mark.lanes(32)
def test_normalize():
    x = np.arange(1, 129, dtype=np.float32)
    expected = (lanes_of(x) / lanes_of(x).sum(1, keepdims=True)).ravel()
    run("subgroup", "broadcast", "normalize32").normalize32(x)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.lanes(32)
@pytest.mark.parametrize("n", [0, 1, 17, 32])
def test_sort_of_contacts(x, n):
    keys, places = x[:32].copy(), np.arange(32, dtype=np.int32)
    run("subgroup", "broadcast", "sort_contacts").sort_contacts(keys, places, n)
    order = np.lexsort((np.arange(n), x[:n]))
    np.testing.assert_array_equal(keys, np.concatenate([x[order], x[n:32]]))
    np.testing.assert_array_equal(places, np.concatenate([order, np.arange(n, 32)]))


@pytest.mark.lanes(32)
def test_cumulative_sum(x):
    a = x.astype(np.int32)
    run("subgroup", "broadcast", "cumsum").cumsum(a)
    np.testing.assert_array_equal(a, lanes_of(x).cumsum(1).ravel())


def test_bits():
    of = run("math", "count_bits", "msb", "lowest_set_bit_index")
    msb, lowest_set_bit_index = of.msb, of.lowest_set_bit_index

    @qd.kernel
    def bits(x: qd.types.NDArray[qd.u32, 1], highest: qd.types.NDArray[qd.i32, 1], lowest: qd.types.NDArray[qd.i32, 1]):
        for i in x:
            highest[i] = msb(x[i])
            lowest[i] = lowest_set_bit_index(x[i])

    x = np.array([0, 1, 2, 12, 0x8000_0000, 0xFFFF_FFFF, 0x0001_8000], np.uint32)
    total, highest, lowest = np.zeros(1, np.int32), np.zeros(len(x), np.int32), np.zeros(len(x), np.int32)
    of.count_bits(x, total)
    assert total == sum(bin(each).count("1") for each in x)
    bits(x, highest, lowest)
    np.testing.assert_array_equal(highest, [int(each).bit_length() - 1 for each in x])
    np.testing.assert_array_equal(lowest, [-1, 0, 1, 2, 31, 0, 15])
