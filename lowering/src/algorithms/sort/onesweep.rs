//! Least-significant-digit radix sort that reads and writes each key once a digit.
//! Blocks wait for each other, so this is for targets with forward progress: a block
//! that has started also ends.
//!
//! 1. *Clear*: histograms, tickets and status flags are set to 0.
//! 2. *Histogram*: one read of the keys counts all digits. Blocks have a counter for
//!    each lane as far as shared memory has room.
//! 3. For each digit of 8 bits, from the lowest, a *sweep*: a block takes a ticket,
//!    which is the number of its tile, of 4,096 keys and more, as the target's table
//!    has it and its shared memory has room. It counts the tile's digits and
//!    publishes the counts, ranks the keys, and sorts them in shared memory, and
//!    values beside them. A thread for each digit looks back over the tiles before
//!    until it meets one whose prefix is published, and publishes its own. Sorted
//!    keys of one digit are written with coalesced stores, and their values with
//!    them. Where shared memory has no room for both, values take the keys' place
//!    once these are written, and are written in the same way.
//!
//! What fits a tile is sorted in one launch instead ([`one_tile`]). For keys of 8
//! bytes half of the digits may be enough, which the histograms tell
//! ([`halves`](super::halves)).
//!
//! Papers: Adinets & Merrill, Onesweep: A Faster Least Significant Digit Radix Sort
//! for GPUs (2022, arXiv 2206.01784).
//! Deviations: no kernel scans the histograms for all: the first tile of each pass
//! does, and the prefix that it publishes begins where the digit does. Status words
//! are cleared once, not once a pass ([`states`](super::states)). Keys are mapped to
//! unsigned integers as the first pass reads them and mapped back as the last one
//! writes them; an odd number of passes ends with a copy. Where all bits of keys
//! without values take part, the first pass ranks them in the order in which they
//! are counted, and so without ballots. A count of a single tile touches no scratch.
//! Scratch: for P passes over n keys, 256·P + 32 words of histograms and tickets and
//! at most 256·⌈n/4096⌉ of status flags. With P ≤ 8 that is at most 2,080 +
//! 256·⌈n/4096⌉, which for n > 4,096 is less than the formula's 256·⌈n/256⌉: 2,592
//! of 4,352 for n = 4,097, and from there on 256 more against 4,096 more a tile.
//! From 2^30 keys on status flags are twice as many.
//! Cost: reads each key once, and then, per pass, reads and writes each key and
//! value once; for each digit and tile a status word is written twice, and read
//! about as often as tiles begin while it is in flight. P + 2 launches, unless half
//! of the digits are enough: 6 for 32-bit keys, besides one of no blocks. Keys, and
//! values beside them, in shared memory; counters in three quarters of it.

use super::{
    DIGITS, Pass, Sort,
    halves::Halves,
    one_tile,
    pass::digit,
    staged::{Shape, Staged},
    states::{self, States},
    tile::{Layout, Ranking, THREADS},
};
use crate::algorithms::{
    chain::{
        self,
        status::{self, Status},
    },
    levels::BLOCK,
    tiles,
};
use crate::targets::Capabilities;
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Words for tickets; each pass uses one.
const TICKETS: i64 = 32;
/// The most blocks that count: as many as a large device runs at a time, since each
/// block adds its counts of every digit to the totals.
const COUNTING: i64 = 264;
/// Keys that each of their threads loads together.
const COUNTED: i64 = 16;
/// Threads of a block that counts.
const COUNTING_THREADS: i64 = 1024;
/// Lanes that may count at once: that many counters of a digit are enough.
const LANES: i64 = 32;

/// Builds P + 2 phases.
pub(super) fn expand<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    capabilities: &Capabilities,
) -> Result<'c> {
    let sort = Sort::of(b, op);
    let shape = Shape::of(&sort, op, capabilities)?;
    let capacity = sort.count.capacity;
    one_tile::build(b, &sort, &shape, capacity);
    if BLOCK.pow(sort.depth) <= shape.size() {
        return Ok(());
    }
    chain::require(op, capabilities)?;
    let one_sweep = OneSweep {
        b,
        sort: &sort,
        shape,
    };
    let several = capacity.gt(one_sweep.shape.size());
    let or_none = |blocks: V<'b, 'c>| several.select(blocks, b.index(0));
    let tiles = or_none(one_sweep.shape.tiles(capacity));
    let tuning = one_sweep.shape.tuning;
    let halves = Halves::of(b, &sort, capabilities);
    let sweep = |pass: Pass<'_, '_, 'c>, before: &dyn Fn(u32)| {
        tuning.phase(b, &pass.name("sweep"), tiles, || {
            before(pass.digit);
            Sweep::new(&one_sweep, pass).run();
        });
    };
    one_sweep.clear(tiles);
    one_sweep.histogram(tiles, halves.as_ref());
    match &halves {
        None => sort.for_passes(b, or_none(capacity), |pass| sweep(pass, &|_| ())),
        Some(halves) => halves.build(&one_sweep, or_none(capacity), |digits, before| {
            sort.for_digits(b, digits, |pass| sweep(pass, before));
        }),
    }
    Ok(())
}

pub(super) struct OneSweep<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    sort: &'a Sort<'b, 'c>,
    shape: Shape,
}

impl<'b, 'c> OneSweep<'_, 'b, 'c> {
    /// Where the tickets are in the scratch, after the histograms.
    fn tickets(&self) -> i64 {
        i64::from(self.sort.passes()) * DIGITS
    }

    /// The word of the scratch that holds a pass's ticket counter.
    pub fn ticket(&self, digit: u32) -> i64 {
        self.tickets() + i64::from(digit)
    }

    /// Where the status flags begin.
    fn states(&self) -> i64 {
        self.tickets() + TICKETS
    }

    /// Clears the scratch of `most` tiles, or of as many as it has room for: it is
    /// as long as the live count needs.
    fn clear(&self, most: V<'b, 'c>) {
        let (b, scratch) = (self.b, self.sort.scratch);
        let end = (states::words(self.sort, most) + self.states()).min(scratch.len());
        let end = most.gt(0).select(end, b.index(0));
        b.fill_range(scratch, b.index(0), end, b.i32(0));
    }

    /// Counts all digits of all keys, and decides whether half of them are enough.
    fn histogram(&self, most: V<'b, 'c>, halves: Option<&Halves<'_, 'b, 'c>>) {
        let (b, sort) = (self.b, self.sort);
        let blocks = most.min(b.index(COUNTING));
        b.phase("sort.histogram", blocks, COUNTING_THREADS, || {
            let digits = self.tickets();
            let copies = self.copies();
            let counts = b.shared(b.int_type(32), digits * copies);
            let is_last = halves.map(Halves::shared);
            let count = sort.count.live();
            let tiles = self.shape.tiles(count);
            b.if_(b.block_id().lt(tiles) & tiles.gt(1), || {
                let own = |words: i64, each: &dyn Fn(V<'b, 'c>)| {
                    let (lower, step) = (b.thread_id(), b.index(COUNTING_THREADS));
                    b.for_(lower, b.index(words), step, [], |at, none| {
                        each(at);
                        none
                    });
                };
                own(digits * copies, &|at| counts.set(at, b.i32(0)));
                b.sync();
                let step = b.grid_dim() * (COUNTED * COUNTING_THREADS);
                let first = b.block_id() * (COUNTED * COUNTING_THREADS);
                b.for_(first, count, step, [], |start, none| {
                    self.count_tile(counts, start, count);
                    none
                });
                b.sync();
                own(digits, &|at| {
                    let (zero, one) = (b.index(0), b.index(1));
                    let [count] = b.for_(zero, b.index(copies), one, [b.i32(0)], |nth, [sum]| {
                        // Neighbouring threads are `copies` apart and use different
                        // banks.
                        let copy = (b.thread_id() + nth) % copies;
                        [sum + counts.at(at * copies + copy)]
                    });
                    b.if_(count.ne(0), || {
                        sort.scratch.atomic(Kind::Add, at, count, "device");
                    });
                });
                if let (Some(halves), Some(is_last)) = (halves, is_last) {
                    halves.choose(is_last, tiles.min(b.grid_dim()), count);
                }
            });
            if let Some(halves) = halves {
                b.if_(b.block_id().lt(tiles) & tiles.eq(1), || {
                    halves.choose_whole()
                });
            }
        });
    }

    /// Copies of a digit's counter in a block. Each lane uses another copy, in
    /// another bank. Where there is one for each lane, no two lanes conflict,
    /// whether digits are random or equal.
    fn copies(&self) -> i64 {
        let words = self.shape.shared_bytes / 4;
        let room = words * 3 / 4;
        (1 << (room / self.tickets()).ilog2()).min(LANES)
    }

    fn count_tile(&self, counts: V<'b, 'c>, start: V<'b, 'c>, count: V<'b, 'c>) {
        let (b, sort) = (self.b, self.sort);
        let items = || (0..COUNTED).map(|nth| start + b.thread_id() + nth * COUNTING_THREADS);
        let key = |i| sort.order.map(sort.data.keys.at(i));
        let copies = self.copies();
        let own = b.thread_id() % copies;
        let add = |key: V<'b, 'c>| {
            for pass in 0..sort.passes() {
                let at = digit(key, pass).to_index() + i64::from(pass) * DIGITS;
                counts.atomic(Kind::Add, at * copies + own, b.i32(1), "block");
            }
        };
        b.either(
            (start + COUNTED * COUNTING_THREADS).le(count),
            || {
                // All loads first, so that they overlap.
                let keys: Vec<_> = items().map(key).collect();
                keys.into_iter().for_each(add);
            },
            || {
                let (lower, step) = (start + b.thread_id(), b.index(COUNTING_THREADS));
                b.for_(lower, count, step, [], |i, none| {
                    add(key(i));
                    none
                });
            },
        );
    }
}

/// A pass's sweep.
struct Sweep<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    shape: &'a Shape,
    /// The word of the scratch that holds the ticket counter.
    ticket_word: i64,
    pass: Pass<'a, 'b, 'c>,
    states: States<'b, 'c>,
    layout: Layout<'b, 'c>,
    ranking: Ranking<'b, 'c>,
    /// Keys, in the memory that the counters have used before.
    keys: Staged<'b, 'c>,
    /// Values, after the keys or in their place.
    values: Staged<'b, 'c>,
    /// For each digit, the distance from its place in the tile to its place in the
    /// output.
    offsets: V<'b, 'c>,
    ticket: V<'b, 'c>,
}

/// The tile of a block.
struct Tile<'b, 'c> {
    /// The live number of keys.
    count: V<'b, 'c>,
    /// The tile's number, `i32`.
    number: V<'b, 'c>,
    /// The tile's first key.
    start: V<'b, 'c>,
    /// Whether it is the only tile.
    alone: V<'b, 'c>,
    /// Whether all of its keys exist.
    full: V<'b, 'c>,
}

impl<'a, 'b, 'c> Sweep<'a, 'b, 'c> {
    /// At the top of a phase.
    fn new(one_sweep: &'a OneSweep<'a, 'b, 'c>, pass: Pass<'a, 'b, 'c>) -> Self {
        let b = pass.b;
        let shape = &one_sweep.shape;
        let words = shape.words(b);
        let keys = Staged::new(words, shape, pass.sort.order.width());
        Self {
            b,
            shape,
            ticket_word: one_sweep.ticket(pass.digit),
            states: States::of(&pass, one_sweep.states()),
            layout: Layout::new(b, shape.items),
            ranking: Ranking::new(b, words),
            values: keys.then(shape),
            keys,
            offsets: b.shared(b.int_type(32), DIGITS),
            ticket: b.shared(b.int_type(32), 1),
            pass,
        }
    }

    fn run(&self) {
        let b = self.b;
        let count = self.pass.sort.count.live();
        let tiles = self.shape.tiles(count);
        // While the load of the count is in flight.
        self.ranking.clear();
        b.if_(b.block_id().lt(tiles), || {
            let tile = self.take(count, tiles);
            let keys = self.load_keys(&tile);
            self.prefetch(&tile);
            let digits: Vec<_> = keys.iter().map(|key| self.pass.digit_of(*key)).collect();
            let counted = self.count(&tile, &digits);
            b.sync();

            let total = self.ranking.total();
            let first = self.publish(&tile, total);
            let [start] = self.scan(total);
            self.ranking.begin(start);
            b.sync();
            let ranks = match counted {
                Some(counted) => self.ranks_as_counted(&tile, &digits, &counted),
                None => self.ranking.rank(&digits),
            };
            // Early, so that the loads are in flight until the slowest thread has
            // its ranks. Some keys are spilled for that, which costs less.
            let values = self.load_values(&tile);
            // The counters have been read.
            b.sync();
            self.keys.put(&keys, &ranks);
            if let Some(values) = values.as_ref().filter(|_| self.shape.is_together) {
                self.values.put(values, &ranks);
            }

            b.if_(self.ranking.has_digit(), || {
                let before = self.before(&tile, first, start, total);
                self.offsets.set(b.thread_id(), before - start);
            });
            b.sync();
            match values {
                Some(_) if self.shape.is_together => self.write_pairs(&tile),
                Some(values) => {
                    let positions = self.write_keys(&tile);
                    // The keys have been read.
                    b.sync();
                    self.values.put(&values, &ranks);
                    b.sync();
                    self.write_values(&tile, &positions);
                }
                None => {
                    self.write_keys(&tile);
                    self.move_values(&tile, &digits, &ranks);
                }
            }
        });
    }

    /// Takes a tile.
    fn take(&self, count: V<'b, 'c>, tiles: V<'b, 'c>) -> Tile<'b, 'c> {
        let b = self.b;
        let alone = tiles.le(1);
        let number = status::take(b, self.ticket, || {
            let scratch = self.pass.sort.scratch;
            let ticket = || [status::ticket(scratch, b.index(self.ticket_word))];
            let [number] = b.if_else(alone, || [b.i32(0)], ticket);
            number
        });
        let start = number.to_index() * self.shape.size();
        Tile {
            count,
            number,
            start,
            alone,
            full: (start + self.shape.size()).le(count),
        }
    }

    /// Loads this thread's items by `load`; `nothing` where there are none.
    fn load(
        &self,
        tile: &Tile<'b, 'c>,
        load: impl Fn(V<'b, 'c>) -> V<'b, 'c>,
        nothing: impl Fn() -> V<'b, 'c>,
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let items = || (0..self.shape.items).map(|nth| self.layout.item(tile.start, nth));
        // Loads the last key again instead of branching for each.
        let guarded = |i: V<'b, 'c>| {
            let value = load(i.min(tile.count - 1));
            i.lt(tile.count).select(value, nothing())
        };
        b.if_else(
            tile.full,
            || items().map(&load).collect::<Vec<_>>(),
            || items().map(guarded).collect(),
        )
    }

    /// Loads and maps the keys. Items beyond the last key rank after it.
    fn load_keys(&self, tile: &Tile<'b, 'c>) -> Vec<V<'b, 'c>> {
        let mapped = self.b.int_type(self.pass.sort.order.width());
        self.load(tile, |i| self.pass.key(i), || self.b.int(mapped, -1))
    }

    /// Prefetches keys and scalar values of a later tile; or else the values of this
    /// tile, which are loaded only once all keys have their ranks.
    fn prefetch(&self, tile: &Tile<'b, 'c>) {
        let (from, tuning) = (&self.pass.from, &self.shape.tuning);
        let values = from.values.filter(|_| self.shape.value_bits > 0);
        let ahead: Vec<_> = [from.keys].into_iter().chain(values).collect();
        tiles::prefetch(tuning, &ahead, tile.start, tile.count);
        if tuning.ahead == 0 {
            tiles::prefetch_tile(tuning, values.as_slice(), tile.start, tile.count);
        }
    }

    /// Bits of the values, if they are scalars.
    fn load_values(&self, tile: &Tile<'b, 'c>) -> Option<Vec<V<'b, 'c>>> {
        if self.shape.value_bits == 0 {
            return None;
        }
        let values = self.pass.from.values?;
        let bits = self.b.int_type(self.shape.value_bits);
        Some(self.load(tile, |i| values.at_as(i, bits), || self.b.zero(bits)))
    }

    /// Counts the digits. Where the order of counting is order enough, yields how
    /// many of each were counted before.
    fn count(&self, tile: &Tile<'b, 'c>, digits: &[V<'b, 'c>]) -> Option<Vec<V<'b, 'c>>> {
        let count = |digit: &V<'b, 'c>| self.ranking.count(*digit);
        if !self.pass.in_any_order() {
            digits.iter().for_each(|digit| _ = count(digit));
            return None;
        }
        let none = || [self.b.i32(0)];
        let guarded = |(nth, digit)| {
            let exists = self.layout.item(tile.start, nth).lt(tile.count);
            let [before] = self.b.if_else(exists, || [count(digit)], none);
            before
        };
        Some(self.b.if_else(
            tile.full,
            || digits.iter().map(count).collect::<Vec<_>>(),
            || (0..).zip(digits).map(guarded).collect(),
        ))
    }

    /// Ranks in the order of counting; items that do not exist rank last.
    fn ranks_as_counted(
        &self,
        tile: &Tile<'b, 'c>,
        digits: &[V<'b, 'c>],
        counted: &[V<'b, 'c>],
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let each = || digits.iter().zip(counted);
        let rank = |(digit, before): (&V<'b, 'c>, &V<'b, 'c>)| {
            self.ranking.rank_as_counted(*digit, *before)
        };
        let guarded = |(nth, item)| {
            let own = self.layout.item(b.index(0), nth);
            let exists = (tile.start + own).lt(tile.count);
            exists.select(rank(item), own.to_i32())
        };
        b.if_else(
            tile.full,
            || each().map(rank).collect::<Vec<_>>(),
            || (0..).zip(each()).map(guarded).collect(),
        )
    }

    fn scan(&self, count: V<'b, 'c>) -> [V<'b, 'c>; 1] {
        let b = self.b;
        let add = Combiner::kind(b.context(), Kind::Add, b.int_type(32));
        b.combine("block.exclusive_scan", &add, [count])
    }

    /// Publishes the tile's count of this thread's digit. In the first tile, yields
    /// where the digit begins.
    fn publish(&self, tile: &Tile<'b, 'c>, total: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let digit = b.thread_id();
        let has_digit = self.ranking.has_digit();
        let publish = |status, count| {
            b.if_(has_digit, || {
                self.states.publish(tile.number, digit, status, count);
            });
        };
        let begin = || {
            let histogram = i64::from(self.pass.digit) * DIGITS;
            // The pass's number is in 32 bits, as no other index is: it is all that
            // differs between passes, and so they share one body. For wider keys the
            // extra registers would reduce occupancy.
            let at = match self.pass.sort.order.width() {
                32 => (digit.to_i32() + histogram).to_index(),
                _ => digit + histogram,
            };
            let all = || [self.pass.sort.scratch.at(at)];
            let [all] = b.if_else(has_digit, all, || [b.i32(0)]);
            let first = self.scan(all);
            publish(Status::Prefix, first[0] + total);
            first
        };
        let [first] = b.if_else(
            tile.number.ne(0),
            || {
                publish(Status::Aggregate, total);
                [b.i32(0)]
            },
            || b.if_else(tile.alone, || [b.i32(0)], begin),
        );
        first
    }

    /// Where this thread's digit begins: after the keys of that digit in the tiles
    /// before.
    fn before(
        &self,
        tile: &Tile<'b, 'c>,
        first: V<'b, 'c>,
        start: V<'b, 'c>,
        total: V<'b, 'c>,
    ) -> V<'b, 'c> {
        let b = self.b;
        let digit = b.thread_id();
        let [before] = b.if_else(
            tile.number.ne(0),
            || {
                self.shape.tuning.back_off(tile.number);
                let before = self.states.look_back(tile.number, digit);
                let upto = before + total;
                self.states
                    .publish(tile.number, digit, Status::Prefix, upto);
                [before]
            },
            || [tile.alone.select(start, first)],
        );
        before
    }

    /// The ranks that this thread writes, and whether a key has that rank in a tile
    /// that is not full.
    fn outgoing(&self, tile: &Tile<'b, 'c>) -> Vec<(V<'b, 'c>, V<'b, 'c>)> {
        let t = self.b.thread_id();
        let left = tile.count - tile.start;
        let ranks = (0..self.shape.items).map(|nth| t + nth * THREADS);
        ranks.map(|rank| (rank, rank.lt(left))).collect()
    }

    /// Runs `write` for each existing item that this thread writes.
    fn write(&self, tile: &Tile<'b, 'c>, write: impl Fn(usize)) {
        let b = self.b;
        b.either(
            tile.full,
            || (0..self.shape.items as usize).for_each(&write),
            || {
                for (nth, (_, exists)) in self.outgoing(tile).into_iter().enumerate() {
                    b.if_(exists, || write(nth));
                }
            },
        );
    }

    /// The destination of the key of a rank.
    fn place(&self, key: V<'b, 'c>, rank: V<'b, 'c>) -> V<'b, 'c> {
        let offset = self.offsets.at(self.pass.digit_of(key).to_index());
        offset + rank.to_i32()
    }

    /// Writes each key and its value in the order of their ranks. The destination
    /// takes no register once both stores are issued.
    fn write_pairs(&self, tile: &Tile<'b, 'c>) {
        let Some(to) = self.pass.to.values else {
            return;
        };
        let ranks: Vec<_> = self.outgoing(tile).into_iter().map(|(r, _)| r).collect();
        self.write(tile, |nth| {
            let rank = ranks[nth];
            let (key, value) = (self.keys.get(rank), self.values.get(rank));
            let position = self.place(key, rank).to_index();
            self.pass.put_key(position, key);
            to.set(position, value);
        });
    }

    /// Writes keys in the order of their ranks; yields their destinations.
    fn write_keys(&self, tile: &Tile<'b, 'c>) -> Vec<V<'b, 'c>> {
        let ranks: Vec<_> = self.outgoing(tile).into_iter().map(|(r, _)| r).collect();
        let get = |rank: &V<'b, 'c>| self.keys.get(*rank);
        let keys: Vec<_> = ranks.iter().map(get).collect();
        let places = keys.iter().zip(&ranks);
        let positions: Vec<_> = places.map(|(key, rank)| self.place(*key, *rank)).collect();
        self.write(tile, |nth| {
            self.pass.put_key(positions[nth].to_index(), keys[nth]);
        });
        positions
    }

    /// The same for values that are scalars.
    fn write_values(&self, tile: &Tile<'b, 'c>, positions: &[V<'b, 'c>]) {
        let get = |(rank, _)| self.values.get(rank);
        let values: Vec<_> = self.outgoing(tile).into_iter().map(get).collect();
        let Some(to) = self.pass.to.values else {
            return;
        };
        self.write(tile, |nth| to.set(positions[nth].to_index(), values[nth]));
    }

    /// Moves rows, each of which is contiguous anyway.
    fn move_values(&self, tile: &Tile<'b, 'c>, digits: &[V<'b, 'c>], ranks: &[V<'b, 'c>]) {
        if self.pass.from.values.is_none() {
            return;
        }
        let b = self.b;
        for (nth, (digit, rank)) in (0..).zip(digits.iter().zip(ranks)) {
            let i = self.layout.item(tile.start, nth);
            b.if_(i.lt(tile.count), || {
                let position = self.offsets.at(digit.to_index()) + *rank;
                self.pass.put_values(position.to_index(), i);
            });
        }
    }
}
