//! `qd.algo.parallel_sort`: odd–even merge sort, in place. Deprecated.
//!
//! | strategy | where |
//! |---|---|
//! | `one_block` | everywhere |

mod one_block;

use super::{Algorithm, Strategy, always, sort::KeyOrder};
use qd_dialects::{
    builder::{Builder, V},
    ir::{Op, OpExt},
};

/// The line of the table.
pub(super) const PARALLEL_SORT: Algorithm = Algorithm {
    op: "qd.algo.parallel_sort",
    strategies: &[Strategy {
        name: "one_block",
        suits: always,
        expand: |b, op, _| one_block::expand(b, op),
    }],
};

/// What the op says.
struct ParallelSort<'b, 'c> {
    keys: V<'b, 'c>,
    values: Option<V<'b, 'c>>,
    order: KeyOrder<'c>,
}

impl<'b, 'c> ParallelSort<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let operands = b.vs(&op.operand_values());
        let unsigned = op.attr("is_unsigned").is_some();
        Self {
            keys: operands[0],
            values: operands.get(1).copied(),
            order: KeyOrder::of(b, operands[0].element(), unsigned),
        }
    }
}
