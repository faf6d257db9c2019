"""Annotations that are text, as all of this file are."""

from __future__ import annotations

import numpy as np
import pytest

import qd


def test_types_of_the_surroundings():
    def make(T):
        @qd.func
        def twice(x: T, count: qd.template()) -> T:
            count += 1
            return x + qd.cast(x, T)

        @qd.kernel
        def k(a: qd.types.NDArray[qd.f32, 1], x: T, n: qd.template()) -> tuple[T, qd.i32]:
            count = 0
            y: "T" = a[n]
            y += twice(2.5, count)
            return y + qd.cast(x, T), count

        return k

    a = np.full(3, 1.5, np.float32)
    assert make(qd.i32)(a, 3, 2) == (8, 1)
    assert make(qd.f64)(a, 0.1, 0) == (6.6, 1)


def test_names_that_mean_nothing():
    @qd.kernel
    def parameter(n: qd.i32, a: Missing):  # noqa: F821
        pass

    @qd.kernel
    def result(n: qd.i32) -> (qd.i32, Missing):  # noqa: F821
        return 1

    for kernel in (parameter, result):
        with pytest.raises(qd.QuadrantsNameError, match='Name "Missing" is not defined') as caught:
            kernel(1)
        place, line, carets, _ = str(caught.value).split("\n")
        assert place.endswith(f"in {kernel.__name__}:") and line[carets.index("^") : carets.rindex("^") + 1] == "Missing"


@pytest.mark.parametrize("ndim", ["2", -1, 1.5])
def test_numbers_of_dimensions_that_are_none(ndim):
    for make in (lambda: qd.types.NDArray[qd.f32, ndim], lambda: qd.types.ndarray(ndim=ndim)):
        with pytest.raises(TypeError, match=f"ndim is a number of dimensions, and not {ndim!r}"):
            make()
