//! Semantics of the arithmetic operations, on the bits of single values.

use crate::{
    program::{Binary, Cast, Extended, FloatPredicate, IntPredicate, Kind, Promise, Unary},
    value::Element,
};

/// Why an operation has no result.
#[derive(Debug)]
pub(crate) enum Undefined {
    /// The result is poison.
    Poison,
    /// Executing it at all is undefined.
    Fault(&'static str),
}

/// Whether [`binary`] is defined whatever the operands are.
pub(crate) fn is_total(op: Binary) -> bool {
    use Binary::*;
    !matches!(
        op,
        DivS | DivU | CeilDivS | CeilDivU | FloorDivS | RemS | RemU | Shl | ShrS | ShrU | PowI
    )
}

/// A function of one definition for `f32` and `f64`. Of narrower floats it is the one of `f32`,
/// rounded.
macro_rules! of_floats {
    ($element:expr, |$($name:ident),*| $body:expr) => {
        match $element {
            Element::F16 | Element::BF16 => {
                $(let $name = $element.float($name) as f32;)*
                let result: f32 = $body;
                $element.rounded(result.into())
            }
            Element::F32 => {
                $(let $name = f32::from_bits($name as u32);)*
                f32::to_bits($body) as u64
            }
            _ => {
                $(let $name = f64::from_bits($name);)*
                f64::to_bits($body)
            }
        }
    };
}

/// Minimum and maximum; −0 is below +0.
trait Extremes: Copy {
    /// IEEE minNum: a NaN loses against a number.
    fn min_num(self, other: Self) -> Self;
    /// IEEE maxNum.
    fn max_num(self, other: Self) -> Self;
    /// A NaN wins.
    fn lowest(self, other: Self) -> Self;
    /// A NaN wins.
    fn highest(self, other: Self) -> Self;
}

macro_rules! extremes {
    ($float:ty) => {
        impl Extremes for $float {
            fn min_num(self, other: Self) -> Self {
                let below = self < other || (self == other && self.is_sign_negative());
                if !self.is_nan() && (other.is_nan() || below) {
                    self
                } else {
                    other
                }
            }
            fn max_num(self, other: Self) -> Self {
                let above = self > other || (self == other && self.is_sign_positive());
                if !self.is_nan() && (other.is_nan() || above) {
                    self
                } else {
                    other
                }
            }
            fn lowest(self, other: Self) -> Self {
                if self.is_nan() || other.is_nan() {
                    Self::NAN
                } else {
                    self.min_num(other)
                }
            }
            fn highest(self, other: Self) -> Self {
                if self.is_nan() || other.is_nan() {
                    Self::NAN
                } else {
                    self.max_num(other)
                }
            }
        }
    };
}
extremes!(f32);
extremes!(f64);

/// An operation for which [`is_total`] holds.
#[inline(always)]
pub(crate) fn total(op: Binary, element: Element, x: u64, y: u64) -> u64 {
    use Binary::*;
    let signed = |bits| element.signed(bits);
    match op {
        AddI => x.wrapping_add(y) & element.mask(),
        SubI => x.wrapping_sub(y) & element.mask(),
        MulI => x.wrapping_mul(y) & element.mask(),
        And => x & y,
        Or => x | y,
        Xor => x ^ y,
        MinS => {
            if signed(x) < signed(y) {
                x
            } else {
                y
            }
        }
        MaxS => {
            if signed(x) < signed(y) {
                y
            } else {
                x
            }
        }
        MinU => x.min(y),
        MaxU => x.max(y),
        AddF => of_floats!(element, |x, y| x + y),
        SubF => of_floats!(element, |x, y| x - y),
        MulF => of_floats!(element, |x, y| x * y),
        DivF => of_floats!(element, |x, y| x / y),
        RemF => of_floats!(element, |x, y| x % y),
        Pow => of_floats!(element, |x, y| x.powf(y)),
        Atan2 => of_floats!(element, |x, y| x.atan2(y)),
        CopySign => of_floats!(element, |x, y| x.copysign(y)),
        MinNum => of_floats!(element, |x, y| x.min_num(y)),
        MaxNum => of_floats!(element, |x, y| x.max_num(y)),
        Minimum => of_floats!(element, |x, y| x.lowest(y)),
        Maximum => of_floats!(element, |x, y| x.highest(y)),
        // Not total; see `partial`.
        DivS | DivU | CeilDivS | CeilDivU | FloorDivS | RemS | RemU | Shl | ShrS | ShrU | PowI => 0,
    }
}

/// Any operation on two operands.
pub(crate) fn binary(op: Binary, element: Element, x: u64, y: u64) -> Result<u64, Undefined> {
    use Binary::*;
    if is_total(op) {
        return Ok(total(op, element, x, y));
    }
    let (sx, sy) = (element.signed(x), element.signed(y));
    match op {
        Shl | ShrS | ShrU => {
            if y >= element.width() as u64 {
                return Err(Undefined::Poison);
            }
            Ok(match op {
                Shl => x << y,
                ShrS => (sx >> y) as u64,
                _ => x >> y,
            } & element.mask())
        }
        PowI => power(element, sx, sy).ok_or(Undefined::Fault("raises zero to a negative power")),
        _ if y == 0 => Err(Undefined::Fault("divides by zero")),
        DivU => Ok(x / y),
        CeilDivU => Ok(x.div_ceil(y)),
        RemU => Ok(x % y),
        _ if sy == -1 && x == (element.mask() >> 1) + 1 => Err(Undefined::Fault(
            "divides the smallest integer by -1, which overflows",
        )),
        _ => {
            let (quotient, rest) = (sx / sy, sx % sy);
            let same_sign = (rest < 0) == (sy < 0);
            let result = match op {
                RemS => rest,
                CeilDivS if rest != 0 && same_sign => quotient + 1,
                FloorDivS if rest != 0 && !same_sign => quotient - 1,
                _ => quotient,
            };
            Ok(result as u64 & element.mask())
        }
    }
}

/// `x` to the power of `y`, wrapping; none for a negative power of zero.
fn power(element: Element, x: i64, y: i64) -> Option<u64> {
    let result = match (x, y) {
        (0, ..0) => return None,
        (1, ..0) => 1,
        (-1, ..0) => {
            if y % 2 == 0 {
                1
            } else {
                -1
            }
        }
        (_, ..0) => 0,
        _ => {
            let (mut base, mut left, mut product) = (x, y, 1i64);
            while left > 0 {
                if left & 1 != 0 {
                    product = product.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                left >>= 1;
            }
            product
        }
    };
    Some(result as u64 & element.mask())
}

/// The result of combining by a kind; the left operand is the lower index.
pub(crate) fn combine(kind: Kind, element: Element, x: u64, y: u64) -> u64 {
    let op = match (kind, element.is_float()) {
        (Kind::Add, false) => Binary::AddI,
        (Kind::Add, true) => Binary::AddF,
        (Kind::Mul, false) => Binary::MulI,
        (Kind::Mul, true) => Binary::MulF,
        (Kind::MinS, _) => Binary::MinS,
        (Kind::MinU, _) => Binary::MinU,
        (Kind::MinNum, _) => Binary::MinNum,
        (Kind::MaxS, _) => Binary::MaxS,
        (Kind::MaxU, _) => Binary::MaxU,
        (Kind::MaxNum, _) => Binary::MaxNum,
        (Kind::And, _) => Binary::And,
        (Kind::Or, _) => Binary::Or,
        (Kind::Xor, _) => Binary::Xor,
    };
    total(op, element, x, y)
}

/// The value that changes nothing under a kind.
pub(crate) fn identity(kind: Kind, element: Element) -> u64 {
    let float = |value: f64| element.rounded(value);
    let largest = element.mask() >> 1;
    match kind {
        Kind::Add | Kind::Or | Kind::Xor | Kind::MaxU => 0,
        Kind::Mul if element.is_float() => float(1.0),
        Kind::Mul => 1,
        Kind::MinU | Kind::And => element.mask(),
        Kind::MinS => largest,
        Kind::MaxS => largest + 1,
        Kind::MinNum => float(f64::INFINITY),
        Kind::MaxNum => float(f64::NEG_INFINITY),
    }
}

/// An operation on one operand.
pub(crate) fn unary(op: Unary, element: Element, x: u64) -> u64 {
    use Unary::*;
    let width = element.width();
    let class = || element.float(x);
    match op {
        AbsI => element.signed(x).unsigned_abs() & element.mask(),
        CtPop => x.count_ones() as u64,
        CtLz => (x.leading_zeros() - (64 - width)) as u64,
        CtTz => x.trailing_zeros().min(width) as u64,
        Ffs => {
            if x == 0 {
                0
            } else {
                x.trailing_zeros() as u64 + 1
            }
        }
        NegF => x ^ ((element.mask() >> 1) + 1),
        AbsF => x & (element.mask() >> 1),
        Sqrt => of_floats!(element, |x| x.sqrt()),
        Rsqrt => of_floats!(element, |x| x.sqrt().recip()),
        Cbrt => of_floats!(element, |x| x.cbrt()),
        Exp => of_floats!(element, |x| x.exp()),
        Exp2 => of_floats!(element, |x| x.exp2()),
        ExpM1 => of_floats!(element, |x| x.exp_m1()),
        Log => of_floats!(element, |x| x.ln()),
        Log2 => of_floats!(element, |x| x.log2()),
        Log10 => of_floats!(element, |x| x.log10()),
        Log1P => of_floats!(element, |x| x.ln_1p()),
        Sin => of_floats!(element, |x| x.sin()),
        Cos => of_floats!(element, |x| x.cos()),
        Tan => of_floats!(element, |x| x.tan()),
        Asin => of_floats!(element, |x| x.asin()),
        Acos => of_floats!(element, |x| x.acos()),
        Atan => of_floats!(element, |x| x.atan()),
        Sinh => of_floats!(element, |x| x.sinh()),
        Cosh => of_floats!(element, |x| x.cosh()),
        Tanh => of_floats!(element, |x| x.tanh()),
        Asinh => of_floats!(element, |x| x.asinh()),
        Acosh => of_floats!(element, |x| x.acosh()),
        Atanh => of_floats!(element, |x| x.atanh()),
        Floor => of_floats!(element, |x| x.floor()),
        Ceil => of_floats!(element, |x| x.ceil()),
        Trunc => of_floats!(element, |x| x.trunc()),
        Round => of_floats!(element, |x| x.round()),
        RoundEven => of_floats!(element, |x| x.round_ties_even()),
        IsNan => class().is_nan() as u64,
        IsInf => class().is_infinite() as u64,
        IsFinite => class().is_finite() as u64,
        IsNormal => match element {
            Element::F16 => (class().is_finite() && class().abs() >= 2f64.powi(-14)) as u64,
            Element::BF16 | Element::F32 => (class() as f32).is_normal() as u64,
            _ => class().is_normal() as u64,
        },
    }
}

/// Fused multiply-add.
pub(crate) fn fma(element: Element, x: u64, y: u64, z: u64) -> u64 {
    of_floats!(element, |x, y, z| x.mul_add(y, z))
}

/// A conversion; none if the value does not fit (which is poison).
pub(crate) fn cast(op: Cast, from: Element, to: Element, x: u64) -> Option<u64> {
    let float = |wide: f64| to.rounded(wide);
    // An integer straight to the narrower type: by way of f64 it would be
    // rounded twice.
    macro_rules! to_float {
        ($integer:expr) => {
            match to {
                Element::F16 | Element::BF16 => to.rounded(to_odd($integer.into())),
                Element::F32 => ($integer as f32).to_bits() as u64,
                _ => ($integer as f64).to_bits(),
            }
        };
    }
    Some(match op {
        Cast::Signed => from.signed(x) as u64 & to.mask(),
        Cast::Unsigned => x & to.mask(),
        Cast::Bits => x,
        Cast::FloatToFloat => float(from.float(x)),
        Cast::SignedToFloat => to_float!(from.signed(x)),
        Cast::UnsignedToFloat => to_float!(x),
        Cast::FloatToSigned => {
            let (value, limit) = (from.float(x).trunc(), two_to(to.width() - 1));
            if !(value >= -limit && value < limit) {
                return None;
            }
            value as i64 as u64 & to.mask()
        }
        Cast::FloatToUnsigned => {
            let value = from.float(x).trunc();
            if !(value >= 0.0 && value < two_to(to.width())) {
                return None;
            }
            value as u64
        }
    })
}

/// An integer whose last digit, if it does not fit, says that there is more: rounding the result
/// again rounds the integer once.
fn to_odd(value: i128) -> f64 {
    if value.unsigned_abs() < 1 << 53 {
        return value as f64;
    }
    let rest = value.unsigned_abs() & 0xFFFF != 0;
    let digits = (value.unsigned_abs() >> 16 | u128::from(rest)) as f64 * 65536.0;
    if value < 0 { -digits } else { digits }
}

/// 2 to the power of `n`.
fn two_to(n: u32) -> f64 {
    f64::from_bits((1023 + n as u64) << 52)
}

/// Whether the operands keep a promise; see [`Promise`].
pub(crate) fn keeps(promise: Promise, element: Element, x: u64, y: u64) -> bool {
    let (sx, sy) = (element.signed(x) as i128, element.signed(y) as i128);
    let (ux, uy) = (x as i128, y as i128);
    let width = element.width();
    let fits_signed = |value: i128| value >= -(1 << (width - 1)) && value < 1 << (width - 1);
    let fits_unsigned = |value: i128| value >= 0 && value < 1i128 << width;
    match promise {
        Promise::NoSignedWrap(op) => match op {
            Binary::AddI => fits_signed(sx + sy),
            Binary::SubI => fits_signed(sx - sy),
            Binary::MulI => fits_signed(sx * sy),
            // Over-wide shifts are poison in any case.
            Binary::Shl => y < width as u64 && fits_signed(sx << y),
            _ => true,
        },
        Promise::NoUnsignedWrap(op) => match op {
            Binary::AddI => fits_unsigned(ux + uy),
            Binary::SubI => ux >= uy,
            Binary::MulI => x
                .checked_mul(y)
                .is_some_and(|product| product <= element.mask()),
            Binary::Shl => y < width as u64 && fits_unsigned(ux << y),
            _ => true,
        },
        Promise::Exact(op) => match op {
            Binary::DivS => sy != 0 && sx % sy == 0,
            Binary::DivU => y != 0 && x.is_multiple_of(y),
            Binary::ShrS | Binary::ShrU => y < width as u64 && x & ((1 << y) - 1) == 0,
            _ => true,
        },
        Promise::NonNegative => sx >= 0,
        Promise::TruncatesSigned(to) => to.signed(x & to.mask()) as i128 == sx,
        Promise::TruncatesUnsigned(to) => x & to.mask() == x,
    }
}

/// The two results of an extended operation: low and high, or sum and carry.
pub(crate) fn extended(op: Extended, element: Element, x: u64, y: u64) -> (u64, u64) {
    let width = element.width();
    let wide = match op {
        Extended::AddU => x as u128 + y as u128,
        Extended::MulU => x as u128 * y as u128,
        Extended::MulS => {
            (element.signed(x) as i128).wrapping_mul(element.signed(y) as i128) as u128
        }
    };
    let high = (wide >> width) as u64 & element.mask();
    (wide as u64 & element.mask(), high)
}

/// Philox4x32-10 of Salmon et al., 2011.
pub(crate) fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let halves = |product: u64| ((product >> 32) as u32, product as u32);
    let mut random = counter;
    for round in 0..10_u32 {
        let k0 = key[0].wrapping_add(round.wrapping_mul(0x9E37_79B9));
        let k1 = key[1].wrapping_add(round.wrapping_mul(0xBB67_AE85));
        let [r0, r1, r2, r3] = random;
        let (high0, low0) = halves(u64::from(r0) * 0xD251_1F53);
        let (high2, low2) = halves(u64::from(r2) * 0xCD9E_8D57);
        random = [high2 ^ r1 ^ k0, low2, high0 ^ r3 ^ k1, low0];
    }
    random
}

/// Comparison of integers.
#[inline(always)]
pub(crate) fn compare_ints(predicate: IntPredicate, element: Element, x: u64, y: u64) -> bool {
    use IntPredicate::*;
    let (sx, sy) = (element.signed(x), element.signed(y));
    match predicate {
        Eq => x == y,
        Ne => x != y,
        Slt => sx < sy,
        Sle => sx <= sy,
        Sgt => sx > sy,
        Sge => sx >= sy,
        Ult => x < y,
        Ule => x <= y,
        Ugt => x > y,
        Uge => x >= y,
    }
}

/// Comparison of floats.
#[inline(always)]
pub(crate) fn compare_floats(predicate: FloatPredicate, element: Element, x: u64, y: u64) -> bool {
    use std::cmp::Ordering::*;
    match element.float(x).partial_cmp(&element.float(y)) {
        Some(Less) => predicate.less,
        Some(Equal) => predicate.equal,
        Some(Greater) => predicate.greater,
        None => predicate.unordered,
    }
}

/// Position of the `|offset|`-th set bit of a 32-bit mask from `base` on,
/// upwards or downwards; all ones if there is none. `base` is below 32.
pub(crate) fn find_nth_set(mask: u32, base: u32, offset: i32) -> u32 {
    let positions: Vec<u32> = match offset {
        0 => vec![base],
        1.. => (base..32).collect(),
        _ => (0..=base).rev().collect(),
    };
    let nth = offset.unsigned_abs().max(1) as usize - 1;
    positions
        .into_iter()
        .filter(|bit| mask >> bit & 1 != 0)
        .nth(nth)
        .unwrap_or(u32::MAX)
}
