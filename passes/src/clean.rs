//! `qd-clean`: `canonicalize` and `cse` in time that grows with a body and no faster.
//!
//! Upstream's `canonicalize` visits again everything around whatever it has changed,
//! and both passes scan all ops in a phase, a loop or a branch to test whether it is
//! dead. So n changes among n ops, or n nested levels, cost n². Bodies of normal size
//! go through these two passes. In large bodies a driver without these costs first
//! canonicalises the ops without regions:
//!
//! - a long body then goes through the two passes, which find little left to change;
//! - a deep one does not: redundant computations, dead branches and dead loops stay.
//!   The compilers that take the code remove them.
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
    canonical::{Large, clean},
    diagnostic::Result,
    ir::Op,
    melior::dialect::DialectHandle,
    options,
    pass::Pass,
};

/// Nested levels of regions, beyond which a body is deep.
pub const DEEPEST: u32 = 64;

/// Blocks of a region above which the body counts as deep: the blocks are assumed to be
/// nested regions that have been lowered to branches.
pub const WIDEST: u32 = 1000;

options! {
    /// Options of `qd-clean`.
    pub struct CleanOptions {
        /// ops in a phase, a loop or a branch above which it counts as long
        longest: u32 = 4000u32,
        /// levels of nested regions above which a body counts as deep
        deepest: u32 = DEEPEST,
        /// blocks in a region above which a body counts as deep
        widest: u32 = WIDEST,
        /// max-iterations of canonicalize
        max_iterations: u32 = 10u32,
        /// whether canonicalize simplifies regions
        simplify_regions: bool = true,
    }
}

/// The pass.
pub struct Clean;

impl Pass for Clean {
    type Options = CleanOptions;
    const NAME: &'static str = "qd-clean";
    const SUMMARY: &'static str =
        "Canonicalize and remove common subexpressions, in bodies of any size";
    // Any.
    const ANCHOR: &'static str = "";

    fn dialects() -> Vec<DialectHandle> {
        // Constants that ops fold to, and the dialect that keeps the canonical forms.
        vec![DialectHandle::arith(), qd_dialects::dialect()]
    }

    fn run<'c>(op: Op<'c>, options: &CleanOptions) -> Result<'c> {
        let large = Large {
            longest: options.longest as usize,
            deepest: options.deepest as usize,
            widest: options.widest as usize,
        };
        let iterations = options.max_iterations as usize;
        clean(op, large, iterations, options.simplify_regions);
        Ok(())
    }
}
