//! Batcher's odd–even merge sort by one block. Portable.
//!
//! For p = 1, 2, 4, … below n, sorted runs of p are merged to runs of 2p: for k
//! = p, p/2, …, 1, elements at distance k are compared and exchanged, each pair
//! by another thread, with a barrier after each k.
//!
//! Paper: Batcher, Sorting Networks and Their Applications (1968); the loops for
//! any n are Knuth's, The Art of Computer Programming 3, 5.2.2, algorithm M.
//! Deviations: the network's depth depends on the length, which is not known
//! when phases are laid out. So one block walks through the network, with
//! barriers of its own. The op is deprecated, for at most a few thousand keys:
//! use `sort`.
//! Cost: reads each key and value log²(n)/2 times, and writes about half as
//! often. 1 phase.

use super::ParallelSort;
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::Op,
};

const THREADS: i64 = 256;

/// Builds one phase.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let sort = ParallelSort::of(b, op);
    b.phase("parallel_sort", b.index(1), THREADS, || {
        // Values that are too few are undefined, and found by `checked`: nothing is written behind them.
        let n = (sort.values).map_or(sort.keys.len(), |values| sort.keys.len().min(values.len()));
        let (zero, one) = (b.index(0), b.index(1));
        // The number of powers of two below n.
        let stages = b.i32(64) - b.clz((n.max(1) - 1).to_i64());
        b.for_(zero, stages.to_index(), one, [], |stage, none| {
            let p = one << stage;
            b.for_(zero, stage + 1, one, none, |step, none| {
                let k = p >> step;
                exchange(b, &sort, n, p, k);
                b.sync();
                none
            })
        });
    });
    Ok(())
}

/// Compares and exchanges the network's pairs at distance `k`.
fn exchange<'b, 'c>(
    b: &'b Builder<'c>,
    sort: &ParallelSort<'b, 'c>,
    n: V<'b, 'c>,
    p: V<'b, 'c>,
    k: V<'b, 'c>,
) {
    // A merge begins with distance p; its later steps skip the elements that are
    // already in place.
    let first = k.eq(p).select(b.index(0), k);
    b.for_(
        first + b.thread_id(),
        n - k,
        b.index(THREADS),
        [],
        |x, none| {
            let y = x + k;
            let left_of_pair = (((x - first) / k) & 1).eq(0);
            let same_run = (x / (p * 2)).eq(y / (p * 2));
            b.if_(left_of_pair & same_run, || {
                let (a, c) = (sort.keys.at(x), sort.keys.at(y));
                b.if_(sort.order.map(c).lt(sort.order.map(a)), || {
                    sort.keys.set(x, c);
                    sort.keys.set(y, a);
                    if let Some(values) = sort.values {
                        let (a, c) = (values.at(x), values.at(y));
                        values.set(x, c);
                        values.set(y, a);
                    }
                });
            });
            none
        },
    );
}
