//! Elements of less than 32 bits within the word around them, for atomics where none are as narrow.

use melior::ir::Type;
use qd_dialects::{builder::V, ir, melior};

/// Where in a word an element is.
pub struct Field<'b, 'c> {
    pub word: Type<'c>,
    pub element: Type<'c>,
    /// The element's lowest bit, where it is not the whole word.
    pub first: Option<V<'b, 'c>>,
}

impl<'b, 'c> Field<'b, 'c> {
    /// The element in a word.
    pub fn read(&self, word: V<'b, 'c>) -> V<'b, 'c> {
        match self.first {
            None => word.bitcast(self.element),
            Some(first) => {
                let narrow = word.builder().int_type(ir::bit_width(self.element));
                (word >> first).cast(narrow).bitcast(self.element)
            }
        }
    }

    /// A word with another element.
    pub fn write(&self, word: V<'b, 'c>, element: V<'b, 'c>) -> V<'b, 'c> {
        let Some(first) = self.first else {
            return element.bitcast(self.word);
        };
        let b = word.builder();
        let bits = ir::bit_width(self.element);
        let all = b.int(self.word, (1 << bits) - 1);
        let others = word & ((all << first) ^ -1);
        let element = element.bitcast(b.int_type(bits)).cast(self.word);
        others | ((element & all) << first)
    }
}
