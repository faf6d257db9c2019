//! Special registers, and the dispatch packet of a launch.

use super::intrinsic;
use crate::convert::{
    descriptor,
    gpu_to_llvm::{Register, Setting},
};
use qd_dialects::{
    attributes,
    builder::{Builder, V},
};

/// Where a dispatch packet has the size of the workgroup, an `i16`, and that of the grid, an
/// `i32`, both in work-items (HSA Platform System Architecture Specification,
/// `hsa_kernel_dispatch_packet_t`).
const WORKGROUP_SIZE: i64 = 4;
const GRID_SIZE: i64 = 12;
/// LLVM's address space of what does not change while a kernel runs.
const CONSTANT: u32 = 4;

/// The numbers of threads are read from the packet, which the hardware is given in any case.
/// What HIP would pass as hidden arguments needs a runtime that fills them in.
pub(super) fn register<'b, 'c>(b: &'b Builder<'c>, register: Register) -> V<'b, 'c> {
    let i32 = b.int_type(32);
    match register {
        Register::ThreadId => b.result("rocdl.workitem.id.x", &[], i32, &[]),
        Register::BlockId => b.result("rocdl.workgroup.id.x", &[], i32, &[]),
        Register::BlockDim => packet(b, WORKGROUP_SIZE, 16),
        Register::GridDim => {
            let threads = packet(b, GRID_SIZE, 32);
            b.result(
                "arith.divui",
                &[threads, packet(b, WORKGROUP_SIZE, 16)],
                i32,
                &[],
            )
        }
    }
}

/// A field of the packet.
fn packet<'b, 'c>(b: &'b Builder<'c>, offset: i64, bits: u32) -> V<'b, 'c> {
    let pointer = descriptor::pointer_in(b, CONSTANT);
    let packet = intrinsic::result(b, "llvm.amdgcn.dispatch.ptr", &[], pointer);
    let field = descriptor::offset_pointer(b, packet, b.i64(offset), b.int_type(8));
    let alignment = attributes::i64(b.context(), i64::from(bits / 8));
    let invariant = attributes::unit(b.context());
    let attributes = [("alignment", alignment), ("invariant", invariant)];
    let value = b.result("llvm.load", &[field], b.int_type(bits), &attributes);
    value.to_i32()
}

/// Of 64 bits for any wave: on gfx942 instruction selection fails for `ballot.i32`.
pub(super) fn ballot<'b, 'c>(predicate: V<'b, 'c>, _: &Setting<'_>) -> V<'b, 'c> {
    let b = predicate.builder();
    b.result("rocdl.ballot", &[predicate], b.int_type(64), &[])
}
