//! Values of less than 32 bits in 32 bits, and back.

use qd_dialects::{
    builder::{Builder, V},
    ir::{bit_width, is_float},
    melior::ir::{Type, TypeLike},
};

/// How a value is widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Widening {
    /// Its bits, below zeros.
    Bits,
    /// An integer's bits, above zeros: order and extremes are those of signed `i32`.
    High,
    /// An integer with its sign.
    Signed,
    /// A float, as `f32`.
    Float,
}

/// Whether a type is a scalar of less than 32 bits.
pub fn is_narrow(r#type: Type<'_>) -> bool {
    (r#type.is_integer() || is_float(r#type)) && bit_width(r#type) < 32
}

impl Widening {
    /// The widened type.
    pub fn wide<'c>(self, b: &Builder<'c>) -> Type<'c> {
        match self {
            Self::Float => b.f32_type(),
            _ => b.int_type(32),
        }
    }

    /// Widens a value.
    pub fn widen<'b, 'c>(self, value: V<'b, 'c>) -> V<'b, 'c> {
        let b = value.builder();
        let wide = self.wide(b);
        let width = bit_width(value.ty());
        match self {
            Self::Bits => value.bitcast(b.int_type(width)).cast(wide),
            Self::High => value.cast(wide) << (32 - i64::from(width)),
            Self::Signed => b.result("arith.extsi", &[value], wide, &[]),
            Self::Float => b.result("arith.extf", &[value], wide, &[]),
        }
    }

    /// What a widened value was, or what it is rounded to.
    pub fn narrow<'b, 'c>(self, wide: V<'b, 'c>, to: Type<'c>) -> V<'b, 'c> {
        let b = wide.builder();
        let width = bit_width(to);
        match self {
            Self::Bits => wide.cast(b.int_type(width)).bitcast(to),
            Self::High => (wide >> (32 - i64::from(width))).cast(to),
            Self::Signed => wide.cast(to),
            Self::Float => b.result("arith.truncf", &[wide], to, &[]),
        }
    }
}
