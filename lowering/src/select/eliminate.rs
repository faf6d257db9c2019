//! The cheapest solution of a group of classes, by the elimination of one class after the other.
//!
//! A solution is known by the classes that it uses: each takes its cheapest way of which all needs are used, and classes that
//! may need one another take those together that close no circle. So what such a *part* costs is a table over its classes and
//! what their ways need, and the least sum of all tables is found by taking a class out
//! of all tables that know it, at the best of both for each state of the others, until none is left (Dechter,
//! Bucket elimination, Artificial Intelligence 113, 1999; of e-graphs: Goharshady et al., Fast and Optimal Extraction for
//! Sparse Equality Graphs, OOPSLA 2024). Time grows with the number of classes, and by a factor of two with each class that
//! a table has. What much shares, such as the mask of the lanes below, is in many tables, each with
//! little else, and is taken out last.
//!
//! Bounds: [`MOST_CLASSES`] of a table, and [`MOST_TRIES`] of a part's choices at the states of its table.
//!
//! Groups are many, and tables are small and many: all of a kind stand in one place, which the next group takes again.

use super::exact::Ways;
use smallvec::SmallVec;
use std::{cmp::Reverse, collections::BinaryHeap, ops::Range};

/// Classes of a table.
pub const MOST_CLASSES: usize = 10;
/// Choices of ways of a part's classes, times the states of its table.
const MOST_TRIES: usize = 1 << 14;

/// What nothing can have.
const NEVER: u64 = u64::MAX;

/// Classes, and the places of their ways.
pub type Taken = SmallVec<[(usize, usize); 2]>;

/// Places of open classes, ascending: bit `n` of an index says whether the `n`th is used.
type Places = SmallVec<[u32; MOST_CLASSES + 2]>;

/// Finds the cheapest solutions of groups, one after another.
pub struct Elimination<'a> {
    /// The ways of all classes.
    ways: &'a [Ways],
    /// The classes that every solution has.
    is_sure: &'a [bool],
    /// Of each class its place among the open ones of the group; nothing is 0.
    places: Vec<u32>,
    parts: Vec<Part>,
    all: Vec<Together>,
    tables: Vec<Table>,
    /// Those of all tables.
    costs: Vec<u64>,
    /// Of tables that are added up: the sum of each state, and where it is in one of them.
    sums: Vec<[u64; 2]>,
    indices: Vec<usize>,
}

/// Classes that may need one another, with what they may have together.
struct Part {
    /// The open ones that matter to it.
    of: Places,
    /// Which of these are its own, as bits of an index.
    own: usize,
    /// Where what it may have is.
    all: Range<usize>,
}

/// Ways of the classes of a part that close no circle.
#[derive(Clone, Default)]
struct Together {
    taken: Taken,
    cost: u64,
    /// Which of the part's own classes they are of, and what they need, as bits of an index.
    used: usize,
    needs: usize,
}

/// A cost for each state of some open classes.
struct Table {
    of: Places,
    /// Where the first is.
    start: usize,
    /// Whether it is part of another one.
    is_done: bool,
}

impl Together {
    /// Whether this is what is used of a part's own classes, and all that it needs is used.
    fn is_possible(&self, own: usize, index: usize) -> bool {
        self.used == index & own && self.needs & index == self.needs
    }
}

impl<'a> Elimination<'a> {
    pub fn new(ways: &'a [Ways], is_sure: &'a [bool]) -> Self {
        Self {
            ways,
            is_sure,
            places: vec![0; ways.len()],
            parts: Vec::new(),
            all: Vec::new(),
            tables: Vec::new(),
            costs: Vec::new(),
            sums: Vec::new(),
            indices: Vec::new(),
        }
    }

    /// The place of the way of each class that the cheapest solution of a group uses; none if there is no solution, or
    /// too many classes depend on one another. No circle is in several parts.
    pub fn cheapest<'p>(
        &mut self,
        parts: impl Iterator<Item = &'p [usize]> + Clone,
        is_acyclic: impl FnMut(&[(usize, usize)]) -> bool,
    ) -> Option<Taken> {
        self.parts.clear();
        self.all.clear();
        self.tables.clear();
        self.costs.clear();
        // What is sure is there in any case.
        let mut open = 0;
        for class in parts.clone().flatten() {
            if !self.is_sure[*class] {
                open += 1;
                self.places[*class] = open;
            }
        }
        let taken = self.solved(parts.clone(), is_acyclic, open as usize);
        parts.flatten().for_each(|class| self.places[*class] = 0);
        taken
    }

    fn solved<'p>(
        &mut self,
        parts: impl Iterator<Item = &'p [usize]>,
        mut is_acyclic: impl FnMut(&[(usize, usize)]) -> bool,
        open: usize,
    ) -> Option<Taken> {
        // A table for each part, and one for each class that is taken out.
        self.parts.reserve(open);
        self.tables.reserve(2 * open);
        for part in parts {
            self.add(part, &mut is_acyclic)?;
        }
        let is_used = self.cheapest_use(open)?;
        let mut taken = Taken::new();
        for Part { of, own, all } in &self.parts {
            let index = index_of(of, &is_used);
            let all = self.all[all.clone()].iter();
            let possible = all.filter(|together| together.is_possible(*own, index));
            // The first of equal ones.
            taken.extend_from_slice(&possible.min_by_key(|together| together.cost)?.taken);
        }
        Some(taken)
    }

    /// Adds a part and its table; none if too much matters to it, or its classes have too many ways.
    fn add(
        &mut self,
        classes: &[usize],
        is_acyclic: &mut impl FnMut(&[(usize, usize)]) -> bool,
    ) -> Option<()> {
        let Self { ways, places, .. } = self;
        let place = |class: &usize| places[*class].checked_sub(1);
        let mut of = Places::new();
        let needs = classes.iter().flat_map(|class| &ways[*class]);
        let needs = needs.flat_map(|way| &way.needs);
        for place in classes.iter().chain(needs).filter_map(place) {
            if let Err(at) = of.binary_search(&place) {
                of.insert(at, place);
            }
            if of.len() > MOST_CLASSES {
                return None;
            }
        }
        let bits = |classes: &[usize]| {
            let bit = |class| 1 << of.partition_point(|other| *other < class);
            let classes = classes.iter().filter_map(place);
            classes.fold(0, |bits, class| bits | bit(class))
        };
        let all = &mut self.all;
        let start = all.len();
        all.push(Together::default());
        for class in classes {
            let used = bits(&[*class]);
            let before = start..all.len();
            for (place, way) in ways[*class].iter().enumerate() {
                let needs = bits(&way.needs);
                for at in before.clone() {
                    let mut together = all[at].clone();
                    together.taken.push((*class, place));
                    together.cost += way.cost;
                    together.used |= used;
                    together.needs |= needs;
                    all.push(together);
                }
            }
            if self.is_sure[*class] {
                all.drain(before);
            }
            if (all.len() - start) << of.len() > MOST_TRIES {
                return None;
            }
        }
        let own = bits(classes);
        let table = self.costs.len();
        self.costs.resize(table + (1 << of.len()), NEVER);
        let costs = &mut self.costs[table..];
        let mut kept = start;
        for at in start..all.len() {
            let together = &all[at];
            let index = together.used | together.needs;
            if together.is_possible(own, index) && is_acyclic(&together.taken) {
                costs[index] = costs[index].min(together.cost);
                all.swap(kept, at);
                kept += 1;
            }
        }
        all.truncate(kept);
        // What is possible is so if more of the others is used.
        for bit in (0..of.len()).map(|at| 1 << at).filter(|bit| own & bit == 0) {
            for pair in costs.chunks_exact_mut(2 * bit) {
                let (without, with) = pair.split_at_mut(bit);
                for (with, without) in with.iter_mut().zip(without) {
                    *with = (*with).min(*without);
                }
            }
        }
        self.tables.push(Table {
            of: of.clone(),
            start: table,
            is_done: false,
        });
        let all = start..all.len();
        self.parts.push(Part { of, own, all });
        Some(())
    }

    /// Which classes are used where all tables together cost least; none if there is no way, or too many classes are
    /// in one table.
    fn cheapest_use(&mut self, classes: usize) -> Option<Vec<bool>> {
        let mut of_class: Vec<SmallVec<[u32; 6]>> = vec![SmallVec::new(); classes];
        // With how many others a class is in tables, at most: the least goes first.
        let mut others = vec![0; classes];
        for (number, table) in self.tables.iter().enumerate() {
            for class in &table.of {
                of_class[*class as usize].push(number as u32);
                others[*class as usize] += table.of.len() - 1;
            }
        }
        // Of a count and a class, one word: what is compared is short.
        let entry = |count: usize, class: u32| Reverse((count as u64) << 32 | u64::from(class));
        let next = others.iter().zip(0..);
        let mut next: BinaryHeap<Reverse<u64>> =
            next.map(|(count, class)| entry(*count, class)).collect();
        let mut taken_out = Vec::with_capacity(classes);
        let mut is_out = vec![false; classes];
        // As it was last put into the queue.
        let mut queued = others.clone();
        while let Some(next_entry) = next.pop() {
            // Of a class the last count is meant.
            let class = next_entry.0 as u32;
            let at = class as usize;
            if is_out[at] || entry(others[at], class) != next_entry {
                continue;
            }
            is_out[at] = true;
            let mut with = std::mem::take(&mut of_class[at]);
            with.retain(|number| !self.tables[*number as usize].is_done);
            let mut left = Places::new();
            for number in &with {
                let table = &mut self.tables[*number as usize];
                table.is_done = true;
                for other in table.of.iter().filter(|other| **other != class) {
                    if let Err(at) = left.binary_search(other) {
                        left.insert(at, *other);
                    }
                    others[*other as usize] -= table.of.len() - 1;
                }
                if left.len() > MOST_CLASSES {
                    return None;
                }
            }
            for other in &left {
                let at = *other as usize;
                others[at] += left.len() - 1;
                if queued[at] != others[at] {
                    queued[at] = others[at];
                    next.push(entry(others[at], *other));
                }
                of_class[at].push(self.tables.len() as u32);
            }
            self.take_out(class, left, &with);
            taken_out.push((class, with));
        }
        let mut is_used = vec![false; classes];
        for (class, with) in taken_out.iter().rev() {
            let [mut unused, mut used] = [0u64; 2];
            for number in with {
                let Table { of, start, .. } = &self.tables[*number as usize];
                let index = start + index_of(of, &is_used);
                unused = unused.saturating_add(self.costs[index]);
                used = used.saturating_add(self.costs[index + bit_of(of, *class)]);
            }
            if unused.min(used) == NEVER {
                return None;
            }
            is_used[*class as usize] = used < unused;
        }
        Some(is_used)
    }

    /// Adds the sum of tables without a class, at the best of both for each state of those that are left.
    fn take_out(&mut self, class: u32, left: Places, with: &[u32]) {
        let Self {
            tables,
            costs,
            sums,
            indices,
            ..
        } = self;
        sums.clear();
        sums.resize(1 << left.len(), [0; 2]);
        for number in with {
            let Table { of, start, .. } = &tables[*number as usize];
            // Where each state is in the table: those in which a class is used stand after those in which it is not.
            indices.clear();
            indices.push(*start);
            for other in &left {
                let unused = indices.len();
                indices.extend_from_within(..);
                let bit = bit_of(of, *other);
                indices[unused..].iter_mut().for_each(|index| *index += bit);
            }
            let own = bit_of(of, class);
            for (both, index) in sums.iter_mut().zip(&*indices) {
                both[0] = both[0].saturating_add(costs[*index]);
                both[1] = both[1].saturating_add(costs[*index + own]);
            }
        }
        tables.push(Table {
            of: left,
            start: costs.len(),
            is_done: false,
        });
        costs.extend(sums.iter().map(|both| both[0].min(both[1])));
    }
}

/// The bit of a class, where it is one of these.
fn bit_of(classes: &[u32], class: u32) -> usize {
    let at = classes.iter().position(|other| *other == class);
    at.map_or(0, |at| 1 << at)
}

fn index_of(classes: &[u32], is_used: &[bool]) -> usize {
    let bits = classes.iter().enumerate();
    let bits = bits.map(|(at, class)| usize::from(is_used[*class as usize]) << at);
    bits.sum()
}
