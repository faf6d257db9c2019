//! Where things are: the repository, the build outputs, the tools.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Where Debian's LLVM and MLIR 22 live; `.cargo/config.toml` says the same to the build.
pub const LLVM_PREFIX: &str = "/usr/lib/llvm-22";

/// Debian's own interpreter, which has Debian's NumPy; the first `python3` on the `PATH` may be
/// another.
pub const PYTHON: &str = "/usr/bin/python3";

/// A cargo profile that the tools are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// For tests: lightly optimised, quick to rebuild.
    Dev,
    /// For the demo and for measurements.
    Release,
}

impl Profile {
    /// The name of its folder in the target directory.
    fn folder(self) -> &'static str {
        match self {
            Profile::Dev => "debug",
            Profile::Release => "release",
        }
    }
}

/// The repository and its build outputs.
pub struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Finds the repository from this crate's manifest, and the target directory from where this
    /// binary lies, which is right whatever sets it: the environment, a user's configuration, a
    /// target triple.
    pub fn locate() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest
            .ancestors()
            .nth(2)
            .map(Path::to_path_buf)
            .unwrap_or_default();
        ensure!(
            root.join("tools/xtask/Cargo.toml").is_file(),
            "cannot find the repository from {}: run this as `cargo xtask`",
            manifest.display()
        );
        let binary = env::current_exe().context("cannot find this binary")?;
        let target = binary
            .ancestors()
            .nth(2)
            .map(Path::to_path_buf)
            .unwrap_or_default();
        Ok(Self { root, target })
    }

    /// The repository's top folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The target directory.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// A folder of that name in the target directory, without what an earlier run left.
    pub fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        emptied(self.target.join(name))
    }

    /// Where cargo puts binaries and shared libraries of a profile.
    pub fn bin_dir(&self, profile: Profile) -> PathBuf {
        self.target.join(profile.folder())
    }

    /// The names of all tools, sorted: the packages in `tools/` that make a program or a shared
    /// library, but for this one.
    ///
    /// A tool's folder, its package and its first program share one name.
    pub fn tools(&self) -> Result<Vec<String>> {
        let folder = self.root.join("tools");
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        let mut tools = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "xtask" && is_tool(&entry.path()) {
                tools.push(name);
            }
        }
        tools.sort();
        Ok(tools)
    }

    /// The names of the tools' programs and shared libraries, sorted: one of each, and the program that
    /// one becomes where it needs the compiler.
    pub fn programs(&self) -> Result<Vec<String>> {
        let mut programs = self.tools()?;
        let folder = self.root.join("tools");
        let becomes = |tool: &&String| folder.join(tool).join("src/compile/main.rs").is_file();
        let compilers: Vec<_> = programs.iter().filter(becomes).cloned().collect();
        programs.extend(compilers.into_iter().map(|tool| format!("{tool}-compile")));
        programs.sort();
        Ok(programs)
    }
}

/// Whether a folder holds a package that is linked; a library that the tools share is not.
fn is_tool(folder: &Path) -> bool {
    fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|manifest| {
        folder.join("src/main.rs").is_file() || manifest.contains("\"cdylib\"")
    })
}

/// A folder, made anew.
pub fn emptied(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot delete {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_tools_and_shared_code_is_not() {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(is_tool(xtask));
        assert!(!is_tool(&xtask.join("src")));
    }
}
