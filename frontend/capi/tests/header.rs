//! `include/qd.h` is what cbindgen makes of the sources, and compiles as C and as C++.
//!
//! `QD_BLESS=1 cargo test -p qd-capi --test header` writes it.

mod common;

use common::{cc, mlir_headers, package, run};
use std::{env, fs, process::Command};

/// What the hash is of: the declarations. A program is to be compiled again where they change, and not where only
/// comments do.
fn declarations(header: &str) -> String {
    let mut is_comment = false;
    let mut kept = String::new();
    for line in header.lines() {
        let line = line.trim();
        is_comment |= line.starts_with("/*");
        if !is_comment && !line.is_empty() {
            kept += line;
            kept.push('\n');
        }
        is_comment &= !line.ends_with("*/");
    }
    kept
}

fn generated() -> String {
    let config = cbindgen::Config::from_file(package().join("cbindgen.toml"));
    let made = cbindgen::Builder::new()
        .with_crate(package())
        .with_config(config.expect("cbindgen.toml"))
        .generate();
    let mut bytes = Vec::new();
    made.expect("the sources are read").write(&mut bytes);
    let header = String::from_utf8(bytes).expect("a header is text");
    let hash = blake3::hash(declarations(&header).as_bytes());
    header.replace("@HASH@", &hash.to_hex()[..16])
}

#[test]
fn the_header_is_what_the_sources_say() {
    let path = package().join("include/qd.h");
    let made = generated();
    if env::var_os("QD_BLESS").is_some() {
        fs::write(&path, &made).expect("the header is written");
    }
    let is = fs::read_to_string(&path).unwrap_or_default();
    for (line, (is, made)) in is.lines().zip(made.lines()).enumerate() {
        assert_eq!(
            is,
            made,
            "line {} of include/qd.h is stale: QD_BLESS=1 makes it anew",
            line + 1
        );
    }
    assert!(
        is == made,
        "include/qd.h is stale: QD_BLESS=1 makes it anew"
    );
}

#[test]
fn a_comment_does_not_change_the_hash_and_a_declaration_does() {
    let header = |comment: &str, name: &str| {
        declarations(&format!(
            "/**\n * {comment}\n */\nvoid {name}(void);\n\n/* one */\n"
        ))
    };
    assert_eq!(header("a", "f"), header("b", "f"));
    assert_ne!(header("a", "f"), header("a", "g"));
    assert_eq!(header("a", "f"), "void f(void);\n");
}

#[test]
fn every_function_has_a_comment() {
    let header = generated();
    let mut before = "";
    for line in header.lines() {
        let is_function = !line.starts_with([' ', '*', '/', '#', '}']) && line.contains(" qd_");
        if is_function && line.contains('(') && !line.starts_with("typedef") {
            assert!(before.ends_with("*/"), "without a comment: {line}");
        }
        before = line;
    }
}

#[test]
fn the_header_compiles_as_c_and_as_cpp() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("only.c");
    fs::write(&source, "#include \"qd.h\"\n").expect("a source");
    for standard in ["c99", "c11"] {
        let mut command = cc(standard);
        run(command.args(["-pedantic", "-fsyntax-only"]).arg(&source));
    }
    // That of the build: a machine need not have another one.
    let compiler = mlir_headers().join("../bin/clang++");
    let mut command = Command::new(compiler);
    command
        .args([
            "-x",
            "c++",
            "-std=c++11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-fsyntax-only",
        ])
        .arg(format!("-I{}", package().join("include").display()))
        .arg(&source);
    run(&mut command);
}
