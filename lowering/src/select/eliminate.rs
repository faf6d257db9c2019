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

use super::exact::{Needs, Ways};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;

/// Classes of a table.
pub const MOST_CLASSES: usize = 10;
/// Choices of ways of a part's classes, times the states of its table.
const MOST_TRIES: usize = 1 << 14;

/// What nothing can have.
const NEVER: u64 = u64::MAX;

/// Classes, and the places of their ways.
pub type Taken = SmallVec<[(usize, usize); 2]>;

/// A group of classes whose choices depend on one another.
pub struct Group<'a> {
    /// The ways of all classes.
    pub ways: &'a [Ways],
    /// The classes that every solution has.
    pub is_sure: &'a [bool],
    /// Its classes, in parts: no circle is in several.
    pub parts: Vec<Needs>,
}

impl Group<'_> {
    /// The place of the way of each class that the cheapest solution uses; none if there is no solution, or too
    /// many classes depend on one another. `places` is all 0, before and after.
    pub fn cheapest(
        &self,
        is_acyclic: impl FnMut(&[(usize, usize)]) -> bool,
        places: &mut [usize],
    ) -> Option<Taken> {
        // What is sure is there in any case.
        let mut open = 0;
        let classes = self.parts.iter().flatten();
        for class in classes.clone().filter(|class| !self.is_sure[**class]) {
            open += 1;
            places[*class] = open;
        }
        let taken = self.solved(is_acyclic, open, places);
        classes.for_each(|class| places[*class] = 0);
        taken
    }

    fn solved(
        &self,
        mut is_acyclic: impl FnMut(&[(usize, usize)]) -> bool,
        open: usize,
        places: &[usize],
    ) -> Option<Taken> {
        let parts = self.parts.iter();
        let parts = parts.map(|part| Part::of(part, self, &mut is_acyclic, places));
        let parts = parts.collect::<Option<Vec<_>>>()?;
        let is_used = cheapest_use(parts.iter().map(Part::table).collect(), open)?;
        let mut taken = Taken::new();
        for part in &parts {
            let best = part.best(index_of(&part.of, &is_used))?;
            taken.extend_from_slice(&best.taken);
        }
        Some(taken)
    }
}

/// Classes that may need one another, with what they may have together.
struct Part {
    /// The open ones that matter to it, by their places, ascending.
    of: Needs,
    /// Which of these are its own, as bits of an index.
    own: usize,
    all: SmallVec<[Together; 4]>,
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

impl Part {
    /// None if too much matters to it, or its classes have too many ways.
    fn of(
        classes: &[usize],
        Group { ways, is_sure, .. }: &Group<'_>,
        is_acyclic: &mut impl FnMut(&[(usize, usize)]) -> bool,
        places: &[usize],
    ) -> Option<Self> {
        let place = |class: &usize| places[*class].checked_sub(1);
        let needs = classes.iter().flat_map(|class| &ways[*class]);
        let needs = needs.flat_map(|way| &way.needs);
        let mut of: Needs = needs.chain(classes).filter_map(place).collect();
        of.sort_unstable();
        of.dedup();
        if of.len() > MOST_CLASSES {
            return None;
        }
        let bits = |classes: &[usize]| {
            let bit = |class| 1 << of.partition_point(|other| *other < class);
            let classes = classes.iter().filter_map(place);
            classes.fold(0, |bits, class| bits | bit(class))
        };
        let mut all: SmallVec<[Together; 4]> = smallvec![Together::default()];
        for class in classes {
            let used = bits(&[*class]);
            let mut with: SmallVec<[Together; 4]> = SmallVec::new();
            for (place, way) in ways[*class].iter().enumerate() {
                let needs = bits(&way.needs);
                with.extend(all.iter().cloned().map(|mut together| {
                    together.taken.push((*class, place));
                    together.cost += way.cost;
                    together.used |= used;
                    together.needs |= needs;
                    together
                }));
            }
            if !is_sure[*class] {
                with.append(&mut all);
            }
            all = with;
            if all.len() << of.len() > MOST_TRIES {
                return None;
            }
        }
        all.retain(|together| is_acyclic(&together.taken));
        let own = bits(classes);
        Some(Self { of, own, all })
    }

    /// The cheapest where those classes are used, the first of equal ones.
    fn best(&self, index: usize) -> Option<&Together> {
        let is_possible =
            |way: &&Together| way.used == index & self.own && way.needs & index == way.needs;
        let possible = self.all.iter().filter(is_possible);
        possible.min_by_key(|way| way.cost)
    }

    fn table(&self) -> Table {
        let cost = |index| self.best(index).map_or(NEVER, |together| together.cost);
        Table {
            costs: (0..1 << self.of.len()).map(cost).collect(),
            of: self.of.clone(),
        }
    }
}

/// A cost for each state of some open classes: bit `n` of an index says whether the `n`th is used.
struct Table {
    /// By their places, ascending.
    of: Needs,
    costs: SmallVec<[u64; 8]>,
}

fn index_of(classes: &[usize], is_used: &[bool]) -> usize {
    let bits = classes.iter().enumerate();
    let bits = bits.map(|(at, class)| usize::from(is_used[*class]) << at);
    bits.sum()
}

/// Which classes are used where all tables together cost least; none if there is no way, or too many classes are
/// in one table.
fn cheapest_use(tables: Vec<Table>, classes: usize) -> Option<Vec<bool>> {
    let mut of_class: Vec<Needs> = vec![Needs::new(); classes];
    // With how many others a class is in tables, at most: the least goes first.
    let mut others = vec![0; classes];
    for (number, table) in tables.iter().enumerate() {
        for class in &table.of {
            of_class[*class].push(number);
            others[*class] += table.of.len() - 1;
        }
    }
    let mut tables: Vec<Option<Table>> = tables.into_iter().map(Some).collect();
    let mut next: BTreeSet<(usize, usize)> = others.iter().copied().zip(0..).collect();
    let mut taken_out: Vec<(usize, Vec<Table>)> = Vec::with_capacity(classes);
    while let Some((_, class)) = next.pop_first() {
        let numbers = std::mem::take(&mut of_class[class]);
        let with: Vec<Table> = numbers.iter().filter_map(|at| tables[*at].take()).collect();
        let mut left: Needs = with.iter().flat_map(|table| &table.of).copied().collect();
        left.sort_unstable();
        left.dedup();
        left.retain(|other| *other != class);
        if left.len() > MOST_CLASSES {
            return None;
        }
        for other in &left {
            let before = others[*other];
            let gone = with.iter().filter(|table| table.of.contains(other));
            let gone: usize = gone.map(|table| table.of.len() - 1).sum();
            others[*other] = before - gone + left.len() - 1;
            next.remove(&(before, *other));
            next.insert((others[*other], *other));
            of_class[*other].push(tables.len());
        }
        tables.push(Some(without(class, left, &with)));
        taken_out.push((class, with));
    }
    let mut is_used = vec![false; classes];
    for (class, with) in taken_out.iter().rev() {
        let [unused, used] = [false, true].map(|state| {
            is_used[*class] = state;
            let costs = with.iter();
            let costs = costs.map(|table| table.costs[index_of(&table.of, &is_used)]);
            costs.fold(0, u64::saturating_add)
        });
        if unused.min(used) == NEVER {
            return None;
        }
        is_used[*class] = used < unused;
    }
    Some(is_used)
}

/// The sum of tables without a class, at the best of both for each state of those that are left.
fn without(class: usize, left: Needs, tables: &[Table]) -> Table {
    let count = 1 << left.len();
    let mut both: SmallVec<[[u64; 2]; 8]> = smallvec![[0; 2]; count];
    let mut places: SmallVec<[usize; 8]> = smallvec![0; count];
    let places = places.as_mut_slice();
    for Table { of, costs } in tables {
        let costs = costs.as_slice();
        let bit = |class: usize| match of.iter().position(|other| *other == class) {
            Some(at) => 1 << at,
            None => 0,
        };
        // An index of some bits is one of fewer bits, and its last bit.
        for (at, class) in left.iter().enumerate() {
            let bit = bit(*class);
            let (known, next) = places.split_at_mut(1 << at);
            next.iter_mut()
                .zip(known)
                .for_each(|(next, known)| *next = *known | bit);
        }
        let own = bit(class);
        for (both, place) in both.iter_mut().zip(&*places) {
            both[0] = both[0].saturating_add(costs[*place]);
            both[1] = both[1].saturating_add(costs[*place | own]);
        }
    }
    Table {
        of: left,
        costs: both.iter().map(|both| both[0].min(both[1])).collect(),
    }
}
