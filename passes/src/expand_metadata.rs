//! `qd-expand-metadata`: upstream's `expand-strided-metadata`, linear in deep bodies.
//!
//! What a view of memory adds to an address becomes arithmetic. Upstream's pass folds
//! and simplifies regions on its way, in the square of the levels of branches and
//! loops. In deep bodies, as `qd-clean` has them, this one folds, and leaves regions
//! as they are.
//!
//! Before:
//! ```mlir
//! %v = memref.subview %m[%o] [4] [1] : memref<64xi32> to memref<4xi32, strided<[1], offset: ?>>
//! ```
//! After:
//! ```mlir
//! %base, %offset, %size, %stride = memref.extract_strided_metadata %m : …
//! %v = memref.reinterpret_cast %base to offset: [%o], sizes: [4], strides: [1] : …
//! ```

use crate::clean::{DEEPEST, WIDEST};
use qd_dialects::{
    canonical::{Large, expand_strided_metadata},
    diagnostic::Result,
    ir::Op,
    melior::dialect::DialectHandle,
    options,
    pass::Pass,
};

options! {
    /// Options of `qd-expand-metadata`.
    pub struct ExpandMetadataOptions {
        /// levels of nested regions above which a body counts as deep
        deepest: u32 = DEEPEST,
        /// blocks in a region above which a body counts as deep
        widest: u32 = WIDEST,
    }
}

/// The pass.
pub struct ExpandMetadata;

impl Pass for ExpandMetadata {
    type Options = ExpandMetadataOptions;
    const NAME: &'static str = "qd-expand-metadata";
    const SUMMARY: &'static str = "Expand views of memory into arithmetic, in bodies of any depth";
    // Any.
    const ANCHOR: &'static str = "";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::affine(),
            DialectHandle::arith(),
            DialectHandle::memref(),
        ]
    }

    fn run<'c>(op: Op<'c>, options: &ExpandMetadataOptions) -> Result<'c> {
        let large = Large {
            longest: usize::MAX,
            deepest: options.deepest as usize,
            widest: options.widest as usize,
        };
        expand_strided_metadata(op, large);
        Ok(())
    }
}
