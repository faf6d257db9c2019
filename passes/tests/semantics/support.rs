//! Kernels as text, run before and after a pass.

use qd_dialects::{
    diagnostic::Result,
    ir::Op,
    melior::{Context, dialect::DialectHandle, ir::Module, ir::operation::OperationLike},
    pass::{self, NoOptions, Pass, run_pipeline},
};
use qd_interp::{Argument, Buffer, Native, Options, Schedule, interpret};
use qd_passes::{expand_collectives, expand_math};
use std::sync::Once;

pub const WAVES: [u32; 5] = [4, 8, 16, 32, 64];

pub fn context() -> Context {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        qd_dialects::melior::utility::register_all_passes();
        qd_passes::register();
        pass::register::<ExpandCollectives>();
        pass::register::<ExpandMath>();
    });
    qd_dialects::context()
}

/// Expands for a target that has nothing.
struct ExpandCollectives;

impl Pass for ExpandCollectives {
    type Options = NoOptions;
    const NAME: &'static str = "test-expand-collectives";
    const SUMMARY: &'static str = "Expand every collective that there is an expansion of";

    fn dialects() -> Vec<DialectHandle> {
        expand_collectives::dialects()
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        expand_collectives::expand(module, &|_, _| false)
    }
}

/// Expands for a target without a library.
struct ExpandMath;

impl Pass for ExpandMath {
    type Options = NoOptions;
    const NAME: &'static str = "test-expand-math";
    const SUMMARY: &'static str = "Expand every function that there is an expansion of";

    fn dialects() -> Vec<DialectHandle> {
        expand_math::dialects()
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        expand_math::expand(module, &|_| false);
        Ok(())
    }
}

/// Numbers that look random, the same each time.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2) | 1)
    }

    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// One of a few.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    pub fn many<T>(&mut self, count: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..count).map(|_| make(self)).collect()
    }
}

pub fn buffer<T: Native>(values: &[T]) -> Argument {
    Buffer::from_slice(values).into()
}

/// Room for results: all bits are known, so that what is not written compares
/// equal.
pub fn room<T: Native>(count: usize, fill: T) -> Argument {
    buffer(&vec![fill; count])
}

fn run(
    module: &Module,
    arguments: &[Argument],
    wave: u32,
    schedule: Schedule,
    text: &str,
) -> Vec<Argument> {
    let mut arguments = arguments.to_vec();
    let options = Options {
        wave,
        schedule,
        ..Options::default()
    };
    if let Err(fault) = interpret(module, "k", &mut arguments, &options) {
        panic!(
            "at wave {wave}: {fault}\n{}\nfrom\n{text}",
            module.as_operation()
        );
    }
    arguments
}

/// Runs kernel `@k` as it is and after a pipeline, and compares all buffers.
/// Returns what it computed.
pub fn unchanged_by(
    pipeline: &str,
    text: &str,
    arguments: &[Argument],
    wave: u32,
) -> Vec<Argument> {
    let context = context();
    let parse = || Module::parse(&context, text).unwrap_or_else(|| panic!("not valid:\n{text}"));
    let before = run(&parse(), arguments, wave, Schedule::InOrder, text);
    let mut module = parse();
    if let Err(message) = run_pipeline(&context, &mut module, pipeline) {
        panic!("{message}\n{text}");
    }
    assert!(module.as_operation().verify(), "{text}");
    let after = run(&module, arguments, wave, Schedule::Random { seed: 5 }, text);
    for (index, (a, b)) in before.iter().zip(&after).enumerate() {
        assert!(
            a == b,
            "argument {index} differs at wave {wave} after '{pipeline}':\n{}\nfrom\n{text}\n{}",
            difference(a, b),
            module.as_operation()
        );
    }
    before
}

fn difference(a: &Argument, b: &Argument) -> String {
    let (Argument::Buffer(a), Argument::Buffer(b)) = (a, b) else {
        return String::new();
    };
    let size = a.element.bytes();
    let words = a.data.chunks(size).zip(b.data.chunks(size)).enumerate();
    let differ: Vec<_> = words
        .filter(|(_, (x, y))| x != y)
        .take(8)
        .map(|(i, (x, y))| format!("[{i}]: {x:02x?} became {y:02x?}"))
        .collect();
    differ.join("\n")
}

/// Tiling and full expansion, whose collectives stand where they may.
pub fn expansion(wave: u32) -> String {
    format!(
        "qd-select-subgroup-size{{wave={wave}}},test-expand-collectives,qd-verify-convergence,canonicalize,cse,\
         qd-verify-convergence"
    )
}
