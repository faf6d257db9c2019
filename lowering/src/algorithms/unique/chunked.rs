//! Unique in two passes over long chunks, for latency-oriented targets.
//!
//! 1. *Count*: each block counts the heads of its chunk. If the lengths of runs are
//!    wanted, it also finds the last head, searching backwards from the chunk's end.
//! 2. *Move*: each block adds up the counts of the chunks before its own, and goes
//!    through its chunk in order, a tile at a time: the heads of a tile, and their
//!    positions, are packed in shared memory, and written from there together.
//!
//! One thread of a block does this. Packing has no branch on whether an element is a head,
//! which could not be predicted: every element is stored, and only a head advances the
//! place of the next.
//!
//! Papers: those of the strategy `chunked` of [select](super::super::select).
//! Cost: reads each element twice (neighbours', cached); writes each run once. 2 phases, or
//! 1 where the capacity is one chunk.

use super::Unique;
use crate::algorithms::{
    chunks::{self, Chunk},
    levels::BLOCK,
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Builds at most 2 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let unique = Unique::of(b, op);
    let chunked = Chunked {
        b,
        one: chunks::is_one(unique.depth),
        add: Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
        unique,
    };
    let blocks = match chunked.one {
        true => b.index(1),
        false => chunks::most(chunked.unique.count.capacity).max(1),
    };
    if !chunked.one {
        b.phase("unique.count", blocks, BLOCK, || chunked.count());
    }
    b.phase("unique.move", blocks, BLOCK, || chunked.move_heads());
    Ok(())
}

struct Chunked<'b, 'c> {
    b: &'b Builder<'c>,
    unique: Unique<'b, 'c>,
    /// Whether there is one chunk at most.
    one: bool,
    add: Combiner<'c>,
}

/// What is carried from tile to tile.
#[derive(Clone, Copy)]
struct Before<'b, 'c> {
    /// How many heads there are before, `index`.
    heads: V<'b, 'c>,
    /// The last of them, `i32`, if lengths are asked for.
    last: Option<V<'b, 'c>>,
}

impl<'b, 'c> Before<'b, 'c> {
    fn of(values: &[V<'b, 'c>]) -> Self {
        Self {
            heads: values[0],
            last: values.get(1).copied(),
        }
    }

    fn values(self) -> Vec<V<'b, 'c>> {
        [self.heads].into_iter().chain(self.last).collect()
    }
}

impl<'b, 'c> Chunked<'b, 'c> {
    fn chunk(&self) -> Chunk<'b, 'c> {
        Chunk::of(self.b, self.unique.count.live())
    }

    /// Counts the heads of each chunk, and finds the last ones: after the counts of all
    /// chunks.
    fn count(&self) {
        let (b, scratch) = (self.b, self.unique.scratch);
        let chunk = self.chunk();
        b.if_(chunk.any(false) & chunk.number.gt(1), || {
            let is_head = |i| vec![self.unique.is_head(i).to_i32()];
            chunk.reduce(&self.add, &is_head, |heads| {
                scratch.set(b.block_id(), heads[0]);
                if self.unique.counts.is_some() {
                    scratch.set(chunk.number + b.block_id(), self.last(&chunk, heads[0]));
                }
            });
        });
    }

    /// The last head of a chunk, `i32`; 0 if it has none.
    fn last(&self, chunk: &Chunk<'b, 'c>, heads: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let of_some = || {
            let [last] = b.while_(
                [chunk.end - 1],
                |[i]| self.unique.is_head(*i).eq(b.bool(false)),
                |[i]| [i - 1],
            );
            [last.to_i32()]
        };
        let [last] = b.if_else(heads.ne(0), of_some, || [b.i32(0)]);
        last
    }

    /// What is before this block's chunk.
    fn before(&self, chunk: &Chunk<'b, 'c>) -> Before<'b, 'c> {
        let (b, scratch) = (self.b, self.unique.scratch);
        let last = self.unique.counts.map(|_| b.i32(0));
        let none: Vec<_> = [b.i32(0)].into_iter().chain(last).collect();
        let before = match self.one {
            true => none,
            false => b.for_(b.index(0), b.block_id(), b.index(1), none, |nth, before| {
                let heads = before[0] + scratch.at(nth);
                let last = before.get(1).copied();
                let last = last.map(|last| last.max(scratch.at(chunk.number + nth)));
                [heads].into_iter().chain(last).collect()
            }),
        };
        Before {
            heads: before[0].to_index(),
            last: before.get(1).copied(),
        }
    }

    /// Moves the heads of each chunk.
    fn move_heads(&self) {
        let b = self.b;
        let packed = b.shared(self.unique.input.element(), BLOCK);
        let places = self.unique.counts;
        let places = places.map(|_| b.shared(b.int_type(32), BLOCK));
        let chunk = self.chunk();
        b.if_(chunk.any(true) & b.thread_id().eq(0), || {
            let tile = b.index(BLOCK);
            let before = self.before(&chunk).values();
            let end = b.for_(chunk.start, chunk.end, tile, before, |i, before| {
                let tile_end = (i + BLOCK).min(chunk.end);
                let before = Before::of(&before);
                self.move_tile(packed, places, [i, tile_end], before)
                    .values()
            });
            b.if_(chunk.is_last(), || {
                let heads = end[0].to_i32();
                self.unique
                    .end(&[&[heads], &end[1..]].concat(), chunk.count);
            });
        });
    }

    /// Moves the heads of a tile; yields what is before the next.
    fn move_tile(
        &self,
        packed: V<'b, 'c>,
        places: Option<V<'b, 'c>>,
        [from, end]: [V<'b, 'c>; 2],
        before: Before<'b, 'c>,
    ) -> Before<'b, 'c> {
        let b = self.b;
        let (zero, one) = (b.index(0), b.index(1));
        let [heads] = b.for_(from, end, one, [zero], |i, [at]| {
            packed.set(at, self.unique.input.at(i));
            if let Some(places) = places {
                places.set(at, i.to_i32());
            }
            [at + self.unique.is_head(i).to_index()]
        });
        let last = before.last.map(|last| vec![last]).unwrap_or_default();
        let last = b.for_(zero, heads, one, last, |nth, last| {
            let to = before.heads + nth;
            self.unique.output.set(to, packed.at(nth));
            let next = places.map(|places| places.at(nth));
            if let (Some(next), [last]) = (next, &last[..]) {
                self.unique.set_length(to.to_i32() - 1, *last, next);
            }
            next.into_iter().collect()
        });
        Before {
            heads: before.heads + heads,
            last: last.first().copied(),
        }
    }
}
