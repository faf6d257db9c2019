//! Options that affect the code, besides the module and the target.

use crate::targets::{Kind, Target};
use inkwell::targets::TargetMachine;
use std::{env, path::PathBuf};

/// Set to 1 it enables `spirv-val`.
pub(crate) const SPIRV_VAL: &str = "QD_SPIRV_VAL";
/// The path of LLVM's linker.
pub(crate) const LLD: &str = "QD_LLD";

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
            host: Host::here(),
            validate_spirv: env::var_os(SPIRV_VAL).is_some_and(|value| value == "1"),
            linker: env::var_os(LLD).map(PathBuf::from),
        }
    }

    /// The options that affect the code for a target, as text. None if more than a module and these
    /// options affect it, because an external program takes part in making it.
    pub fn concerning(&self, target: &Target) -> Option<String> {
        match target.capabilities.kind {
            Kind::Host => {
                let Host {
                    triple,
                    cpu,
                    features,
                } = &self.host;
                Some(format!("{triple} {cpu} {}", features.join(",")))
            }
            Kind::Nvptx(_) => Some(String::new()),
            // A module that it would reject is no result.
            Kind::Spirv(_) => Some(format!("validate={}", self.validate_spirv)),
            // LLD.
            Kind::Amdgpu(_) => None,
        }
    }
}

/// As [`of_environment`](Options::of_environment): the environment is read when the options are
/// made, and not when something is compiled with them.
impl Default for Options {
    fn default() -> Self {
        Self::of_environment()
    }
}

/// A machine, as LLVM spells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// `x86_64-pc-linux-gnu`.
    pub triple: String,
    /// `znver4`.
    pub cpu: String,
    /// What it has and what it lacks, each with its sign: `+avx2`, `-sse4a`.
    pub features: Vec<String>,
}

impl Host {
    /// The machine that this runs on.
    pub fn here() -> Self {
        let features = TargetMachine::get_host_cpu_features();
        let features = features.to_string_lossy();
        let features = features.split(',').filter(|feature| !feature.is_empty());
        let mut features: Vec<_> = features.map(str::to_owned).collect();
        features.sort();
        let triple = TargetMachine::get_default_triple();
        Self {
            triple: triple.as_str().to_string_lossy().into_owned(),
            cpu: TargetMachine::get_host_cpu_name()
                .to_string_lossy()
                .into_owned(),
            features,
        }
    }
}
