//! What has been compiled before runs without the compiler; the rest needs it.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const SINES: &str = "qd.grid.kernel @sines(%a: memref<?xf32> {qd.name = \"a\"}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %a, %zero : memref<?xf32>
  qd.grid.for_each %i to %n {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = math.sin %x : f32
    memref.store %y, %a[%i] : memref<?xf32>
  }
}";

fn run(program: &Path, folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .args(["k.mlir", "--arg", "a=[0, 0]", "--print", "a"])
        .args(more)
        // The loader says which files it opens.
        .env("LD_DEBUG", "files")
        .env("QD_CACHE_DIR", folder.join("cache"))
        .env("QD_CACHE_REMOTE", "");
    command.output().expect("it runs")
}

/// What it shows, and whether it loaded a library.
fn shown(output: &Output) -> (String, [bool; 2]) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(said.contains("libc.so"), "the loader says nothing: {said}");
    let loaded = ["libLLVM", "libMLIR"].map(|name| said.contains(name));
    (shown, loaded)
}

#[test]
fn the_compiler_is_loaded_where_there_is_something_to_compile() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.mlir"), SINES).expect("it is written");
    let program = Path::new(env!("CARGO_BIN_EXE_qd-run"));
    let of = |more: &[&str]| shown(&run(program, folder.path(), more));

    let (first, loaded) = of(&[]);
    assert!(first.contains("\ncompiled in "), "{first}");
    assert_eq!(loaded, [true; 2]);
    let (again, loaded) = of(&[]);
    assert!(again.contains("\ncompiled before: loaded in "), "{again}");
    assert!(again.contains("a = [0, 0]"), "{again}");
    assert_eq!(loaded, [false; 2]);
    // Another line for the same, another place in the same file.
    let commented = format!("// A comment.\n{SINES}");
    fs::write(folder.path().join("k.mlir"), commented).expect("it is written");
    assert_eq!(of(&[]).1, [false; 2]);
    let interpreted = of(&["--interpret"]);
    assert!(interpreted.0.contains("interpreted in "), "{interpreted:?}");
}

#[test]
fn without_the_program_that_compiles_that_is_the_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.mlir"), SINES).expect("it is written");
    let alone = folder.path().join("qd-run");
    fs::copy(env!("CARGO_BIN_EXE_qd-run"), &alone).expect("it is copied");
    let output = run(&alone, folder.path(), &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    let expected = format!(
        "qd-run: the kernel has to be compiled, and {}, which does that, is not there",
        folder
            .path()
            .canonicalize()
            .expect("it is there")
            .join("qd-run-compile")
            .display()
    );
    assert!(said.contains(&expected), "{said}");

    // What has been compiled runs all the same.
    shown(&run(
        Path::new(env!("CARGO_BIN_EXE_qd-run")),
        folder.path(),
        &[],
    ));
    let (again, loaded) = shown(&run(&alone, folder.path(), &[]));
    assert!(again.contains("\ncompiled before: loaded in "), "{again}");
    assert_eq!(loaded, [false; 2]);
}

#[test]
fn a_shared_store_that_is_gone_is_waited_for_and_said_once() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.mlir"), SINES).expect("it is written");
    let output = Command::new(env!("CARGO_BIN_EXE_qd-run"))
        .current_dir(folder.path())
        .args(["k.mlir", "--arg", "a=[0]", "--quiet"])
        .env("QD_CACHE_DIR", folder.path().join("cache"))
        .env("QD_CACHE_REMOTE", "s3://team/qd")
        // Nobody answers there.
        .env("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        .envs(["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"].map(|name| (name, "x")))
        .env("AWS_ALLOW_HTTP", "true")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        said.matches("warning: the shared cache").count(),
        1,
        "{said}"
    );
}
