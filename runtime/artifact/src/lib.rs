//! Compiled kernels as plain data: binary, launch plan, reflection. Knows no
//! IR: this is all that lowering and runtimes share.

mod dtype;
mod expr;
mod file;
mod plan;

pub use dtype::Dtype;
pub use expr::{Comparison, EvalError, Expr, Operation, Values};
pub use file::{FORMAT, FileError};
pub use plan::{
    Argument, ArgumentKind, BufferRef, Kernel, MOST_CONTROL, Operand, Step, Variant, View,
};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a module becomes for one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// The target it was made for, as `--target=` spells it.
    pub target: String,
    /// Lanes in a subgroup.
    pub wave: u32,
    /// What the code needs of the device that runs it.
    pub requirements: Requirements,
    /// What is launched, by name.
    pub kernels: Vec<Kernel>,
    /// Code for the device.
    #[serde(skip)]
    pub binary: Vec<u8>,
}

/// What code needs of a device beyond being of its target. Names are those of the
/// target's compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// The device it was compiled for, such as `znver4`: another one may do.
    pub device: String,
    /// Features that the code may use, sorted, such as `avx2`. A device that lacks
    /// one of them must not run it.
    pub features: Vec<String>,
    /// What needs a feature, for those of which that is known, such as
    /// `arith.addf at k.mlir:3:4`: for messages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, String>,
}

impl Artifact {
    /// A kernel by name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }
}
