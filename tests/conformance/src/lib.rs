//! Targets against the interpreter.
//!
//! A [`Subject`] is a kernel in text; [`Subject::check`] runs it by the
//! interpreter and on a target, from the same data, and compares the buffers.
//! Compiled kernels are kept, so that many sizes and inputs cost one compile.

mod data;
mod inputs;

pub use data::{Data, Expect};
pub use inputs::{Input, element_types, generate};

use qd_dialects::melior::{Context, ir::Module};
use qd_lowering::targets::Target;
use qd_runtime::Loaded;
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, Once, OnceLock},
};

/// What is held against the interpreter: the target that `QD_TARGET` names, as
/// the device at hand is, or the cpu.
fn target() -> &'static str {
    static TARGET: LazyLock<String> = LazyLock::new(|| {
        let named = std::env::var("QD_TARGET").unwrap_or_else(|_| "cpu".into());
        qd_runtime::resolve(&named).unwrap_or_else(|error| panic!("QD_TARGET={named}: {error}"))
    });
    &TARGET
}

/// The target as it is read.
fn parsed() -> Target {
    Target::parse(target()).unwrap_or_else(|error| panic!("QD_TARGET: {error}"))
}

/// Subgroup sizes that everything runs at: all that the target has, or the one
/// that it names.
pub fn waves() -> &'static [u32] {
    static WAVES: LazyLock<Vec<u32>> = LazyLock::new(|| {
        let parsed = parsed();
        parsed
            .wave
            .map_or(parsed.capabilities.waves, |wave| vec![wave])
    });
    &WAVES
}

/// The target with one of its subgroup sizes.
fn target_at(wave: u32) -> String {
    match parsed().wave {
        Some(_) => target().into(),
        None => format!("{},wave={wave}", target()),
    }
}

/// A kernel `@main` in text.
pub struct Subject {
    source: String,
}

/// An argument: what goes in, and what is expected of what comes out.
pub struct Argument {
    /// What the buffer holds at first.
    pub data: Data,
    /// How the two results are compared.
    pub expect: Expect,
}

/// Parses with every dialect at hand.
fn parse<'c>(context: &'c Context, source: &str) -> Module<'c> {
    Module::parse(context, source).unwrap_or_else(|| panic!("does not parse:\n{source}"))
}

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        qd_dialects::melior::utility::register_all_passes();
        qd_passes::register();
        qd_lowering::register();
    });
}

/// What has been compiled, by source and target. Others are compiled beside it.
type Kept = HashMap<(String, String), Arc<OnceLock<Arc<dyn Loaded>>>>;

fn load(source: &str, target: &str) -> Arc<dyn Loaded> {
    static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
    let key = (source.to_string(), target.to_string());
    let place = {
        let mut kept = KEPT.lock().unwrap_or_else(|e| e.into_inner());
        kept.entry(key).or_default().clone()
    };
    place.get_or_init(|| compile(source, target)).clone()
}

fn compile(source: &str, target: &str) -> Arc<dyn Loaded> {
    register();
    let context = qd_dialects::context();
    let mut module = parse(&context, source);
    let artifact = qd_lowering::compile(&mut module, target)
        .unwrap_or_else(|error| panic!("{target}: {error}\n{source}"));
    Arc::from(
        qd_runtime::driver(target)
            .and_then(|driver| driver.load(&artifact))
            .unwrap_or_else(|error| panic!("{target}: {error}")),
    )
}

impl Subject {
    /// The kernel `@main` of this text.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
        }
    }

    /// Runs it both ways and compares.
    ///
    /// # Panics
    ///
    /// Where they differ, with the first difference and how to reproduce it.
    pub fn check(&self, wave: u32, arguments: &[Argument], about: &str) {
        let context = qd_dialects::context();
        let module = parse(&context, &self.source);
        let mut reference: Vec<_> = arguments
            .iter()
            .map(|a| qd_interp::Argument::Buffer(a.data.for_interpreter(a.expect)))
            .collect();
        let options = qd_interp::Options {
            wave,
            ..Default::default()
        };
        if let Err(fault) = qd_interp::interpret(&module, "main", &mut reference, &options) {
            panic!("{about}: the interpreter faults: {fault}\n{}", self.source);
        }

        let target = target_at(wave);
        let loaded = load(&self.source, &target);
        let mut actual: Vec<_> = arguments
            .iter()
            .map(|a| qd_runtime::Argument::Buffer(a.data.for_runtime(a.expect)))
            .collect();
        loaded
            .run("main", &mut actual, &qd_runtime::Options::default())
            .unwrap_or_else(|error| panic!("{about}: {target}: {error}\n{}", self.source));

        let counts: Vec<Option<usize>> = reference
            .iter()
            .map(|a| a.buffer().and_then(data::first_as_count))
            .collect();
        for (i, argument) in arguments.iter().enumerate() {
            let expected = reference[i].buffer().expect("a buffer");
            let got = actual[i].as_buffer().expect("a buffer");
            if let Err(difference) = argument.expect.compare(expected, got, &counts) {
                panic!(
                    "{about}: {target}: argument {i} differs from the interpreter's: {difference}\n{}",
                    self.source
                );
            }
        }
    }
}
