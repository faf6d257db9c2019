//! The enumerations that instructions choose from.

use crate::value::Element;

/// An enumeration that is read from an attribute's printed form, or written in
/// the table of operations.
macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($case:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum $name { $($case),* }
        impl $name {
            pub fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$case),)*
                    _ => None,
                }
            }
        }
    };
}

spelled! {
    /// How two values combine.
    Kind {
        Add = "add", Mul = "mul", MinS = "minsi", MinU = "minui", MinNum = "minnumf",
        MaxS = "maxsi", MaxU = "maxui", MaxNum = "maxnumf", And = "and", Or = "or", Xor = "xor",
    }
}
spelled! {
    /// The scope of an atomic or a fence; narrower is less.
    Scope { Subgroup = "subgroup", Block = "block", Device = "device" }
}
spelled! {
    Order { Relaxed = "relaxed", Acquire = "acquire", Release = "release", AcqRel = "acq_rel" }
}
spelled! {
    ShuffleMode { Idx = "idx", Up = "up", Down = "down", Xor = "xor" }
}
spelled! {
    LaneRelation { Lt = "lt", Le = "le", Eq = "eq", Gt = "gt", Ge = "ge" }
}
spelled! {
    /// Comparison of integers.
    IntPredicate {
        Eq = "eq", Ne = "ne", Slt = "slt", Sle = "sle", Sgt = "sgt", Sge = "sge",
        Ult = "ult", Ule = "ule", Ugt = "ugt", Uge = "uge",
    }
}

impl IntPredicate {
    /// In the order of `arith.cmpi`'s numbers.
    pub const ALL: [Self; 10] = [
        Self::Eq,
        Self::Ne,
        Self::Slt,
        Self::Sle,
        Self::Sgt,
        Self::Sge,
        Self::Ult,
        Self::Ule,
        Self::Ugt,
        Self::Uge,
    ];
}

/// Comparison of floats: which of the four outcomes satisfy it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FloatPredicate {
    pub less: bool,
    pub equal: bool,
    pub greater: bool,
    pub unordered: bool,
}

impl FloatPredicate {
    /// By `arith.cmpf`'s number: false, oeq, ogt, oge, olt, ole, one, ord, ueq,
    /// ugt, uge, ult, ule, une, uno, true.
    pub fn of(number: u64) -> Option<Self> {
        let (less, equal, greater, unordered) = match number {
            0 => (false, false, false, false),
            1 => (false, true, false, false),
            2 => (false, false, true, false),
            3 => (false, true, true, false),
            4 => (true, false, false, false),
            5 => (true, true, false, false),
            6 => (true, false, true, false),
            7 => (true, true, true, false),
            8 => (false, true, false, true),
            9 => (false, false, true, true),
            10 => (false, true, true, true),
            11 => (true, false, false, true),
            12 => (true, true, false, true),
            13 => (true, false, true, true),
            14 => (false, false, false, true),
            15 => (true, true, true, true),
            _ => return None,
        };
        Some(Self {
            less,
            equal,
            greater,
            unordered,
        })
    }
}

/// Arithmetic on two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    AddI,
    SubI,
    MulI,
    DivS,
    DivU,
    CeilDivS,
    CeilDivU,
    FloorDivS,
    RemS,
    RemU,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    MinS,
    MinU,
    MaxS,
    MaxU,
    PowI,
    AddF,
    SubF,
    MulF,
    DivF,
    RemF,
    MinNum,
    MaxNum,
    Minimum,
    Maximum,
    Pow,
    Atan2,
    CopySign,
}

/// Arithmetic on one operand; the type of the result follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    AbsI,
    CtPop,
    CtLz,
    CtTz,
    Ffs,
    NegF,
    AbsF,
    Sqrt,
    Rsqrt,
    Cbrt,
    Exp,
    Exp2,
    ExpM1,
    Log,
    Log2,
    Log10,
    Log1P,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Floor,
    Ceil,
    Trunc,
    Round,
    RoundEven,
    IsNan,
    IsInf,
    IsFinite,
    IsNormal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cast {
    /// Sign-extends or truncates.
    Signed,
    /// Zero-extends or truncates.
    Unsigned,
    FloatToFloat,
    SignedToFloat,
    UnsignedToFloat,
    FloatToSigned,
    FloatToUnsigned,
    Bits,
}

/// A promise made by a flag; where it is broken the result is poison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// No signed overflow (`nsw`) of this operation.
    NoSignedWrap(Binary),
    /// No unsigned overflow (`nuw`).
    NoUnsignedWrap(Binary),
    /// No remainder, no bits shifted out.
    Exact(Binary),
    /// The operand is not negative (`nneg`).
    NonNegative,
    /// Truncation to this type loses no signed value.
    TruncatesSigned(Element),
    /// Truncation to this type loses no unsigned value.
    TruncatesUnsigned(Element),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extended {
    /// Sum and carry.
    AddU,
    /// Low and high half of the product.
    MulS,
    MulU,
}

/// Thread, lane and block ids, and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Id {
    Lane,
    SubgroupSize,
    Log2SubgroupSize,
    Subgroup,
    NumSubgroups,
    Elect,
    Block,
    BlockDim,
    Thread,
    GridDim,
    /// The index of a `for_each`.
    Element,
}
