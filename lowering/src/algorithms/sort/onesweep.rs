//! Least-significant-digit radix sort that reads and writes each key once a
//! digit. Blocks wait for each other: for targets on which a block that has
//! started also ends.
//!
//! 1. *Clear*: counters, descriptors and tickets are set to 0.
//! 2. *Histogram*: one read of all keys counts every digit of each.
//! 3. *Offsets*: a block for each digit makes of its counts where keys begin.
//! 4. *Sweep*, for each digit from the lowest: a block takes a tile by ticket,
//!    ranks its keys, and publishes how many it has of each digit. A thread for
//!    each digit then looks back over the tiles before, until one knows how many
//!    there are up to it. Meanwhile keys are put in order in shared memory, from
//!    where neighbours of one digit go out side by side; values follow them.
//!
//! A subgroup ranks 32 neighbouring keys at a time: a ballot for each bit of the
//! digit finds the lanes with the same one, and a counter for each digit and
//! subgroup says how many came before.
//!
//! Papers: Adinets & Merrill, Onesweep: A Faster Least Significant Digit Radix
//! Sort for GPUs (2022); Merrill & Garland (2016) for look-back; Ashkiani et al.,
//! GPU Multisplit (2016), for ranks by ballots.
//! Deviations: the first of all digits of keys without values need not be stable,
//! and ranks by atomics. A word of a descriptor is 0, or one more than a tile's count, or
//! with its highest bit set the count of all up to it: 31 bits, for counts of
//! `i32`. Passes take turns with two sets of descriptors: each clears the next
//! one's. Of a single tile nothing is read or written but its keys.
//! Cost: reads each key once, and for each digit reads and writes each key and
//! value once. 2 + P phases and a fill, for P digits; P for a capacity of 256.

use super::{DIGITS, Pass, RADIX_BITS, Sort, digit_of};
use crate::{
    algorithms::{
        levels::capacity,
        tiles::{SHARED_BYTES, rest},
    },
    targets::{Capabilities, Cores, ForwardProgress},
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, bit_width, element_type},
    melior::ir::{Type, ValueLike},
};

/// Threads of a block: one for each digit.
const THREADS: i64 = DIGITS;
/// Lanes of a subgroup. Bits of them are held in an `i32`.
const LANES: i64 = 32;
/// Subgroups of a block.
const SUBGROUPS: i64 = THREADS / LANES;
/// Blocks that count, at most: enough to keep any device busy.
const COUNTING: i64 = 1024;
/// Tiles whose descriptors a thread reads together.
const TOGETHER: i64 = 4;

/// Keys of a thread: as many as 80 registers hold beside their values and places,
/// and enough for the scratch of two tiles to have room for their descriptors.
fn items(width: u32) -> i64 {
    if width == 32 { 15 } else { 12 }
}

/// Whether this is the way to sort.
pub(super) fn suits(capabilities: &Capabilities) -> bool {
    capabilities.cores == Cores::Many && capabilities.forward_progress != ForwardProgress::None
}

/// What it takes and is not there.
pub(super) fn lacks(op: Op, capabilities: &Capabilities) -> Option<&'static str> {
    let count = op.operand_segments()[5][0];
    let narrow = element_type(count.r#type()).is_some_and(|t| bit_width(t) == 32);
    if capabilities.waves != [LANES as u32] {
        Some("is for subgroups of 32 lanes")
    } else if capabilities.max_shared_bytes < SHARED_BYTES {
        Some("takes 48 KiB of shared memory")
    } else if !narrow {
        Some("is for counts of i32")
    } else {
        None
    }
}

/// Builds 2 phases and one for each digit.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    if let Some(why) = lacks(op, capabilities) {
        return Err(Diagnostic::at(op, format!("strategy 'onesweep' {why}")));
    }
    let sort = Sort::of(b, op);
    let items = items(sort.order.width());
    let sweep = OneSweep {
        b,
        passes: sort.passes().into(),
        items,
        size: items * THREADS,
        add: Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
        sort: &sort,
    };
    let tiles = sweep.tiles(capacity(b, sort.depth, sort.data.keys));
    // A capacity of 256 is one tile, always.
    if sort.depth > 1 {
        sweep.clear(tiles);
        let blocks = tiles.min(COUNTING);
        b.phase("sort.histogram", blocks, THREADS, || sweep.histogram());
        let digits = b.index(sweep.passes);
        b.phase("sort.offsets", digits, THREADS, || sweep.offsets());
    }
    sort.for_passes(b, |pass| {
        b.phase(&pass.name("sweep"), tiles, THREADS, || sweep.sweep(&pass));
    });
    Ok(())
}

/// Slots before the counts: the counter of tickets, of which each pass takes one
/// a tile.
const BEFORE_COUNTS: i64 = 1;

/// A sort under construction. Scratch holds a counter of tickets, the counts of
/// each pass, and for every tile two descriptors, each a row of all digits.
///
/// Bodies of passes differ in few constants, so that they can share one.
struct OneSweep<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    sort: &'a Sort<'b, 'c>,
    passes: i64,
    items: i64,
    /// Keys of a tile.
    size: i64,
    add: Combiner<'c>,
}

/// The tile of a block.
struct Tile<'b, 'c> {
    number: V<'b, 'c>,
    /// The live number of tiles.
    tiles: V<'b, 'c>,
    /// Its first key.
    start: V<'b, 'c>,
    /// The live number of keys.
    count: V<'b, 'c>,
    /// Whether all of its keys exist.
    full: V<'b, 'c>,
    /// This thread's first key, of those a subgroup's lanes apart.
    first: V<'b, 'c>,
}

impl<'b, 'c> OneSweep<'_, 'b, 'c> {
    fn tiles(&self, keys: V<'b, 'c>) -> V<'b, 'c> {
        (keys + (self.size - 1)) / self.size
    }

    fn scratch(&self) -> V<'b, 'c> {
        self.sort.scratch
    }

    /// The slot of a pass's count of a digit.
    fn count_of(&self, pass: V<'b, 'c>, digit: V<'b, 'c>) -> V<'b, 'c> {
        pass * DIGITS + digit + BEFORE_COUNTS
    }

    /// The slot of a tile's descriptor of this thread's digit, for passes of even
    /// or odd number.
    fn descriptor(&self, pass: u32, tile: V<'b, 'c>) -> V<'b, 'c> {
        let row = self.passes + i64::from(pass % 2);
        let before = row * DIGITS + BEFORE_COUNTS;
        tile * (2 * DIGITS) + self.b.thread_id() + before
    }

    /// Clears all that so many tiles use, as far as there is any: scratch is as
    /// long as the live count needs.
    fn clear(&self, most: V<'b, 'c>) {
        let b = self.b;
        let all = most * (2 * DIGITS) + (self.passes * DIGITS + BEFORE_COUNTS);
        let end = most.gt(1).select(all, b.index(0)).min(self.scratch().len());
        b.fill_range(self.scratch(), b.index(0), end, b.i32(0));
    }

    /// Key `i`, mapped; what comes last where there is none.
    fn no_key(&self) -> V<'b, 'c> {
        self.b.scalar(self.word(), -1)
    }

    /// What mapped keys are.
    fn word(&self) -> Type<'c> {
        self.b.int_type(self.sort.order.width())
    }

    /// Counts all digits of all keys, unless there is one tile.
    fn histogram(&self) {
        let (b, sort) = (self.b, self.sort);
        let counts = b.shared(b.int_type(32), self.passes * DIGITS);
        let t = b.thread_id();
        let count = b.live_count(sort.count);
        let tiles = self.tiles(count);
        b.if_(tiles.gt(1) & b.block_id().lt(tiles), || {
            for pass in 0..self.passes {
                counts.set(t + pass * DIGITS, b.i32(0));
            }
            b.sync();
            let first = b.block_id() * self.size;
            let step = b.grid_dim() * self.size;
            let add = |key: V<'b, 'c>| {
                for pass in 0..self.passes {
                    let digit = digit_of(key, pass as u32).to_index();
                    counts.atomic(Kind::Add, digit + pass * DIGITS, b.i32(1), "block");
                }
            };
            let key = |i| sort.order.map(sort.data.keys.at(i));
            b.for_(first, count, step, [], |start, none| {
                let i = |nth: i64| start + t + nth * THREADS;
                b.either(
                    (start + self.size).le(count),
                    || {
                        let keys: Vec<_> = (0..self.items).map(|nth| key(i(nth))).collect();
                        keys.into_iter().for_each(add);
                    },
                    || {
                        for nth in 0..self.items {
                            b.if_(i(nth).lt(count), || add(key(i(nth))));
                        }
                    },
                );
                none
            });
            b.sync();
            for pass in 0..self.passes {
                let counted = counts.at(t + pass * DIGITS);
                b.if_(counted.ne(0), || {
                    let slot = self.count_of(b.index(pass), t);
                    self.scratch().atomic(Kind::Add, slot, counted, "device");
                });
            }
        });
    }

    /// Makes of each digit's count how many keys have a smaller one.
    fn offsets(&self) {
        let b = self.b;
        let tiles = self.tiles(b.live_count(self.sort.count));
        b.if_(tiles.gt(1), || {
            let slot = self.count_of(b.block_id(), b.thread_id());
            let counted = self.scratch().at(slot);
            let [before] = b.combine("block.exclusive_scan", &self.add, [counted]);
            self.scratch().set(slot, before);
        });
    }

    /// What a block does in a pass.
    fn sweep(&self, pass: &Pass<'_, 'b, 'c>) {
        let b = self.b;
        let ticket = b.shared(b.int_type(32), 1);
        let counters = b.shared(b.int_type(32), SUBGROUPS * DIGITS);
        let offsets = b.shared(b.int_type(32), DIGITS);
        let words = b.shared(self.word(), self.size);
        let count = b.live_count(self.sort.count);
        let tiles = self.tiles(count);
        b.if_(b.block_id().lt(tiles), || {
            let tile = self.take(ticket, counters, count, tiles);
            let keys = self.load(&tile, &|i| pass.key(i), self.no_key());
            let digits: Vec<_> = keys.iter().map(|key| pass.digit_of(*key)).collect();
            let ranks = match pass.may_reorder() {
                true => self.rank_in_any_order(counters, &digits),
                false => self.rank(counters, &digits),
            };
            b.sync();
            let (counted, start) = self.order(pass, counters, &tile);
            let places: Vec<_> = ranks
                .iter()
                .zip(&digits)
                .map(|(rank, digit)| {
                    let place = *rank + counters.at(self.counter(*digit));
                    place.to_index()
                })
                .collect();
            for (place, key) in places.iter().zip(keys) {
                words.set(*place, key);
            }
            let values = self.values(pass, &tile);
            self.look_back(pass, offsets, &tile, counted, start);
            b.sync();
            let sorted: Vec<_> = (0..self.items)
                .map(|nth| words.at(self.slot(nth)))
                .collect();
            let to: Vec<_> = (0..)
                .zip(&sorted)
                .map(|(nth, key)| {
                    let offset = offsets.at(pass.digit_of(*key).to_index());
                    offset + self.slot(nth).to_i32()
                })
                .collect();
            self.put(&tile, &|nth| {
                pass.put_key(to[nth].to_index(), sorted[nth]);
            });
            match (pass.values(), values) {
                (Some((_, into)), Some(values)) => {
                    let values = self.follow(words, &places, &values, into.element());
                    self.put(&tile, &|nth| into.set(to[nth].to_index(), values[nth]));
                }
                (Some((from, into)), None) => {
                    for (nth, (place, digit)) in (0..).zip(places.iter().zip(&digits)) {
                        let i = self.key(&tile, nth);
                        b.if_(tile.full | i.lt(tile.count), || {
                            let offset = offsets.at(digit.to_index());
                            let to = (offset + place.to_i32()).to_index();
                            into.copy_element(to, from, i);
                        });
                    }
                }
                _ => {}
            }
        });
    }

    /// Takes a tile, which nobody else has, in an order in which blocks start,
    /// and clears the counters.
    fn take(
        &self,
        ticket: V<'b, 'c>,
        counters: V<'b, 'c>,
        count: V<'b, 'c>,
        tiles: V<'b, 'c>,
    ) -> Tile<'b, 'c> {
        let b = self.b;
        let (t, zero) = (b.thread_id(), b.index(0));
        b.if_(t.eq(0), || {
            let next = || {
                let ticket = self.scratch().atomic(Kind::Add, zero, b.i32(1), "device");
                [ticket % tiles.to_i32()]
            };
            let [taken] = b.if_else(tiles.gt(1), next, || [b.i32(0)]);
            ticket.set(zero, taken);
        });
        for nth in 0..SUBGROUPS {
            counters.set(t + nth * DIGITS, b.i32(0));
        }
        b.sync();
        let number = ticket.at(zero).to_index();
        let start = number * self.size;
        let of_subgroup = b.subgroup_id().to_index() * (LANES * self.items);
        Tile {
            number,
            tiles,
            start,
            count,
            full: (start + self.size).le(count),
            first: start + of_subgroup + b.lane_id().to_index(),
        }
    }

    /// This thread's `nth` key.
    fn key(&self, tile: &Tile<'b, 'c>, nth: i64) -> V<'b, 'c> {
        tile.first + nth * LANES
    }

    /// Where in shared memory this thread takes its `nth` key in order.
    fn slot(&self, nth: i64) -> V<'b, 'c> {
        self.b.thread_id() + nth * THREADS
    }

    /// The counter of a digit in this subgroup.
    fn counter(&self, digit: V<'b, 'c>) -> V<'b, 'c> {
        (self.b.subgroup_id() * DIGITS + digit).to_index()
    }

    /// Loads of each of this thread's keys.
    fn load(
        &self,
        tile: &Tile<'b, 'c>,
        load: &dyn Fn(V<'b, 'c>) -> V<'b, 'c>,
        nothing: V<'b, 'c>,
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let each = |nth| load(self.key(tile, nth));
        b.if_else(
            tile.full,
            || (0..self.items).map(each).collect::<Vec<_>>(),
            || {
                let rest = rest(tile.count, tile.first);
                let guarded = |nth| {
                    let exists = rest.gt(nth * LANES);
                    let [value] = b.if_else(exists, || [each(nth)], || [nothing]);
                    value
                };
                (0..self.items).map(guarded).collect()
            },
        )
    }

    /// The rank of each key among those of its subgroup with the same digit, and
    /// how many there are of each, in the counters.
    fn rank(&self, counters: V<'b, 'c>, digits: &[V<'b, 'c>]) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let below = b.lanemask_lt(b.lane_id()).to_i32();
        let rank = |digit: &V<'b, 'c>| {
            let mut same = b.i32(-1);
            for bit in 0..i64::from(RADIX_BITS) {
                let without = (*digit & (1 << bit)).eq(0);
                let all_without = b.ballot(without).to_i32();
                same = same & (all_without ^ without.select(b.i32(0), b.i32(-1)));
            }
            let before = b.popcnt(same & below);
            let at = self.counter(*digit);
            let counted = counters.at(at);
            b.subgroup_sync();
            b.if_(before.eq(0), || counters.set(at, counted + b.popcnt(same)));
            b.subgroup_sync();
            counted + before
        };
        digits.iter().map(rank).collect()
    }

    /// The same where keys of one digit may change places.
    fn rank_in_any_order(&self, counters: V<'b, 'c>, digits: &[V<'b, 'c>]) -> Vec<V<'b, 'c>> {
        let one = self.b.i32(1);
        let rank = |digit| counters.atomic(Kind::Add, self.counter(digit), one, "block");
        digits.iter().map(|digit| rank(*digit)).collect()
    }

    /// Makes of the counters where each subgroup's keys of each digit begin in
    /// the tile, and publishes how many it has. How many that are of this
    /// thread's digit, and how many of smaller ones.
    fn order(
        &self,
        pass: &Pass<'_, 'b, 'c>,
        counters: V<'b, 'c>,
        tile: &Tile<'b, 'c>,
    ) -> (V<'b, 'c>, V<'b, 'c>) {
        let b = self.b;
        let at = |nth: i64| b.thread_id() + nth * DIGITS;
        let counts: Vec<_> = (0..SUBGROUPS).map(|nth| counters.at(at(nth))).collect();
        let counted = counts.iter().skip(1).fold(counts[0], |sum, n| sum + *n);
        b.if_(tile.tiles.gt(1), || {
            let known = counted | i64::from(i32::MIN);
            let word = tile.number.eq(0).select(known, counted + 1);
            self.publish(pass, tile, word);
            let of_next = self.descriptor(pass.digit + 1, tile.number);
            self.scratch().set(of_next, b.i32(0));
        });
        let [start] = b.combine("block.exclusive_scan", &self.add, [counted]);
        counts.iter().zip(0..).fold(start, |before, (count, nth)| {
            counters.set(at(nth), before);
            before + *count
        });
        b.sync();
        (counted, start)
    }

    /// Says how many keys of this thread's digit there are.
    fn publish(&self, pass: &Pass<'_, 'b, 'c>, tile: &Tile<'b, 'c>, word: V<'b, 'c>) {
        let slot = self.descriptor(pass.digit, tile.number);
        self.scratch().atomic_set(slot, word, "device");
    }

    /// Sets for this thread's digit what is to be added to a place in the tile.
    fn look_back(
        &self,
        pass: &Pass<'_, 'b, 'c>,
        offsets: V<'b, 'c>,
        tile: &Tile<'b, 'c>,
        counted: V<'b, 'c>,
        start: V<'b, 'c>,
    ) {
        let b = self.b;
        let t = b.thread_id();
        let before = || {
            let is_first = tile.number.eq(0);
            let [_, before, _] = b.while_(
                [tile.number, b.i32(0), is_first],
                |[_, _, done]| done.eq(0),
                |[end, before, _]| {
                    let read = |nth: i64| {
                        // The first tile's word ends every search.
                        let tile_before = end.max(nth + 1) - (nth + 1);
                        let slot = self.descriptor(pass.digit, tile_before);
                        self.scratch().atomic_at(slot, "device")
                    };
                    let words: Vec<_> = (0..TOGETHER).map(read).collect();
                    let (mut end, mut before, mut done) = (end, before, b.bool(false));
                    let mut open = b.bool(true);
                    for word in words {
                        let there = open & word.ne(0);
                        let all = word.slt(0);
                        let value = all.select(word & i64::from(i32::MAX), word - 1);
                        before = before + there.select(value, b.i32(0));
                        end = end - there.cast(b.int_type(32)).to_index();
                        done = done | (there & all);
                        open = there & !all;
                    }
                    [end, before, done]
                },
            );
            b.if_(!is_first, || {
                let word = (before + counted) | i64::from(i32::MIN);
                self.publish(pass, tile, word);
            });
            let smaller = self
                .scratch()
                .at(self.count_of(b.index(pass.digit.into()), t));
            [smaller + before - start]
        };
        let [offset] = b.if_else(tile.tiles.gt(1), before, || [b.i32(0)]);
        offsets.set(t, offset);
    }

    /// Runs `put` for each of this thread's keys in order.
    fn put(&self, tile: &Tile<'b, 'c>, put: &dyn Fn(usize)) {
        let b = self.b;
        b.either(
            tile.full,
            || (0..self.items as usize).for_each(put),
            || {
                let rest = rest(tile.count, tile.start + b.thread_id());
                for nth in 0..self.items {
                    b.if_(rest.gt(nth * THREADS), || put(nth as usize));
                }
            },
        );
    }

    /// The values of this thread's keys, unless they are rows.
    fn values(&self, pass: &Pass<'_, 'b, 'c>, tile: &Tile<'b, 'c>) -> Option<Vec<V<'b, 'c>>> {
        let (from, _) = pass.values()?;
        if from.row_length().is_some() {
            return None;
        }
        let none = self.b.zero(from.element());
        Some(self.load(tile, &|i| from.at(i), none))
    }

    /// Values in the order of the keys, by way of the same shared memory, a word
    /// at a time.
    fn follow(
        &self,
        words: V<'b, 'c>,
        places: &[V<'b, 'c>],
        values: &[V<'b, 'c>],
        value: Type<'c>,
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let (word, bits) = (self.word(), b.int_type(bit_width(value)));
        let width = i64::from(bit_width(word));
        let mut ordered = vec![b.zero(bits); values.len()];
        for piece in 0..(i64::from(bit_width(value)) / width).max(1) {
            b.sync();
            for (place, value) in places.iter().zip(values) {
                let bits = value.bitcast(bits);
                words.set(*place, (bits >> (piece * width)).cast(word));
            }
            b.sync();
            for (nth, ordered) in (0..).zip(&mut ordered) {
                let part = words.at(self.slot(nth)).cast(bits);
                *ordered = *ordered | (part << (piece * width));
            }
        }
        ordered
            .into_iter()
            .map(|bits| bits.bitcast(value))
            .collect()
    }
}
