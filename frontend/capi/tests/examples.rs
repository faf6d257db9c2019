//! The examples of `examples/c`, and two of them under valgrind.

mod common;

use common::{Checked, fail, program, repository, run};
use qd_frontend::{CompileOptions, CompileRequest, Host, Machine, Source, compile};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn built(name: &str, folder: &Path, checked: Checked) -> PathBuf {
    let binary = folder.join(name);
    let source = repository().join("examples/c").join(format!("{name}.c"));
    program(&source, &binary, checked);
    binary
}

/// The kernels of `kernels.mlir`, as a file.
fn kernels(folder: &Path, host: Host) -> PathBuf {
    let source = repository().join("examples/c/kernels.mlir");
    let artifact = compile(&CompileRequest {
        source: Source::read(&source).expect("a file"),
        targets: vec!["cpu".parse().expect("a target")],
        options: CompileOptions {
            host,
            ..CompileOptions::default()
        },
        ..CompileRequest::default()
    });
    let path = folder.join("kernels.qd");
    artifact
        .expect("it compiles")
        .save(&path)
        .expect("it is saved");
    path
}

#[test]
fn a_launch_on_the_callers_memory_and_stream() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = built("launch", folder.path(), Checked::Sanitizer);
    let artifact = kernels(folder.path(), Host::Here);
    let printed = run(Command::new(&binary).arg("cpu").arg(&artifact));
    assert_eq!(printed, "sums\n");
    let said = fail(
        Command::new(&binary)
            .arg("cpu")
            .arg(folder.path().join("none.qd")),
    );
    assert!(said.contains("none.qd"), "{said}");
}

#[test]
fn valgrind_finds_nothing_in_a_launch() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = built("launch", folder.path(), Checked::Not);
    // Valgrind knows no newer instructions than these.
    let host = match cfg!(target_arch = "x86_64") {
        true => Host::Named(Machine {
            triple: "x86_64-pc-linux-gnu".into(),
            cpu: "x86-64".into(),
            features: Vec::new(),
        }),
        false => Host::Here,
    };
    let artifact = kernels(folder.path(), host);
    let printed = run(valgrind(&binary).arg("cpu").arg(&artifact));
    assert_eq!(printed, "sums\n");
}

/// A program that fails where memory is used wrongly or lost. Here a millisecond takes some fifty.
fn valgrind(binary: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command
        .args(["--quiet", "--error-exitcode=9", "--leak-check=full"])
        .args([
            "--errors-for-leak-kinds=definite",
            "--show-leak-kinds=definite",
        ])
        .arg(binary);
    command
}

#[test]
fn valgrind_finds_nothing_in_an_expression() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = built("arrays", folder.path(), Checked::Not);
    let printed =
        run(valgrind(&binary).args(["cpu", "sqrt(x * x + y * y) / 2", "x=3,5,8", "y=4,12,15"]));
    assert_eq!(printed, "2.5 6.5 8.5\n");
}
