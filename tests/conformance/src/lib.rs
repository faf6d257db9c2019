//! Targets, compared with the interpreter.
//!
//! A [`Subject`] is a kernel in text; [`Subject::check`] runs it in the interpreter
//! and on a target, from the same data, and compares the buffers. Compiled kernels
//! are cached, so that many sizes and inputs cost one compile. [`Repeated`] is one
//! that runs repeatedly and compares its own results. [`report`] prints the number
//! of cases of a test.

mod arguments;
mod data;
mod device;
pub mod floats;
mod inputs;
mod repeated;
mod simulated;
mod waves;
mod ways;

pub use arguments::{all, given, output, scratch, slots};
pub use data::{Data, Expect, Held};
pub use device::{Main, Options, execute, open};
pub use inputs::{Input, element_types, generate};
pub use repeated::{Repeated, Role, repeats};
pub use simulated::{affordable, is_simulated};
pub use waves::{any_wave, is_vulkan, looks_back, takes_turns, waves};

use qd_dialects::ir::Context;
use qd_frontend::{Parsed, Source, compile_text};
use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, OnceLock},
};

thread_local! {
    /// The cases of a test, which has a thread of its own.
    static RAN: Cell<usize> = const { Cell::new(0) };
}

/// Says how many cases ran since the last report of this test.
pub fn report(name: &str) {
    println!("{name}: {} cases", RAN.take());
}

/// A kernel `@main` in text.
pub struct Subject {
    source: String,
    options: Options,
    /// Whether it is compiled with checks.
    is_checked: bool,
}

/// An argument: what goes in, and what is expected of what comes out.
pub struct Argument {
    /// What the buffer holds at first.
    pub data: Data,
    /// How the two results are compared.
    pub expect: Expect,
}

/// A module in text.
fn parse<'c>(context: &'c Context, source: &str) -> Parsed<'c> {
    let parsed = Parsed::new(context, &Source::text("subject", source), &mut |_| ());
    parsed.unwrap_or_else(|why| panic!("{why}\n{source}"))
}

/// What has been compiled, by source, target and threads. Others are compiled beside it.
type Kept = HashMap<(String, String, Option<usize>), Arc<OnceLock<Result<Main, String>>>>;

fn load(source: &str, target: &str, threads: Option<usize>) -> Result<Main, String> {
    static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
    let key = (source.to_string(), target.to_string(), threads);
    let place = {
        let mut kept = KEPT.lock().unwrap_or_else(|e| e.into_inner());
        kept.entry(key).or_default().clone()
    };
    let compiled = place.get_or_init(|| compile(source, target, threads));
    compiled.clone()
}

/// The kernel `@main` of a text on the target, unless the device has subgroups of another size, or it
/// is another run's turn.
///
/// # Errors
///
/// Why it does not compile or load.
pub fn load_for(source: &str, wave: u32) -> Option<Result<Main, String>> {
    let target = waves::target_with(wave).filter(|_| simulated::is_ours(source))?;
    Some(load(source, &target, None))
}

fn compile(source: &str, target: &str, threads: Option<usize>) -> Result<Main, String> {
    let source = ways::of(source, target);
    let artifact = compile_text(&source, target).map_err(|error| error.to_string())?;
    let main = open(target, threads).and_then(|device| Main::load(&device, &artifact));
    main.map_err(|error| error.to_string())
}

impl Subject {
    /// The kernel `@main` of this text.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            options: Options::default(),
            is_checked: false,
        }
    }

    /// The same, compiled with checks.
    pub fn checked(self) -> Self {
        Self {
            is_checked: true,
            ..self
        }
    }

    /// The same, run on the target with these options.
    pub fn with(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// Its text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Runs it both ways and compares, unless the device has subgroups of another
    /// size, or it is another run's turn.
    ///
    /// # Panics
    ///
    /// Where they differ, with the first difference and how to reproduce it.
    pub fn check(&self, wave: u32, arguments: &[Argument], about: &str) {
        if let Err(difference) = self.compare(wave, arguments) {
            panic!("{about}: {difference}\n{}", self.source);
        }
    }

    fn execute(&self, target: &str, arguments: &[Argument]) -> Result<Vec<Held>, String> {
        let target = match self.is_checked {
            true => format!("{target},checked"),
            false => target.into(),
        };
        let main = load(&self.source, &target, self.options.threads)?;
        device::execute_with(&main, arguments, &self.options)
    }

    /// What the target makes of it, unless the device has subgroups of another size, or
    /// it is another run's turn.
    ///
    /// # Errors
    ///
    /// Why it does not compile or run.
    pub fn run(&self, wave: u32, arguments: &[Argument]) -> Option<Result<Vec<Held>, String>> {
        let target = waves::target_with(wave).filter(|_| simulated::is_ours(&self.source))?;
        RAN.set(RAN.get() + 1);
        Some(self.execute(&target, arguments))
    }

    /// What is printed on the target, and what in the interpreter, print by print, unless the device has subgroups of
    /// another size, or it is another run's turn.
    ///
    /// # Panics
    ///
    /// It does not run.
    pub fn prints(&self, wave: u32, arguments: &[Argument]) -> Option<[Vec<String>; 2]> {
        let target = waves::target_with(wave).filter(|_| simulated::is_ours(&self.source))?;
        RAN.set(RAN.get() + 1);
        let mut expected = Vec::new();
        let mut take = |text: &str| expected.push(text.to_owned());
        let reference = interpret_printing(&self.source, wave, arguments, &mut take);
        reference.unwrap_or_else(|fault| panic!("the interpreter faults: {fault}"));
        let main = load(&self.source, &target, None).unwrap_or_else(|why| panic!("{why}"));
        let printed = Arc::new(Mutex::new(Vec::new()));
        let to = printed.clone();
        main.on_print(Arc::new(move |text: &str| {
            to.lock().expect("nothing panics").push(text.to_owned());
        }));
        let ran = device::execute_with(&main, arguments, &self.options);
        ran.unwrap_or_else(|error| panic!("{target}: {error}"));
        let printed = std::mem::take(&mut *printed.lock().expect("nothing panics"));
        Some([expected, printed])
    }

    /// As [`Self::check`], with how many units in the last place the results are
    /// apart where they may be.
    ///
    /// # Errors
    ///
    /// The first difference, or why it does not run.
    pub fn compare(&self, wave: u32, arguments: &[Argument]) -> Result<f64, String> {
        let ours = |_: &String| simulated::is_ours(&self.source);
        let Some(target) = waves::target_with(wave).filter(ours) else {
            return Ok(0.0);
        };
        RAN.set(RAN.get() + 1);
        let reference = interpret(&self.source, wave, arguments)
            .map_err(|fault| format!("the interpreter faults: {fault}"))?;
        let actual = self
            .execute(&target, arguments)
            .map_err(|error| format!("{target}: {error}"))?;
        difference(arguments, &reference, &actual).map_err(|what| format!("{target}: {what}"))
    }
}

/// What the interpreter makes of the kernel `@main` of a module.
///
/// # Errors
///
/// The fault it ends in.
pub fn interpret(
    source: &str,
    wave: u32,
    arguments: &[Argument],
) -> Result<Vec<qd_interp::Argument>, qd_interp::Fault> {
    interpret_printing(source, wave, arguments, &mut |_| ())
}

/// As [`interpret`]; `print` is given what threads print, print by print.
///
/// # Errors
///
/// The fault it ends in.
pub fn interpret_printing(
    source: &str,
    wave: u32,
    arguments: &[Argument],
    print: &mut dyn FnMut(&str),
) -> Result<Vec<qd_interp::Argument>, qd_interp::Fault> {
    let context = qd_frontend::lazy_context();
    let parsed = parse(&context, source);
    let mut reference: Vec<_> = arguments
        .iter()
        .map(|a| a.data.interpreted(a.expect))
        .collect();
    let options = qd_interp::Options {
        wave,
        ..Default::default()
    };
    qd_interp::interpret_printing(parsed.module(), "main", &mut reference, &options, print)?;
    Ok(reference)
}

/// How many units in the last place two results are apart, where they may be.
///
/// # Errors
///
/// The first difference that there may not be.
pub fn difference(
    arguments: &[Argument],
    reference: &[qd_interp::Argument],
    actual: &[Held],
) -> Result<f64, String> {
    let counts: Vec<Option<usize>> = reference
        .iter()
        .map(|a| a.buffer().and_then(data::first_as_count))
        .collect();
    let mut apart = 0f64;
    for (i, argument) in arguments.iter().enumerate() {
        let Some(expected) = reference[i].buffer() else {
            continue;
        };
        let units = argument.expect.compare(expected, &actual[i], &counts);
        apart = apart.max(units.map_err(|difference| {
            format!("argument {i} differs from the interpreter's: {difference}")
        })?);
    }
    Ok(apart)
}
