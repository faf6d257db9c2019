//! `check-linkage`: each tool links LLVM and MLIR once, from the shared libraries.
//!
//! A crate feature is enough to link a second copy of LLVM, statically and silently. The two copies
//! then have a context, a pass registry and a set of targets each, and what is made by one crashes
//! the other.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::process;
use crate::workspace::{LLVM_PREFIX, Profile, Workspace};

/// Libraries: how their names begin, and the names.
type Wanted = &'static [(&'static str, &'static str)];

/// The libraries that a tool must load, each once.
const LIBRARIES: Wanted = &[
    ("libLLVM", "libLLVM.so.22.1"),
    ("libMLIR", "libMLIR.so.22.1"),
];

/// The tools that are to start without them.
const WITHOUT: &[&str] = &["qd-cache", "qd-run", "qd-translate"];

/// Functions that are in every copy of LLVM and MLIR, whatever else the linker dropped. A shared
/// library of ours hides its symbols, so there a copy shows by these alone.
const CORE: &[&str] = &[
    "llvm::LLVMContext::LLVMContext(",
    "llvm::PassRegistry::getPassRegistry(",
    "llvm::TargetRegistry::RegisterTarget(",
    "mlir::MLIRContext::MLIRContext(",
];

/// Checks all tools as built last; returns how many link them.
pub fn check(workspace: &Workspace, profile: Profile) -> Result<usize> {
    let folder = workspace.bin_dir(profile);
    let mut tools = workspace.programs()?;
    // The library for C, which has MLIR's C API in it and nothing of MLIR.
    tools.push("qd".into());
    // The extension of the Python package.
    tools.push("_core".into());
    let mut faults = Vec::new();
    for tool in &tools {
        match built(&folder, tool) {
            Some(binary) => {
                let wanted = if WITHOUT.contains(&&**tool) {
                    &[]
                } else {
                    LIBRARIES
                };
                faults.extend(faults_of(&binary, wanted)?);
            }
            None => faults.push(format!(
                "{tool} is not built in {}: run cargo build first",
                folder.display()
            )),
        }
    }
    if !faults.is_empty() {
        bail!(
            "{}\n  look at the features of inkwell (llvm22-1-prefer-dynamic), and in \
             .cargo/config.toml at MLIR_SYS_LINK_SHARED and the rpath",
            faults.join("\n")
        );
    }
    Ok(tools.len() - WITHOUT.len())
}

/// The tool's program or shared library.
fn built(folder: &Path, tool: &str) -> Option<PathBuf> {
    let library = format!("lib{}.so", tool.replace('-', "_"));
    [folder.join(tool), folder.join(library)]
        .into_iter()
        .find(|path| path.is_file())
}

fn faults_of(binary: &Path, wanted: Wanted) -> Result<Vec<String>> {
    let symbols = process::capture(
        Command::new(format!("{LLVM_PREFIX}/bin/llvm-nm"))
            .args(["--demangle", "--defined-only"])
            .arg(binary),
    )?;
    // Cargo lets us run with the toolchain's folders in the search path; a tool must start without
    // them.
    let loaded = process::capture(
        Command::new("ldd")
            .arg(binary)
            .env_remove("LD_LIBRARY_PATH"),
    )?;
    let name = binary.display();
    let faults = [own_llvm(&symbols), libraries(&loaded, wanted)].concat();
    Ok(faults
        .into_iter()
        .map(|fault| format!("{name}: {fault}"))
        .collect())
}

/// What nm's answer says of LLVM code inside the binary.
fn own_llvm(symbols: &str) -> Vec<String> {
    let own: Vec<&str> = symbols.lines().filter_map(own_symbol).collect();
    match own.first() {
        Some(first) => vec![format!(
            "holds {} functions of LLVM itself, {first} for one",
            own.len()
        )],
        None => Vec::new(),
    }
}

/// The symbol of a line `ADDRESS KIND NAME`, if it belongs to a copy of LLVM. Weak ones do not
/// count: they are templates and inline functions of its headers.
fn own_symbol(line: &str) -> Option<&str> {
    let (kind, name) = line.get(17..)?.split_once(' ')?;
    let exported = kind == "T" && name.starts_with("llvm::");
    let core = matches!(kind, "T" | "t") && CORE.iter().any(|core| name.starts_with(core));
    (exported || core).then_some(name)
}

/// What ldd's answer says of the libraries that are loaded.
fn libraries(loaded: &str, wanted: Wanted) -> Vec<String> {
    let names: Vec<&str> = loaded
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let mut faults = Vec::new();
    for (stem, _) in LIBRARIES {
        let wanted = wanted.iter().find(|(known, _)| known == stem);
        let found: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| name.starts_with(stem))
            .collect();
        match wanted {
            Some((_, wanted)) if found != [*wanted] => {
                faults.push(format!("loads {found:?}, not {wanted} once"));
            }
            None if !found.is_empty() => {
                faults.push(format!("loads {found:?}, and is to start without"));
            }
            _ => {}
        }
    }
    faults.extend(
        loaded
            .lines()
            .filter(|line| line.contains("not found"))
            .map(|line| line.trim().to_owned()),
    );
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_copy_shows() {
        let program = "0000000000001000 T llvm::Module::dump() const\n0000000000001000 W llvm::SmallVectorBase<>::size()";
        assert_eq!(own_llvm(program).len(), 1);
        let library = "0000000000001000 t llvm::LLVMContext::LLVMContext()";
        assert_eq!(own_llvm(library).len(), 1);
    }

    #[test]
    fn headers_and_our_own_code_do_not() {
        let ours = "0000000000001000 W llvm::SmallVectorBase<>::size()\n0000000000001000 t llvm::inner()\n\
                    0000000000001000 T mlir::qd::registerPasses()\n0000000000001000 T qd::makes(llvm::LLVMContext&)\n";
        assert_eq!(own_llvm(ours), Vec::<String>::new());
    }

    #[test]
    fn each_library_is_loaded_once() {
        let good = "\tlibLLVM.so.22.1 => /usr/lib/llvm-22/lib/libLLVM.so.22.1 (0x1)\n\tlibMLIR.so.22.1 => /x (0x2)\n";
        assert_eq!(libraries(good, LIBRARIES), Vec::<String>::new());
        assert_eq!(
            libraries("\tlibLLVM.so.22.1 => /x (0x1)\n", LIBRARIES).len(),
            1
        );
        let two = format!("{good}\tlibLLVM-14.so.1 => /y (0x3)\n");
        assert_eq!(libraries(&two, LIBRARIES).len(), 1);
        assert_eq!(libraries(good, &[]).len(), 2);
        assert_eq!(libraries("\tlibc.so.6 => /x (0x1)\n", &[]).len(), 0);
        assert_eq!(
            libraries(&good.replace("/x (0x2)", "not found"), LIBRARIES).len(),
            1
        );
    }
}
