//! What the library exports and loads.

mod common;

use common::{library_folder, package, run};
use std::{collections::BTreeSet, fs, process::Command};

fn exported() -> BTreeSet<String> {
    let symbols = run(Command::new("nm")
        .args(["-D", "--defined-only", "-P"])
        .arg(library_folder().join("libqd.so")));
    let names = symbols.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

/// The names of functions that a header declares: those before a parenthesis.
fn declared(header: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(package().join("include").join(header)).expect("a header");
    let code = text.split("static inline").next().unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.starts_with([' ', '*', '/', '#']));
    let names = lines.filter_map(|line| {
        let before = line
            .split('(')
            .next()
            .filter(|before| before.len() < line.len())?;
        before.rsplit([' ', '*']).next()
    });
    let is_ours = |name: &&str| name.starts_with("qd_") || name.starts_with("mlir");
    names.filter(is_ours).map(str::to_owned).collect()
}

#[test]
fn all_that_the_headers_declare_is_exported_and_nothing_else_of_ours() {
    let exported = exported();
    let declared: BTreeSet<_> = [declared("qd.h"), declared("qd_mlir.h")]
        .into_iter()
        .flatten()
        .collect();
    assert!(declared.len() > 100, "{declared:?}");
    let missing: Vec<_> = declared.difference(&exported).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
    // Crates below may have functions for C of their own, under their names.
    let ours = exported.iter().filter(|name| name.starts_with("qd"));
    let others: Vec<_> = ours.filter(|name| !declared.contains(*name)).collect();
    assert!(others.is_empty(), "not declared: {others:?}");
}

#[test]
fn mlirs_c_interface_is_exported_as_a_whole() {
    let exported = exported();
    for name in [
        "mlirContextCreate",
        "mlirMemRefTypeGet",
        "mlirRegisterAllDialects",
        "mlirParsePassPipeline",
        "mlirGetDialectHandle__scf__",
        "mlirGetDialectHandle__qd__",
        "mlirPassManagerRunOnOp",
    ] {
        assert!(exported.contains(name), "{name}");
    }
    let count = exported
        .iter()
        .filter(|name| name.starts_with("mlir"))
        .count();
    assert!(count > 1500, "{count}");
}

#[test]
fn a_program_is_built_by_what_pkg_config_says() {
    let prefix = tempfile::tempdir().expect("a folder");
    let at = |name: &str| prefix.path().join(name);
    for folder in ["lib/pkgconfig", "include"] {
        fs::create_dir_all(at(folder)).expect("a folder");
    }
    for header in ["qd.h", "qd_mlir.h"] {
        fs::copy(
            package().join("include").join(header),
            at("include").join(header),
        )
        .expect("a header");
    }
    fs::copy(package().join("qd.pc"), at("lib/pkgconfig/qd.pc")).expect("the description");
    std::os::unix::fs::symlink(library_folder().join("libqd.so"), at("lib/libqd.so"))
        .expect("a link");
    let ask = |what: &str| {
        let mut command = Command::new("pkg-config");
        command
            .env("PKG_CONFIG_PATH", at("lib/pkgconfig"))
            .arg(what)
            .arg("qd");
        run(&mut command)
    };
    assert_eq!(ask("--modversion").trim(), env!("CARGO_PKG_VERSION"));
    let source = at("version.c");
    fs::write(
        &source,
        "#include <qd.h>\n#include <stdio.h>\nint main(void) { puts(qd_version()); return qd_check_header(); }\n",
    )
    .expect("a source");
    let mut command = Command::new("cc");
    command.arg(&source).arg("-o").arg(at("version"));
    for flags in [ask("--cflags"), ask("--libs")] {
        command.args(flags.split_whitespace());
    }
    run(command.arg("-Wl,--allow-shlib-undefined"));
    let printed = run(Command::new(at("version")).env("LD_LIBRARY_PATH", at("lib")));
    assert_eq!(printed.trim(), env!("CARGO_PKG_VERSION"));
}
