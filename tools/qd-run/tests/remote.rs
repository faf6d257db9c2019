//! What one machine has compiled is loaded on another, from the store that they share; without that store,
//! and with garbage in it, the kernel is compiled.

#[path = "../../../frontend/store/tests/server/mod.rs"]
mod server;

use server::{BUCKET, Server};
use std::{fs, path::Path, process::Command};

const DOUBLE: &str = "qd.grid.kernel @double(%a: memref<?xi32> {qd.name = \"a\"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<?xi32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}";

/// What it shows and what it says, with a folder of its own.
fn run(folder: &Path, url: &str, variables: &[(String, String)]) -> (String, String) {
    let cache = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_qd-run"))
        .current_dir(folder)
        .args(["k.mlir", "--arg", "a=[1, 2, 3]", "--print", "a"])
        .env("QD_CACHE_DIR", cache.path())
        .env("QD_CACHE_REMOTE", url)
        .envs(variables.iter().cloned())
        .output()
        .expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    let (shown, said) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(shown.contains("a = [2, 4, 6]"), "{shown}");
    (shown, said)
}

#[test]
fn what_one_machine_compiled_another_loads() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.mlir"), DOUBLE).expect("it is written");
    let url = format!("s3://{BUCKET}/qd");
    let variables = server.variables();
    let (shown, said) = run(folder.path(), &url, &variables);
    assert!(shown.contains("\ncompiled in "), "{shown}");
    assert_eq!(said, "");
    let (shown, said) = run(folder.path(), &url, &variables);
    assert!(shown.contains("\ncompiled before: loaded in "), "{shown}");
    assert_eq!(said, "");

    for name in server.names() {
        server.put(&name, b"garbage");
    }
    let (shown, said) = run(folder.path(), &url, &variables);
    assert!(shown.contains("\ncompiled in "), "{shown}");
    assert!(
        said.contains("qd-run: warning: the shared cache's qd/store-1/"),
        "{said}"
    );
    assert!(said.contains(" is damaged: it is compiled again"), "{said}");
    let (shown, said) = run(folder.path(), &url, &variables);
    assert!(shown.contains("\ncompiled before: loaded in "), "{shown}");
    assert_eq!(said, "");

    drop(server);
    let (shown, said) = run(folder.path(), &url, &variables);
    assert!(shown.contains("\ncompiled in "), "{shown}");
    assert_eq!(said.matches("warning").count(), 1, "{said}");
    assert!(
        said.contains("qd-run: warning: the shared cache s3://team/qd is not used: "),
        "{said}"
    );
    let (_, said) = run(folder.path(), "ftp://team", &[]);
    assert_eq!(
        said,
        "qd-run: warning: QD_CACHE_REMOTE=ftp://team is not used: expected s3://BUCKET/FOLDER\n"
    );
}
