//! Reduce by key in one pass over large tiles, whose blocks wait for each other.
//!
//! 1. *Clear*: the tiles' descriptors and the ticket counter are set to 0.
//! 2. *Sweep*: a block takes a tile.
//!    - Elements are loaded once, coalesced, and exchanged within their subgroup,
//!      so that each thread has consecutive elements. The thread finds the heads
//!      among them, where a key differs from the one before, and scans their
//!      values within each run, in registers.
//!    - One block scan of a pair a thread: the number of heads, and the sum of the
//!      values since the last head.
//!    - The last subgroup publishes the tile's aggregate, a pair, and will look
//!      back ([`Chain`]). Meanwhile each thread puts each head's key, and the
//!      sum of the run that ends before it, in shared memory, at the number of
//!      heads before it in the tile.
//!    - The tile's exclusive prefix gives the tile's offset in the output, and the
//!      part of its first run that earlier tiles hold. Runs are written with
//!      coalesced stores.
//!
//! The last tile ends the last run, and writes the number of runs.
//!
//! Papers: Merrill & Garland, Single-pass Parallel Prefix Scan with Decoupled
//! Look-back (2016), whose run-length encoding this is with values; Blelloch,
//! Prefix Sums and Their Applications (1990), segmented scans.
//! Deviations: the scan is over a pair a thread and not an element. A capacity of
//! 256 is a hierarchy of one level.
//! Cost: reads each key and each value once, and one key more for each subgroup;
//! writes each run once. Descriptors take 32 bytes a tile, or more for several values. A fill and a phase.

use super::{ReduceByKey, shape, sweep, types};
use crate::algorithms::{
    chain::{self, Chain},
    fixed_order::Runs,
    partials::Partials,
    sweep::Form,
    tiles::{bytes, load, prefetch, rest, store},
};
use crate::targets::{Capabilities, tuning::Tuning};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    ir::Op,
};

/// Bits of a mask of a thread's heads. No item uses the last bit, which is the
/// sign.
const WORD: i64 = 32;

/// The largest element, a key and its values, in bytes, that a thread may hold for a tile to fit a block's
/// shared memory.
const MOST_BYTES: i64 = 32;

/// Whether tiles of an op's elements fit.
pub(super) fn fits(op: Op) -> bool {
    bytes(&types(op)) <= MOST_BYTES
}

/// Builds a fill and a phase, or a phase.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    let by_key = ReduceByKey::of(b, op);
    if by_key.depth == 1 {
        let form = match by_key.in_order {
            true => Form::FixedOrder(shape(op)),
            false => Form::Hierarchical,
        };
        return sweep::expand(b, op, form);
    }
    chain::require(op, capabilities)?;
    let held = bytes(&types(op));
    let mut tuning = Tuning::of(op, "reduce_by_key", held, capabilities)?;
    if by_key.in_order {
        tuning = tuning.in_shape(op, shape(op))?;
    }
    if tuning.items >= WORD {
        let what = format!("has {} items a thread: {} at most", tuning.items, WORD - 1);
        return Err(Diagnostic::at(op, what));
    }
    let look_back = LookBack {
        b,
        tuning,
        pairs: &sweep::segmented(b, &by_key.combiner),
        by_key: &by_key,
    };
    look_back.build();
    Ok(())
}

struct LookBack<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    by_key: &'a ReduceByKey<'b, 'c>,
    /// Combines pairs: the number of heads and the sum of the values since the
    /// last head.
    pairs: &'a Combiner<'c>,
    tuning: Tuning,
}

/// Shared memory of a block.
struct Shared<'b, 'c> {
    /// First the elements in the order of loading, and then the runs that end in
    /// the tile: each head's key, and the sum of the run before it.
    keys: V<'b, 'c>,
    values: Vec<V<'b, 'c>>,
    /// The number of heads before the tile, and in it.
    heads: V<'b, 'c>,
    /// Each thread's mask of heads. In registers, each of its bits would be kept
    /// for its second use: a quarter of all registers.
    masks: V<'b, 'c>,
    /// The sum of the values since the last head before the tile.
    open: Vec<V<'b, 'c>>,
    ticket: V<'b, 'c>,
}

/// The tile of a block.
struct Tile<'b, 'c> {
    /// The live number of elements.
    count: V<'b, 'c>,
    /// Its first element.
    start: V<'b, 'c>,
}

/// A thread's elements, in a blocked arrangement.
struct Own<'b, 'c> {
    keys: Vec<V<'b, 'c>>,
    /// Each element's sum with those before it of the same run in this thread.
    values: Vec<Vec<V<'b, 'c>>>,
    /// Mask of the elements that are heads, `i32`.
    heads: V<'b, 'c>,
}

impl<'b, 'c> LookBack<'_, 'b, 'c> {
    fn build(&self) {
        let (b, by_key) = (self.b, self.by_key);
        let tiles = self.tiles(by_key.count.capacity);
        let scratch = || Partials::Together {
            buffer: by_key.scratch,
            start: b.index(0),
        };
        let chain = Chain {
            b,
            combiner: self.pairs,
            partials: &scratch,
            in_order: by_key.in_order,
            tuning: self.tuning,
        };
        chain.clear("reduce_by_key", tiles);
        let body = || self.sweep(&chain);
        self.tuning.phase(b, "reduce_by_key.sweep", tiles, body);
    }

    /// Elements of a tile.
    fn size(&self) -> i64 {
        self.tuning.size()
    }

    /// Tiles that `elements` elements make. An empty input makes one, which writes
    /// that there are no runs.
    fn tiles(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        ((elements + (self.size() - 1)) / self.size()).max(1)
    }

    /// The body of the phase.
    fn sweep(&self, chain: &Chain<'_, 'b, 'c>) {
        let (b, word) = (self.b, self.b.int_type(32));
        let values = || self.by_key.values.iter().map(|values| values.element());
        let shared = Shared {
            keys: b.shared(self.by_key.keys.element(), self.size()),
            values: values().map(|value| b.shared(value, self.size())).collect(),
            heads: b.shared(word, 2),
            masks: b.shared(word, self.tuning.threads),
            open: values().map(|value| b.shared(value, 1)).collect(),
            ticket: b.shared(word, 1),
        };
        let runs = self.by_key.in_order.then(|| Runs::new(b, self.pairs));
        let count = self.by_key.count.live();
        let tiles = self.tiles(count);
        b.if_(b.block_id().lt(tiles), || {
            let position = chain.take(shared.ticket, tiles);
            let tile = Tile {
                count,
                start: position.number.to_index() * self.size(),
            };
            let own = self.own(&tile, &shared);
            let last = own.values[own.values.len() - 1].clone();
            let sum = [vec![b.popcnt(own.heads)], last].concat();
            let (within, total) = match &runs {
                Some(runs) => {
                    runs.combine(&sum);
                    runs.before_and_total()
                }
                None => {
                    let within = b.combine("block.exclusive_scan", self.pairs, sum.clone());
                    let total = self.pairs.apply(b, &within, &sum);
                    (within, total)
                }
            };
            let looks_back = b.subgroup_id().eq(b.num_subgroups() - 1);
            let leads = b.lane_id().eq(b.subgroup_size() - 1);
            b.if_(looks_back, || {
                chain.publish_aggregate(position, leads, &total)
            });
            shared.masks.set(b.thread_id(), own.heads);
            // All threads have read their elements.
            b.sync();
            self.stage(&shared, &own, &within);
            b.if_(looks_back, || {
                let before = chain.wait(position, leads, &total);
                b.if_(leads, || {
                    shared.heads.set(b.index(0), before[0]);
                    shared.heads.set(b.index(1), total[0]);
                    store(&shared.open, b.index(0), &before[1..]);
                    b.if_(chain.is_last(position), || {
                        self.by_key.end(&self.pairs.apply(b, &before, &total))
                    });
                });
            });
            b.sync();
            self.put_out(&shared);
        });
    }

    /// Loads a thread's elements, and scans them within their runs.
    fn own(&self, tile: &Tile<'b, 'c>, shared: &Shared<'b, 'c>) -> Own<'b, 'c> {
        let (b, items) = (self.b, self.tuning.items);
        let (key_before, loaded) = self.load(tile);
        let lane = b.lane_id();
        let (keys, values) = self.exchange(shared, &loaded);
        let last = keys[keys.len() - 1];
        let below = b.shuffle_in_range("up", last, b.i32(1));
        let mut before = lane.eq(0).select(key_before, below);
        let first = tile.start + b.thread_id() * items;
        // The first element of all is a head.
        let mut heads = first.eq(0).to_i32();
        for (nth, key) in (0..).zip(&keys) {
            heads = heads | key.ne(before).to_i32() << nth;
            before = *key;
        }
        let exist = rest(tile.count, first).min(items).to_i32();
        let heads = heads & ((b.i32(1) << exist) - 1);
        let mut scanned = vec![values[0].clone()];
        for (nth, value) in (0..).zip(&values).skip(1) {
            let so_far = &scanned[scanned.len() - 1];
            let joined = self.by_key.combiner.apply(b, so_far, value);
            let begins = is_set(heads, nth);
            let either = value.iter().zip(joined);
            let either = either.map(|(own, joined)| begins.select(*own, joined));
            scanned.push(either.collect());
        }
        Own {
            keys,
            values: scanned,
            heads,
        }
    }

    /// Loads the keys and values of a subgroup's part of the tile, in a striped
    /// arrangement, and the key before that part. Beyond the last element a key is
    /// undefined and values are neutral.
    fn load(&self, tile: &Tile<'b, 'c>) -> (V<'b, 'c>, Vec<Vec<V<'b, 'c>>>) {
        let (b, items) = (self.b, self.tuning.items);
        let step = b.subgroup_size().to_index();
        let part = tile.start + b.subgroup_id().to_index() * step * items;
        let first = part + b.lane_id().to_index();
        let rest = rest(tile.count, first);
        let before = part.max(1) - 1;
        let keys = self.by_key.keys;
        let each = |nth: i64| {
            let i = first + step * nth;
            [vec![keys.at(i)], load(&self.by_key.values, i)].concat()
        };
        let nothing = || b.zero(keys.element());
        let all = b.if_else(
            (tile.start + self.size()).le(tile.count),
            || [vec![keys.at(before)], (0..items).flat_map(each).collect()].concat(),
            || {
                let no_element = || [vec![nothing()], self.by_key.combiner.neutral(b)].concat();
                let guarded = |nth| {
                    let exists = rest.gt(step * nth);
                    b.if_else(exists, || each(nth), no_element)
                };
                let exists = before.lt(tile.count);
                let before = b.if_else(exists, || vec![keys.at(before)], || vec![nothing()]);
                [before, (0..items).flat_map(guarded).collect()].concat()
            },
        );
        let inputs = [vec![keys], self.by_key.values.clone()].concat();
        prefetch(&self.tuning, &inputs, tile.start, tile.count);
        let elements = all[1..].chunks(inputs.len());
        (all[0], elements.map(<[_]>::to_vec).collect())
    }

    /// From a striped to a blocked arrangement within a subgroup.
    fn exchange(
        &self,
        shared: &Shared<'b, 'c>,
        loaded: &[Vec<V<'b, 'c>>],
    ) -> (Vec<V<'b, 'c>>, Vec<Vec<V<'b, 'c>>>) {
        let (b, items) = (self.b, self.tuning.items);
        let step = b.subgroup_size().to_index();
        let first = b.subgroup_id().to_index() * step * items + b.lane_id().to_index();
        for (nth, element) in (0..).zip(loaded) {
            let at = first + step * nth;
            shared.keys.set(at, element[0]);
            store(&shared.values, at, &element[1..]);
        }
        b.subgroup_sync();
        let own = |nth| b.thread_id() * items + nth;
        let keys = (0..items).map(|nth| shared.keys.at(own(nth)));
        let values = (0..items).map(|nth| load(&shared.values, own(nth)));
        (keys.collect(), values.collect())
    }

    /// Stages heads' keys and the sums of the runs before them in shared memory.
    /// The tile's first sum lacks the prefix.
    fn stage(&self, shared: &Shared<'b, 'c>, own: &Own<'b, 'c>, within: &[V<'b, 'c>]) {
        let b = self.b;
        let first = within[0].to_index();
        let heads = shared.masks.at(b.thread_id());
        let mut at = within[0];
        let mut ended = &within[1..];
        for (nth, (key, upto)) in (0..).zip(own.keys.iter().zip(&own.values)) {
            let is_head = is_set(heads, nth);
            b.if_(is_head, || {
                shared.keys.set(at.to_index(), *key);
                store(&shared.values, at.to_index(), ended);
            });
            at = at + is_head.to_i32();
            ended = upto;
        }
        // The run that ends at the first head began in a thread below.
        let begins_below = heads.ne(0) & (heads & 1).eq(0);
        b.if_(begins_below, || {
            let own = load(&shared.values, first);
            let all = self.by_key.combiner.apply(b, &within[1..], &own);
            store(&shared.values, first, &all);
        });
    }

    /// Writes a tile's runs from shared memory to the output.
    fn put_out(&self, shared: &Shared<'b, 'c>) {
        let (b, zero) = (self.b, self.b.index(0));
        let before = shared.heads.at(zero).to_index();
        let heads = shared.heads.at(b.index(1));
        let t = b.thread_id();
        b.if_(t.eq(0) & heads.ne(0), || {
            let (open, own) = (load(&shared.open, zero), load(&shared.values, zero));
            let all = self.by_key.combiner.apply(b, &open, &own);
            store(&shared.values, zero, &all);
        });
        let step = b.i32(self.tuning.threads as i32);
        b.for_(t.to_i32(), heads, step, [], |nth, none| {
            let nth = nth.to_index();
            let run = before + nth;
            self.by_key.keys_out.set(run, shared.keys.at(nth));
            // No run ends at the first head of all.
            b.if_(run.ne(0), || {
                store(&self.by_key.values_out, run - 1, &load(&shared.values, nth));
            });
            none
        });
    }
}

/// Whether a bit of a mask is set.
fn is_set<'b, 'c>(mask: V<'b, 'c>, bit: i64) -> V<'b, 'c> {
    (mask & (1 << bit)).ne(0)
}
