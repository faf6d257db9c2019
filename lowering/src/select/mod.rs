//! `qd-select-lowering`: choose the subgroup size of each body and the form of each op, by a
//! search over what is equal.
//!
//! Each body becomes an e-graph (`import`); [`rules`] add what is equal, for subgroups of any
//! size. For each size that the target has, the cheapest terms are taken (`extract`), by the costs (`cost`)
//! of the target's forms and of expansions (`price`), and the body's time is estimated. Bodies
//! that share a layout (`groups`) get one size, that with the least time in all; then the chosen
//! terms become IR (`materialise`), and the size constants.
//!
//! A size is a candidate where every cluster fits, collectives are reached together and the threads of a block are a
//! multiple of it. A body of which the usual size is none for that last reason keeps it and its ops. `qd.wave` on a body,
//! the target's `wave=N` and the pass's leave that one. With `unseen`, which is how pipelines run it for targets that do not say `select`, a body that uses
//! subgroups by itself keeps the default size, as its results may show it; not so where `qd.wave` is `any`, as it is of
//! what algorithms become.
//!
//! What is chosen of a form: where the expansion is cheaper than the target's own form, the op is
//! expanded here. `qd-expand-collectives` expands what is left, by the expansion that `qd.form` then names, where there
//! are several.
//!
//! Before, for `target=amdgpu:gfx1100`:
//! ```mlir
//! %mask = qd.simt.ballot %p
//! %n = qd.math.popcnt %mask : i64
//! %all = qd.simt.reduce add %one_if_p : i32   // zero-extended %p
//! %sum = qd.simt.broadcast_first %all : i32
//! ```
//! After: `%sum` is `%n`, and `qd.wave` is 32 or 64.
//!
//! Limits: a body weighs as much as it has launches, whose blocks are not known;
//! what a body holds in registers is an estimate.

mod classes;
mod control;
pub(crate) mod cost;
mod eliminate;
mod exact;
mod explain;
mod extract;
mod groups;
mod host;
mod import;
mod judge;
pub mod language;
mod materialise;
mod occupancy;
pub mod page;
mod price;
mod prices;
mod reading;
pub mod rules;
mod saturate;
mod share;
pub mod term;

use crate::{
    pipelines::default_wave,
    targets::{Capabilities, Kind, Search, Target},
};
use cost::{Costs, has_costs};
pub use cost::{Figure, figure};
use explain::{Explanation, annotate};
use extract::Choice;
use import::Body;
use materialise::Outcome;
use price::{EXPANSION, Pricer};
use qd_dialects::{
    attributes::{self, names},
    diagnostic::{Diagnostic, Result},
    ir::{self, Op, OpExt, context_of},
    melior::dialect::DialectHandle,
    options,
    pass::{self, Pass},
};
use qd_passes::{
    expand_collectives,
    select_subgroup_size::{bodies, set_wave, threads_of, wave_at},
    verify_convergence::Calls,
};
use rayon::prelude::*;
use reading::Reading;
use term::asked_form;

/// Iterations of saturation.
const ITERATIONS: usize = 12;
/// Nodes of a graph, for a body and for each op in it.
const NODES: (usize, usize) = (2_000, 60);
/// What a size has to take at most of the default's time to be chosen instead, and of several ways to do an op that is no
/// term another than the usual one.
const WORTH: f64 = 0.97;

options! {
    /// Options of `qd-select-lowering`.
    pub struct SelectLoweringOptions {
        /// what the kernels are to run on, such as cpu or amdgpu:gfx1100; its wave=N leaves that size alone
        target: String = "cpu",
        /// lanes in a subgroup, where they are not to be chosen; 0: choose
        wave: u32 = 0_u32,
        /// choose no sizes of bodies that use subgroups by themselves, whose results may show them
        unseen: bool = false,
        /// a file of costs that go before our own; none: our own
        costs: String = "",
        /// write to standard error what was chosen of what, and why
        explain: bool = false,
    }
}

/// Makes the pass reachable by name.
pub fn register() {
    pass::register::<SelectLowering>();
}

/// The pass.
pub struct SelectLowering;

impl Pass for SelectLowering {
    type Options = SelectLoweringOptions;
    const NAME: &'static str = "qd-select-lowering";
    const SUMMARY: &'static str =
        "Choose subgroup sizes and lowerings by a search over equal terms";

    fn dialects() -> Vec<DialectHandle> {
        expand_collectives::dialects()
    }

    fn run<'c>(module: Op<'c>, options: &SelectLoweringOptions) -> Result<'c> {
        let at = |message: String| Diagnostic::at(module, message);
        let mut target = Target::parse(&options.target).map_err(at)?;
        if target.search == Search::Fixed && has_costs(&target.capabilities.name) {
            let message = "the option 'fixed' of a target leaves nothing to choose: leave it out";
            return Err(at(message.into()));
        }
        let has = target.capabilities.waves.clone();
        if options.wave != 0 {
            if !has.contains(&options.wave) {
                let (wave, name) = (options.wave, &target.capabilities.name);
                let message = format!(
                    "cannot have subgroups of {wave}: '{name}' has {}",
                    list(&has)
                );
                return Err(at(message));
            }
            target.wave = Some(options.wave);
        }
        let file = Some(options.costs.as_str()).filter(|path| !path.is_empty());
        let costs = Costs::of(context_of(module), &target.capabilities, file)?;
        if has
            .iter()
            .any(|wave| costs.limit("resident", *wave).is_none())
        {
            let name = &target.capabilities.name;
            let message = format!("there are no costs of target '{name}': give a file by 'costs'");
            return Err(at(message));
        }
        select(module, &target, &costs, options)
    }
}

/// A body, and what was found for it at each size that it may have.
struct Candidates<'c> {
    op: Op<'c>,
    threads: i64,
    body: Body<'c>,
    choices: Vec<Choice>,
    /// The sizes that it may not have, each with the reason.
    refused: Vec<(u32, String)>,
    launches: f64,
}

impl Candidates<'_> {
    fn at(&self, wave: u32) -> Option<&Choice> {
        self.choices.iter().find(|choice| choice.wave == wave)
    }
}

fn select<'c>(
    module: Op<'c>,
    target: &Target,
    costs: &Costs,
    options: &SelectLoweringOptions,
) -> Result<'c> {
    let is_explained = options.explain || page::is_wanted();
    let say = |explanation: Explanation| {
        if options.explain {
            eprint!("{}", explanation.text());
        }
        page::add(explanation);
    };
    host::settle(module, target)?;
    let mut all = bodies(module);
    all.retain(|(op, _)| op.body().is_some());
    let uneven: Vec<Option<u32>> = (all.iter())
        .map(|(op, threads)| left_alone(*op, *threads, target))
        .collect::<Result<'c, _>>()?;
    let ops: Vec<Op<'c>> = all.iter().map(|(op, _)| *op).collect();
    // With one size alone, all bodies have it in any case.
    let is_chosen =
        target.wave.is_none() && target.capabilities.waves.len() > 1 && !is_of_device(target);
    let calls = Calls::new(module);
    let looks = |op: Op<'c>| is_chosen || is_explained || has_forms(op);
    type Each<'c> = ((Op<'c>, i64), Option<u32>);
    let read = |((op, threads), uneven): Each<'c>| match uneven {
        None if looks(op) => Reading::of(op, threads, target, &calls).map(Some),
        _ => Ok(None),
    };
    let each: Vec<Each<'c>> = all.iter().copied().zip(uneven.iter().copied()).collect();
    let each_alone = || {
        let groups = (0..ops.len()).map(|at| vec![at]);
        (groups.collect(), vec![1.0; ops.len()])
    };
    // Safety: both read the module, and change nothing.
    let read_all = || unsafe { ir::read_each(each, read) };
    let grouped = || match is_chosen {
        true => groups::groups(module, &ops),
        false => each_alone(),
    };
    let (readings, (groups, launches)) = match ops.len() {
        0 | 1 => (read_all(), grouped()),
        // Safety: as above.
        _ => unsafe { ir::read_both(read_all, grouped) },
    };
    let mut readings = readings.into_iter().collect::<Result<'c, Vec<_>>>()?;
    if options.unseen && is_chosen {
        keep_shown(&groups, &ops, &mut readings, default_wave(target));
    }
    let mut pricer = Pricer::new(module, &target.capabilities, costs);
    let mut bodies = candidates(readings, &launches, target, &mut pricer)?;
    let called: Vec<Op<'c>> = (module.nested().into_iter())
        .filter(|op| op.is("func.func") && op.body().is_some() && threads_of(*op).is_none())
        .collect();
    for (number, group) in groups.iter().enumerate() {
        let mut found = Vec::new();
        for at in group {
            match bodies[*at].take() {
                Some(candidates) => found.push(candidates),
                None => {
                    let wave = uneven[*at].or(allowed(ops[*at], target)?.first().copied());
                    set_wave(ops[*at], wave.unwrap_or(default_wave(target)).into())?;
                }
            }
            if let Some(wave) = uneven[*at].filter(|_| is_explained) {
                let (op, threads) = all[*at];
                let name = &target.capabilities.name;
                say(Explanation::of_left_alone(op, threads, number, name, wave));
            }
        }
        if found.is_empty() {
            continue;
        }
        let fixed = group.iter().find_map(|at| uneven[*at]);
        let wave = best_wave(&found, fixed, target)?;
        for body in &found {
            if let Some(choice) = body.at(wave) {
                let name = &target.capabilities.name;
                let explanation = is_explained
                    .then(|| Explanation::of(body, choice, number, name, &mut pricer))
                    .transpose()?;
                let outcome = rewrite(body, choice, &target.capabilities, is_explained)?;
                if let Some(explanation) = explanation {
                    say(explanation.with(outcome));
                }
            }
        }
    }
    if called.is_empty() {
        return Ok(());
    }
    // Those that call them are one group.
    let calling = groups.iter().flatten().map(|at| all[*at].0);
    let of_calls = calling.filter(|body| body.nested().iter().any(|op| op.is("func.call")));
    let wave = of_calls.filter_map(wave_at).next().map(|wave| wave as u32);
    let default = default_wave(target);
    called
        .into_iter()
        .try_for_each(|function| set_wave(function, wave.unwrap_or(default).into()))
}

/// Leaves the default size alone to each group with a body that uses subgroups by itself, if all of them may have it.
fn keep_shown(
    groups: &[Vec<usize>],
    ops: &[Op<'_>],
    readings: &mut [Option<Reading<'_>>],
    default: u32,
) {
    for group in groups {
        let of_all = |at: &usize| {
            readings[*at]
                .as_ref()
                .is_none_or(|r| r.waves.contains(&default))
        };
        if group.iter().any(|at| groups::uses_subgroups(ops[*at])) && group.iter().all(of_all) {
            for at in group {
                readings[*at]
                    .iter_mut()
                    .for_each(|reading| reading.keep(default));
            }
        }
    }
}

/// Whether the size of subgroups is the device's to say, which is not known here.
fn is_of_device(target: &Target) -> bool {
    matches!(target.capabilities.kind, Kind::Spirv(_))
}

/// Whether a body has an op of which there may be several forms.
fn has_forms(body: Op<'_>) -> bool {
    let mut ops = body.nested().into_iter();
    ops.any(|op| asked_form(op).is_some() || classes::plain_class(op).is_none())
}

/// Makes of a body what was chosen for it.
fn rewrite<'c>(
    body: &Candidates<'c>,
    choice: &Choice,
    target: &Capabilities,
    is_explained: bool,
) -> Result<'c, Outcome<'c>> {
    let outcome = match body.op.body() {
        Some(block) => materialise::materialise(block, &body.body, choice, is_explained),
        None => Outcome::default(),
    };
    set_wave(body.op, choice.wave.into())?;
    let waves = body
        .choices
        .iter()
        .map(|choice| (choice.wave, choice.whole));
    annotate(body.op, &waves.collect::<Vec<_>>(), choice, &outcome.rules);
    for (op, form) in &outcome.native {
        op.set_attr(names::FORM, attributes::string(context_of(*op), form));
    }
    // What the target has no form of is expanded later, and so is what has several expansions.
    let has = |op: &Op<'c>| target.form(*op, choice.wave.into()).is_some();
    let expanded: Vec<Op<'c>> = outcome.expanded.iter().copied().filter(has).collect();
    if !expanded.is_empty() {
        let deciding = control::deciding(body.op);
        let is_free = |op: &Op<'c>| asked_form(*op).is_some() || !deciding.contains(&op.key());
        for op in expanded.into_iter().filter(is_free) {
            op.set_attr(names::FORM, attributes::string(context_of(op), EXPANSION));
        }
        expand_collectives::expand(body.op, &|op, _| {
            asked_form(op).and_then(attributes::text).as_deref() != Some(EXPANSION)
        })?;
    }
    Ok(outcome)
}

/// What can be had of each body at each size: all is priced first, and then judged.
fn candidates<'c>(
    mut readings: Vec<Option<Reading<'c>>>,
    launches: &[f64],
    target: &Target,
    pricer: &mut Pricer<'_, 'c>,
) -> Result<'c, Vec<Option<Candidates<'c>>>> {
    let costs = pricer.costs;
    let mut subjects = Vec::new();
    for reading in readings.iter_mut().flatten() {
        reading.meet_forms(pricer)?;
        let settings = reading.settings(target, costs).into_iter();
        let of_sizes = settings.map(|setting| reading.problem.subjects(&reading.body, setting));
        subjects.extend(of_sizes.flatten());
    }
    pricer.learn(subjects)?;
    let mut judges = Vec::new();
    for reading in readings.iter().flatten() {
        let settings = reading.settings(target, costs).into_iter();
        let of_sizes =
            settings.map(|setting| reading.problem.judge(&reading.body, pricer, setting));
        judges.push(of_sizes.collect::<Result<'c, Vec<_>>>()?);
    }
    let span = tracing::info_span!("judge", bodies = judges.len()).entered();
    let choices: Vec<Vec<Option<Choice>>> =
        at_once(judges, |judges| at_once(judges, extract::choice));
    drop(span);
    let mut choices = choices.into_iter();
    let found = readings
        .into_iter()
        .zip(launches)
        .map(|(reading, launches)| {
            let reading = reading?;
            let found = reading.waves.iter().zip(choices.next()?);
            let mut refused = reading.refused;
            let found = found.filter_map(|(wave, choice)| {
                if choice.is_none() {
                    refused.push((*wave, "its terms go in a circle".into()));
                }
                choice
            });
            Some(Candidates {
                choices: found.collect(),
                op: reading.op,
                threads: reading.threads,
                body: reading.body,
                refused,
                launches: launches.max(1.0),
            })
        });
    Ok(found.collect())
}

/// What `work` returns of each item: in several threads, if there are several items.
fn at_once<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    match items.len() {
        0 | 1 => items.into_iter().map(work).collect(),
        _ => items.into_par_iter().map(work).collect(),
    }
}

/// The sizes that may be looked at: the body's own, the one asked for, or all.
fn allowed<'c>(op: Op<'c>, target: &Target) -> Result<'c, Vec<u32>> {
    let Capabilities { name, waves, .. } = &target.capabilities;
    let own = wave_at(op).and_then(|wave| u32::try_from(wave).ok());
    match (own, target.wave) {
        (Some(own), Some(asked)) if own != asked => {
            let message = format!("is for subgroups of {own}, and cannot be for {asked}");
            Err(Diagnostic::at(op, message))
        }
        (Some(own), _) if !waves.contains(&own) => {
            let has = list(waves);
            let message = format!("is for subgroups of {own}, but target '{name}' has {has}");
            Err(Diagnostic::at(op, message))
        }
        (Some(wave), _) | (None, Some(wave)) => Ok(vec![wave]),
        (None, None) if is_of_device(target) => Ok(vec![default_wave(target)]),
        (None, None) => Ok(waves.clone()),
    }
}

/// The size of a body that is left alone, as blocks do not fill their last subgroup at its usual size: terms are of full
/// subgroups.
fn left_alone<'c>(op: Op<'c>, threads: i64, target: &Target) -> Result<'c, Option<u32>> {
    let (may, usual) = (allowed(op, target)?, default_wave(target));
    let own = may.iter().find(|wave| **wave == usual).or(may.first());
    let wave = own.copied().unwrap_or(usual);
    let is_full = |wave: &u32| threads % i64::from(*wave) == 0;
    let is_left = match is_of_device(target) {
        true => !target.capabilities.waves.iter().all(is_full),
        false => !is_full(&wave),
    };
    Ok(is_left.then_some(wave))
}

/// The size at which a group takes least: the one that a body in it has in any case, or the default, unless another is
/// worth it.
fn best_wave<'c>(group: &[Candidates<'c>], fixed: Option<u32>, target: &Target) -> Result<'c, u32> {
    let time = |wave: u32| -> Option<f64> {
        let times = group
            .iter()
            .map(|body| Some(body.launches * body.at(wave)?.whole.time));
        times.sum()
    };
    let of = |wave: &u32| match fixed.is_none_or(|fixed| fixed == *wave) {
        true => Some((*wave, time(*wave)?)),
        false => None,
    };
    let all: Vec<(u32, f64)> = target.capabilities.waves.iter().filter_map(of).collect();
    let default = default_wave(target);
    let known = all.iter().find(|(wave, _)| *wave == default);
    let worth = known.map_or(f64::INFINITY, |(_, time)| time * WORTH);
    let better = all.iter().copied().filter(|(_, time)| *time < worth);
    let better = better.reduce(|best, next| if next.1 < best.1 { next } else { best });
    let best = better.or(known.copied()).map(|(wave, _)| wave);
    best.ok_or_else(|| {
        let message = "shares memory with bodies by subgroups, and no size suits all of them";
        let mut error = Diagnostic::at(group[0].op, message);
        for body in group {
            if let Some(wave) = wave_at(body.op) {
                error = error.note(body.op.location(), format!("for subgroups of {wave}"));
            }
            for (wave, why) in &body.refused {
                error = error.note(body.op.location(), format!("not {wave}: {why}"));
            }
        }
        error
    })
}

fn list(waves: &[u32]) -> String {
    let waves: Vec<_> = waves.iter().map(u32::to_string).collect();
    waves.join(", ")
}
