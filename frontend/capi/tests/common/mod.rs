//! C programs, compiled by `cc` against the library as cargo has just built it.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// Where cargo has put `libqd.so` beside the tests.
pub fn library_folder() -> PathBuf {
    let own = env::current_exe().expect("a test has a path");
    let folder = own.parent().expect("it is in a folder").to_path_buf();
    assert!(
        folder.join("libqd.so").is_file(),
        "there is no libqd.so in {}",
        folder.display()
    );
    folder
}

pub fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn repository() -> &'static Path {
    package().ancestors().nth(2).expect("the package is in it")
}

/// MLIR's headers.
pub fn mlir_headers() -> PathBuf {
    let prefix = env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    Path::new(&prefix).join("include")
}

/// What memory errors of C programs are found by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// AddressSanitizer, with a search for leaks when the program ends.
    Sanitizer,
    /// Nothing: valgrind runs it.
    Not,
}

/// A compiler of C that finds our headers, with all warnings as errors.
pub fn cc(standard: &str) -> Command {
    let mut command = Command::new("cc");
    command
        .args([format!("-std={standard}"), "-g".into()])
        .args(["-Wall", "-Wextra", "-Werror", "-pthread"])
        .arg(format!("-I{}", package().join("include").display()))
        .arg(format!("-isystem{}", mlir_headers().display()));
    command
}

/// Compiles a program and links it with the library.
pub fn program(source: &Path, to: &Path, checked: Checked) {
    let library = library_folder();
    let mut command = cc("gnu11");
    if checked == Checked::Sanitizer {
        command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    command
        .arg(source)
        .arg("-o")
        .arg(to)
        .arg(format!("-L{}", library.display()))
        .arg(format!("-Wl,-rpath,{}", library.display()))
        // What it loads with the library is not looked for at this point.
        .args(["-Wl,--allow-shlib-undefined", "-lqd", "-ldl"]);
    run(&mut command);
}

/// Runs a command that has to succeed, and returns what it prints.
pub fn run(command: &mut Command) -> String {
    let output = alone(command)
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Without the folders that cargo names, in one of which is the library of an earlier `cargo build`.
fn alone(command: &mut Command) -> &mut Command {
    let is_said = command.get_envs().any(|(name, _)| name == FOLDERS);
    match is_said {
        true => command,
        false => command.env_remove(FOLDERS),
    }
}

/// Where libraries are looked for first.
const FOLDERS: &str = "LD_LIBRARY_PATH";

/// As [`run`], of a command that has to fail: what it prints as errors.
pub fn fail(command: &mut Command) -> String {
    let output = alone(command).output().expect("it starts");
    assert!(!output.status.success(), "{command:?} succeeded");
    String::from_utf8_lossy(&output.stderr).into_owned()
}
