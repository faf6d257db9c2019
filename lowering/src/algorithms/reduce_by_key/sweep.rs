//! Reduce by key by one segmented scan: nothing is atomic.
//!
//! Each element is a pair: whether a run begins there, as a count, and its
//! values. Pairs combine to the number of heads and the combination of what
//! follows the last head,
//!
//! ```text
//! (m, u) ∘ (n, v) = (m + n, n > 0 ? v : u ∘ v)
//! ```
//!
//! which is associative if the values' combiner is. An inclusive scan gives for
//! each element the number of its run and the combination of the run so far:
//! the first element of a run writes its key, the last one the value. The last run's
//! is the total.
//!
//! Paper: Blelloch, Prefix Sums and Their Applications (1990), segmented scans;
//! the forms of sweep name their own.
//! Deviations: the reference scans head flags, clears the output and adds to it
//! atomically. Here one scan does both, in index order. So any associative
//! combiner will do, and float sums depend on the input alone. Partials of
//! pairs take a slot for each word of a pair for every 256 elements. That
//! is well within the n slots that the formula has for the flags' scan: a
//! partial is stored only if there are two or more, so from 257 elements on.
//! Cost: reads each key two to four times (neighbours', cached) and each value
//! twice; writes each run once.

use super::ReduceByKey;
use crate::algorithms::{
    partials::Partials,
    sweep::{Form, Sweep, Total},
    tiles::{load, store},
};
use qd_dialects::{
    attributes,
    builder::{Builder, Combiner},
    diagnostic::Result,
    ir::Op,
};

/// Builds 2D − 1 phases, or at most 2 in chunks.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, form: Form) -> Result<'c> {
    let by_key = ReduceByKey::of(b, op);
    form.keeps_order(op, &by_key.combiner)?;
    let sweep = Sweep {
        b,
        form,
        name: "reduce_by_key",
        depth: by_key.depth,
        capacity: by_key.count.capacity,
        combiner: &segmented(b, &by_key.combiner),
        inclusive: true,
        count: &|| by_key.count.live(),
        load: &|i| [vec![by_key.is_head(i).to_i32()], load(&by_key.values, i)].concat(),
        partials: &|| Partials::Together {
            buffer: by_key.scratch,
            start: b.index(0),
        },
        total: Total::AtTheEnd(&|total| by_key.end(total)),
    };
    sweep.run(|element| {
        let (heads, combined) = (element.scanned[0], &element.scanned[1..]);
        let run = heads.to_index() - 1;
        let i = element.i;
        b.if_(element.value[0].ne(0), || {
            by_key.keys_out.set(run, by_key.keys.at(i));
        });
        b.if_(element.exists, || {
            let ends = by_key.is_end(i, element.count);
            b.if_(ends, || store(&by_key.values_out, run, combined));
        });
    });
    Ok(())
}

/// The combiner of pairs: a number of heads and a combination since the last
/// one.
pub(super) fn segmented<'c>(b: &Builder<'c>, values: &Combiner<'c>) -> Combiner<'c> {
    let no_heads = attributes::i32(b.context(), 0);
    let identities = [vec![no_heads], values.exact_neutral_attributes()].concat();
    let values = values.clone();
    Combiner::function(b.context(), identities, move |b, left, right| {
        let joined = values.apply(b, &left[1..], &right[1..]);
        let begins = right[0].ne(0);
        let either = right[1..].iter().zip(joined);
        let since: Vec<_> = either
            .map(|(own, joined)| begins.select(*own, joined))
            .collect();
        [vec![left[0] + right[0]], since].concat()
    })
}
