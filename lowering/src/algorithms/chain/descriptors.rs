//! What the tiles of a one-pass sweep tell each other: in scratch, a few words a
//! tile.
//!
//! A tile's state is nothing yet, its *aggregate* (what its own elements come
//! to), or its *prefix* (what all elements up to its last come to). Each word
//! holds half a word of a scalar, and above it which of the three states that
//! is of. A reader takes a tile's words one by one: if all are of one state they
//! belong together, and else it reads again. So relaxed atomics of single words
//! do, for values of any size, and no fence stands between a value and its flag.
//!
//! The words of a tile lie side by side, and those of the next tile 32 bytes on,
//! where scratch has room: in what the memory system moves and orders at once, no
//! two tiles publish. (Of an H200, a scan with a plane for each half takes 628 µs
//! where one with a sector for each tile takes 567, though lanes read 8 times the
//! lines.) Nobody reads what the last tile comes to, so it has no words.

use crate::algorithms::{levels::BLOCK, partials::Partials};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    ir::{bit_width, is_float},
    melior::ir::Type,
};

/// A tile's state, as its words say it; 0 is that there is nothing yet.
pub(super) const AGGREGATE: i64 = 1;
pub(super) const PREFIX: i64 = 2;

/// Bytes from a tile's words to the next tile's, if scratch has room for as many.
const STRIDE_BYTES: i64 = 32;

/// Who sees the words.
const SCOPE: &str = "device";

/// The words of all tiles, and before them the counter of tickets.
pub(super) struct Descriptors<'b, 'c> {
    b: &'b Builder<'c>,
    types: Vec<Type<'c>>,
    /// The buffers, and where in them the words begin.
    buffers: Vec<V<'b, 'c>>,
    start: V<'b, 'c>,
    /// Elements of a tile.
    size: i64,
}

/// Where a piece of a scalar is.
struct Piece<'b, 'c> {
    buffer: V<'b, 'c>,
    slot: V<'b, 'c>,
}

/// The state of a tile, as a lane has read it.
pub(super) struct Reading<'b, 'c> {
    /// `i32`; 0 if there is nothing yet, or the words are not of one state.
    pub status: V<'b, 'c>,
    /// Means nothing where the status is 0.
    pub values: Vec<V<'b, 'c>>,
}

impl<'b, 'c> Descriptors<'b, 'c> {
    /// In scratch, for the combiner's scalars and tiles of so many elements.
    pub fn new(
        b: &'b Builder<'c>,
        scratch: Partials<'b, 'c>,
        combiner: &Combiner<'c>,
        size: i64,
    ) -> Self {
        let (buffers, start) = match scratch {
            Partials::Apart(buffers) => (buffers, b.index(0)),
            Partials::Together { buffer, start } => (vec![buffer], start),
        };
        Self {
            b,
            types: combiner.types().to_vec(),
            buffers,
            start: start + 1,
            size,
        }
    }

    /// The buffers.
    pub fn buffers(&self) -> &[V<'b, 'c>] {
        &self.buffers
    }

    /// Behind the last slot that is used of any buffer, for so many tiles: at
    /// least one.
    pub fn end(&self, tiles: V<'b, 'c>) -> V<'b, 'c> {
        let strides = self.buffers.iter().map(|buffer| self.stride(*buffer));
        self.start + (tiles - 1) * strides.max().expect("scratch")
    }

    /// Slots from a tile's first to the next tile's. Any scratch has a slot for each
    /// 256 elements and one more, so that tiles but the last have `size / 256` each,
    /// less what is needed once.
    fn stride(&self, buffer: V<'b, 'c>) -> i64 {
        let slots: i64 = match self.buffers.len() {
            1 => self.types.iter().map(|t| pieces(*t, buffer)).sum(),
            // A scalar each, as wide as its slots.
            _ => 2,
        };
        let most = self.size / BLOCK - 1;
        let slot_bytes = i64::from(bit_width(buffer.element())) / 8;
        slots.max(most.min(STRIDE_BYTES / slot_bytes))
    }

    /// The next ticket, `i32`. Of the blocks that ask, each gets another one, and
    /// who has a smaller one has started.
    pub fn ticket(&self) -> V<'b, 'c> {
        let counter = as_integers(self.buffers[0]);
        let one = self.b.scalar(counter.element(), 1);
        let ticket = counter.atomic(Kind::Add, self.start - 1, one, SCOPE);
        ticket.to_i32()
    }

    /// The pieces of each scalar of a tile, the lowest half first.
    fn pieces(&self, tile: V<'b, 'c>) -> Vec<Vec<Piece<'b, 'c>>> {
        let together = self.buffers.len() == 1;
        let mut used = 0;
        let mut of_scalar = |(nth, r#type): (usize, &Type<'c>)| {
            let buffer = as_integers(self.buffers[if together { 0 } else { nth }]);
            let first = if together { used } else { 0 };
            used = first + pieces(*r#type, buffer);
            let words = self.start + tile * self.stride(buffer);
            let piece = |nth| Piece {
                buffer,
                slot: words + nth,
            };
            (first..used).map(piece).collect()
        };
        self.types.iter().enumerate().map(&mut of_scalar).collect()
    }

    /// Says that a tile has come to a state; by one thread.
    pub fn publish(&self, tile: V<'b, 'c>, status: V<'b, 'c>, values: &[V<'b, 'c>]) {
        let b = self.b;
        for (value, pieces) in values.iter().zip(self.pieces(tile)) {
            let bits = value.bitcast(b.int_type(bit_width(value.ty())));
            for (nth, Piece { buffer, slot }) in pieces.into_iter().enumerate() {
                let word = buffer.element();
                let half = payload(buffer);
                let low = (bits >> (nth as i64 * half)).cast(word) & ((1 << half) - 1);
                let word = low | (status.cast(word) << half);
                buffer.atomic_set(slot, word, SCOPE);
            }
        }
    }

    /// The state of a tile.
    pub fn read(&self, tile: V<'b, 'c>) -> Reading<'b, 'c> {
        let b = self.b;
        let mut statuses = Vec::new();
        let values = self
            .types
            .iter()
            .zip(self.pieces(tile))
            .map(|(r#type, pieces)| {
                let bits = b.int_type(bit_width(*r#type));
                let mut value = b.zero(bits);
                for (nth, Piece { buffer, slot }) in pieces.into_iter().enumerate() {
                    let half = payload(buffer);
                    let word = buffer.atomic_at(slot, SCOPE);
                    statuses.push((word >> half).to_i32());
                    let low = (word & ((1 << half) - 1)).cast(bits);
                    value = value | (low << (nth as i64 * half));
                }
                value.bitcast(*r#type)
            })
            .collect();
        let (first, rest) = statuses.split_first().expect("a combiner of some scalar");
        let agree = rest.iter().map(|status| status.eq(*first));
        let status = match agree.reduce(|a, b| a & b) {
            Some(agree) => agree.select(*first, b.i32(0)),
            None => *first,
        };
        Reading { status, values }
    }
}

/// Bits of a value that a slot of a buffer holds.
fn payload(buffer: V) -> i64 {
    i64::from(bit_width(buffer.element())) / 2
}

/// Slots that a scalar takes.
fn pieces(r#type: Type, buffer: V) -> i64 {
    i64::from(bit_width(r#type)) / payload(buffer)
}

/// The same slots as integers.
fn as_integers<'b, 'c>(buffer: V<'b, 'c>) -> V<'b, 'c> {
    let (b, element) = (buffer.builder(), buffer.element());
    match is_float(element) {
        true => buffer.view(b.index(0), buffer.len(), b.int_type(bit_width(element))),
        false => buffer,
    }
}
