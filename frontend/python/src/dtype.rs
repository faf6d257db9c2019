//! Scalar types and promotion.

use qd_frontend::Dtype;
use std::fmt;

/// A scalar type of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
    U1,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

use DType::*;

const ALL: [(DType, &str); 12] = [
    (U1, "u1"),
    (I8, "i8"),
    (I16, "i16"),
    (I32, "i32"),
    (I64, "i64"),
    (U8, "u8"),
    (U16, "u16"),
    (U32, "u32"),
    (U64, "u64"),
    (F16, "f16"),
    (F32, "f32"),
    (F64, "f64"),
];

impl DType {
    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    pub fn is_real(self) -> bool {
        matches!(self, F16 | F32 | F64)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }

    /// Of a value; in memory a `u1` is a byte.
    pub fn bits(self) -> u32 {
        match self {
            U1 => 1,
            I8 | U8 => 8,
            I16 | U16 | F16 => 16,
            I32 | U32 | F32 => 32,
            I64 | U64 | F64 => 64,
        }
    }

    /// In memory.
    pub fn stored(self) -> Dtype {
        match self {
            U1 | U8 => Dtype::U8,
            I8 => Dtype::I8,
            I16 => Dtype::I16,
            I32 => Dtype::I32,
            I64 => Dtype::I64,
            U16 => Dtype::U16,
            U32 => Dtype::U32,
            U64 => Dtype::U64,
            F16 => Dtype::F16,
            F32 => Dtype::F32,
            F64 => Dtype::F64,
        }
    }

    /// That of an array in memory; none of what kernels have no arrays of.
    pub fn of_memory(stored: Dtype) -> Option<Self> {
        match stored {
            Dtype::Bool => Some(U1),
            _ => ALL
                .iter()
                .map(|row| row.0)
                .find(|dtype| *dtype != U1 && dtype.stored() == stored),
        }
    }

    /// That of NumPy's arrays of a kind, `b`, `i`, `u` or `f`, of so many bits.
    pub fn of_kind(kind: u8, bits: u32) -> Option<Self> {
        let is = |dtype: &Self| match kind {
            b'b' => *dtype == U1,
            b'i' => dtype.is_signed(),
            b'u' => *dtype != U1 && !dtype.is_real() && !dtype.is_signed(),
            b'f' => dtype.is_real(),
            _ => false,
        };
        let mut all = ALL.iter().map(|row| row.0);
        all.find(|dtype| is(dtype) && 8 * dtype.stored().size() as u32 == bits)
    }

    /// The type in which two are combined: a real beats an integer, the wider the narrower, and of
    /// two integers of one width the unsigned the signed.
    pub fn promote(self, other: Self) -> Self {
        let rank = |dtype: Self| (dtype.is_real(), dtype.bits(), !dtype.is_signed());
        match rank(self) >= rank(other) {
            true => self,
            false => other,
        }
    }

    /// Whether an integer is one of its values.
    pub fn holds(self, value: i128) -> bool {
        let bits = self.bits();
        match self {
            F16 | F32 | F64 => true,
            _ if self.is_signed() => (-(1_i128 << (bits - 1))..1 << (bits - 1)).contains(&value),
            _ => (0..1_i128 << bits).contains(&value),
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = ALL.iter().find(|row| row.0 == *self);
        f.write_str(row.map_or("", |row| row.1))
    }
}
