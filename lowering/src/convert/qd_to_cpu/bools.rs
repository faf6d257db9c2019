//! `qd-bools-as-bytes`: booleans in memory as the bytes that they are.
//!
//! LLVM's vectoriser leaves a loop alone that loads or stores `i1`, whose size in memory is not that of its bits. The byte
//! is 0 or 1 in both forms.
//!
//! Before:
//! ```mlir
//! %p = llvm.load %from : !llvm.ptr -> i1
//! llvm.store %p, %to : i1, !llvm.ptr
//! ```
//! After:
//! ```mlir
//! %byte = llvm.load %from : !llvm.ptr -> i8
//! %p = llvm.trunc %byte : i8 to i1
//! %q = llvm.zext %p : i1 to i8
//! llvm.store %q, %to : i8, !llvm.ptr
//! ```

use qd_dialects::{
    builder::Builder,
    clone::Mapping,
    diagnostic::Result,
    ir::{Op, OpExt, bit_width},
    melior::{dialect::DialectHandle, ir::ValueLike},
    pass::{NoOptions, Pass},
};

/// The pass.
pub struct BoolsAsBytes;

impl Pass for BoolsAsBytes {
    type Options = NoOptions;
    const NAME: &'static str = "qd-bools-as-bytes";
    const SUMMARY: &'static str = "Load and store booleans as bytes";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::llvm()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        for op in module.nested() {
            match op.full_name() {
                "llvm.load" => load(op),
                "llvm.store" => store(op),
                _ => (),
            }
        }
        Ok(())
    }
}

fn load(op: Op<'_>) {
    let bool = op.first_result().r#type();
    if bit_width(bool) != 1 {
        return;
    }
    let b = Builder::before(op);
    let byte = Mapping::new()
        .clone_op(op, b.insertion_point())
        .first_result();
    byte.set_type(b.int_type(8));
    op.replace_with(&[b.result("llvm.trunc", &[b.v(byte)], bool, &[]).value()]);
}

fn store(op: Op<'_>) {
    let stored = op.operand_values()[0];
    if bit_width(stored.r#type()) == 1 {
        let b = Builder::before(op);
        let byte = b.result("llvm.zext", &[b.v(stored)], b.int_type(8), &[]);
        op.set_operand_at(0, byte.value());
    }
}
