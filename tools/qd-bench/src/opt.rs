//! `qd-opt` against Debian's `mlir-opt` on the same file: parse, verify, print.

use crate::measure;
use anyhow::{Context, ensure};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Operations in the file.
const OPERATIONS: usize = 100_000;

/// A module of functions of arithmetic, none of it ours: both tools read it.
fn source() -> String {
    let mut text = String::new();
    for function in 0..OPERATIONS / 100 {
        let _ = writeln!(text, "func.func @f{function}(%a: i32, %b: i32) -> i32 {{");
        let (mut before, mut last) = ("a".to_string(), "b".to_string());
        for i in 0..99 {
            let op = ["addi", "muli", "xori", "subi"][i % 4];
            let _ = writeln!(text, "  %v{i} = arith.{op} %{before}, %{last} : i32");
            before = std::mem::replace(&mut last, format!("v{i}"));
        }
        let _ = writeln!(text, "  return %{last} : i32\n}}");
    }
    text
}

fn call(tool: &Path, input: &Path, output: &Path) -> anyhow::Result<std::time::Duration> {
    let mut status = None;
    let elapsed = measure::time(|| {
        status = Some(
            Command::new(tool)
                .arg(input)
                .arg("-o")
                .arg(output)
                .stdin(Stdio::null())
                .status(),
        );
    });
    let status = status
        .expect("the call was made")
        .with_context(|| format!("running {}", tool.display()))?;
    ensure!(status.success(), "{} failed: {status}", tool.display());
    Ok(elapsed)
}

/// Measures and prints the row.
pub fn run(repeats: u32) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let input = folder.path().join("input.mlir");
    fs::write(&input, source())?;
    let ours = std::env::current_exe()?.with_file_name("qd-opt");
    let peer = PathBuf::from("mlir-opt-22");
    let (a, b) = (folder.path().join("a.mlir"), folder.path().join("b.mlir"));
    call(&ours, &input, &a)?;
    call(&peer, &input, &b)?;
    ensure!(
        fs::read(&a)? == fs::read(&b)?,
        "qd-opt prints something else than mlir-opt"
    );
    let mut failure = None;
    let (ours, peer) = measure::in_turn(
        repeats,
        || Ok(()),
        || call(&ours, &input, &a),
        || {
            call(&peer, &input, &b).unwrap_or_else(|error| {
                failure = Some(error);
                std::time::Duration::ZERO
            })
        },
    )?;
    if let Some(error) = failure {
        return Err(error);
    }
    measure::print("qd-opt, 100,000 ops", ours, peer, None, "mlir-opt-22");
    Ok(())
}
