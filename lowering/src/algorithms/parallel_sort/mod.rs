//! `qd.algo.parallel_sort`: odd–even merge sort, in place. Deprecated.
//!
//! | strategy | where |
//! |---|---|
//! | `one_block` | everywhere |

mod one_block;

use super::{Algorithm, Strategy, always, sort::KeyOrder};
use qd_dialects::{
    builder::{Builder, V},
    ir::Op,
    ops::algo,
};

/// The line of the table.
pub(super) const PARALLEL_SORT: Algorithm = Algorithm {
    op: algo::ParallelSort::NAME,
    tunings: "[]",
    strategies: &[Strategy {
        name: "one_block",
        suits: always,
        expand: |b, op, _| one_block::expand(b, op),
    }],
};

/// The op's operands.
struct ParallelSort<'b, 'c> {
    keys: V<'b, 'c>,
    values: Option<V<'b, 'c>>,
    order: KeyOrder<'c>,
}

impl<'b, 'c> ParallelSort<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let said = algo::ParallelSort::cast(op);
        let keys = b.v(said.keys());
        Self {
            keys,
            values: said.values().map(|values| b.v(values)),
            order: KeyOrder::of(b, keys.element(), said.is_unsigned()),
        }
    }
}
