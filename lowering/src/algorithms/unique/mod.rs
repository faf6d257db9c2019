//! `qd.algo.unique`: keep the first element of each run of equal ones.
//!
//! | strategy | where |
//! |---|---|
//! | `chunked` | on latency-oriented targets |
//! | `lookback` | on throughput-oriented targets with forward progress |
//! | `hierarchical` | everywhere |
//!
//! The first element of a run is its *head*. Keeping the heads is a compaction. The length
//! of a run is the distance from its head to the next one, so that each head yields the
//! length of the run before it, and nothing is added up.

/// Of `qd-bench`, which compiles it; here it is only seen by formatters.
#[cfg(false)]
mod bench;
mod chunked;
mod hierarchical;
mod lookback;

use super::{Algorithm, Strategy, always, chain, latency_oriented, levels::Count};
use qd_dialects::{
    algorithm, attributes,
    attributes::Kind,
    builder::{Builder, Combiner, V},
    ir::Op,
    ops::algo,
};

/// The line of the table.
pub(super) const UNIQUE: Algorithm = Algorithm {
    op: algo::Unique::NAME,
    tunings: include_str!("tuning.json"),
    strategies: &[
        Strategy {
            name: "chunked",
            suits: latency_oriented,
            expand: |b, op, _| chunked::expand(b, op),
        },
        Strategy {
            name: "lookback",
            suits: |_, capabilities| chain::suits(capabilities),
            expand: lookback::expand,
        },
        Strategy {
            name: "hierarchical",
            suits: always,
            expand: |b, op, _| hierarchical::expand(b, op),
        },
    ],
};

/// The op's operands.
struct Unique<'b, 'c> {
    input: V<'b, 'c>,
    output: V<'b, 'c>,
    /// Where the lengths of the runs go, if they go anywhere.
    counts: Option<V<'b, 'c>>,
    num_runs: V<'b, 'c>,
    scratch: V<'b, 'c>,
    count: Count<'b, 'c>,
    depth: u32,
}

impl<'b, 'c> Unique<'b, 'c> {
    fn of(b: &'b Builder<'c>, op: Op<'c>) -> Self {
        let said = algorithm::Algorithm::of(op).expect("a verified algorithm");
        let [input, output, counts, num_runs, scratch, count] =
            [0, 1, 2, 3, 4, 5].map(|group| said.group(group).next().map(|v| b.v(v)));
        let there = |operand: Option<V<'b, 'c>>| operand.expect("a verified operand");
        let (input, output) = (there(input), there(output));
        let buffers = [input, output].into_iter().chain(counts);
        let depth = super::depth(op);
        Self {
            input,
            output,
            counts,
            num_runs: there(num_runs),
            scratch: there(scratch),
            count: Count::new(b, there(count), depth, buffers),
            depth,
        }
    }

    /// Whether a run begins at element `i`, which exists. A NaN equals nothing.
    fn is_head(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        let before = i.max(1) - 1;
        i.eq(0) | self.input.at(i).ne(self.input.at(before))
    }

    /// Says how long the run of this number is, `i32` each: from its head to the next.
    /// Before the first head there is no run, of number −1.
    fn set_length(&self, run: V<'b, 'c>, head: V<'b, 'c>, next: V<'b, 'c>) {
        let b = run.builder();
        if let Some(counts) = self.counts {
            b.if_(run.ne(-1), || counts.set(run.to_index(), next - head));
        }
    }

    /// Says how many runs there are, and how long the last one is, given all heads
    /// combined; by one thread.
    fn end(&self, all: &[V<'b, 'c>], count: V<'b, 'c>) {
        self.num_runs.set_first(all[0]);
        if let [runs, last] = *all {
            self.set_length(runs - 1, last, count.to_i32());
        }
    }
}

/// Combines numbers of heads; and which element the last head is, 0 if there is none:
/// what begins with element 0 has a head there.
fn heads<'c>(b: &Builder<'c>, with_last: bool) -> Combiner<'c> {
    let word = b.int_type(32);
    let add = Combiner::kind(b.context(), Kind::Add, word);
    if !with_last {
        return add;
    }
    let last = Combiner::kind(b.context(), Kind::MaxUi, word);
    let none = attributes::i32(b.context(), 0);
    Combiner::function(b.context(), vec![none, none], move |b, left, right| {
        let heads = add.apply(b, &left[..1], &right[..1]);
        [heads, last.apply(b, &left[1..], &right[1..])].concat()
    })
}
