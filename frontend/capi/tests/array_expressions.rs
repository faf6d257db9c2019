//! The language of `examples/c/arrays.c`, on the device that `QD_DEVICE` names, or this machine.

mod common;

use common::{Checked, fail, program, repository, run};
use std::process::Command;

#[test]
fn expressions_over_arrays() {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join("arrays");
    let source = repository().join("examples/c/arrays.c");
    program(&source, &binary, Checked::Sanitizer);
    let device = std::env::var("QD_DEVICE").unwrap_or("cpu".into());
    let arrays = |words: &[&str]| {
        let mut command = Command::new(&binary);
        command.arg(&device).args(words);
        if device != "cpu" {
            // What a driver keeps is not ours.
            command.env("ASAN_OPTIONS", "detect_leaks=0");
        }
        command
    };
    for (expression, expected) in [
        ("sqrt(x * x + y * y) / 2", "2.5 6.5 8.5"),
        ("x - y - 1", "-2 -8 -8"),
        ("-(x - 2 * y)", "5 19 22"),
        ("max(min(x, 4), abs(3 - y))", "3 9 12"),
        ("0.5", "0.5 0.5 0.5"),
        ("x", "3 5 8"),
    ] {
        let printed = run(&mut arrays(&[expression, "x=3,5,8", "y=4,12,15"]));
        assert_eq!(printed.trim_end(), expected, "{expression}");
    }
    for (expression, error) in [
        ("x + z", "expression:1:5: error: there is no such array"),
        (
            "x +",
            "expression:1:4: error: expected a number, a name or '('",
        ),
        ("(x", "expression:1:3: error: expected ')'"),
        (
            "x y",
            "expression:1:3: error: expected an operator or the end",
        ),
        (
            "cbrt(x)",
            "expression:1:1: error: there is no such function",
        ),
        (
            "min(x)",
            "expression:1:6: error: expected ',' and another operand",
        ),
    ] {
        let mut command = arrays(&[expression, "x=3,5,8"]);
        // What it has is given back by the system, as it ends at once.
        command.env("ASAN_OPTIONS", "detect_leaks=0");
        assert_eq!(fail(&mut command).trim_end(), error, "{expression}");
    }
}
