//! How much scratch an algorithm needs: for the host code that allocates it, and as
//! arithmetic in the IR, to which `qd.algo.scratch_slots` expands where its count
//! is not constant.
//!
//! The unit is a slot, whatever its width: `u32` for elements of 4 bytes and for
//! all algorithms that stage counts, `u64` for reductions and scans of elements of
//! 8 bytes. Every function returns at least 1.

use qd_dialects::{
    algorithm,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    ops::algo,
    scratch::{BLOCK, Formula, MAX_DEPTH},
};
use std::result;

/// A capacity that no algorithm has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CapacityError {
    /// A depth out of range.
    #[error("log256_max_n must be from 1 to 4 (256^4 = 2^32 elements), but is {0}")]
    Depth(u32),
    /// More elements than the largest capacity.
    #[error("{0} elements are more than 256^4 = 2^32, the largest capacity")]
    Count(u64),
}

/// The smallest depth whose capacity, `256^depth`, covers `n` elements.
///
/// # Errors
///
/// More than 256^4 elements.
pub fn log256_max_n(n: u64) -> result::Result<u32, CapacityError> {
    (1..=MAX_DEPTH)
        .find(|depth| n <= BLOCK.pow(*depth))
        .ok_or(CapacityError::Count(n))
}

/// The given depth, or else the smallest that covers `n`.
fn depth_for(n: u64, depth: Option<u32>) -> result::Result<u32, CapacityError> {
    match depth {
        None => log256_max_n(n),
        Some(depth @ 1..=MAX_DEPTH) => Ok(depth),
        Some(depth) => Err(CapacityError::Depth(depth)),
    }
}

/// Slots for `qd.algo.reduce` of `n` elements: t₁ + … + t_{D−1}, where t₀ = n and
/// t_{i+1} = ⌈tᵢ / 256⌉.
///
/// # Errors
///
/// A depth over 4, or more elements than that covers.
pub fn reduce_scratch_slots(n: u64, depth: Option<u32>) -> result::Result<u64, CapacityError> {
    Ok(Formula::Levels.slots(n, depth_for(n, depth)?))
}

/// Slots for `qd.algo.exclusive_scan` and `qd.algo.inclusive_scan` of `n`
/// elements: ⌈n / 256⌉ and its D − 2 further ceilings, summed; none for D = 1.
///
/// # Errors
///
/// A depth over 4, or more elements than that covers.
pub fn scan_scratch_slots(n: u64, depth: Option<u32>) -> result::Result<u64, CapacityError> {
    Ok(Formula::Levels.slots(n, depth_for(n, depth)?))
}

/// Slots for `qd.algo.sort` of `n` keys: h = 256 · ⌈n / 256⌉, and its D − 1
/// further ceilings, summed.
///
/// # Errors
///
/// A depth over 4, or more elements than that covers.
pub fn sort_scratch_slots(n: u64, depth: Option<u32>) -> result::Result<u64, CapacityError> {
    Ok(Formula::Histograms.slots(n, depth_for(n, depth)?))
}

/// Slots for `qd.algo.select` and `qd.algo.partition` of `n` elements: n, and
/// b = ⌈n / 256⌉, and those of its further ceilings that exceed 1, summed.
pub fn select_scratch_slots(n: u64) -> u64 {
    Formula::Compaction.slots(n, MAX_DEPTH)
}

/// Slots for `qd.algo.reduce_by_key` of `n` elements: n up to 256, and as
/// [`select_scratch_slots`] above.
pub fn reduce_by_key_scratch_slots(n: u64) -> u64 {
    Formula::Runs.slots(n, MAX_DEPTH)
}

/// Expands a `qd.algo.scratch_slots` to arithmetic, and erases it.
pub(super) fn expand<'c>(op: Op<'c>) -> Result<'c> {
    let Some((formula, depth)) = algorithm::sizing(op) else {
        let algorithm = algo::ScratchSlots::cast(op).algorithm().name();
        let message =
            format!("has no formula for '{algorithm}', which 'qd-expand-algorithms' needs");
        return Err(Diagnostic::at(op, message));
    };
    let b = Builder::before(op);
    let n = b.v(algo::ScratchSlots::cast(op).n());
    op.replace_with(&[formula.slots(n, depth).value()]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked values of the reference: n, then the slots for each depth.
    #[test]
    fn worked_values() {
        type Table = &'static [(u64, [u64; 4])];
        let hierarchical: Table = &[
            (0, [1, 1, 1, 1]),
            (1, [1, 1, 2, 3]),
            (257, [1, 2, 3, 4]),
            (65_536, [1, 256, 257, 258]),
            (65_537, [1, 257, 259, 260]),
            (1_000_000, [1, 3_907, 3_923, 3_924]),
        ];
        let sort: Table = &[
            (0, [1, 1, 1, 1]),
            (1, [256, 257, 258, 259]),
            (257, [512, 514, 515, 516]),
            (65_536, [65_536, 65_792, 65_793, 65_794]),
            (65_537, [65_792, 66_049, 66_051, 66_052]),
            (1_000_000, [1_000_192, 1_004_099, 1_004_115, 1_004_116]),
        ];
        for depth in 1..=4 {
            let index = depth as usize - 1;
            for (n, slots) in hierarchical {
                assert_eq!(
                    reduce_scratch_slots(*n, Some(depth)),
                    Ok(slots[index]),
                    "{n} {depth}"
                );
                assert_eq!(
                    scan_scratch_slots(*n, Some(depth)),
                    Ok(slots[index]),
                    "{n} {depth}"
                );
            }
            for (n, slots) in sort {
                assert_eq!(
                    sort_scratch_slots(*n, Some(depth)),
                    Ok(slots[index]),
                    "{n} {depth}"
                );
            }
        }
        for (n, selecting, by_key) in [
            (0, 1, 1),
            (1, 2, 1),
            (256, 257, 256),
            (257, 259, 259),
            (65_536, 65_792, 65_792),
            (65_537, 65_796, 65_796),
            (1_000_000, 1_003_923, 1_003_923),
        ] {
            assert_eq!(select_scratch_slots(n), selecting, "{n}");
            assert_eq!(reduce_by_key_scratch_slots(n), by_key, "{n}");
        }
    }

    #[test]
    fn the_smallest_depth_that_covers() {
        assert_eq!(log256_max_n(0), Ok(1));
        assert_eq!(log256_max_n(256), Ok(1));
        assert_eq!(log256_max_n(257), Ok(2));
        assert_eq!(log256_max_n(1 << 32), Ok(4));
        assert_eq!(reduce_scratch_slots(1_000_000, None), Ok(3_923));
    }

    #[test]
    fn capacities_there_are_none_of() {
        assert_eq!(
            reduce_scratch_slots(1, Some(5)),
            Err(CapacityError::Depth(5))
        );
        assert_eq!(sort_scratch_slots(1, Some(0)), Err(CapacityError::Depth(0)));
        let many = (1 << 32) + 1;
        assert_eq!(
            scan_scratch_slots(many, None),
            Err(CapacityError::Count(many))
        );
        assert_eq!(
            CapacityError::Depth(5).to_string(),
            "log256_max_n must be from 1 to 4 (256^4 = 2^32 elements), but is 5"
        );
    }
}
