//! Scratch sizes: the formulas of the page of `qd.algo.scratch_slots`, generic over the
//! type of number.
//!
//! An algorithm names its formula in ODS. The compiler evaluates it, builds it as
//! arithmetic of the IR, and puts it into plans for the runtime. The interpreter has
//! formulas of its own, for comparison.

use crate::builder::V;
use std::ops::Add;

/// Elements a block combines.
pub const BLOCK: u64 = 256;

/// The most levels there is a use for: 256^4 = 2^32 elements.
pub const MAX_DEPTH: u32 = 4;

/// A formula, of the number of elements and the depth D, of a capacity of 256^D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula {
    /// The first D − 1 of ⌈n / 256⌉, ⌈⌈n / 256⌉ / 256⌉, …, summed.
    Levels,
    /// h = 256 · ⌈n / 256⌉, and the first D − 1 of its ceilings, summed.
    Histograms,
    /// n, b = ⌈n / 256⌉, and those of its ceilings that exceed 1, summed.
    Compaction,
    /// n up to 256, and else as `Compaction`.
    Runs,
}

impl Formula {
    /// As `qd::ScratchFormula` numbers them; none for 0.
    pub(crate) fn from_raw(raw: u32) -> Option<Self> {
        let all = [Self::Levels, Self::Histograms, Self::Compaction, Self::Runs];
        all.get((raw as usize).checked_sub(1)?).copied()
    }

    /// The number of scratch slots, at least 1: a number, or an expression for it.
    pub fn slots<N: Number>(self, n: N, depth: u32) -> N {
        let slots = match self {
            Self::Levels => ceilings(n, depth - 1),
            Self::Histograms => {
                let table = n.tiles().times_block();
                table.clone() + ceilings(table, depth - 1)
            }
            Self::Compaction => compaction(n),
            Self::Runs => n.clone().up_to_block_or(compaction(n)),
        };
        slots.at_least_one()
    }
}

/// The first `terms` of ⌈n / 256⌉, ⌈⌈n / 256⌉ / 256⌉, …, summed.
fn ceilings<N: Number>(n: N, terms: u32) -> N {
    let mut sum = n.zero();
    let mut level = n;
    for _ in 0..terms {
        level = level.tiles();
        sum = sum + level.clone();
    }
    sum
}

fn compaction<N: Number>(n: N) -> N {
    let mut level = n.clone().tiles();
    let mut sum = n + level.clone();
    // Of at most 256^4 elements, the fourth ceiling is 1.
    for _ in 2..MAX_DEPTH {
        level = level.tiles();
        sum = sum + level.clone().if_several();
    }
    sum
}

/// The arithmetic of the formulas.
pub trait Number: Clone + Add<Output = Self> {
    /// 0, made as it is.
    fn zero(&self) -> Self;
    /// ⌈n / 256⌉.
    fn tiles(self) -> Self;
    /// 256 · n.
    fn times_block(self) -> Self;
    /// Itself, or 1 if it is 0.
    fn at_least_one(self) -> Self;
    /// Itself if it is more than 1, or else 0.
    fn if_several(self) -> Self;
    /// Itself if it is at most 256, or else `more`.
    fn up_to_block_or(self, more: Self) -> Self;
}

impl Number for u64 {
    fn zero(&self) -> Self {
        0
    }
    fn tiles(self) -> Self {
        self.div_ceil(BLOCK)
    }
    fn times_block(self) -> Self {
        self * BLOCK
    }
    fn at_least_one(self) -> Self {
        self.max(1)
    }
    fn if_several(self) -> Self {
        if self > 1 { self } else { 0 }
    }
    fn up_to_block_or(self, more: Self) -> Self {
        if self <= BLOCK { self } else { more }
    }
}

impl Number for V<'_, '_> {
    fn zero(&self) -> Self {
        self.same(0)
    }
    fn tiles(self) -> Self {
        (self + (BLOCK as i64 - 1)) / BLOCK as i64
    }
    fn times_block(self) -> Self {
        self * BLOCK as i64
    }
    fn at_least_one(self) -> Self {
        self.max(1)
    }
    fn if_several(self) -> Self {
        self.gt(1).select(self, self.zero())
    }
    fn up_to_block_or(self, more: Self) -> Self {
        self.le(BLOCK as i64).select(self, more)
    }
}
