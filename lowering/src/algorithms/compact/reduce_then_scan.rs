//! Select and partition in two passes, of which the second reads no flags.
//!
//! 1. *Count*: a fixed number of blocks, each of whose subgroups takes a chunk of
//!    consecutive subgroup tiles. A subgroup stores the ballot of the flags of each item
//!    ([`Masks`]), and for each subgroup tile how many elements of its chunk are flagged
//!    before it. Then the block counts itself as finished. The last block to do so scans
//!    the chunks' counts and writes the total number of flagged elements. No block waits
//!    for another: the others have ended.
//! 2. *Move*: each subgroup takes one subgroup tile. The masks rank its flagged elements;
//!    the prefixes of the subgroup tile and of its chunk say where they go. In shared
//!    memory, the flagged elements gather at the front of the subgroup tile and the others
//!    at its back in reverse order. From there they are written with coalesced stores.
//!
//! Papers: Merrill & Grimshaw, Parallel Scan for Stream Architectures (2009), for
//! reduce-then-scan by a fixed number of blocks; Billeter, Olsson & Assarsson, Efficient
//! Stream Compaction on Wide SIMD Many-Core Architectures (2009), for ranks by ballots and
//! for packing before writing.
//! Deviations: a chunk belongs to a subgroup and not to a block, so that no barrier stands
//! between one subgroup tile and the next. The scan of the chunks is in the first phase,
//! as a last-block reduction. Rows, scalars of more than 8 bytes, and tiles of more than a
//! block's shared memory go straight from the input to the output.
//! Cost: reads each flag once, and writes and reads one bit of it; reads each element
//! once, and writes what is kept once. 2 phases.

use super::{
    Compact, STAGED_BYTES, ceil_div,
    masks::Masks,
    pack::{Flags, Packed, Source},
    subgroup_tile::SubgroupTile,
};
use crate::algorithms::{last_block::LastBlock, levels::load_or_neutral, tiles::bytes};
use crate::targets::{Capabilities, Orientation, tuning::Tuning};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Lanes of the subgroup for which the last block scans all chunks in one step.
const LANES: i64 = 32;

/// The destination of elements that are not flagged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::algorithms) enum Others {
    Dropped,
    /// They go after the flagged ones.
    Behind,
}

/// Whether two passes suit a target. No block waits for another, but the registers that a
/// tile takes have to pay off.
pub(in crate::algorithms) fn suits(capabilities: &Capabilities) -> bool {
    capabilities.orientation == Orientation::Throughput && capabilities.is_measured
}

/// Builds 2 phases, whose names begin with `name`.
pub(in crate::algorithms) fn expand<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    capabilities: &Capabilities,
    name: &str,
    others: Others,
) -> Result<'c> {
    let compact = &Compact::of(b, op);
    let bytes = bytes(&[compact.input.element()]);
    let is_small = compact.input.row_length().is_none() && bytes <= STAGED_BYTES;
    // A thread holds flags alone if elements are not staged.
    let held = if is_small { bytes } else { 0 };
    let tuning = Tuning::of(op, "compact", held, capabilities)?;
    let passes = TwoPasses {
        b,
        compact,
        add: Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
        masks: Masks {
            b,
            scratch: compact.scratch,
        },
        last_block: LastBlock::new(b),
        others,
        is_staged: is_small && tuning.size() * bytes <= capabilities.max_shared_bytes.into(),
        tuning,
    };
    passes.build(name);
    Ok(())
}

/// A compaction under construction.
struct TwoPasses<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    compact: &'a Compact<'b, 'c>,
    add: Combiner<'c>,
    masks: Masks<'b, 'c>,
    last_block: LastBlock<'b, 'c>,
    others: Others,
    /// Whether elements are exchanged in shared memory.
    is_staged: bool,
    tuning: Tuning,
}

/// How the live elements are divided among subgroups.
struct Shares<'b, 'c> {
    /// The live number of elements.
    count: V<'b, 'c>,
    /// The live number of subgroup tiles.
    subgroup_tiles: V<'b, 'c>,
    /// Whether there are several. A single one has no prefixes in scratch, which may have
    /// room for its masks alone.
    several: V<'b, 'c>,
    /// Subgroup tiles of a chunk.
    length: V<'b, 'c>,
    /// The live number of chunks.
    chunks: V<'b, 'c>,
    /// Where in scratch the prefixes of subgroup tiles begin, after the masks.
    tile_sums: V<'b, 'c>,
    /// Where in scratch the counts of chunks begin.
    chunk_sums: V<'b, 'c>,
}

impl<'b, 'c> TwoPasses<'_, 'b, 'c> {
    fn build(&self, name: &str) {
        let (b, compact) = (self.b, self.compact);
        let capacity = compact.count.capacity;
        let tiles = (capacity + (self.tuning.size() - 1)) / self.tuning.size();
        let count = format!("{name}.count");
        // At least one block, which writes a count of 0 for an empty input.
        let blocks = tiles.min(self.most()).max(1);
        self.tuning.phase(b, &count, blocks, || self.count());
        let last = format!("{name}.move");
        self.tuning.phase(b, &last, tiles, || self.move_elements());
    }

    /// Blocks that count, at most.
    fn most(&self) -> i64 {
        self.tuning.blocks.max(1)
    }

    fn shares(&self) -> Shares<'b, 'c> {
        let b = self.b;
        let count = self.compact.count.live();
        let size = SubgroupTile::size_of(b, self.tuning.items).to_index();
        let subgroup_tiles = ceil_div(count, size);
        let most = b.num_subgroups().to_index() * self.most();
        let length = ceil_div(subgroup_tiles, most).max(1);
        let tile_sums = self.masks.slots(count);
        Shares {
            count,
            subgroup_tiles,
            several: subgroup_tiles.gt(1),
            length,
            chunks: ceil_div(subgroup_tiles, length),
            tile_sums,
            chunk_sums: tile_sums + subgroup_tiles,
        }
    }

    /// The number of this subgroup among those of all blocks.
    fn subgroup(&self) -> V<'b, 'c> {
        let b = self.b;
        b.block_id() * b.num_subgroups().to_index() + b.subgroup_id().to_index()
    }

    fn subgroup_tile(&self, number: V<'b, 'c>, shares: &Shares<'b, 'c>) -> SubgroupTile<'b, 'c> {
        let (b, items) = (self.b, self.tuning.items);
        let start = number * SubgroupTile::size_of(b, items).to_index();
        SubgroupTile::new(b, items, start, shares.count)
    }

    /// The body of the first phase.
    fn count(&self) {
        let b = self.b;
        let is_last = self.last_block.shared();
        let shares = &self.shares();
        let blocks = ceil_div(shares.chunks, b.num_subgroups().to_index()).max(1);
        b.if_(b.block_id().lt(blocks), || {
            let sum = self.count_chunk(shares);
            b.either(
                shares.several,
                || self.finish(shares, blocks, is_last),
                || {
                    b.if_(b.thread_id().eq(0), || {
                        self.compact.num_out.set_first(sum);
                    });
                },
            );
        });
    }

    /// Counts the flags of this subgroup's chunk, and stores masks and prefixes.
    fn count_chunk(&self, shares: &Shares<'b, 'c>) -> V<'b, 'c> {
        let (b, scratch) = (self.b, self.compact.scratch);
        let stores = b.lane_id().eq(0) & shares.several;
        let chunk = self.subgroup();
        let begin = chunk * shares.length;
        let end = (begin + shares.length).min(shares.subgroup_tiles);
        let (one, none) = (b.index(1), b.i32(0));
        let [sum] = b.for_(begin, end, one, [none], |number, [sum]| {
            let subgroup_tile = self.subgroup_tile(number, shares);
            let loaded = subgroup_tile.load(&[self.compact.flags]).swap_remove(0);
            let mask = |flag: V<'b, 'c>| Flags::new(b, flag).mask;
            let masks: Vec<_> = loaded.into_iter().map(mask).collect();
            self.masks.store(number, &subgroup_tile, &masks);
            b.if_(stores, || scratch.set(shares.tile_sums + number, sum));
            let add = |sum, mask: &V<'b, 'c>| sum + b.popcnt(*mask);
            [masks.iter().fold(sum, add)]
        });
        b.if_(stores & chunk.lt(shares.chunks), || {
            scratch.set(shares.chunk_sums + chunk, sum);
        });
        sum
    }

    /// Counts this block as finished; the last block scans the chunks.
    fn finish(&self, shares: &Shares<'b, 'c>, blocks: V<'b, 'c>, is_last: V<'b, 'c>) {
        let b = self.b;
        // All subgroups of this block have stored their counts.
        b.sync();
        self.last_block.run(blocks, is_last, || {
            let total = self.scan_chunks(shares);
            b.if_(b.thread_id().eq(0), || {
                self.compact.num_out.set_first(total)
            });
        });
    }

    /// Scans the chunks' counts, by all threads of a block; yields their sum.
    fn scan_chunks(&self, shares: &Shares<'b, 'c>) -> V<'b, 'c> {
        let (b, scratch) = (self.b, self.compact.scratch);
        let per_thread = (self.most() + (LANES - 1)) / LANES;
        let step = b.index(self.tuning.threads * per_thread);
        let (zero, none) = (b.index(0), b.i32(0));
        let [total] = b.for_(zero, shares.chunks, step, [none], |first, [before]| {
            let chunk = |nth: i64| first + b.thread_id() * per_thread + nth;
            let load = |nth| {
                let chunk = chunk(nth);
                load_or_neutral(b, &self.add, chunk.lt(shares.chunks), || {
                    vec![scratch.at(shares.chunk_sums + chunk)]
                })[0]
            };
            let sums: Vec<_> = (0..per_thread).map(load).collect();
            let own = sums.iter().fold(none, |own, sum| own + *sum);
            let [below] = b.combine("block.exclusive_scan", &self.add, [own]);
            let [all] = b.combine("block.reduce_all", &self.add, [own]);
            let mut upto = before + below;
            for (nth, sum) in (0..).zip(sums) {
                let chunk = chunk(nth);
                b.if_(chunk.lt(shares.chunks), || {
                    scratch.set(shares.chunk_sums + chunk, upto);
                });
                upto = upto + sum;
            }
            [before + all]
        });
        total
    }

    /// The body of the second phase.
    fn move_elements(&self) {
        let (b, compact) = (self.b, self.compact);
        let element = compact.input.element();
        let staged = self
            .is_staged
            .then(|| b.shared(element, self.tuning.size()));
        let shares = &self.shares();
        let number = self.subgroup();
        b.if_(number.lt(shares.subgroup_tiles), || {
            let subgroup_tile = self.subgroup_tile(number, shares);
            let loaded = match staged {
                Some(_) => subgroup_tile.load(&[compact.input]),
                None => Vec::new(),
            };
            let flags = self.masks.load(number, &subgroup_tile);
            let before = self.before(number, shares);
            let total = match self.others {
                Others::Dropped => None,
                Others::Behind => Some(compact.num_out.first()),
            };
            let packed = Packed::new(b, &subgroup_tile, &flags);
            let source = match (staged, loaded.as_slice()) {
                (Some(array), [values]) => {
                    let from = b.subgroup_id() * subgroup_tile.size();
                    packed.stage(array, from, values);
                    b.subgroup_sync();
                    Source::Staged { array, from }
                }
                _ => Source::Input,
            };
            packed.write(compact, source, before, total);
        });
    }

    /// How many elements are flagged before a subgroup tile.
    fn before(&self, number: V<'b, 'c>, shares: &Shares<'b, 'c>) -> V<'b, 'c> {
        let (b, scratch) = (self.b, self.compact.scratch);
        let chunk = (number.to_i32() / shares.length.to_i32()).to_index();
        // Without a branch, so that the loads overlap.
        let at = |slot: V<'b, 'c>| scratch.at(shares.several.select(slot, b.index(0)));
        let in_chunk = at(shares.tile_sums + number);
        let sum = at(shares.chunk_sums + chunk) + in_chunk;
        shares.several.select(sum, b.i32(0))
    }
}
