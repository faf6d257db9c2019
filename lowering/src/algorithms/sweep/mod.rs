//! Scans of whatever their user loads, into whatever their user does with the
//! result: what the scans are, and select, partition, sort and reduce by key
//! are made of where they do not go over their input in one pass.
//!
//! - [`hierarchical`]: a tile a block, in a tree of fixed depth;
//! - [`chunked`]: a long chunk a block, for few cores.

mod chunked;
mod hierarchical;

use super::partials::Partials;
use qd_dialects::builder::{Builder, Combiner, V};

/// How a sweep goes over its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// See [`hierarchical`].
    Hierarchical,
    /// See [`chunked`].
    Chunked,
}

/// A scan under construction. Exclusive unless `inclusive`.
pub(super) struct Sweep<'a, 'b, 'c> {
    pub b: &'b Builder<'c>,
    pub form: Form,
    /// Of the phases.
    pub name: &'a str,
    pub depth: u32,
    /// The most elements there can be; the host's.
    pub capacity: V<'b, 'c>,
    pub combiner: &'a Combiner<'c>,
    pub inclusive: bool,
    /// The live number of elements, in a phase.
    pub count: &'a dyn Fn() -> V<'b, 'c>,
    /// Element `i`, in a phase.
    pub load: &'a dyn Fn(V<'b, 'c>) -> Vec<V<'b, 'c>>,
    /// Where partial results are kept, in a phase.
    pub partials: &'a dyn Fn() -> Partials<'b, 'c>,
    pub total: Total<'a, 'b, 'c>,
}

impl<'b, 'c> Sweep<'_, 'b, 'c> {
    /// Builds the phases; `last` is what the threads of the last one do.
    pub fn run(&self, last: impl Fn(&Element<'b, 'c>)) {
        match self.form {
            Form::Hierarchical => self.hierarchical(&last),
            Form::Chunked => self.chunked(&last),
        }
    }
}

/// Stores the combination of all elements; run by one thread.
type Store<'a, 'b, 'c> = &'a (dyn Fn(&[V<'b, 'c>]) + 'a);

/// What becomes of the combination of all elements, which is what does not show if
/// there are none.
#[derive(Clone, Copy)]
pub(super) enum Total<'a, 'b, 'c> {
    /// Nobody needs it.
    Unused,
    /// It is stored in the last phase.
    AtTheEnd(Store<'a, 'b, 'c>),
    /// It is stored before the last phase, whose threads find it there; or they
    /// have it as [`Element::total`].
    Before(Store<'a, 'b, 'c>),
}

impl Total<'_, '_, '_> {
    /// Whether there is something to do even for no elements.
    fn is_used(&self) -> bool {
        !matches!(self, Self::Unused)
    }
}

/// What a thread of the last phase has.
pub(super) struct Element<'b, 'c> {
    /// Which element it is, or would be.
    pub i: V<'b, 'c>,
    /// Whether there is one.
    pub exists: V<'b, 'c>,
    /// The live number of elements.
    pub count: V<'b, 'c>,
    /// What was loaded; what does not show if there is none.
    pub value: Vec<V<'b, 'c>>,
    /// The combination of all before, and if inclusive of this as well.
    pub scanned: Vec<V<'b, 'c>>,
    /// The combination of all, if it was to be there [`Total::Before`] the last
    /// phase and there is none before it.
    pub total: Option<Vec<V<'b, 'c>>>,
}
