//! What else affects code, besides the module and the target.

use crate::{Format, machine};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Set to 1 it enables `spirv-val`.
pub const SPIRV_VAL: &str = "QD_SPIRV_VAL";
/// The path of LLVM's linker.
pub const LLD: &str = "QD_LLD";

/// What the linker is called, in a folder of `PATH` or in Debian's.
const LINKERS: [&str; 3] = ["ld.lld-22", "ld.lld", "/usr/lib/llvm-22/bin/ld.lld"];

/// Facts of the environment, so that compiling does not read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The machine that target `cpu` is.
    pub host: Host,
    /// Whether `spirv-val`, a program of the package spirv-tools, checks each SPIR-V module; its
    /// rejection is an error.
    pub validate_spirv: bool,
    /// LLVM's linker, `ld.lld`, which makes AMD's code objects; by default the one on `PATH` or
    /// Debian's.
    pub linker: Option<PathBuf>,
}

impl Options {
    /// This machine, and what the environment says: `QD_SPIRV_VAL=1`, `QD_LLD=PATH`.
    pub fn of_environment() -> Self {
        Self {
            host: Host::Here,
            validate_spirv: env::var_os(SPIRV_VAL).is_some_and(|value| value == "1"),
            linker: env::var_os(LLD).map(PathBuf::from),
        }
    }

    /// The options that affect code of a form, as text, with a hash of the linker, which takes part
    /// in making AMD's code. None if there is no linker.
    pub fn concerning(&self, code: Format) -> Option<String> {
        match code {
            Format::Object => Some(match &self.host {
                Host::Here => format!("here {}", machine::fingerprint()),
                Host::Named(machine) => {
                    let Machine {
                        triple,
                        cpu,
                        features,
                    } = machine;
                    format!("{triple} {cpu} {}", features.join(","))
                }
            }),
            Format::Ptx => Some(String::new()),
            // A module that it would reject is no result.
            Format::Spirv => Some(format!("validate={}", self.validate_spirv)),
            Format::Hsaco => self.linker_hash(),
        }
    }

    /// What the linker may be called. The first that there is is it.
    pub fn linkers(&self) -> Vec<&Path> {
        match &self.linker {
            Some(path) => vec![path.as_path()],
            None => LINKERS.iter().map(Path::new).collect(),
        }
    }

    /// What the linker is: a hash of the program. The libraries that it loads are not looked at. None if
    /// there is none.
    fn linker_hash(&self) -> Option<String> {
        static KNOWN: Mutex<BTreeMap<PathBuf, Option<String>>> = Mutex::new(BTreeMap::new());
        let found = self.linkers().into_iter().find_map(located)?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = known.entry(found).or_insert_with_key(|path| {
            let bytes = fs::read(path).ok()?;
            Some(format!("lld {}", blake3::hash(&bytes)))
        });
        hash.clone()
    }
}

/// As [`of_environment`](Options::of_environment): the environment is read when the options are
/// made, and not when something is compiled with them.
impl Default for Options {
    fn default() -> Self {
        Self::of_environment()
    }
}

/// Where a program is, as the system finds it.
fn located(name: &Path) -> Option<PathBuf> {
    let is_name = name.components().count() == 1;
    let folders = env::var_os("PATH").filter(|_| is_name);
    let all: Vec<PathBuf> = match &folders {
        Some(folders) => env::split_paths(folders).map(|f| f.join(name)).collect(),
        None => vec![name.into()],
    };
    all.into_iter().find(|path| path.is_file())
}

/// The machine that code is compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// The one that compiles. What that is LLVM says when something is compiled, and a
    /// [`fingerprint`](machine::fingerprint) tells it from others without LLVM.
    Here,
    /// Another.
    Named(Machine),
}

/// A machine, as LLVM spells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    /// `x86_64-pc-linux-gnu`.
    pub triple: String,
    /// `znver4`.
    pub cpu: String,
    /// What it has and what it lacks, each with its sign: `+avx2`, `-sse4a`.
    pub features: Vec<String>,
}
