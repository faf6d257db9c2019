//! `qd-run --watch`: what is saved is run again, and what is not compiled again is said.

use qd_watch::testing::Tool;
use std::{fs, os::unix::process::ExitStatusExt, path::Path, process::Command};

fn text(comment: &str, factor: i32) -> String {
    format!(
        "// {comment}
func.func @factor() -> i32 {{
  %c = arith.constant {factor} : i32
  return %c : i32
}}
qd.grid.kernel @scale(%a: memref<?xi32> {{qd.name = \"a\"}}) {{
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<?xi32>
  qd.grid.for_each %i to %n {{
    %x = memref.load %a[%i] : memref<?xi32>
    %c = func.call @factor() : () -> i32
    %y = arith.muli %x, %c : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }}
}}
qd.grid.kernel @other(%a: memref<?xi32>) {{}}
"
    )
}

fn start(folder: &Path) -> Tool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qd-run"));
    command
        .current_dir(folder)
        .args(["k.mlir", "--entry=scale", "--watch", "--quiet"])
        .args(["--arg", "a=[1, 2, 3]", "--print", "a"])
        .env("QD_CACHE_DIR", folder.join("cache"))
        .env("QD_CACHE_REMOTE", "");
    Tool::start(&mut command)
}

#[test]
fn what_is_saved_is_compiled_as_far_as_it_differs_and_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("k.mlir");
    let save = |text: &str| fs::write(&file, text).expect("it is written");
    save(&text("First.", 2));
    let tool = start(folder.path());
    tool.says("k.mlir: 3 symbols; read in ");
    let compiled = tool.says("  scale for cpu: compiled in ").concat();
    assert!(
        compiled.contains(": parse ") && compiled.contains(", emit "),
        "{compiled}"
    );
    tool.shows("a = [2, 4, 6]");

    save(&text("A comment.", 2));
    tool.says("k.mlir: comments or whitespace: nothing is compiled; read in ");

    save(&text("A comment.", 5));
    let edited = tool.says("scale for cpu: compiled in ");
    assert!(
        edited[0].starts_with("k.mlir: @factor edited; "),
        "{edited:?}"
    );
    assert!(
        edited[1].contains(", because of @factor: parse "),
        "{edited:?}"
    );
    // Nothing was run for the comment.
    assert_eq!(tool.shows("a = "), ["a = [5, 10, 15]"]);

    save(&text("Undone.", 2));
    tool.says("scale for cpu: found in the cache in ");
    tool.shows("a = [2, 4, 6]");

    // What is wrong is said, where it is, and the watch goes on.
    save(&text("Broken.", 2).replace("muli", "nonsense"));
    tool.says("k.mlir:12:10: error: ");
    save(&text("Broken.", 2).replace("}", ""));
    tool.says("error: ");
    fs::remove_file(&file).expect("it is removed");
    tool.says("qd-run: warning: k.mlir: the file is gone: waiting for it");
    save(&text("Back.", 7));
    assert_eq!(tool.shows("a = "), ["a = [7, 14, 21]"]);
    assert_eq!(tool.end().signal(), Some(15));
}

#[test]
fn what_cannot_be_watched_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bytes"), [0xff, 0xfe]).expect("it is written");
    for (arguments, message) in [
        (&["none.mlir"] as &[&str], "qd-run: none.mlir: "),
        (
            &["-"],
            "qd-run: --watch: standard input cannot be watched: give a file",
        ),
        (
            &["bytes"],
            "qd-run: bytes: --watch is for text, and this is none: give the module as text",
        ),
        (&["bytes", "--target=nowhere"], "unknown target 'nowhere'"),
        (&["bytes", "--interpret"], "cannot be used with"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_qd-run"))
            .current_dir(folder.path())
            .arg("--watch")
            .args(arguments)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(message), "{said}");
    }
}
