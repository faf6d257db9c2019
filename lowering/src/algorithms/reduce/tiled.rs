//! Reduce with several elements a thread, in one launch.
//!
//! 1. Each block combines its share of the elements and writes the aggregate. Then
//!    it counts itself as finished.
//! 2. The last block to finish combines the blocks' aggregates. No block waits for
//!    another: the others have ended.
//!
//! A thread combines the elements that it loads together as a tree, and then with
//! its accumulator; the threads' results are combined at the end. With a combiner
//! that commutes, blocks take rows of elements in turn (a grid-stride loop), and a
//! thread takes one element of each row. So all threads have the same number of
//! elements, give or take one. With any other combiner each block takes a chunk of
//! consecutive tiles. A thread's elements of a tile are then neighbours, exchanged
//! in shared memory, and tiles are combined in order.
//!
//! Papers: Harris, Optimizing Parallel Reduction in CUDA (2007): several elements a
//! thread before any tree of threads. The last-block reduction is that of the CUDA
//! Programming Guide's example of `__threadfence`.
//! Deviations: the count of finished blocks is in a control word, which the last
//! block resets, so that nothing is cleared. The number of blocks that take part,
//! and so the tree, depends on the count of elements alone.
//! Cost: reads each element once. 1 phase.

use super::{Reduce, hierarchical};
use crate::{
    algorithms::{
        fixed_order,
        last_block::LastBlock,
        levels::{Levels, load_or_neutral},
        partials::Partials,
        tiles::{SHARED_BYTES, Tiles, bytes},
    },
    targets::{Capabilities, Orientation, tuning::Tuning},
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    melior::ir::Type,
};

/// The largest element, in bytes, that a thread may hold for a tile to fit a
/// block's shared memory.
pub(super) const MOST_BYTES: i64 = 32;

/// The least number of rows of a block. Their loads overlap, so fewer rows would
/// take a block without being faster.
const LEAST_ROWS: i64 = 4;

/// Whether this strategy suits scalars of these types.
pub(super) fn suits(op: Op, types: &[Type], capabilities: &Capabilities) -> bool {
    // Only order-sensitive tiles are exchanged in shared memory.
    let has_room = op.attr("kind").is_some() || capabilities.max_shared_bytes >= SHARED_BYTES;
    capabilities.orientation == Orientation::Throughput && has_room && bytes(types) <= MOST_BYTES
}

/// Builds a phase.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    let reduce = Reduce::of(b, op);
    fixed_order::refuse(op, &reduce.combiner, "tiled")?;
    let bytes = bytes(reduce.combiner.types());
    if bytes > MOST_BYTES {
        return Err(Diagnostic::at(
            op,
            format!(
                "combines elements of {bytes} bytes: strategy 'tiled' is for {MOST_BYTES} at most"
            ),
        ));
    }
    if reduce.depth == 1 {
        return hierarchical::expand(b, op);
    }
    let tuning = Tuning::of(op, "reduce", bytes, capabilities)?;
    let tiled = Tiled {
        b,
        tiles: Tiles::new(b, &tuning),
        most: tuning.blocks.max(1),
        last_block: LastBlock::new(b),
        reduce,
    };
    let capacity = tiled.reduce.count.capacity;
    tuning.phase(b, "reduce", tiled.grid(capacity), || tiled.reduce());
    Ok(())
}

struct Tiled<'b, 'c> {
    b: &'b Builder<'c>,
    reduce: Reduce<'b, 'c>,
    tiles: Tiles<'b, 'c>,
    /// Blocks, at most.
    most: i64,
    last_block: LastBlock<'b, 'c>,
}

/// The value of a thread or a block: one scalar for each buffer.
type Value<'b, 'c> = Vec<V<'b, 'c>>;

impl<'b, 'c> Tiled<'b, 'c> {
    /// Blocks of the launch. The live count decides how many of them take part.
    fn grid(&self, capacity: V<'b, 'c>) -> V<'b, 'c> {
        let most = match self.in_order() {
            true => self.tiles.number(capacity),
            false => self.rows_shared(capacity),
        };
        most.min(self.most).max(1)
    }

    /// Blocks that take part for `elements` elements: never more than the grid has
    /// for the capacity.
    fn blocks(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        let blocks = match self.in_order() {
            true => {
                let length = self.chunk(elements);
                (elements + (length - 1)) / length
            }
            false => self.rows_shared(elements).min(self.most),
        };
        blocks.max(1)
    }

    /// Blocks that have [`LEAST_ROWS`] rows each of `elements` elements.
    fn rows_shared(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        let least = LEAST_ROWS * self.tiles.threads;
        (elements + (least - 1)) / least
    }

    /// Elements of a block's chunk: whole tiles.
    fn chunk(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        let size = self.tiles.size;
        let all = self.most * size;
        ((elements + (all - 1)) / all * size).max(size)
    }

    fn in_order(&self) -> bool {
        !self.reduce.combiner.is_commutative()
    }

    /// The body of the phase.
    fn reduce(&self) {
        let b = self.b;
        let combiner = &self.reduce.combiner;
        let is_last = self.last_block.shared();
        let arrays = match self.in_order() {
            true => self.tiles.shared(combiner.types()),
            false => Vec::new(),
        };
        let count = self.reduce.count.live();
        let blocks = self.blocks(count);
        b.if_(b.block_id().lt(blocks), || {
            let sum = match self.in_order() {
                true => self.of_chunk(count, &arrays),
                false => b.combine("block.reduce", combiner, self.of_rows(count, blocks)),
            };
            b.either(
                blocks.gt(1),
                || self.finish(blocks, count, &sum, is_last),
                || b.if_(b.thread_id().eq(0), || self.reduce.write(count, &sum)),
            );
        });
    }

    fn load(&self, i: V<'b, 'c>) -> Value<'b, 'c> {
        self.reduce.inputs.iter().map(|v| v.at(i)).collect()
    }

    fn combine_as_tree(&self, mut values: Vec<Value<'b, 'c>>) -> Value<'b, 'c> {
        while values.len() > 1 {
            values = values
                .chunks(2)
                .map(|pair| match pair {
                    [left, right] => self.reduce.combiner.apply(self.b, left, right),
                    rest => rest[0].clone(),
                })
                .collect();
        }
        values.swap_remove(0)
    }

    /// This thread's sum over the block's rows, which are `blocks` rows apart.
    fn of_rows(&self, count: V<'b, 'c>, blocks: V<'b, 'c>) -> Value<'b, 'c> {
        let (b, combiner) = (self.b, &self.reduce.combiner);
        let Tiles { threads, items, .. } = self.tiles;
        let stride = blocks * threads;
        // The end of the loop whose iterations have all of their elements.
        let reach = stride * (items - 1) + (threads - 1);
        let end = count.max(reach) - reach;
        let first = b.block_id() * threads;
        let place = |first: V<'b, 'c>, nth: i64| first + stride * nth + b.thread_id();

        let state = [vec![first], combiner.neutral(b)].concat();
        let step = stride * items;
        let state = b.for_(first, end, step, state, |first, state| {
            let values = (0..items).map(|nth| self.load(place(first, nth)));
            let values = self.combine_as_tree(values.collect());
            let sum = combiner.apply(b, &state[1..], &values);
            [vec![first + step], sum].concat()
        });
        let rows = |rows: std::ops::Range<i64>| {
            let values = rows.map(|nth| {
                let i = place(state[0], nth);
                load_or_neutral(b, combiner, i.lt(count), || self.load(i))
            });
            self.combine_as_tree(values.collect())
        };
        // A small input has no more rows than these.
        let least = LEAST_ROWS.min(items);
        let rest = rows(0..least);
        let sum = combiner.apply(b, &state[1..], &rest);
        if least == items {
            return sum;
        }
        let has_more = (state[0] + stride * least).lt(count);
        let more = load_or_neutral(b, combiner, has_more, || rows(least..items));
        combiner.apply(b, &sum, &more)
    }

    /// The aggregate of the block's chunk, in thread 0.
    fn of_chunk(&self, count: V<'b, 'c>, arrays: &[V<'b, 'c>]) -> Value<'b, 'c> {
        let (b, combiner) = (self.b, &self.reduce.combiner);
        let length = self.chunk(count);
        let start = b.block_id() * length;
        let end = (start + length).min(count);
        let (step, nothing) = (b.index(self.tiles.size), combiner.neutral(b));
        b.for_(start, end, step, nothing, |tile, sum| {
            let nothing = || combiner.neutral(b);
            let values = self.tiles.load(tile, end, &|i| self.load(i), &nothing);
            b.sync();
            let values = self.combine_as_tree(self.tiles.exchange(arrays, &values));
            let of_tile = b.combine("block.reduce_all", combiner, values);
            combiner.apply(b, &sum, &of_tile)
        })
    }

    /// Writes the block's aggregate, which thread 0 has, and in the last block the
    /// result.
    fn finish(&self, blocks: V<'b, 'c>, count: V<'b, 'c>, sum: &[V<'b, 'c>], is_last: V<'b, 'c>) {
        let (b, combiner) = (self.b, &self.reduce.combiner);
        let t = b.thread_id();
        let partials = Partials::Separate(self.reduce.scratch.clone());
        let levels = Levels::with_one_above(count, blocks);
        b.if_(t.eq(0), || {
            partials.store(&levels, 1, b.block_id(), sum);
        });
        self.last_block.run(blocks, is_last, || {
            let per_thread = (self.most + self.tiles.threads - 1) / self.tiles.threads;
            let own = (0..per_thread).map(|nth| {
                let at = t * per_thread + nth;
                load_or_neutral(b, combiner, at.lt(blocks), || {
                    partials.load(&levels, 1, at, combiner)
                })
            });
            let own = self.combine_as_tree(own.collect());
            let total = b.combine("block.reduce", combiner, own);
            b.if_(t.eq(0), || self.reduce.write(count, &total));
        });
    }
}
