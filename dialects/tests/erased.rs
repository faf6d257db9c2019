//! Uses of erased operations: debug builds report where the operation was erased, and every build
//! refuses to erase an operation that still has uses.

use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{self, Context, InsertionPoint, Op, OpExt, Value, ValueExt, arguments, operations},
    melior::ir::{Module, operation::OperationBuilder},
    pass::{self, NoOptions, Pass, run_pipeline},
    pattern::{Pattern, PatternSet, Rewriter, Rewritten},
    tools,
};
use std::{cell::RefCell, env, fs, process::Command, rc::Rc, sync::Once};

const SOURCE: &str = "
func.func @f(%v: f32, %m: memref<?xf32>, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %less = arith.negf %v : f32
    memref.store %less, %m[%i] : memref<?xf32>
  }
  %unused = arith.mulf %v, %v : f32
  %sum = arith.addf %v, %v : f32
  return %sum : f32
}";

fn find<'c>(op: Op<'c>, name: &str) -> Op<'c> {
    let mut all = op.nested().into_iter();
    all.find(|op| op.is(name)).expect("it is there")
}

/// Passes, each with what it does to a module, or to a function.
macro_rules! passes {
    ($($(#[$meta:meta])* $name:ident $flag:literal on $anchor:literal: |$op:ident| $body:block)*) => {
        $(
            $(#[$meta])*
            struct $name;

            impl Pass for $name {
                type Options = NoOptions;
                const NAME: &'static str = $flag;
                const SUMMARY: &'static str = "Misuses what it erased";
                const ANCHOR: &'static str = $anchor;
                fn run<'c>($op: Op<'c>, _: &NoOptions) -> Result<'c> {
                    $body;
                    Ok(())
                }
            }
        )*

        fn register() {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| {
                $(pass::register::<$name>();)*
            });
        }
    };
}

passes! {
    Handle "handle" on "builtin.module": |op| {
        let unused = find(op, "arith.mulf");
        unused.erase();
        unused.location();
    }
    Nested "nested" on "builtin.module": |op| {
        let store = find(op, "memref.store");
        find(op, "scf.for").erase();
        store.operand_values();
    }
    ResultValue "result" on "builtin.module": |op| {
        let unused = find(op, "arith.mulf");
        let value = unused.first_result();
        unused.erase();
        value.uses();
    }
    Argument "argument" on "builtin.module": |op| {
        let repeat = find(op, "scf.for");
        let index = arguments(repeat.body().expect("a body"))[0];
        repeat.erase();
        index.block_argument();
    }
    BlockOf "block" on "builtin.module": |op| {
        let repeat = find(op, "scf.for");
        let body = repeat.body().expect("a body");
        repeat.erase();
        operations(body);
    }
    Operand "operand" on "builtin.module": |op| {
        let unused = find(op, "arith.mulf");
        let value = unused.first_result();
        unused.erase();
        find(op, "func.return").set_operand_at(0, value);
    }
    NewOperand "new-operand" on "builtin.module": |op| {
        let unused = find(op, "arith.mulf");
        let value = unused.first_result();
        unused.erase();
        let b = Builder::before(find(op, "func.return"));
        b.op("arith.negf", &[value], &[b.f32_type()], &[]);
    }
    Before "before" on "builtin.module": |op| {
        let unused = find(op, "arith.mulf");
        let b = Builder::before(unused);
        unused.erase();
        b.op("arith.constant", &[], &[b.f32_type()], &[]);
    }
    Behind "behind" on "builtin.module": |op| {
        let repeat = find(op, "scf.for");
        let end = InsertionPoint::End(repeat.body().expect("a body"));
        repeat.erase();
        find(op, "arith.mulf").move_to(end);
    }
    Twice "twice" on "builtin.module": |op| {
        let unused = find(op, "arith.mulf");
        unused.erase();
        unused.erase();
    }
    Used "used" on "builtin.module": |op| {
        find(op, "arith.addf").erase();
    }
    UsedNested "used-nested" on "builtin.module": |op| {
        let inner = find(op, "arith.negf").first_result();
        find(op, "func.return").set_operand_at(0, inner);
        find(op, "scf.for").erase();
    }
    Unnoticed "unnoticed" on "builtin.module": |op| {
        let unused = find(op, "arith.mulf");
        let value = unused.first_result();
        unused.erase();
        let end = find(op, "func.return");
        let less = OperationBuilder::new("arith.negf", end.location())
            .add_operands(&[value])
            .enable_result_type_inference();
        InsertionPoint::Before(end).insert(less.build().expect("of a float"));
    }
    TooFew "too-few" on "builtin.module": |op| {
        find(op, "arith.addf").replace_with(&[]);
    }
    Itself "itself" on "builtin.module": |op| {
        let repeat = find(op, "scf.for");
        repeat.move_to(InsertionPoint::Before(find(op, "memref.store")));
    }
    Root "root" on "func.func": |op| {
        op.erase();
    }
    Top "top" on "builtin.module": |op| {
        op.erase();
    }
    InPattern "in-pattern" on "builtin.module": |op| {
        PatternSet::new().add::<ErasesItself>().apply(op)?
    }
    PatternUsed "pattern-used" on "builtin.module": |op| {
        PatternSet::new().add::<ErasesUsed>().apply(op)?
    }
    PatternTwice "pattern-twice" on "builtin.module": |op| {
        PatternSet::new().add::<ReplacesTwice>().apply(op)?
    }
    PatternAfter "pattern-after" on "builtin.module": |op| {
        PatternSet::new().add::<LooksAfterwards>().apply(op)?
    }
    /// What is allowed: to move out of what is erased, to compare what was, and to make as much
    /// anew where it could have been.
    Allowed "allowed" on "builtin.module": |op| {
        let (repeat, store) = (find(op, "scf.for"), find(op, "memref.store"));
        let b = Builder::before(repeat);
        store.set_operand_at(2, b.index(0).value());
        let less = find(op, "arith.negf");
        less.move_to(InsertionPoint::Before(repeat));
        store.move_to(InsertionPoint::Before(repeat));
        repeat.erase();
        for _ in 0..1000 {
            let made = b.at(InsertionPoint::Before(store), || b.index(7).value());
            let constant = made.defining_op().expect("it was made");
            assert!(constant != repeat && constant.key() != repeat.key());
            constant.erase();
        }
        assert!(store.is("memref.store") && less.result_count() == 1);
    }
    /// Makes much where a pass before has erased as much.
    Many "many" on "builtin.module": |op| {
        let b = Builder::before(find(op, "memref.store"));
        for number in 0..1000 {
            assert_eq!(b.index(number).value().constant_int(), Some(number));
        }
    }
}

struct ErasesItself;

impl Pattern for ErasesItself {
    const ROOT: &'static str = "arith.addf";
    fn rewrite<'c>(op: Op<'c>, _: &[Value<'c>], _: &Rewriter<'c>) -> Rewritten {
        op.erase();
        Ok(())
    }
}

struct ErasesUsed;

impl Pattern for ErasesUsed {
    const ROOT: &'static str = "arith.addf";
    fn rewrite<'c>(_: Op<'c>, _: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        rewriter.erase();
        Ok(())
    }
}

struct ReplacesTwice;

impl Pattern for ReplacesTwice {
    const ROOT: &'static str = "arith.addf";
    fn rewrite<'c>(_: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        rewriter.replace(&operands[..1]);
        rewriter.replace(&operands[..1]);
        Ok(())
    }
}

struct LooksAfterwards;

impl Pattern for LooksAfterwards {
    const ROOT: &'static str = "arith.addf";
    fn rewrite<'c>(op: Op<'c>, operands: &[Value<'c>], rewriter: &Rewriter<'c>) -> Rewritten {
        rewriter.replace(&operands[..1]);
        assert_eq!(op.operand_values()[..], *operands);
        rewriter.build("arith.negf", &operands[..1], &[rewriter_type(op)], &[]);
        Ok(())
    }
}

fn rewriter_type<'c>(op: Op<'c>) -> qd_dialects::melior::ir::Type<'c> {
    use qd_dialects::melior::ir::ValueLike;
    op.first_result().r#type()
}

/// Runs a pass over the source: whether it failed, what was said and what is left.
fn run(pipeline: &str) -> (bool, String, String) {
    register();
    let context = qd_dialects::context();
    let said = Rc::new(RefCell::new(Vec::new()));
    let heard = Rc::clone(&said);
    context.attach_diagnostic_handler(move |diagnostic| {
        heard.borrow_mut().push(diagnostic.to_string());
        true
    });
    let mut module = Module::parse(&context, SOURCE).expect("the source is valid");
    let failed = run_pipeline(&context, &mut module, pipeline).is_err();
    let left = module.as_operation().to_string();
    let said = said.borrow().join("\n");
    (failed, said, left)
}

/// Runs a pass that is to fail, with a message that has these parts in this order.
fn refused(pipeline: &str, message: &[&str]) {
    let (failed, said, _) = run(pipeline);
    assert!(failed, "{pipeline}: {said}");
    let mut rest = said.as_str();
    for part in message {
        let found = rest.find(part);
        let at = found.unwrap_or_else(|| panic!("{pipeline}: no '{part}' in: {said}"));
        rest = &rest[at + part.len()..];
    }
}

const HERE: &str = file!();

#[test]
#[cfg(debug_assertions)]
fn what_was_erased_is_not_asked() {
    let mulf = "'arith.mulf' is used at ";
    let after = "after the operation was erased at ";
    refused("handle", &[mulf, HERE, after, HERE]);
    refused("twice", &[mulf, HERE, after, HERE]);
    let around = "after 'scf.for' around it was erased at ";
    refused(
        "nested",
        &["'memref.store' is used at ", HERE, around, HERE],
    );
}

#[test]
#[cfg(debug_assertions)]
fn values_and_blocks_go_with_their_operation() {
    let result = "a result of 'arith.mulf' is used at ";
    let after = "after the operation was erased at ";
    for pass in ["result", "operand", "new-operand"] {
        refused(pass, &[result, after, HERE]);
    }
    let argument = "an argument of a block of 'scf.for' is used at ";
    refused("argument", &[argument, HERE, after, HERE]);
    let block = "a block of 'scf.for' is used at ";
    refused("block", &[block, HERE, after, HERE]);
    refused("behind", &[block, after, HERE]);
}

#[test]
#[cfg(debug_assertions)]
fn nothing_is_inserted_before_what_was_erased() {
    let message = "'arith.mulf' is used at ";
    refused("before", &[message, HERE, "was erased at ", HERE]);
}

#[test]
#[cfg(debug_assertions)]
fn a_use_by_other_means_is_found_when_the_pass_ends() {
    let message = "'arith.negf' op uses what is of 'arith.mulf', which was erased at ";
    refused("unnoticed", &[message, HERE]);
}

#[test]
#[cfg(debug_assertions)]
fn a_pattern_erases_by_its_rewriter() {
    let message = "'arith.addf' is erased by the pattern of 'arith.addf' and not by its rewriter: \
                   use Rewriter::erase or Rewriter::replace";
    refused("in-pattern", &[message]);
}

#[test]
fn what_is_used_is_not_erased() {
    let used =
        "'arith.addf' is erased, and a value or a block of it is still used by 'func.return'";
    refused("used", &[used]);
    let nested = "'scf.for' is erased, and a value or a block of it is still used by 'func.return'";
    refused("used-nested", &[nested]);
    let by_pattern = "'arith.addf' is erased while 'func.return' uses it";
    refused("pattern-used", &[by_pattern]);
}

#[test]
fn what_is_refused_is_left() {
    let (_, _, left) = run("used");
    assert!(left.contains("arith.addf"), "{left}");
    let (_, _, left) = run("pattern-used");
    assert!(left.contains("arith.addf"), "{left}");
}

#[test]
fn each_result_is_replaced_once() {
    let message = "'arith.addf' is replaced by as many values as it has results";
    refused("too-few", &[message]);
    refused(
        "pattern-twice",
        &["'arith.addf' is replaced or erased twice"],
    );
}

#[test]
fn a_pass_does_not_erase_what_it_runs_on() {
    refused(
        "func.func(root)",
        &["'func.func' is erased by a pass that runs on it or on what is in it"],
    );
    refused("top", &["'builtin.module' is erased and is in no block"]);
}

#[test]
fn nothing_is_moved_into_itself() {
    refused("itself", &["'scf.for' is moved into itself"]);
}

#[test]
fn a_pattern_may_look_at_what_it_replaced() {
    let (failed, said, left) = run("pattern-after");
    assert!(!failed, "{said}");
    assert!(!left.contains("arith.addf"), "{left}");
}

#[test]
fn what_is_right_is_not_refused() {
    let (failed, said, left) = run("allowed,many");
    assert!(!failed, "{said}");
    assert!(!left.contains("scf.for"), "{left}");
}

fn root<'c>(module: &Module<'c>) -> Op<'c> {
    // Safety: the handle is used while the module lives.
    unsafe { Op::from_raw(module.as_operation().to_raw()) }
}

#[test]
fn a_change_outside_of_passes_is_an_edit() {
    let context: Context = qd_dialects::context();
    let module = Module::parse(&context, SOURCE).expect("the source is valid");
    ir::edit(|| find(root(&module), "scf.for").erase());
    assert!(!module.as_operation().to_string().contains("scf.for"));
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "'arith.mulf' is used at ")]
fn an_edit_refuses_what_a_pass_does() {
    let context: Context = qd_dialects::context();
    let module = Module::parse(&context, SOURCE).expect("the source is valid");
    ir::edit(|| {
        let unused = find(root(&module), "arith.mulf");
        unused.erase();
        unused.result_count()
    });
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "'arith.mulf' is used at ")]
fn what_is_erased_outside_of_any_is_remembered() {
    let context: Context = qd_dialects::context();
    let module = Module::parse(&context, SOURCE).expect("the source is valid");
    let unused = find(root(&module), "arith.mulf");
    unused.erase();
    ir::edit(|| find(root(&module), "scf.for").erase());
    unused.result_count();
}

/// The source's file, for the process that is the tool.
const TOOL: &str = "QD_TEST_TOOL";

#[test]
#[cfg(debug_assertions)]
fn a_tool_says_where_and_fails() {
    let directory = env::temp_dir().join(format!("qd-erased-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("a directory");
    let file = directory.join("source.mlir");
    fs::write(&file, SOURCE).expect("it can be written");
    let output = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "the_tool", "--nocapture"])
        .env(TOOL, &file)
        .output()
        .expect("it runs");
    fs::remove_dir_all(&directory).expect("it is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let place = format!("{}:", file.display());
    let line = said.lines().find(|line| line.starts_with(&place));
    let line = line.unwrap_or_else(|| panic!("no place: {said}"));
    let message = "error: pass 'handle' panicked: 'arith.mulf' is used at ";
    assert!(line.contains(message), "{line}");
}

/// Does nothing but in the process that the test above starts.
#[test]
fn the_tool() {
    if let Some(file) = env::var_os(TOOL) {
        register();
        let arguments = ["tool".into(), file, "--handle".into()];
        std::process::exit(tools::opt_main(arguments));
    }
}
