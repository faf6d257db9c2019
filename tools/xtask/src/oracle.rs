//! The AMD oracle: AMD's targets on the CPU, behind a fake HIP runtime.
//!
//! It executes code objects from AMD's pseudocode, instruction by instruction. Nothing here is about a
//! GPU: a person who has one names its HIP library by `QD_HIP_LIBRARY`, and then all of this is left out.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, bail, ensure};

use crate::environment::Environment;
use crate::process;
use crate::suite::Report;
use crate::workspace::{LLVM_PREFIX, Workspace, emptied};

/// What the names of AMD's targets begin with, as --target of the tools spells them.
pub const PREFIX: &str = "amdgpu:";

/// Architectures that the oracle executes, with the waves that each has.
pub const ARCHITECTURES: &[(&str, &[u32])] = &[
    ("gfx942", &[64]),
    ("gfx1100", &[32, 64]),
    ("gfx1201", &[32, 64]),
];

/// The runtime looks for HIP where this says.
const LIBRARY: &str = "QD_HIP_LIBRARY";

/// The file to which each launch appends what it has executed.
const COVERAGE: &str = "QD_AMD_ORACLE_COVERAGE";

/// An architecture at one of its waves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// As LLVM calls it.
    pub architecture: String,
    /// Lanes in a wave.
    pub wave: u32,
    /// Whether lowerings are those that are usual, and not searched for.
    pub is_fixed: bool,
}

impl Chip {
    /// As in "gfx1100 w32".
    pub fn name(&self) -> String {
        format!("{} w{}", self.architecture, self.wave)
    }

    /// The target's name.
    pub fn target(&self) -> String {
        let fixed = if self.is_fixed { ",fixed" } else { "" };
        format!("{PREFIX}{},wave={}{fixed}", self.architecture, self.wave)
    }
}

/// Every architecture at every wave.
pub fn all() -> Vec<Chip> {
    let waves = |(name, waves): &(&str, &[u32])| {
        let chip = |wave: &u32| Chip {
            architecture: (*name).to_owned(),
            wave: *wave,
            is_fixed: false,
        };
        waves.iter().map(chip).collect::<Vec<_>>()
    };
    ARCHITECTURES.iter().flat_map(waves).collect()
}

/// What a target's name stands for: one chip, or one at each wave that it has.
pub fn chips(target: &str) -> Result<Vec<Chip>> {
    let name = target.strip_prefix(PREFIX).unwrap_or(target);
    let (architecture, options) = name.split_once(',').unwrap_or((name, ""));
    let of_it = |chip: &Chip| chip.architecture == architecture;
    let mut chips: Vec<Chip> = all().into_iter().filter(of_it).collect();
    let names: Vec<&str> = ARCHITECTURES.iter().map(|(name, _)| *name).collect();
    ensure!(
        !chips.is_empty(),
        "code for '{architecture}' cannot be executed here: the oracle executes that for {}. To run it on a \
         GPU, name its HIP library: {LIBRARY}=/opt/rocm/lib/libamdhip64.so",
        names.join(", ")
    );
    for option in options.split(',').filter(|option| !option.is_empty()) {
        if option == "fixed" {
            chips.iter_mut().for_each(|chip| chip.is_fixed = true);
            continue;
        }
        let Some(wave) = option.strip_prefix("wave=") else {
            bail!(
                "'{option}' is not an option of AMD's targets: they have wave=32, wave=64 or fixed"
            );
        };
        let waves: Vec<String> = chips.iter().map(|chip| chip.wave.to_string()).collect();
        chips.retain(|chip| chip.wave.to_string() == wave);
        ensure!(
            !chips.is_empty(),
            "{architecture} has no waves of {wave} lanes, but of {}",
            waves.join(" or ")
        );
    }
    Ok(chips)
}

/// Whether a person has a HIP library of their own, and so a GPU.
pub fn is_replaced() -> bool {
    env::var_os(LIBRARY).is_some_and(|path| !path.is_empty())
}

/// What has been made for it, in the target directory.
pub struct Oracle {
    sources: PathBuf,
    folder: PathBuf,
    python: PathBuf,
}

impl Oracle {
    /// Where it is; nothing need be there yet.
    fn of(workspace: &Workspace) -> Self {
        Self {
            sources: workspace.root().join("tools/amd-oracle"),
            folder: workspace.target().join("amd-oracle"),
            python: Environment::of_oracle(workspace).python(),
        }
    }

    /// Makes what is missing or older than its sources.
    pub fn prepare(workspace: &Workspace) -> Result<Self> {
        Environment::of_oracle(workspace).install()?;
        let oracle = Self::of(workspace);
        oracle.build("libamdhip64.so.6", &["", "engine"])?;
        Ok(oracle)
    }

    /// The Python that has the pinned wheel.
    fn python(&self) -> &Path {
        &self.python
    }

    /// An empty file for what launches on a chip execute.
    pub fn coverage_file(&self, chip: &Chip) -> Result<PathBuf> {
        let folder = self.folder.join("coverage");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let file = folder.join(format!("{}-{}.jsonl", chip.architecture, chip.wave));
        fs::write(&file, "").with_context(|| format!("cannot write {}", file.display()))?;
        Ok(file)
    }

    /// A folder for what a run makes, without what an earlier one left.
    pub fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        emptied(self.folder.join(name))
    }

    /// A call of the package's command line.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.python());
        command
            .current_dir(&self.sources)
            .env("QD_AMD_ORACLE_CACHE", self.folder.join("cache"))
            .args(["-m", "amd_oracle"])
            .args(arguments);
        command
    }

    /// What launches have executed, by what they appended to a file: "312 instructions, 5,100,000 times".
    pub fn coverage(&self, file: &Path) -> Result<String> {
        let file = file.to_string_lossy();
        let counts = process::capture(&mut self.command(&["coverage", "--brief", &file]))?;
        Ok(counts.trim().to_owned())
    }

    /// Makes what a command runs on HIP run here, on an architecture. Each launch appends what it has
    /// executed to `coverage`.
    pub fn select(&self, command: &mut Command, architecture: &str, coverage: &Path) {
        command
            .env(LIBRARY, self.folder.join("libamdhip64.so.6"))
            .env("QD_FAKE_HIP_ARCH", architecture)
            // The tests take small sizes then.
            .env("QD_SIMULATED", "1")
            .env("QD_AMD_ORACLE", &self.sources)
            .env("QD_AMD_ORACLE_PYTHON", self.python())
            .env("QD_AMD_ORACLE_CACHE", self.folder.join("cache"))
            .env(COVERAGE, coverage)
            // What a run of the tests finds must not depend on the one before it.
            .env("QD_CACHE_DIR", "");
    }

    /// Compiles the C files of these folders to a library, if one of them is newer than it.
    fn build(&self, name: &str, folders: &[&str]) -> Result<()> {
        let library = self.folder.join(name);
        let mut files = Vec::new();
        for folder in folders {
            files.extend(sources_in(&self.sources.join(folder))?);
        }
        files.sort();
        if let Ok(made) = fs::metadata(&library).and_then(|data| data.modified())
            && !is_any_newer(&files, made)?
        {
            return Ok(());
        }
        // As a whole: other processes may be using what is there.
        let new = library.with_extension("new");
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"])
            .args(["-pthread", &format!("-Wl,-soname,{name}")])
            .args(files.iter().filter(|file| is_c(file)))
            .arg("-o")
            .arg(&new)
            .args(["-ldl", "-lm"]);
        process::run(&mut cc)?;
        fs::rename(&new, &library).with_context(|| format!("cannot make {}", library.display()))
    }
}

/// Runs the oracle's own tests.
pub fn test(workspace: &Workspace) -> Result<Report> {
    let oracle = Oracle::prepare(workspace)?;
    oracle.build("liboracle.so", &["engine"])?;
    let mut command = Command::new(oracle.python());
    command
        .current_dir(&oracle.sources)
        .env("QD_AMD_ORACLE_CACHE", oracle.folder.join("cache"))
        .env("QD_AMD_ORACLE_LIBRARY", oracle.folder.join("liboracle.so"))
        .env("LLVM_BIN", format!("{LLVM_PREFIX}/bin"))
        .args(["-m", "unittest", "discover", "-t", ".", "-s", "tests"]);
    let (output, status) = process::collect(&mut command)?;
    print!("{output}");
    let ran = output.lines().find(|line| line.starts_with("Ran "));
    Ok(Report {
        passed: status.success(),
        counts: ran.unwrap_or_default().to_lowercase(),
    })
}

fn is_c(file: &Path) -> bool {
    file.extension().is_some_and(|name| name == "c")
}

/// C files and headers of a folder.
fn sources_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = folder
        .read_dir()
        .with_context(|| format!("cannot list {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if is_c(&path) || path.extension().is_some_and(|name| name == "h") {
            files.push(path);
        }
    }
    Ok(files)
}

fn is_any_newer(files: &[PathBuf], than: SystemTime) -> Result<bool> {
    for file in files {
        if fs::metadata(file)?.modified()? > than {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(name: &str) -> Vec<String> {
        chips(name).unwrap().iter().map(Chip::target).collect()
    }

    #[test]
    fn a_target_is_a_chip_at_a_wave_or_at_each() {
        assert_eq!(targets("amdgpu:gfx942"), ["amdgpu:gfx942,wave=64"]);
        assert_eq!(
            targets("amdgpu:gfx1100"),
            ["amdgpu:gfx1100,wave=32", "amdgpu:gfx1100,wave=64"]
        );
        assert_eq!(
            targets("amdgpu:gfx1201,wave=32"),
            ["amdgpu:gfx1201,wave=32"]
        );
        assert_eq!(
            targets("amdgpu:gfx942,fixed"),
            ["amdgpu:gfx942,wave=64,fixed"]
        );
        assert_eq!(all().len(), 5);
    }

    #[test]
    fn what_cannot_be_executed_is_an_error_that_says_what_can() {
        let error = |name: &str| chips(name).unwrap_err().to_string();
        let text = error("amdgpu:gfx90a");
        assert!(text.starts_with("code for 'gfx90a' cannot be"), "{text}");
        assert!(text.contains("gfx942, gfx1100, gfx1201"), "{text}");
        assert_eq!(
            error("amdgpu:gfx942,wave=32"),
            "gfx942 has no waves of 32 lanes, but of 64"
        );
        assert!(error("amdgpu:gfx942,lanes=3").starts_with("'lanes=3' is not an option"));
    }
}
