//! `qd-canonicalize-long`: canonical forms in long bodies, in linear time.
//!
//! Upstream's `canonicalize` looks again at the op around whatever it has changed,
//! and asks of a phase, a loop or a branch whether it is dead by looking at all ops
//! in it. So n changes among n ops cost n². This pass, in front of it, changes what
//! has no regions, and looks at nothing else; `canonicalize` then finds little left
//! to change.
//!
//! Limits: bodies of up to `longest` ops are left to `canonicalize` alone.
//!
//! Before, with `longest=2`:
//! ```mlir
//! qd.grid.phase blocks(%g) threads(64) {
//!   %0 = arith.addi %x, %c0 : i32
//!   %1 = arith.addi %0, %c0 : i32
//!   USE(%1)
//! }
//! ```
//! After:
//! ```mlir
//! qd.grid.phase blocks(%g) threads(64) {
//!   USE(%x)
//! }
//! ```

use qd_dialects::{
    canonical::canonicalize_leaves, diagnostic::Result, ir::Op, melior::dialect::DialectHandle,
    options, pass::Pass,
};

options! {
    /// Options of `qd-canonicalize-long`.
    pub struct CanonicalizeLongOptions {
        /// ops that a phase, a loop or a branch may hold and be left to canonicalize
        longest: u32 = 4000u32,
    }
}

/// The pass.
pub struct CanonicalizeLong;

impl Pass for CanonicalizeLong {
    type Options = CanonicalizeLongOptions;
    const NAME: &'static str = "qd-canonicalize-long";
    const SUMMARY: &'static str = "Canonicalize operations without regions in long bodies";
    // Any.
    const ANCHOR: &'static str = "";

    fn dialects() -> Vec<DialectHandle> {
        // Of constants that are folded to.
        vec![DialectHandle::arith()]
    }

    fn run<'c>(op: Op<'c>, options: &CanonicalizeLongOptions) -> Result<'c> {
        canonicalize_leaves(op, options.longest as usize);
        Ok(())
    }
}
