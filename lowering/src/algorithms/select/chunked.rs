//! Select in two passes over long chunks, for few cores.
//!
//! 1. *Count*: each block counts its chunk's flags.
//! 2. *Move*: each block adds up the counts of the chunks before its own, and
//!    goes through its chunk tile by tile: the selected elements of a tile are
//!    packed in shared memory, and go out from there side by side.
//!
//! Packing has no branch on the flag, which could not be predicted: an element
//! that is not selected goes to a place of its own behind the others. Rows do
//! not go through shared memory.
//!
//! Papers: Harris, Sengupta & Owens, GPU Gems 3, ch. 39, for reduce, then scan;
//! Billeter, Olsson & Assarsson, Efficient Stream Compaction on Wide SIMD
//! Many-Core Architectures (2009), for packing before writing.
//! Cost: reads each flag twice and each element once, writes the selected ones
//! once. 2 phases, or 1 where the capacity is one chunk.

use super::Compact;
use crate::algorithms::{
    chunks::{self, Chunk},
    levels::{BLOCK, capacity, load_or_identity},
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Builds at most 2 phases.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let select = Select {
        b,
        one: chunks::is_one(super::super::depth(op)),
        add: Combiner::kind(b.context(), Kind::Add, b.int_type(32)),
        op: Compact::of(b, op),
    };
    let blocks = match select.one {
        true => b.index(1),
        false => chunks::most(capacity(b, select.op.depth, select.op.flags)).max(1),
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
        Chunk::of(self.b, self.b.live_count(self.op.count))
    }

    /// Counts the flags of each chunk.
    fn count(&self) {
        let b = self.b;
        let chunk = self.chunk();
        b.if_(chunk.any(false) & chunk.number.gt(1), || {
            let flags = chunk.reduce(&self.add, &|i| vec![self.op.flags.at(i)]);
            b.if_(b.thread_id().eq(0), || {
                self.op.scratch.set(b.block_id(), flags[0]);
            });
        });
    }

    /// How many are selected in the chunks before this block's.
    fn before(&self) -> V<'b, 'c> {
        let b = self.b;
        if self.one {
            return b.i32(0);
        }
        let t = b.thread_id();
        let count = load_or_identity(b, &self.add, t.lt(b.block_id()), || {
            vec![self.op.scratch.at(t)]
        });
        b.combine("block.reduce_all", &self.add, count)[0]
    }

    /// Moves the selected elements of each chunk.
    fn move_selected(&self) {
        let b = self.b;
        let Compact { input, output, .. } = self.op;
        let packed = match input.row_length() {
            None => Some(b.shared(input.element(), 2 * BLOCK)),
            Some(_) => None,
        };
        let positions = b.shared(b.int_type(32), BLOCK);
        let chunk = self.chunk();
        b.if_(chunk.any(true), || {
            let total = chunk.for_tiles([self.before()], |i, exists, [before]| {
                let flag = load_or_identity(b, &self.add, exists, || vec![self.op.flags.at(i)]);
                let [position] = b.combine("block.exclusive_scan", &self.add, [flag[0]]);
                positions.set(b.thread_id(), position + flag[0]);
                if let Some(packed) = packed {
                    self.pack(packed, i, exists, flag[0], position);
                } else {
                    b.if_(flag[0].ne(0), || {
                        output.copy_element((before + position).to_index(), input, i);
                    });
                }
                b.sync();
                let selected = positions.at(b.index(BLOCK - 1));
                if let Some(packed) = packed {
                    let t = b.thread_id();
                    b.if_(t.lt(selected.to_index()), || {
                        output.set(before.to_index() + t, packed.at(t));
                    });
                }
                b.sync();
                [before + selected]
            });
            let one = chunk.is_last() & b.thread_id().eq(0);
            b.if_(one, || self.op.num_out.set_first(total[0]));
        });
    }

    /// Puts element `i` at its position in the tile, or out of the way.
    fn pack(
        &self,
        packed: V<'b, 'c>,
        i: V<'b, 'c>,
        exists: V<'b, 'c>,
        flag: V<'b, 'c>,
        position: V<'b, 'c>,
    ) {
        let aside = self.b.thread_id() + BLOCK;
        let place = flag.ne(0).select(position.to_index(), aside);
        self.b
            .if_(exists, || packed.set(place, self.op.input.at(i)));
    }
}
