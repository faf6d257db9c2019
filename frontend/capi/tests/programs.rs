//! C programs that check themselves, under AddressSanitizer; each is a file of `c/`.

mod common;

use common::{Checked, package, program, run};
use std::{fs, process::Command};

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
