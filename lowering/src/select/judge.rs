//! Judges choices of terms by what the body takes then, and looks for better ones.

use super::{
    cost::{Cost, PIPES},
    exact::{self, Way, Ways},
    extract::{Prices, Setting, Structure, sum},
    price::Candidate,
};
use rayon::prelude::*;

/// Rounds in which each class is asked for something better.
const ROUNDS: usize = 3;
/// By how much of itself a term has to help to take the place of the body's own.
const LEAST_GAIN: f64 = 0.03;
/// Classes that are looked at, in all, while one at a time is changed.
const MOST_LOOKS: usize = 250_000;
/// Terms that are looked at at once, of each thread.
const TRIES: usize = 4;
/// Parts of a body in front of which it is kept what it takes up to there.
const STRETCHES: usize = 16;
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
        let mut trail = self.trail(&choice)?;
        let mut whole = self.whole_of(trail.last()?);
        let mut looks = MOST_LOOKS / self.structure.classes.len().max(1);
        let at_once = TRIES * rayon::current_num_threads();
        // The next term to look at: a place in the rounds through the classes, and its number. Once nothing helped in all
        // classes in a row, another look finds the same.
        let (mut place, mut number) = (0, 0);
        let mut end = classes.len();
        loop {
            let mut tries = Vec::new();
            while place < end && tries.len() < at_once {
                let at = classes[place % classes.len()];
                if let Some(r#try) = self.try_of(at, number, &choice, &trail) {
                    tries.push((place, r#try));
                }
                number += 1;
                if number >= self.structure.classes[at].terms.len() {
                    (place, number) = (place + 1, 0);
                }
            }
            let is_last = tries.len() > looks;
            tries.truncate(looks);
            looks -= tries.len();
            let start = || (choice.clone(), self.start());
            let look = |(changed, walk): &mut (Vec<usize>, Walk), (_, r#try): &(usize, Try)| {
                let before = std::mem::replace(&mut changed[r#try.class], r#try.number);
                walk.go_back(&trail[r#try.unused - 1]);
                let found = self.walk(changed, walk, self.sites());
                changed[r#try.class] = before;
                let found = found.map(|()| self.whole_of(walk));
                found.filter(|found| self.gains(&whole, found, r#try.class, before))
            };
            // Most help nothing, so that the next are looked at as if none did.
            let found = tries.par_iter().map_init(start, look);
            let found: Vec<Option<Whole>> = found.collect();
            let first = found.into_iter().zip(&tries).enumerate();
            let mut gains = first.filter_map(|(at, (found, r#try))| Some((at, found?, r#try)));
            if let Some((at, found, (of, r#try))) = gains.next() {
                looks += tries.len() - at - 1;
                (place, number) = (*of, r#try.number + 1);
                // The class itself is looked at again as the last.
                end = (place + classes.len() + 1).min(ROUNDS * classes.len());
                if number >= self.structure.classes[r#try.class].terms.len() {
                    (place, number) = (place + 1, 0);
                }
                choice[r#try.class] = r#try.number;
                whole = found;
                trail.truncate(r#try.unused);
                self.follow(&choice, &mut trail)?;
            } else if is_last || place >= end {
                return Some((choice, whole));
            }
        }
    }

    /// A term to look at in place of that which is chosen; none where it is that, has no price or its class is not used.
    fn try_of(&self, class: usize, number: usize, choice: &[usize], trail: &[Walk]) -> Option<Try> {
        let of = &self.structure.classes[class];
        if number == choice[class] || number >= of.terms.len() {
            return None;
        }
        self.prices.of(of, number)?;
        // In front of its first use nothing changes. What is unused costs nothing.
        let unused = trail.partition_point(|walk| matches!(walk.seen[class], Seen::No));
        (unused < trail.len()).then_some(Try {
            class,
            number,
            unused,
        })
    }

    fn gains(&self, before: &Whole, after: &Whole, class: usize, number: usize) -> bool {
        let own = self.prices.of(&self.structure.classes[class], number);
        let own = own.map_or(0.0, |candidate| sum(&candidate.cost, self.setting.resident));
        let own = own / f64::from(self.setting.wave);
        after.is_better(before) && before.sum - after.sum >= LEAST_GAIN * own
    }

    fn sites(&self) -> usize {
        self.structure.block_of.len()
    }

    /// What the body takes; none where the choice is circular, or there is no way to do a term.
    pub(super) fn whole(&self, choice: &[usize]) -> Option<Whole> {
        let mut walk = self.start();
        self.walk(choice, &mut walk, self.sites())?;
        Some(self.whole_of(&walk))
    }

    fn start(&self) -> Walk {
        Walk {
            at: 0,
            seen: vec![Seen::No; self.structure.classes.len()],
            longest: vec![0.0; self.structure.blocks.len()],
            uses: [0.0; PIPES.len()],
        }
    }

    /// A walk through the body as it was at some places, the last of which is the end.
    fn trail(&self, choice: &[usize]) -> Option<Vec<Walk>> {
        let mut trail = vec![self.start()];
        self.follow(choice, &mut trail)?;
        Some(trail)
    }

    /// Adds to a trail the places that it lacks.
    fn follow(&self, choice: &[usize], trail: &mut Vec<Walk>) -> Option<()> {
        for stretch in trail.len()..=STRETCHES {
            let mut walk = trail.last()?.clone();
            self.walk(choice, &mut walk, self.sites() * stretch / STRETCHES)?;
            trail.push(walk);
        }
        Some(())
    }

    /// Goes on through the body to a site; none where the choice is circular, or there is no way to do a term.
    fn walk(&self, choice: &[usize], walk: &mut Walk, to: usize) -> Option<()> {
        let structure = self.structure;
        let mut stack = Vec::new();
        for at in walk.at..to {
            let block = structure.block_of[at];
            let Some(candidate) = &self.skeleton[at] else {
                continue;
            };
            let mut start = 0.0f64;
            for root in &structure.operands[at] {
                if !walk.seen[*root].is_done() {
                    stack.push((*root, block));
                    self.descend(choice, walk, &mut stack)?;
                }
                start = start.max(walk.seen[*root].at(block));
            }
            let end = start + candidate.cost.latency;
            walk.add(&candidate.cost, (block, structure.blocks[block]), end);
            for result in &structure.results[at] {
                walk.seen[*result] = Seen::Done { block, end };
            }
        }
        walk.at = to;
        Some(())
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

/// A term to look at.
struct Try {
    class: usize,
    number: usize,
    /// The walks of the trail in which the class is not used.
    unused: usize,
}

/// A walk through the body, up to a site.
#[derive(Clone)]
struct Walk {
    at: usize,
    /// Of each class.
    seen: Vec<Seen>,
    /// The longest way through each block.
    longest: Vec<f64>,
    uses: [f64; PIPES.len()],
}

impl Walk {
    /// Goes back to where another one was.
    fn go_back(&mut self, to: &Self) {
        self.at = to.at;
        self.seen.copy_from_slice(&to.seen);
        self.longest.copy_from_slice(&to.longest);
        self.uses = to.uses;
    }

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
