//! Compiled kernels as plain data: modules of code, launch plans, reflection. Knows
//! no IR: this is all that lowering and runtimes share.

mod dtype;
mod expr;
mod file;
mod join;
mod module;
mod plan;
mod replace;
mod target;

pub use blake3::Hash;
pub use bytes::Bytes;
pub use dtype::Dtype;
pub use expr::{Comparison, EvalError, Expr, Operation, Values};
pub use file::{ALIGNMENT, FORMAT, FileError, MAGIC};
pub use module::{Body, Format, Module};
pub use plan::{
    Access, Argument, ArgumentKind, BufferRef, Kernel, MOST_CONTROL, Operand, Plan, Requirements,
    Role, Step, StepKind, Variant, View,
};
pub use replace::replace;
pub use target::{TargetError, TargetSpec};

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What kernels become for some targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// The targets it was made for, as `--target=` spells them.
    pub targets: Vec<String>,
    /// What is launched, by name.
    pub kernels: Vec<Kernel>,
    /// Code for the devices.
    pub modules: Vec<Module>,
}

impl Artifact {
    /// A kernel by name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }

    /// The lanes of the subgroups of the bodies for one of its targets, each number once.
    pub fn waves(&self, target: usize) -> BTreeSet<u32> {
        let modules = self.modules.iter().filter(|m| m.target == target);
        let bodies = modules.flat_map(|module| &module.bodies);
        bodies.map(|body| body.wave).collect()
    }
}
