//! Conversions to targets: `qd_to_<target>`, one file or folder each. Those of GPUs that LLVM
//! has a back end for are hooks of `gpu_to_llvm`.

mod classes;
pub mod descriptor;
mod field;
pub mod gpu_to_llvm;
pub mod memory;
pub mod qd_to_cpu;
pub mod qd_to_nvvm;
pub mod qd_to_rocdl;
pub mod qd_to_spirv;
pub(crate) mod shared;
pub mod verify_llvm;

use crate::targets::Target;
use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, arguments, bit_width, element_type, is_float, operations},
    melior::ir::{TypeLike, ValueLike},
    ops,
    ops::grid,
};
use qd_passes::{
    expand_asserts::ASSERT, expand_collectives, expand_math, expand_prints::PRINT,
    select_subgroup_size::wave_at,
};

/// Makes the conversions reachable by name.
pub fn register() {
    qd_dialects::pass::register::<qd_to_cpu::ConvertToCpu>();
    qd_dialects::pass::register::<qd_to_cpu::BoolsAsBytes>();
    qd_dialects::pass::register::<qd_to_nvvm::ConvertToNvvm>();
    qd_dialects::pass::register::<qd_to_rocdl::ConvertToRocdl>();
    qd_dialects::pass::register::<qd_to_spirv::ConvertToSpirv>();
    qd_dialects::pass::register::<qd_to_spirv::FinishSpirv>();
    qd_dialects::pass::register::<verify_llvm::VerifyLlvm>();
}

/// An error if a body takes what no kernel is given.
fn check_arguments<'c>(body: Op<'c>) -> Result<'c> {
    for argument in body.body().map(arguments).unwrap_or_default() {
        let r#type = argument.r#type();
        let element = element_type(r#type);
        let scalar = element.unwrap_or(r#type);
        let is_known = match (scalar.is_integer(), is_float(scalar)) {
            (true, _) => [1, 8, 16, 32, 64].contains(&bit_width(scalar)),
            (_, true) => [16, 32, 64].contains(&bit_width(scalar)),
            // Of other elements memory says what it has no form of.
            _ => scalar.is_index() || element.is_some(),
        };
        if !is_known {
            let message = format!("takes an argument of {type}, which kernels do not have");
            return Err(Diagnostic::at(body, message));
        }
    }
    Ok(())
}

/// The subgroup size that a body is for, which the target must have.
fn subgroup_size<'c>(body: Op<'c>, target: &Target) -> Result<'c, i64> {
    let capabilities = &target.capabilities;
    match wave_at(body) {
        Some(wave) if capabilities.waves.iter().any(|w| i64::from(*w) == wave) => Ok(wave),
        Some(wave) => Err(Diagnostic::at(
            body,
            format!(
                "is for subgroups of {wave}, which target '{}' does not have",
                capabilities.name
            ),
        )),
        None => Err(Diagnostic::at(
            body,
            "has no 'qd.wave': run qd-select-subgroup-size first",
        )),
    }
}

/// Whether an op that a conversion to a GPU leaves as it is may stay: an error for one of ours, for an assertion or a print, and
/// for a function that the target has no form of.
fn check<'c>(op: Op<'c>, wave: i64, target: &Target) -> Result<'c> {
    let name = op.full_name();
    let capabilities = &target.capabilities;
    let is_ours = name.starts_with(ops::PREFIX) || name == ASSERT || name == PRINT;
    let is_function = name.starts_with("math.") || expand_math::is_expandable(name);
    if !is_ours && (!is_function || capabilities.form(op, wave).is_some()) {
        return Ok(());
    }
    let target = &capabilities.name;
    let forms: Vec<_> = capabilities
        .forms_of(name)
        .map(|form| form.to_string())
        .collect();
    let what = match is_function {
        true => format!("is a function that target '{target}' does not have"),
        false => format!("is nothing that target '{target}' has"),
    };
    let what = match (is_function, forms.is_empty()) {
        (true, _) => format!("{what} for {}", op.operand_values()[0].r#type()),
        (false, true) => what,
        (false, false) => format!("{what} but as {}", forms.join(" and ")),
    };
    let remedy = if expand_collectives::is_expandable(name) {
        ": run qd-expand-collectives first"
    } else if expand_math::is_expandable(name) {
        ": run qd-expand-math first"
    } else if name == ASSERT {
        ": run qd-expand-asserts first"
    } else if name == PRINT {
        ": run qd-expand-prints first"
    } else if is_ours {
        ": it belongs to an earlier level"
    } else {
        ""
    };
    Err(Diagnostic::at(op, format!("{what}{remedy}")))
}

/// Kernels have become launch plans before bodies are converted.
pub(crate) fn erase_kernels(module: Op<'_>) {
    let block = module.body().expect("a module's body");
    for op in operations(block) {
        if op.is(grid::Kernel::NAME) {
            op.erase();
        }
    }
}
