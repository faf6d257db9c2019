//! Runs mlir-tblgen over the op definitions and compiles the C++ shim.

mod tablegen;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    let prefix = PathBuf::from(
        env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into()),
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo:rerun-if-changed=tablegen.rs");
    println!("cargo:rerun-if-changed=td");
    println!("cargo:rerun-if-changed=cpp");

    tablegen::generate(&prefix, Path::new("."), &out).unwrap_or_else(|error| panic!("{error}"));
    // Lints look at Rust alone, and cargo runs this for them apart from the build.
    if !is_linting() {
        compile(&prefix, &out);
        link(&prefix, &out);
    }
}

fn is_linting() -> bool {
    env::var_os("RUSTC_WORKSPACE_WRAPPER").is_some_and(|wrapper| {
        Path::new(&wrapper)
            .file_stem()
            .is_some_and(|stem| stem == "clippy-driver")
    })
}

fn compile(prefix: &Path, out: &Path) {
    let mut sources: Vec<PathBuf> = fs::read_dir("cpp")
        .expect("dialects/sys/cpp")
        .map(|entry| entry.expect("dialects/sys/cpp").path())
        .filter(|path| path.extension().is_some_and(|e| e == "cpp"))
        .collect();
    sources.sort();
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .compiler(prefix.join("bin/clang++"))
        .std("c++17")
        .include(prefix.join("include"))
        .include(out)
        .include("cpp")
        // LLVM is built without both; anything else cannot link against it.
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-fvisibility-inlines-hidden")
        .flag(format!("-isystem{}", prefix.join("include").display()))
        .define("_GNU_SOURCE", None)
        // The shim is glue: its own optimisation matters little, its compile
        // time matters to everyone who touches it.
        .opt_level(1)
        .debug(false)
        .flag("-Wall")
        .flag("-Wextra")
        .flag("-Wno-unused-parameter");
    // Parsing what every file includes takes as long as most files do.
    let header = out.join("Qd.pch");
    let status = build
        .get_compiler()
        .to_command()
        .args([
            "-fpch-instantiate-templates",
            "-x",
            "c++-header",
            "cpp/Qd.h",
            "-o",
        ])
        .arg(&header)
        .status()
        .unwrap_or_else(|error| panic!("clang++: {error}"));
    assert!(status.success(), "cpp/Qd.h: {status}");
    build
        .flag("-include-pch")
        .flag(&header)
        .files(&sources)
        .compile("qd_shim");
}

/// Debian has no `libMLIR-C.so`: give the linker a script of that name over
/// the static C API archives, which themselves link to the shared libMLIR.
fn link(prefix: &Path, out: &Path) {
    let lib = prefix.join("lib");
    let mut archives: Vec<String> = fs::read_dir(&lib)
        .unwrap_or_else(|error| panic!("{}: {error}", lib.display()))
        .map(|entry| {
            entry
                .expect("a directory entry")
                .path()
                .display()
                .to_string()
        })
        .filter(|path| path.contains("/libMLIRCAPI") && path.ends_with(".a"))
        .collect();
    archives.sort();
    fs::write(
        out.join("libMLIR-C.so"),
        format!("GROUP({})\n", archives.join(" ")),
    )
    .expect("writing the linker script");
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-search=native={}", lib.display());
    println!("cargo:rustc-link-lib=dylib=MLIR");
    println!("cargo:rustc-link-lib=dylib=LLVM-22");
    println!("cargo:rustc-link-lib=dylib=stdc++");
}
