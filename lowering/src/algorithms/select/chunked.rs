//! Select in two passes over long chunks, for latency-oriented targets.
//!
//! 1. *Count*: each block counts its chunk's flags.
//! 2. *Move*: each block adds up the counts of the chunks before its own, and
//!    goes through its chunk in order, a tile at a time: the selected elements of
//!    a tile are packed in shared memory, and written from there together.
//!
//! One thread of a block does this. Packing has no branch on the flag, which the
//! core could not predict: every element is stored, and only a selected one
//! advances the place of the next. Rows go straight to the output.
//!
//! Papers: Harris, Sengupta & Owens, GPU Gems 3, ch. 39, for reduce, then scan;
//! Billeter, Olsson & Assarsson, Efficient Stream Compaction on Wide SIMD
//! Many-Core Architectures (2009), for packing before writing.
//! Cost: reads each flag twice and each element once, writes the selected ones
//! once. 2 phases, or 1 where the capacity is one chunk.

use super::Compact;
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
    let op = Compact::of(b, op);
    let select = Select {
        b,
        one: chunks::is_one(op.depth),
        add: Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
        op,
    };
    let blocks = match select.one {
        true => b.index(1),
        false => chunks::most(select.op.count.capacity).max(1),
    };
    if !select.one {
        b.phase("select.count", blocks, BLOCK, || select.count());
    }
    b.phase("select.move", blocks, BLOCK, || select.move_selected());
    Ok(())
}

struct Select<'b, 'c> {
    b: &'b Builder<'c>,
    op: Compact<'b, 'c>,
    /// Whether there is one chunk at most.
    one: bool,
    add: Combiner<'c>,
}

impl<'b, 'c> Select<'b, 'c> {
    fn chunk(&self) -> Chunk<'b, 'c> {
        Chunk::of(self.b, self.op.count.live())
    }

    /// Counts the flags of each chunk.
    fn count(&self) {
        let b = self.b;
        let chunk = self.chunk();
        b.if_(chunk.any(false) & chunk.number.gt(1), || {
            chunk.reduce(&self.add, &|i| vec![self.op.flag(i)], |flags| {
                self.op.scratch.set(b.block_id(), flags[0]);
            });
        });
    }

    /// The number of selected elements in the chunks before this block's.
    fn before(&self) -> V<'b, 'c> {
        let b = self.b;
        let none = [b.i32(0)];
        let [before] = match self.one {
            true => none,
            false => b.for_(b.index(0), b.block_id(), b.index(1), none, |nth, [sum]| {
                [sum + self.op.scratch.at(nth)]
            }),
        };
        before.to_index()
    }

    /// Moves the selected elements of each chunk.
    fn move_selected(&self) {
        let b = self.b;
        let packed = match self.op.input.row_length() {
            None => Some(b.shared(self.op.input.element(), BLOCK)),
            Some(_) => None,
        };
        let chunk = self.chunk();
        b.if_(chunk.any(true) & b.thread_id().eq(0), || {
            let tile = b.index(BLOCK);
            let [end] = b.for_(chunk.start, chunk.end, tile, [self.before()], |i, [to]| {
                let tile_end = (i + BLOCK).min(chunk.end);
                [match packed {
                    Some(packed) => self.move_packed(packed, i, tile_end, to),
                    None => self.move_rows(i, tile_end, to),
                }]
            });
            b.if_(chunk.is_last(), || self.op.num_out.set_first(end.to_i32()));
        });
    }

    /// Moves selected rows to place `to` and onward; yields the place after the
    /// last one.
    fn move_rows(&self, from: V<'b, 'c>, end: V<'b, 'c>, to: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let [end] = b.for_(from, end, b.index(1), [to], |i, [to]| {
            let flag = self.op.flag(i);
            b.if_(flag.ne(0), || {
                self.op.output.copy_element(to, self.op.input, i)
            });
            [to + flag.to_index()]
        });
        end
    }

    /// The same for scalars. The next element overwrites one that is not
    /// selected.
    fn move_packed(
        &self,
        packed: V<'b, 'c>,
        from: V<'b, 'c>,
        end: V<'b, 'c>,
        to: V<'b, 'c>,
    ) -> V<'b, 'c> {
        let b = self.b;
        let (zero, one) = (b.index(0), b.index(1));
        let [selected] = b.for_(from, end, one, [zero], |i, [at]| {
            packed.set(at, self.op.input.at(i));
            [at + self.op.flag(i).to_index()]
        });
        b.for_(zero, selected, one, [], |i, none| {
            self.op.output.set(to + i, packed.at(i));
            none
        });
        to + selected
    }
}
