//! Select in one pass, over tiles whose blocks wait for each other.
//!
//! 1. *Clear*: the tiles' descriptors and the ticket counter are set to 0.
//! 2. *Sweep*: a block takes a tile, and each of its subgroups a subgroup tile. Loads of
//!    flags and elements are coalesced, and a ballot for each item ranks its flagged
//!    elements. The number of these in the tile is published as its aggregate
//!    ([`Chain`]). Meanwhile the flagged elements of a subgroup tile gather at its front
//!    in shared memory. Once one subgroup knows the tile's exclusive prefix, they are
//!    written from there with coalesced stores.
//!
//! Papers: see [`Chain`]; Billeter, Olsson & Assarsson, Efficient Stream Compaction on
//! Wide SIMD Many-Core Architectures (2009), for ranks by ballots and for packing before
//! writing.
//! Deviations: elements are loaded together with their flags, selected or not: waiting
//! for the flags first costs more. Each subgroup packs its own elements, independently
//! of the others: all elements are in shared memory before the block waits for other
//! tiles. Rows, and scalars of more than 8 bytes, go straight from the input to the
//! output. A capacity of 256 is a hierarchy of one level.
//! Cost: reads each flag and each element once; writes what is kept once. A tile takes
//! 32 bytes of scratch. A fill and a phase.

use super::sweep;
use crate::algorithms::{
    chain::{self, Chain, Position},
    compact::{
        Compact, FEWEST_LANES, STAGED_BYTES,
        pack::{Flags, Packed, Source},
        subgroup_tile::SubgroupTile,
    },
    partials::Partials,
    tiles::{bytes, prefetch},
};
use crate::targets::{Capabilities, tuning::Tuning};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Builds a fill and a phase, or a phase.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    let compact = &Compact::of(b, op);
    if compact.depth == 1 {
        return sweep::expand(b, op);
    }
    chain::require(op, capabilities)?;
    let bytes = bytes(&[compact.input.element()]);
    let is_staged = compact.input.row_length().is_none() && bytes <= STAGED_BYTES;
    let tuning = match is_staged {
        true => Tuning::of(op, "select", bytes, capabilities)?,
        // A thread loads flags alone.
        false => Tuning::of(op, "select_rows", 0, capabilities)?,
    };
    let look_back = LookBack {
        b,
        compact,
        chain: Chain {
            b,
            combiner: &Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
            partials: &|| Partials::Separate(vec![compact.scratch]),
            in_order: false,
            tuning,
        },
        is_staged,
        tuning,
    };
    look_back.build();
    Ok(())
}

/// A selection under construction.
struct LookBack<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    compact: &'a Compact<'b, 'c>,
    chain: Chain<'a, 'b, 'c>,
    /// Whether elements are exchanged in shared memory.
    is_staged: bool,
    tuning: Tuning,
}

impl<'b, 'c> LookBack<'_, 'b, 'c> {
    fn build(&self) {
        let (b, compact) = (self.b, self.compact);
        let most = self.tiles(compact.count.capacity);
        self.chain.clear("select", most);
        self.tuning.phase(b, "select.sweep", most, || self.sweep());
    }

    /// Elements of a tile.
    fn size(&self) -> i64 {
        self.tuning.size()
    }

    /// Tiles that `elements` elements make. There is at least one, which writes the
    /// number of flagged elements.
    fn tiles(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        ((elements + (self.size() - 1)) / self.size()).max(1)
    }

    /// The part of a tile that this subgroup takes.
    fn subgroup_tile(&self, tile: V<'b, 'c>, count: V<'b, 'c>) -> SubgroupTile<'b, 'c> {
        let b = self.b;
        let start = tile * self.size() + self.first(b.subgroup_id()).to_index();
        SubgroupTile::new(b, self.tuning.items, start, count)
    }

    /// Where in a tile a subgroup's part begins, `i32`.
    fn first(&self, subgroup: V<'b, 'c>) -> V<'b, 'c> {
        subgroup * SubgroupTile::size_of(self.b, self.tuning.items)
    }

    /// The body of the phase.
    fn sweep(&self) {
        let (b, compact) = (self.b, self.compact);
        let word = b.int_type(32);
        let ticket = b.shared(word, 1);
        let prefix = b.shared(word, 1);
        let sums = b.shared(word, self.tuning.threads / FEWEST_LANES);
        let element = compact.input.element();
        let staged = self.is_staged.then(|| b.shared(element, self.size()));
        let count = compact.count.live();
        let tiles = self.tiles(count);
        b.if_(b.block_id().lt(tiles), || {
            let position = self.chain.take(ticket, tiles);
            let tile = position.number.to_index();
            let subgroup_tile = self.subgroup_tile(tile, count);
            let buffers = match staged {
                Some(_) => vec![compact.flags, compact.input],
                None => vec![compact.flags],
            };
            let loaded = subgroup_tile.load(&buffers);
            prefetch(&self.tuning, &buffers, tile * self.size(), count);
            let flags: Vec<_> = loaded[0].iter().map(|flag| Flags::new(b, *flag)).collect();
            let packed = Packed::new(b, &subgroup_tile, &flags);
            let [below, here] = self.sums(sums, packed.flagged);
            let looks_back = b.subgroup_id().eq(b.num_subgroups() - 1);
            let leads = b.lane_id().eq(0);
            b.if_(looks_back, || {
                self.chain.publish_aggregate(position, leads, &[here])
            });
            let source = match (staged, loaded.as_slice()) {
                (Some(array), [_, values]) => {
                    let from = self.first(b.subgroup_id());
                    packed.stage(array, from, values);
                    Source::Staged { array, from }
                }
                _ => Source::Input,
            };
            b.if_(looks_back, || {
                let before = self.chain.wait(position, leads, &[here])[0];
                b.if_(leads, || {
                    prefix.set(b.index(0), before);
                    self.store_total(position, before + here);
                });
            });
            b.sync();
            let before = prefix.at(b.index(0)) + below;
            packed.write(compact, source, before, None);
        });
    }

    /// Stores how many elements are flagged up to the end of the last tile.
    fn store_total(&self, position: Position<'b, 'c>, upto: V<'b, 'c>) {
        let is_last = self.chain.is_last(position);
        self.b.if_(is_last, || self.compact.num_out.set_first(upto));
    }

    /// How many elements are flagged in the subgroups below this one, which has `own`,
    /// and in the whole block.
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
}
