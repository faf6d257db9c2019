//! Dependencies of steps: a graph over the steps of a sequence.
//!
//! Two steps are ordered if they may access the same memory and one of them writes
//! it. Loops and `if`s are steps of the sequence around them and have a graph of
//! their own inside: an iteration ends before the next begins.
//!
//! Only the transitive reduction is built, step by step: the `Frontier` holds the
//! accesses that a step may depend on directly, and [`Order`] knows the dependencies
//! of these. So the cost of a sequence is linear in its steps and dependencies, as
//! long as few parts of one buffer are written without the whole buffer being
//! written.

use super::{
    access::{Access, Accesses, Root},
    order::Order,
};
use crate::outline_phases::steps;
use qd_dialects::ir::{Op, OpExt};
use qd_dialects::ops::grid;
use std::collections::HashMap;

/// Why a step depends on another.
#[derive(Clone, Debug)]
pub struct Hazard {
    /// The step that it depends on, by its place in the sequence.
    pub on: usize,
    /// The reason, in words.
    pub why: String,
}

/// The steps of one sequence and their dependencies.
pub struct Sequence<'c> {
    /// The steps in program order.
    pub steps: Vec<Op<'c>>,
    /// The dependencies of each step: the transitive reduction.
    pub waits: Vec<Vec<Hazard>>,
    /// The launches that each step depends on, directly or through steps that are no
    /// launches; reduced transitively.
    pub launches: Vec<Vec<usize>>,
}

/// Finds the hazards between the steps of a kernel or a loop.
pub fn analyse<'c>(sequence: Op<'c>, accesses: &mut Accesses<'c>) -> Sequence<'c> {
    let steps = steps(sequence);
    let touched: Vec<Vec<Access>> = steps.iter().map(|step| accesses.of(*step)).collect();
    let mut order = Order::default();
    let mut frontier = Frontier::default();
    let mut waits: Vec<Vec<Hazard>> = Vec::new();
    let mut launches: Vec<Vec<usize>> = Vec::new();
    for (step, accesses) in touched.iter().enumerate() {
        let on = order.last_of(frontier.conflicts(accesses));
        order.add(&on);
        frontier.add(step, accesses, &order);

        // Launches, and one step at a time that may be another kind.
        let mut through: Vec<usize> = Vec::new();
        for on in &on {
            match steps[*on].is(grid::Launch::NAME) {
                true => through.push(*on),
                false => through.extend(&launches[*on]),
            }
        }
        launches.push(order.last_of(through));
        let hazard = |on: usize| Hazard {
            on,
            why: conflict(&touched[on], accesses).unwrap_or_default(),
        };
        waits.push(on.into_iter().map(hazard).collect());
    }
    Sequence {
        steps,
        waits,
        launches,
    }
}

/// Accesses of earlier steps that later ones may depend on directly, by buffer.
#[derive(Default)]
struct Frontier<'t>(HashMap<Root, Accessed<'t>>);

/// Accesses to one thing, each with its step.
#[derive(Default)]
struct Accessed<'t> {
    writes: Vec<(usize, &'t Access)>,
    reads: Vec<(usize, &'t Access)>,
}

/// How many of the last reads are searched for one that a new read replaces.
const RECENT: usize = 16;

impl<'t> Frontier<'t> {
    /// The steps whose accesses conflict with these.
    fn conflicts(&self, accesses: &[Access]) -> Vec<usize> {
        let mut on = Vec::new();
        for access in accesses {
            let mut look = |accessed: &Accessed| {
                let reads = accessed.reads.iter().filter(|_| access.effect.writes);
                let all = accessed.writes.iter().chain(reads);
                let conflicts = all.filter(|(_, before)| before.conflicts(access));
                on.extend(conflicts.map(|(step, _)| *step));
            };
            match access.root.overlaps_itself_alone() {
                true => {
                    let roots = [access.root, Root::Unknown];
                    let known = roots.iter().filter_map(|root| self.0.get(root));
                    known.for_each(&mut look);
                }
                false => self.0.values().for_each(&mut look),
            }
        }
        on
    }

    /// Adds a step's accesses. An earlier access that one of them stands for is
    /// removed: a later step that conflicts with it also depends on this step, which
    /// depends on that access.
    fn add(&mut self, step: usize, accesses: &'t [Access], order: &Order) {
        for access in accesses {
            let is_gone = |(before, old): &(usize, &Access)| {
                access.stands_for(old) && order.is_before(*before, step)
            };
            if access.effect.writes {
                if access.root == Root::Unknown {
                    for accessed in self.0.values_mut() {
                        accessed.writes.retain(|old| !is_gone(old));
                        accessed.reads.retain(|old| !is_gone(old));
                    }
                }
                let accessed = self.0.entry(access.root).or_default();
                accessed.writes.retain(|old| !is_gone(old));
                accessed.reads.retain(|old| !is_gone(old));
                accessed.writes.push((step, access));
            } else if access.effect.reads {
                let reads = &mut self.0.entry(access.root).or_default().reads;
                let recent = reads.len().saturating_sub(RECENT);
                if let Some(place) = reads[recent..].iter().position(is_gone) {
                    reads.remove(recent + place);
                }
                reads.push((step, access));
            }
        }
    }
}

/// Two conflicting accesses, by their places in their steps.
pub struct Conflict {
    /// The earlier step's access.
    pub before: usize,
    /// The later step's access.
    pub later: usize,
    /// The effect of the later step.
    pub what: &'static str,
}

/// All conflicts of accesses `later` with accesses `before`.
pub fn conflicts<'a>(
    before: &'a [Access],
    later: &'a [Access],
) -> impl Iterator<Item = Conflict> + 'a {
    later.iter().enumerate().flat_map(move |(place, b)| {
        let of = before.iter().enumerate().filter(|(_, a)| a.conflicts(b));
        of.map(move |(i, a)| Conflict {
            before: i,
            later: place,
            what: match (a.effect.writes, b.effect.writes) {
                (true, false) => "reads what it writes",
                (false, _) => "writes what it reads",
                (true, true) if b.effect.reads => "reads what it writes",
                (true, true) => "writes what it writes",
            },
        })
    })
}

/// Why accesses `later` depend on accesses `before`.
fn conflict(before: &[Access], later: &[Access]) -> Option<String> {
    let found = conflicts(before, later).next()?;
    Some(format!("{}: {}", found.what, later[found.later].root))
}
