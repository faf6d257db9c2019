//! Runs mlir-tblgen over the op definitions and compiles the C++ shim.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Generated from all of `Qd.td`: (generator, output, further arguments).
const DIALECT: &[(&str, &str, &[&str])] = &[
    ("gen-dialect-decls", "QdDialect.h.inc", &["-dialect=qd"]),
    ("gen-dialect-defs", "QdDialect.cpp.inc", &["-dialect=qd"]),
    ("gen-enum-decls", "QdEnums.h.inc", &[]),
    ("gen-enum-defs", "QdEnums.cpp.inc", &[]),
    (
        "gen-attrdef-decls",
        "QdAttrs.h.inc",
        &["-attrdefs-dialect=qd"],
    ),
    (
        "gen-attrdef-defs",
        "QdAttrs.cpp.inc",
        &["-attrdefs-dialect=qd"],
    ),
    ("gen-op-decls", "QdOps.h.inc", &[]),
    ("gen-op-defs", "QdOps.cpp.inc", &[]),
];

/// Generated from `QdInterfaces.td`: mlir-tblgen passes over the interfaces of files that are included.
const INTERFACES: &[(&str, &str)] = &[
    ("gen-op-interface-decls", "QdInterfaces.h.inc"),
    ("gen-op-interface-defs", "QdInterfaces.cpp.inc"),
];

/// Each family's definitions are compiled with its verifiers and folders.
const FAMILIES: &[(&str, &str)] = &[
    ("QdYield.cpp.inc", r"^qd\.yield$"),
    ("QdSimt.cpp.inc", r"^qd\.simt\."),
    ("QdGrid.cpp.inc", r"^qd\.grid\."),
    ("QdAlgo.cpp.inc", r"^qd\.algo\."),
    ("QdMath.cpp.inc", r"^qd\.math\."),
];

fn main() {
    let prefix = PathBuf::from(
        env::var("MLIR_SYS_220_PREFIX").unwrap_or_else(|_| "/usr/lib/llvm-22".into()),
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo:rerun-if-changed=td");
    println!("cargo:rerun-if-changed=cpp");

    for (generator, file, extra) in DIALECT {
        tablegen(&prefix, &out, "td/Qd.td", generator, file, extra);
    }
    for (generator, file) in INTERFACES {
        tablegen(&prefix, &out, "td/QdInterfaces.td", generator, file, &[]);
    }
    for (file, ops) in FAMILIES {
        let include = format!("-op-include-regex={ops}");
        tablegen(&prefix, &out, "td/Qd.td", "gen-op-defs", file, &[&include]);
    }
    compile(&prefix, &out);
    link(&prefix, &out);
}

fn tablegen(prefix: &Path, out: &Path, from: &str, generator: &str, file: &str, extra: &[&str]) {
    let status = Command::new(prefix.join("bin/mlir-tblgen"))
        .arg(format!("-{generator}"))
        .args(extra)
        .arg(format!("-I{}", prefix.join("include").display()))
        .args(["-Itd", from, "-o"])
        .arg(out.join(file))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("mlir-tblgen -{generator} failed: {status}"),
        Err(error) => panic!(
            "cannot run mlir-tblgen from {}: {error}; `cargo xtask setup` installs it",
            prefix.display()
        ),
    }
}

fn compile(prefix: &Path, out: &Path) {
    let mut sources: Vec<PathBuf> = fs::read_dir("cpp")
        .expect("dialects/sys/cpp")
        .map(|entry| entry.expect("dialects/sys/cpp").path())
        .filter(|path| path.extension().is_some_and(|e| e == "cpp"))
        .collect();
    sources.sort();
    cc::Build::new()
        .cpp(true)
        .compiler(prefix.join("bin/clang++"))
        .std("c++17")
        .include(prefix.join("include"))
        .include(out)
        .include("cpp")
        .files(&sources)
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
        .flag("-Wno-unused-parameter")
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
