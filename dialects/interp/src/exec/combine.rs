//! Reductions and scans: values combined from the lowest index to the highest.

use super::{arithmetic as math, control::run_pure, lanes::Lanes};
use crate::{
    fault::Outcome,
    memory::Memrefs,
    program::{Combiner, Combining},
};

/// K scalars for each of n threads or elements, and which are poison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tuples {
    pub width: usize,
    pub bits: Vec<u64>,
    /// One bit for each scalar of a tuple.
    pub poison: Vec<u64>,
}

impl Tuples {
    pub fn new(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    pub fn len(&self) -> usize {
        self.poison.len()
    }

    pub fn get(&self, index: usize) -> &[u64] {
        &self.bits[index * self.width..][..self.width]
    }

    pub fn push(&mut self, bits: impl IntoIterator<Item = u64>, poison: u64) {
        self.bits.extend(bits);
        self.poison.push(poison);
    }

    /// One that holds nothing but poison.
    fn push_poison(&mut self) {
        self.push(std::iter::repeat_n(0, self.width), u64::MAX);
    }
}

/// The value that changes nothing, one scalar for each of a tuple.
pub(crate) fn identity(combiner: &Combiner) -> Vec<u64> {
    match combiner {
        Combiner::Kind(kind, element) => vec![math::identity(*kind, *element)],
        Combiner::Region(region) => region.identities.clone(),
    }
}

/// Combines tuples by one combiner.
pub(crate) struct Folder<'p> {
    combiner: &'p Combiner,
    /// Where a region's code runs: one lane.
    lanes: Lanes,
    memrefs: Memrefs,
}

impl<'p> Folder<'p> {
    pub fn new(combiner: &'p Combiner) -> Self {
        let registers = match combiner {
            Combiner::Kind(..) => 0,
            Combiner::Region(region) => region.code.registers,
        };
        Self {
            combiner,
            lanes: Lanes::new(1, registers),
            memrefs: Memrefs::default(),
        }
    }

    /// `right = left ∘ right`; the poison of the result.
    pub fn combine(
        &mut self,
        left: (&[u64], u64),
        right: &mut [u64],
        right_poison: u64,
    ) -> Outcome<u64> {
        let region = match self.combiner {
            Combiner::Kind(kind, element) => {
                right[0] = math::combine(*kind, *element, left.0[0], right[0]);
                return Ok((left.1 | right_poison) & 1);
            }
            Combiner::Region(region) => region,
        };
        let width = right.len();
        for (index, (&left_bits, &right_bits)) in left.0.iter().zip(right.iter()).enumerate() {
            let (l, r) = (region.parameters[index], region.parameters[width + index]);
            self.lanes.set_all(l, left_bits);
            self.lanes.set_poison(l, left.1 >> index & 1);
            self.lanes.set_all(r, right_bits);
            self.lanes.set_poison(r, right_poison >> index & 1);
        }
        run_pure(&region.code, &mut self.lanes, &mut self.memrefs)?;
        let mut poison = 0;
        for (index, &reg) in region.results.iter().enumerate() {
            right[index] = self.lanes.get(reg, 0);
            poison |= (self.lanes.is_poison(reg, 0) as u64) << index;
        }
        Ok(poison)
    }

    /// Makes each tuple the combination of those from the nearest head up to
    /// itself. The first is a head in any case.
    pub fn inclusive(&mut self, tuples: &mut Tuples, head: impl Fn(usize) -> bool) -> Outcome {
        for index in 1..tuples.len() {
            if head(index) {
                continue;
            }
            let (before, rest) = tuples.bits.split_at_mut(index * tuples.width);
            let left = &before[(index - 1) * tuples.width..];
            let right = &mut rest[..tuples.width];
            let poison = (tuples.poison[index - 1], tuples.poison[index]);
            tuples.poison[index] = self.combine((left, poison.0), right, poison.1)?;
        }
        Ok(())
    }
}

/// The results of each thread of a tile or a block.
pub(crate) fn combine_group(
    combining: Combining,
    combiner: &Combiner,
    mut values: Tuples,
    head: impl Fn(usize) -> bool,
) -> Outcome<Tuples> {
    let segmented = combining == Combining::Segmented;
    Folder::new(combiner).inclusive(&mut values, |index| segmented && head(index))?;
    let (count, mut results) = (values.len(), Tuples::new(values.width));
    let from = |index: usize| (values.get(index).iter().copied(), values.poison[index]);
    match combining {
        Combining::Inclusive | Combining::Segmented => return Ok(values),
        Combining::Exclusive => {
            results.push(identity(combiner), 0);
            for index in 1..count {
                let (bits, poison) = from(index - 1);
                results.push(bits, poison);
            }
        }
        Combining::Reduce => {
            let (bits, poison) = from(count - 1);
            results.push(bits, poison);
            (1..count).for_each(|_| results.push_poison());
        }
        Combining::ReduceAll => {
            for _ in 0..count {
                let (bits, poison) = from(count - 1);
                results.push(bits, poison);
            }
        }
    }
    Ok(results)
}
