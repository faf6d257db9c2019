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

    with pytest.raises(AssertionError, match="frexp takes real inputs only"):
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
    # From Python, too.
    assert [qd.math.fns(*each) for each in asked] == found.tolist()


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


SCALARS = {
    qd.i32: [0, 1, -1, 5, 2**31 - 1, -(2**31)],
    qd.u32: [0, 1, 2**31, 2**32 - 1],
    qd.i64: [0, -1, 2**40, 2**63 - 1, -(2**63), 2**62 + 2**38 + 1],
    qd.u64: [0, 1, 2**64 - 1],
    qd.f32: [0.0, -0.0, 0.5, -2.75, 3e9, -3e9, math.inf, -math.inf, math.nan],
    qd.f64: [0.1, -7.5, 1e300, -1e300, 1e-310, 2.0**53 + 2, math.nan],
}
KINDS = {qd.i32: np.int32, qd.u32: np.uint32, qd.i64: np.int64, qd.u64: np.uint64, qd.f32: np.float32, qd.f64: np.float64}


def same(a, b):
    return a == b and math.copysign(1, a) == math.copysign(1, b) or (a != a and b != b)


@pytest.mark.parametrize("dtype", SCALARS, ids=str)
def test_numbers_of_numpy_are_cast_as_in_kernels(dtype):
    @qd.pyfunc
    def casts(x):
        return qd.cast(x, qd.i8), qd.cast(x, qd.u16), qd.cast(x, int), qd.cast(x, dtype=qd.u64), qd.cast(x, qd.u1), qd.cast(x, qd.f32), qd.cast(x, qd.f64)

    @qd.kernel
    def k(x: dtype) -> (qd.i8, qd.u16, qd.i32, qd.u64, qd.u1, qd.f32, qd.f64):
        return casts(x)

    for value in map(KINDS[dtype], SCALARS[dtype]):
        # With the numbers of Python that have the same value, too.
        for given in (value, value.item()):
            made, expected = casts(given), k(given)
            assert [type(each) for each in made] == [int, int, int, int, bool, float, float]
            assert all(map(same, made, expected)), (given, made, expected)


@pytest.mark.parametrize("dtype, other", [(qd.i32, qd.f32), (qd.u32, qd.i32), (qd.i64, qd.f64), (qd.u64, qd.i64)], ids=str)
def test_bits_of_numbers_of_numpy_are_those_of_kernels(dtype, other):
    @qd.pyfunc
    def bits(x):
        return qd.popcnt(x), qd.clz(x), qd.ffs(x), qd.bit_cast(qd.bit_cast(x, other), dtype), qd.bit_cast(x, dtype=other)

    @qd.kernel
    def k(x: dtype) -> (qd.i32, qd.i32, qd.i32, dtype, other):
        return bits(x)

    for value in map(KINDS[dtype], SCALARS[dtype]):
        made, expected = bits(value), k(value)
        assert all(map(same, made, expected)), (value, made, expected)


@pytest.mark.parametrize("dtype", [qd.i32, qd.u32, qd.i64], ids=str)
def test_quotients_and_shifts_of_numbers_are_those_of_kernels(dtype):
    @qd.pyfunc
    def parts(x, y):
        return qd.raw_div(x, y), qd.raw_mod(x, y), qd.bit_shr(x, 3)

    @qd.kernel
    def k(x: dtype, y: dtype) -> (dtype, dtype, dtype):
        return parts(x, y)

    kind = KINDS[dtype]
    for x in map(kind, SCALARS[dtype]):
        for y in (kind(1), kind(3), kind(7), np.iinfo(kind).max):
            made, expected = parts(x, kind(y)), k(x, kind(y))
            assert all(map(same, made, expected)), (x, y, made, expected)


def test_quotients_of_reals_and_pythons_numbers():
    assert (qd.raw_div(-7, 2), qd.raw_mod(-7, 2), qd.raw_div(7, -2), qd.raw_mod(7, -2)) == (-3, -1, -3, 1)
    assert (qd.raw_div(7.0, 2), qd.raw_mod(-7.5, 2)) == (3.5, -1.5)
    assert (qd.bit_shr(-1, 1), qd.bit_shr(np.int8(-1), 1), qd.bit_shr(8, 2)) == (2**31 - 1, 127, 2)
    with pytest.raises(qd.QuadrantsTypeError, match="unsupported operand type.* 'bit_shr': 'f64' and 'i32'"):
        qd.bit_shr(1.0, 1)


def test_bits_of_pythons_numbers():
    assert (qd.clz(1), qd.clz(2**31), qd.clz(2**32), qd.popcnt(-1), qd.ffs(0), qd.ffs(-8)) == (31, 0, 31, 32, 0, 4)
    qd.init(default_ip=qd.i64)
    assert (qd.clz(1), qd.popcnt(-1)) == (63, 64)
    # As many as the type has.
    assert qd.bit_cast(1.0, qd.i32) == 0x3F800000 and qd.bit_cast(1.0, qd.i64) == 0x3FF << 52
    assert qd.bit_cast(0xBF800000, qd.f32) == -1.0 and qd.bit_cast(-1, qd.u8) == 255
    for call, message in [
        (lambda: qd.bit_cast(256, qd.u8), "256 has more bits than 'u8'"),
        (lambda: qd.bit_cast(np.int64(1), qd.f32), "not from 'i64' to 'f32'"),
        (lambda: qd.bit_cast(0.5, qd.u8), "not from 'f64' to 'u8'"),
        (lambda: qd.cast(1, str), "a type is expected"),
        (lambda: qd.popcnt(1.0), "'popcnt' takes integral inputs only, however 'f64' is provided"),
        (lambda: qd.clz(np.uint8(1)), "'clz' takes integers of 32 and 64 bits, however 'u8' is provided"),
        (lambda: qd.ffs(2**64), "has more than 64 bits"),
        (lambda: qd.zero("0"), "'str' is no type of a number"),
    ]:
        with pytest.raises(qd.QuadrantsTypeError, match=message):
            call()


@pytest.mark.parametrize("dtype", SCALARS, ids=str)
def test_functions_that_are_of_the_type_of_a_number(dtype):
    @qd.pyfunc
    def several(x):
        return qd.zero(x), qd.one(x), qd.math.sign(x), qd.math.step(2, x)

    @qd.kernel
    def k(x: dtype) -> (dtype, dtype, dtype, dtype):
        return several(x)

    for value in map(KINDS[dtype], SCALARS[dtype]):
        for given in (value, value.item()):
            made, expected = several(given), k(given)
            assert {type(each) for each in made} == {float if dtype.is_real else int}
            assert all(map(same, made, expected)), (given, made, expected)


def test_mathematics_of_numbers_of_either_kind():
    for x in (0.1, 8.0, -2.5, 5e-324, math.inf):
        assert qd.frexp(x) == math.frexp(x) and qd.frexp(np.float32(x)) == math.frexp(np.float32(x))
        assert qd.math.degrees(x) == pytest.approx(math.degrees(x)) and qd.math.radians(np.float64(x)) == pytest.approx(math.radians(x))
    assert qd.math.log2(8) == 3.0 and qd.math.log2(np.float32(0.25)) == -2.0 and qd.math.degrees(1) == pytest.approx(57.29577951308232, rel=1e-15)
    with pytest.raises(AssertionError, match="frexp takes real inputs only"):
        qd.frexp(1)
