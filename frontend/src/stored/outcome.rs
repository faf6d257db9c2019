//! The result of compiling a slice, with locations as word numbers of the slice, and the mapping of
//! these to locations in the source.

use crate::{
    Parsed,
    cut::{Place, SLICE, Slice, Words},
    diagnostic::{Diagnostic, Diagnostics, Sink},
    lazy_context,
    source::Source,
    stored::key,
};
use qd_artifact::{Artifact, TargetSpec};
use qd_dialects::report::Span;
use qd_lowering::{Emit, KeptCode, Options, Stages, pipelines::Level};
use qd_store::Store;
use std::{sync::Arc, time::Instant};

/// What comes of compiling a slice. It follows from the slice's text, and holds for every source with
/// that slice: places are lines and columns of the slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// For one target, or the errors.
    pub result: Result<Artifact, Vec<Diagnostic>>,
    /// What is no error.
    pub said: Vec<Diagnostic>,
}

impl Outcome {
    /// Its artifact, if no place is in it and nothing was said.
    pub fn without_places(&self) -> Option<&Artifact> {
        let artifact = self.result.as_ref().ok()?;
        let has_no_reasons = artifact.origins.iter().all(|o| o.reasons.is_empty());
        (self.said.is_empty() && has_no_reasons).then_some(artifact)
    }
}

/// Compiles the text of a slice for a target that there is: these kernels of it and what they dispatch
/// to, or all that it has. Code of bodies comes from the store and goes there. And how long each stage took.
pub fn compile(
    text: &str,
    kernels: Option<&[String]>,
    target: &TargetSpec,
    options: &Options,
    store: Option<&Store>,
) -> (Outcome, Stages) {
    let mut stages = Stages::new();
    let kept = store.map(KeptBodies);
    let kept = kept.as_ref().map(|kept| kept as &dyn KeptCode);
    let (result, said) = work_on(text, kernels, &mut stages, |parsed, sink, stages| {
        parsed.lower_timed(target, options, kept, sink, stages)
    });
    (Outcome { result, said }, stages)
}

/// Bodies in a store.
struct KeptBodies<'a>(&'a Store);

impl KeptCode for KeptBodies<'_> {
    fn get(&self, from: &str) -> Option<Vec<u8>> {
        self.0.get(&key::body(from))
    }

    fn put(&self, from: &str, label: &str, code: &[u8]) {
        self.0.put(&key::body(from), label, code);
    }
}

/// What to look at between a text and its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The IR of a level.
    Level(Level),
    /// What is launched, what each launch waits for, and why: a page for a browser.
    Plan,
}

/// Lowers the text of a slice as far as it takes to see that. And how long each stage took.
pub fn lower(
    text: &str,
    kernels: Option<&[String]>,
    target: &TargetSpec,
    options: &Options,
    view: View,
) -> (Lowered, Stages) {
    let mut stages = Stages::new();
    let (result, said) = work_on(text, kernels, &mut stages, |parsed, sink, stages| {
        let begin = Instant::now();
        let text = match view {
            View::Level(level) => {
                parsed.lower_to(level, target, sink)?;
                parsed.module().as_operation().to_string()
            }
            View::Plan => {
                let page = parsed.translate(target, options, Emit::PlanHtml, sink)?;
                String::from_utf8_lossy(&page).into_owned()
            }
        };
        stages.push(("lower", begin.elapsed()));
        Ok(text)
    });
    (Lowered { result, said }, stages)
}

/// What comes of lowering a slice to a level, with places as in an [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// Text, or the errors.
    pub result: Result<String, Vec<Diagnostic>>,
    /// What is no error.
    pub said: Vec<Diagnostic>,
}

type Heard<T> = (Result<T, Vec<Diagnostic>>, Vec<Diagnostic>);

fn work_on<T>(
    text: &str,
    kernels: Option<&[String]>,
    stages: &mut Stages,
    work: impl FnOnce(&mut Parsed<'_>, Sink<'_>, &mut Stages) -> Result<T, Diagnostics>,
) -> Heard<T> {
    let mut said = Vec::new();
    let mut sink = |heard: &Diagnostic| {
        if !said.contains(heard) {
            said.push(heard.clone());
        }
    };
    let begin = Instant::now();
    let context = lazy_context();
    let source = Source::text(SLICE, Arc::from(text));
    let work = || -> Result<T, Diagnostics> {
        let mut parsed = Parsed::new(&context, &source, &mut sink)?;
        if let Some(kernels) = kernels {
            parsed.select(kernels)?;
        }
        stages.push(("parse", begin.elapsed()));
        work(&mut parsed, &mut sink, stages)
    };
    let result = work();
    (result.map_err(|errors| errors.to_vec()), said)
}

/// Where a slice was cut from.
pub struct Origin<'a> {
    /// What the source is called.
    pub name: &'a str,
    /// All of its words.
    pub words: &'a Words,
    /// The part.
    pub slice: &'a Slice,
}

impl Origin<'_> {
    /// A diagnostic with the places of the source.
    pub fn located(&self, diagnostic: &Diagnostic) -> Diagnostic {
        let mut located = diagnostic.clone();
        let notes = located.notes.iter_mut().map(|note| &mut note.at);
        for at in [&mut located.at].into_iter().chain(notes) {
            if let Some(span) = at.take() {
                *at = self.span(span);
            }
        }
        located
    }

    /// An artifact with the places of the source in its reasons.
    pub fn artifact(&self, artifact: &Artifact) -> Artifact {
        let mut artifact = artifact.clone();
        let origins = artifact.origins.iter_mut();
        for reason in origins.flat_map(|origins| origins.reasons.values_mut()) {
            *reason = self.reason(reason);
        }
        artifact
    }

    fn span(&self, span: Span) -> Option<Span> {
        if span.file != SLICE {
            return Some(span);
        }
        let (line, column) = self.line_and_column(span.line, span.column)?;
        Some(Span {
            file: self.name.into(),
            line,
            column,
        })
    }

    /// `arith.addf at <slice>:17:1`, as it would be of the source.
    fn reason(&self, reason: &str) -> String {
        let place = reason.rsplit_once(SLICE).and_then(|(what, place)| {
            let mut numbers = place.strip_prefix(':')?.splitn(2, ':');
            let mut number = || numbers.next()?.parse::<usize>().ok();
            let (line, column) = self.line_and_column(number()?, number()?)?;
            Some(format!("{what}{}:{line}:{column}", self.name))
        });
        place.unwrap_or_else(|| reason.into())
    }

    fn line_and_column(&self, line: usize, column: usize) -> Option<(usize, usize)> {
        let place = Place {
            word: line.checked_sub(1)?,
            offset: column.checked_sub(1)?,
        };
        self.slice.line_and_column(self.words, place)
    }
}
