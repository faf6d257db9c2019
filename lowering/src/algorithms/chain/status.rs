//! What every look-back does with its scratch: status words, and tickets.
//!
//! A tile has published nothing yet, its *aggregate* (of its own elements), or its
//! *prefix* (of all elements up to its last). A word holds this status in its two
//! highest bits, the flag, and payload in the others. It is read and written by
//! relaxed atomics: flag and payload arrive together, so no fence stands between
//! them. What takes several words carries the flag in each. If the flags agree, the
//! words belong together; otherwise the reader reads them again.
//!
//! The encoding of flags alternates with the parity of the *epoch*, the number of
//! the sweep: a prefix, which is in every word at the end of one sweep, means
//! nothing yet in the next. So sweeps that take turns in the same words need not
//! clear them in between. The parity is applied by an exclusive or, which is all
//! that differs between the code of two epochs.
//!
//! What a payload is, and how a walk goes from tile to tile, is left to
//! [`Chain`](super::Chain) and to the sort's [`States`](crate::algorithms::sort).

use qd_dialects::{
    attributes::Kind,
    builder::{Builder, V},
    ir::bit_width,
};

/// Bits of a flag.
const FLAG_BITS: i64 = 2;

/// The scope of the atomics.
const SCOPE: &str = "device";

/// What a tile has published, as a flag of epoch 0.
#[derive(Clone, Copy)]
pub(in crate::algorithms) enum Status {
    Nothing = 0,
    Aggregate = 1,
    Prefix = 2,
}

/// Bits of payload in a word of this many bits.
pub(in crate::algorithms) const fn payload_bits(word_bits: u32) -> i64 {
    word_bits as i64 - FLAG_BITS
}

/// Status words in a buffer of integers.
#[derive(Clone, Copy)]
pub(in crate::algorithms) struct Words<'b, 'c> {
    slots: V<'b, 'c>,
    epoch: u32,
}

impl<'b, 'c> Words<'b, 'c> {
    pub fn new(slots: V<'b, 'c>, epoch: u32) -> Self {
        Self { slots, epoch }
    }

    fn payload_bits(self) -> i64 {
        payload_bits(bit_width(self.slots.element()))
    }

    /// A word with a status and an empty payload.
    pub fn flag(self, status: Status) -> V<'b, 'c> {
        let width = bit_width(self.slots.element());
        // Negative, as constants are, if the highest bit is set.
        let bits = (status as i64) << (64 - FLAG_BITS) >> (64 - width);
        self.slots.builder().int(self.slots.element(), bits)
    }

    /// The same with the number of a status, `i32`, that depends on the tile.
    pub fn flag_of(self, status: V<'b, 'c>) -> V<'b, 'c> {
        status.cast(self.slots.element()) << self.payload_bits()
    }

    /// The status of a word, `i32`.
    pub fn status(self, word: V<'b, 'c>) -> V<'b, 'c> {
        (word >> self.payload_bits()).to_i32()
    }

    /// The payload of a word, or the bits of a value that it has room for.
    pub fn payload(self, word: V<'b, 'c>) -> V<'b, 'c> {
        word & ((1 << self.payload_bits()) - 1)
    }

    /// Publishes a word at a slot.
    pub fn publish(self, slot: V<'b, 'c>, word: V<'b, 'c>) {
        self.slots.atomic_set(slot, self.with_epoch(word), SCOPE);
    }

    /// Reads the word at a slot.
    pub fn read(self, slot: V<'b, 'c>) -> V<'b, 'c> {
        self.with_epoch(self.slots.atomic_at(slot, SCOPE))
    }

    /// A word of this epoch as one of epoch 0, and back.
    fn with_epoch(self, word: V<'b, 'c>) -> V<'b, 'c> {
        match self.epoch % 2 {
            0 => word,
            // Adds 2 to the flag, modulo 4.
            _ => word ^ (-1 << (self.payload_bits() + 1)),
        }
    }
}

/// The status of several words, given that of the first and which of the others have
/// the same: nothing, unless all have.
pub(in crate::algorithms) fn agreed<'b, 'c>(
    first: V<'b, 'c>,
    others: impl Iterator<Item = V<'b, 'c>>,
) -> V<'b, 'c> {
    match others.reduce(|a, b| a & b) {
        Some(agree) => agree.select(first, first.same(Status::Nothing as i64)),
        None => first,
    }
}

/// The next ticket, `i32`, of the counter in a slot. Each block gets a different one,
/// and the blocks with smaller tickets have started.
pub(in crate::algorithms) fn ticket<'b, 'c>(slots: V<'b, 'c>, counter: V<'b, 'c>) -> V<'b, 'c> {
    let one = slots.builder().scalar(slots.element(), 1);
    slots.atomic(Kind::Add, counter, one, SCOPE).to_i32()
}

/// Distributes the number of a block's tile to all of its threads, which run this and share
/// the array `taken` of one `i32`. `number` is run by one of them: a [`ticket`], or 0
/// for the only tile.
pub(in crate::algorithms) fn take<'b, 'c>(
    b: &'b Builder<'c>,
    taken: V<'b, 'c>,
    number: impl FnOnce() -> V<'b, 'c>,
) -> V<'b, 'c> {
    let zero = b.index(0);
    b.if_(b.thread_id().eq(0), || taken.set(zero, number()));
    b.sync();
    taken.at(zero)
}
