//! The cheapest choice of terms, where what several share counts once: found exactly, or, where a
//! part of the body is too large for that, as it was given.
//!
//! A *solution* has one way for each class that it uses, and no class needs itself. Classes that
//! every solution has are *sure*: their cost is sunk, so that they join no choices. What is left
//! falls apart into groups, of each of which the cheapest solution is found by [elimination](super::eliminate).
//!
//! Deviations from the usual integer program (Yang et al., Equality Saturation for Tensor
//! Graph Superoptimization, MLSys 2021): no solver, since few classes depend on one another at once; circles are looked for
//! inside strongly connected components alone.

use super::eliminate::{Elimination, Taken};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

/// What a way needs at most with what is merged into it: a table of it is small.
const MOST_MERGED: usize = 5;

/// Classes, such as those that a way needs: few are more.
pub type Needs = SmallVec<[usize; 3]>;

/// The ways of a class: most have one.
pub type Ways = SmallVec<[Way; 1]>;

/// A way to have the value of a class.
#[derive(Clone, Debug)]
pub struct Way {
    /// What the caller calls it: its number among the terms of the class.
    pub number: usize,
    /// What it takes by itself.
    pub cost: u64,
    /// The classes that it needs.
    pub needs: Needs,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Of each class the number of a way. Of classes that nothing uses it is the given one.
    pub choice: Vec<usize>,
    /// The classes of groups that were not searched to the end, in order: without any no solution is cheaper.
    pub unsure: Vec<usize>,
}

/// Finds the cheapest solution that has the classes `roots`. Where too many classes of a group depend on one another, they have
/// what `given` says, which has to be a solution.
pub fn cheapest(ways: Vec<Ways>, roots: &[usize], given: &[usize]) -> Found {
    solved(ways, roots, given).unwrap_or_else(|| Found {
        choice: given.to_vec(),
        unsure: (0..given.len()).collect(),
    })
}

/// Finds a solution; none if there is none.
fn solved(mut ways: Vec<Ways>, roots: &[usize], given: &[usize]) -> Option<Found> {
    drop_impossible(&mut ways);
    if roots.iter().any(|root| ways[*root].is_empty()) {
        return None;
    }
    let components = components(&ways);
    let is_used = reached(&ways, roots);
    for (class, of_class) in ways.iter_mut().enumerate() {
        if !is_used[class] {
            of_class.clear();
        } else if let Some(free) = of_class.iter().position(Way::is_free) {
            of_class.swap(0, free);
            of_class.truncate(1);
        }
    }
    let is_sure = simplified(&mut ways, roots, &components);
    let mut choice = given.to_vec();
    for (class, of_class) in ways.iter().enumerate() {
        if let [only] = of_class.as_slice() {
            choice[class] = only.number;
        }
    }
    let mut circles = Circles {
        ways: &ways,
        components: &components,
        taken: vec![None; ways.len()],
    };
    let mut elimination = Elimination::new(&ways, &is_sure);
    let mut unsure = Vec::new();
    let mut alike = Alike::new(ways.len());
    for group in groups(&ways, &is_sure, &components) {
        let parts = group.chunk_by(|one, other| components[*one] == components[*other]);
        let solve = || elimination.cheapest(parts, |taken| !circles.have(taken));
        let taken = match alike.key(&group, &ways, &is_sure, &components) {
            Some(key) => alike.solution(key, &group, solve),
            None => solve(),
        };
        match taken {
            Some(taken) => {
                for (class, way) in taken {
                    choice[class] = ways[class][way].number;
                }
            }
            None => {
                group
                    .iter()
                    .for_each(|class| choice[*class] = given[*class]);
                unsure.extend(group);
            }
        }
    }
    unsure.sort_unstable();
    Some(Found { choice, unsure })
}

impl Way {
    fn is_free(&self) -> bool {
        self.cost == 0 && self.needs.is_empty()
    }
}

/// Drops ways that need what nothing gives, or their own class.
fn drop_impossible(ways: &mut [Ways]) {
    let mut is_possible = vec![false; ways.len()];
    let mut users: Vec<Needs> = vec![Needs::new(); ways.len()];
    for (class, of_class) in ways.iter_mut().enumerate() {
        for way in of_class.iter_mut() {
            way.needs.sort_unstable();
            way.needs.dedup();
            way.needs.iter().for_each(|need| users[*need].push(class));
        }
        of_class.retain(|way| way.needs.binary_search(&class).is_err());
    }
    // Most classes stand after what they need.
    let mut changed: Vec<usize> = (0..ways.len()).rev().collect();
    while let Some(class) = changed.pop() {
        let has = |way: &Way| way.needs.iter().all(|need| is_possible[*need]);
        if !is_possible[class] && ways[class].iter().any(has) {
            is_possible[class] = true;
            changed.extend_from_slice(&users[class]);
        }
    }
    for of_class in ways {
        of_class.retain(|way| way.needs.iter().all(|need| is_possible[*need]));
    }
}

/// The classes that some solution may use.
fn reached(ways: &[Ways], roots: &[usize]) -> Vec<bool> {
    let mut seen = vec![false; ways.len()];
    let mut stack = roots.to_vec();
    while let Some(class) = stack.pop() {
        if !std::mem::replace(&mut seen[class], true) {
            stack.extend(ways[class].iter().flat_map(|way| &way.needs));
        }
    }
    seen
}

/// The strongly connected component of each class, by Tarjan's algorithm.
fn components(ways: &[Ways]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut component = vec![NONE; ways.len()];
    let (mut index, mut low) = (vec![NONE; ways.len()], vec![0; ways.len()]);
    let (mut stack, mut count, mut made) = (Vec::new(), 0, 0);
    for root in 0..ways.len() {
        if index[root] != NONE {
            continue;
        }
        // A class, a way of its, and a need of that to be looked at next.
        let mut calls = vec![(root, 0, 0)];
        while let Some((class, way, need)) = calls.last_mut() {
            let class = *class;
            if index[class] == NONE {
                (index[class], low[class]) = (count, count);
                count += 1;
                stack.push(class);
            }
            if *way == ways[class].len() {
                if low[class] == index[class] {
                    while let Some(member) = stack.pop() {
                        component[member] = made;
                        if member == class {
                            break;
                        }
                    }
                    made += 1;
                }
                calls.pop();
                if let Some((above, ..)) = calls.last() {
                    low[*above] = low[*above].min(low[class]);
                }
                continue;
            }
            let next = ways[class][*way].needs.get(*need).copied();
            match next {
                None => (*way, *need) = (*way + 1, 0),
                Some(next) => {
                    *need += 1;
                    if index[next] == NONE {
                        calls.push((next, 0, 0));
                    } else if component[next] == NONE {
                        low[class] = low[class].min(index[next]);
                    }
                }
            }
        }
    }
    component
}

/// What needs a class.
#[derive(Clone, Copy)]
enum User {
    None,
    One(usize),
    Several,
}

/// Makes a class of one way part of the ways that need it, where these are of one class: it is used when that takes
/// such a way. What was made part of others keeps its own way, which nothing needs. Returns whether there was one.
fn merge_into_users(
    ways: &mut [Ways],
    roots: &[usize],
    is_sure: &[bool],
    components: &[usize],
) -> bool {
    let mut users = vec![User::None; ways.len()];
    for (class, of_class) in ways.iter().enumerate() {
        for need in of_class.iter().flat_map(|way| &way.needs) {
            users[*need] = match users[*need] {
                User::None => User::One(class),
                User::One(other) if other == class => User::One(class),
                _ => User::Several,
            };
        }
    }
    roots.iter().for_each(|root| users[*root] = User::Several);
    let mut changed = false;
    // Most classes stand after what they need, so that a chain becomes part of its end, by pieces.
    for class in 0..ways.len() {
        let (User::One(user), [only]) = (users[class], ways[class].as_slice()) else {
            continue;
        };
        let is_sunk = is_sure[class] && !only.is_free();
        let is_long = |way: &Way| way.needs.len() + only.needs.len() > MOST_MERGED;
        if is_sunk || components[class] == components[user] || ways[user].iter().any(is_long) {
            continue;
        }
        let only = only.clone();
        changed = true;
        for way in &mut ways[user] {
            if let Ok(at) = way.needs.binary_search(&class) {
                way.needs.remove(at);
                way.needs.extend_from_slice(&only.needs);
                way.needs.sort_unstable();
                way.needs.dedup();
                way.cost += only.cost;
            }
        }
    }
    changed
}

/// Drops ways that another of the class is never worse than, and makes classes part of others, which shows more such ways.
/// Returns which classes are sure, or cost nothing.
fn simplified(ways: &mut [Ways], roots: &[usize], components: &[usize]) -> Vec<bool> {
    let is_free = |of_class: &Ways| matches!(of_class.as_slice(), [only] if only.is_free());
    let mut is_sure: Vec<bool> = ways.iter().map(is_free).collect();
    let mut order: Vec<usize> = (0..ways.len()).collect();
    // What is needed has a lower component, or the same one.
    order.sort_unstable_by_key(|class| (components[*class], *class));
    loop {
        let mut stack = roots.to_vec();
        let mut seen = vec![false; ways.len()];
        while let Some(class) = stack.pop() {
            if std::mem::replace(&mut seen[class], true) {
                continue;
            }
            is_sure[class] = true;
            if let Some((first, others)) = ways[class].split_first() {
                let by_all = first.needs.iter().filter(|need| {
                    let mut others = others.iter();
                    others.all(|way| way.needs.binary_search(need).is_ok())
                });
                stack.extend(by_all);
            }
        }
        let mut changed = merge_into_users(ways, roots, &is_sure, components);
        let whole = wholes(ways, &is_sure, components, &order);
        for class in 0..ways.len() {
            if ways[class].len() < 2 {
                continue;
            }
            // What is sure costs nothing more, but may close a circle in its component.
            let is_inside = |need: &usize| components[*need] == components[class];
            let matters = |need: &&usize| !is_sure[**need] || is_inside(need);
            let of = |way: &Way| way.needs.iter().filter(matters).copied().collect();
            let needs: SmallVec<[Needs; 4]> = ways[class].iter().map(of).collect();
            let is_worse = |at: usize| {
                let own = &ways[class][at];
                ways[class].iter().enumerate().any(|(other, way)| {
                    let subset = || needs[other].iter().all(|need| needs[at].contains(need));
                    let is_less = way.cost < own.cost || needs[other].len() < needs[at].len();
                    // With all that it needs, of which nothing needs this class.
                    let is_less_in_whole = || {
                        whole_of(way, &is_sure, &whole) < own.cost
                            && !needs[other].iter().any(is_inside)
                    };
                    other != at
                        && way.cost <= own.cost
                        && (subset() && (is_less || other < at) || is_less_in_whole())
                })
            };
            let worse: SmallVec<[bool; 16]> = (0..ways[class].len()).map(is_worse).collect();
            let mut worse = worse.into_iter();
            let before = ways[class].len();
            ways[class].retain(|_| !worse.next().unwrap_or(false));
            changed |= ways[class].len() != before;
        }
        if !changed {
            return is_sure;
        }
    }
}

/// What each class costs with all that it needs and that is not sure, each time that it is needed: no solution needs to take
/// more for it. `order`: the classes, each after what it needs outside of its component.
fn wholes(ways: &[Ways], is_sure: &[bool], components: &[usize], order: &[usize]) -> Vec<u64> {
    let mut whole = vec![u64::MAX; ways.len()];
    for part in order.chunk_by(|one, other| components[*one] == components[*other]) {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for class in part {
                let all = ways[*class]
                    .iter()
                    .map(|way| whole_of(way, is_sure, &whole));
                let least = all.min().unwrap_or(u64::MAX);
                changed |= part.len() > 1 && least < whole[*class];
                whole[*class] = least;
            }
        }
    }
    whole
}

fn whole_of(way: &Way, is_sure: &[bool], whole: &[u64]) -> u64 {
    let needs = way.needs.iter().filter(|need| !is_sure[**need]);
    needs.fold(way.cost, |sum, need| sum.saturating_add(whole[*need]))
}

/// The groups of classes whose choices depend on one another, each by component and in the order of the classes: those with a
/// choice, and what they may use that is not sure.
fn groups(ways: &[Ways], is_sure: &[bool], components: &[usize]) -> Vec<Vec<usize>> {
    let is_open = |class: usize| is_sure[class] && ways[class].len() > 1;
    let mut parent: Vec<usize> = (0..ways.len()).collect();
    fn find(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    let mut is_member = vec![false; ways.len()];
    let mut of_component: Vec<Option<usize>> = vec![None; ways.len()];
    let mut stack: Vec<usize> = (0..ways.len()).filter(|class| is_open(*class)).collect();
    while let Some(class) = stack.pop() {
        if std::mem::replace(&mut is_member[class], true) {
            continue;
        }
        let mut join = |a: usize, b: usize| {
            let (a, b) = (find(&mut parent, a), find(&mut parent, b));
            parent[a.max(b)] = a.min(b);
        };
        match of_component[components[class]] {
            Some(other) => join(class, other),
            None => of_component[components[class]] = Some(class),
        }
        for need in ways[class].iter().flat_map(|way| &way.needs) {
            if !is_sure[*need] {
                join(class, *need);
                stack.push(*need);
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut place: Vec<Option<usize>> = vec![None; ways.len()];
    let members = is_member.iter().enumerate().filter(|(_, is)| **is);
    for (class, _) in members {
        let root = find(&mut parent, class);
        let at = *place[root].get_or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[at].push(class);
    }
    let by_component = |class: &usize| (components[*class], *class);
    let sort = |group: &mut Vec<usize>| group.sort_unstable_by_key(by_component);
    groups.iter_mut().for_each(sort);
    groups
}

/// Solutions of groups by what they follow from, as bodies do the same for one value after another.
struct Alike {
    /// Of each class of the groups so far its place in its group.
    places: Vec<usize>,
    /// Classes by their places.
    solutions: HashMap<Vec<u64>, Option<Taken>>,
}

impl Alike {
    fn new(classes: usize) -> Self {
        Self {
            places: vec![0; classes],
            solutions: HashMap::default(),
        }
    }

    /// What the solution of a group follows from: of each way of each class what it costs and which classes of the group it
    /// needs, of which none is sure, and every other one is. None where circles may matter, too.
    fn key(
        &mut self,
        group: &[usize],
        ways: &[Ways],
        is_sure: &[bool],
        components: &[usize],
    ) -> Option<Vec<u64>> {
        for (place, class) in group.iter().enumerate() {
            self.places[*class] = place;
        }
        let mut key = Vec::with_capacity(8 * group.len());
        for class in group {
            key.push(ways[*class].len() as u64);
            for way in &ways[*class] {
                key.push(way.cost);
                let count = key.len();
                key.push(0);
                for need in &way.needs {
                    if components[*need] == components[*class] {
                        return None;
                    }
                    // What is sure is there in any case.
                    if !is_sure[*need] {
                        key.push(self.places[*need] as u64);
                    }
                }
                let needs = key.len() - count - 1;
                key[count] = needs as u64;
                // In the order of the group, whichever numbers the classes have.
                key[count + 1..].sort_unstable();
            }
        }
        Some(key)
    }

    /// The solution of a group with a key, which is made once.
    fn solution(
        &mut self,
        key: Vec<u64>,
        group: &[usize],
        solve: impl FnOnce() -> Option<Taken>,
    ) -> Option<Taken> {
        let places = &self.places;
        let solution = self.solutions.entry(key).or_insert_with(|| {
            let mut taken = solve()?;
            taken
                .iter_mut()
                .for_each(|(class, _)| *class = places[*class]);
            Some(taken)
        });
        let taken = solution.as_ref()?.iter();
        Some(taken.map(|(place, way)| (group[*place], *way)).collect())
    }
}

/// Looks for circles in what is taken.
struct Circles<'a> {
    ways: &'a [Ways],
    components: &'a [usize],
    /// Of each class of several ways the place of the one that is taken.
    taken: Vec<Option<usize>>,
}

impl Circles<'_> {
    /// Whether these ways close one, with the only ways of other classes.
    fn have(&mut self, taken: &[(usize, usize)]) -> bool {
        let closes = taken.iter().any(|(class, way)| {
            self.taken[*class] = Some(*way);
            self.closes(*class, &self.ways[*class][*way])
        });
        taken
            .iter()
            .for_each(|(class, _)| self.taken[*class] = None);
        closes
    }

    /// Whether a way of a class closes a circle with what is taken.
    fn closes(&self, class: usize, way: &Way) -> bool {
        let inside = |need: &&usize| self.components[**need] == self.components[class];
        // Most classes are in no circle.
        let mut stack: Needs = way.needs.iter().filter(inside).copied().collect();
        let mut seen = Needs::new();
        while let Some(next) = stack.pop() {
            if next == class {
                return true;
            }
            if seen.contains(&next) {
                continue;
            }
            seen.push(next);
            let taken = match self.ways[next].as_slice() {
                [only] => Some(only),
                several => self.taken[next].map(|way| &several[way]),
            };
            let needs = taken.into_iter().flat_map(|way| &way.needs);
            stack.extend(needs.filter(inside).copied());
        }
        false
    }
}

#[cfg(test)]
mod tests;
