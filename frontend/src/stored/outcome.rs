//! Compiling a slice.

use crate::{
    Parsed,
    diagnostic::{Diagnostic, Diagnostics, Sink},
    lazy_context,
};
use qd_artifact::{Options, TargetSpec};
use qd_lowering::{Emit, KeptCode, Stages, pipelines::Level};
use qd_request::{Outcome, Source, cut::SLICE, key};
use qd_store::Store;
use std::{sync::Arc, time::Instant};

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
