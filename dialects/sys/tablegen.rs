//! Running mlir-tblgen: for the build, and for the test that compiles the output of `cargo xtask
//! new op`.

use std::{path::Path, process::Command};

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

/// Writes all of it to `out`, from the definitions in `sys`, the folder that `td` is in.
pub fn generate(prefix: &Path, sys: &Path, out: &Path) -> Result<(), String> {
    let run = |from: &str, generator: &str, file: &str, extra: &[&str]| {
        let status = Command::new(prefix.join("bin/mlir-tblgen"))
            .current_dir(sys)
            .arg(format!("-{generator}"))
            .args(extra)
            .arg(format!("-I{}", prefix.join("include").display()))
            .args(["-Itd", from, "-o"])
            .arg(out.join(file))
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("mlir-tblgen -{generator} failed: {status}")),
            Err(error) => Err(format!(
                "cannot run mlir-tblgen from {}: {error}; `cargo xtask setup` installs it",
                prefix.display()
            )),
        }
    };
    for (generator, file, extra) in DIALECT {
        run("td/Qd.td", generator, file, extra)?;
    }
    for (generator, file) in INTERFACES {
        run("td/QdInterfaces.td", generator, file, &[])?;
    }
    for (file, ops) in FAMILIES {
        let include = format!("-op-include-regex={ops}");
        run("td/Qd.td", "gen-op-defs", file, &[&include])?;
    }
    Ok(())
}
