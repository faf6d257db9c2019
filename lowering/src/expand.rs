//! `qd-expand-collectives` and `qd-expand-math`: expand the ops that a target has no form of.
//!
//! The expansions are in [`qd_passes::expand_collectives`] and [`qd_passes::expand_math`],
//! which are target-independent. This file decides which ops are kept: an op of which the
//! target has a form (`targets/isa.rs`), in a body for its subgroup size, and every function
//! on a target with a math library. A `qd.form` that names an expansion of the op has it expanded in that way in any
//! case, and one that neither an expansion nor the target has is an error.
//!
//! Before, for `target=nvptx:sm_90`:
//! ```mlir
//! %0 = qd.simt.reduce_all add %v tile(5) : i32
//! %1 = qd.simt.reduce_all add %w tile(1) : f32
//! ```
//! After:
//! ```mlir
//! %0 = qd.simt.reduce_all add %v tile(5) : i32
//! %c1 = arith.constant 1 : i32
//! %2 = qd.simt.shuffle xor %w, %c1 : f32
//! %1 = arith.addf %w, %2 : f32
//! ```

use crate::targets::{Capabilities, Target};
use qd_dialects::{
    attributes::{self, names},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    melior::dialect::DialectHandle,
    options,
    pass::{self, Pass},
};
use qd_passes::{
    expand_collectives::{self, asks_for_expansion, expansions_of},
    expand_math,
    select_subgroup_size::{wave_at, wave_of},
};

options! {
    /// Options of `qd-expand-collectives` and `qd-expand-math`.
    pub struct ExpandForTargetOptions {
        /// the target whose ops are kept, such as cpu or nvptx:sm_90; any: only those that every target has
        target: String = "any",
    }
}

impl ExpandForTargetOptions {
    fn capabilities<'c>(&self, module: Op<'c>) -> Result<'c, Capabilities> {
        match Target::parse(&self.target) {
            Ok(target) => Ok(target.capabilities),
            Err(message) => Err(Diagnostic::at(module, message)),
        }
    }
}

/// Makes the passes reachable by name.
pub fn register() {
    pass::register::<ExpandCollectives>();
    pass::register::<ExpandMath>();
}

/// The pass.
pub struct ExpandCollectives;

impl Pass for ExpandCollectives {
    type Options = ExpandForTargetOptions;
    const NAME: &'static str = "qd-expand-collectives";
    const SUMMARY: &'static str =
        "Expand collectives that a target does not have into shuffles and ballots";

    fn dialects() -> Vec<DialectHandle> {
        expand_collectives::dialects()
    }

    fn run<'c>(module: Op<'c>, options: &ExpandForTargetOptions) -> Result<'c> {
        let target = options.capabilities(module)?;
        verify_forms(module, wave_of(module), &target)?;
        expand_collectives::expand(module, &|op, wave| is_kept(&target, op, wave))
    }
}

/// Whether an op is left to the target, in a body for subgroups of `wave` lanes.
pub(crate) fn is_kept(target: &Capabilities, op: Op<'_>, wave: i64) -> bool {
    target.form(op, wave).is_some() && !asks_for_expansion(op)
}

/// Holds every `qd.form` below an op against what the target does in subgroups of this size.
fn verify_forms<'c>(op: Op<'c>, wave: Option<i64>, target: &Capabilities) -> Result<'c> {
    if let (Some(form), Some(wave)) = (op.attr(names::FORM), wave) {
        let form = attributes::text(form)
            .ok_or_else(|| Diagnostic::at(op, "'qd.form' is not the name of a form"))?;
        let own = target.fitting(op, wave).into_iter().map(|form| form.name);
        let all: Vec<&str> = own.chain(expansions_of(op.full_name())).collect();
        if !all.contains(&form.as_str()) {
            let instead = match all.as_slice() {
                [] => "it is done in one way alone".into(),
                all => format!("there is '{}'", all.join("', '")),
            };
            let message = format!("cannot be done by '{form}' in subgroups of {wave}: {instead}");
            return Err(Diagnostic::at(op, message));
        }
    }
    for region in 0..op.region_count() {
        let mut block = op.region_block(region);
        while let Some(current) = block {
            for inner in qd_dialects::ir::operations(current) {
                verify_forms(inner, wave_at(inner).or(wave), target)?;
            }
            block = current.next_in_region();
        }
    }
    Ok(())
}

/// The pass.
pub struct ExpandMath;

impl Pass for ExpandMath {
    type Options = ExpandForTargetOptions;
    const NAME: &'static str = "qd-expand-math";
    const SUMMARY: &'static str = "Expand functions that a target does not have into arithmetic";

    fn dialects() -> Vec<DialectHandle> {
        expand_math::dialects()
    }

    fn run<'c>(module: Op<'c>, options: &ExpandForTargetOptions) -> Result<'c> {
        let target = options.capabilities(module)?;
        // A function of one number does not ask for whose lane that is.
        let has = |op| target.has_math_library || target.form(op, 1).is_some();
        expand_math::expand(module, &has);
        Ok(())
    }
}
