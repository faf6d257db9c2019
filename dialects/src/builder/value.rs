//! Values with operators.

use super::Builder;
use crate::ir::{self, Value};
use melior::ir::{Type, ValueLike};
use std::ops;

/// A value, and the builder that made it.
#[derive(Clone, Copy)]
pub struct V<'b, 'c> {
    builder: &'b Builder<'c>,
    value: Value<'c>,
}

/// Predicates of `arith.cmpi`, by their number.
mod predicate {
    pub const EQ: i64 = 0;
    pub const NE: i64 = 1;
    pub const SLT: i64 = 2;
    pub const SLE: i64 = 3;
    pub const SGT: i64 = 4;
    pub const SGE: i64 = 5;
    pub const ULT: i64 = 6;
    pub const ULE: i64 = 7;
    pub const UGT: i64 = 8;
    pub const UGE: i64 = 9;
    // Of `arith.cmpf`, ordered but for NE: a NaN differs from everything.
    pub const OEQ: i64 = 1;
    pub const OGT: i64 = 2;
    pub const OGE: i64 = 3;
    pub const OLT: i64 = 4;
    pub const OLE: i64 = 5;
    pub const UNE: i64 = 13;
}

impl<'b, 'c> V<'b, 'c> {
    pub(super) fn new(builder: &'b Builder<'c>, value: Value<'c>) -> Self {
        Self { builder, value }
    }

    /// The value in the IR.
    pub fn value(self) -> Value<'c> {
        self.value
    }

    /// Its builder.
    pub fn builder(self) -> &'b Builder<'c> {
        self.builder
    }

    /// Its type.
    pub fn ty(self) -> Type<'c> {
        self.value.r#type()
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        ir::is_float(self.ty())
    }

    /// A constant of this value's type.
    pub fn same(self, value: i64) -> Self {
        self.builder.scalar(self.ty(), value)
    }

    fn binary(self, int: &str, float: &str, other: Self) -> Self {
        let name = if self.is_float() { float } else { int };
        self.builder.result(name, &[self, other], self.ty(), &[])
    }

    fn compare(self, int: i64, float: i64, other: Self) -> Self {
        let b = self.builder;
        let (name, predicate) = if self.is_float() {
            ("arith.cmpf", float)
        } else {
            ("arith.cmpi", int)
        };
        let predicate = crate::attributes::i64(b.context(), predicate);
        b.result(
            name,
            &[self, other],
            b.int_type(1),
            &[("predicate", predicate)],
        )
    }

    /// `self == other`; on floats false if either is NaN.
    pub fn eq(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::EQ, predicate::OEQ, other.of(self))
    }

    /// `self != other`; on floats true if either is NaN.
    pub fn ne(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::NE, predicate::UNE, other.of(self))
    }

    /// `self < other`, unsigned on integers.
    pub fn lt(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::ULT, predicate::OLT, other.of(self))
    }

    /// `self <= other`, unsigned on integers.
    pub fn le(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::ULE, predicate::OLE, other.of(self))
    }

    /// `self > other`, unsigned on integers.
    pub fn gt(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::UGT, predicate::OGT, other.of(self))
    }

    /// `self >= other`, unsigned on integers.
    pub fn ge(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::UGE, predicate::OGE, other.of(self))
    }

    /// `self < other`, signed on integers.
    pub fn slt(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::SLT, predicate::OLT, other.of(self))
    }

    /// `self <= other`, signed on integers.
    pub fn sle(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::SLE, predicate::OLE, other.of(self))
    }

    /// `self > other`, signed on integers.
    pub fn sgt(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::SGT, predicate::OGT, other.of(self))
    }

    /// `self >= other`, signed on integers.
    pub fn sge(self, other: impl Operand<'b, 'c>) -> Self {
        self.compare(predicate::SGE, predicate::OGE, other.of(self))
    }

    /// The smaller, unsigned on integers, NaN-suppressing on floats.
    pub fn min(self, other: impl Operand<'b, 'c>) -> Self {
        self.binary("arith.minui", "arith.minnumf", other.of(self))
    }

    /// The larger, unsigned on integers, NaN-suppressing on floats.
    pub fn max(self, other: impl Operand<'b, 'c>) -> Self {
        self.binary("arith.maxui", "arith.maxnumf", other.of(self))
    }

    /// The larger, signed on integers, NaN-suppressing on floats.
    pub fn max_signed(self, other: impl Operand<'b, 'c>) -> Self {
        self.binary("arith.maxsi", "arith.maxnumf", other.of(self))
    }

    /// The smaller, signed on integers, NaN-suppressing on floats.
    pub fn min_signed(self, other: impl Operand<'b, 'c>) -> Self {
        self.binary("arith.minsi", "arith.minnumf", other.of(self))
    }

    /// `self / other`, signed on integers, towards zero.
    pub fn div_signed(self, other: impl Operand<'b, 'c>) -> Self {
        self.binary("arith.divsi", "arith.divf", other.of(self))
    }

    /// What [`div_signed`](Self::div_signed) leaves, with the sign of `self`.
    pub fn rem_signed(self, other: impl Operand<'b, 'c>) -> Self {
        self.binary("arith.remsi", "arith.remf", other.of(self))
    }

    /// `⌈self / other⌉`, unsigned.
    pub fn ceil_div(self, other: impl Operand<'b, 'c>) -> Self {
        self.binary("arith.ceildivui", "arith.divf", other.of(self))
    }

    /// Signed (arithmetic) shift to the right.
    pub fn shr_signed(self, other: impl Operand<'b, 'c>) -> Self {
        self.binary("arith.shrsi", "arith.shrsi", other.of(self))
    }

    /// `if self { a } else { b }`, both evaluated.
    pub fn select(self, a: Self, b: Self) -> Self {
        self.builder
            .result("arith.select", &[self, a, b], a.ty(), &[])
    }

    /// Converts between integers and `index`, zero-extending or truncating.
    pub fn cast(self, to: Type<'c>) -> Self {
        let b = self.builder;
        if self.ty() == to {
            return self;
        }
        let index = b.index_type();
        let name = if self.ty() == index || to == index {
            "arith.index_castui"
        } else if ir::bit_width(self.ty()) < ir::bit_width(to) {
            "arith.extui"
        } else {
            "arith.trunci"
        };
        b.result(name, &[self], to, &[])
    }

    /// As `index`, zero-extended.
    pub fn to_index(self) -> Self {
        self.cast(self.builder.index_type())
    }

    /// As `i32`, zero-extended or truncated.
    pub fn to_i32(self) -> Self {
        self.cast(self.builder.int_type(32))
    }

    /// As `i64`, zero-extended or truncated.
    pub fn to_i64(self) -> Self {
        self.cast(self.builder.int_type(64))
    }

    /// The same bits as another type of the same width.
    pub fn bitcast(self, to: Type<'c>) -> Self {
        if self.ty() == to {
            return self;
        }
        self.builder.result("arith.bitcast", &[self], to, &[])
    }
}

/// The right side of an operator: a value, or a number of the left's type.
pub trait Operand<'b, 'c> {
    /// As a value of `like`'s type.
    fn of(self, like: V<'b, 'c>) -> V<'b, 'c>;
}

impl<'b, 'c> Operand<'b, 'c> for V<'b, 'c> {
    fn of(self, _: V<'b, 'c>) -> V<'b, 'c> {
        self
    }
}

impl<'b, 'c> Operand<'b, 'c> for i64 {
    fn of(self, like: V<'b, 'c>) -> V<'b, 'c> {
        like.same(self)
    }
}

impl<'b, 'c> Operand<'b, 'c> for f64 {
    fn of(self, like: V<'b, 'c>) -> V<'b, 'c> {
        // Of an integer it is none, which the verifier says.
        match like.is_float() {
            true => like.builder.float(like.ty(), self),
            false => like.builder.f64(self),
        }
    }
}

macro_rules! operator {
    ($($trait:ident, $method:ident, $int:literal, $float:literal;)*) => {$(
        impl<'b, 'c, T: Operand<'b, 'c>> ops::$trait<T> for V<'b, 'c> {
            type Output = Self;
            fn $method(self, other: T) -> Self {
                self.binary($int, $float, other.of(self))
            }
        }
    )*};
}

operator! {
    Add, add, "arith.addi", "arith.addf";
    Sub, sub, "arith.subi", "arith.subf";
    Mul, mul, "arith.muli", "arith.mulf";
    Div, div, "arith.divui", "arith.divf";
    Rem, rem, "arith.remui", "arith.remf";
    BitAnd, bitand, "arith.andi", "arith.andi";
    BitOr, bitor, "arith.ori", "arith.ori";
    BitXor, bitxor, "arith.xori", "arith.xori";
    Shl, shl, "arith.shli", "arith.shli";
    Shr, shr, "arith.shrui", "arith.shrui";
}

impl ops::Neg for V<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        match self.is_float() {
            true => self.builder.result("arith.negf", &[self], self.ty(), &[]),
            false => self.same(0) - self,
        }
    }
}

impl ops::Not for V<'_, '_> {
    type Output = Self;
    fn not(self) -> Self {
        self ^ self.same(-1)
    }
}
