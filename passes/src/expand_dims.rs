//! `qd-expand-dims`: the dimension of every `memref.dim` becomes a constant.
//!
//! A `memref.dim` whose dimension is computed becomes a choice between the extents.
//! There are two reasons: the host and Vulkan know extents by the number of their
//! dimension, and upstream's canonical forms (of `gpu`) crash where an index folds to
//! a negative one.
//!
//! Limits: a constant index stays as it is; `qd-verify-level` has checked its range. A
//! computed index out of range is undefined, and here yields some extent.
//!
//! Before:
//! ```mlir
//! %extent = memref.dim %a, %i : memref<?x4xf32>
//! ```
//! After:
//! ```mlir
//! %rows = memref.dim %a, %c0 : memref<?x4xf32>
//! %columns = memref.dim %a, %c1 : memref<?x4xf32>
//! %first = arith.cmpi eq, %i, %c0 : index
//! %extent = arith.select %first, %rows, %columns : index
//! ```

use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{self, Op, OpExt, ValueExt},
    melior::{
        dialect::DialectHandle,
        ir::{ShapedTypeLike, ValueLike},
    },
    pass::{NoOptions, Pass},
};

/// The pass.
pub struct ExpandDims;

impl Pass for ExpandDims {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-dims";
    const SUMMARY: &'static str = "Expand memref.dim of a computed dimension into selects";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::arith(), DialectHandle::memref()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        for op in module.nested() {
            if op.is("memref.dim") && constant_dimension(op).is_none() {
                expand(op);
            }
        }
        Ok(())
    }
}

/// The dimension of a `memref.dim`, if it is a constant.
pub fn constant_dimension(dim: Op<'_>) -> Option<i64> {
    dim.operand_values()[1].constant_int()
}

/// The number of dimensions of a `memref.dim`'s operand, if that is known.
pub fn rank(dim: Op<'_>) -> Option<usize> {
    ir::as_memref(dim.operand_values()[0].r#type()).map(|memref| memref.rank())
}

fn expand(op: Op<'_>) {
    let b = Builder::before(op);
    let (memref, index) = (b.v(op.operand_values()[0]), b.v(op.operand_values()[1]));
    let extent = |dimension: usize| {
        let dimension = b.index(dimension as i64);
        b.result("memref.dim", &[memref, dimension], b.index_type(), &[])
    };
    let Some(last) = rank(op).and_then(|rank| rank.checked_sub(1)) else {
        return;
    };
    let chosen = (0..last).rev().fold(extent(last), |others, dimension| {
        index.eq(dimension as i64).select(extent(dimension), others)
    });
    op.replace_with(&[chosen.value()]);
}
