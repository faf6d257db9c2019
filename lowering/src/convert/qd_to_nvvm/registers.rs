//! Special registers.

use crate::convert::gpu_to_llvm::Register;
use qd_dialects::builder::{Builder, V};

pub(super) fn register<'b, 'c>(b: &'b Builder<'c>, register: Register) -> V<'b, 'c> {
    special(
        b,
        match register {
            Register::ThreadId => "tid.x",
            Register::BlockId => "ctaid.x",
            Register::BlockDim => "ntid.x",
            Register::GridDim => "nctaid.x",
        },
    )
}

/// One of PTX's name.
pub(super) fn special<'b, 'c>(b: &'b Builder<'c>, name: &str) -> V<'b, 'c> {
    let name = format!("nvvm.read.ptx.sreg.{name}");
    b.result(&name, &[], b.int_type(32), &[])
}
