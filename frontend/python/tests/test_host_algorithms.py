"""`parallel_sort` and `PrefixSumExecutor`, against NumPy."""

import warnings

import numpy as np
import pytest

import qd

ignored = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def field(dtype, values):
    """A field whose first index is not 0."""
    made = qd.field(dtype, len(values), offset=-3)
    made.from_numpy(values)
    return made


def ndarray(dtype, values):
    made = qd.ndarray(dtype, len(values))
    made.from_numpy(values)
    return made


@ignored
@pytest.mark.parametrize("make", [field, ndarray])
@pytest.mark.parametrize("size", [0, 1, 257])
def test_sort_of_keys(make, size):
    keys = np.random.default_rng(0).normal(size=size).astype(np.float32)
    given = make(qd.f32, keys)
    qd.algorithms.parallel_sort(given)
    np.testing.assert_array_equal(given.to_numpy(), np.sort(keys))


@ignored
@pytest.mark.parametrize("dtype, of_values", [(qd.i64, qd.u8), (qd.i16, qd.f64)])
def test_sort_of_pairs_of_any_types(dtype, of_values):
    keys = np.random.default_rng(0).permutation(200) - 100
    values = keys % 50
    given, moved = field(dtype, keys), ndarray(of_values, values)
    qd.algorithms.parallel_sort(given, moved)
    assert (given.dtype, moved.dtype) == (dtype, of_values)
    np.testing.assert_array_equal(given.to_numpy(), np.sort(keys))
    np.testing.assert_array_equal(moved.to_numpy(), np.sort(keys) % 50)


@ignored
@pytest.mark.parametrize("make", [field, ndarray])
@pytest.mark.parametrize("size", [0, 1, 1000])
def test_prefix_sums(make, size):
    sums = qd.algorithms.PrefixSumExecutor(size)
    for seed in range(2):
        values = np.random.default_rng(seed).integers(-99, 99, size).astype(np.int32)
        given = make(qd.i32, values)
        sums.run(given)
        np.testing.assert_array_equal(given.to_numpy(), np.cumsum(values))


@ignored
def test_what_is_refused():
    keys, sums = qd.field(qd.i32, 4), qd.algorithms.PrefixSumExecutor(4)
    for call, kind, message in [
        (lambda: qd.algorithms.parallel_sort([1]), TypeError, "a field or an ndarray is expected, and not list"),
        (lambda: qd.algorithms.parallel_sort(qd.field(qd.i32, (2, 2))), ValueError, "of one dimension"),
        (lambda: qd.algorithms.parallel_sort(keys, qd.field(qd.i32, 3)), ValueError, r"Mismatch shape: \(3,\)"),
        (lambda: qd.algorithms.parallel_sort(keys, keys), ValueError, "arrays of their own"),
        (lambda: sums.run(qd.field(qd.i32, 3)), ValueError, "Mismatch shape"),
        (lambda: sums.run(qd.field(qd.u32, 4)), RuntimeError, r"^Only qd\.i32 type is supported for prefix sum\.$"),
    ]:
        with pytest.raises(kind, match=message):
            call()


def test_the_caller_is_warned():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        qd.algorithms.parallel_sort(qd.field(qd.i32, 3))
        sums = qd.algorithms.PrefixSumExecutor(3)
        sums.run(qd.field(qd.i32, 3))
    assert [(each.category, each.filename) for each in told] == [(DeprecationWarning, __file__)] * 3
    assert [str(each.message).rpartition(".")[2] for each in told] == ["sort", "exclusive_scan_add", "exclusive_scan_add"]


def test_the_names_that_there_are():
    forms = [f"{form}_{name}" for form in ("reduce", "exclusive_scan") for name in ("add", "min", "max")]
    slots = [f"{form}_scratch_slots" for form in ("exclusive_scan", "reduce", "reduce_by_key", "select", "sort")]
    named = ["PrefixSumExecutor", "parallel_sort", "select", "sort", "reduce_by_key_add", *forms, *slots]
    shown = [name for name in dir(qd.algorithms) if not name.startswith("_")]
    assert shown == sorted(named) == sorted(qd.algorithms.__all__)
