//! Judges choices of terms by what the body takes then, and looks for better ones.

use super::{
    cost::{Cost, PIPES},
    exact::{self, Way, Ways},
    extract::{Prices, Setting, Structure, Term, sum},
    price::Candidate,
};

/// Rounds in which the cheapest tree of each class is looked for.
const ROUNDS: usize = 3;
/// By how much of itself a term has to help to take the place of the body's own.
const LEAST_GAIN: f64 = 0.03;
/// Parts of a cycle in which costs are added up: integers, so that no order of them shows.
const PARTS: f64 = 1024.0;
/// The most of them that one term is taken to cost: sums of more terms than bodies have are words of 64 bits.
const MOST: f64 = (1_u64 << 46) as f64;

/// What a body takes, of a lane, in cycles.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// The estimate: the larger of the two bounds, and a quarter of the other.
    pub time: f64,
    /// Bound by issue, of each pipe.
    pub issue: [f64; PIPES.len()],
    /// Bound by latency.
    pub latency: f64,
    /// Subgroups that a scheduler has resident.
    pub resident: f64,
    /// Words of a lane that are live at the same time.
    pub live: u32,
    /// All of it added up: what decides between equal times.
    sum: f64,
}

impl Whole {
    /// The pipe that bounds the time; none if latency does.
    pub fn binding(&self) -> Option<usize> {
        let pipes = self.issue.iter().enumerate();
        let (pipe, most) = pipes.max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)))?;
        (*most > self.latency).then_some(pipe)
    }

    /// Whether it takes less time than another, or as much and less in all.
    pub fn is_better(&self, other: &Self) -> bool {
        const NOISE: f64 = 1e-9;
        self.time < other.time * (1.0 - NOISE)
            || (self.time <= other.time * (1.0 + NOISE) && self.sum < other.sum * (1.0 - NOISE))
    }
}

/// Judges choices, which say the number of the term of each class.
pub(super) struct Judge<'a> {
    pub(super) structure: &'a Structure,
    pub(super) prices: Prices,
    /// Of each op that is no term, how it is done.
    pub(super) skeleton: Vec<Option<Candidate>>,
    pub(super) setting: Setting,
}

impl Judge<'_> {
    /// Whether all there is takes of one pipe alone: weights change no choice then.
    pub(super) fn is_of_one_pipe(&self) -> bool {
        let mut is_used = [false; PIPES.len() + 1];
        for Candidate { cost, .. } in self.prices.all() {
            let all = cost.uses.iter().chain([&cost.latency]);
            let all = all.zip(&mut is_used);
            all.for_each(|(figure, is_used)| *is_used |= *figure > 0.0);
        }
        is_used.iter().filter(|is_used| **is_used).count() == 1
    }

    /// The choice whose terms' costs have the least sum, where uses of each pipe weigh as said.
    pub(super) fn exact(&self, original: &[usize], weights: &[f64; PIPES.len()]) -> exact::Found {
        let structure = self.structure;
        let classes = structure.classes.iter().zip(&structure.frequencies);
        let classes = classes.take(structure.in_graph).enumerate();
        let ways = classes.map(|(at, (class, frequency))| {
            let terms = class.terms.iter().enumerate();
            let ways = terms.filter_map(|(number, term)| {
                let cost = &self.prices.of(class, number)?.cost;
                let uses = cost.uses.iter().zip(weights);
                let uses: f64 = uses.map(|(r#use, weight)| r#use * weight).sum();
                let own = (uses + cost.latency / self.setting.resident) * frequency * PARTS;
                let own = own * self.bias(at, number, original);
                Some(Way {
                    number,
                    cost: own.round().min(MOST) as u64,
                    needs: term.values.clone(),
                })
            });
            ways.collect()
        });
        let ways: Vec<Ways> = ways.collect();
        let skeleton = self.skeleton.iter().zip(&structure.operands);
        let roots = skeleton.filter(|(form, _)| form.is_some());
        let roots = roots.flat_map(|(_, operands)| operands).copied();
        let roots: Vec<usize> = roots.filter(|root| *root < ways.len()).collect();
        exact::cheapest(ways, &roots, &original[..structure.in_graph])
    }

    /// What a term counts more than it costs, where the body has another.
    fn bias(&self, class: usize, number: usize, original: &[usize]) -> f64 {
        match self.structure.classes[class].home.is_some() && number != original[class] {
            true => 1.0 + LEAST_GAIN,
            false => 1.0,
        }
    }

    /// The cheapest tree of each class, where there is one; what is shared counts each time.
    pub(super) fn trees(&self, original: &[usize]) -> Vec<usize> {
        let classes = &self.structure.classes;
        let mut best: Vec<(f64, usize)> = original.iter().map(|at| (f64::INFINITY, *at)).collect();
        // Classes stand after those of their operands, but for a few.
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (at, class) in classes.iter().enumerate() {
                for (number, term) in class.terms.iter().enumerate() {
                    let Some(candidate) = self.prices.of(class, number) else {
                        continue;
                    };
                    let own = sum(&candidate.cost, self.setting.resident);
                    let own = own * self.bias(at, number, original);
                    let below: f64 = term.values.iter().map(|value| best[*value].0).sum();
                    if own + below < best[at].0 {
                        best[at] = (own + below, number);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        best.into_iter().map(|(_, at)| at).collect()
    }

    /// A choice, with the body's own term where control depends on it and another is not seen to be the same in a
    /// subgroup; none where that is circular.
    pub(super) fn with_deciding(
        &self,
        (mut choice, whole): (Vec<usize>, Whole),
        original: &[usize],
    ) -> Option<(Vec<usize>, Whole)> {
        let mut seen = vec![None; choice.len()];
        let deciding = self.structure.deciding.iter().copied();
        let changed = deciding.filter(|at| choice[*at] != original[*at]);
        let unseen: Vec<usize> = changed
            .filter(|at| !self.is_seen_uniform(*at, &choice, &mut seen))
            .collect();
        if unseen.is_empty() {
            return Some((choice, whole));
        }
        unseen.into_iter().for_each(|at| choice[at] = original[at]);
        let whole = self.whole(&choice)?;
        Some((choice, whole))
    }

    /// Whether the chosen term of a class is seen to be the same in a subgroup, by itself and what it is made of.
    fn is_seen_uniform(&self, class: usize, choice: &[usize], seen: &mut [Option<bool>]) -> bool {
        let mut stack = vec![class];
        while let Some(at) = stack.last().copied() {
            let term = self.structure.classes[at].terms.get(choice[at]);
            let left = term.and_then(|term| {
                let is_open = seen[at].is_none() && term.is_uniform == [false, true];
                let mut values = term.values.iter().copied().filter(|_| is_open);
                values.find(|value| seen[*value].is_none())
            });
            if let Some(value) = left {
                stack.push(value);
                continue;
            }
            let all = |term: &Term| term.values.iter().all(|value| seen[*value] == Some(true));
            let is_uniform = term.is_some_and(|term| term.is_uniform[usize::from(all(term))]);
            seen[at].get_or_insert(is_uniform);
            stack.pop();
        }
        seen[class] == Some(true)
    }

    /// What the body takes; none where the choice is circular, or there is no way to do a term.
    pub(super) fn whole(&self, choice: &[usize]) -> Option<Whole> {
        let walk = self.walk(choice)?;
        Some(self.whole_of(&walk))
    }

    /// Goes through the body; none where the choice is circular, or there is no way to do a term.
    fn walk(&self, choice: &[usize]) -> Option<Walk> {
        let structure = self.structure;
        let mut walk = Walk {
            seen: vec![Seen::No; structure.classes.len()],
            longest: vec![0.0; structure.blocks.len()],
            uses: [0.0; PIPES.len()],
        };
        let mut stack = Vec::new();
        for at in 0..structure.block_of.len() {
            let block = structure.block_of[at];
            let Some(candidate) = &self.skeleton[at] else {
                continue;
            };
            let mut start = 0.0f64;
            for root in &structure.operands[at] {
                if !walk.seen[*root].is_done() {
                    stack.push((*root, block));
                    self.descend(choice, &mut walk, &mut stack)?;
                }
                start = start.max(walk.seen[*root].at(block));
            }
            let end = start + candidate.cost.latency;
            walk.add(&candidate.cost, (block, structure.blocks[block]), end);
            for result in &structure.results[at] {
                walk.seen[*result] = Seen::Done { block, end };
            }
        }
        Some(walk)
    }

    /// Does the classes on a stack, each for a block, and what they need.
    fn descend(
        &self,
        choice: &[usize],
        walk: &mut Walk,
        stack: &mut Vec<(usize, usize)>,
    ) -> Option<()> {
        let structure = self.structure;
        // Depth first: a class is left when its values are there.
        while let Some((at, block)) = stack.last().copied() {
            if walk.seen[at].is_done() {
                stack.pop();
                continue;
            }
            let class = &structure.classes[at];
            let block = class.home.map_or(block, |site| structure.block_of[site]);
            if class.terms.is_empty() {
                // From outside: it is there.
                walk.seen[at] = Seen::Done { block, end: 0.0 };
                stack.pop();
                continue;
            }
            let term = class.terms.get(choice[at])?;
            if let Seen::Entered = walk.seen[at] {
                let cost = &self.prices.of(class, choice[at])?.cost;
                let ready = term.values.iter().map(|value| walk.seen[*value].at(block));
                let end = ready.fold(0.0, f64::max) + cost.latency;
                walk.add(cost, (block, structure.blocks[block]), end);
                walk.seen[at] = Seen::Done { block, end };
                stack.pop();
                continue;
            }
            walk.seen[at] = Seen::Entered;
            for value in &term.values {
                match walk.seen[*value] {
                    Seen::No => stack.push((*value, block)),
                    Seen::Entered => return None,
                    Seen::Done { .. } => {}
                }
            }
        }
        Some(())
    }

    fn whole_of(&self, walk: &Walk) -> Whole {
        let Walk { longest, uses, .. } = walk;
        let Setting {
            wave,
            resident,
            live,
            ..
        } = self.setting;
        let issue = uses.map(|r#use| r#use / f64::from(wave));
        let bound = issue.iter().copied().fold(0.0, f64::max);
        let ways = longest.iter().zip(&self.structure.blocks);
        let way: f64 = ways.map(|(way, frequency)| way * frequency).sum();
        let latency = way / (f64::from(wave) * resident);
        Whole {
            time: bound.max(latency) + bound.min(latency) / 4.0,
            issue,
            latency,
            resident,
            live,
            sum: issue.iter().sum::<f64>() + latency,
        }
    }
}

/// A walk through the body.
struct Walk {
    /// Of each class.
    seen: Vec<Seen>,
    /// The longest way through each block.
    longest: Vec<f64>,
    uses: [f64; PIPES.len()],
}

impl Walk {
    /// Adds what ends at `end` in a block that runs so often.
    fn add(&mut self, cost: &Cost, (block, frequency): (usize, f64), end: f64) {
        for (total, r#use) in self.uses.iter_mut().zip(&cost.uses) {
            *total += r#use * frequency;
        }
        self.longest[block] = self.longest[block].max(end);
    }
}

/// How far a class is.
#[derive(Clone, Copy)]
enum Seen {
    No,
    Entered,
    /// When its value is there, in a block.
    Done {
        block: usize,
        end: f64,
    },
}

impl Seen {
    fn is_done(self) -> bool {
        matches!(self, Self::Done { .. })
    }

    /// When the value is there, as a block sees it: from the start, where it is another's.
    fn at(self, block: usize) -> f64 {
        match self {
            Self::Done { block: own, end } if own == block => end,
            _ => 0.0,
        }
    }
}
