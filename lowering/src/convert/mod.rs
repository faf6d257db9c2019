//! Conversions to targets: `qd_to_<target>`, one file or folder each.

mod classes;
pub mod descriptor;
pub mod memory;
pub mod qd_to_cpu;
pub mod qd_to_nvvm;
pub mod qd_to_spirv;
mod shared;
pub mod verify_llvm;

use crate::targets::Target;
use qd_dialects::{
    attributes,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, operations},
};

/// Makes the conversions reachable by name.
pub fn register() {
    qd_dialects::pass::register::<qd_to_cpu::ConvertToCpu>();
    qd_dialects::pass::register::<qd_to_nvvm::ConvertToNvvm>();
    qd_dialects::pass::register::<qd_to_spirv::ConvertToSpirv>();
    qd_dialects::pass::register::<qd_to_spirv::FinishSpirv>();
    qd_dialects::pass::register::<verify_llvm::VerifyLlvm>();
}

/// The subgroup size that a module is for, which the target must have.
fn subgroup_size<'c>(module: Op<'c>, target: &Target) -> Result<'c, i64> {
    let capabilities = &target.capabilities;
    match module.attr("qd.wave").and_then(attributes::int) {
        Some(wave) if capabilities.waves.iter().any(|w| i64::from(*w) == wave) => Ok(wave),
        Some(wave) => Err(Diagnostic::at(
            module,
            format!(
                "is for subgroups of {wave}, which target '{}' does not have",
                capabilities.name
            ),
        )),
        None => Err(Diagnostic::at(
            module,
            "has no 'qd.wave': run qd-select-subgroup-size first",
        )),
    }
}

/// An op of ours that has no conversion: names the op and the target.
fn lacks<'c>(op: Op<'c>, target: &Target) -> Diagnostic<'c> {
    let name = &target.capabilities.name;
    let pass = match qd_passes::expand_collectives::is_expandable(op.full_name()) {
        true => "run qd-expand-collectives first",
        false => "it belongs to an earlier level",
    };
    Diagnostic::at(op, format!("is nothing that target '{name}' has: {pass}"))
}

/// Kernels have become launch plans before bodies are converted.
pub(crate) fn erase_kernels(module: Op<'_>) {
    let block = module.body().expect("a module's body");
    for op in operations(block) {
        if op.is("qd.grid.kernel") {
            op.erase();
        }
    }
}
