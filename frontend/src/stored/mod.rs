//! Compilation with a store: what any process has compiled before is not compiled again.
//!
//! The source is [split](qd_request::cut) into a slice for each kernel, and each slice is looked up, or
//! compiled by itself, for each target. The result is that of [`compile_with`] for the whole source,
//! with the same diagnostics and locations.
//!
//! Only results for text are stored: bytecode contains locations, and is compiled as a whole. A program that builds modules
//! stores them by [what they follow from](find_or_build).

mod outcome;
mod parallel;

pub use outcome::{Lowered, View, lower};

use crate::{
    diagnostic::{Diagnostic, Diagnostics, Stage},
    lazy_context,
    parsed::Parsed,
    request::{CompileRequest, check_targets, compile_with},
};
use parallel::Progress;
use qd_artifact::{Artifact, Options, TargetSpec};
use qd_lowering::Stages;
use qd_request::{Outcome, Plan, Source, find, keep, key::key, put_valid};
use qd_store::Store;
use std::collections::HashSet;

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
            put_valid(store, &plan.validity);
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

/// A slice for a target: what the store has of it, or what comes of compiling it, which is kept; then,
/// how long each stage took.
pub fn find_or_compile(
    text: &str,
    kernels: Option<&[String]>,
    target: &TargetSpec,
    options: &Options,
    store: Option<&Store>,
) -> (Outcome, Option<Stages>) {
    let key = key(text, kernels, target, options);
    let kept = store.zip(key);
    if let Some((store, key)) = &kept
        && let Some(found) = find(store, key)
    {
        return (found, None);
    }
    let (outcome, stages) = outcome::compile(text, kernels, target, options, store);
    if let Some((store, key)) = &kept {
        let label = match kernels {
            Some(kernels) => format!("{} for {target}", kernels.join(", ")),
            None => format!("a module for {target}"),
        };
        keep(store, key, &label, &outcome);
    }
    (outcome, Some(stages))
}

/// A module that a program builds, for a target: what the store has of it, or what comes of building and compiling it,
/// which is kept; and whether the store had it. `from` is all that the module follows from, which build of the program
/// makes it among that, and its locations.
///
/// # Errors
///
/// As for [`compile_with`], and those of building it.
pub fn find_or_build(
    from: &str,
    target: &TargetSpec,
    options: &Options,
    store: Option<&Store>,
    build: impl FnOnce() -> Result<Source, Diagnostics>,
) -> Result<(Artifact, bool), Diagnostics> {
    let key = store.and_then(|_| key(&format!("built from {from}"), None, target, options));
    let kept = store.zip(key);
    if let Some((store, key)) = &kept
        && let Some(Outcome {
            result: Ok(found), ..
        }) = find(store, key)
    {
        return Ok((found, true));
    }
    let request = CompileRequest {
        source: build()?,
        targets: vec![target.clone()],
        options: options.clone(),
        ..CompileRequest::default()
    };
    let mut said = Vec::new();
    let artifact = compile_with(&request, &mut |diagnostic| said.push(diagnostic.clone()))?;
    let outcome = Outcome {
        result: Ok(artifact),
        said,
    };
    if let Some((store, key)) = &kept {
        keep(
            store,
            key,
            &format!("a built module for {target}"),
            &outcome,
        );
    }
    let artifact = outcome.result.expect("it was compiled");
    Ok((artifact, false))
}

#[cfg(test)]
mod tests;
