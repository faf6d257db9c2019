//! Compiled kernels as plain data: binary, launch plan, reflection. Knows no
//! IR: this is all that lowering and runtimes share.

mod dtype;
mod expr;
mod file;
mod plan;

pub use dtype::Dtype;
pub use expr::{Comparison, EvalError, Expr, Operation, Values};
pub use file::{FORMAT, FileError};
pub use plan::{Argument, ArgumentKind, BufferRef, Kernel, Operand, Step, Variant, View};

use serde::{Deserialize, Serialize};

/// What a module becomes for one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// The target it was made for, as `--target=` spells it.
    pub target: String,
    /// Lanes in a subgroup.
    pub wave: u32,
    /// What is launched, by name.
    pub kernels: Vec<Kernel>,
    /// Code for the device.
    #[serde(skip)]
    pub binary: Vec<u8>,
}

impl Artifact {
    /// A kernel by name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }
}
