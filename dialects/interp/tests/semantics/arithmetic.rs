//! Scalar arithmetic, of upstream's dialects and ours.

use crate::support::*;
use qd_interp::Native;

/// `%r = op %x, %y` over pairs, in one phase.
fn pairs<A: Native, B: Native>(body: &str, from: &str, to: &str, x: &[A], y: &[A]) -> Vec<B> {
    let n = x.len();
    assert!(n <= 64);
    let text = phase(
        &format!("%xs: memref<64x{from}>, %ys: memref<64x{from}>, %out: memref<64x{to}>"),
        1,
        64,
        &format!(
            "%t = qd.simt.block.thread_id
             %x = memref.load %xs[%t] : memref<64x{from}>
             %y = memref.load %ys[%t] : memref<64x{from}>
             {body}
             memref.store %r, %out[%t] : memref<64x{to}>"
        ),
    );
    let padded = |v: &[A]| {
        let mut v = v.to_vec();
        v.resize(64, v[0]);
        buffer(&v)
    };
    let out = qd_interp::Buffer::uninitialised(B::ELEMENT, &[64]).into();
    let out = run(&text, vec![padded(x), padded(y), out], 16);
    let mut result = values::<B>(&out[2]);
    result.truncate(n);
    result
}

fn ints(op: &str, x: &[i32], y: &[i32]) -> Vec<i32> {
    pairs(&format!("%r = {op} %x, %y : i32"), "i32", "i32", x, y)
}

const X: [i32; 10] = [0, 1, -1, 7, -7, i32::MAX, i32::MIN, 12345, -12345, 1 << 30];
const Y: [i32; 10] = [1, 2, 3, -2, 2, 1, 3, -100, -100, 2];

#[test]
fn integers_wrap() {
    let check = |op: &str, f: fn(i32, i32) -> i32| {
        let expected: Vec<_> = X.iter().zip(&Y).map(|(&x, &y)| f(x, y)).collect();
        assert_eq!(ints(op, &X, &Y), expected, "{op}");
    };
    check("arith.addi", i32::wrapping_add);
    check("arith.subi", i32::wrapping_sub);
    check("arith.muli", i32::wrapping_mul);
    check("arith.andi", |x, y| x & y);
    check("arith.ori", |x, y| x | y);
    check("arith.xori", |x, y| x ^ y);
    check("arith.divsi", |x, y| x / y);
    check("arith.remsi", |x, y| x % y);
    check("arith.divui", |x, y| (x as u32 / y as u32) as i32);
    check("arith.remui", |x, y| (x as u32 % y as u32) as i32);
    check("arith.ceildivui", |x, y| {
        (x as u32).div_ceil(y as u32) as i32
    });
    check("arith.ceildivsi", |x, y| {
        (x as f64 / y as f64).ceil() as i32
    });
    check("arith.floordivsi", |x, y| {
        (x as f64 / y as f64).floor() as i32
    });
    check("arith.minsi", |x, y| x.min(y));
    check("arith.maxsi", |x, y| x.max(y));
    check("arith.minui", |x, y| (x as u32).min(y as u32) as i32);
    check("arith.maxui", |x, y| (x as u32).max(y as u32) as i32);
}

#[test]
fn index_arithmetic() {
    let check = |op: &str, f: fn(i64, i64) -> i64| {
        let (x, y) = (X.map(i64::from), Y.map(i64::from));
        let body = format!(
            "%xi = arith.index_cast %x : i64 to index
             %yi = arith.index_cast %y : i64 to index
             %ri = {op} %xi, %yi
             %r = arith.index_cast %ri : index to i64"
        );
        let expected: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect();
        assert_eq!(
            pairs::<i64, i64>(&body, "i64", "i64", &x, &y),
            expected,
            "{op}"
        );
    };
    check("index.add", i64::wrapping_add);
    check("index.sub", i64::wrapping_sub);
    check("index.mul", i64::wrapping_mul);
    check("index.divs", |x, y| x / y);
    check("index.divu", |x, y| (x as u64 / y as u64) as i64);
    check("index.ceildivs", |x, y| (x as f64 / y as f64).ceil() as i64);
    check("index.ceildivu", |x, y| {
        (x as u64).div_ceil(y as u64) as i64
    });
    check("index.floordivs", |x, y| {
        (x as f64 / y as f64).floor() as i64
    });
    check("index.rems", |x, y| x % y);
    check("index.remu", |x, y| (x as u64 % y as u64) as i64);
    check("index.and", |x, y| x & y);
    check("index.or", |x, y| x | y);
    check("index.xor", |x, y| x ^ y);
    check("index.mins", |x, y| x.min(y));
    check("index.minu", |x, y| (x as u64).min(y as u64) as i64);
    check("index.maxs", |x, y| x.max(y));
    check("index.maxu", |x, y| (x as u64).max(y as u64) as i64);
}

#[test]
fn index_comparisons_shifts_and_constants() {
    let check = |body: &str, f: fn(i64) -> i64| {
        let x: Vec<i64> = (0..64).map(|i| (i - 30) * 1000).collect();
        let body = format!(
            "%xi = arith.index_cast %x : i64 to index
             %k = index.constant 5
             {body}
             %r = arith.index_cast %ri : index to i64"
        );
        let expected: Vec<_> = x.iter().map(|&x| f(x)).collect();
        assert_eq!(
            map64::<i64, i64>("i64", "i64", &body, &x, 8),
            expected,
            "{body}"
        );
    };
    check("%ri = index.shl %xi, %k", |x| x << 5);
    check("%ri = index.shrs %xi, %k", |x| x >> 5);
    check("%ri = index.shru %xi, %k", |x| (x as u64 >> 5) as i64);
    check("%ri = index.sizeof", |_| 64);
    let select = |condition: &str| format!("{condition}\n %ri = arith.select %p, %xi, %k : index");
    check(&select("%p = index.bool.constant false"), |_| 5);
    check(&select("%p = index.cmp slt(%xi, %k)"), |x| x.min(5));
    check(&select("%p = index.cmp ult(%xi, %k)"), |x| {
        (x as u64).min(5) as i64
    });
    check(&select("%p = index.cmp ne(%xi, %xi)"), |_| 5);
}

#[test]
fn shifts() {
    let y = [0, 1, 31, 5, 4, 30, 31, 3, 7, 1];
    let check = |op: &str, f: fn(i32, u32) -> i32| {
        let expected: Vec<_> = X.iter().zip(&y).map(|(&x, &y)| f(x, y as u32)).collect();
        assert_eq!(ints(op, &X, &y), expected, "{op}");
    };
    check("arith.shli", |x, y| x << y);
    check("arith.shrsi", |x, y| x >> y);
    check("arith.shrui", |x, y| (x as u32 >> y) as i32);
}

#[test]
fn comparisons_of_integers() {
    let check = |predicate: &str, f: fn(i32, i32) -> bool| {
        let body = format!("%r = arith.cmpi {predicate}, %x, %y : i32");
        let expected: Vec<_> = X.iter().zip(&Y).map(|(&x, &y)| f(x, y)).collect();
        assert_eq!(
            pairs::<i32, bool>(&body, "i32", "i1", &X, &Y),
            expected,
            "{predicate}"
        );
    };
    check("eq", |x, y| x == y);
    check("ne", |x, y| x != y);
    check("slt", |x, y| x < y);
    check("sle", |x, y| x <= y);
    check("sgt", |x, y| x > y);
    check("sge", |x, y| x >= y);
    check("ult", |x, y| (x as u32) < y as u32);
    check("ule", |x, y| x as u32 <= y as u32);
    check("ugt", |x, y| x as u32 > y as u32);
    check("uge", |x, y| x as u32 >= y as u32);
}

const F: [f32; 8] = [0.0, -0.0, 1.5, -2.25, f32::NAN, f32::INFINITY, 3e38, 1e-40];
const G: [f32; 8] = [-0.0, 0.0, 1.5, 2.0, 1.0, f32::NAN, 3e38, 2.0];

/// The predicates as their names read: ordered or not, and the relation.
#[test]
#[allow(clippy::double_comparisons, clippy::neg_cmp_op_on_partial_ord)]
fn comparisons_of_floats() {
    let check = |predicate: &str, f: fn(f32, f32) -> bool| {
        let body = format!("%r = arith.cmpf {predicate}, %x, %y : f32");
        let expected: Vec<_> = F.iter().zip(&G).map(|(&x, &y)| f(x, y)).collect();
        assert_eq!(
            pairs::<f32, bool>(&body, "f32", "i1", &F, &G),
            expected,
            "{predicate}"
        );
    };
    check("false", |_, _| false);
    check("oeq", |x, y| x == y);
    check("ogt", |x, y| x > y);
    check("oge", |x, y| x >= y);
    check("olt", |x, y| x < y);
    check("ole", |x, y| x <= y);
    check("one", |x, y| x < y || x > y);
    check("ord", |x, y| !x.is_nan() && !y.is_nan());
    check("ueq", |x, y| !(x < y || x > y));
    check("ugt", |x, y| !(x <= y));
    check("uge", |x, y| !(x < y));
    check("ult", |x, y| !(x >= y));
    check("ule", |x, y| !(x > y));
    check("une", |x, y| x != y);
    check("uno", |x, y| x.is_nan() || y.is_nan());
    check("true", |_, _| true);
}

/// Bits, with every NaN the same.
fn bits(values: &[f32]) -> Vec<u32> {
    values
        .iter()
        .map(|v| {
            if v.is_nan() {
                f32::NAN.to_bits()
            } else {
                v.to_bits()
            }
        })
        .collect()
}

#[test]
fn floats() {
    let check = |op: &str, f: fn(f32, f32) -> f32| {
        let result = pairs::<f32, f32>(&format!("%r = {op} %x, %y : f32"), "f32", "f32", &F, &G);
        let expected: Vec<_> = F.iter().zip(&G).map(|(&x, &y)| f(x, y)).collect();
        assert_eq!(bits(&result), bits(&expected), "{op}");
    };
    check("arith.addf", |x, y| x + y);
    check("arith.subf", |x, y| x - y);
    check("arith.mulf", |x, y| x * y);
    check("arith.divf", |x, y| x / y);
    check("arith.remf", |x, y| x % y);
    check("math.copysign", f32::copysign);
    check("math.powf", f32::powf);
    check("math.atan2", f32::atan2);
    // NaN loses, −0 < +0.
    let least = [-0.0, -0.0, 1.5, -2.25, 1.0, f32::INFINITY, 3e38, 1e-40];
    let most = [0.0, 0.0, 1.5, 2.0, 1.0, f32::INFINITY, 3e38, 2.0];
    let of = |op: &str| pairs::<f32, f32>(&format!("%r = {op} %x, %y : f32"), "f32", "f32", &F, &G);
    assert_eq!(bits(&of("arith.minnumf")), bits(&least));
    assert_eq!(bits(&of("arith.maxnumf")), bits(&most));
    let with_nan = |mut values: [f32; 8]| {
        (values[4], values[5]) = (f32::NAN, f32::NAN);
        bits(&values)
    };
    assert_eq!(bits(&of("arith.minimumf")), with_nan(least));
    assert_eq!(bits(&of("arith.maximumf")), with_nan(most));
}

#[test]
fn float_functions() {
    let inputs: Vec<f32> = (0..64).map(|i| i as f32 * 0.37 - 9.3).collect();
    let check = |op: &str, f: fn(f32) -> f32| {
        let body = format!("%r = {op} %x : f32");
        let result: Vec<f32> = map64("f32", "f32", &body, &inputs, 32);
        let expected: Vec<_> = inputs.iter().map(|&x| f(x)).collect();
        assert_eq!(bits(&result), bits(&expected), "{op}");
    };
    check("arith.negf", |x| -x);
    check("math.absf", f32::abs);
    check("math.sqrt", f32::sqrt);
    check("math.rsqrt", |x| 1.0 / x.sqrt());
    check("math.cbrt", f32::cbrt);
    check("math.exp", f32::exp);
    check("math.exp2", f32::exp2);
    check("math.expm1", f32::exp_m1);
    check("math.log", f32::ln);
    check("math.log2", f32::log2);
    check("math.log10", f32::log10);
    check("math.log1p", f32::ln_1p);
    check("math.sin", f32::sin);
    check("math.cos", f32::cos);
    check("math.tan", f32::tan);
    check("math.asin", f32::asin);
    check("math.acos", f32::acos);
    check("math.atan", f32::atan);
    check("math.sinh", f32::sinh);
    check("math.cosh", f32::cosh);
    check("math.tanh", f32::tanh);
    check("math.asinh", f32::asinh);
    check("math.acosh", f32::acosh);
    check("math.atanh", f32::atanh);
    check("math.floor", f32::floor);
    check("math.ceil", f32::ceil);
    check("math.trunc", f32::trunc);
    check("math.round", f32::round);
    check("math.roundeven", f32::round_ties_even);
    let classes = |op: &str| -> Vec<bool> {
        let mut v = vec![1.0f32; 64];
        (v[0], v[1], v[2], v[3]) = (f32::NAN, f32::NEG_INFINITY, 1e-40, 0.0);
        let mut r: Vec<bool> = map64("f32", "i1", &format!("%r = {op} %x : f32"), &v, 32);
        r.truncate(5);
        r
    };
    assert_eq!(classes("math.isnan"), [true, false, false, false, false]);
    assert_eq!(classes("math.isinf"), [false, true, false, false, false]);
    assert_eq!(classes("math.isfinite"), [false, false, true, true, true]);
    assert_eq!(classes("math.isnormal"), [false, false, false, false, true]);
}

#[test]
fn fused_and_clamped() {
    // The square of 1 + 3·2^-23, less 1: rounded once.
    let input = vec![f32::from_bits(0x3F80_0003); 64];
    let body = "%c = arith.constant -1.0 : f32
                %r = math.fma %x, %x, %c : f32";
    let exact = (input[0] as f64 * input[0] as f64 - 1.0) as f32;
    assert_ne!(exact, input[0] * input[0] - 1.0);
    assert_eq!(map64::<f32, f32>("f32", "f32", body, &input, 8)[0], exact);
    let input: Vec<f32> = (0..64).map(|i| i as f32 - 32.0).collect();
    let body = "%l = arith.constant -3.0 : f32
                %h = arith.constant 5.0 : f32
                %r = math.clampf %x to [%l, %h] : f32";
    let expected: Vec<_> = input.iter().map(|x| x.clamp(-3.0, 5.0)).collect();
    assert_eq!(map64::<f32, f32>("f32", "f32", body, &input, 8), expected);
}

#[test]
fn bits_are_counted() {
    let mut input: Vec<i64> = noise(3, 64).into_iter().map(|x| x as i64).collect();
    (input[0], input[1], input[2], input[3]) = (0, -1, 1, i64::MIN);
    let narrow: Vec<i32> = input.iter().map(|&x| x as i32).collect();
    for (op, wide, short) in [
        (
            "qd.math.popcnt",
            i64::count_ones as fn(i64) -> u32,
            i32::count_ones as fn(i32) -> u32,
        ),
        ("qd.math.clz", i64::leading_zeros, i32::leading_zeros),
        (
            "qd.math.ffs",
            |x| (x.trailing_zeros() + 1) % 65,
            |x| (x.trailing_zeros() + 1) % 33,
        ),
    ] {
        let body = format!("%r = {op} %x : i64");
        let expected: Vec<_> = input.iter().map(|&x| wide(x)).collect();
        assert_eq!(
            map64::<i64, u32>("i64", "i32", &body, &input, 32),
            expected,
            "{op}"
        );
        let body = format!("%r = {op} %x : i32");
        let expected: Vec<_> = narrow.iter().map(|&x| short(x)).collect();
        assert_eq!(
            map64::<i32, u32>("i32", "i32", &body, &narrow, 32),
            expected,
            "{op}"
        );
    }
    for (op, f) in [
        ("math.ctpop", i32::count_ones as fn(i32) -> u32),
        ("math.ctlz", i32::leading_zeros),
        ("math.cttz", i32::trailing_zeros),
        ("math.absi", |x| x.wrapping_abs() as u32),
    ] {
        let body = format!("%r = {op} %x : i32");
        let expected: Vec<_> = narrow.iter().map(|&x| f(x)).collect();
        assert_eq!(
            map64::<i32, u32>("i32", "i32", &body, &narrow, 32),
            expected,
            "{op}"
        );
    }
}

#[test]
fn nth_set_bit() {
    let find = |mask: u32, base: u32, offset: i32| {
        let body = format!(
            "%m = arith.constant {} : i32
             %b = arith.constant {base} : i32
             %o = arith.constant {offset} : i32
             %r = qd.math.fns %m, %b, %o",
            mask as i32
        );
        map64::<i32, u32>("i32", "i32", &body, &[0; 64], 4)[0]
    };
    // By the contract: scan bit by bit.
    let expected = |mask: u32, base: i32, offset: i32| {
        let step = if offset < 0 { -1 } else { 1 };
        let (mut at, mut left) = (base, offset.abs().max(1));
        while (0..32).contains(&at) {
            if mask >> at & 1 != 0 {
                left -= 1;
                if left == 0 {
                    return at as u32;
                }
            }
            if offset == 0 {
                break;
            }
            at += step;
        }
        u32::MAX
    };
    for mask in [0, 1, 0x8000_0000, u32::MAX, 0b1011_0010, 0xF0F0_0F0F] {
        for (base, offset) in [
            (0, 0),
            (0, 1),
            (4, 2),
            (31, -1),
            (31, -3),
            (4, -2),
            (5, 0),
            (31, 1),
            (0, -1),
            (0, 33),
        ] {
            let what = format!("fns {mask:#x} {base} {offset}");
            assert_eq!(
                find(mask, base, offset),
                expected(mask, base as i32, offset),
                "{what}"
            );
        }
    }
}

#[test]
fn casts() {
    let input: Vec<i32> = (0..64).map(|i| (i - 32) * 0x0123_4567).collect();
    let cast = |body: &str| -> Vec<i64> { map64("i32", "i64", body, &input, 32) };
    let expect = |f: fn(i32) -> i64| -> Vec<i64> { input.iter().map(|&x| f(x)).collect() };
    assert_eq!(
        cast("%r = arith.extsi %x : i32 to i64"),
        expect(|x| x as i64)
    );
    assert_eq!(
        cast("%r = arith.extui %x : i32 to i64"),
        expect(|x| x as u32 as i64)
    );
    assert_eq!(
        cast("%i = arith.index_castui %x : i32 to index\n %r = arith.index_cast %i : index to i64"),
        expect(|x| x as u32 as i64)
    );
    assert_eq!(
        cast("%i = index.casts %x : i32 to index\n %r = index.castu %i : index to i64"),
        expect(|x| x as i64)
    );
    assert_eq!(
        cast("%s = arith.trunci %x : i32 to i8\n %r = arith.extsi %s : i8 to i64"),
        expect(|x| x as i8 as i64)
    );
    assert_eq!(
        cast("%s = arith.trunci %x : i32 to i16\n %r = arith.extui %s : i16 to i64"),
        expect(|x| x as u16 as i64)
    );
    assert_eq!(
        cast("%s = arith.trunci %x : i32 to i1\n %r = arith.extsi %s : i1 to i64"),
        expect(|x| -((x & 1) as i64))
    );
    assert_eq!(
        cast(
            "%f = arith.sitofp %x : i32 to f32\n %b = arith.bitcast %f : f32 to i32\n %r = arith.extui %b : i32 to i64"
        ),
        expect(|x| (x as f32).to_bits() as i64)
    );
    assert_eq!(
        cast("%f = arith.uitofp %x : i32 to f64\n %r = arith.bitcast %f : f64 to i64"),
        expect(|x| (x as u32 as f64).to_bits() as i64)
    );
    let floats: Vec<f64> = (0..64).map(|i| (i as f64 - 20.0) * 1.7).collect();
    assert_eq!(
        map64::<f64, i32>(
            "f64",
            "i32",
            "%r = arith.fptosi %x : f64 to i32",
            &floats,
            64
        ),
        floats.iter().map(|&x| x as i32).collect::<Vec<_>>()
    );
    let positive: Vec<f64> = floats.iter().map(|x| x.abs() * 5e7).collect();
    assert_eq!(
        map64::<f64, u32>(
            "f64",
            "i32",
            "%r = arith.fptoui %x : f64 to i32",
            &positive,
            64
        ),
        positive.iter().map(|&x| x as u32).collect::<Vec<_>>()
    );
    assert_eq!(
        map64::<f64, f32>(
            "f64",
            "f32",
            "%r = arith.truncf %x : f64 to f32",
            &floats,
            64
        ),
        floats.iter().map(|&x| x as f32).collect::<Vec<_>>()
    );
}

/// A 64-bit integer goes to f32 in one rounding.
/// The bits of 16-bit floats that `body` makes of `%h`, which is `x` rounded.
fn halves(half: &str, body: &str, x: &[f32]) -> Vec<i32> {
    let body = format!(
        "%h = arith.truncf %x : f32 to {half}
         {body}
         %b = arith.bitcast %v : {half} to i16
         %r = arith.extui %b : i16 to i32"
    );
    pairs(&body, "f32", "i32", x, x)
}

#[test]
fn floats_of_16_bits_round_each_result() {
    let same = |half: &str, x: &[f32]| {
        let zero = format!("%z = arith.constant -0.0 : {half}\n");
        halves(half, &format!("{zero} %v = arith.addf %h, %z : {half}"), x)
    };
    let tie = 1.0 + 2f32.powi(-11);
    let x = [
        tie,
        tie * 3.0 - 2.0,
        65519.0,
        65520.0,
        2f32.powi(-25),
        -2f32.powi(-24),
    ];
    assert_eq!(same("f16", &x), [0x3C00, 0x3C02, 0x7BFF, 0x7C00, 0, 0x8001]);
    assert_eq!(
        same("bf16", &[1.0 + 2f32.powi(-8), 3.4e38]),
        [0x3F80, 0x7F80]
    );
    // Of 2049 and 2051 the nearest numbers whose last digit is even.
    let one = "%c = arith.constant 1.0 : f16\n %v = arith.addf %h, %c : f16";
    assert_eq!(halves("f16", one, &[2048.0, 2050.0]), [0x6800, 0x6802]);
}

#[test]
fn wide_integers_round_once() {
    let value = (1i64 << 60) + (1 << 36) + 1;
    let input = vec![value; 64];
    let result: Vec<f32> = map64("i64", "f32", "%r = arith.sitofp %x : i64 to f32", &input, 4);
    assert_eq!(result[0], value as f32);
    assert_ne!(
        result[0], value as f64 as f32,
        "the case tells the two apart"
    );
}

#[test]
fn two_results() {
    let x = [u32::MAX, 5, 1 << 31, 0];
    let y = [u32::MAX, 7, 2, 9];
    let of = |body: &str| pairs::<u32, u32>(body, "i32", "i32", &x, &y);
    let expect =
        |f: fn(u32, u32) -> u32| x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect::<Vec<_>>();
    assert_eq!(
        of("%l, %r = arith.mului_extended %x, %y : i32"),
        expect(|x, y| ((x as u64 * y as u64) >> 32) as u32)
    );
    assert_eq!(
        of("%l, %r = arith.mulsi_extended %x, %y : i32"),
        expect(|x, y| ((x as i32 as i64 * y as i32 as i64) >> 32) as u32)
    );
    assert_eq!(
        of("%s, %c = arith.addui_extended %x, %y : i32, i1\n %r = arith.extui %c : i1 to i32"),
        expect(|x, y| x.checked_add(y).is_none() as u32)
    );
}

#[test]
fn integer_powers() {
    let x = [2, -3, 0, 7, -1, 1, 5, -1];
    let y = [10, 3, 0, 40, -3, -9, -1, -2];
    let expected = [1024, -27, 1, 7i32.wrapping_pow(40), -1, 1, 0, 1];
    assert_eq!(ints("math.ipowi", &x, &y), expected);
}
