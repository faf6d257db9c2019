//! Scratch slots of the algorithms, by the formulas of their contract.

use crate::program::Algorithm;

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
fn compaction(n: u64) -> u64 {
    let levels = std::iter::successors(Some(blocks(n)), |&level| Some(blocks(level)));
    n + blocks(n) + levels.skip(1).take_while(|&level| level > 1).sum::<u64>()
}

/// The slots `algorithm` needs for `n` elements at capacity `256^depth`.
pub(crate) fn scratch_slots(algorithm: Algorithm, n: u64, depth: u32) -> u64 {
    let slots = match algorithm {
        Algorithm::Reduce | Algorithm::ExclusiveScan | Algorithm::InclusiveScan => {
            hierarchical(n, depth - 1)
        }
        Algorithm::Sort => 256 * blocks(n) + hierarchical(256 * blocks(n), depth - 1),
        Algorithm::ReduceByKey if n <= 256 => n,
        Algorithm::Select | Algorithm::Partition | Algorithm::ReduceByKey => compaction(n),
    };
    slots.max(1)
}
