//! What the generator knows of a value.

use std::fmt;

/// The scalar types that programs compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    F64,
    Index,
}

impl Ty {
    pub const ALL: [Ty; 10] = [
        Ty::I1,
        Ty::I8,
        Ty::I16,
        Ty::I32,
        Ty::I64,
        Ty::F16,
        Ty::BF16,
        Ty::F32,
        Ty::F64,
        Ty::Index,
    ];
    /// Those of which every program has buffers.
    pub const WIDE: [Ty; 4] = [Ty::I32, Ty::I64, Ty::F32, Ty::F64];
    /// Those of which some have: buffers of less than 32 bits.
    pub const NARROW: [Ty; 5] = [Ty::I1, Ty::I8, Ty::I16, Ty::F16, Ty::BF16];

    pub fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::BF16 | Ty::F32 | Ty::F64)
    }

    /// Its bits.
    pub fn bits(self) -> i64 {
        match self {
            Ty::I1 => 1,
            Ty::I8 => 8,
            Ty::I16 | Ty::F16 | Ty::BF16 => 16,
            Ty::I32 | Ty::F32 => 32,
            _ => 64,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ty::I1 => "i1",
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::F16 => "f16",
            Ty::BF16 => "bf16",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
            Ty::Index => "index",
        })
    }
}

/// Between which threads a value, or control, is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Varying,
    Subgroup,
    Block,
}

/// What is known of a float, so that its bits are the same on every target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// No float.
    Integer,
    /// A multiple of 2^−frac of magnitude at most 2^mag: sums of few are exact
    /// in any order.
    Exact { mag: i32, frac: i32 },
    /// Rounded once, each time in the same way; may be an infinity or NaN.
    Rounded,
}

impl Class {
    /// That of any value of a type.
    pub fn any(ty: Ty) -> Self {
        match ty.is_float() {
            true => Class::Rounded,
            false => Class::Integer,
        }
    }

    /// Bits that an exact float of a type may take.
    fn room(ty: Ty) -> i32 {
        match ty {
            Ty::F64 => 50,
            Ty::F16 => 10,
            Ty::BF16 => 7,
            _ => 22,
        }
    }

    /// This, if a float of the type holds it exactly.
    pub fn fitted(self, ty: Ty) -> Self {
        match self {
            Class::Exact { mag, frac } if mag + frac > Self::room(ty) => Class::Rounded,
            other => other,
        }
    }

    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Class::Exact { mag, frac }, Class::Exact { mag: m, frac: f }) => Class::Exact {
                mag: mag.max(m),
                frac: frac.max(f),
            },
            (Class::Integer, Class::Integer) => Class::Integer,
            _ => Class::Rounded,
        }
    }

    /// That of a sum of 2^log of these.
    pub fn summed(self, log: i32) -> Self {
        match self {
            Class::Exact { mag, frac } => Class::Exact {
                mag: mag + log,
                frac,
            },
            other => other,
        }
    }

    pub fn multiplied(self, other: Self) -> Self {
        match (self, other) {
            (Class::Exact { mag, frac }, Class::Exact { mag: m, frac: f }) => Class::Exact {
                mag: mag + m,
                frac: frac + f,
            },
            _ => Class::Rounded,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// None for memory.
    pub ty: Option<Ty>,
    pub level: Level,
    pub class: Class,
}
