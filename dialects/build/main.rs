//! Writes the handles of our ops, `ops.rs`, from their definitions.

mod handles;
mod records;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    let prefix = PathBuf::from(
        env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into()),
    );
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=sys/td");
    let records = records::Records::read(&prefix, Path::new("sys/td"));
    let records = records.unwrap_or_else(|error| panic!("{error}"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("ops.rs"), handles::all(&records)).expect("OUT_DIR is writable");
}
