//! Part of a text that can be compiled by itself.

use super::{Place, Words};
use std::ops::Range;

/// What a slice is called where it is compiled: its lines are words, its columns bytes of them.
pub const SLICE: &str = "<slice>";

/// Runs of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    ranges: Vec<Range<usize>>,
}

impl Slice {
    pub(super) fn of(ranges: Vec<Range<usize>>) -> Self {
        Self { ranges }
    }

    /// Its text, a word a line. Comments, whitespace, and where it stood are not in it.
    pub fn text(&self, words: &Words) -> String {
        words.joined(&self.ranges)
    }

    /// The line and the column in the whole text of a place in this one.
    pub fn line_and_column(&self, words: &Words, place: Place) -> Option<(usize, usize)> {
        let mut left = place.word;
        for range in &self.ranges {
            if left < range.len() {
                let word = range.start + left;
                return words.line_and_column(Place { word, ..place });
            }
            left -= range.len();
        }
        None
    }
}
