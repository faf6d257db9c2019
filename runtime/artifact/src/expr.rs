//! Arithmetic that the host evaluates before a launch: grids, bounds,
//! predicates.

use serde::{Deserialize, Serialize};

/// An expression over buffer lengths and scalar arguments. Values are 64-bit
/// words; an operation of a narrower width wraps at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// A constant's bits.
    Constant(u64),
    /// The bits of a scalar argument of the kernel.
    Scalar(usize),
    /// The extent of a buffer argument along a dimension.
    Length(usize, usize),
    /// Where a buffer argument begins, as the device's kernels see it.
    Address(usize),
    /// An operation on integers of `width` bits.
    Binary {
        /// Which.
        operation: Operation,
        /// Bits of the operands and the result.
        width: u32,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// A comparison of integers of `width` bits: 0 or 1.
    Compare {
        /// Which.
        comparison: Comparison,
        /// Bits of the operands.
        width: u32,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// One of two values.
    Select {
        /// 1 or 0.
        condition: Box<Expr>,
        /// If 1.
        then: Box<Expr>,
        /// If 0.
        otherwise: Box<Expr>,
    },
    /// The low `to` bits of the value, extended from there.
    Resize {
        /// Bits that count.
        to: u32,
        /// Whether bit `to − 1` is copied upwards.
        signed: bool,
        /// The value.
        value: Box<Expr>,
    },
}

/// An integer operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Operation {
    Add,
    Sub,
    Mul,
    DivUnsigned,
    DivSigned,
    RemUnsigned,
    RemSigned,
    CeilDivUnsigned,
    CeilDivSigned,
    FloorDivSigned,
    MinUnsigned,
    MaxUnsigned,
    MinSigned,
    MaxSigned,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightUnsigned,
    ShiftRightSigned,
}

/// An integer comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    Ne,
    LtSigned,
    LeSigned,
    GtSigned,
    GeSigned,
    LtUnsigned,
    LeUnsigned,
    GtUnsigned,
    GeUnsigned,
}

/// The values of a kernel's arguments at launch.
pub trait Values {
    /// The bits of a scalar argument, zero-extended.
    fn scalar(&self, argument: usize) -> u64;
    /// The extent of a buffer argument along a dimension.
    fn length(&self, argument: usize, dimension: usize) -> u64;
    /// Where a buffer argument begins; 0 where what is evaluated depends on no addresses.
    fn address(&self, _argument: usize) -> u64 {
        0
    }
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A divisor is 0.
    #[error("division by zero")]
    DivisionByZero,
}

impl Expr {
    /// A constant.
    pub fn constant(value: u64) -> Self {
        Expr::Constant(value)
    }

    /// The value, as 64 bits: of a narrower operation, zero-extended.
    pub fn evaluate(&self, values: &dyn Values) -> Result<u64, EvalError> {
        Ok(match self {
            Expr::Constant(value) => *value,
            Expr::Scalar(argument) => values.scalar(*argument),
            Expr::Length(argument, dimension) => values.length(*argument, *dimension),
            Expr::Address(argument) => values.address(*argument),
            Expr::Binary {
                operation,
                width,
                left,
                right,
            } => {
                let (left, right) = (left.evaluate(values)?, right.evaluate(values)?);
                truncate(operation.apply(left, right, *width)?, *width)
            }
            Expr::Compare {
                comparison,
                width,
                left,
                right,
            } => {
                let (left, right) = (left.evaluate(values)?, right.evaluate(values)?);
                comparison.apply(left, right, *width).into()
            }
            Expr::Select {
                condition,
                then,
                otherwise,
            } => {
                if condition.evaluate(values)? & 1 == 1 {
                    then.evaluate(values)?
                } else {
                    otherwise.evaluate(values)?
                }
            }
            Expr::Resize { to, signed, value } => {
                let value = value.evaluate(values)?;
                if *signed {
                    extend(value, *to) as u64
                } else {
                    truncate(value, *to)
                }
            }
        })
    }
}

fn truncate(value: u64, width: u32) -> u64 {
    if width >= 64 {
        value
    } else {
        value & ((1 << width) - 1)
    }
}

fn extend(value: u64, width: u32) -> i64 {
    let shift = 64 - width.min(64);
    ((value << shift) as i64) >> shift
}

impl Operation {
    fn apply(self, left: u64, right: u64, width: u32) -> Result<u64, EvalError> {
        use Operation::*;
        let (a, b) = (truncate(left, width), truncate(right, width));
        let (x, y) = (extend(left, width), extend(right, width));
        let divides = matches!(
            self,
            DivUnsigned
                | DivSigned
                | RemUnsigned
                | RemSigned
                | CeilDivUnsigned
                | CeilDivSigned
                | FloorDivSigned
        );
        if divides && b == 0 {
            return Err(EvalError::DivisionByZero);
        }
        Ok(match self {
            Add => a.wrapping_add(b),
            Sub => a.wrapping_sub(b),
            Mul => a.wrapping_mul(b),
            DivUnsigned => a / b,
            DivSigned => x.wrapping_div(y) as u64,
            RemUnsigned => a % b,
            RemSigned => x.wrapping_rem(y) as u64,
            CeilDivUnsigned => a.div_ceil(b),
            CeilDivSigned => {
                let quotient = x.wrapping_div(y);
                let inexact = x.wrapping_rem(y) != 0 && (x < 0) == (y < 0);
                quotient.wrapping_add(inexact.into()) as u64
            }
            FloorDivSigned => {
                let quotient = x.wrapping_div(y);
                let inexact = x.wrapping_rem(y) != 0 && (x < 0) != (y < 0);
                quotient.wrapping_sub(inexact.into()) as u64
            }
            MinUnsigned => a.min(b),
            MaxUnsigned => a.max(b),
            MinSigned => x.min(y) as u64,
            MaxSigned => x.max(y) as u64,
            And => a & b,
            Or => a | b,
            Xor => a ^ b,
            ShiftLeft => a.checked_shl(b as u32).unwrap_or(0),
            ShiftRightUnsigned => a.checked_shr(b as u32).unwrap_or(0),
            ShiftRightSigned => (x >> b.min(63)) as u64,
        })
    }
}

impl Comparison {
    fn apply(self, left: u64, right: u64, width: u32) -> bool {
        use Comparison::*;
        let (a, b) = (truncate(left, width), truncate(right, width));
        let (x, y) = (extend(left, width), extend(right, width));
        match self {
            Eq => a == b,
            Ne => a != b,
            LtSigned => x < y,
            LeSigned => x <= y,
            GtSigned => x > y,
            GeSigned => x >= y,
            LtUnsigned => a < b,
            LeUnsigned => a <= b,
            GtUnsigned => a > b,
            GeUnsigned => a >= b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;
    impl Values for Fixed {
        fn scalar(&self, argument: usize) -> u64 {
            [7, u64::MAX][argument]
        }
        fn length(&self, _: usize, dimension: usize) -> u64 {
            [1000, 3][dimension]
        }
    }

    fn binary(operation: Operation, width: u32, left: Expr, right: Expr) -> Expr {
        Expr::Binary {
            operation,
            width,
            left: left.into(),
            right: right.into(),
        }
    }

    #[test]
    fn grids_are_ceilings_of_lengths() {
        let blocks = binary(
            Operation::CeilDivUnsigned,
            64,
            Expr::Length(0, 0),
            Expr::constant(256),
        );
        assert_eq!(blocks.evaluate(&Fixed), Ok(4));
    }

    #[test]
    fn narrow_operations_wrap_at_their_width() {
        let sum = binary(Operation::Add, 32, Expr::Scalar(1), Expr::constant(2));
        assert_eq!(sum.evaluate(&Fixed), Ok(1));
        let minus_seven = Expr::constant((-7i64) as u64);
        let floor = binary(
            Operation::FloorDivSigned,
            64,
            minus_seven.clone(),
            Expr::constant(2),
        );
        assert_eq!(floor.evaluate(&Fixed).map(|v| v as i64), Ok(-4));
        let ceiling = binary(Operation::CeilDivSigned, 64, minus_seven, Expr::constant(2));
        assert_eq!(ceiling.evaluate(&Fixed).map(|v| v as i64), Ok(-3));
    }

    #[test]
    fn dividing_by_zero_is_an_error() {
        let quotient = binary(
            Operation::DivUnsigned,
            64,
            Expr::constant(1),
            Expr::constant(1 << 32),
        );
        assert_eq!(quotient.evaluate(&Fixed), Ok(0));
        let quotient = binary(
            Operation::DivUnsigned,
            32,
            Expr::constant(1),
            Expr::constant(1 << 32),
        );
        assert_eq!(quotient.evaluate(&Fixed), Err(EvalError::DivisionByZero));
    }

    #[test]
    fn comparisons_know_their_sign() {
        let compare = |comparison| Expr::Compare {
            comparison,
            width: 32,
            left: Expr::constant(0xFFFF_FFFF).into(),
            right: Expr::constant(1).into(),
        };
        assert_eq!(compare(Comparison::LtSigned).evaluate(&Fixed), Ok(1));
        assert_eq!(compare(Comparison::LtUnsigned).evaluate(&Fixed), Ok(0));
    }
}
