//! A handle for each op of the dialect, made from its definition in `sys/td`.
//!
//! A module per family: `qd.simt.shuffle` is [`simt::Shuffle`], whose `NAME` is the op's full name, and
//! which has a method for each operand, result, attribute and region, with the name that it has in the
//! definition. Ops that share a TableGen class and have the same operands have a common handle, too:
//! [`algo::Combine`]. `of` tells whether an op is one. A handle must not be used after its op has been
//! erased; the methods assume that the op has been verified, and panic if it is invalid.

use crate::{
    attributes,
    ir::{Block, Context, Op, OpExt, Value},
};
use melior::ir::Attribute;

/// What the names of all begin with.
pub const PREFIX: &str = "qd.";

macro_rules! handle {
    ($summary:literal, $name:ident, $full:literal) => {
        #[doc = $summary]
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'c>(Op<'c>);

        impl<'c> $name<'c> {
            /// The op's full name.
            pub const NAME: &'static str = $full;

            /// The handle of an op that is one.
            pub fn of(op: Op<'c>) -> Option<Self> {
                op.is(Self::NAME).then_some(Self(op))
            }

            handle! { @any }
        }
    };
    ($name:ident, $all:expr) => {
        /// One of several ops that have the same operands, results, attributes and regions.
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'c>(Op<'c>);

        impl<'c> $name<'c> {
            /// Their full names.
            pub const NAMES: &'static [&'static str] = &$all;

            /// The handle of an op that is one of them.
            pub fn of(op: Op<'c>) -> Option<Self> {
                Self::NAMES.contains(&op.full_name()).then_some(Self(op))
            }

            handle! { @any }
        }
    };
    (@any) => {
        /// The handle of an op that is known to be one: a panic if it is not.
        pub fn cast(op: Op<'c>) -> Self {
            Self::of(op).unwrap_or_else(|| panic!("'{}' is another op", op.full_name()))
        }

        /// The op.
        pub fn op(self) -> Op<'c> {
            self.0
        }
    };
}

macro_rules! cases {
    ($summary:literal, $name:ident, $mnemonic:literal, [$($case:ident = $spelled:literal),*]) => {
        #[doc = $summary]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(
                #[doc = concat!("`", $spelled, "`.")]
                $case
            ),*
        }

        impl $name {
            /// How it is spelled.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$case => $spelled),*
                }
            }

            /// The attribute that holds it.
            pub fn attribute(self, context: &Context) -> Attribute<'_> {
                attributes::case(context, $mnemonic, self.name())
            }

            /// The case an attribute holds.
            pub fn of(attribute: Attribute<'_>) -> Option<Self> {
                match attributes::case_of(attribute)? {
                    $($spelled => Some(Self::$case),)*
                    _ => None,
                }
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/ops.rs"));

fn operand<'c>(op: Op<'c>, index: usize) -> Value<'c> {
    op.operand(index).expect("an operand that is defined")
}

/// The operand with so many after it.
fn operand_from_end<'c>(op: Op<'c>, after: usize) -> Value<'c> {
    operand(op, op.operand_count() - 1 - after)
}

/// The operands with at least so many before and so many after them.
fn operands_between<'c>(op: Op<'c>, before: usize, after: usize) -> Vec<Value<'c>> {
    let places = before..op.operand_count() - after;
    places.map(|index| operand(op, index)).collect()
}

/// The operands that one of the definition stands for, where the op says how many there are of each.
fn operand_group<'c>(op: Op<'c>, index: usize) -> Vec<Value<'c>> {
    op.operand_segments().swap_remove(index)
}

fn result<'c>(op: Op<'c>, index: usize) -> Value<'c> {
    op.result(index).expect("a result that is defined").into()
}

/// The results with at least so many before and so many after them.
fn results_between<'c>(op: Op<'c>, before: usize, after: usize) -> Vec<Value<'c>> {
    let places = before..op.result_count() - after;
    places.map(|index| result(op, index)).collect()
}

/// An attribute that the definition requires.
fn attribute<'c, T>(op: Op<'c>, name: &str, read: impl Fn(Attribute<'c>) -> Option<T>) -> T {
    let value = op.attr(name).and_then(read);
    value.unwrap_or_else(|| panic!("'{}' without its '{name}'", op.full_name()))
}
