//! The order in which `deterministic` combines floats, as the page of `qd.algo.reduce`
//! defines it.

use super::known;
use crate::{
    exec::{Call, Folder, identity},
    fault::Outcome,
    program::{Combiner, Kind},
    value::Element,
};

/// Runs of a tile.
const RUNS: usize = 256;
/// Runs of a group.
const GROUP: usize = 32;
/// Tiles of a band.
const BAND: usize = 32;

/// `left ∘ right`.
type Combine<'a> = dyn FnMut(&[u64], &[u64]) -> Outcome<Vec<u64>> + 'a;

/// Whether a call is to combine the elements of an operand in this order.
pub(super) fn applies(call: &Call<'_>, combined: usize) -> Outcome<bool> {
    let rounds = match call.combiner()? {
        Combiner::Kind(kind, element) => {
            element.is_float() && matches!(kind, Kind::Add | Kind::Mul)
        }
        Combiner::Region(_) => call.elements(combined).iter().any(|e| e.is_float()),
    };
    Ok(rounds && call.is_deterministic())
}

/// A function that combines by this combiner.
pub(super) fn combine(combiner: &Combiner) -> impl FnMut(&[u64], &[u64]) -> Outcome<Vec<u64>> {
    let mut folder = Folder::new(combiner);
    move |left, right| {
        let mut result = right.to_vec();
        known(folder.combine((left, 0), &mut result, 0)?)?;
        Ok(result)
    }
}

/// Whether a combiner is known to commute: no region is.
pub(super) fn commutes(combiner: &Combiner) -> bool {
    matches!(combiner, Combiner::Kind(..))
}

/// What changes no value that it is combined with, not even a zero's sign.
pub(super) fn nothing(combiner: &Combiner) -> Vec<u64> {
    match combiner {
        Combiner::Kind(Kind::Add, element) if element.is_float() => vec![element.rounded(-0.0)],
        _ => identity(combiner),
    }
}

/// The tree over a sequence of elements.
pub(super) struct FixedOrder<'a> {
    combine: Box<Combine<'a>>,
    nothing: Vec<u64>,
    items: usize,
}

/// A tile's combination, and that of the runs before each run.
struct Tile {
    before: Vec<Vec<u64>>,
    total: Vec<u64>,
}

/// What a scan makes of its elements.
pub(super) struct Scanned {
    pub results: Vec<Vec<u64>>,
    /// The combination of all.
    pub total: Vec<u64>,
}

impl<'a> FixedOrder<'a> {
    /// For elements that hold these.
    pub fn new(
        combine: impl FnMut(&[u64], &[u64]) -> Outcome<Vec<u64>> + 'a,
        nothing: Vec<u64>,
        elements: &[Element],
    ) -> Self {
        let bytes: usize = elements.iter().map(|element| element.bytes().max(4)).sum();
        let items = match bytes {
            ..=4 => 31,
            5..=8 => 23,
            9..=12 => 17,
            13..=20 => 11,
            21..=24 => 9,
            25..=28 => 7,
            _ => 5,
        };
        Self {
            combine: Box::new(combine),
            nothing,
            items,
        }
    }

    fn size(&self) -> usize {
        RUNS * self.items
    }

    fn fold<'e>(&mut self, values: impl IntoIterator<Item = &'e Vec<u64>>) -> Outcome<Vec<u64>> {
        let nothing = self.nothing.clone();
        values
            .into_iter()
            .try_fold(nothing, |sum, value| (self.combine)(&sum, value))
    }

    /// A tile whose runs have these sums.
    fn tile(&mut self, sums: &[Vec<u64>]) -> Outcome<Tile> {
        let mut totals = Vec::new();
        let mut before = Vec::new();
        for group in sums.chunks(GROUP) {
            let groups = self.fold(&totals)?;
            for nth in 0..group.len() {
                let within = self.fold(&group[..nth])?;
                before.push((self.combine)(&groups, &within)?);
            }
            totals.push(self.fold(group)?);
        }
        let total = self.fold(&totals)?;
        Ok(Tile { before, total })
    }

    /// The combination of all elements. A run holds elements that are as many apart as
    /// there are runs if the combiner `commutes`, and otherwise neighbours.
    pub fn reduce(
        &mut self,
        mut elements: Vec<Vec<u64>>,
        first: &[u64],
        commutes: bool,
    ) -> Outcome<Vec<u64>> {
        loop {
            let mut totals = Vec::new();
            for tile in elements.chunks(self.size()) {
                let mut sums = Vec::new();
                for run in 0..RUNS {
                    let (start, step) = match commutes {
                        true => (run, RUNS),
                        false => (run * self.items, 1),
                    };
                    let all = tile.iter().skip(start).step_by(step).take(self.items);
                    sums.push(self.fold(all)?);
                }
                totals.push(self.tile(&sums)?.total);
            }
            match totals.as_slice() {
                [] => return Ok(first.to_vec()),
                [total] => return (self.combine)(first, total),
                _ => elements = totals,
            }
        }
    }

    /// The combination of all elements before each, or up to it if `inclusive`, after
    /// `first`.
    pub fn scan(
        &mut self,
        elements: &[Vec<u64>],
        first: &[u64],
        inclusive: bool,
    ) -> Outcome<Scanned> {
        let mut results = Vec::new();
        let mut before_band = first.to_vec();
        let mut in_band = self.nothing.clone();
        let mut total = first.to_vec();
        for (nth, tile) in elements.chunks(self.size()).enumerate() {
            if nth > 0 && nth.is_multiple_of(BAND) {
                before_band = (self.combine)(&before_band, &in_band)?;
                in_band = self.nothing.clone();
            }
            let prefix = (self.combine)(&before_band, &in_band)?;
            let mut sums = Vec::new();
            for run in 0..RUNS {
                let all = tile.iter().skip(run * self.items).take(self.items);
                sums.push(self.fold(all)?);
            }
            let Tile {
                before,
                total: aggregate,
            } = self.tile(&sums)?;
            for (run, before) in tile.chunks(self.items).zip(&before) {
                let mut below = self.nothing.clone();
                for element in run {
                    let upto = (self.combine)(&below, element)?;
                    let own = if inclusive { &upto } else { &below };
                    let in_tile = (self.combine)(before, own)?;
                    results.push((self.combine)(&prefix, &in_tile)?);
                    below = upto;
                }
            }
            total = (self.combine)(&prefix, &aggregate)?;
            in_band = (self.combine)(&in_band, &aggregate)?;
        }
        Ok(Scanned { results, total })
    }
}
