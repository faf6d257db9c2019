//! The ops as their definitions have them, made from the ODS by `build.rs`.

use serde::Deserialize;
use std::sync::LazyLock;

/// An op's definition.
#[derive(Debug, Deserialize)]
pub struct OpDef {
    /// Full name, such as `qd.simt.shuffle`.
    pub name: String,
    /// The names of its operands, in order; one that stands for several is one.
    pub operands: Vec<String>,
    /// Its inherent attributes.
    pub attributes: Vec<AttributeDef>,
    /// How many results it declares.
    pub results: usize,
    /// How many regions it declares.
    pub regions: usize,
}

/// An attribute's definition.
#[derive(Debug, Deserialize)]
pub struct AttributeDef {
    /// Its name.
    pub name: String,
    /// Values it may have, as MLIR writes them. Empty where only a person knows.
    pub values: Vec<String>,
    /// Whether it may be left out.
    pub is_optional: bool,
}

/// Every op of ours, and of the upstream dialects that compute scalars.
pub static OPS: LazyLock<Vec<OpDef>> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(env!("OUT_DIR"), "/ops.json")))
        .expect("build.rs writes what this reads")
});

/// An op by its name.
pub fn op(name: &str) -> Option<&'static OpDef> {
    OPS.iter().find(|op| op.name == name)
}
