//! One kernel, two ways: by its algorithms' definitions, and expanded.

use crate::data::bits;
use qd_dialects::{
    melior::{self, Context, ir::Module},
    pass,
};
use qd_interp::{Argument, Element, Options, Schedule, interpret};
use std::sync::Once;

pub const WAVES: [u32; 5] = [4, 8, 16, 32, 64];

/// A context that knows our passes.
pub fn context() -> Context {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        melior::utility::register_all_passes();
        qd_lowering::register();
    });
    qd_dialects::context()
}

pub fn parse<'c>(context: &'c Context, text: &str) -> Module<'c> {
    Module::parse(context, text).unwrap_or_else(|| panic!("does not parse:\n{text}"))
}

/// How results compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Same {
    /// Bit by bit.
    Bits,
    /// As numbers: NaNs are the same.
    Numbers,
}

/// A kernel `@k` and what it is called with.
pub struct Case {
    /// Says which case failed.
    pub label: String,
    pub text: String,
    pub arguments: Vec<Argument>,
    /// Which arguments hold results.
    pub results: Vec<usize>,
    pub same: Same,
    pub target: &'static str,
    pub options: Options,
    /// Whether equal terms may take the place of what it is expanded to.
    pub selects: bool,
    /// What the algorithm is given as it is meant instead of one of the arguments.
    pub meant: Option<(usize, Argument)>,
}

impl Case {
    /// The `number`-th of a series: waves and schedules take turns.
    pub fn new(label: String, text: String, number: usize) -> Self {
        let schedule = match number % 2 {
            0 => Schedule::InOrder,
            _ => Schedule::Random {
                seed: number as u64,
            },
        };
        Self {
            label,
            text,
            arguments: Vec::new(),
            results: Vec::new(),
            same: Same::Bits,
            target: "any",
            options: Options {
                wave: WAVES[number % WAVES.len()],
                schedule,
                ..Options::default()
            },
            selects: number % 3 == 1,
            meant: None,
        }
    }

    /// An argument that is only read, or whose contents afterwards are garbage.
    pub fn with(mut self, argument: Argument) -> Self {
        self.arguments.push(argument);
        self
    }

    /// An argument that holds a result.
    pub fn with_result(mut self, argument: Argument) -> Self {
        self.results.push(self.arguments.len());
        self.arguments.push(argument);
        self
    }

    /// Runs both and compares.
    pub fn check(self) {
        let context = context();
        let mut module = parse(&context, &self.text);
        let mut arguments = self.arguments.clone();
        if let Some((index, argument)) = &self.meant {
            arguments[*index] = argument.clone();
        }
        let meant = self.run(&module, "as it is", arguments);
        let passes = match self.selects {
            true => {
                let select = format!(
                    "qd-select-lowering{{target=cpu wave={}}}",
                    self.options.wave
                );
                format!(
                    "qd-to-plan{{target={}}},{select},qd-verify-convergence",
                    self.target
                )
            }
            false => format!("qd-to-grid{{target={}}},qd-verify-convergence", self.target),
        };
        pass::run_pipeline(&context, &mut module, &passes)
            .unwrap_or_else(|error| panic!("{}: {error}", self.label));
        let printed = module.as_operation().to_string();
        assert!(
            !printed.contains("qd.algo."),
            "{}: an algorithm is left:\n{printed}",
            self.label
        );
        let done = self.run(&module, &printed, self.arguments.clone());
        for index in &self.results {
            self.compare(*index, &meant[*index], &done[*index]);
        }
    }

    fn run(&self, module: &Module, text: &str, mut arguments: Vec<Argument>) -> Vec<Argument> {
        if let Err(fault) = interpret(module, "k", &mut arguments, &self.options) {
            panic!("{} {:?}: {fault}\n{text}", self.label, self.options);
        }
        arguments
    }

    fn compare(&self, index: usize, meant: &Argument, done: &Argument) {
        let element = meant.buffer().expect("a buffer").element;
        for (i, (a, b)) in bits(meant).into_iter().zip(bits(done)).enumerate() {
            let same = a == b || (self.same == Same::Numbers && same_number(element, a, b));
            assert!(
                same,
                "{} {:?}: argument {index}, element {i}: {} is meant, {} comes out",
                self.label,
                self.options,
                show(element, a),
                show(element, b)
            );
        }
    }
}

fn float(element: Element, bits: u64) -> Option<f64> {
    match element {
        Element::F32 => Some(f32::from_bits(bits as u32) as f64),
        Element::F64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

fn same_number(element: Element, a: u64, b: u64) -> bool {
    let (Some(a), Some(b)) = (float(element, a), float(element, b)) else {
        return false;
    };
    a.is_nan() && b.is_nan()
}

fn show(element: Element, bits: u64) -> String {
    match float(element, bits) {
        Some(value) => format!("{value:?} ({bits:#x})"),
        None => format!("{bits} ({bits:#x})"),
    }
}

/// The smallest depth that covers `n`, and every deeper one in turn.
pub fn depth(n: usize, number: usize) -> u32 {
    let least = qd_lowering::algorithms::scratch::log256_max_n(n as u64).expect("a test's size");
    least + (number as u32) % (5 - least)
}
