//! Judges choices of terms by what the body takes then, and looks for better ones.

use super::{
    cost::{Cost, PIPES},
    exact::{self, Way, Ways},
    extract::{Prices, Setting, Structure, sum},
    price::Candidate,
};

/// Rounds in which each class is asked for something better.
const ROUNDS: usize = 3;
/// By how much of itself a term has to help to take the place of the body's own.
const LEAST_GAIN: f64 = 0.03;
/// Classes that are looked at, in all, while one at a time is changed.
const MOST_LOOKS: usize = 250_000;
/// Parts of a cycle in which costs are added up: integers, so that no order of them shows.
const PARTS: f64 = 1024.0;

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
                let bias = match class.home.is_some() && number != original[at] {
                    true => 1.0 + LEAST_GAIN,
                    false => 1.0,
                };
                Some(Way {
                    number,
                    cost: (own * bias).round() as u64,
                    needs: term.values.as_slice().into(),
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

    /// A choice, changed in some classes where that helps, and what it comes to; none if it is none.
    pub(super) fn improved(
        &self,
        mut choice: Vec<usize>,
        classes: &[usize],
    ) -> Option<(Vec<usize>, Whole)> {
        // Of the choice, and of one that is tried.
        let (mut seen, mut tried) = (self.nothing_seen(), self.nothing_seen());
        let mut whole = self.whole(&choice, &mut seen)?;
        let mut looks = MOST_LOOKS / self.structure.classes.len().max(1);
        for _ in 0..ROUNDS {
            let mut changed = false;
            for at in classes.iter().copied() {
                let class = &self.structure.classes[at];
                for number in 0..class.terms.len() {
                    let before = choice[at];
                    // What is unused costs nothing.
                    let is_used = matches!(seen[at], Seen::Done { .. });
                    if number == before || !is_used || self.prices.of(class, number).is_none() {
                        continue;
                    }
                    let Some(left) = looks.checked_sub(1) else {
                        return Some((choice, whole));
                    };
                    looks = left;
                    choice[at] = number;
                    match self.whole(&choice, &mut tried) {
                        Some(found) if self.gains(&whole, &found, at, before) => {
                            (whole, changed) = (found, true);
                            std::mem::swap(&mut seen, &mut tried);
                        }
                        _ => choice[at] = before,
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Some((choice, whole))
    }

    pub(super) fn nothing_seen(&self) -> Vec<Seen> {
        vec![Seen::No; self.structure.classes.len()]
    }

    fn gains(&self, before: &Whole, after: &Whole, class: usize, number: usize) -> bool {
        let own = self.prices.of(&self.structure.classes[class], number);
        let own = own.map_or(0.0, |candidate| sum(&candidate.cost, self.setting.resident));
        let own = own / f64::from(self.setting.wave);
        after.is_better(before) && before.sum - after.sum >= LEAST_GAIN * own
    }

    /// What the body takes, and the classes that it uses; none where the choice is circular, or
    /// there is no way to do a term.
    pub(super) fn whole(&self, choice: &[usize], seen: &mut [Seen]) -> Option<Whole> {
        let structure = self.structure;
        seen.fill(Seen::No);
        let mut longest = vec![0.0f64; structure.blocks.len()];
        let mut uses = [0.0; PIPES.len()];
        let mut add = |cost: &Cost, frequency: f64| {
            for (total, r#use) in uses.iter_mut().zip(cost.uses) {
                *total += r#use * frequency;
            }
        };
        let mut stack = Vec::new();
        for (at, block) in structure.block_of.iter().copied().enumerate() {
            let Some(candidate) = &self.skeleton[at] else {
                continue;
            };
            let mut start = 0.0f64;
            for root in &structure.operands[at] {
                // Depth first: a class is left when its values are there.
                stack.push((*root, block));
                while let Some((class, block)) = stack.last().copied() {
                    let home = structure.classes[class].home;
                    let block = home.map_or(block, |site| structure.block_of[site]);
                    let terms = &structure.classes[class].terms;
                    if terms.is_empty() && !matches!(seen[class], Seen::Done { .. }) {
                        // From outside: it is there.
                        seen[class] = Seen::Done { block, end: 0.0 };
                    }
                    if terms.is_empty() {
                        stack.pop();
                        continue;
                    }
                    let term = terms.get(choice[class])?;
                    match seen[class] {
                        Seen::Done { .. } => {
                            stack.pop();
                        }
                        Seen::No => {
                            seen[class] = Seen::Entered;
                            for value in &term.values {
                                match seen[*value] {
                                    Seen::No => stack.push((*value, block)),
                                    Seen::Entered => return None,
                                    Seen::Done { .. } => {}
                                }
                            }
                        }
                        Seen::Entered => {
                            let cost = &self
                                .prices
                                .of(&structure.classes[class], choice[class])?
                                .cost;
                            add(cost, structure.blocks[block]);
                            let ready = term.values.iter().map(|value| seen[*value].at(block));
                            let end = ready.fold(0.0, f64::max) + cost.latency;
                            longest[block] = longest[block].max(end);
                            seen[class] = Seen::Done { block, end };
                            stack.pop();
                        }
                    }
                }
                start = start.max(seen[*root].at(block));
            }
            add(&candidate.cost, structure.blocks[block]);
            let end = start + candidate.cost.latency;
            longest[block] = longest[block].max(end);
            for result in &structure.results[at] {
                seen[*result] = Seen::Done { block, end };
            }
        }
        let Setting {
            wave,
            resident,
            live,
            ..
        } = self.setting;
        let issue = uses.map(|r#use| r#use / f64::from(wave));
        let bound = issue.iter().copied().fold(0.0, f64::max);
        let ways = longest.iter().zip(&structure.blocks);
        let way: f64 = ways.map(|(way, frequency)| way * frequency).sum();
        let latency = way / (f64::from(wave) * resident);
        Some(Whole {
            time: bound.max(latency) + bound.min(latency) / 4.0,
            issue,
            latency,
            resident,
            live,
            sum: issue.iter().sum::<f64>() + latency,
        })
    }
}

/// How far a class is.
#[derive(Clone, Copy)]
pub enum Seen {
    No,
    Entered,
    /// When its value is there, in a block.
    Done {
        block: usize,
        end: f64,
    },
}

impl Seen {
    /// When the value is there, as a block sees it: from the start, where it is another's.
    fn at(self, block: usize) -> f64 {
        match self {
            Self::Done { block: own, end } if own == block => end,
            _ => 0.0,
        }
    }
}
