//! Compilation with a store: what any process has compiled before is not compiled again.
//!
//! The source is [split](crate::cut) into a slice for each kernel, and each slice is looked up, or
//! compiled by itself, for each target. The result is that of [`compile_with`] for the whole source,
//! with the same diagnostics and locations.
//!
//! Only results for text are stored: bytecode contains locations, and is compiled as a whole.

mod identity;
mod key;
mod outcome;
mod parallel;
mod record;

use outcome::Origin;
pub use outcome::Outcome;

use crate::{
    cut::{Cut, Kind, Slice},
    diagnostic::{Diagnostic, Diagnostics, Stage},
    lazy_context,
    parsed::{Parsed, distinct, no_kernel},
    request::{CompileRequest, check_targets, compile_with},
    source::Source,
};
use key::key;
use parallel::{Job, Progress};
use qd_artifact::{Artifact, TargetSpec};
use qd_lowering::Options;
use qd_store::{Key, Store};
use std::{collections::HashSet, sync::Arc};

pub use parallel::Progress as CompileProgress;

/// As [`compile_with`], with a store: results are taken from it, and new ones put there. `progress`
/// is told of each slice that has to be compiled.
///
/// # Errors
///
/// As for [`compile_with`].
pub fn compile_stored(
    request: &CompileRequest,
    store: &Store,
    sink: &mut dyn FnMut(&Diagnostic),
    progress: &mut dyn FnMut(Progress),
) -> Result<Artifact, Diagnostics> {
    let mut said = HashSet::new();
    let mut sink = |diagnostic: &Diagnostic| {
        if said.insert(diagnostic.clone()) {
            sink(diagnostic);
        }
    };
    check_targets(&request.targets)?;
    let Some(plan) = Plan::of(request) else {
        return compile_with(request, &mut sink);
    };
    // What is wrong elsewhere in the source is wrong with it.
    let is_valid = store.get(&plan.validity).is_some();
    if !is_valid {
        let mut was_said = false;
        let context = lazy_context();
        Parsed::new(&context, &request.source, &mut |heard| {
            was_said = true;
            sink(heard);
        })?;
        if !was_said {
            store.put(&plan.validity, "a valid module", &[]);
        }
    }
    let outcomes = parallel::outcomes(&plan.jobs, &request.options, store, progress);
    match plan.joined(outcomes, &mut sink) {
        // The slices of a valid module are valid: the cut is wrong, and the module is not.
        Err(errors) if errors.iter().any(|error| error.stage == Stage::Parse) => {
            compile_with(request, &mut sink)
        }
        result => result,
    }
}

/// The result of [`compile_stored`], if the store has all of it: nothing is compiled, and MLIR parses
/// nothing.
pub fn find_stored(
    request: &CompileRequest,
    store: &Store,
    sink: &mut dyn FnMut(&Diagnostic),
) -> Option<Artifact> {
    check_targets(&request.targets).ok()?;
    let plan = Plan::of(request)?;
    store.get(&plan.validity)?;
    let outcomes = plan.jobs.iter().map(|job| job.find(store));
    plan.joined(outcomes.collect::<Option<_>>()?, sink).ok()
}

/// The names of the kernels of a source, in their order, where they can be told without MLIR.
pub fn kernel_names(source: &Source) -> Option<Vec<String>> {
    let cut = cut(source)?;
    let items = cut.items()?.iter();
    let kernels = items.filter(|item| item.kind == Kind::Kernel);
    Some(kernels.map(|kernel| kernel.name[1..].to_owned()).collect())
}

fn cut(source: &Source) -> Option<Cut> {
    let text: Arc<str> = match source {
        Source::Text { text, .. } => text.clone(),
        Source::File { bytes, .. } => Arc::from(std::str::from_utf8(bytes).ok()?),
        Source::Bytecode(_) | Source::Module(_) => return None,
    };
    Cut::of(text)
}

/// What has to be looked up or compiled for a request.
struct Plan<'a> {
    name: String,
    cut: Cut,
    targets: Vec<&'a TargetSpec>,
    /// Those of the first target, then of the next.
    jobs: Vec<Job<'a>>,
    /// Of an entry that says that the source is a valid module, of which nothing is to be said.
    validity: Key,
}

impl<'a> Plan<'a> {
    /// None where nothing of it can be kept, or a kernel is asked for that is not there.
    fn of(request: &'a CompileRequest) -> Option<Self> {
        let cut = cut(&request.source)?;
        let slices = slices(&cut, request.kernels.as_deref())?;
        let targets = distinct(&request.targets);
        let mut jobs = Vec::new();
        for target in &targets {
            for (label, slice, kernels) in &slices {
                let text = slice.text(cut.words());
                let key = key(&text, kernels.as_deref(), target, &request.options)?;
                jobs.push(Job {
                    label: format!("{label} for {target}"),
                    slice: slice.clone(),
                    text,
                    kernels: kernels.clone(),
                    target,
                    key,
                });
            }
        }
        let whole = cut.whole().text(cut.words());
        Some(Self {
            name: request.source.path().display().to_string(),
            validity: key::validity(&whole),
            cut,
            targets,
            jobs,
        })
    }

    /// The artifact of all outcomes, which are in the order of the jobs.
    fn joined(
        &self,
        outcomes: Vec<Outcome>,
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Artifact, Diagnostics> {
        let parts = self.jobs.iter().zip(&outcomes);
        let parts = parts.map(|(job, outcome)| (outcome, || job.slice.clone()));
        joined(&self.name, &self.cut, &self.targets, parts.collect(), sink)
    }
}

/// The artifact of outcomes of the slices of a source, those for the first target before those for the
/// next. A slice is asked for only where something has a place in it.
pub fn joined(
    name: &str,
    cut: &Cut,
    targets: &[&TargetSpec],
    outcomes: Vec<(&Outcome, impl Fn() -> Slice)>,
    sink: &mut dyn FnMut(&Diagnostic),
) -> Result<Artifact, Diagnostics> {
    let each = outcomes.len() / targets.len();
    let (mut parts, mut errors) = (Vec::new(), Vec::new());
    for (outcome, slice) in outcomes {
        if let Some(artifact) = outcome.without_places() {
            parts.push(artifact.clone());
            continue;
        }
        let origin = Origin {
            name,
            words: cut.words(),
            slice: &slice(),
        };
        let located = outcome.said.iter().map(|said| origin.located(said));
        located.for_each(|said| sink(&said));
        match &outcome.result {
            Ok(artifact) => parts.push(origin.artifact(artifact)),
            Err(said) => errors.extend(said.iter().map(|said| origin.located(said))),
        }
    }
    Diagnostics::check(errors)?;
    let mut parts = parts.into_iter();
    let of_targets = targets.iter().map(|target| {
        let of_target = parts.by_ref().take(each);
        Artifact::gathered(&target.to_string(), of_target)
    });
    let artifact = Artifact::joined(of_targets.collect());
    if artifact.kernels.is_empty() {
        sink(&no_kernel());
    }
    Ok(artifact)
}

/// What it is to people, the slice, and the kernels of it that are compiled.
type Part = (String, Slice, Option<Vec<String>>);

/// A slice for each kernel, and one of what no kernel needs; of a source that is not cut, all of it.
/// None if a kernel is asked for that is not there.
fn slices(cut: &Cut, asked: Option<&[String]>) -> Option<Vec<Part>> {
    let items = cut.items().unwrap_or_default();
    let is_kernel = |i: &usize| items[*i].kind == Kind::Kernel;
    let kernels: Vec<usize> = (0..items.len()).filter(is_kernel).collect();
    if kernels.is_empty() {
        return Some(vec![(
            "a module".into(),
            cut.whole(),
            asked.map(<[String]>::to_vec),
        )]);
    }
    let name = |i: usize| items[i].name[1..].to_owned();
    let roots = match asked {
        None => kernels.clone(),
        Some(asked) => {
            let known: HashSet<String> = kernels.iter().map(|i| name(*i)).collect();
            if !asked.iter().all(|name| known.contains(name)) {
                return None;
            }
            // With those that they dispatch to.
            let roots = kernels
                .iter()
                .copied()
                .filter(|i| asked.contains(&name(*i)));
            let reached = cut.closure(roots);
            reached.into_iter().filter(is_kernel).collect()
        }
    };
    let slice = |i: &usize| {
        let slice = cut.slice(&cut.closure([*i]));
        (name(*i), slice, Some(vec![name(*i)]))
    };
    let mut slices: Vec<Part> = roots.iter().map(slice).collect();
    if asked.is_none() {
        let rest = cut.rest().into_iter();
        slices.extend(rest.map(|rest| ("functions of no kernel".into(), rest, None)));
    }
    Some(slices)
}

/// A slice for a target: what the store has of it, or what comes of compiling it, which is kept. And
/// whether it was found.
pub fn find_or_compile(
    text: &str,
    kernels: Option<&[String]>,
    target: &TargetSpec,
    options: &Options,
    store: Option<&Store>,
) -> (Outcome, bool) {
    let key = key(text, kernels, target, options);
    let kept = store.zip(key);
    if let Some((store, key)) = &kept
        && let Some(found) = parallel::find(store, key)
    {
        return (found, true);
    }
    let outcome = outcome::compile(text, kernels, target, options);
    if let Some((store, key)) = &kept {
        let label = match kernels {
            Some(kernels) => format!("{} for {target}", kernels.join(", ")),
            None => format!("a module for {target}"),
        };
        parallel::keep(store, key, &label, &outcome);
    }
    (outcome, false)
}

#[cfg(test)]
mod tests;
