//! The order of a sequence's steps, by their dependencies.
//!
//! Steps are put into chains, in which each depends on the one before it. A step
//! stores, for each chain, how many of its steps come before it. Steps with a single
//! dependency share that table with it, so that long chains cost nothing.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

/// For each chain but a step's own, how many of its steps come before the step.
type Before = Rc<HashMap<usize, usize>>;

struct Node {
    chain: usize,
    /// How many steps of its chain come before it.
    place: usize,
    before: Before,
}

/// Steps that are not compared one with another.
const MANY: usize = 16;

/// The order of steps, which are numbered as they are added.
#[derive(Default)]
pub struct Order {
    nodes: Vec<Node>,
    /// The length of each chain.
    chains: Vec<usize>,
}

impl Order {
    /// Adds a step that waits for these, of which none comes before another.
    pub fn add(&mut self, on: &[usize]) {
        // As many chains as there may be are known from one of the steps.
        let Some(most) = on.iter().max_by_key(|step| self.nodes[**step].before.len()) else {
            return self.begin(Before::default());
        };
        let is_end = |step: &&usize| {
            let node = &self.nodes[**step];
            self.chains[node.chain] == node.place + 1
        };
        let behind = on.iter().find(is_end).copied();
        let own = behind.map(|step| self.nodes[step].chain);
        let mut before = Rc::clone(&self.nodes[*most].before);
        for step in on {
            let node = &self.nodes[*step];
            let mut known: Vec<(usize, usize)> = vec![(node.chain, node.place + 1)];
            if !Rc::ptr_eq(&node.before, &self.nodes[*most].before) {
                known.extend(node.before.iter().map(|(chain, count)| (*chain, *count)));
            }
            for (chain, count) in known {
                if Some(chain) != own && before.get(&chain).is_none_or(|known| *known < count) {
                    Rc::make_mut(&mut before).insert(chain, count);
                }
            }
        }
        match own {
            Some(chain) => {
                self.nodes.push(Node {
                    chain,
                    place: self.chains[chain],
                    before,
                });
                self.chains[chain] += 1;
            }
            None => self.begin(before),
        }
    }

    fn begin(&mut self, before: Before) {
        self.nodes.push(Node {
            chain: self.chains.len(),
            place: 0,
            before,
        });
        self.chains.push(1);
    }

    /// Whether `later` waits for `earlier`, directly or through others.
    pub fn is_before(&self, earlier: usize, later: usize) -> bool {
        let (first, last) = (&self.nodes[earlier], &self.nodes[later]);
        let count = match first.chain == last.chain {
            true => last.place,
            false => last.before.get(&first.chain).copied().unwrap_or(0),
        };
        first.place < count
    }

    /// The steps among these that come before no other of them, in their order.
    pub fn last_of(&self, mut steps: Vec<usize>) -> Vec<usize> {
        steps.sort_unstable();
        steps.dedup();
        if steps.len() > MANY {
            return self.last_of_many(steps);
        }
        let mut last: Vec<usize> = Vec::new();
        for step in steps.into_iter().rev() {
            if !last.iter().any(|later| self.is_before(step, *later)) {
                last.push(step);
            }
        }
        last.reverse();
        last
    }

    /// The same, by what comes before any of them.
    fn last_of_many(&self, mut steps: Vec<usize>) -> Vec<usize> {
        let mut before: HashMap<usize, usize> = HashMap::new();
        let mut seen = HashSet::new();
        let mut add = |chain: usize, count: usize| {
            let known = before.entry(chain).or_default();
            *known = count.max(*known);
        };
        for node in steps.iter().map(|step| &self.nodes[*step]) {
            add(node.chain, node.place);
            if seen.insert(Rc::as_ptr(&node.before)) {
                node.before
                    .iter()
                    .for_each(|(chain, count)| add(*chain, *count));
            }
        }
        steps.retain(|step| {
            let node = &self.nodes[*step];
            node.place >= before[&node.chain]
        });
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    /// The transitive reduction, built step by step, compared with one that follows
    /// every path.
    #[test]
    fn the_reduction_is_that_of_all_paths() {
        let mut state = 1_u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as usize % below
        };
        for sparse in [2, 3, 8, 30] {
            let mut order = Order::default();
            let mut before: Vec<Vec<bool>> = Vec::new();
            for step in 0..60_usize {
                let wanted: Vec<_> = (0..step).filter(|_| random(sparse) == 0).collect();
                let is_direct = |on: &usize| !wanted.iter().any(|other| before[*other][*on]);
                let expected: Vec<_> = wanted.iter().copied().filter(is_direct).collect();
                let on = order.last_of(wanted.clone());
                assert_eq!(on, expected, "step {step}");
                order.add(&on);
                let all = (0..60).map(|s| wanted.iter().any(|on| *on == s || before[*on][s]));
                before.push(all.collect());
                for (earlier, is_before) in before[step][..step].iter().enumerate() {
                    assert_eq!(order.is_before(earlier, step), *is_before);
                }
            }
        }
    }
}
