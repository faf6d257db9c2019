//! Identifies this build of the compiler, for cache keys: a hash of the sources that affect the
//! output, of the versions of all crates, and of the toolchain. A build of edited sources has another
//! identity; a build of the same sources elsewhere has the same one.
//!
//! LLVM and MLIR say themselves which they are, when a program runs; it is told where they are.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// What the compiler is made of, from here.
const SOURCES: [&str; 17] = [
    "src",
    "build.rs",
    "../src",
    "../../dialects/report/src",
    "../../dialects/src",
    "../../dialects/sys",
    "../../passes/src",
    "../../lowering/src",
    "../../runtime/artifact/src",
    // What they stand on, with which features.
    "Cargo.toml",
    "../Cargo.toml",
    "../../Cargo.toml",
    "../../dialects/report/Cargo.toml",
    "../../dialects/Cargo.toml",
    "../../passes/Cargo.toml",
    "../../lowering/Cargo.toml",
    "../../runtime/artifact/Cargo.toml",
];
const LOCK: &str = "../../Cargo.lock";
/// What cargo says of how it is compiled.
const SETTINGS: [&str; 6] = [
    "TARGET",
    "PROFILE",
    "OPT_LEVEL",
    "DEBUG",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_PKG_VERSION",
];

/// The libraries, what their folder is known by, and where it is told to the program.
const LIBRARIES: [(&str, &str, &str); 2] = [
    ("libLLVM.so", "LLVM_SYS_221_PREFIX", "QD_LIB_LLVM"),
    ("libMLIR.so", "MLIR_SYS_220_PREFIX", "QD_LIB_MLIR"),
];

fn main() {
    for (name, prefix, variable) in LIBRARIES {
        println!("cargo:rerun-if-env-changed={prefix}");
        let prefix = env::var_os(prefix).unwrap_or_default();
        // By the name that has a version in it. Without one the program does not know, and finds nothing.
        let path = Path::new(&prefix).join("lib").join(name);
        let path = fs::canonicalize(path).unwrap_or_default();
        println!("cargo:rustc-env={variable}={}", path.display());
    }
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        collect(Path::new(source), &mut files)
            .unwrap_or_else(|error| panic!("cannot list {source}: {error}"));
    }
    // Not there where the crate is a dependency of another workspace's.
    if Path::new(LOCK).exists() {
        println!("cargo:rerun-if-changed={LOCK}");
        files.push(LOCK.into());
    }
    files.sort();
    for file in files {
        let bytes = fs::read(&file)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
        add(file.to_string_lossy().as_bytes());
        add(&bytes);
    }
    for setting in SETTINGS {
        add(env::var(setting).unwrap_or_default().as_bytes());
    }
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let version = Command::new(rustc).arg("-vV").output();
    add(&version.expect("the compiler says its version").stdout);
    println!("cargo:rustc-env=QD_SOURCES={}", hasher.finalize().to_hex());
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.into());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
