//! Looks up what has been compiled, slice by slice.
//!
//! The source is [split](crate::cut) into a slice for each kernel, and each slice is looked up by itself,
//! for each target. What is found is joined to what compiling the whole source yields, with the same
//! diagnostics and locations.
//!
//! Only results for text are kept: bytecode contains locations.

use crate::{
    cut::{Cut, Kind, Slice, Words},
    diagnostic::{Diagnostic, Diagnostics, Stage},
    key::{self, key},
    outcome::{Origin, Outcome},
    record,
    request::{CompileRequest, distinct},
    source::Source,
};
use qd_artifact::{Artifact, TargetSpec};
use qd_report::Severity;
use qd_store::{Key, Store};
use std::{borrow::Cow, collections::HashSet, panic, sync::Arc, thread};

/// The result of `qd_frontend::compile_stored`, if the store has all of it: nothing is compiled, and MLIR parses
/// nothing.
pub fn find_stored(
    request: &CompileRequest,
    store: &Store,
    sink: &mut dyn FnMut(&Diagnostic),
) -> Option<Artifact> {
    let plan = Plan::of(request)?;
    store.get(&plan.validity)?;
    let outcomes = find_all(&plan.jobs, store).into_iter();
    plan.joined(outcomes.collect::<Option<_>>()?, sink).ok()
}

/// The names of the kernels of a source, in their order, where they can be told without MLIR.
pub fn kernel_names(source: &Source) -> Option<Vec<String>> {
    let cut = cut(source)?;
    let items = cut.items()?.iter();
    let kernels = items.filter(|item| item.kind == Kind::Kernel);
    Some(kernels.map(|kernel| kernel.name[1..].to_owned()).collect())
}

/// Notes in a store that a source is a valid module, of which nothing is to be said, where it is one that can be kept.
pub fn keep_valid(source: &Source, store: &Store) {
    if let Some(cut) = cut(source) {
        put_valid(store, &key::validity(&cut.whole().text(cut.words())));
    }
}

/// Notes that of a source with this key.
pub fn put_valid(store: &Store, validity: &Key) {
    // What is damaged is seen by who reads it, and written anew then.
    if store.get(validity).is_none() {
        store.put(validity, "a valid module", &[]);
    }
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
pub struct Plan<'a> {
    name: String,
    cut: Cut,
    targets: Vec<&'a TargetSpec>,
    /// Those of the first target, then of the next.
    pub jobs: Vec<Job<'a>>,
    /// Of an entry that says that the source is a valid module, of which nothing is to be said.
    pub validity: Key,
}

/// A slice to be compiled for a target.
pub struct Job<'a> {
    /// What it is, for people.
    pub label: String,
    /// Where it is in the source.
    pub slice: Slice,
    /// Its words.
    pub text: String,
    /// Those of its kernels that are compiled; all if it is `None`.
    pub kernels: Option<Vec<String>>,
    /// The target.
    pub target: &'a TargetSpec,
    /// Of its entry.
    pub key: Key,
}

impl<'a> Plan<'a> {
    /// None where nothing of it can be kept, or a kernel is asked for that is not there.
    pub fn of(request: &'a CompileRequest) -> Option<Self> {
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

    /// The artifact of all outcomes, which are in the order of the jobs. Warnings and remarks go to `sink`.
    ///
    /// # Errors
    ///
    /// Those of outcomes that have some.
    pub fn joined(
        &self,
        outcomes: Vec<Outcome>,
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Artifact, Diagnostics> {
        let parts = self.jobs.iter().zip(outcomes);
        let parts = parts.map(|(job, outcome)| (Cow::Owned(outcome), || job.slice.clone()));
        let words = self.cut.words();
        joined(&self.name, words, &self.targets, parts.collect(), sink)
    }
}

/// The artifact of outcomes of the slices of a source, those for the first target before those for the
/// next. A slice is asked for only where something has a place in it.
///
/// # Errors
///
/// Those of outcomes that have some.
pub fn joined(
    name: &str,
    words: &Words,
    targets: &[&TargetSpec],
    outcomes: Vec<(Cow<'_, Outcome>, impl Fn() -> Slice)>,
    sink: &mut dyn FnMut(&Diagnostic),
) -> Result<Artifact, Diagnostics> {
    let each = outcomes.len() / targets.len();
    let (mut parts, mut errors) = (Vec::new(), Vec::new());
    for (outcome, slice) in outcomes {
        if outcome.is_without_places() {
            parts.extend(outcome.into_owned().result);
            continue;
        }
        let origin = Origin {
            name,
            words,
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

/// What a store has under a key.
pub fn find(store: &Store, key: &Key) -> Option<Outcome> {
    let bytes = store.get(key)?;
    let found = record::read(bytes);
    if found.is_none() {
        store.discard(key);
    }
    found
}

/// Keeps an outcome, if it is one to be kept.
pub fn keep(store: &Store, key: &Key, label: &str, outcome: &Outcome) {
    if let Some(bytes) = record::write(outcome) {
        store.put(key, label, &bytes);
    }
}

/// Fewer are looked up on one thread: others take longer to start.
const FEW: usize = 32;

/// What the store has of each job, looked up on all cores.
pub fn find_all(jobs: &[Job<'_>], store: &Store) -> Vec<Option<Outcome>> {
    let keys: Vec<Key> = jobs.iter().map(|job| job.key).collect();
    // From where a team keeps them many at a time.
    store.fetch(&keys);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let each = jobs.len().div_ceil(threads).max(FEW);
    let find_some =
        |jobs: &[Job<'_>]| -> Vec<_> { jobs.iter().map(|job| find(store, &job.key)).collect() };
    let mut parts = jobs.chunks(each);
    let first = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|part| scope.spawn(move || find_some(part)))
            .collect();
        let mut found = find_some(first);
        for other in others {
            let other = other.join();
            found.extend(other.unwrap_or_else(|panic| panic::resume_unwind(panic)));
        }
        found
    })
}

/// What is said of an artifact without kernels.
pub fn no_kernel() -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        ..Diagnostic::error(Stage::Request, "there is no kernel: nothing can be run")
    }
}
