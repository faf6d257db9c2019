"""Every operator on every pair of types, against NumPy."""

import re

import numpy as np
import pytest

import qd

INTEGERS = "i8 i16 i32 i64 u8 u16 u32 u64".split()
REALS = "f16 f32 f64".split()
NUMPY = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16,
    "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "u1": np.bool_,
}  # fmt: skip


def promoted(a, b):
    """The type in which two are combined."""
    reals = [x for x in (a, b) if x in REALS]
    if reals:
        return max(reals)
    # The wider; of one width the unsigned, which is the later letter.
    return max((a, b), key=lambda x: (int(x[1:]), x[0]))


def floor_divide(a, b):
    return np.floor(a / b) if a.dtype.kind == "f" else a // b


def modulo(a, b):
    return a - b * floor_divide(a, b)


def real(dtype):
    return dtype if dtype in REALS else "f32"


def logical_shift(a, n):
    unsigned = np.dtype(f"u{a.itemsize}")
    return (a.view(unsigned) >> n.view(unsigned)).view(a.dtype)


def power(a, n):
    """By squaring; for a negative exponent the inverse of a real, and 1 of an integer."""
    steps = np.where(n < 0, -n.astype(np.int64), n.astype(np.int64)).astype(np.uint64)
    made, square = np.ones_like(a), a
    while steps.any():
        made = np.where(steps & np.uint64(1), made * square, made)
        square, steps = square * square, steps >> np.uint64(1)
    return np.where(n < 0, 1 / made if a.dtype.kind == "f" else np.ones_like(a), made)


ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply, "//": floor_divide, "%": modulo}
COMPARISONS = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
BITS = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
SHIFTS = {"a[i] << n[i]": np.left_shift, "a[i] >> n[i]": np.right_shift, "qd.bit_shr(a[i], n[i])": logical_shift}
# Of real powers, which are functions of a library.
TOLERANCES = {"f16": 2**-9, "f32": 1e-5, "f64": 1e-13}


def bits_of(dtype):
    return int(dtype[1:])


def samples(dtype):
    """Values of a type, among them the extremes."""
    if dtype in REALS:
        values = [1.5, -2.25, 3.0, -0.5, 100.0, np.nan, -7.0, 0.75]
    elif dtype == "u1":
        values = [0, 1] * 4
    else:
        limits = np.iinfo(NUMPY[dtype])
        values = [1, 2, 3, 7, limits.max, limits.min, 5, limits.max - 1]
        if limits.min < 0:
            values[1], values[2] = -1, -3
    return np.array(values, NUMPY[dtype])


def computed(function, dtype, *operands):
    """What NumPy computes in a type. A `u1` is an integer of one bit."""
    is_bit = dtype == "u1"
    made = function(*(each.astype(np.uint8 if is_bit else NUMPY[dtype]) for each in operands))
    return made & 1 if is_bit else made


def expected(left, right, a, b, n):
    """Of each expression, its type and value."""
    both = promoted(left, right)
    results = {f"a[i] {op} b[i]": (both, computed(f, both, a, b)) for op, f in ARITHMETIC.items()}
    quotient = promoted(real(left), real(right))
    x, y = (v.astype(NUMPY[real(d)]).astype(NUMPY[quotient]) for v, d in ((a, left), (b, right)))
    results["a[i] / b[i]"] = (quotient, x / y)
    results |= {f"a[i] {op} b[i]": ("u1", f(a.astype(NUMPY[both]), b.astype(NUMPY[both]))) for op, f in COMPARISONS.items()}
    # NaN is passed over.
    results |= {f"{name}(a[i], b[i])": (both, computed(f, both, a, b)) for name, f in (("min", np.fmin), ("max", np.fmax))}
    if both not in REALS:
        results |= {f"a[i] {op} b[i]": (both, computed(f, both, a, b)) for op, f in BITS.items()}
        results |= {text: (left, computed(f, left, a, n)) for text, f in SHIFTS.items()}
    if right in REALS:
        results["a[i] ** b[i]"] = (both, computed(np.power, both, a, b))
    else:
        results["a[i] ** b[i]"] = (left, computed(lambda x: power(x, b.astype(np.uint8) if right == "u1" else b), left, a))
    return results


ALL = ["u1", *INTEGERS, *REALS]
# On devices some are enough: the others are compiled alike there.
LEFTS = [pytest.param(left, marks=[] if left in ("u1", "i8", "u32", "i64", "f16", "f32") else pytest.mark.host) for left in ALL]


@pytest.mark.parametrize("left", LEFTS)
def test_operators_agree_with_numpy(module, left):
    text, wanted = "", {}
    for right in ALL:
        a, b = samples(left).repeat(8), np.tile(samples(right), 8)
        n = (5 * np.arange(64) % bits_of(left)).clip(0, 1 if right == "u1" else None).astype(NUMPY[right])
        with np.errstate(all="ignore"):
            outs = expected(left, right, a, b, n)
        wanted[right] = (a, b, n, outs)
        arrays = {"a": left, "b": right, "n": right} | {f"r{i}": dtype for i, (dtype, _) in enumerate(outs.values())}
        text += f"@qd.kernel\ndef k_{right}({', '.join(f'{name}: qd.types.NDArray[qd.{dtype}, 1]' for name, dtype in arrays.items())}):\n"
        # Those with loops are a task for themselves, so that the others are vectorised.
        for has_loops in (False, True):
            text += "    for i in a:\n" + "".join(f"        r{i}[i] = {op}\n" for i, op in enumerate(outs) if ("**" in op) == has_loops)
    kernels = module(text)
    for right, (a, b, n, outs) in wanted.items():
        results = [np.zeros(len(a), NUMPY[dtype]) for dtype, _ in outs.values()]
        kernel = getattr(kernels, f"k_{right}")
        kernel(a, b, n, *results)
        given = re.findall(r"Binary\(\w+\) (\w+)", kernel.record())
        for (op, (dtype, value)), result, has in zip(outs.items(), results, given, strict=True):
            message = f"{left} {op} {right}"
            assert has == dtype, message
            if "//" in op or "%" in op:
                # By 0 it is undefined.
                np.testing.assert_array_equal(result[b != 0], value[b != 0], message)
            elif "**" in op and dtype in REALS:
                np.testing.assert_allclose(result, value, TOLERANCES[dtype], err_msg=message)
            else:
                np.testing.assert_array_equal(result, value, message)


@pytest.mark.parametrize("dtype", LEFTS)
def test_unary_operators_agree_with_numpy(module, dtype):
    functions = {"-a[i]": np.negative, "+a[i]": np.positive, "abs(a[i])": np.abs}
    a = samples(dtype)
    with np.errstate(over="ignore"):
        outs = {text: (dtype, computed(f, dtype, a)) for text, f in functions.items()}
    if dtype not in REALS:
        outs |= {"~a[i]": (dtype, computed(np.invert, dtype, a)), "not a[i]": ("u1", np.logical_not(a))}
    arrays = ", ".join(f"r{i}: qd.types.NDArray[qd.{each}, 1]" for i, (each, _) in enumerate(outs.values()))
    lines = "".join(f"        r{i}[i] = {text}\n" for i, text in enumerate(outs))
    results = [np.zeros(len(a), NUMPY[each]) for each, _ in outs.values()]
    module(f"@qd.kernel\ndef k(a: qd.types.NDArray[qd.{dtype}, 1], {arrays}):\n    for i in a:\n{lines}").k(a, *results)
    for (text, (_, value)), result in zip(outs.items(), results):
        np.testing.assert_array_equal(result, value, f"{text} of {dtype}")


@pytest.mark.parametrize("dtype", LEFTS)
def test_atomics_agree_with_numpy(module, dtype):
    """All threads combine into the same elements, which begin as 1."""
    functions = {"min": np.fmin, "max": np.fmax, "add": np.add, "sub": np.add}
    if dtype == "u1":
        # An integer of one bit, which wraps.
        functions |= {"add": np.bitwise_xor, "sub": np.bitwise_xor, "mul": np.bitwise_and}
    if dtype not in REALS:
        functions |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    # So few that sums of reals are exact in any order, and these have no NaN.
    a = np.tile(samples(dtype), 5)[:-3]
    numbers = np.nan_to_num(a)
    lines = "".join(f"        qd.atomic_{name}(out[{i}], {'a' if name in ('min', 'max') else 'b'}[i])\n" for i, name in enumerate(functions))
    array = f"qd.types.NDArray[qd.{dtype}, 1]"
    out, one = np.ones(len(functions), NUMPY[dtype]), np.ones(1, NUMPY[dtype])
    module(f"@qd.kernel\ndef k(a: {array}, b: {array}, out: {array}):\n    for i in a:\n{lines}").k(a, numbers, out)
    for (name, function), result in zip(functions.items(), out):
        given = a if name in ("min", "max") else np.negative(numbers) if name == "sub" and dtype != "u1" else numbers
        with np.errstate(over="ignore"):
            value = function.reduce(np.append(one, given), dtype=NUMPY[dtype])
        np.testing.assert_array_equal(result, value, f"atomic_{name} of {dtype}")


@pytest.mark.parametrize("sign, name", [("+", "add"), ("-", "sub"), ("*", "mul")])
def test_atomics_of_bits_are_what_operators_are(module, sign, name):
    """Of elements, of variables that all threads have, and of those that one has; the old value, too."""
    statement = f"y[i] {sign}= b[i]" if name != "mul" else "qd.atomic_mul(y[i], b[i])"
    k = module(f"""
Bits = qd.types.NDArray[qd.u1, 1]

@qd.kernel
def k(a: Bits, b: Bits, x: Bits, y: Bits, old: Bits, alone: Bits, plain: Bits, all: Bits):
    for i in a:
        x[i] = y[i] = a[i]
        old[i] = qd.atomic_{name}(x[i], b[i])
        {statement}
        v = a[i]
        qd.atomic_{name}(v, b[i])
        alone[i] = v
        plain[i] = a[i] {sign} b[i]
    s = True
    for i in a:
        qd.atomic_{name}(s, b[i])
    all[0] = s
""").k
    a, b = np.arange(100) % 3 == 0, np.arange(100) % 4 != 0
    x, y, old, alone, plain, every = (np.zeros(100, bool) for _ in range(6))
    k(a, b, x, y, old, alone, plain, every)
    wanted = a & b if name == "mul" else a ^ b
    for made in (x, y, alone, plain):
        np.testing.assert_array_equal(made, wanted)
    np.testing.assert_array_equal(old, a)
    assert every[0] == (b.all() if name == "mul" else True ^ np.bitwise_xor.reduce(b))


@pytest.mark.parametrize("statement", ["qd.atomic_add(a[0], n)", "a[0] -= 1", "qd.atomic_mul(v, 0.5)", "s += i"])
def test_atomic_sums_of_bits_take_bits(module, statement):
    k = module(f"@qd.kernel\ndef k(a: qd.types.NDArray[qd.u1, 1], n: qd.i32):\n    s = True\n    for i in a:\n        v = a[i]\n        {statement}\n    a[0] = s\n").k
    with pytest.raises(qd.QuadrantsTypeError, match="of a 'u1' takes a 'u1', and not '[if]32': cast it") as caught:
        k(np.zeros(1, bool), 1)
    assert f"{statement}\n        {'^' * len(statement)}\n" in str(caught.value)


def test_types_of_results(module):
    """The type of an expression, which is asked of it while it is traced."""
    pairs = {("u8", "i32"): "i32", ("u32", "i32"): "u32", ("i64", "f32"): "f32", ("f64", "f32"): "f64", ("u1", "i8"): "i8"}
    for (a, b), want in pairs.items():
        source = f"@qd.kernel\ndef k(x: qd.{a}, y: qd.{b}) -> qd.{want}:\n    return qd.{want}(x + y)\n"
        kernel = module(source).k
        kernel(1, 2)
        assert f"Binary(Add) {want} " in kernel.record()


def test_shifts_and_powers_have_the_left_type(module):
    kernels = module("""
@qd.kernel
def shifts(a: qd.types.NDArray[qd.i32, 1], n: qd.types.NDArray[qd.u8, 1], left: qd.types.NDArray[qd.i64, 1],
           right: qd.types.NDArray[qd.i64, 1], logical: qd.types.NDArray[qd.i64, 1]):
    for i in range(a.shape[0]):
        left[i] = a[i] << n[i]
        right[i] = a[i] >> n[i]
        logical[i] = qd.bit_shr(a[i], n[i])

@qd.kernel
def powers(a: qd.types.NDArray[qd.i32, 1], n: qd.types.NDArray[qd.i64, 1], p: qd.types.NDArray[qd.i64, 1],
           x: qd.types.NDArray[qd.f64, 1], q: qd.types.NDArray[qd.f64, 1], r: qd.types.NDArray[qd.f64, 1]):
    for i in range(a.shape[0]):
        p[i] = a[i] ** n[i]
        q[i] = x[i] ** n[i]
        r[i] = x[i] ** 0.5
""")
    a = np.array([1, -1, 2**30, -(2**31), 12345, -12345], np.int32)
    n = np.array([31, 1, 1, 31, 7, 7], np.uint8)
    left, right, logical = (np.zeros(len(a), np.int64) for _ in range(3))
    kernels.shifts(a, n, left, right, logical)
    np.testing.assert_array_equal(left, a << n.astype(np.int32))
    np.testing.assert_array_equal(right, a >> n.astype(np.int32))
    np.testing.assert_array_equal(logical, (a.view(np.uint32) >> n.astype(np.uint32)).view(np.int32))

    a = np.array([2, -3, 7, 3, 0, 2], np.int32)
    n = np.array([10, 3, 0, 41, 0, -2])
    p, q, r = np.zeros(len(a), np.int64), np.zeros(len(a)), np.zeros(len(a))
    x = np.array([2.0, 1.5, 3.0, 1.25, 0.0, 2.0])
    kernels.powers(a, n, p, x, q, r)
    with np.errstate(over="ignore"):
        wrapped = a ** n.clip(0).astype(np.int32)
    np.testing.assert_array_equal(p, wrapped)
    np.testing.assert_allclose(q, x**n, rtol=1e-14)
    np.testing.assert_allclose(r, np.sqrt(x), rtol=1e-7)


def test_least_integer_by_minus_one_wraps(module):
    k = module("@qd.kernel\ndef k(a: qd.i32, b: qd.i32) -> (qd.i32, qd.i32): return a // b, a % b\n").k
    assert k(-(2**31), -1) == (-(2**31), 0)
    assert k(-7, 2) == (-4, 1)
    assert k(7, -2) == (-4, -1)
    assert k(-7, -2) == (3, -1)


def test_truncating_division(module):
    k = module("@qd.kernel\ndef k(a: qd.i32, b: qd.i32) -> (qd.i32, qd.i32): return qd.raw_div(a, b), qd.raw_mod(a, b)\n").k
    assert k(-7, 2) == (-3, -1)
    assert k(7, -2) == (-3, 1)


@pytest.mark.parametrize("real_type", REALS)
def test_casts_of_reals_saturate(module, real_type):
    types = ["u1", *INTEGERS]
    parameters = "".join(f", r_{t}: qd.types.NDArray[qd.{t}, 1]" for t in types)
    body = "".join(f"        r_{t}[i] = qd.cast(x[i], qd.{t})\n" for t in types)
    k = module(
        f"@qd.kernel\ndef k(x: qd.types.NDArray[qd.{real_type}, 1]{parameters}):\n    for i in range(x.shape[0]):\n{body}"
    ).k
    dtype = NUMPY[real_type]
    values = [0.0, -0.0, 0.5, -0.5, 1.9, -1.9, 127.5, 128.0, -128.9, 1e10, -1e10, 1e30, -1e30, np.inf, -np.inf, np.nan]
    with np.errstate(over="ignore"):
        x = np.array(values, dtype)
    results = [np.zeros(len(x), NUMPY[t]) for t in types]
    k(x, *results)
    np.testing.assert_array_equal(results[0], x != 0)
    for name, result in list(zip(types, results))[1:]:
        limits = np.iinfo(NUMPY[name])
        wanted = [0 if v != v else limits.max if v >= limits.max else limits.min if v <= limits.min else int(v) for v in x.tolist()]
        assert result.tolist() == wanted, name


def test_casts_of_integers_wrap(module):
    k = module("""
@qd.kernel
def k(a: qd.i64) -> (qd.i8, qd.u8, qd.i32, qd.u32, qd.u1, qd.f64):
    return qd.i8(a), qd.u8(a), qd.i32(a), qd.cast(a, qd.u32), bool(a), qd.f64(a)
""").k
    assert k(-1) == (-1, 255, -1, 2**32 - 1, True, -1.0)
    assert k(2**33 + 130) == (-126, 130, 130, 130, True, 2.0**33 + 130)
    assert k(0) == (0, 0, 0, 0, False, 0.0)


def test_bits_are_cast(module):
    k = module("@qd.kernel\ndef k(x: qd.f32) -> (qd.u32, qd.f32):\n    b = qd.bit_cast(x, qd.u32)\n    return b, qd.bit_cast(b + 1, qd.f32)\n").k
    assert k(1.0) == (0x3F800000, float(np.nextafter(np.float32(1), np.float32(2))))


def test_unary_operators(module):
    k = module("""
@qd.kernel
def k(a: qd.i32, x: qd.f32, b: qd.u1) -> (qd.i32, qd.i32, qd.u1, qd.f32, qd.u1, qd.i32, qd.f32, qd.f32):
    return -a, ~a, not a, -x, not b, abs(a), abs(x), +x
""").k
    assert k(-5, 2.5, True) == (5, 4, False, -2.5, False, 5, 2.5, 2.5)
    assert k(0, -0.5, False) == (0, -1, True, 0.5, True, 0, 0.5, -0.5)


def test_least_and_largest(module):
    k = module("""
@qd.kernel
def k(a: qd.i32, b: qd.i32, x: qd.f32, y: qd.f32) -> (qd.i32, qd.i32, qd.f32, qd.f32, qd.f32):
    return min(a, b, 3), max(a, b), min(x, y), max(x, y), qd.select(a < b, x, b)
""").k
    assert k(-1, 4, 1.5, -2.0) == (-1, 4, -2.0, 1.5, 1.5)
    assert k(9, 4, float("nan"), 2.0) == (3, 9, 2.0, 2.0, 4.0)


def test_functions_of_reals(module):
    names = "sqrt exp log sin cos tan arcsin arccos tanh floor ceil round".split()
    calls = ", ".join(f"qd.{name.replace('arc', 'a')}(x)" for name in names)
    k = module(f"@qd.kernel\ndef k(x: qd.f64) -> ({'qd.f64, ' * len(names)}): return {calls}\n").k
    functions = [getattr(np, name) for name in names]
    for x in (0.3, 2.5, 0.75):
        with np.errstate(invalid="ignore"):
            wanted = [f(x) for f in functions]
        np.testing.assert_allclose(k(x), wanted, rtol=1e-14)


def test_angles(module):
    k = module("@qd.kernel\ndef k(y: qd.i32, x: qd.f64) -> (qd.f64, qd.f64): return qd.atan2(y, x), qd.atan2(y, qd.f32(x))\n").k
    assert k(-1, -2.0) == pytest.approx((np.arctan2(-1.0, -2.0), np.arctan2(np.float32(-1), np.float32(-2))), rel=1e-7)


def test_counts_of_bits(module):
    k = module("""
@qd.kernel
def k(a: qd.i32, b: qd.u64) -> (qd.i32, qd.i32, qd.i32, qd.i32, qd.i32, qd.i32):
    return qd.popcnt(a), qd.clz(a), qd.ffs(a), qd.popcnt(b), qd.clz(b), qd.ffs(b)
""").k
    assert k(-8, 2**40) == (29, 0, 4, 1, 23, 41)
    assert k(0, 0) == (0, 32, 0, 0, 64, 0)


def test_roots_of_integers_are_reals(module):
    k = module("@qd.kernel\ndef k(n: qd.i32) -> qd.f64: return qd.sqrt(n)\n").k
    assert k(2) == float(np.sqrt(np.float32(2)))


def test_default_types(module):
    text = "@qd.kernel\ndef k(a: int, x: float, b: bool) -> (float, int): return a / 3, 1 << 40 if b else a\n"
    qd.init(default_fp=qd.f64, default_ip=qd.i64)
    assert module(text).k(1, 2.0, True) == (1 / 3, 2**40)


@qd.kernel
def powers(a: qd.i32, x: qd.f64, p: qd.u1) -> (qd.i32, qd.f64):
    return a**p, x**p


def test_a_boolean_is_an_exponent():
    assert powers(-3, 2.5, True) == (-3, 2.5)
    assert powers(-3, 2.5, False) == (1, 1.0)


@qd.kernel
def of_booleans(p: qd.u1, q: qd.u1) -> (qd.u1, qd.u1, qd.u1, qd.u1, qd.u1, qd.u1, qd.u1):
    return p & q, p | q, p ^ q, not p, p == q, p < q, p and not q


def test_booleans():
    for p in (False, True):
        for q in (False, True):
            assert of_booleans(p, q) == (p & q, p | q, p ^ q, not p, p == q, p < q, p and not q)


@qd.kernel
def counted_to(a: qd.types.NDArray[qd.i32, 1], n: qd.i32, by: qd.i32):
    for i in range(n // by):
        a[i] += 1


def test_bounds_are_computed_as_in_kernels():
    a = np.zeros(4, np.int32)
    counted_to(a, 7, 2)
    counted_to(a, -1, 2)
    assert a.tolist() == [1, 1, 1, 0]


def test_all_and_any():
    @qd.kernel
    def k(a: qd.i32, b: qd.f32, c: qd.f64) -> (qd.u1, qd.u1, qd.u1, qd.u1):
        values = (a, b, c, 1)
        return all(values), any((a, b > 1, 0)), all(()), any(a)

    for a, b, c in [(1, 1.0, 1.0), (1, 0.0, 1.0), (0, 0.0, 3.0), (0, 2.0, 1.0), (256, 1.0, 0.0)]:
        assert k(a, b, c) == (all((a, b, c)), any((a, b > 1)), True, bool(a))


def test_infinity_by_name():
    @qd.kernel
    def k() -> (qd.f32, qd.i32):
        return float("-inf"), int("7")

    assert k() == (float("-inf"), 7)


def test_halves(module):
    """Numbers, literals, functions and results of 16 bits."""
    k = module("""
import math

@qd.kernel
def k(x: qd.f16, a: qd.types.NDArray[qd.f16, 1], b: qd.types.NDArray[qd.f16, 2]) -> (qd.f16, qd.f32):
    for i in a:
        b[i, 0] = qd.sin(a[i])
        b[i, 1] = qd.exp(-a[i])
        b[i, 2] = qd.atan2(a[i], x)
        b[i, 3] = a[i] ** qd.f16(0.5)
        b[i, 4] = a[i] ** 2
        b[i, 5] = qd.floor(a[i]) + qd.f16(1.1)
        b[i, 6] = qd.raw_mod(a[i], x)
    return x * qd.f16(3.3), x * qd.f32(3.3)
""").k
    x, a = np.float16(1.7), np.linspace(0.1, 20, 50).astype(np.float16)
    b = np.zeros((50, 7), np.float16)
    wide, half = a.astype(np.float32), np.float16
    assert k(x, a, b) == (half(x * half(3.3)), np.float32(x) * np.float32(3.3))
    functions = [np.sin(wide), np.exp(-wide), np.arctan2(wide, np.float32(x)), np.sqrt(wide)]
    for column, wanted in enumerate(functions):
        # The function's last bit may differ, and with it that of 16.
        np.testing.assert_allclose(b[:, column], wanted, rtol=2**-10, atol=2**-24)
    np.testing.assert_array_equal(b[:, 4], a * a)
    np.testing.assert_array_equal(b[:, 5], np.floor(a) + half(1.1))
    np.testing.assert_allclose(b[:, 6], np.fmod(wide, np.float32(x)), atol=2**-7)


def test_numbers_that_are_known_are_pythons():
    bits, small, step = 40, np.uint8(200), 0.1

    @qd.func
    def power(x, n: qd.template()):
        if qd.static(n == 0):
            return x * 0 + 1
        return x * power(x, n - 1)

    @qd.kernel
    def large() -> (qd.u64, qd.u64, qd.i64, qd.i32, qd.i32):
        return qd.u64(1 << bits), qd.u64(2**64 - 1), qd.i64(-(1 << 63)), small + 100, -small

    @qd.kernel
    def small_steps() -> qd.f64:
        return qd.f64(step * step)

    @qd.kernel
    def of_kernels(x: qd.i32) -> (qd.i32, qd.f32, qd.f32, qd.i32):
        return power(x, 2 * 2), 1.0 / 0.0, 1 / (bits - 40) if x < 0 else 0.5, 2**-1

    @qd.kernel
    def too_large() -> qd.i32:
        return 2147483647 + 1

    @qd.kernel
    def mixed() -> qd.i32:
        return 1 & 1.0

    assert large() == (1 << 40, 2**64 - 1, -(2**63), 300, -200)
    assert small_steps() == 0.1 * 0.1
    assert of_kernels(3) == (81, np.inf, 0.5, 1)
    with pytest.raises(qd.QuadrantsTypeError, match="exceeded the range of default_ip"):
        too_large()
    with pytest.raises(qd.QuadrantsTypeError, match="unsupported operand type.* for '&': 'i32' and 'f32'"):
        mixed()


def test_keywords_of_operations():
    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 1], n: qd.i32) -> (qd.f32, qd.i32, qd.i32, qd.i32, qd.i32, qd.f32):
        m = qd.cast(dtype=qd.i32, x=n)
        for i in range(m):
            qd.atomic_add(x=a[0], y=i)
        s = 0
        for i in range(m):
            qd.atomic_max(y=i, x=s)
        old = qd.atomic_cas(a[1], expected=0, desired=7)
        half = qd.cast(qd.f32(0.5) + old, dtype=float)
        return half, qd.select(cond=n > 2, x1=5, x2=6), max(*(n, 9), 3), qd.pow(base=n, exponent=2), s, qd.math.atan2(x1=0.0, x2=1.0)

    a = np.zeros(2, np.int32)
    assert k(a, 4) == (0.5, 5, 9, 16, 3, 0.0)
    assert a.tolist() == [6, 7]


def test_keywords_are_computed_in_their_order():
    @qd.func
    def next(a):
        a[0] += 1
        return a[0]

    @qd.kernel
    def k(a: qd.types.NDArray[qd.i32, 1]) -> (qd.i32, qd.i32):
        return qd.raw_div(x2=next(a), x1=10 * next(a)), qd.select(x2=next(a), cond=a[0] > 3, x1=next(a))

    assert k(np.zeros(1, np.int32)) == (20, 3)
