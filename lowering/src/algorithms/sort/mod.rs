//! `qd.algo.sort`: stable sort of keys, or of keys and values.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on latency-oriented targets |
//! | `onesweep` | on throughput-oriented targets with forward progress |
//! | `hierarchical` | everywhere |

/// Of `qd-bench`, which compiles it; here it is only seen by formatters.
#[cfg(false)]
mod bench;
mod chunked;
mod halves;
mod hierarchical;
mod key;
mod one_tile;
mod onesweep;
mod pass;
mod staged;
mod states;
mod tile;

use super::{Algorithm, Strategy, always, chain, latency_oriented, levels::Count};
pub(super) use key::KeyOrder;
use pass::{DIGITS, Pairs, Pass, RADIX_BITS};
use qd_dialects::{
    builder::{Builder, V},
    ir::Op,
    ops::algo,
};

/// The line of the table.
pub(super) const SORT: Algorithm = Algorithm {
    op: algo::Sort::NAME,
    tunings: include_str!("tuning.json"),
    strategies: &[
        Strategy {
            name: "chunked",
            suits: latency_oriented,
            expand: |b, op, _| chunked::expand(b, op),
        },
        Strategy {
            name: "onesweep",
            suits: |_, capabilities| chain::suits(capabilities),
            expand: |b, op, capabilities| onesweep::expand(b, op, capabilities),
        },
        Strategy {
            name: "hierarchical",
            suits: always,
            expand: |b, op, _| hierarchical::expand(b, op),
        },
    ],
};

/// The op's operands.
struct Sort<'b, 'c> {
    data: Pairs<'b, 'c>,
    tmp: Pairs<'b, 'c>,
    scratch: V<'b, 'c>,
    count: Count<'b, 'c>,
    order: KeyOrder<'c>,
    /// How many low bits of the mapped keys take part; a multiple of 8.
    end_bit: u32,
    depth: u32,
}

impl<'b, 'c> Sort<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let sort = algo::Sort::cast(op);
        let data = Pairs {
            keys: b.v(sort.keys()),
            values: sort.values().map(|values| b.v(values)),
        };
        let tmp = Pairs {
            keys: b.v(sort.tmp_keys()),
            values: sort.tmp_values().map(|values| b.v(values)),
        };
        let order = KeyOrder::of(b, data.keys.element(), sort.is_unsigned());
        let depth = super::depth(op);
        let keys = [data.keys, tmp.keys].into_iter();
        let buffers = keys.chain(data.values).chain(tmp.values);
        Self {
            scratch: b.v(sort.scratch()),
            count: Count::new(b, b.v(sort.count()), depth, buffers),
            data,
            tmp,
            end_bit: sort.end_bit().map_or(order.width(), |bits| bits as u32),
            order,
            depth,
        }
    }
}
