//! `qd-expand-collectives` and `qd-expand-math`: expand the ops that a target has no form of.
//!
//! The expansions are in [`qd_passes::expand_collectives`] and [`qd_passes::expand_math`],
//! which are target-independent. This file decides which ops are kept: an op of which the
//! target has a form (`targets/isa.rs`), in a body for its subgroup size, and every function
//! on a target with a math library.
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
    diagnostic::{Diagnostic, Result},
    ir::Op,
    melior::dialect::DialectHandle,
    options,
    pass::{self, Pass},
};
use qd_passes::{expand_collectives, expand_math};

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
        expand_collectives::expand(module, &|op, wave| target.form(op, wave).is_some())
    }
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
