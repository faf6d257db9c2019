//! Tile descriptors of decoupled look-back: a few status words a tile, in scratch.
//!
//! The bits of the tile's scalars are packed into the payload of words, each with a
//! flag of its own ([`Words`]). So relaxed atomics of single words are enough for
//! values of any size.
//!
//! The words of a tile are consecutive, and the next tile's begin 32 bytes further
//! on, where scratch has room: no two tiles publish in the same sector, which is
//! what the memory system moves and orders at once. (On an H200, a scan with a
//! plane for each half takes 628 µs where one with a sector for each tile takes
//! 567, though lanes read 8 times the lines.) No tile reads the last tile's
//! aggregate, so it has no words.

use super::status::{self, Words};
use crate::algorithms::{levels::BLOCK, partials::Partials};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    ir::{bit_width, is_float},
    melior::ir::Type,
};

/// Bytes from a tile's words to the next tile's, if scratch has room for that many.
const STRIDE_BYTES: i64 = 32;

/// The words of all tiles, and before them the ticket counter.
pub(super) struct Descriptors<'b, 'c> {
    b: &'b Builder<'c>,
    streams: Vec<Stream<'b, 'c>>,
    /// Where in each buffer the words begin.
    start: V<'b, 'c>,
    /// Elements of a tile.
    size: i64,
}

/// Scalars whose bits are packed into the same words.
struct Stream<'b, 'c> {
    buffer: V<'b, 'c>,
    types: Vec<Type<'c>>,
}

/// The bits of a scalar that are in one word.
struct Piece {
    /// Which of the stream's words.
    word: usize,
    /// How far the scalar's bits are shifted to the left there; to the right if
    /// negative.
    shift: i64,
}

/// The status of a tile, as one lane has read it.
pub(super) struct Reading<'b, 'c> {
    /// A [`Status`](status::Status), `i32`.
    pub status: V<'b, 'c>,
    /// Undefined where nothing is published.
    pub values: Vec<V<'b, 'c>>,
}

impl<'b, 'c> Descriptors<'b, 'c> {
    /// In scratch, for the combiner's scalars and tiles of `size` elements.
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

    /// The end of the last slot that is used in any buffer, for `tiles` tiles, at
    /// least one.
    pub fn end(&self, tiles: V<'b, 'c>) -> V<'b, 'c> {
        let strides = self.streams.iter().map(|stream| stream.stride(self.size));
        self.start + (tiles - 1) * strides.max().expect("scratch")
    }

    /// Takes the next ticket.
    pub fn ticket(&self) -> V<'b, 'c> {
        status::ticket(self.streams[0].integers(), self.start - 1)
    }

    /// The slot of the first word of a tile.
    fn first(&self, stream: &Stream<'b, 'c>, tile: V<'b, 'c>) -> V<'b, 'c> {
        self.start + tile * stream.stride(self.size)
    }

    /// Publishes a tile's status and values; run by one thread.
    pub fn publish(&self, tile: V<'b, 'c>, status: V<'b, 'c>, values: &[V<'b, 'c>]) {
        let b = self.b;
        let mut values = values.iter();
        for stream in &self.streams {
            let integers = stream.integers();
            let slot = integers.element();
            let status_words = Words::new(integers, 0);
            let mut words = vec![status_words.flag_of(status); stream.words() as usize];
            for (pieces, value) in stream.pieces().iter().zip(values.by_ref()) {
                let bits = value.bitcast(b.int_type(bit_width(value.ty())));
                for Piece { word, shift } in pieces {
                    let part = match *shift < 0 {
                        true => (bits >> -shift).cast(slot),
                        false => bits.cast(slot) << *shift,
                    };
                    words[*word] = words[*word] | status_words.payload(part);
                }
            }
            let first = self.first(stream, tile);
            for (nth, word) in (0..).zip(words) {
                status_words.publish(first + nth, word);
            }
        }
    }

    /// Reads the status of a tile.
    pub fn read(&self, tile: V<'b, 'c>) -> Reading<'b, 'c> {
        let b = self.b;
        let mut statuses = Vec::new();
        let mut values = Vec::new();
        for stream in &self.streams {
            let status_words = Words::new(stream.integers(), 0);
            let first = self.first(stream, tile);
            let word = |nth| status_words.read(first + nth);
            let words: Vec<_> = (0..stream.words()).map(word).collect();
            statuses.extend(words.iter().map(|word| status_words.status(*word)));
            for (pieces, r#type) in stream.pieces().iter().zip(&stream.types) {
                let scalar = b.int_type(bit_width(*r#type));
                let part = |Piece { word, shift }: &Piece| {
                    let bits = status_words.payload(words[*word]);
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
        let (first, others) = statuses.split_first().expect("a combiner of some scalar");
        let status = status::agreed(*first, others.iter().map(|other| other.eq(*first)));
        Reading { status, values }
    }
}

impl<'b, 'c> Stream<'b, 'c> {
    /// Bits of a word that hold scalars.
    fn payload(&self) -> i64 {
        status::payload_bits(bit_width(self.buffer.element()))
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

    /// Slots from a tile's first to the next tile's, for tiles of `size` elements.
    /// Any scratch has a slot for each 256 elements and one more. So each tile but
    /// the last has `size / 256` slots, less what is needed once.
    fn stride(&self, size: i64) -> i64 {
        let slot_bytes = i64::from(bit_width(self.buffer.element())) / 8;
        let most = size / BLOCK - 1;
        self.words().max(most.min(STRIDE_BYTES / slot_bytes))
    }

    /// Where the bits of each scalar are, lowest first.
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

/// Where the bits of scalars of these widths are when they are packed into words
/// with `payload` bits each.
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

    /// Every bit of every scalar has its place, also for numbers of scalars that no
    /// other test reaches.
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
