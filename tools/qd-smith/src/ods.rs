//! The ops as their definitions have them, made from the ODS by `build.rs`.

use serde::Deserialize;
use std::sync::LazyLock;

/// An op's definition.
#[derive(Debug, Deserialize)]
pub struct OpDef {
    /// Full name, such as `qd.simt.shuffle`.
    pub name: String,
    /// Its operands, in order; one that stands for several is one.
    pub operands: Vec<OperandDef>,
    /// Its inherent attributes.
    pub attributes: Vec<AttributeDef>,
    /// How many results it declares.
    pub results: usize,
    /// How many regions it declares.
    pub regions: usize,
}

/// An operand's definition.
#[derive(Debug, Deserialize)]
pub struct OperandDef {
    /// Its name.
    pub name: String,
    /// What an algorithm does with it, as the definition calls that.
    pub role: Option<String>,
    /// Whether it may be left out.
    pub is_optional: bool,
    /// Whether it is memory of `i32`, and of nothing else.
    pub is_word: bool,
    /// Whether it may be rows of scalars.
    pub has_rows: bool,
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

/// Algorithms of which all is said by the roles of their operands: elements are read, and some of
/// them written elsewhere.
pub static BY_ROLES: LazyLock<Vec<&OpDef>> = LazyLock::new(|| {
    let known = ["Input", "Output", "Total", "Scratch", "Count"];
    let has_role = |o: &OperandDef| o.role.as_ref().is_some_and(|r| known.contains(&r.as_str()));
    let is_known = |op: &&OpDef| {
        !op.operands.is_empty() && op.regions == 0 && op.operands.iter().all(has_role)
    };
    OPS.iter().filter(is_known).collect()
});
