//! Element types as data files and users see them, with signs.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The type of a buffer's elements or of a scalar argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Dtype {
    /// A byte that is 0 or 1.
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// IEEE binary16.
    F16,
    /// The upper half of an `F32`.
    BF16,
    F32,
    F64,
}

const ALL: [(Dtype, &str, usize); 13] = [
    (Dtype::Bool, "bool", 1),
    (Dtype::I8, "i8", 1),
    (Dtype::U8, "u8", 1),
    (Dtype::I16, "i16", 2),
    (Dtype::U16, "u16", 2),
    (Dtype::I32, "i32", 4),
    (Dtype::U32, "u32", 4),
    (Dtype::I64, "i64", 8),
    (Dtype::U64, "u64", 8),
    (Dtype::F16, "f16", 2),
    (Dtype::BF16, "bf16", 2),
    (Dtype::F32, "f32", 4),
    (Dtype::F64, "f64", 8),
];

impl Dtype {
    fn row(self) -> &'static (Dtype, &'static str, usize) {
        ALL.iter()
            .find(|row| row.0 == self)
            .expect("every type is listed")
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        self.row().2
    }

    /// Whether it is a float of two bytes.
    pub fn is_half(self) -> bool {
        matches!(self, Dtype::F16 | Dtype::BF16)
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        self.is_half() || matches!(self, Dtype::F32 | Dtype::F64)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.row().1)
    }
}

impl FromStr for Dtype {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ALL.iter()
            .find(|row| row.1 == text)
            .map(|row| row.0)
            .ok_or_else(|| {
                let names: Vec<_> = ALL.iter().map(|row| row.1).collect();
                format!(
                    "unknown element type '{text}': expected one of {}",
                    names.join(", ")
                )
            })
    }
}
