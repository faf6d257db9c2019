//! The cheapest choice of terms, where what several share counts once: found exactly, or, where a
//! part of the body is too large for that, as it was given.
//!
//! A *solution* has one way for each class that it uses, and no class needs itself. Classes that
//! every solution has are *sure*: their cost is sunk, so that they join no choices. What is left
//! falls apart into groups, and in each a search goes through the ways of one class after the
//! other, and turns back where the cheapest that is still possible is no better than the best that it
//! found. Its steps are counted, and nothing looks at a clock.
//!
//! Deviations from the usual integer program (Yang et al., Equality Saturation for Tensor
//! Graph Superoptimization, MLSys 2021): no solver, since groups are small; circles are looked for
//! when a way is taken, inside strongly connected components alone.
//!
//! What much may share, such as the mask of the lanes below, would make one group of a body. Where a
//! group is too large, such a *hub* is taken out: once every solution of the group has it, and once none.
//!
//! Bounds: [`MOST_HUBS`], [`MOST_OPEN`] classes with a choice and [`MOST_CLASSES`] classes of a group,
//! [`MOST_STEPS`] of its search, and [`ALL_STEPS`] of a body's.

use smallvec::SmallVec;
use std::cell::OnceCell;

/// Classes of a group of which several ways are left.
pub const MOST_OPEN: usize = 48;
/// Classes of a group. The search is as deep.
pub const MOST_CLASSES: usize = 512;
/// Steps in a group.
pub const MOST_STEPS: usize = 10_000;
/// Steps in all groups of a body.
pub const ALL_STEPS: usize = 20_000;
/// Hubs that are taken out of a group, each of which makes two problems of it.
pub const MOST_HUBS: usize = 3;
/// Steps in a group with a hub that can still be taken out.
const WITH_HUB: usize = 300;
/// Ways that need a class from which it is a hub.
const OF_HUB: usize = 3;

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
    /// Steps of the search.
    pub steps: usize,
}

/// Finds the cheapest solution that has the classes `roots`. Where a group is too large for the
/// search, its classes have what `given` says, which has to be a solution.
pub fn cheapest(ways: Vec<Ways>, roots: &[usize], given: &[usize]) -> Found {
    let mut left = ALL_STEPS;
    solved(ways, roots, given, MOST_HUBS, &mut left).unwrap_or_else(|| Found {
        choice: given.to_vec(),
        unsure: (0..given.len()).collect(),
        steps: ALL_STEPS - left,
    })
}

/// A group as a problem of its own.
struct Part {
    /// What its classes are called outside.
    classes: Vec<usize>,
    ways: Vec<Ways>,
    roots: Vec<usize>,
    given: Vec<usize>,
}

impl Part {
    /// The better one of its solutions with a hub and without, with so many hubs to be taken out; none if
    /// there is neither.
    fn without_hub(&self, hub: usize, hubs: usize, left: &mut usize) -> Option<OfGroup> {
        let Self {
            classes,
            ways,
            roots,
            given,
        } = self;
        let hub = classes.partition_point(|class| *class < hub);
        let mut with = roots.clone();
        with.push(hub);
        let mut without = ways.clone();
        without[hub].clear();
        let (mut after_with, mut after_without) = (*left, *left);
        let (with, at_once) = rayon::join(
            || solved(ways.clone(), &with, given, hubs - 1, &mut after_with),
            || solved(without.clone(), roots, given, hubs - 1, &mut after_without),
        );
        // The second is as if it came after the first: with enough steps left it is the same.
        let steps = *left - after_without;
        *left = after_with;
        let without = match left.checked_sub(steps) {
            Some(after) => {
                *left = after;
                at_once
            }
            None => solved(without, roots, given, hubs - 1, left),
        };
        let mut best: Option<(u64, Vec<usize>)> = None;
        let mut unsure = Vec::new();
        for found in [with, without].into_iter().flatten() {
            unsure.extend(found.unsure);
            let Some(cost) = cost(ways, roots, &found.choice) else {
                unsure.extend(0..ways.len());
                continue;
            };
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, found.choice));
            }
        }
        let (_, choice) = best?;
        unsure.iter_mut().for_each(|class| *class = classes[*class]);
        Some(OfGroup {
            taken: classes.iter().copied().zip(choice).collect(),
            unsure,
        })
    }
}

/// What a choice costs; none if it is no solution.
fn cost(ways: &[Ways], roots: &[usize], choice: &[usize]) -> Option<u64> {
    // Whether a class is left, once it has been entered.
    let mut is_left: Vec<Option<bool>> = vec![None; ways.len()];
    let mut total = 0;
    let mut stack = roots.to_vec();
    while let Some(class) = stack.last().copied() {
        let way = ways[class].iter().find(|way| way.number == choice[class])?;
        match is_left[class] {
            None => {
                is_left[class] = Some(false);
                total += way.cost;
                for need in &way.needs {
                    match is_left[*need] {
                        None => stack.push(*need),
                        Some(true) => {}
                        Some(false) => return None,
                    }
                }
            }
            Some(_) => {
                is_left[class] = Some(true);
                stack.pop();
            }
        }
    }
    Some(total)
}

/// Finds a solution in at most `left` steps, with so many hubs to be taken out; none if there is none.
fn solved(
    mut ways: Vec<Ways>,
    roots: &[usize],
    given: &[usize],
    hubs: usize,
    left: &mut usize,
) -> Option<Found> {
    let before = *left;
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
    let mut search = Search::new(&ways, &is_sure, &components);
    let mut choice = given.to_vec();
    for (class, of_class) in ways.iter().enumerate() {
        if let [only] = of_class.as_slice() {
            choice[class] = only.number;
        }
    }
    // The classes of each component, made when a group is to be a problem of its own.
    let members = OnceCell::new();
    let mut scratch = vec![0; ways.len()];
    let mut unsure = Vec::new();
    for group in groups(&ways, &is_sure, &components) {
        let hub = match hubs {
            0 => None,
            _ => hub_of(&ways, &is_sure, &group, &mut scratch),
        };
        let found = match hub {
            None => search.group(&group, MOST_STEPS, left),
            Some(hub) => match search.group(&group, WITH_HUB, left) {
                Some(found) if found.unsure.is_empty() => Some(found),
                partial => {
                    let members = members.get_or_init(|| by_component(&components));
                    let part = part(&search, &group, members, given, &mut scratch);
                    part.without_hub(hub, hubs, left).or(partial)
                }
            },
        };
        let Some(found) = found else {
            for class in group {
                choice[class] = given[class];
                unsure.push(class);
            }
            continue;
        };
        unsure.extend(found.unsure);
        for (class, number) in found.taken {
            choice[class] = number;
        }
    }
    unsure.sort_unstable();
    unsure.dedup();
    Some(Found {
        choice,
        unsure,
        steps: before - *left,
    })
}

/// The classes of each component.
fn by_component(components: &[usize]) -> Vec<Needs> {
    let count = components.iter().max().map_or(0, |last| last + 1);
    let mut members = vec![Needs::new(); count];
    for (class, component) in components.iter().enumerate() {
        members[*component].push(class);
    }
    members
}

/// A group, and what else is in its components: it may close a circle. `places` is all 0, before and after.
fn part(
    search: &Search<'_>,
    group: &[usize],
    members: &[Needs],
    given: &[usize],
    places: &mut [usize],
) -> Part {
    let Search { ways, is_sure, .. } = search;
    let around = group
        .iter()
        .flat_map(|class| &members[search.components[*class]]);
    let mut classes: Vec<usize> = group.iter().chain(around).copied().collect();
    classes.sort_unstable();
    classes.dedup();
    for (at, class) in classes.iter().enumerate() {
        places[*class] = at + 1;
    }
    // What is sure elsewhere is there in any case.
    let inside = |class: &usize| places[*class].checked_sub(1);
    let way = |way: &Way| Way {
        number: way.number,
        cost: way.cost,
        needs: way.needs.iter().filter_map(inside).collect(),
    };
    let of_class = |class: &usize| ways[*class].iter().map(way).collect();
    let of_part = classes.iter().map(of_class).collect();
    classes.iter().for_each(|class| places[*class] = 0);
    let roots = classes.iter().enumerate();
    let roots = roots.filter(|(_, class)| is_sure[**class]);
    Part {
        ways: of_part,
        roots: roots.map(|(at, _)| at).collect(),
        given: classes.iter().map(|class| given[*class]).collect(),
        classes,
    }
}

/// The class of a group that most ways need, the first of equal ones; none if few do. `users` is all 0, before and
/// after.
fn hub_of(ways: &[Ways], is_sure: &[bool], group: &[usize], users: &mut [usize]) -> Option<usize> {
    let needs = || {
        let ways = group.iter().flat_map(|class| &ways[*class]);
        ways.flat_map(|way| &way.needs).copied()
    };
    for need in needs() {
        users[need] += usize::from(!is_sure[need]);
    }
    let of = group.iter().map(|class| (users[*class], *class));
    let most = of.max_by_key(|(users, class)| (*users, usize::MAX - class));
    needs().for_each(|need| users[need] = 0);
    let (count, class) = most?;
    (count >= OF_HUB).then_some(class)
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
    let mut changed: Vec<usize> = (0..ways.len()).collect();
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

/// Drops ways that another of the class is never worse than. Returns which classes are sure.
fn simplified(ways: &mut [Ways], roots: &[usize], components: &[usize]) -> Vec<bool> {
    let mut is_sure = vec![false; ways.len()];
    loop {
        let mut changed = false;
        let mut stack = roots.to_vec();
        let mut seen = vec![false; ways.len()];
        while let Some(class) = stack.pop() {
            if std::mem::replace(&mut seen[class], true) {
                continue;
            }
            changed |= !std::mem::replace(&mut is_sure[class], true);
            if let Some((first, others)) = ways[class].split_first() {
                let by_all = first.needs.iter().filter(|need| {
                    let mut others = others.iter();
                    others.all(|way| way.needs.binary_search(need).is_ok())
                });
                stack.extend(by_all);
            }
        }
        for class in 0..ways.len() {
            if ways[class].len() < 2 {
                continue;
            }
            // What is sure costs nothing more, but may close a circle in its component.
            let matters =
                |need: &&usize| !is_sure[**need] || components[**need] == components[class];
            let of = |way: &Way| way.needs.iter().filter(matters).copied().collect();
            let needs: SmallVec<[Needs; 4]> = ways[class].iter().map(of).collect();
            let is_worse = |at: usize| {
                let own = &ways[class][at];
                ways[class].iter().enumerate().any(|(other, way)| {
                    let subset = || needs[other].iter().all(|need| needs[at].contains(need));
                    let is_less = way.cost < own.cost || needs[other].len() < needs[at].len();
                    other != at && way.cost <= own.cost && subset() && (is_less || other < at)
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

/// The groups of classes whose choices depend on one another, each in the order of the classes:
/// those with a choice, and what they may use that is not sure.
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
    groups
}

/// What was found in a group.
struct OfGroup {
    /// The number of a way of each class that is used.
    taken: Vec<(usize, usize)>,
    /// Those of its classes of which something better may have been missed.
    unsure: Vec<usize>,
}

struct Search<'a> {
    ways: &'a [Ways],
    is_sure: &'a [bool],
    components: &'a [usize],
    /// Of each class, the least cost of a way.
    least: Vec<u64>,
    /// Of each class the place of the way that is taken.
    taken: Vec<Option<usize>>,
    is_queued: Vec<bool>,
    /// Classes in the order in which they were found to be used.
    queue: Vec<usize>,
    best: Option<(u64, Vec<(usize, usize)>)>,
    steps: usize,
    most: usize,
}

impl<'a> Search<'a> {
    fn new(ways: &'a [Ways], is_sure: &'a [bool], components: &'a [usize]) -> Self {
        let least = |of: &Ways| of.iter().map(|way| way.cost).min().unwrap_or(0);
        Self {
            ways,
            is_sure,
            components,
            least: ways.iter().map(least).collect(),
            taken: vec![None; ways.len()],
            is_queued: vec![false; ways.len()],
            queue: Vec::new(),
            best: None,
            steps: 0,
            most: 0,
        }
    }

    /// The cheapest ways of a group; none if it is too large, or no solution was found in `most` steps.
    fn group(&mut self, group: &[usize], most: usize, left: &mut usize) -> Option<OfGroup> {
        let open = group.iter().filter(|class| self.ways[**class].len() > 1);
        let most = most.min(*left);
        if open.count() > MOST_OPEN || group.len() > MOST_CLASSES || most == 0 {
            return None;
        }
        (self.steps, self.most, self.best) = (0, most, None);
        self.queue.clear();
        let sure = group.iter().copied().filter(|class| self.is_sure[*class]);
        self.queue.extend(sure);
        let bound = self.queue.iter().map(|class| self.least[*class]).sum();
        for class in &self.queue {
            self.is_queued[*class] = true;
        }
        self.step(0, 0, bound);
        group
            .iter()
            .for_each(|class| self.is_queued[*class] = false);
        *left -= self.steps.min(*left);
        let (_, taken) = self.best.take()?;
        let number = |(class, way): (usize, usize)| (class, self.ways[class][way].number);
        Some(OfGroup {
            taken: taken.into_iter().map(number).collect(),
            unsure: match self.steps <= most {
                true => Vec::new(),
                false => group.to_vec(),
            },
        })
    }

    /// Takes a way of the class at a place of the queue, and goes on. `cost` is of what is taken
    /// in front of it, `bound` the least of what is queued from there.
    fn step(&mut self, at: usize, cost: u64, bound: u64) {
        let best = self.best.as_ref().map(|(best, _)| *best);
        if best.is_some_and(|best| cost.saturating_add(bound) >= best) {
            return;
        }
        self.steps += 1;
        if self.steps > self.most {
            return;
        }
        let Some(class) = self.queue.get(at).copied() else {
            let taken = self.queue.iter();
            let taken = taken.filter_map(|class| Some((*class, self.taken[*class]?)));
            self.best = Some((cost, taken.collect()));
            return;
        };
        let ways = &self.ways[class];
        let more = |way: &Way| -> u64 {
            let new = way.needs.iter().filter(|need| self.is_new(**need));
            new.map(|need| self.least[*need]).sum()
        };
        let mut order: SmallVec<[(u64, usize); 8]> = SmallVec::new();
        match ways.as_slice() {
            [_] => order.push((0, 0)),
            several => {
                order.extend(several.iter().map(|way| way.cost + more(way)).zip(0..));
                order.sort_unstable();
            }
        }
        for (_, number) in &order {
            let way = &ways[*number];
            if self.closes(class, way) {
                continue;
            }
            self.taken[class] = Some(*number);
            let queued = self.queue.len();
            let mut next = bound - self.least[class];
            for need in &way.needs {
                if self.is_new(*need) {
                    self.is_queued[*need] = true;
                    self.queue.push(*need);
                    next += self.least[*need];
                }
            }
            self.step(at + 1, cost + way.cost, next);
            for class in &self.queue[queued..] {
                self.is_queued[*class] = false;
            }
            self.queue.truncate(queued);
            self.taken[class] = None;
        }
    }

    /// Whether a class would be used from now on alone, and not in any case.
    fn is_new(&self, class: usize) -> bool {
        !self.is_sure[class] && !self.is_queued[class]
    }

    /// Whether a way of a class closes a circle with what is taken.
    fn closes(&self, class: usize, way: &Way) -> bool {
        let inside = |need: &&usize| self.components[**need] == self.components[class];
        // Most classes are in no circle.
        if !way.needs.iter().any(|need| inside(&need)) {
            return false;
        }
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
