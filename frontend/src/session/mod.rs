//! Sessions: files that are edited, and compiled again as far as an edit reaches.
//!
//! ```
//! use qd_frontend::session::Session;
//!
//! let mut session = Session::default();
//! let file = session.add("k.mlir", "qd.grid.kernel @k() {}");
//! let targets = ["cpu".parse()?];
//! let artifact = session.compile(file, &targets)?;
//! session.set_text(file, "// Edited.\nqd.grid.kernel @k() {}");
//! // Nothing is compiled for it.
//! assert_eq!(session.compile(file, &targets)?, artifact);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What comes out is what [`compile`](crate::compile) makes of the whole file, byte by byte, and so
//! are the diagnostics of a file with one error. Of several kernels with errors a session tells each.

mod queries;
mod recent;
mod results;
mod symbols;

pub use crate::stored::View;
pub use symbols::{Change, Symbols};

use crate::{
    diagnostic::{Diagnostic, Diagnostics, Stage},
    request::{CompileRequest, check_targets, compile_with},
};
use qd_artifact::{Artifact, Options, TargetSpec};
use qd_lowering::Stages;
use qd_request::{
    Origin, Outcome, Source,
    cut::{Cut, Slice, Words},
    distinct, joined,
};
use qd_store::Store;
use queries::{Db, Settings};
use results::Results;
use salsa::Setter;
use std::{
    borrow::Cow,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// A file of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId(queries::File);

/// A query that ran, and of what: `compiled`, `k for cpu`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// `words`, `cut`, `slice`, `rest`, `found` for an artifact from the store, `compiled` for one that was
    /// made, `lowered` for IR, `failed` for either with errors.
    pub query: &'static str,
    /// A file, a symbol, or a kernel and a target.
    pub of: String,
    /// How long that took.
    pub took: Duration,
    /// How long each stage of it did, where it has stages.
    pub stages: Stages,
}

impl Ran {
    /// The kernel that was found, compiled or lowered, or could not be; none of other queries, and of what no kernel
    /// names.
    pub fn kernel(&self) -> Option<&str> {
        let is_of_kernel = matches!(self.query, "found" | "compiled" | "lowered" | "failed");
        let name = self.of.split(' ').next().filter(|_| is_of_kernel)?;
        (!self.of.starts_with(results::REST)).then_some(name)
    }
}

/// An edit was made while an answer was computed: it would have been of the text before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session was edited meanwhile")]
pub struct Cancelled;

/// Files and options, and what has been computed of them.
///
/// A clone shares all of that, and may be asked on another thread, by [`Session::try_compile`]. An
/// edit cancels what clones are computing and waits until they have noticed, at the next kernel: so no
/// thread may make one that keeps a clone itself.
#[derive(Clone)]
pub struct Session(Database);

#[salsa::db]
#[derive(Clone)]
struct Database {
    storage: salsa::Storage<Self>,
    store: Option<Arc<Store>>,
    results: Arc<Results>,
    log: Arc<Mutex<Vec<Ran>>>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn store(&self) -> Option<&Store> {
        self.store.as_deref()
    }

    fn results(&self) -> &Results {
        &self.results
    }

    fn ran(&self, query: &'static str, of: &str, since: Instant, stages: Stages) {
        let took = since.elapsed();
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.push(Ran {
            query,
            of: of.into(),
            took,
            stages,
        });
    }
}

/// This machine, and no store.
impl Default for Session {
    fn default() -> Self {
        Self::new(Options::default(), None)
    }
}

impl Session {
    /// Without files. What is compiled is looked for in a store, and kept there.
    pub fn new(options: Options, store: Option<Arc<Store>>) -> Self {
        let database = Database {
            storage: salsa::Storage::default(),
            store,
            results: Arc::default(),
            log: Arc::default(),
        };
        Settings::new(&database, options);
        Self(database)
    }

    /// Adds a file. No file of that name need be there: it is for diagnostics.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        FileId(queries::File::new(&self.0, name.into(), text.into()))
    }

    /// Edits a file.
    pub fn set_text(&mut self, file: FileId, text: impl Into<Arc<str>>) {
        file.0.set_text(&mut self.0).to(text.into());
    }

    /// Compiles with other options from now on.
    pub fn set_options(&mut self, options: Options) {
        // No clone is left that computes with those before.
        Settings::get(&self.0).set_options(&mut self.0).to(options);
        self.0.results.clear();
    }

    /// The queries that ran since this was last asked, those of several threads in any order.
    pub fn take_log(&self) -> Vec<Ran> {
        let mut log = self.0.log.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut log)
    }

    /// The names of a file's kernels; none of a file that cannot be told apart into symbols.
    pub fn kernels(&self, file: FileId) -> Vec<String> {
        let kernels = queries::kernels(&self.0, file.0).iter();
        kernels
            .map(|kernel| kernel.name(&self.0)[1..].to_owned())
            .collect()
    }

    /// What is at the top level of a file: nothing of a file that cannot be told apart into symbols.
    pub fn symbols(&self, file: FileId) -> Symbols {
        let db = &self.0;
        let all = queries::symbols(db, file.0).iter();
        Symbols::of(all.map(|symbol| (&**symbol.name(db), &**symbol.text(db))))
    }

    /// The names of the symbols that a kernel follows from, with their signs: `@k`, `!type`.
    pub fn follows_from(&self, file: FileId, kernel: &str) -> Vec<String> {
        let found = self.symbol(file, kernel);
        found.map_or_else(Vec::new, |kernel| queries::follows_from(&self.0, kernel))
    }

    fn symbol(&self, file: FileId, kernel: &str) -> Option<queries::Symbol<'_>> {
        let db = &self.0;
        let mut all = queries::kernels(db, file.0).iter().copied();
        all.find(|symbol| &symbol.name(db)[1..] == kernel)
    }

    /// A kernel between its text and its code, as text: at a level of the IR a module of it and all that it
    /// names, or its plan and the reasons for it. What is wrong with others is no matter. None if the file
    /// has none of that name.
    ///
    /// # Errors
    ///
    /// There is no such target, or the kernel cannot be lowered so far.
    pub fn view(
        &self,
        file: FileId,
        kernel: &str,
        target: &TargetSpec,
        view: View,
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Option<String>, Diagnostics> {
        check_targets(std::slice::from_ref(target))?;
        let db = &self.0;
        let Some(kernel) = self.symbol(file, kernel) else {
            return Ok(None);
        };
        let lowered = results::lowered(db, kernel, target, view);
        let cut = self.cut(file);
        let origin = Origin {
            name: file.0.name(db),
            words: self.words(file),
            slice: &slice_of(cut, kernel.name(db)),
        };
        let located = lowered.said.iter().map(|said| origin.located(said));
        located.for_each(|said| sink(&said));
        let errors = lowered.result.as_ref().map(|text| Some(text.clone()));
        errors.map_err(|errors| {
            Diagnostics::of(errors.iter().map(|error| origin.located(error)).collect())
        })
    }

    /// One kernel for a target, with those that it dispatches to. What is wrong with others is no
    /// matter. None if the file has none of that name.
    ///
    /// # Errors
    ///
    /// It cannot be compiled.
    pub fn kernel(
        &self,
        file: FileId,
        kernel: &str,
        target: &TargetSpec,
    ) -> Result<Option<Artifact>, Diagnostics> {
        self.kernel_with(file, kernel, target, &mut |_| ())
    }

    /// As [`kernel`](Session::kernel). What is no error goes to `sink`.
    ///
    /// # Errors
    ///
    /// It cannot be compiled.
    pub fn kernel_with(
        &self,
        file: FileId,
        kernel: &str,
        target: &TargetSpec,
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Option<Artifact>, Diagnostics> {
        check_targets(std::slice::from_ref(target))?;
        let db = &self.0;
        let Some(kernel) = self.symbol(file, kernel) else {
            return Ok(None);
        };
        let kernels = queries::kernels(db, file.0).len();
        db.results.hold_at_least(file.0, kernels);
        let outcome = results::outcome(db, kernel, target);
        let cut = self.cut(file);
        let parts = vec![(Cow::Borrowed(&*outcome), || slice_of(cut, kernel.name(db)))];
        let artifact = joined(file.0.name(db), self.words(file), &[target], parts, sink);
        artifact.map(Some)
    }

    /// All kernels of a file, those that are not known yet side by side.
    ///
    /// # Errors
    ///
    /// As for [`compile`](crate::compile).
    pub fn compile(&self, file: FileId, targets: &[TargetSpec]) -> Result<Artifact, Diagnostics> {
        self.compile_with(file, targets, &mut |_| ())
    }

    /// As [`compile`](Session::compile), on a thread beside one that edits.
    ///
    /// # Errors
    ///
    /// The session was edited meanwhile, or as for [`compile`](crate::compile).
    pub fn try_compile(
        &self,
        file: FileId,
        targets: &[TargetSpec],
    ) -> Result<Result<Artifact, Diagnostics>, Cancelled> {
        self.try_compile_with(file, targets, &mut |_| ())
    }

    /// As [`try_compile`](Session::try_compile). What is no error goes to `sink`, each once.
    ///
    /// # Errors
    ///
    /// As for [`try_compile`](Session::try_compile).
    pub fn try_compile_with(
        &self,
        file: FileId,
        targets: &[TargetSpec],
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Result<Artifact, Diagnostics>, Cancelled> {
        let work = AssertUnwindSafe(|| self.compile_with(file, targets, sink));
        salsa::Cancelled::catch(work).map_err(|_| Cancelled)
    }

    /// As [`compile`](Session::compile). What is no error goes to `sink`, each once.
    ///
    /// # Errors
    ///
    /// As for [`compile`](crate::compile).
    pub fn compile_with(
        &self,
        file: FileId,
        targets: &[TargetSpec],
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Artifact, Diagnostics> {
        check_targets(targets)?;
        let mut said = Vec::new();
        let mut sink = |heard: &Diagnostic| {
            if !said.contains(heard) {
                said.push(heard.clone());
                sink(heard);
            }
        };
        let db = &self.0;
        let targets = distinct(targets);
        let Some(cut) = queries::cut(db, file.0) else {
            return self.compile_whole(file, &targets, &mut sink);
        };
        let kernels = queries::kernels(db, file.0);
        db.results.hold(file.0, (kernels.len() + 1) * targets.len());
        self.compute(file, &targets);
        let mut outcomes: Vec<(Arc<Outcome>, Where<'_>)> = Vec::new();
        for target in &targets {
            for kernel in kernels {
                let outcome = results::outcome(db, *kernel, target);
                let name = kernel.name(db);
                outcomes.push((outcome, Box::new(move || slice_of(cut, name))));
            }
            if let Some(outcome) = results::outcome_of_rest(db, file.0, target) {
                outcomes.push((outcome, Box::new(|| rest_of(cut))));
            }
        }
        let each = outcomes.iter();
        let parts = each.map(|(outcome, at)| (Cow::Borrowed(&**outcome), at));
        let result = joined(
            file.0.name(db),
            self.words(file),
            &targets,
            parts.collect(),
            &mut sink,
        );
        let is_of_parsing = |error: &Diagnostic| error.stage == Stage::Parse;
        match result {
            // Were the whole valid, the cut would be wrong, and not the file.
            Err(errors) if errors.iter().any(is_of_parsing) => self
                .compile_whole(file, &targets, &mut sink)
                .map_err(|_| errors),
            result => result,
        }
    }

    /// Without the cut.
    fn compile_whole(
        &self,
        file: FileId,
        targets: &[&TargetSpec],
        sink: &mut dyn FnMut(&Diagnostic),
    ) -> Result<Artifact, Diagnostics> {
        let db = &self.0;
        let request = CompileRequest {
            source: Source::text(file.0.name(db).clone(), file.0.text(db).clone()),
            targets: targets.iter().copied().cloned().collect(),
            kernels: None,
            options: Settings::get(db).options(db).clone(),
        };
        compile_with(&request, sink)
    }

    /// Computes the outcomes of kernels on all cores. They are asked for one by one afterwards.
    fn compute(&self, file: FileId, targets: &[&TargetSpec]) {
        let kernels = queries::kernels(&self.0, file.0);
        let jobs = kernels.len() * targets.len();
        // What is made now takes the place of others.
        for target in targets {
            let each = kernels.iter();
            each.for_each(|kernel| results::touch(&self.0, *kernel, target));
        }
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let next = AtomicUsize::new(0);
        let next = &next;
        thread::scope(|scope| {
            // This thread is one of them.
            for _ in 1..threads.min(jobs) {
                let session = self.clone();
                scope.spawn(move || {
                    let work = AssertUnwindSafe(|| session.compute_some(file, targets, next));
                    // The thread that asks notices by itself.
                    let _ = salsa::Cancelled::catch(work);
                });
            }
            self.compute_some(file, targets, next);
        });
        self.0.results.trim_after(results::COMPILED_AT_ONCE);
    }

    fn compute_some(&self, file: FileId, targets: &[&TargetSpec], next: &AtomicUsize) {
        let db = &self.0;
        let kernels = queries::kernels(db, file.0);
        while !kernels.is_empty() {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(target) = targets.get(i / kernels.len()) else {
                return;
            };
            results::outcome(db, kernels[i % kernels.len()], target);
        }
    }

    fn words(&self, file: FileId) -> &Words {
        let words = queries::words(&self.0, file.0).as_ref();
        words.expect("a file that is cut has words")
    }

    fn cut(&self, file: FileId) -> &Cut {
        let cut = queries::cut(&self.0, file.0).as_deref();
        cut.expect("a file with kernels is cut")
    }
}

/// Finds the slice that an outcome is of.
type Where<'a> = Box<dyn Fn() -> Slice + 'a>;

/// Where a symbol's slice is.
fn slice_of(cut: &Cut, name: &str) -> Slice {
    cut.slice(&cut.closure(cut.number(name)))
}

/// Where what no kernel names is.
fn rest_of(cut: &Cut) -> Slice {
    cut.rest().unwrap_or_else(|| cut.whole())
}

#[cfg(test)]
mod tests;
