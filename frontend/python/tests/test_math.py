"""`qd.math`, against Python and NumPy."""

import math

import numpy as np
import pytest

import qd

VALUES = [0.0, -0.0, 1.0, -1.5, 0.25, 7.75, -1e-3, 3e8, -2.5e30, math.inf, -math.inf, math.nan]


def on_each(function, dtype, values, *more):
    """A function of kernels on each of some values."""
    of = {qd.f32: np.float32, qd.f64: np.float64, qd.i32: np.int32, qd.i64: np.int64}[dtype]

    @qd.kernel
    def k(a: qd.types.NDArray[dtype, 1]):
        for i in range(a.shape[0]):
            a[i] = qd.cast(function(a[i], *more), dtype)

    a = np.array(values, of)
    k(a)
    return a


@pytest.mark.parametrize("dtype, of", [(qd.f32, np.float32), (qd.f64, np.float64)])
def test_frexp(dtype, of):
    tiny = np.finfo(of).smallest_subnormal
    values = np.array([*VALUES, tiny, -3 * tiny, np.finfo(of).smallest_normal, np.finfo(of).max, 1 / 3], of)

    @qd.kernel
    def k(a: qd.types.NDArray[dtype, 1], mantissas: qd.types.NDArray[dtype, 1], exponents: qd.types.NDArray[qd.i32, 1]):
        for i in range(a.shape[0]):
            mantissas[i], exponents[i] = qd.frexp(a[i])

    mantissas, exponents = np.zeros_like(values), np.zeros(len(values), np.int32)
    k(values, mantissas, exponents)
    expected = np.frexp(values)
    is_finite = np.isfinite(values)
    np.testing.assert_array_equal(mantissas.view(f"i{of().nbytes}"), expected[0].view(f"i{of().nbytes}"))
    np.testing.assert_array_equal(exponents, np.where(is_finite, expected[1], 0))


def test_frexp_takes_reals():
    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        m, e = qd.frexp(x)
        return e

    with pytest.raises(qd.QuadrantsCompilationError, match="frexp takes real inputs only"):
        k(1)


def test_classes_of_floats():
    np.testing.assert_array_equal(on_each(qd.math.isnan, qd.f64, VALUES), np.isnan(VALUES))
    np.testing.assert_array_equal(on_each(qd.math.isinf, qd.f32, VALUES), np.isinf(np.array(VALUES, np.float32)))
    np.testing.assert_array_equal(on_each(qd.math.isnan, qd.i32, [0, 1, -5]), [0, 0, 0])


def test_signs():
    expected = [0 if math.isnan(x) else np.sign(x) for x in VALUES]
    np.testing.assert_array_equal(on_each(qd.math.sign, qd.f32, VALUES), np.array(expected, np.float32))
    np.testing.assert_array_equal(on_each(qd.math.sign, qd.i64, [-(2**63), -1, 0, 1, 2**62]), [-1, -1, 0, 1, 1])


def test_zero_and_one_are_of_the_type():
    @qd.kernel
    def k(x: qd.i64, y: qd.f64) -> (qd.i64, qd.i64, qd.f64):
        return qd.zero(x), qd.one(x) << 40, qd.one(y) / 3

    assert k(5, 6.0) == (0, 2**40, 1 / 3)


FINITE = [0.0, 1.0, -1.5, 0.25, 7.75, -1e-3, 1234.5]


@pytest.mark.parametrize(
    "function, more, expected",
    [
        (qd.math.clamp, (-1.0, 2.0), lambda x: np.clip(x, -1, 2)),
        (qd.math.mix, (10.0, 0.25), lambda x: x * 0.75 + 2.5),
        (qd.math.fract, (), lambda x: x - np.floor(x)),
        (qd.math.mod, (2.5,), lambda x: np.mod(x, 2.5)),
        (qd.math.degrees, (), np.degrees),
        (qd.math.radians, (), np.radians),
    ],
)
def test_functions_of_glsl(function, more, expected):
    np.testing.assert_allclose(on_each(function, qd.f64, FINITE, *more), expected(np.array(FINITE)), rtol=1e-14, atol=1e-14)


def test_steps():
    @qd.kernel
    def k(a: qd.types.NDArray[qd.f64, 1], steps: qd.types.NDArray[qd.f64, 1]):
        for i in range(a.shape[0]):
            steps[i] = qd.math.step(0.25, a[i])
            a[i] = qd.math.smoothstep(0.0, 2.0, a[i])

    a = np.array(FINITE)
    steps = np.zeros_like(a)
    t = np.clip(a / 2, 0, 1)
    expected = t * t * (3 - 2 * t)
    is_above = a >= 0.25
    k(a, steps)
    np.testing.assert_allclose(a, expected, rtol=1e-14)
    np.testing.assert_array_equal(steps, is_above)


def test_rsqrt_and_log2():
    values = [0.25, 1.0, 2.0, 1e10]
    np.testing.assert_allclose(on_each(qd.rsqrt, qd.f64, values), 1 / np.sqrt(values), rtol=1e-14)
    np.testing.assert_allclose(on_each(qd.math.log2, qd.f64, values), np.log2(values), rtol=1e-14, atol=1e-14)


def nth_bit(mask, base, offset):
    """By the reference's words."""
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else 0xFFFFFFFF
    places = range(base, 32) if offset > 0 else range(min(base, 31) if base < 32 else -1, -1, -1)
    bits = [at for at in places if mask >> at & 1]
    return bits[abs(offset) - 1] if abs(offset) <= len(bits) else 0xFFFFFFFF


def test_fns():
    random = np.random.default_rng(7)
    masks = [0, 1, 0x80000000, 0xFFFFFFFF, *random.integers(0, 2**32, 20)]
    bases = [0, 1, 15, 31, 32, 0xFFFFFFFF]
    offsets = [0, 1, -1, 2, -3, 16, 32, -32, 33, -33, 2**31 - 1, -(2**31)]
    asked = [(int(m), b, o) for m in masks for b in bases for o in offsets]

    @qd.kernel
    def k(
        masks: qd.types.NDArray[qd.u32, 1],
        bases: qd.types.NDArray[qd.u32, 1],
        offsets: qd.types.NDArray[qd.i32, 1],
        found: qd.types.NDArray[qd.u32, 1],
    ):
        for i in range(masks.shape[0]):
            found[i] = qd.math.fns(masks[i], bases[i], offsets[i])

    m, b, o = (np.array(each, of) for each, of in zip(zip(*asked), (np.uint32, np.uint32, np.int32)))
    found = np.zeros(len(asked), np.uint32)
    k(m, b, o, found)
    assert found.tolist() == [nth_bit(*each) for each in asked]


@pytest.mark.parametrize(
    "asked, instead",
    [("qd.atan", "qd.atan2(x, 1)"), ("qd.math.atan", "qd.atan2(x, 1)"), ("qd.log2", "qd.math.log2"), ("qd.isnan", "qd.math.isnan"), ("qd.math.lerp", "qd.math.mix"), ("qd.math.sinus", None)],
)
def test_names_of_other_languages(asked, instead, module):
    k = module(f"@qd.kernel\ndef k(x: qd.f32) -> qd.f32:\n    return {asked}(x)\n").k
    with pytest.raises(qd.QuadrantsNameError) as caught:
        k(1)
    holder, _, name = asked.rpartition(".")
    says = f"use {instead}" if instead else "it may not be there yet"
    assert str(caught.value).endswith(f"^\nmodule '{holder}' has no attribute '{name}': {says}")


def test_what_is_used_instead_has_the_meaning():
    @qd.kernel
    def k(x: qd.f64, out: qd.types.NDArray[qd.f64, 1]):
        out[0] = qd.atan2(x, 1)
        out[1] = 2.0**x
        out[2] = qd.math.log2(x) * 0.30102999566398120
        out[3] = (qd.exp(x) - qd.exp(-x)) / 2
        out[4] = (qd.exp(x) + qd.exp(-x)) / 2
        out[5] = x - qd.raw_mod(x, 1.0)

    out = np.zeros(6)
    for x in (0.7, 2.3):
        k(x, out)
        np.testing.assert_allclose(out, [np.arctan(x), 2**x, np.log10(x), np.sinh(x), np.cosh(x), np.trunc(x)], rtol=1e-6)


def test_mathematics_of_both_worlds():
    """What Python computes of numbers is as precise as these."""

    @qd.pyfunc
    def several(x, y):
        a = qd.sqrt(x) + qd.exp(y) - qd.log(x=x) * qd.sin(x) / qd.cos(y)
        b = qd.tan(y) + qd.asin(y) * qd.acos(y) + qd.tanh(x) + qd.atan2(x, x2=y)
        c = qd.floor(x) + 10 * qd.ceil(x) + 100 * qd.round(x) + qd.abs(-y) + qd.pow(base=x, exponent=2)
        d = qd.min(x, y, 0.25) - qd.max(x, y) + qd.select(x > y, x1=x, x2=y) + qd.rsqrt(x)
        return a, b, c, d + qd.math.clamp(x, 0.0, 2.0) + qd.math.mix(x, y, 0.5) + qd.math.fract(x) + qd.math.mod(x, y)

    @qd.kernel
    def k(x: qd.f64, y: qd.f64) -> (qd.f64, qd.f64, qd.f64, qd.f64):
        a, b, c, d = several(x, y)
        return a, b, c, d

    x, y = 2.5, 0.75
    expected = (
        math.sqrt(x) + math.exp(y) - math.log(x) * math.sin(x) / math.cos(y),
        math.tan(y) + math.asin(y) * math.acos(y) + math.tanh(x) + math.atan2(x, y),
        2.0 + 30.0 + 200.0 + 0.75 + 6.25,
        0.25 - x + x + 1 / math.sqrt(x) + 2.0 + (x * 0.5 + y * 0.5) + 0.5 + (x - y * 3.0),
    )
    assert several(x, y) == expected
    np.testing.assert_allclose(k(x, y), expected, rtol=1e-12)
    assert qd.select(np.float32(2) > 1, 3, 4) == 3 and qd.sqrt(np.float64(2)) == math.sqrt(2)
    assert qd.math.isnan(float("nan")) and not qd.math.isinf(1.0) and qd.math.smoothstep(0.0, 2.0, 1.0) == 0.5
    for given in (qd.floor(2), qd.round(2.5), qd.ceil(1)):
        assert type(given) is float
    with pytest.raises(ValueError):
        qd.sqrt(-1.0)
    with pytest.raises(TypeError):
        qd.sqrt()
