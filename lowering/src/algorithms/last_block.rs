//! What the last block of a phase to finish does for all of them: it may read what
//! the others have written, and so saves a launch. Nobody waits for it.

use qd_dialects::{
    attributes::Kind,
    builder::{Builder, V},
};

/// Counts the blocks of a phase that have finished.
pub(super) struct LastBlock<'b, 'c> {
    /// How many have, in a word of the runtime's own.
    finished: V<'b, 'c>,
}

impl<'b, 'c> LastBlock<'b, 'c> {
    /// At the top of a kernel or a loop.
    pub fn new(b: &'b Builder<'c>) -> Self {
        Self {
            finished: b.control(1),
        }
    }

    /// What [`run`](Self::run) needs of a block's shared memory. At the top of the
    /// phase.
    pub fn shared(&self) -> V<'b, 'c> {
        let b = self.finished.builder();
        b.shared(b.int_type(32), 1)
    }

    /// Runs `body` in the last of so many blocks that come here, each of which does
    /// once. What the others have written, it finds if their thread 0 wrote it, or if a
    /// barrier stood behind it.
    pub fn run(&self, blocks: V<'b, 'c>, is_last: V<'b, 'c>, body: impl FnOnce()) {
        let b = self.finished.builder();
        let (leads, zero) = (b.thread_id().eq(0), b.index(0));
        b.if_(leads, || {
            let one = b.i32(1);
            let before = self.finished.atomic_acq_rel(Kind::Add, zero, one, "device");
            let others = blocks.to_i32() - 1;
            is_last.set(zero, before.eq(others).to_i32());
        });
        b.sync();
        b.if_(is_last.at(zero).ne(0), || {
            body();
            b.if_(leads, || self.finished.atomic_set(zero, b.i32(0), "device"));
        });
    }
}
