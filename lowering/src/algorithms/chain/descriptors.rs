//! What the tiles of a one-pass sweep tell each other: in scratch, a few words a
//! tile.
//!
//! A tile's state is nothing yet, its *aggregate* (what its own elements come
//! to), or its *prefix* (what all elements up to its last come to). The bits of
//! its scalars go one behind the other into words, and the two highest bits of
//! each word say which of the three states it is of. A reader takes a tile's
//! words one by one: if all are of one state they belong together, and else it
//! reads again. So relaxed atomics of single words do, for values of any size,
//! and no fence stands between a value and its flag.
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

/// Bits of a word that say which state it is of.
const STATUS_BITS: i64 = 2;

/// Who sees the words.
const SCOPE: &str = "device";

/// The words of all tiles, and before them the counter of tickets.
pub(super) struct Descriptors<'b, 'c> {
    b: &'b Builder<'c>,
    streams: Vec<Stream<'b, 'c>>,
    /// Where in each buffer the words begin.
    start: V<'b, 'c>,
    /// Elements of a tile.
    size: i64,
}

/// Scalars whose bits share words.
struct Stream<'b, 'c> {
    buffer: V<'b, 'c>,
    types: Vec<Type<'c>>,
}

/// Bits of a scalar that are in a word.
struct Piece {
    /// Which of the stream's words.
    word: usize,
    /// How far the scalar's bits are shifted to the left there; to the right if it
    /// is negative.
    shift: i64,
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
        let types = combiner.types();
        let (streams, start) = match scratch {
            Partials::Separate(buffers) => {
                let of_one = |(buffer, r#type): (V<'b, 'c>, &Type<'c>)| Stream {
                    buffer,
                    types: vec![*r#type],
                };
                let streams = buffers.into_iter().zip(types).map(of_one).collect();
                (streams, b.index(0))
            }
            Partials::Together { buffer, start } => {
                let types = types.to_vec();
                (vec![Stream { buffer, types }], start)
            }
        };
        Self {
            b,
            streams,
            start: start + 1,
            size,
        }
    }

    /// The buffers.
    pub fn buffers(&self) -> Vec<V<'b, 'c>> {
        self.streams.iter().map(|stream| stream.buffer).collect()
    }

    /// Behind the last slot that is used of any buffer, for so many tiles: at
    /// least one.
    pub fn end(&self, tiles: V<'b, 'c>) -> V<'b, 'c> {
        let strides = self.streams.iter().map(|stream| stream.stride(self.size));
        self.start + (tiles - 1) * strides.max().expect("scratch")
    }

    /// The next ticket, `i32`. Of the blocks that ask, each gets another one, and
    /// who has a smaller one has started.
    pub fn ticket(&self) -> V<'b, 'c> {
        let counter = self.streams[0].integers();
        let one = self.b.scalar(counter.element(), 1);
        let ticket = counter.atomic(Kind::Add, self.start - 1, one, SCOPE);
        ticket.to_i32()
    }

    /// The slot of the first word of a tile.
    fn first(&self, stream: &Stream<'b, 'c>, tile: V<'b, 'c>) -> V<'b, 'c> {
        self.start + tile * stream.stride(self.size)
    }

    /// Says that a tile has come to a state; by one thread.
    pub fn publish(&self, tile: V<'b, 'c>, status: V<'b, 'c>, values: &[V<'b, 'c>]) {
        let b = self.b;
        let mut values = values.iter();
        for stream in &self.streams {
            let integers = stream.integers();
            let slot = integers.element();
            let flag = status.cast(slot) << stream.payload();
            let mut words = vec![flag; stream.words() as usize];
            for (pieces, value) in stream.pieces().iter().zip(values.by_ref()) {
                let bits = value.bitcast(b.int_type(bit_width(value.ty())));
                for Piece { word, shift } in pieces {
                    let part = match *shift < 0 {
                        true => (bits >> -shift).cast(slot),
                        false => bits.cast(slot) << *shift,
                    };
                    words[*word] = words[*word] | (part & stream.mask());
                }
            }
            let first = self.first(stream, tile);
            for (nth, word) in (0..).zip(words) {
                integers.atomic_set(first + nth, word, SCOPE);
            }
        }
    }

    /// The state of a tile.
    pub fn read(&self, tile: V<'b, 'c>) -> Reading<'b, 'c> {
        let b = self.b;
        let mut statuses = Vec::new();
        let mut values = Vec::new();
        for stream in &self.streams {
            let integers = stream.integers();
            let first = self.first(stream, tile);
            let word = |nth| integers.atomic_at(first + nth, SCOPE);
            let words: Vec<_> = (0..stream.words()).map(word).collect();
            let status = |word: &V<'b, 'c>| (*word >> stream.payload()).to_i32();
            statuses.extend(words.iter().map(status));
            for (pieces, r#type) in stream.pieces().iter().zip(&stream.types) {
                let scalar = b.int_type(bit_width(*r#type));
                let part = |Piece { word, shift }: &Piece| {
                    let bits = words[*word] & stream.mask();
                    match *shift < 0 {
                        true => bits.cast(scalar) << -shift,
                        false => (bits >> *shift).cast(scalar),
                    }
                };
                let bits = pieces.iter().map(part).reduce(|a, b| a | b);
                let bits = bits.expect("a scalar of some bits");
                values.push(bits.bitcast(*r#type));
            }
        }
        let (first, rest) = statuses.split_first().expect("a combiner of some scalar");
        let agree = rest.iter().map(|status| status.eq(*first));
        let status = match agree.reduce(|a, b| a & b) {
            Some(agree) => agree.select(*first, b.i32(0)),
            None => *first,
        };
        Reading { status, values }
    }
}

impl<'b, 'c> Stream<'b, 'c> {
    /// Bits of a word that are of scalars.
    fn payload(&self) -> i64 {
        i64::from(bit_width(self.buffer.element())) - STATUS_BITS
    }

    /// Mask of those.
    fn mask(&self) -> i64 {
        (1 << self.payload()) - 1
    }

    fn widths(&self) -> Vec<i64> {
        let width = |t: &Type<'c>| i64::from(bit_width(*t));
        self.types.iter().map(width).collect()
    }

    /// Words of a tile.
    fn words(&self) -> i64 {
        let bits: i64 = self.widths().iter().sum();
        (bits + self.payload() - 1) / self.payload()
    }

    /// Slots from a tile's first to the next tile's, for tiles of so many elements.
    /// Any scratch has a slot for each 256 elements and one more, so that tiles but
    /// the last have `size / 256` each, less what is needed once.
    fn stride(&self, size: i64) -> i64 {
        let slot_bytes = i64::from(bit_width(self.buffer.element())) / 8;
        let most = size / BLOCK - 1;
        self.words().max(most.min(STRIDE_BYTES / slot_bytes))
    }

    /// Where the bits of each scalar are, the lowest first.
    fn pieces(&self) -> Vec<Vec<Piece>> {
        pieces(&self.widths(), self.payload())
    }

    /// The slots as integers.
    fn integers(&self) -> V<'b, 'c> {
        let (b, element) = (self.buffer.builder(), self.buffer.element());
        match is_float(element) {
            true => {
                let integer = b.int_type(bit_width(element));
                self.buffer.view(b.index(0), self.buffer.len(), integer)
            }
            false => self.buffer,
        }
    }
}

/// Where the bits of scalars of such widths are that go one behind the other into
/// words with so much room.
fn pieces(widths: &[i64], payload: i64) -> Vec<Vec<Piece>> {
    let mut start = 0;
    let of_one = |width: &i64| {
        let end = start + width;
        let words = start / payload..=(end - 1) / payload;
        let piece = |word: i64| Piece {
            word: word as usize,
            shift: start - word * payload,
        };
        let pieces = words.map(piece).collect();
        start = end;
        pieces
    };
    widths.iter().map(of_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit of every scalar has its place, those of counts that no test
    /// reaches too.
    #[test]
    fn scalars_lie_one_behind_the_other() {
        for (widths, payload) in [
            (vec![32], 30),
            (vec![32, 32], 30),
            (vec![32, 64], 30),
            (vec![64, 16, 32], 30),
            (vec![64], 62),
        ] {
            let mask = (1u128 << payload) - 1;
            let whole = 0xdead_beef_0123_4567_89ab_cdef_f00d_cafe_u128;
            let bits: i64 = widths.iter().sum();
            let mut packed = vec![0; (bits as usize).div_ceil(payload)];
            let mut start = 0;
            for (width, pieces) in widths.iter().zip(pieces(&widths, payload as i64)) {
                let scalar = whole >> start & ((1 << width) - 1);
                for Piece { word, shift } in pieces {
                    let part = match shift < 0 {
                        true => scalar >> -shift,
                        false => scalar << shift,
                    };
                    packed[word] |= part & mask;
                }
                start += width;
            }
            for (nth, word) in packed.iter().enumerate() {
                let expected = (whole & ((1 << bits) - 1)) >> (nth * payload) & mask;
                assert_eq!(*word, expected, "word {nth} of {widths:?}");
            }
        }
    }
}
