//! Guarantees of the pass framework: an error or a panic in Rust becomes a
//! diagnostic and fails the pass, and nothing else does.

use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    ir::{Context, Op, OpExt, Value, context_of},
    melior::{diagnostic::DiagnosticSeverity, ir::Module},
    options,
    pass::{self, NoOptions, Pass, Pipeline, run_pipeline},
    pattern::{Pattern, PatternSet, Rewriter, Rewritten},
};
use std::{cell::RefCell, rc::Rc, sync::Once, thread};

const SOURCE: &str = "
func.func @f(%v: f32) -> f32 {
  %size = qd.simt.subgroup_size
  %same = qd.simt.broadcast_first %size : i32
  %f = arith.sitofp %same : i32 to f32
  %r = arith.addf %v, %f : f32
  return %r : f32
}";

struct Panics;

impl Pass for Panics {
    type Options = NoOptions;
    const NAME: &'static str = "test-panics";
    const SUMMARY: &'static str = "Panics";
    fn run<'c>(_: Op<'c>, _: &NoOptions) -> Result<'c> {
        panic!("out of luck")
    }
}

struct PatternPanics;

impl Pass for PatternPanics {
    type Options = NoOptions;
    const NAME: &'static str = "test-pattern-panics";
    const SUMMARY: &'static str = "Applies a pattern that panics";
    fn run<'c>(op: Op<'c>, _: &NoOptions) -> Result<'c> {
        PatternSet::new().add::<Panicking>().apply(op)
    }
}

struct Panicking;

impl Pattern for Panicking {
    const ROOT: &'static str = "arith.addf";
    fn rewrite<'c>(_: Op<'c>, _: &[Value<'c>], _: &Rewriter<'c>) -> Rewritten {
        panic!("out of patterns")
    }
}

/// Says which operations stand before others.
struct LooksBack;

impl Pass for LooksBack {
    type Options = NoOptions;
    const NAME: &'static str = "test-looks-back";
    const SUMMARY: &'static str = "Looks at the operations before others";
    fn run<'c>(op: Op<'c>, _: &NoOptions) -> Result<'c> {
        for op in op.walk_all() {
            let before = op.previous_in_block();
            let name = before.map_or("none", OpExt::full_name);
            Diagnostic::remark(op, format!("{} after {name}", op.full_name())).emit();
        }
        Ok(())
    }
}

struct Fails;

impl Pass for Fails {
    type Options = NoOptions;
    const NAME: &'static str = "test-fails";
    const SUMMARY: &'static str = "Fails, with a note";
    fn run<'c>(op: Op<'c>, _: &NoOptions) -> Result<'c> {
        let find = |name| op.nested().into_iter().find(|op| op.is(name)).expect(name);
        let (sum, cast) = (find("arith.addf"), find("arith.sitofp"));
        Err(Diagnostic::at(sum, "adds what it should not").note(cast.location(), "this"))
    }
}

options! {
    /// Options of `test-speaks`.
    struct Words {
        /// what to say
        first_word: String = "hello",
        /// how often
        times: u32 = 1_u32,
    }
}

struct Speaks;

impl Pass for Speaks {
    type Options = Words;
    const NAME: &'static str = "test-speaks";
    const SUMMARY: &'static str = "Says something, and warns";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(op: Op<'c>, options: &Words) -> Result<'c> {
        for _ in 0..options.times {
            Diagnostic::remark(op, &options.first_word).emit();
        }
        Diagnostic::warning(op, "is a function").emit();
        Ok(())
    }
}

struct Speech;

impl Pipeline for Speech {
    type Options = Words;
    const NAME: &'static str = "test-speech";
    const SUMMARY: &'static str = "A pipeline with options";
    fn passes(options: &Words) -> std::result::Result<String, String> {
        match options.times {
            0 => Err("a speech of no words".into()),
            times => Ok(format!(
                "func.func(test-speaks{{first-word={} times={times}}})",
                options.first_word
            )),
        }
    }
}

/// Runs passes over the source: how they ended, what was said, what is left.
fn run(passes: &str) -> (std::result::Result<(), String>, Vec<String>, String) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        qd_dialects::melior::utility::register_all_passes();
        pass::register::<Panics>();
        pass::register::<PatternPanics>();
        pass::register::<Fails>();
        pass::register::<LooksBack>();
        pass::register::<Speaks>();
        pass::register_pipeline::<Speech>();
    });
    let context = qd_dialects::context();
    let said = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&said);
    context.attach_diagnostic_handler(move |diagnostic| {
        let severity = match diagnostic.severity() {
            DiagnosticSeverity::Error => "error",
            DiagnosticSeverity::Warning => "warning",
            DiagnosticSeverity::Note => "note",
            DiagnosticSeverity::Remark => "remark",
        };
        let mut said = heard.borrow_mut();
        said.push(format!("{severity}: {diagnostic}"));
        for index in 0..diagnostic.note_count() {
            let note = diagnostic.note(index).expect("a note in range");
            said.push(format!("note: {note}"));
        }
        true
    });
    let mut module = Module::parse(&context, SOURCE).expect("the source is valid");
    let outcome = run_pipeline(&context, &mut module, passes);
    let left = module.as_operation().to_string();
    let said = said.borrow().clone();
    (outcome, said, left)
}

#[test]
fn a_panic_in_a_pass_is_an_error_that_names_it() {
    let (outcome, said, _) = run("test-panics");
    assert!(outcome.is_err());
    assert_eq!(
        said,
        ["error: pass 'test-panics' panicked: out of luck; this is a bug in the pass"]
    );
}

#[test]
fn a_panic_in_a_pattern_fails_the_pass() {
    let (outcome, said, _) = run("test-pattern-panics");
    assert!(outcome.is_err());
    let expected = "error: the pattern of 'arith.addf' panicked: out of patterns; \
                    this is a bug in the pattern";
    assert!(said.contains(&expected.to_string()), "{said:?}");
}

#[test]
fn an_error_has_its_notes() {
    let (outcome, said, _) = run("test-fails");
    assert!(outcome.is_err());
    assert_eq!(
        said,
        [
            "error: 'arith.addf' op adds what it should not",
            "note: this"
        ]
    );
}

#[test]
fn a_pass_can_look_back() {
    let (outcome, said, _) = run("test-looks-back");
    assert_eq!(outcome, Ok(()));
    assert_eq!(
        said,
        [
            "remark: builtin.module after none",
            "remark: func.func after none",
            "remark: qd.simt.subgroup_size after none",
            "remark: qd.simt.broadcast_first after qd.simt.subgroup_size",
            "remark: arith.sitofp after qd.simt.broadcast_first",
            "remark: arith.addf after arith.sitofp",
            "remark: func.return after arith.addf",
        ]
    );
}

#[test]
fn remarks_and_warnings_fail_nothing() {
    let (outcome, said, _) = run("func.func(test-speaks)");
    assert_eq!(outcome, Ok(()));
    assert_eq!(
        said,
        ["remark: hello", "warning: 'func.func' op is a function"]
    );
}

#[test]
fn options_reach_a_pass_and_a_pipeline() {
    let (outcome, said, _) = run("func.func(test-speaks{times=2 first-word=bye})");
    assert_eq!(outcome, Ok(()));
    assert_eq!(said[..2], ["remark: bye", "remark: bye"]);
    let (outcome, said, _) = run("test-speech{times=3}");
    assert_eq!(outcome, Ok(()));
    assert_eq!(said.len(), 4);
}

#[test]
fn an_option_that_cannot_be_read_is_an_error() {
    let (outcome, said, _) = run("func.func(test-speaks{times=often})");
    assert!(outcome.is_err());
    let expected = "error: pass 'test-speaks': option 'times': cannot read 'often'";
    assert!(said[0].starts_with(expected), "{said:?}");
    assert!(run("test-speech{times=0}").0.is_err());
    assert!(run("func.func(test-speaks{time=1})").0.is_err());
}

#[test]
fn canonical_forms_in_rust_are_in_every_context() {
    let (outcome, _, left) = run("canonicalize");
    assert_eq!(outcome, Ok(()));
    assert!(!left.contains("broadcast_first"), "{left}");
}

/// A context for several threads.
struct Shared(Context);

// Safety: MLIR's contexts are made for that.
unsafe impl Sync for Shared {}

impl Shared {
    /// Where an operation's context is.
    fn place(&self) -> usize {
        let module = Module::parse(&self.0, SOURCE).expect("it parses");
        // Safety: the handle is used while the module lives.
        let op = unsafe { Op::from_raw(module.as_operation().to_raw()) };
        let found = context_of(op);
        assert_eq!(found.to_raw().ptr, self.0.to_raw().ptr);
        std::ptr::from_ref(found) as usize
    }
}

#[test]
fn a_context_is_at_one_place_whichever_thread_asks() {
    let context = Shared(qd_dialects::context());
    let other = thread::scope(|scope| scope.spawn(|| context.place()).join());
    assert_eq!(context.place(), other.expect("no panic"));
}
