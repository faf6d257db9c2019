//! Links the shared library so that it exports MLIR's C API, and tells it which header it belongs to.

use std::{env, fs, path::PathBuf};

fn main() {
    header();
    export_mlir();
}

/// The hash that the header says it has: a program that was compiled with another one is refused.
fn header() {
    let path = "include/qd.h";
    println!("cargo::rerun-if-changed={path}");
    let text = fs::read_to_string(path).unwrap_or_default();
    let hash = text
        .lines()
        .find_map(|line| line.strip_prefix("#define QD_HEADER_HASH 0x"))
        .map_or("0", |rest| rest.trim_end_matches("ULL"));
    println!("cargo::rustc-env=QD_HEADER_HASH={hash}");
}

/// Debian has no shared library of MLIR's C API: ours holds all of its archives, which `qd-sys` links, and exports
/// what they define. They are glue, and hold nothing of MLIR itself.
fn export_mlir() {
    println!("cargo::rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let prefix = env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into());
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let script = out.join("exports.map");
    fs::write(&script, "{ global: mlir*; };\n").expect("writing the exports");
    for argument in [
        // LLVM's linker knows this, and takes a script besides rustc's own, which lists the functions of this crate.
        // GNU's does neither.
        format!("-B{prefix}/bin"),
        "-fuse-ld=lld".into(),
        "-Wl,--undefined-glob=mlir*".into(),
        format!("-Wl,--version-script={}", script.display()),
        "-Wl,-soname,libqd.so".into(),
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}
