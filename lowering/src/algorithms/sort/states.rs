//! What the tiles of a pass tell each other: for each tile and digit a word of
//! scratch, which is read and written by relaxed atomics and needs no fence, for
//! it is all there is to know.
//!
//! The two bits on top say what the others hold: nothing yet, the tile's own
//! count, or that and all before it. They turn with the passes: what the end of
//! one pass leaves in every word, a prefix, is what the next one takes for
//! nothing. So the words are cleared once a sort and not once a pass.

use super::{DIGITS, Pass};
use qd_dialects::builder::{Builder, V};

/// Bits of a count.
const COUNT_BITS: i64 = 30;
/// Tiles whose words are asked for together.
const WINDOW: i64 = 4;

/// What a word holds, apart from the turn of its pass.
#[derive(Clone, Copy)]
pub(super) enum Status {
    Nothing = 0,
    Aggregate = 1,
    Prefix = 2,
}

/// The words of a pass.
pub(super) struct States<'b, 'c> {
    b: &'b Builder<'c>,
    words: V<'b, 'c>,
    first: i64,
    pass: u32,
}

impl<'b, 'c> States<'b, 'c> {
    /// Those that begin at word `first` of the scratch.
    pub fn of(pass: &Pass<'_, 'b, 'c>, first: i64) -> Self {
        Self {
            b: pass.b,
            words: pass.sort.scratch,
            first,
            pass: pass.digit,
        }
    }

    fn flag(&self, status: Status) -> i64 {
        (status as i64 + 2 * i64::from(self.pass)) & 3
    }

    fn at(&self, tile: V<'b, 'c>, digit: V<'b, 'c>) -> V<'b, 'c> {
        tile.to_index() * DIGITS + digit + self.first
    }

    /// Tells what a tile's keys of a digit come to.
    pub fn publish(&self, tile: V<'b, 'c>, digit: V<'b, 'c>, status: Status, count: V<'b, 'c>) {
        // As a negative number if the sign bit is set, as its type has it.
        let flag = self.b.i32((self.flag(status) << COUNT_BITS) as i32);
        let at = self.at(tile, digit);
        self.words.atomic_set(at, count | flag, "device");
    }

    /// Keys of a digit in the tiles before `tile`, of which there are some.
    /// Waits for them.
    pub fn look_back(&self, tile: V<'b, 'c>, digit: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        let initial = [tile - 1, b.i32(0), b.bool(false)];
        let [_, sum, _] = b.while_(
            initial,
            |[_, _, done]| done.eq(0),
            |[next, sum, done]| {
                // Below the first tile, which is never passed, anything will do.
                let words: Vec<_> = (0..WINDOW)
                    .map(|back| next.lt(back).select(b.i32(0), next - back))
                    .map(|tile| self.words.atomic_at(self.at(tile, digit), "device"))
                    .collect();
                let state = ([next, sum, done], b.bool(true));
                let take = |state, word| self.take(state, word);
                words.into_iter().fold(state, take).0
            },
        );
        sum
    }

    /// Goes on by one tile, if it is known and so were those behind it.
    fn take(
        &self,
        ([next, sum, done], goes_on): ([V<'b, 'c>; 3], V<'b, 'c>),
        word: V<'b, 'c>,
    ) -> ([V<'b, 'c>; 3], V<'b, 'c>) {
        let b = self.b;
        let flag = word >> COUNT_BITS;
        let known = goes_on & flag.ne(self.flag(Status::Nothing));
        let ends = known & flag.eq(self.flag(Status::Prefix));
        let count = word & ((1 << COUNT_BITS) - 1);
        let state = [
            next - known.to_i32(),
            sum + known.select(count, b.i32(0)),
            done | ends,
        ];
        (state, known & !ends)
    }
}
