//! The last-block reduction of the CUDA Programming Guide's `__threadfence` example:
//! the last block of a phase to finish reads what the others have written, which saves
//! a launch. No block waits for another.

use qd_dialects::{
    attributes::Kind,
    builder::{Builder, V},
};

/// Counts the blocks of a phase that have finished.
pub(super) struct LastBlock<'b, 'c> {
    /// How many have: one zero-initialised control word.
    finished: V<'b, 'c>,
}

impl<'b, 'c> LastBlock<'b, 'c> {
    /// At the top of a kernel or a loop.
    pub fn new(b: &'b Builder<'c>) -> Self {
        Self {
            finished: b.control(1),
        }
    }

    /// The shared memory that [`run`](Self::run) needs. At the top of the phase.
    pub fn shared(&self) -> V<'b, 'c> {
        let b = self.finished.builder();
        b.shared(b.int_type(32), 1)
    }

    /// Runs `body` in the last of `blocks` blocks to come here; each comes once. The
    /// body sees what the others have written if their thread 0 wrote it, or if a
    /// barrier followed the write.
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
