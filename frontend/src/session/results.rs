//! What comes of kernels: code for targets, and what is between text and code.
//!
//! Each follows from the text of a slice, the kernel's name, the target and the options. Contexts of MLIR live
//! inside of one computation each.

use super::{
    queries::{self, Db, File, Settings, Symbol},
    recent::Recent,
};
use crate::stored::{Lowered, View, find_or_compile, lower};
use qd_artifact::TargetSpec;
use qd_request::{
    Outcome,
    cut::{Cut, Words},
};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

/// What no kernel names, in the log.
pub const REST: &str = "the rest";

/// As many outcomes are held in any case; fewer in tests, which fill it.
pub const HELD: usize = if cfg!(test) { 16 } else { 1024 };
/// As many views are.
const HELD_VIEWS: usize = 64;

/// After as many compilations free memory is given back; and after as many at once, when all are done.
const COMPILED: usize = 500;
pub const COMPILED_AT_ONCE: usize = 100;

/// By what a result is known, besides its text and the options, which are one for all.
#[derive(PartialEq, Eq, Hash)]
struct Of<W> {
    file: File,
    /// None is [`REST`].
    kernel: Option<String>,
    target: TargetSpec,
    what: W,
}

/// What is held of all files.
pub struct Results {
    outcomes: Recent<Of<()>, Arc<Outcome>>,
    views: Recent<Of<View>, Arc<Lowered>>,
    /// How many outcomes the files were last asked for.
    asked: Mutex<HashMap<File, usize>>,
    /// How the files were last cut.
    cuts: Mutex<HashMap<File, Arc<Cut>>>,
    /// Compilations since free memory was given back.
    compiled: AtomicUsize,
}

impl Default for Results {
    fn default() -> Self {
        Self {
            outcomes: Recent::new(HELD),
            views: Recent::new(HELD_VIEWS),
            asked: Mutex::default(),
            cuts: Mutex::default(),
            compiled: AtomicUsize::new(0),
        }
    }
}

impl Results {
    /// Holds as many outcomes as a file is asked for, beside those of other files.
    pub fn hold(&self, file: File, outcomes: usize) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.insert(file, outcomes) != Some(outcomes) {
            self.outcomes.hold(asked.values().sum::<usize>().max(HELD));
        }
    }

    /// As [`hold`](Self::hold), where it is at least so many.
    pub fn hold_at_least(&self, file: File, outcomes: usize) {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let before = asked.get(&file).copied().unwrap_or(0);
        drop(asked);
        self.hold(file, outcomes.max(before));
    }

    /// Cuts a file's words, with what is known from last time.
    pub fn cut(&self, file: File, words: Words) -> Arc<Cut> {
        let mut cuts = self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
        let cut = Cut::of_words(words, cuts.get(&file).map(|cut| &**cut));
        let cut = Arc::new(cut);
        cuts.insert(file, Arc::clone(&cut));
        cut
    }

    /// Gives free memory back after at least so many compilations. What LLVM has freed lies between what is held, and
    /// would stay with the process: the C library gives back the end of its memory alone unless it is asked.
    pub fn trim_after(&self, compiled: usize) {
        if self.compiled.load(Ordering::Relaxed) >= compiled {
            self.compiled.store(0, Ordering::Relaxed);
            // Safety: it has no requirements.
            #[cfg(target_env = "gnu")]
            unsafe {
                libc::malloc_trim(0)
            };
        }
    }

    /// How many outcomes are held.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.outcomes.held()
    }

    /// Forgets all: the options are others.
    pub fn clear(&self) {
        self.outcomes.clear();
        self.views.clear();
    }
}

fn of<W>(db: &dyn Db, kernel: Symbol<'_>, target: &TargetSpec, what: W) -> Of<W> {
    Of {
        file: kernel.file(db),
        kernel: Some(name(db, kernel)),
        target: target.clone(),
        what,
    }
}

fn name(db: &dyn Db, kernel: Symbol<'_>) -> String {
    kernel.name(db)[1..].to_owned()
}

/// Notes that the outcome of a kernel will be asked for, if one is held.
pub fn touch(db: &dyn Db, kernel: Symbol<'_>, target: &TargetSpec) {
    db.results().outcomes.touch(&of(db, kernel, target, ()));
}

/// What comes of compiling a kernel.
pub fn outcome(db: &dyn Db, kernel: Symbol<'_>, target: &TargetSpec) -> Arc<Outcome> {
    let of = of(db, kernel, target, ());
    let outcomes = &db.results().outcomes;
    outcomes.get_or(of, queries::slice(db, kernel), || {
        let text = queries::slice_text(db, kernel);
        compiled(db, &text, Some(name(db, kernel)), target)
    })
}

/// What comes of compiling what no kernel names.
pub fn outcome_of_rest(db: &dyn Db, file: File, target: &TargetSpec) -> Option<Arc<Outcome>> {
    let rest = queries::rest(db, file)?;
    let of = Of {
        file,
        kernel: None,
        target: target.clone(),
        what: (),
    };
    Some(db.results().outcomes.get_or(of, rest, || {
        let text = queries::rest_text(db, file).unwrap_or_default();
        compiled(db, &text, None, target)
    }))
}

fn compiled(db: &dyn Db, text: &str, kernel: Option<String>, target: &TargetSpec) -> Arc<Outcome> {
    // It takes long: not begun for a revision that is past.
    db.unwind_if_revision_cancelled();
    let options = Settings::get(db).options(db);
    let name = kernel.as_deref().unwrap_or(REST);
    let of = format!("{name} for {target}");
    let kernels = kernel.clone().map(|name| vec![name]);
    let begin = Instant::now();
    let (outcome, stages) = find_or_compile(text, kernels.as_deref(), target, options, db.store());
    if stages.is_some() {
        db.results().compiled.fetch_add(1, Ordering::Relaxed);
        db.results().trim_after(COMPILED);
    }
    let query = match (&outcome.result, &stages) {
        (Err(_), _) => "failed",
        (Ok(_), Some(_)) => "compiled",
        (Ok(_), None) => "found",
    };
    db.ran(query, &of, begin, stages.unwrap_or_default());
    Arc::new(outcome)
}

/// What is to be seen of a kernel, as text.
pub fn lowered(db: &dyn Db, kernel: Symbol<'_>, target: &TargetSpec, view: View) -> Arc<Lowered> {
    let of = of(db, kernel, target, view);
    let views = &db.results().views;
    views.get_or(of, queries::slice(db, kernel), || {
        db.unwind_if_revision_cancelled();
        let begin = Instant::now();
        let to = match view {
            View::Level(level) => level.name,
            View::Plan => "its plan",
        };
        let name = name(db, kernel);
        let of = format!("{name} to {to} for {target}");
        let options = Settings::get(db).options(db);
        let text = queries::slice_text(db, kernel);
        let (lowered, stages) = lower(&text, Some(&[name]), target, options, view);
        let query = match lowered.result {
            Ok(_) => "lowered",
            Err(_) => "failed",
        };
        db.ran(query, &of, begin, stages);
        Arc::new(lowered)
    })
}
