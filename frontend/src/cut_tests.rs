use crate::{Parsed, Source, context, ir::Context};
use qd_dialects::ir::{Op, OpExt, operations};
use qd_dialects::melior::ir::Module;
use qd_request::cut::*;
use std::{fs, path::Path};

fn cut(text: &str) -> Cut {
    Cut::of(text.into()).expect("strings and brackets have ends")
}

fn names(text: &str) -> Option<Vec<String>> {
    let cut = cut(text);
    let items = cut.items()?.iter();
    Some(items.map(|item| item.name.to_string()).collect())
}

const TWO: &str = "
// A comment with a { and a \".
#map = affine_map<(d0) -> (d0 + 1)>
!t = memref<?xi32>
func.func private @declared(i32) -> i32
func.func @twice(%x: i32) -> i32 attributes {a = \"} // \\\" @none\"} {
  %y = func.call @declared(%x) : (i32) -> i32
  return %y : i32
} loc(\"elsewhere\":1:2)
qd.grid.kernel @k(%a: !t) { func.call @twice(%b) : (i32) -> i32 }
qd.grid.kernel @\"odd name\"(%a: !t) {}
memref.global \"private\" constant @g : memref<2xi32> = dense<[1, 2]>";

#[test]
fn symbols_and_aliases_are_items() {
    let expected = ["#map", "!t", "@declared", "@twice", "@k", "@odd name", "@g"];
    assert_eq!(names(TWO).expect("it is cut"), expected);
    let wrapped = "#loc = loc(unknown)\nmodule @m attributes {a = {}} {\n func.func @f() {return}\n\
                   qd.grid.kernel @k() {}} loc(#loc)\n#loc1 = loc(\"a\")";
    let names = names(wrapped).expect("it is cut");
    assert_eq!(names, ["#loc", "@f", "@k", "#loc1"]);
}

#[test]
fn a_slice_is_a_kernel_and_what_it_names_a_word_a_line() {
    let cut = cut(TWO);
    let slice = cut.slice(&cut.closure([4]));
    let text = slice.text(cut.words());
    assert!(text.starts_with("!t\n=\nmemref<?xi32>\nfunc.func\nprivate\n@declared(i32)\n->"));
    assert!(text.contains("{a\n=\n\"} // \\\" @none\"}\n{\n"), "{text}");
    assert!(text.ends_with("@k(%a:\n!t)\n{\nfunc.call\n@twice(%b)\n:\n(i32)\n->\ni32\n}\n"));
    // `@declared`, by its line here and in the text.
    let place = Place { word: 5, offset: 1 };
    assert_eq!(slice.line_and_column(cut.words(), place), Some((5, 20)));

    let moved = TWO.replace('\n', "\n\n   // Another.\n  ");
    let moved = Cut::of(moved.into()).expect("it is cut");
    let slice = moved.slice(&moved.closure([4]));
    assert_eq!(slice.text(moved.words()), text);
}

#[test]
fn what_is_named_around_items_is_in_every_slice() {
    let text = "#one = 1 : i32\n#two = 2 : i32\n#here = loc(\"a\":1:1)\n
                module attributes {a.b = #one} { qd.grid.kernel @k() {}\n func.func private @f() } loc(#here)";
    let cut = cut(text);
    let slice = cut.slice(&cut.closure([3])).text(cut.words());
    let expected = "#one = 1 : i32 #here = loc(\"a\":1:1) module attributes {a.b = #one} { \
                    qd.grid.kernel @k() {} } loc(#here) ";
    assert_eq!(slice.replace('\n', " "), expected);
}

#[test]
fn what_is_not_known_is_not_cut() {
    for text in [
        "\"qd.grid.kernel\"() ({}) : () -> ()",
        "qd.grid.kernel @k() {} llvm.func @f()",
        "qd.grid.kernel @k() {} module {}",
        "module { module {} }",
        "module { #a = loc(unknown)\n func.func @f() {return} }",
        "module {} func.func private @f()",
        "func.func private @f() qd.other",
        "func.func private @f() \"qd.other\"() : () -> ()",
        "func.func private @f() %0 = arith.constant 1 : i32",
        "func.func private @f()->memref<1xf32>func.func private @g()",
        "#a = 1#b = 2",
        "func.func private @f() func.func private @f()",
        "func.func private @\"a\\22\"()",
        "qd.grid.kernel @k() {} {-# dialect_resources: {} #-}",
        "func.func private ()",
        "words",
    ] {
        assert_eq!(names(text), None, "{text}");
    }
    // An equals sign after a type does not make it an alias.
    let text = "!t = memref<1xi32>\nmemref.global @g : !t = dense<0>";
    assert_eq!(names(text).expect("it is cut"), ["!t", "@g"]);
}

/// What an edit leaves as it was is taken from the cut before it, and all is as in a cut from nothing.
#[test]
fn a_cut_after_another_is_what_it_is_by_itself() {
    // The alias `#map` is no part of `#map-1` in a file without it.
    let prefixed = "#map = 1 : i32\nfunc.func private @f() attributes {a = #map-1}";
    let texts = [
        TWO,
        &TWO.replace("@twice(%b)", "@declared(%b)"),
        &TWO.replacen("!t = memref<?xi32>", "\n// Moved.\n !t =  memref<?xi32>", 1),
        &TWO.replacen("#map =", "#other =", 1),
        &format!("qd.grid.kernel @new() {{}}\n{TWO}"),
        &format!(
            "module {{ {} }}",
            TWO.split_once("i32>\n").expect("aliases").1
        ),
        prefixed,
        prefixed.split_once('\n').expect("two lines").1,
        "func.func private @f()",
        "words",
        "",
    ];
    for before in texts {
        for after in texts {
            let content = cut(after).words().content();
            let found = Cut::of_words(content.clone(), Some(&cut(before)));
            assert_eq!(
                found,
                Cut::of_words(content, None),
                "{after}\nafter {before}"
            );
            // A word a line is cut as the text is.
            assert_eq!(found.items(), cut(after).items());
        }
    }
}

/// The top-level operations of a module, and what they are called.
fn symbols<'c>(module: &Module<'c>) -> Vec<(String, Op<'c>)> {
    // Safety: the handle is used while the module lives.
    let root: Op<'_> = unsafe { Op::from_raw(module.as_operation().to_raw()) };
    let all = operations(root.body().expect("a module's body")).into_iter();
    let name = |op: Op<'_>| {
        let name = op.attr("sym_name")?.to_string();
        Some(name.trim_matches('"').to_owned())
    };
    all.map(|op| (name(op).unwrap_or_default(), op)).collect()
}

fn parsed<'c>(context: &'c Context, text: &str) -> Option<Parsed<'c>> {
    let source = Source::text("k.mlir", text);
    Parsed::new(context, &source, &mut |_| ()).ok()
}

/// The `.mlir` files below a folder.
fn collect(folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with(".git") {
            collect(&path, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "mlir")
        {
            files.push(fs::read_to_string(path).unwrap_or_default());
        }
    }
}

/// Every source of the repository, as MLIR reads it and as it is cut: the same symbols, and each slice
/// has its symbols as the whole has them.
#[test]
fn every_source_is_cut_as_mlir_reads_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let chunks = files.iter().flat_map(|file| file.split("// -----"));
    let chunks = chunks.flat_map(|chunk| chunk.split("//--- "));
    let context = context();
    let (mut valid, mut is_cut, mut slices) = (0, 0, 0);
    for text in chunks {
        // The name after `//---` is no MLIR.
        let text = text.trim_start_matches(|c: char| c != '\n');
        let Some(whole) = parsed(&context, text) else {
            // Whatever it is, there is an answer.
            let _ = Cut::of(text.into());
            continue;
        };
        valid += 1;
        let cut = Cut::of(text.into()).unwrap_or_else(|| panic!("no words:\n{text}"));
        let slice = cut.whole().text(cut.words());
        let again = parsed(&context, &slice).unwrap_or_else(|| panic!("not read:\n{slice}"));
        let print = |op: &Op<'_>| op.to_string();
        let all = symbols(whole.module());
        assert_eq!(
            all.iter().map(|(_, op)| print(op)).collect::<Vec<_>>(),
            symbols(again.module())
                .iter()
                .map(|(_, op)| print(op))
                .collect::<Vec<_>>()
        );
        let Some(items) = cut.items() else {
            continue;
        };
        is_cut += 1;
        let found = items.iter().filter(|item| item.kind != Kind::Alias);
        let found: Vec<&str> = found.map(|item| &item.name[1..]).collect();
        let expected: Vec<&str> = all.iter().map(|(name, _)| &**name).collect();
        assert_eq!(found, expected, "{text}");
        for (i, item) in items.iter().enumerate() {
            let slice = cut.slice(&cut.closure([i])).text(cut.words());
            let part = parsed(&context, &slice).unwrap_or_else(|| panic!("not read:\n{slice}"));
            for (name, op) in symbols(part.module()) {
                let is_it = |(known, _): &&(String, Op<'_>)| *known == name;
                let (_, original) = all.iter().find(is_it).expect("of the whole");
                assert_eq!(print(&op), print(original));
                let kind = match op.full_name() {
                    "qd.grid.kernel" => Kind::Kernel,
                    "func.func" => Kind::Function,
                    _ => Kind::Global,
                };
                let is_named = item.name.get(1..) == Some(&name) && item.kind != Kind::Alias;
                assert!(!is_named || item.kind == kind, "{name}");
            }
            slices += 1;
        }
    }
    // Those that are not cut test other dialects, or the generic form.
    assert!(
        valid > 300 && is_cut * 10 > valid * 9,
        "{is_cut} of {valid}"
    );
    assert!(slices > 400, "{slices}");
}
