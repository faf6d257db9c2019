//! Functions of `math`: those that PTX has, and a few from comparisons.
//!
//! There is no library to call. `qd-expand-math` has made arithmetic of most that
//! is not here; the rest is an error, for LLVM's back end would stop the process
//! at it. Floats to integer powers are upstream's `convert-math-to-funcs`.

use crate::targets::Target;
use melior::ir::ValueLike;
use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, bit_width, is_float},
    melior,
};
use qd_passes::expand_math::is_expandable;

/// Where PTX has a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    /// Every width.
    All,
    /// `f32` alone.
    F32,
}

/// What upstream's conversion to LLVM makes into something PTX has, or is made
/// without a function at all.
const NATIVE: &[(&str, On)] = &[
    ("absf", On::All),
    ("absi", On::All),
    ("ceil", On::All),
    ("copysign", On::All),
    ("ctlz", On::All),
    ("ctpop", On::All),
    ("cttz", On::All),
    // `ex2.approx`.
    ("exp2", On::F32),
    ("floor", On::All),
    ("fma", On::All),
    ("fpowi", On::All),
    ("isfinite", On::All),
    ("isnan", On::All),
    ("round", On::All),
    ("roundeven", On::All),
    ("rsqrt", On::All),
    ("sqrt", On::All),
    ("trunc", On::All),
];

/// An error unless there is code for a function of `math`.
pub(super) fn check<'c>(op: Op<'c>, target: &Target) -> Result<'c> {
    let Some(name) = op.full_name().strip_prefix("math.") else {
        return Ok(());
    };
    let r#type = op.operand_values()[0].r#type();
    let on = NATIVE.iter().find(|(known, _)| *known == name);
    let there = match on {
        Some((_, On::All)) => true,
        Some((_, On::F32)) => is_float(r#type) && bit_width(r#type) == 32,
        None => false,
    };
    if there {
        return Ok(());
    }
    let target = &target.capabilities.name;
    let remedy = match is_expandable(op.full_name()) {
        true => ": run qd-expand-math first",
        false => "",
    };
    Err(Diagnostic::at(
        op,
        format!("is a function that target '{target}' does not have for {type}{remedy}"),
    ))
}
