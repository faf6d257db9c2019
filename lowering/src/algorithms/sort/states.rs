//! Status flags of the look-back of a sort's pass: one word of scratch for each tile
//! and digit, read and written by relaxed atomics. A word holds flag and count
//! together, so no fence is needed.
//!
//! The two highest bits are the flag: nothing yet, the tile's own count (its
//! aggregate), or the count up to its end (its prefix). Their encoding alternates
//! with the parity of the pass: a prefix, which is in every word at the end of one
//! pass, means nothing yet in the next. So the words are cleared once a sort and not
//! once a pass. The parity is applied by an exclusive or, which is all that differs
//! between passes here.
//!
//! A word has room for a count below 2^30. Where there may be more keys, which the
//! buffers' length decides, a count takes two words, each with its flag, and is
//! valid when the flags agree.

use super::{DIGITS, Pass, Sort};
use crate::algorithms::levels::BLOCK;
use qd_dialects::builder::{Builder, V, Values};

/// Bits of a count.
const COUNT_BITS: i64 = 30;
/// The mask of a count.
const COUNT: i64 = (1 << COUNT_BITS) - 1;
/// Tiles whose words are loaded together. While a load is in flight, some twenty
/// tiles publish. More loads at once would take bandwidth from others and gain
/// nothing.
const WINDOW: i64 = 6;

/// The flag of a word, for a pass of even parity.
#[derive(Clone, Copy)]
pub(super) enum Status {
    Nothing = 0,
    Aggregate = 1,
    Prefix = 2,
}

/// Whether a count takes two words; `None` if it never does. On the host or in a
/// phase.
fn wide<'b, 'c>(sort: &Sort<'b, 'c>) -> Option<V<'b, 'c>> {
    let limit = 1 << COUNT_BITS;
    (BLOCK.pow(sort.depth) >= limit).then(|| sort.data.keys.len().ge(limit))
}

/// Words for the status flags of `tiles` tiles.
pub(super) fn words<'b, 'c>(sort: &Sort<'b, 'c>, tiles: V<'b, 'c>) -> V<'b, 'c> {
    let one = tiles * DIGITS;
    wide(sort).map_or(one, |wide| wide.select(one * 2, one))
}

/// The status flags of a pass.
pub(super) struct States<'b, 'c> {
    b: &'b Builder<'c>,
    words: V<'b, 'c>,
    first: i64,
    pass: u32,
    wide: Option<V<'b, 'c>>,
}

/// The status of a tile, for one digit.
struct State<'b, 'c> {
    flag: V<'b, 'c>,
    count: V<'b, 'c>,
}

impl<'b, 'c> States<'b, 'c> {
    /// The flags that begin at word `first` of the scratch; in a phase.
    pub fn of(pass: &Pass<'_, 'b, 'c>, first: i64) -> Self {
        Self {
            b: pass.b,
            words: pass.sort.scratch,
            first,
            pass: pass.digit,
            wide: wide(pass.sort),
        }
    }

    /// A word of this pass as one of even parity, and back.
    fn with_parity(&self, word: V<'b, 'c>) -> V<'b, 'c> {
        match self.pass % 2 {
            0 => word,
            // Adds 2 to the flag, modulo 4.
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

    /// Index of a word in scratch: the `nth` of a tile's `width` for a digit.
    fn at(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, width: i64, nth: i64) -> V<'b, 'c> {
        tile.to_index() * (width * DIGITS) + digit + (nth * DIGITS + self.first)
    }

    /// Publishes a tile's count of a digit, with a status.
    pub fn publish(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, status: Status, count: V<'b, 'c>) {
        // A signed constant, which is negative if its highest bit is set.
        let flag = self.b.i32(((status as i64) << COUNT_BITS) as i32);
        let set = |width, nth, bits: V<'b, 'c>| {
            let at = self.at(tile, digit, width, nth);
            self.words
                .atomic_set(at, self.with_parity(bits | flag), "device");
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
            self.with_parity(self.words.atomic_at(at, "device"))
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
