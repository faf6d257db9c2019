//! Private memory: each `memref.alloca` of a thread becomes the thread's part of
//! an array of the block.
//!
//! Threads become iterations of loops in one function. An allocation in such a
//! loop would grow the stack with every thread of every block, and a thread's
//! memory must outlive a barrier, which ends the loop.
//!
//! Limits: one piece of memory for each `memref.alloca` and thread, however often
//! the op is executed; static sizes.

use crate::convert::descriptor;
use melior::ir::{Type, ValueLike};
use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Block, InsertionPoint, Op, OpExt, ValueExt, bit_width, element_type, operations},
    melior,
};

/// The most bytes of private memory of a block's threads together. They are on
/// the stack of a host thread.
const MOST: i64 = 256 << 10;

/// Replaces the allocations in a body.
pub fn share<'c>(body: Block<'c>, threads: i64) -> Result<'c> {
    let mut total = 0;
    for top in operations(body) {
        for op in top.walk_all() {
            if !op.is("memref.alloca") {
                continue;
            }
            // Each thread's part is aligned for every scalar.
            let bytes = (bytes(op)?.max(1) + 7) & !7;
            total += bytes * threads;
            if total > MOST {
                let message = format!(
                    "makes {total} bytes that a block's threads allocate, but {MOST} are the most"
                );
                return Err(Diagnostic::at(op, message));
            }
            replace(op, top, bytes, threads);
        }
    }
    Ok(())
}

/// `top` is the op at the top of the body that holds `op`, or `op` itself.
fn replace<'c>(op: Op<'c>, top: Op<'c>, bytes: i64, threads: i64) {
    let old = op.first_result();
    let b = Builder::before(top);
    let all = b.shared(b.int_type(8), bytes * threads);
    let own = b.at(InsertionPoint::Before(op), || {
        let start = b.thread_id() * bytes;
        b.result("memref.view", &[all, start], old.r#type(), &[])
    });
    old.replace_all_uses(own.value());
    op.erase();
}

fn bytes<'c>(op: Op<'c>) -> Result<'c, i64> {
    let r#type: Type = op.first_result().r#type();
    let extents: Option<Vec<i64>> =
        descriptor::shape(r#type).and_then(|shape| shape.into_iter().collect());
    match (extents, element_type(r#type)) {
        (Some(extents), Some(element)) => {
            let width = i64::from(bit_width(element).div_ceil(8));
            Ok(extents.iter().product::<i64>() * width)
        }
        _ => Err(Diagnostic::at(
            op,
            "has a size that is not known at compile time, which the cpu's threads cannot allocate",
        )),
    }
}
