//! Unique in one pass, over tiles whose blocks wait for each other.
//!
//! 1. *Clear*: the tiles' descriptors and the ticket counter are set to 0.
//! 2. *Sweep*: a block takes a tile, and each of its subgroups a subgroup tile. Loads are
//!    coalesced, and the element before a lane's own comes from the lane below by a shuffle.
//!    A ballot for each item ranks its heads. The tile's aggregate, which is the number of
//!    heads and, if the lengths of runs are wanted, the position of the last head, is
//!    published ([`Chain`]). Meanwhile heads, and their positions, are packed in shared
//!    memory at the front of the tile. Once one subgroup has the exclusive prefix of the
//!    tile, heads and their distances from the heads before them are written with coalesced
//!    stores.
//!
//! The last tile ends the last run.
//!
//! Papers: Merrill & Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back
//! (2016), for run-length encoding in one pass; Billeter, Olsson & Assarsson, Efficient
//! Stream Compaction on Wide SIMD Many-Core Architectures (2009), for ranks by ballots and
//! for packing before writing.
//! Deviations: lengths are differences of neighbouring heads' positions, where the paper adds
//! up ones: a tile publishes a maximum, and elements have no values to scan. A capacity of
//! 256 is a hierarchy of one level.
//! Cost: reads each element once, and one more for each subgroup; writes each run once. A
//! tile takes 32 bytes of scratch. A fill and a phase.

use super::{Unique, heads, hierarchical};
use crate::algorithms::{
    chain::{self, Chain},
    compact::{FEWEST_LANES, pack::Flags, subgroup_tile::SubgroupTile},
    partials::Partials,
    tiles::{bytes, prefetch},
};
use crate::targets::{Capabilities, tuning::Tuning};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::{Op, bit_width, is_float},
};

/// Builds a fill and a phase, or a phase.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    let unique = &Unique::of(b, op);
    if unique.depth == 1 {
        return hierarchical::expand(b, op);
    }
    chain::require(op, capabilities)?;
    let word = b.int_type(32);
    let element = unique.input.element();
    // A tile holds its heads, and their places if lengths are asked for.
    let held = match unique.counts {
        None => bytes(&[element]),
        Some(_) => bytes(&[element, word]),
    };
    let tuning = Tuning::of(op, "unique", held, capabilities)?;
    let look_back = LookBack {
        b,
        unique,
        chain: Chain {
            b,
            combiner: &heads(b, unique.counts.is_some()),
            partials: &|| Partials::Together {
                buffer: unique.scratch,
                start: b.index(0),
            },
            in_order: false,
            tuning,
        },
        tuning,
    };
    look_back.build();
    Ok(())
}

struct LookBack<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    unique: &'a Unique<'b, 'c>,
    chain: Chain<'a, 'b, 'c>,
    tuning: Tuning,
}

/// What the threads of a block share.
struct Shared<'b, 'c> {
    ticket: V<'b, 'c>,
    /// The heads of a tile, packed.
    heads: V<'b, 'c>,
    /// Where in the tile each of them is, if lengths are asked for.
    places: Option<V<'b, 'c>>,
    /// The aggregate of each subgroup: arrays of what the combiner combines.
    sums: Vec<V<'b, 'c>>,
    /// The exclusive prefix of the tile, the same.
    before: Vec<V<'b, 'c>>,
}

/// The heads of a subgroup tile.
struct Heads<'b, 'c> {
    elements: Vec<V<'b, 'c>>,
    flags: Vec<Flags<'b, 'c>>,
    /// Their aggregate, for the combiner.
    sum: Vec<V<'b, 'c>>,
}

impl<'b, 'c> LookBack<'_, 'b, 'c> {
    fn build(&self) {
        let b = self.b;
        let most = self.tiles(self.unique.count.capacity);
        self.chain.clear("unique", most);
        self.tuning.phase(b, "unique.sweep", most, || self.sweep());
    }

    /// Elements of a tile.
    fn size(&self) -> i64 {
        self.tuning.size()
    }

    /// Tiles that so many elements make: at least one, which says that there are no runs.
    fn tiles(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        ((elements + (self.size() - 1)) / self.size()).max(1)
    }

    /// Arrays of what the combiner combines.
    fn words(&self, length: i64) -> Vec<V<'b, 'c>> {
        let types = self.chain.combiner.types().iter();
        types.map(|t| self.b.shared(*t, length)).collect()
    }

    /// What a block does.
    fn sweep(&self) {
        let (b, unique) = (self.b, self.unique);
        let word = b.int_type(32);
        let shared = Shared {
            ticket: b.shared(word, 1),
            heads: b.shared(unique.input.element(), self.size()),
            places: unique.counts.map(|_| b.shared(word, self.size())),
            sums: self.words(self.tuning.threads / FEWEST_LANES),
            before: self.words(1),
        };
        let count = unique.count.live();
        let tiles = self.tiles(count);
        b.if_(b.block_id().lt(tiles), || {
            let position = self.chain.take(shared.ticket, tiles);
            let start = position.number.to_index() * self.size();
            let first = b.subgroup_id() * SubgroupTile::size_of(b, self.tuning.items);
            let part = start + first.to_index();
            let subgroup_tile = SubgroupTile::new(b, self.tuning.items, part, count);
            let found = self.heads(&subgroup_tile, start, count);
            let (below, here) = self.sums(&shared, &found.sum);
            let looks_back = b.subgroup_id().eq(b.num_subgroups() - 1);
            let leads = b.lane_id().eq(0);
            b.if_(looks_back, || {
                self.chain.publish_aggregate(position, leads, &here)
            });
            self.stage(&shared, &subgroup_tile, &found, first, below);
            b.if_(looks_back, || {
                let before = self.chain.wait(position, leads, &here);
                b.if_(leads, || {
                    for (array, before) in shared.before.iter().zip(&before) {
                        array.set(b.index(0), *before);
                    }
                    b.if_(self.chain.is_last(position), || {
                        let all = self.chain.combiner.apply(b, &before, &here);
                        unique.end(&all, count);
                    });
                });
            });
            b.sync();
            self.put_out(&shared, start, here[0]);
        });
    }

    /// Loads a subgroup tile of the tile that begins at `start`, and finds its heads.
    fn heads(
        &self,
        subgroup_tile: &SubgroupTile<'b, 'c>,
        start: V<'b, 'c>,
        count: V<'b, 'c>,
    ) -> Heads<'b, 'c> {
        let (b, input) = (self.b, self.unique.input);
        let elements = subgroup_tile.load(&[input]).swap_remove(0);
        // Of the first of all, its own, which exists if any does.
        let before = subgroup_tile.start.max(1).min(count.max(1)) - 1;
        let nothing = || [b.zero(input.element())];
        let [before] = b.if_else(count.ne(0), || [input.at(before)], nothing);
        prefetch(&self.tuning, &[input], start, count);
        let lane = b.lane_id();
        let is_first_lane = lane.eq(0);
        let lane_below = (lane - 1) & (b.subgroup_size() - 1);
        // What the last lane has of the item before comes before the first lane's.
        let mut carried = comparable(before);
        let mut is_first = subgroup_tile.start.eq(0) & is_first_lane;
        let (mut heads, mut last) = (b.i32(0), b.i32(-1));
        let mut flags = Vec::new();
        for (nth, element) in (0..).zip(&elements) {
            let element = comparable(*element);
            let below = b.shuffle("idx", element, lane_below);
            let before = is_first_lane.select(carried, below);
            carried = below;
            let own = (element.ne(before) | is_first) & subgroup_tile.exists(nth);
            is_first = b.bool(false);
            let mask = b.ballot(own);
            heads = heads + b.popcnt(mask);
            last = own.select(subgroup_tile.within(nth), last);
            flags.push(Flags { mask, own });
        }
        let mut sum = vec![heads];
        if self.unique.counts.is_some() {
            sum.push(self.last(subgroup_tile, last));
        }
        Heads {
            elements,
            flags,
            sum,
        }
    }

    /// Which of all elements the last head of a subgroup tile is, if this one is a lane's
    /// last, −1 if it has none; 0 if no lane has one.
    fn last(&self, subgroup_tile: &SubgroupTile<'b, 'c>, own: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let latest = Combiner::kind(b.context(), Kind::MaxSi, b.int_type(32));
        let [last] = b.combine("reduce_all", &latest, [own]);
        let all = subgroup_tile.start.to_i32() + last;
        last.eq(-1).select(b.i32(0), all)
    }

    /// The aggregate of the subgroups below this one, and that of the block.
    fn sums(&self, shared: &Shared<'b, 'c>, own: &[V<'b, 'c>]) -> (V<'b, 'c>, Vec<V<'b, 'c>>) {
        let (b, combiner) = (self.b, self.chain.combiner);
        b.if_(b.lane_id().eq(0), || {
            for (array, sum) in shared.sums.iter().zip(own) {
                array.set(b.subgroup_id().to_index(), *sum);
            }
        });
        b.sync();
        let none = b.i32(0);
        let (subgroups, one) = (b.num_subgroups(), b.i32(1));
        let nothing = [vec![none], combiner.neutral(b)].concat();
        let all = b.for_(none, subgroups, one, nothing, |nth, sums| {
            let next = shared.sums.iter().map(|array| array.at(nth.to_index()));
            let next: Vec<_> = next.collect();
            let is_below = nth.lt(b.subgroup_id());
            let below = sums[0] + is_below.select(next[0], none);
            [vec![below], combiner.apply(b, &sums[1..], &next)].concat()
        });
        (all[0], all[1..].to_vec())
    }

    /// Puts heads, and where they are, after the `below` ones of the subgroups below. The
    /// subgroup tile is the `first` of its tile and on.
    fn stage(
        &self,
        shared: &Shared<'b, 'c>,
        subgroup_tile: &SubgroupTile<'b, 'c>,
        found: &Heads<'b, 'c>,
        first: V<'b, 'c>,
        below: V<'b, 'c>,
    ) {
        let b = self.b;
        let lanes_below = b.lanemask_lt(b.lane_id());
        let mut front = below;
        for (nth, (element, flags)) in (0..).zip(found.elements.iter().zip(&found.flags)) {
            let place = (front + b.popcnt(flags.mask & lanes_below)).to_index();
            b.if_(flags.own, || {
                shared.heads.set(place, *element);
                if let Some(places) = shared.places {
                    places.set(place, first + subgroup_tile.within(nth));
                }
            });
            front = front + b.popcnt(flags.mask);
        }
    }

    /// Moves the `heads` heads of the tile that begins at `start` to where they belong.
    fn put_out(&self, shared: &Shared<'b, 'c>, start: V<'b, 'c>, heads: V<'b, 'c>) {
        let (b, zero) = (self.b, self.b.index(0));
        let before = shared.before[0].at(zero);
        let step = b.i32(self.tuning.threads as i32);
        b.for_(b.thread_id().to_i32(), heads, step, [], |nth, none| {
            let run = before + nth;
            let head = shared.heads.at(nth.to_index());
            self.unique.output.set(run.to_index(), head);
            if let (Some(places), [_, last]) = (shared.places, &shared.before[..]) {
                let here = places.at(nth.to_index());
                // Of the first one, counted from the tile's start as well.
                let open = last.at(zero) - start.to_i32();
                let below = places.at((nth.max(1) - 1).to_index());
                let head = nth.eq(0).select(open, below);
                self.unique.set_length(run - 1, head, here);
            }
            none
        });
    }
}

/// An element as lanes exchange it: integers that are narrower than a register are as
/// different in one.
fn comparable<'b, 'c>(element: V<'b, 'c>) -> V<'b, 'c> {
    match !is_float(element.ty()) && bit_width(element.ty()) < 32 {
        true => element.to_i32(),
        false => element,
    }
}
