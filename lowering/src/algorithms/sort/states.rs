//! Status words of the look-back of a sort's pass: one word of scratch for each tile
//! and digit, whose payload is a count of keys ([`Words`]). The number of the pass is
//! the epoch, so the words are cleared once a sort and not once a pass.
//!
//! A word has room for a count below 2^30. Where there may be more keys, which the
//! buffers' length decides, a count takes two words, each with its flag, and is
//! valid when the flags agree.

use super::{DIGITS, Pass, Sort};
use crate::algorithms::{
    chain::status::{self, Status, Words},
    levels::BLOCK,
};
use qd_dialects::builder::{Builder, V, Values};

/// Bits of a count.
const COUNT_BITS: i64 = status::payload_bits(32);
/// Tiles whose words are loaded together. While a load is in flight, some twenty
/// tiles publish. More loads at once would take bandwidth from others and gain
/// nothing.
const WINDOW: i64 = 6;

/// Whether a count takes two words; `None` if it never does. On the host or in a
/// phase.
fn wide<'b, 'c>(sort: &Sort<'b, 'c>) -> Option<V<'b, 'c>> {
    let limit = 1 << COUNT_BITS;
    (BLOCK.pow(sort.depth) >= limit).then(|| sort.data.keys.len().ge(limit))
}

/// Words for the status of `tiles` tiles.
pub(super) fn words<'b, 'c>(sort: &Sort<'b, 'c>, tiles: V<'b, 'c>) -> V<'b, 'c> {
    let one = tiles * DIGITS;
    wide(sort).map_or(one, |wide| wide.select(one * 2, one))
}

/// The status words of a pass.
pub(super) struct States<'b, 'c> {
    b: &'b Builder<'c>,
    words: Words<'b, 'c>,
    first: i64,
    wide: Option<V<'b, 'c>>,
}

/// The status of a tile, for one digit.
struct State<'b, 'c> {
    flag: V<'b, 'c>,
    count: V<'b, 'c>,
}

impl<'b, 'c> States<'b, 'c> {
    /// Those that begin at slot `first` of the scratch; in a phase.
    pub fn of(pass: &Pass<'_, 'b, 'c>, first: i64) -> Self {
        Self {
            b: pass.b,
            words: Words::new(pass.sort.scratch, pass.digit),
            first,
            wide: wide(pass.sort),
        }
    }

    /// Runs `body` with the number of words that a count takes.
    fn by_width<T: Values<'b, 'c>>(&self, body: impl Fn(i64) -> T) -> T {
        match self.wide {
            None => body(1),
            Some(wide) => self.b.if_else(wide, || body(2), || body(1)),
        }
    }

    /// Index of a word in scratch: the `nth` of a tile's `width` for a digit.
    fn at(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, width: i64, nth: i64) -> V<'b, 'c> {
        tile.to_index() * (width * DIGITS) + digit + (nth * DIGITS + self.first)
    }

    /// Publishes a tile's count of a digit, with a status.
    pub fn publish(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, status: Status, count: V<'b, 'c>) {
        let flag = self.words.flag(status);
        let set = |width, nth, bits: V<'b, 'c>| {
            self.words
                .publish(self.at(tile, digit, width, nth), bits | flag);
        };
        self.by_width(|width| {
            match width {
                1 => set(width, 0, count),
                _ => {
                    set(width, 0, self.words.payload(count));
                    set(width, 1, count >> COUNT_BITS);
                }
            }
            []
        });
    }

    fn read(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, width: i64) -> State<'b, 'c> {
        let word = |nth| self.words.read(self.at(tile, digit, width, nth));
        let low = word(0);
        let (flag, count) = (self.words.status(low), self.words.payload(low));
        if width == 1 {
            return State { flag, count };
        }
        let high = word(1);
        let agree = flag.eq(self.words.status(high));
        State {
            flag: status::agreed(flag, [agree].into_iter()),
            count: count | (high << COUNT_BITS),
        }
    }

    /// Number of keys of a digit in the tiles before `tile`, of which there is at
    /// least one. Waits for them.
    pub fn look_back(&self, tile: V<'b, 'c>, digit: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let [sum] = self.by_width(|width| {
            let initial = [tile - 1, b.i32(0), b.bool(false)];
            let [_, sum, _] = b.while_(
                initial,
                |[_, _, done]| done.eq(0),
                |[next, sum, done]| {
                    // The walk ends at the first tile, so indices below it are
                    // clamped.
                    let window: Vec<_> = (0..WINDOW)
                        .map(|back| next.lt(back).select(b.i32(0), next - back))
                        .map(|tile| self.read(tile, digit, width))
                        .collect();
                    let state = ([next, sum, done], b.bool(true));
                    let take = |state, read: &State<'b, 'c>| self.take(state, read);
                    window.iter().fold(state, take).0
                },
            );
            [sum]
        });
        sum
    }

    /// Advances by one tile, if its count is published and so were those of the
    /// tiles after it.
    fn take(
        &self,
        ([next, sum, done], goes_on): ([V<'b, 'c>; 3], V<'b, 'c>),
        State { flag, count }: &State<'b, 'c>,
    ) -> ([V<'b, 'c>; 3], V<'b, 'c>) {
        let b = self.b;
        let known = goes_on & flag.ne(Status::Nothing as i64);
        let ends = known & flag.eq(Status::Prefix as i64);
        let state = [
            next - known.to_i32(),
            sum + known.select(*count, b.i32(0)),
            done | ends,
        ];
        (state, known & !ends)
    }
}
