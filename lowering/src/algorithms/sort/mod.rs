//! `qd.algo.sort`: stable sort of keys, or of keys and values.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on few cores |
//! | `onesweep` | on many cores, where a block may wait for those before it |
//! | `hierarchical` | everywhere |

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
    attributes,
    builder::{Builder, V},
    ir::{Op, OpExt},
};

/// The line of the table.
pub(super) const SORT: Algorithm = Algorithm {
    op: "qd.algo.sort",
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

/// What the op says.
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
        let segments = op.operand_segments();
        let operand = |i: usize| segments[i].first().map(|value| b.v(*value));
        let required = |i: usize| b.v(segments[i][0]);
        let order = KeyOrder::of(b, required(0).element(), op.attr("is_unsigned").is_some());
        let end_bit = op.attr("end_bit").and_then(attributes::int);
        let depth = super::depth(op);
        let buffers = segments[..4].iter().flatten().map(|buffer| b.v(*buffer));
        Self {
            data: Pairs {
                keys: required(0),
                values: operand(2),
            },
            tmp: Pairs {
                keys: required(1),
                values: operand(3),
            },
            scratch: required(4),
            count: Count::new(b, required(5), depth, buffers),
            end_bit: end_bit.map_or(order.width(), |bits| bits as u32),
            order,
            depth,
        }
    }
}
