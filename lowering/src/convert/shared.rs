//! Shared arrays of a body.

use super::descriptor;
use crate::targets::Capabilities;
use melior::ir::{Type, ValueLike};
use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{self, Op, OpExt},
    melior,
    ops::simt,
};

/// What each array is aligned to, so that accesses of several elements can be
/// one.
pub const ALIGNMENT: u64 = 16;

/// An array of static size.
pub struct SharedArray<'c> {
    /// The `qd.simt.block.shared`.
    pub op: Op<'c>,
    /// Its elements, as they are in memory.
    pub element: Type<'c>,
    /// How many, over all dimensions.
    pub count: u64,
    /// Its first byte, where the arrays lie one after another.
    pub offset: u64,
    /// The offset after its last byte.
    pub end: u64,
}

/// The shared arrays below `root`, which fit the target together.
pub fn arrays<'c>(
    b: &Builder<'c>,
    root: Op<'c>,
    target: &Capabilities,
) -> Result<'c, Vec<SharedArray<'c>>> {
    let limit = u64::from(target.max_shared_bytes);
    let mut bytes = 0u64;
    let mut found = Vec::new();
    for op in root.nested() {
        if !op.is(simt::BlockShared::NAME) {
            continue;
        }
        let r#type = op.first_result().r#type();
        let extents = descriptor::shape(r#type).unwrap_or_default();
        let Some((element, element_bytes)) =
            ir::element_type(r#type).and_then(|element| descriptor::stored(b, element))
        else {
            return Err(Diagnostic::at(op, "holds elements of no known size"));
        };
        let count = extents.iter().try_fold(1u64, |all, extent| {
            all.checked_mul((*extent)?.try_into().ok()?)
        });
        let size = count.and_then(|count| count.checked_mul(element_bytes));
        let offset = bytes.next_multiple_of(ALIGNMENT);
        bytes = size
            .and_then(|size| offset.checked_add(size))
            .unwrap_or(u64::MAX);
        if bytes > limit {
            return Err(Diagnostic::at(
                op,
                format!(
                    "makes the block's shared memory {bytes} bytes, but target '{}' has {limit}",
                    target.name
                ),
            ));
        }
        found.push(SharedArray {
            op,
            element,
            count: count.unwrap_or_default(),
            offset,
            end: bytes,
        });
    }
    Ok(found)
}
