//! Select and partition in one pass, over tiles whose blocks wait for each other.
//!
//! 1. *Clear*: the tiles' descriptors and the counter of tickets are set to 0.
//! 2. *Count*, to partition: how many are flagged in all, behind which others go.
//! 3. *Sweep*: a block takes a tile, of which each subgroup has a stretch.
//!    Neighbouring lanes load neighbours, flags and elements together, and a ballot
//!    for each item ranks its flagged elements. The tile's number of these is told
//!    to the tiles behind ([`Chain`]). In shared memory, the flagged elements of a
//!    stretch then gather at its front, the others at its back and in reverse; and
//!    once one subgroup knows what the tiles before come to, they go out from there,
//!    neighbours together.
//!
//! Papers: see [`Chain`]; Billeter, Olsson & Assarsson, Efficient Stream Compaction
//! on Wide SIMD Many-Core Architectures (2009), for ranks by ballots and for
//! packing before writing.
//! Deviations: elements are loaded together with their flags, selected or not: to
//! wait for one flag at a time costs more. They are packed by subgroups, which then
//! need not know of each other: all they hold goes to shared memory before anyone
//! waits for other tiles. Rows, and scalars of more than 8 bytes, go straight from
//! the input to the output. A capacity of 256 is a staircase of one step.
//! Cost: reads each flag once, or twice to partition, and each element once;
//! writes what is kept once. A tile takes 32 bytes of scratch. A fill and a
//! phase, or two.

use super::Compact;
use crate::algorithms::{
    chain::{Chain, Position},
    levels::capacity,
    partials::Partials,
    tiles::{bytes, prefetch, rest},
};
use crate::targets::{Capabilities, tuning::Tuning};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Lanes of the smallest subgroup there is.
const FEWEST_LANES: i64 = 4;

/// Bytes of an element that goes by shared memory, at most.
const STAGED_BYTES: i64 = 8;

/// What becomes of elements that are not flagged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::algorithms) enum Others {
    Dropped,
    /// They go behind the flagged ones.
    Behind,
}

/// Builds a fill and a phase, or two, whose names begin with `name`.
pub(in crate::algorithms) fn expand<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    capabilities: &Capabilities,
    name: &str,
    others: Others,
) -> Result<'c> {
    let compact = &Compact::of(b, op);
    let element = compact.input.element();
    let bytes = bytes(&[element]);
    let is_staged = compact.input.row_length().is_none() && bytes <= STAGED_BYTES;
    let tuning = match is_staged {
        true => Tuning::of(op, "compact", bytes, capabilities)?,
        // A thread loads flags alone.
        false => Tuning::of(op, "compact_rows", 0, capabilities)?,
    };
    let add = Combiner::kind(b.context(), Kind::Add, b.int_type(32));
    let one_pass = OnePass {
        b,
        compact,
        add: &add,
        chain: Chain {
            b,
            combiner: &add,
            partials: &|| Partials::Apart(vec![compact.scratch]),
            has_total: others == Others::Behind,
            deterministic: false,
            tuning,
        },
        others,
        is_staged,
        items: tuning.items,
        tuning,
    };
    one_pass.build(name);
    Ok(())
}

/// A compaction under construction.
struct OnePass<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    compact: &'a Compact<'b, 'c>,
    add: &'a Combiner<'c>,
    chain: Chain<'a, 'b, 'c>,
    others: Others,
    /// Whether elements change places in shared memory.
    is_staged: bool,
    /// Elements of a thread.
    items: i64,
    tuning: Tuning,
}

/// A block's tile, and its subgroups' stretches. A lane's elements are a subgroup
/// apart.
struct Tile<'b, 'c> {
    /// Its first element.
    start: V<'b, 'c>,
    /// Whether all of its elements exist.
    full: V<'b, 'c>,
    /// How many exist, `i32`.
    length: V<'b, 'c>,
    /// Where in it this subgroup's stretch begins and ends, `i32`.
    begin: V<'b, 'c>,
    end: V<'b, 'c>,
    /// Where in it this thread's first element is, `i32`.
    first: V<'b, 'c>,
    /// How far behind one of its elements the next is, `i32`.
    step: V<'b, 'c>,
}

impl<'b, 'c> Tile<'b, 'c> {
    /// Where in it this thread's `nth` element is.
    fn within(&self, nth: i64) -> V<'b, 'c> {
        self.first.to_index() + self.step.to_index() * nth
    }

    /// Which of all elements that is.
    fn element(&self, nth: i64) -> V<'b, 'c> {
        self.start + self.within(nth)
    }

    /// Whether it exists.
    fn exists(&self, nth: i64) -> V<'b, 'c> {
        (self.step * nth).slt(self.length - self.first)
    }

    /// How many elements of the stretch do not, `i32`.
    fn missing(&self) -> V<'b, 'c> {
        self.end - self.length.max(self.begin).min(self.end)
    }
}

/// How a stretch is packed: flagged elements from its front, others from its back.
struct Packed<'b, 'c> {
    /// Where in the tile this thread's own go, `i32`.
    places: Vec<V<'b, 'c>>,
    /// Where in the tile the flagged ones of the stretch end, `i32`.
    flagged_end: V<'b, 'c>,
}

/// Where in the output a packed stretch goes. Places of the tile are counted from
/// an origin: from a thread's first they are constants, which take no registers.
struct Destination<'b, 'c> {
    /// Places before are those of flagged elements, `i32`.
    flagged_end: V<'b, 'c>,
    /// Where the one at the origin goes, or would.
    flagged: V<'b, 'c>,
    others: Option<OthersDestination<'b, 'c>>,
}

struct OthersDestination<'b, 'c> {
    /// Places from here on are those of others, `i32`, if between these and the
    /// flagged ones are places of elements that do not exist.
    begin: Option<V<'b, 'c>>,
    /// Where the one at the origin goes, or would; those behind it go before it.
    at_origin: V<'b, 'c>,
}

impl<'b, 'c> OnePass<'_, 'b, 'c> {
    fn build(&self, name: &str) {
        let (b, compact) = (self.b, self.compact);
        let most = self.tiles(capacity(b, compact.depth, compact.flags));
        self.chain.clear(name, most);
        if self.others == Others::Behind {
            let name = format!("{name}.count");
            b.phase(&name, most, self.tuning.threads, || self.count());
        }
        let name = format!("{name}.sweep");
        self.tuning.phase(b, &name, most, || self.sweep());
    }

    /// Elements of a tile.
    fn size(&self) -> i64 {
        self.tuning.size()
    }

    /// Tiles that so many elements make: at least one, which has the number of
    /// flagged ones written.
    fn tiles(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        ((elements + (self.size() - 1)) / self.size()).max(1)
    }

    /// A tile of `count` elements.
    fn tile(&self, number: V<'b, 'c>, count: V<'b, 'c>) -> Tile<'b, 'c> {
        let b = self.b;
        let start = number * self.size();
        let length = rest(count, start).min(self.size()).to_i32();
        let stretch = b.subgroup_size() * self.items;
        let begin = b.subgroup_id() * stretch;
        Tile {
            start,
            full: length.eq(self.size()),
            length,
            begin,
            end: begin + stretch,
            first: begin + b.lane_id(),
            step: b.subgroup_size(),
        }
    }

    /// This thread's elements of each buffer; 0 where there are none.
    fn load(&self, tile: &Tile<'b, 'c>, buffers: &[V<'b, 'c>]) -> Vec<Vec<V<'b, 'c>>> {
        let b = self.b;
        let all = |load: &dyn Fn(V<'b, 'c>, i64) -> V<'b, 'c>| -> Vec<_> {
            let of_one = |buffer: &V<'b, 'c>| {
                let buffer = *buffer;
                (0..self.items).map(move |nth| load(buffer, nth))
            };
            buffers.iter().flat_map(of_one).collect()
        };
        let there = |buffer: V<'b, 'c>, nth| buffer.at(tile.element(nth));
        let if_there = |buffer: V<'b, 'c>, nth| {
            let nothing = || [b.zero(buffer.element())];
            let [value] = b.if_else(tile.exists(nth), || [there(buffer, nth)], nothing);
            value
        };
        let loaded = b.if_else(tile.full, || all(&there), || all(&if_there));
        let each = loaded.chunks(self.items as usize);
        each.map(<[_]>::to_vec).collect()
    }

    /// Counts the flags of all tiles, unless there is one tile.
    fn count(&self) {
        let b = self.b;
        let count = b.live_count(self.compact.count);
        let tiles = self.tiles(count);
        b.if_(tiles.gt(1) & b.block_id().lt(tiles), || {
            let tile = self.tile(b.block_id(), count);
            let loaded = self.load(&tile, &[self.compact.flags]);
            let bits = loaded[0].iter().map(|flag| flag.ne(0).to_i32());
            let own = bits.fold(b.i32(0), |sum, bit| sum + bit);
            let [sum] = b.combine("block.reduce", self.add, [own]);
            b.if_(b.thread_id().eq(0), || {
                self.chain.add_to_total(Kind::Add, sum);
            });
        });
    }

    /// What a block does.
    fn sweep(&self) {
        let (b, compact) = (self.b, self.compact);
        let word = b.int_type(32);
        let ticket = b.shared(word, 1);
        let prefix = b.shared(word, 1);
        let sums = b.shared(word, self.tuning.threads / FEWEST_LANES);
        let element = compact.input.element();
        let staged = self.is_staged.then(|| b.shared(element, self.size()));
        let count = b.live_count(compact.count);
        let tiles = self.tiles(count);
        b.if_(b.block_id().lt(tiles), || {
            let position = self.chain.take(ticket, tiles);
            let tile = self.tile(position.number.to_index(), count);
            let buffers = match staged {
                Some(_) => vec![compact.flags, compact.input],
                None => vec![compact.flags],
            };
            let loaded = self.load(&tile, &buffers);
            prefetch(&self.tuning, &buffers, tile.start, count);
            let total = match self.others {
                Others::Dropped => None,
                Others::Behind => Some(self.total(tiles)),
            };
            let packed = self.pack(&tile, &loaded[0]);
            let [below, here] = self.sums(sums, packed.flagged_end - tile.begin);
            let looks_back = b.subgroup_id().eq(b.num_subgroups() - 1);
            let leads = b.lane_id().eq(0);
            b.if_(looks_back, || self.chain.announce(position, leads, &[here]));
            if let (Some(staged), [_, values]) = (staged, loaded.as_slice()) {
                for (place, value) in packed.places.iter().zip(values) {
                    staged.set(place.to_index(), *value);
                }
            }
            b.if_(looks_back, || {
                let before = self.chain.wait(position, leads, &[here])[0];
                b.if_(leads, || {
                    prefix.set(b.index(0), before);
                    self.store_total(position, before + here);
                });
            });
            b.sync();
            let before = prefix.at(b.index(0)) + below;
            let total = total.map(|total| tiles.gt(1).select(total, here));
            let write = |full| {
                let to = |origin| self.destination(&tile, &packed, before, total, origin, full);
                self.write(&tile, &packed, staged, to);
            };
            match self.others {
                Others::Dropped => write(true),
                Others::Behind => b.either(tile.full, || write(true), || write(false)),
            }
        });
    }

    /// How many elements are flagged in all, `i32`, if there are several tiles.
    fn total(&self, tiles: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let [total] = b.if_else(tiles.gt(1), || [self.chain.total()], || [b.i32(0)]);
        total
    }

    /// Stores how many elements are flagged up to the end of the last tile.
    fn store_total(&self, position: Position<'b, 'c>, upto: V<'b, 'c>) {
        let is_last = self.chain.is_last(position);
        self.b.if_(is_last, || self.compact.num_out.set_first(upto));
    }

    /// Finds out where this thread's elements go within their stretch.
    fn pack(&self, tile: &Tile<'b, 'c>, flags: &[V<'b, 'c>]) -> Packed<'b, 'c> {
        let b = self.b;
        let lanes_below = b.lanemask_lt(b.lane_id());
        let opposite = tile.end - 1 - tile.first;
        let mut front = tile.begin;
        let place = |(nth, flag): (i64, &V<'b, 'c>)| {
            let is_flagged = flag.ne(0);
            let mask = b.ballot(is_flagged);
            let ahead = front + b.popcnt(mask & lanes_below);
            front = front + b.popcnt(mask);
            // As far from the back as there are others ahead of this one.
            let behind = opposite - tile.step * nth + ahead;
            is_flagged.select(ahead, behind)
        };
        let places = (0..).zip(flags).map(place).collect();
        Packed {
            places,
            flagged_end: front,
        }
    }

    /// How many elements are flagged in the subgroups below this one, which has
    /// `own`, and in all of the block.
    fn sums(&self, sums: V<'b, 'c>, own: V<'b, 'c>) -> [V<'b, 'c>; 2] {
        let b = self.b;
        b.if_(b.lane_id().eq(0), || {
            sums.set(b.subgroup_id().to_index(), own);
        });
        b.sync();
        let none = b.i32(0);
        let (subgroups, one) = (b.num_subgroups(), b.i32(1));
        b.for_(none, subgroups, one, [none, none], |nth, [below, here]| {
            let sum = sums.at(nth.to_index());
            let is_below = nth.lt(b.subgroup_id());
            [below + is_below.select(sum, none), here + sum]
        })
    }

    /// Has the elements of the tile put where they go, given where its stretches
    /// go by places from an origin.
    fn write(
        &self,
        tile: &Tile<'b, 'c>,
        packed: &Packed<'b, 'c>,
        staged: Option<V<'b, 'c>>,
        to: impl Fn(V<'b, 'c>) -> Destination<'b, 'c>,
    ) {
        let Compact { input, output, .. } = self.compact;
        match staged {
            Some(staged) => {
                let to = to(tile.first);
                for nth in 0..self.items {
                    self.deliver(tile.step * nth, &to, |i| {
                        output.set(i, staged.at(tile.within(nth)));
                    });
                }
            }
            None => {
                let to = to(self.b.i32(0));
                for (nth, place) in (0..).zip(&packed.places) {
                    self.deliver(*place, &to, |i| {
                        output.copy_element(i, *input, tile.element(nth));
                    });
                }
            }
        }
    }

    /// Where a stretch goes, before which so many elements are flagged; for
    /// places counted from `origin`, and maybe for full tiles alone.
    fn destination(
        &self,
        tile: &Tile<'b, 'c>,
        packed: &Packed<'b, 'c>,
        before: V<'b, 'c>,
        total: Option<V<'b, 'c>>,
        origin: V<'b, 'c>,
        full: bool,
    ) -> Destination<'b, 'c> {
        let begin = tile.start + tile.begin.to_index();
        let before = before.to_index();
        Destination {
            flagged_end: packed.flagged_end - origin,
            flagged: before + origin.to_index() - tile.begin.to_index(),
            others: total.map(|total| OthersDestination {
                begin: (!full).then(|| packed.flagged_end + tile.missing() - origin),
                at_origin: total.to_index() + (begin - before) + (tile.end - 1 - origin).to_index(),
            }),
        }
    }

    /// Has the element in a place of the tile put where it goes, if it goes
    /// anywhere.
    fn deliver(&self, place: V<'b, 'c>, to: &Destination<'b, 'c>, put: impl Fn(V<'b, 'c>)) {
        let b = self.b;
        let is_flagged = place.slt(to.flagged_end);
        let flagged = to.flagged + place.to_index();
        let Some(others) = &to.others else {
            return b.if_(is_flagged, || put(flagged));
        };
        let either = || {
            let other = others.at_origin - place.to_index();
            put(is_flagged.select(flagged, other));
        };
        match others.begin {
            Some(begin) => b.if_(is_flagged | begin.sle(place), either),
            None => either(),
        }
    }
}
