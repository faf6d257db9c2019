//! `qd-hoist-invariants`: loop-invariant code motion that stays fast in deeply
//! nested loops.
//!
//! Upstream's `loop-invariant-code-motion` tests each op in each loop, with
//! everything that the op holds. So d nested loops cost d³. This pass does the same
//! with one exception: ops with regions are not moved out of loops that hold more
//! than `deepest` levels of regions.
//!
//! Before:
//! ```mlir
//! scf.for %i = %a to %b step %s {
//!   %0 = arith.addi %x, %y : i32
//!   USE(%0)
//! }
//! ```
//! After:
//! ```mlir
//! %0 = arith.addi %x, %y : i32
//! scf.for %i = %a to %b step %s {
//!   USE(%0)
//! }
//! ```

use qd_dialects::{canonical::hoist_invariants, diagnostic::Result, ir::Op, options, pass::Pass};

options! {
    /// Options of `qd-hoist-invariants`.
    pub struct HoistInvariantsOptions {
        /// levels of nested regions in a loop above which ops with regions are not moved out of it
        deepest: u32 = 16u32,
    }
}

/// The pass.
pub struct HoistInvariants;

impl Pass for HoistInvariants {
    type Options = HoistInvariantsOptions;
    const NAME: &'static str = "qd-hoist-invariants";
    const SUMMARY: &'static str = "Move loop-invariant code out of loops";
    // Any.
    const ANCHOR: &'static str = "";

    fn run<'c>(op: Op<'c>, options: &HoistInvariantsOptions) -> Result<'c> {
        hoist_invariants(op, options.deepest as usize);
        Ok(())
    }
}
