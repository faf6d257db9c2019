//! Runs the FileCheck tests beside this file with `my-opt`, under `cargo test`.

use std::path::Path;
use std::process::Command;

#[test]
fn filecheck() {
    let my_opt = Path::new(env!("CARGO_BIN_EXE_my-opt"));
    // Debian's interpreter, which is what its lit is written for.
    let status = Command::new("/usr/bin/python3")
        .args(["/usr/lib/llvm-22/bin/lit", "-v"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"))
        .env(
            "MY_BIN_DIR",
            my_opt.parent().expect("a program is in a folder"),
        )
        .status()
        .expect("lit runs");
    assert!(status.success(), "lit: {status}");
}
