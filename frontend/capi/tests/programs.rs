//! C programs that check themselves, under AddressSanitizer, and one of Python, on the device that `QD_DEVICE` names,
//! or this machine; each C program is a file of `c/`.

mod common;

use common::{Checked, library_folder, package, program, repository, run};
use std::{env, fs, process::Command};

/// Compiles and runs a program. It gets the path of a file of its own, which is not there yet.
fn passes(name: &str, word: Option<&str>) {
    let folder = tempfile::tempdir().expect("a folder");
    let binary = folder.path().join(name);
    let source = package().join("tests/c").join(format!("{name}.c"));
    program(&source, &binary, Checked::Sanitizer);
    let file = folder.path().join("file");
    let mut command = Command::new(&binary);
    match word {
        Some(word) => command.arg(word),
        None => command.arg(&file),
    };
    for variable in ["QD_PERFDISPATCH_FORCE", "QD_CACHE_DIR", "QD_CACHE_SIZE"] {
        command.env_remove(variable);
    }
    // What a driver of Vulkan keeps until the process ends is not the library's.
    let drivers = folder.path().join("drivers");
    fs::write(&drivers, "leak:libvulkan_\n").expect("it can be written");
    let drivers = drivers.display();
    command.env(
        "LSAN_OPTIONS",
        format!("suppressions={drivers}:print_suppressions=0"),
    );
    if env::var_os("QD_DEVICE").is_some_and(|device| device != "cpu") {
        // What a driver keeps is not ours.
        command.env("ASAN_OPTIONS", "detect_leaks=0");
    }
    assert_eq!(run(&mut command), "passed\n");
}

#[test]
fn the_way_through_all_layers() {
    passes("basics", None);
}

#[test]
fn buffers_and_the_memory_of_others() {
    passes("memory", None);
}

#[test]
fn profiles_and_assertions() {
    passes("profile", None);
}

#[test]
fn recordings() {
    passes("record", None);
}

#[test]
fn dispatchers() {
    passes("dispatch", None);
}

#[test]
fn sessions_and_stores() {
    passes("session", None);
}

#[test]
fn threads() {
    passes("threads", None);
}

#[test]
fn modules_that_are_built_in_c() {
    passes("mlir", None);
}

#[test]
fn bad_handles() {
    // What a release build makes of them is undefined.
    passes(
        "bad",
        Some(if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }),
    );
}

#[test]
fn python_needs_nothing_but_ctypes() {
    let script = repository().join("examples/c/sum.py");
    let mut command = Command::new("/usr/bin/python3");
    command.arg(script).arg(library_folder().join("libqd.so"));
    command.args(env::var_os("QD_DEVICE"));
    assert_eq!(run(&mut command), "499500\n");
}
