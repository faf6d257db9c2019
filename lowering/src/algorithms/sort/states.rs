//! What the tiles of a pass tell each other: for each tile and digit a word of
//! scratch, which is read and written by relaxed atomics and needs no fence, for
//! it is all there is to know.
//!
//! The two bits on top say what the others hold: nothing yet, the tile's own
//! count, or that and all before it. They turn with the passes: what the end of
//! one pass leaves in every word, a prefix, is what the next one takes for
//! nothing. So the words are cleared once a sort and not once a pass. A turn is
//! an exclusive or, which is all that differs between passes here.
//!
//! A word has room for a count below 2^30. Where there may be more keys, the
//! buffers' length decides: a count then takes two words, each with its flag, and
//! is known when the flags agree.

use super::{DIGITS, Pass, Sort};
use crate::algorithms::levels::BLOCK;
use qd_dialects::builder::{Builder, V, Values};

/// Bits of a count.
const COUNT_BITS: i64 = 30;
/// All of them.
const COUNT: i64 = (1 << COUNT_BITS) - 1;
/// Tiles whose words are asked for together. While a word is under way, some twenty
/// tiles publish theirs; but to ask for more of them at once takes from others what
/// it gains.
const WINDOW: i64 = 6;

/// What a word holds, apart from the turn of its pass.
#[derive(Clone, Copy)]
pub(super) enum Status {
    Nothing = 0,
    Aggregate = 1,
    Prefix = 2,
}

/// Whether a count may take two words; nothing if it never does. On the host or
/// in a phase.
fn wide<'b, 'c>(sort: &Sort<'b, 'c>) -> Option<V<'b, 'c>> {
    let limit = 1 << COUNT_BITS;
    (BLOCK.pow(sort.depth) >= limit).then(|| sort.data.keys.len().ge(limit))
}

/// Words that the states of so many tiles take.
pub(super) fn words<'b, 'c>(sort: &Sort<'b, 'c>, tiles: V<'b, 'c>) -> V<'b, 'c> {
    let one = tiles * DIGITS;
    wide(sort).map_or(one, |wide| wide.select(one * 2, one))
}

/// The words of a pass.
pub(super) struct States<'b, 'c> {
    b: &'b Builder<'c>,
    words: V<'b, 'c>,
    first: i64,
    pass: u32,
    wide: Option<V<'b, 'c>>,
}

/// What a tile's words say.
struct State<'b, 'c> {
    flag: V<'b, 'c>,
    count: V<'b, 'c>,
}

impl<'b, 'c> States<'b, 'c> {
    /// Those that begin at word `first` of the scratch; in a phase.
    pub fn of(pass: &Pass<'_, 'b, 'c>, first: i64) -> Self {
        Self {
            b: pass.b,
            words: pass.sort.scratch,
            first,
            pass: pass.digit,
            wide: wide(pass.sort),
        }
    }

    /// A word of another pass as one of the first, and back.
    fn turned(&self, word: V<'b, 'c>) -> V<'b, 'c> {
        match self.pass % 2 {
            0 => word,
            // 2 more on top, and 4 is 0.
            _ => word ^ i64::from(i32::MIN),
        }
    }

    /// Runs `body` with the number of words that a count takes.
    fn by_width<T: Values<'b, 'c>>(&self, body: impl Fn(i64) -> T) -> T {
        match self.wide {
            None => body(1),
            Some(wide) => self.b.if_else(wide, || body(2), || body(1)),
        }
    }

    /// A word of the scratch: the `nth` of a tile's `width` for a digit.
    fn at(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, width: i64, nth: i64) -> V<'b, 'c> {
        tile.to_index() * (width * DIGITS) + digit + (nth * DIGITS + self.first)
    }

    /// Tells what a tile's keys of a digit come to.
    pub fn publish(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, status: Status, count: V<'b, 'c>) {
        // As a negative number if the sign bit is set, as its type has it.
        let flag = self.b.i32(((status as i64) << COUNT_BITS) as i32);
        let set = |width, nth, bits: V<'b, 'c>| {
            let at = self.at(tile, digit, width, nth);
            self.words
                .atomic_set(at, self.turned(bits | flag), "device");
        };
        self.by_width(|width| {
            match width {
                1 => set(width, 0, count),
                _ => {
                    set(width, 0, count & COUNT);
                    set(width, 1, count >> COUNT_BITS);
                }
            }
            []
        });
    }

    fn read(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, width: i64) -> State<'b, 'c> {
        let word = |nth| {
            let at = self.at(tile, digit, width, nth);
            self.turned(self.words.atomic_at(at, "device"))
        };
        let low = word(0);
        let (flag, count) = (low >> COUNT_BITS, low & COUNT);
        if width == 1 {
            return State { flag, count };
        }
        let high = word(1);
        let nothing = flag.same(Status::Nothing as i64);
        State {
            flag: flag.eq(high >> COUNT_BITS).select(flag, nothing),
            count: count | (high << COUNT_BITS),
        }
    }

    /// Keys of a digit in the tiles before `tile`, of which there are some.
    /// Waits for them.
    pub fn look_back(&self, tile: V<'b, 'c>, digit: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let [sum] = self.by_width(|width| {
            let initial = [tile - 1, b.i32(0), b.bool(false)];
            let [_, sum, _] = b.while_(
                initial,
                |[_, _, done]| done.eq(0),
                |[next, sum, done]| {
                    // Below the first tile, which is never passed, anything will do.
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

    /// Goes on by one tile, if it is known and so were those behind it.
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
