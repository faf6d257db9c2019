use super::*;
use crate::{Source, module_bytes};
use qd_dialects::{
    attributes,
    ir::{InsertionPoint, operations},
    melior::ir::attribute::IntegerAttribute,
};
use std::{fs, path::PathBuf};

/// A kernel that calls, one that dispatches, and others.
const MODULE: &str = r#"// RUN: nothing
func.func private @twice(%x: i32) -> i32 {
  %two = arith.constant 2 : i32
  %y = arith.muli %x, %two : i32
  return %y : i32
}
func.func private @fourfold(%x: i32) -> i32 {
  %y = func.call @twice(%x) : (i32) -> i32
  %z = func.call @twice(%y) : (i32) -> i32
  return %z : i32
}
qd.grid.kernel @calls(%a: memref<?xi32> {qd.name = "a"}, %n: index) {
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = func.call @fourfold(%x) : (i32) -> i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
qd.grid.kernel @chooses(%a: memref<?xi32>, %n: index) {
  qd.grid.dispatch(%a, %n : memref<?xi32>, index) {
    qd.grid.variant @chosen when {
      %most = arith.constant 7 : index
      %is_few = arith.cmpi ult, %n, %most : index
      qd.yield %is_few : i1
    }
    qd.grid.variant @calls
  }
}
qd.grid.kernel @chosen(%b: memref<?xi32>, %m: index) {
  qd.grid.for_each %i to %m {
    %c = arith.constant 1 : i32
    memref.store %c, %b[%i] : memref<?xi32>
  }
}
"#;

fn of(source: impl Into<Source>) -> Vec<Unit> {
    let request = CompileRequest {
        source: source.into(),
        ..CompileRequest::default()
    };
    units(&request).unwrap_or_else(|why| panic!("{why}"))
}

fn of_text(text: &str) -> Vec<Unit> {
    of(Source::text("k.mlir", text))
}

/// Kernels and their hashes, by name.
fn hashes(units: &[Unit]) -> Vec<(String, Hash)> {
    let hashes = units.iter().map(|unit| (unit.kernel.clone(), unit.hash));
    let mut hashes: Vec<_> = hashes.collect();
    hashes.sort_by(|a, b| a.0.cmp(&b.0));
    hashes
}

/// The kernels that are not what they were.
fn changed(before: &[Unit], after: &[Unit]) -> Vec<String> {
    let (before, after) = (hashes(before), hashes(after));
    let changed = after.into_iter().filter(|unit| !before.contains(unit));
    changed.map(|(name, _)| name).collect()
}

/// Kernels that there are files of.
fn files() -> Vec<(PathBuf, String)> {
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/filecheck/run");
    let files = fs::read_dir(run).expect("a folder").map(|entry| {
        let path = entry.expect("an entry").path();
        (path.extension()? == "mlir").then(|| {
            let text = fs::read_to_string(&path).expect("it can be read");
            (path, text)
        })
    });
    let files: Vec<_> = files.flatten().collect();
    assert!(files.len() > 15, "{files:?}");
    files
}

/// Does something with a module and yields it as a source.
fn rewritten(text: &str, rewrite: impl FnOnce(&Module<'_>)) -> Source {
    let context = context();
    let source = Source::text("k.mlir", text);
    let parsed = Parsed::new(&context, &source, &mut |_| ()).expect("it parses");
    rewrite(parsed.module());
    module_bytes(parsed.module()).expect("it is ours").into()
}

fn root<'c>(module: &Module<'c>) -> Op<'c> {
    // Safety: the handle is used while the module lives.
    unsafe { Op::from_raw(module.as_operation().to_raw()) }
}

/// A text with other names for its values, more space, and comments.
fn respelled(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once("//") {
        Some((code, _)) => code,
        None => line,
    });
    let lines = lines.map(|line| {
        // Every second part is in quotes.
        let parts = line.split('"').enumerate().map(|(at, part)| match at % 2 {
            0 => part.replace('%', "%other_").replace(" = ", "  =\n\t"),
            _ => part.into(),
        });
        let line = parts.collect::<Vec<_>>().join("\"");
        format!("  {line} // {{ %nothing }}\n\n")
    });
    lines.collect()
}

#[test]
fn what_changes_no_code_changes_no_hash() {
    let other = "qd.grid.kernel @of_no_other_name(%n: index) {}\n";
    for (path, text) in files() {
        let expected = of_text(&text);
        let module = rewritten(&text, |_| ());
        let printed = {
            let context = context();
            let parsed = Parsed::new(&context, &module, &mut |_| ()).expect("it parses");
            parsed.module().as_operation().to_string()
        };
        let reversed = rewritten(&text, |module| {
            let body = root(module).body().expect("a module's body");
            let all = operations(body);
            for op in all.into_iter().rev() {
                op.move_to(InsertionPoint::End(body));
            }
        });
        for (edit, source) in [
            (
                "another name of the file",
                Source::text("other.mlir", &*text),
            ),
            ("respelled", Source::text("k.mlir", respelled(&text))),
            ("bytecode", module),
            ("printed", Source::text("k.mlir", printed)),
            ("the other way round", reversed),
            (
                "another kernel",
                Source::text("k.mlir", format!("{other}{text}")),
            ),
        ] {
            let mut units = of(source);
            units.retain(|unit| unit.kernel != "of_no_other_name");
            assert_eq!(
                hashes(&units),
                hashes(&expected),
                "{edit}: {}",
                path.display()
            );
            assert_eq!(changed(&expected, &units), [""; 0]);
        }
    }
}

#[test]
fn every_constant_of_a_kernel_and_of_what_it_calls_counts() {
    for (path, text) in files() {
        let expected = of_text(&text);
        let mut seen = vec![expected.clone()];
        for nth in 0.. {
            let mut is_there = false;
            let source = rewritten(&text, |module| {
                let all = root(module).nested().into_iter();
                let value = |op: &Op<'_>| op.attr("value").and_then(attributes::int);
                let mut constants = all.filter(|op| op.is("arith.constant") && value(op).is_some());
                if let Some(op) = constants.nth(nth) {
                    is_there = true;
                    let other = value(&op).expect("a number") ^ 1;
                    let r#type = attributes::type_of(op.attr("value").expect("a value"));
                    op.set_attr("value", IntegerAttribute::new(r#type, other).into());
                }
            });
            if !is_there {
                break;
            }
            let units = of(source);
            let of_one = changed(&expected, &units);
            assert!(!of_one.is_empty(), "constant {nth} of {}", path.display());
            let is_new = seen
                .iter()
                .all(|units_seen| hashes(units_seen) != hashes(&units));
            assert!(is_new, "constant {nth} of {}", path.display());
            seen.push(units);
        }
    }
}

#[test]
fn an_edit_changes_the_kernels_that_rest_on_it_alone() {
    let text = MODULE;
    let before = of_text(text);
    let names: Vec<_> = before.iter().map(|unit| &*unit.kernel).collect();
    assert_eq!(names, ["calls", "chooses", "chosen"]);
    for (from, to, expected) in [
        ("constant 2", "constant 3", &["calls"][..]),
        ("arith.muli %x, %two", "arith.subi %x, %two", &["calls"]),
        ("arith.muli %x, %two", "arith.muli %two, %x", &["calls"]),
        ("%z : i32\n", "%y : i32\n", &["calls"]),
        ("@fourfold(%x) : (i32)", "@twice(%x) : (i32)", &["calls"]),
        ("qd.name = \"a\"", "qd.name = \"b\"", &["calls", "chooses"]),
        ("constant 7", "constant 8", &["chooses"]),
        ("constant 1", "constant 0", &["chosen"]),
        (
            "%b: memref<?xi32>",
            "%b: memref<?xi32> {qd.scratch}",
            &["chooses", "chosen"],
        ),
        ("@chosen", "@renamed", &["chooses", "renamed"]),
        ("@fourfold", "@eightfold", &["calls"]),
    ] {
        assert!(text.contains(from), "{from}");
        let after = of_text(&text.replace(from, to));
        assert_eq!(changed(&before, &after), expected, "{from} -> {to}");
    }
    // Of the module around all of them.
    let around = format!("module attributes {{llvm.target_triple = \"x\"}} {{ {text} }}");
    assert_eq!(changed(&before, &of_text(&around)).len(), 3);
    let named = format!("module @name {{ {text} }}");
    assert_eq!(changed(&before, &of_text(&named)), [""; 0]);
}

#[test]
fn the_kernels_that_are_asked_for_have_units_and_what_they_dispatch_to() {
    let mut request = CompileRequest {
        source: Source::text("k.mlir", MODULE),
        ..CompileRequest::default()
    };
    let all = units(&request).expect("there are some");
    for (asked, expected) in [
        (vec!["calls"], vec!["calls"]),
        (vec!["chosen", "calls"], vec!["calls", "chosen"]),
        (vec!["chooses"], vec!["calls", "chooses", "chosen"]),
        (vec![], vec![]),
    ] {
        request.kernels = Some(asked.into_iter().map(String::from).collect());
        let some = units(&request).expect("there are these");
        let names: Vec<_> = some.iter().map(|unit| &*unit.kernel).collect();
        assert_eq!(names, expected);
        assert!(some.iter().all(|unit| all.contains(unit)));
    }
    request.kernels = Some(vec!["none".into()]);
    let why = units(&request).expect_err("there is none").to_string();
    assert_eq!(
        why,
        "error: there is no kernel 'none': the module has calls, chooses, chosen"
    );
}

#[test]
fn a_unit_is_a_module_whose_operations_have_origins() {
    let text = MODULE;
    let lines: Vec<&str> = text.lines().collect();
    let context = context();
    for unit in of_text(text) {
        let source = Source::Bytecode(unit.bytecode.clone());
        let parsed = Parsed::new(&context, &source, &mut |_| ()).expect("it is a module");
        let all = root(parsed.module()).walk_all();
        let kernel = all[1].attr("sym_name").and_then(attributes::text);
        assert_eq!(kernel.as_ref(), Some(&unit.kernel));
        for (i, op) in all.iter().enumerate().skip(1) {
            assert_eq!(op.location().to_string(), "loc(unknown)");
            let at = unit.origins[i].as_ref().expect("an origin");
            let line = &lines[at.line - 1][at.column - 1..];
            let name = op.full_name();
            let short = name.strip_prefix("func.").unwrap_or(name);
            assert!(line.contains(short), "{name} is not in '{line}'");
        }
        assert_eq!(unit.origins.len(), all.len());
        // The others of a dispatch are there by their signatures.
        let bodies = all.iter().filter(|op| op.is("qd.grid.kernel")).skip(1);
        bodies.for_each(|kernel| assert!(kernel.nested().is_empty()));
    }
}
