//! Device-wide algorithms, straight from their definitions: sequential code over n
//! elements.
//!
//! A file each, and a line in [`ALGORITHMS`]. What every algorithm is given and what is
//! checked of it follows from its operands: [`crate::decode`] and [`crate::exec`] name
//! none.

mod compact;
mod fixed_order;
mod reduce;
mod reduce_by_key;
mod scan;
mod sort;
mod unique;

/// What `cargo xtask new op` makes, as it is made.
#[cfg(test)]
#[path = "../../../../tools/xtask/src/new/templates/interp-algorithm.rs"]
mod template;

pub(crate) use sort::ordered_bits;

use crate::{
    exec::{Call, Engine},
    fault::{Outcome, Trap},
};

/// Every algorithm, one line each.
pub(crate) const ALGORITHMS: &[Algorithm] = &[
    reduce::REDUCE,
    scan::EXCLUSIVE_SCAN,
    scan::INCLUSIVE_SCAN,
    compact::SELECT,
    compact::PARTITION,
    sort::SORT,
    reduce_by_key::REDUCE_BY_KEY,
    unique::UNIQUE,
    sort::PARALLEL_SORT,
];

/// An algorithm.
#[derive(Debug)]
pub(crate) struct Algorithm {
    /// The op, by full name.
    pub op: &'static str,
    /// As the op has them, in their order.
    pub operands: &'static [Operand],
    /// The operand whose elements its combiner combines, if it has one.
    pub combines: Option<usize>,
    /// Slots of scratch for `n` elements at capacity `256^depth`, or none where there
    /// is neither scratch nor a count.
    pub slots: Option<fn(n: u64, depth: u32) -> u64>,
    /// What it does.
    pub run: fn(&mut Engine<'_>, &Call<'_>) -> Outcome,
}

/// An operand of an algorithm.
#[derive(Debug)]
pub(crate) struct Operand {
    /// As faults call it.
    pub name: &'static str,
    pub arity: Arity,
    pub access: Access,
}

/// How many buffers an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    One,
    /// One, or none.
    Optional,
    Many,
}

/// What becomes of a buffer, and how many elements it has at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is read: n elements.
    Read,
    /// It is written, or changed: n elements.
    Written,
    /// It is written: one element.
    WrittenOnce,
    /// It holds garbage afterwards: as many elements as the operand of this number.
    Workspace(usize),
    /// It holds garbage afterwards: as many elements as there must be slots.
    Scratch,
    /// Its one element is read, which is n.
    Count,
}

impl Operand {
    const fn new(name: &'static str, arity: Arity, access: Access) -> Self {
        Self {
            name,
            arity,
            access,
        }
    }

    /// One buffer that is read.
    const fn read(name: &'static str) -> Self {
        Self::new(name, Arity::One, Access::Read)
    }

    /// One buffer that is written.
    const fn written(name: &'static str) -> Self {
        Self::new(name, Arity::One, Access::Written)
    }
}

const SCRATCH: Operand = Operand::new("scratch", Arity::One, Access::Scratch);
const COUNT: Operand = Operand::new("count", Arity::One, Access::Count);

impl Algorithm {
    /// The one of this name, without the dialect's.
    pub fn named(name: &str) -> Option<&'static Self> {
        let of_name = |algorithm: &&Self| algorithm.op.strip_prefix("qd.algo.") == Some(name);
        ALGORITHMS.iter().find(of_name)
    }

    /// Slots of scratch it needs, at least 1; none if it takes none.
    pub fn slots(&self, n: u64, depth: u32) -> Option<u64> {
        self.slots.map(|slots| slots(n, depth).max(1))
    }
}

/// Blocks of 256 that hold `n` elements.
fn blocks(n: u64) -> u64 {
    n.div_ceil(256)
}

/// `c(n) + c(c(n)) + …`, `terms` of them.
fn hierarchical(n: u64, terms: u32) -> u64 {
    (0..terms)
        .scan(n, |level, _| {
            *level = blocks(*level);
            Some(*level)
        })
        .sum()
}

/// `n + b` and the ceilings of `b` that exceed 1, where `b = c(n)`.
fn compaction(n: u64, _: u32) -> u64 {
    let levels = std::iter::successors(Some(blocks(n)), |&level| Some(blocks(level)));
    n + blocks(n) + levels.skip(1).take_while(|&level| level > 1).sum::<u64>()
}

fn known(poison: u64) -> Outcome {
    if poison == 0 {
        Ok(())
    } else {
        Err(Trap::new("has a combiner that yields poison"))
    }
}

#[cfg(test)]
mod tests {
    use super::{ALGORITHMS, template::THE_NAME};

    #[test]
    fn the_template_of_an_algorithm_is_one() {
        assert_eq!(THE_NAME.op, "qd.algo.the_name");
        assert_eq!(THE_NAME.slots(257, 2), Some(2));
    }

    /// What an algorithm combines, and what a workspace is for, is an operand of it.
    #[test]
    fn numbers_are_of_operands() {
        for algorithm in ALGORITHMS {
            let operands = algorithm.operands;
            assert!(
                algorithm
                    .combines
                    .is_none_or(|number| number < operands.len())
            );
            for operand in operands {
                if let super::Access::Workspace(of) = operand.access {
                    assert_eq!(operands[of].access, super::Access::Written);
                }
            }
        }
    }
}
