//! Where the upper levels of a hierarchy are stored: in the caller's scratch.

use super::levels::Levels;
use qd_dialects::{
    builder::{Combiner, V},
    ir::bit_width,
    melior::ir::Type,
};

/// A place in scratch for the elements of each level, of K scalars each.
#[derive(Clone)]
pub(super) enum Partials<'b, 'c> {
    /// A scratch buffer for each scalar, of slots as wide as the scalar.
    Separate(Vec<V<'b, 'c>>),
    /// All in one buffer of `i32`, after its first `start` slots: a plane of
    /// slots for each word of the scalars (a structure of arrays), so that
    /// neighbouring elements are consecutive. Slots are the only alignment.
    Together { buffer: V<'b, 'c>, start: V<'b, 'c> },
}

impl<'b, 'c> Partials<'b, 'c> {
    /// Element `i` of a level.
    pub fn load(
        &self,
        levels: &Levels<'b, 'c>,
        level: usize,
        i: V<'b, 'c>,
        combiner: &Combiner<'c>,
    ) -> Vec<V<'b, 'c>> {
        let types = combiner.types();
        match self {
            Self::Separate(buffers) => {
                let slot = levels.offset(level) + i;
                let typed = buffers.iter().zip(types);
                typed
                    .map(|(buffer, r#type)| buffer.at_as(slot, *r#type))
                    .collect()
            }
            Self::Together { buffer, start } => {
                let mut plane = Planes::of(levels, level, *start, types);
                types
                    .iter()
                    .map(|r#type| plane.load(*buffer, i, *r#type))
                    .collect()
            }
        }
    }

    /// Stores element `i` of a level.
    pub fn store(&self, levels: &Levels<'b, 'c>, level: usize, i: V<'b, 'c>, values: &[V<'b, 'c>]) {
        match self {
            Self::Separate(buffers) => {
                let slot = levels.offset(level) + i;
                for (buffer, value) in buffers.iter().zip(values) {
                    buffer.set(slot, *value);
                }
            }
            Self::Together { buffer, start } => {
                let types: Vec<_> = values.iter().map(|value| value.ty()).collect();
                let mut plane = Planes::of(levels, level, *start, &types);
                for value in values {
                    plane.store(*buffer, i, *value);
                }
            }
        }
    }
}

fn words(r#type: Type) -> i64 {
    i64::from(bit_width(r#type) / 32)
}

/// Allocates one plane after the other.
struct Planes<'b, 'c> {
    next: V<'b, 'c>,
    length: V<'b, 'c>,
}

impl<'b, 'c> Planes<'b, 'c> {
    fn of(levels: &Levels<'b, 'c>, level: usize, start: V<'b, 'c>, types: &[Type<'c>]) -> Self {
        let planes: i64 = types.iter().map(|r#type| words(*r#type)).sum();
        Self {
            next: start + levels.offset(level) * planes,
            length: levels.count(level),
        }
    }

    fn slot(&mut self, i: V<'b, 'c>) -> V<'b, 'c> {
        let slot = self.next + i;
        self.next = self.next + self.length;
        slot
    }

    fn load(&mut self, buffer: V<'b, 'c>, i: V<'b, 'c>, r#type: Type<'c>) -> V<'b, 'c> {
        let low = buffer.at(self.slot(i));
        if words(r#type) == 1 {
            return low.bitcast(r#type);
        }
        let high = buffer.at(self.slot(i));
        (low.to_i64() | (high.to_i64() << 32)).bitcast(r#type)
    }

    fn store(&mut self, buffer: V<'b, 'c>, i: V<'b, 'c>, value: V<'b, 'c>) {
        if words(value.ty()) == 1 {
            return buffer.set(self.slot(i), value);
        }
        let bits = value.bitcast(value.builder().int_type(64));
        buffer.set(self.slot(i), bits.to_i32());
        buffer.set(self.slot(i), (bits >> 32).to_i32());
    }
}
