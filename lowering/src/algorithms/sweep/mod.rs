//! Scans whose user supplies the load and the store. The scans use them, and so do
//! select, partition, sort and reduce by key where they are not single-pass.
//!
//! - [`hierarchical`]: a tile a block, in a tree of fixed depth;
//! - [`chunked`]: a long chunk a block, for latency-oriented targets;
//! - [`fixed_order`]: in the order that `deterministic` fixes.

mod chunked;
mod fixed_order;
mod hierarchical;

use super::{fixed_order::Shape, partials::Partials};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// The strategy of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// See [`hierarchical`].
    Hierarchical,
    /// See [`chunked`].
    Chunked,
    /// See [`fixed_order`], in tiles of this size.
    FixedOrder(Shape),
}

impl Form {
    /// An error at an op whose order this form does not keep.
    pub fn keeps_order<'c>(self, op: Op<'c>, combiner: &Combiner) -> Result<'c> {
        match self {
            Self::Hierarchical => super::fixed_order::refuse(op, combiner, "hierarchical"),
            Self::Chunked => super::fixed_order::refuse(op, combiner, "chunked"),
            Self::FixedOrder(_) => Ok(()),
        }
    }
}

/// A scan under construction. Exclusive unless `inclusive`.
pub(super) struct Sweep<'a, 'b, 'c> {
    pub b: &'b Builder<'c>,
    pub form: Form,
    /// Prefix of the phases' names.
    pub name: &'a str,
    pub depth: u32,
    /// The largest number of elements; the host's.
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
    /// Builds the phases; the threads of the last phase run `last`.
    pub fn run(&self, last: impl Fn(&Element<'b, 'c>)) {
        match self.form {
            Form::Hierarchical => self.hierarchical(&last),
            Form::Chunked => self.chunked(&last),
            Form::FixedOrder(shape) => self.fixed_order(shape, &last),
        }
    }
}

/// Stores the combination of all elements; run by one thread.
type Store<'a, 'b, 'c> = &'a (dyn Fn(&[V<'b, 'c>]) + 'a);

/// What becomes of the combination of all elements. It is a neutral value if there
/// are none.
#[derive(Clone, Copy)]
pub(super) enum Total<'a, 'b, 'c> {
    /// It is not used.
    Unused,
    /// It is stored in the last phase.
    AtTheEnd(Store<'a, 'b, 'c>),
    /// It is stored before the last phase, whose threads load it, or have it as
    /// [`Element::total`].
    Before(Store<'a, 'b, 'c>),
}

impl Total<'_, '_, '_> {
    /// Whether there is something to do even for an empty input.
    fn is_used(&self) -> bool {
        !matches!(self, Self::Unused)
    }
}

/// An element, in a thread of the last phase.
pub(super) struct Element<'b, 'c> {
    /// Index of the element, whether it exists or not.
    pub i: V<'b, 'c>,
    /// Whether it exists.
    pub exists: V<'b, 'c>,
    /// The live number of elements.
    pub count: V<'b, 'c>,
    /// The loaded value; neutral if the element does not exist.
    pub value: Vec<V<'b, 'c>>,
    /// The combination of all elements before it, and with it if inclusive.
    pub scanned: Vec<V<'b, 'c>>,
    /// The combination of all, if it is wanted [`Total::Before`] the last phase
    /// and there is no phase before it.
    pub total: Option<Vec<V<'b, 'c>>>,
}
