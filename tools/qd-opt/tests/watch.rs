//! `qd-opt --watch`: kernels that an edit reaches are lowered again, and others are not.

use qd_watch::testing::Tool;
use std::{fs, path::Path, process::Command};

fn text(comment: &str, numbers: [i32; 2]) -> String {
    let kernel = |name: &str, number| {
        format!(
            "qd.grid.kernel @{name}(%a: memref<?xi32>, %n: index) {{
  qd.grid.for_each %i to %n {{
    %c = arith.constant {number} : i32
    memref.store %c, %a[%i] : memref<?xi32>
  }}
}}
"
        )
    };
    format!(
        "// {comment}\n{}{}",
        kernel("a", numbers[0]),
        kernel("b", numbers[1])
    )
}

fn start(folder: &Path, more: &[&str]) -> Tool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qd-opt"));
    command.current_dir(folder).args(["k.mlir", "--watch"]);
    Tool::start(command.args(more))
}

#[test]
fn kernels_that_an_edit_reaches_are_lowered_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("k.mlir");
    let save = |text: &str| fs::write(&file, text).expect("it is written");
    save(&text("First.", [1, 2]));
    let output = folder.path().join("out.mlir");
    let shows = start(folder.path(), &["--to=plan"]);
    let writes = start(folder.path(), &["--to=plan", "-o", "out.mlir"]);
    writes.says("b to plan for cpu: lowered in ");
    let all = shows.shows("qd.grid.kernel @b").join("\n");
    assert!(
        all.contains("qd.grid.kernel @a") && all.contains("qd.grid.launch"),
        "{all}"
    );

    save(&text("A comment.", [1, 2]));
    shows.says("k.mlir: comments or whitespace: nothing is compiled");
    writes.says("k.mlir: comments or whitespace: nothing is compiled");

    save(&text("A comment.", [1, 77]));
    let edited = shows.says("b to plan for cpu: lowered in ");
    assert!(
        edited[0].starts_with("k.mlir: @b edited; ") && edited.len() == 2,
        "{edited:?}"
    );
    let shown = shows.shows("arith.constant 77").join("\n");
    assert!(!shown.contains("kernel @a"), "{shown}");
    writes.says("b to plan for cpu: lowered in ");

    // What is wrong is said, where it is, and what was written last stays.
    save(&text("Broken.", [1, 77]).replace("store", "nonsense"));
    shows.says("k.mlir:5:5: error: ");
    writes.says("k.mlir:11:5: error: ");
    fs::remove_file(&file).expect("it is removed");
    for tool in [&shows, &writes] {
        tool.says("qd-opt: warning: k.mlir: the file is gone: waiting for it");
    }
    let written = fs::read_to_string(&output).expect("it was written");
    assert_eq!(written.split("// -----\n").count(), 2, "{written}");
    assert!(
        written.contains("constant 1 ") && written.contains("constant 77"),
        "{written}"
    );

    save("func.func @alone() { return }");
    shows.says("k.mlir: @a removed, @b removed, @alone added; ");
    shows.end();
    assert!(!writes.end().success());
}
