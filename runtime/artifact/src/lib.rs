//! Compiled kernels as plain data: modules of code, launch plans, reflection. The crate knows
//! no IR; lowering and runtimes share nothing else.

mod dtype;
mod expr;
mod file;
mod half;
mod join;
pub mod machine;
mod module;
mod options;
mod plan;
pub mod printing;
mod replace;
mod target;

pub use blake3::Hash;
pub use bytes::Bytes;
pub use dtype::Dtype;
pub use expr::{Comparison, EvalError, Expr, Operation, Values};
pub use file::{ALIGNMENT, FORMAT, FileError, MAGIC};
pub use module::{Body, Format, Module};
pub use options::{Host, LLD, Machine, Options, SPIRV_VAL};
pub use plan::{
    Access, Argument, ArgumentKind, BufferRef, Kernel, MOST_CONTROL, Operand, Plan, Requirements,
    Role, Site, Step, StepKind, Variant, View, prints, record,
};
pub use replace::replace;
pub use target::{TargetError, TargetSpec};

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Kernels compiled for some targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// The targets it was compiled for, as `--target=` spells them.
    pub targets: Vec<String>,
    /// The kernels, by name.
    pub kernels: Vec<Kernel>,
    /// Code for the devices.
    pub modules: Vec<Module>,
    /// For each target where in the source things are, unless that has been removed.
    /// They are for messages: execution does not depend on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origins>,
}

/// Source locations, for one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origins {
    /// What needs a feature, for those of which that is known, such as
    /// `arith.addf at k.mlir:3:4`.
    pub reasons: BTreeMap<String, String>,
    /// Where the sites of each kernel's plan are, such as `k.mlir:3:4`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sites: BTreeMap<String, Vec<String>>,
    /// Where the steps of each kernel's plan are that may have no value on the host, by their id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<String, BTreeMap<u64, String>>,
}

impl Origins {
    /// Everything that names a place.
    pub fn places(&mut self) -> impl Iterator<Item = &mut String> {
        let sites = self.sites.values_mut().flatten();
        let steps = self.steps.values_mut().flat_map(BTreeMap::values_mut);
        self.reasons.values_mut().chain(sites).chain(steps)
    }

    /// Whether it names none.
    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty() && self.sites.is_empty() && self.steps.is_empty()
    }

    /// Adds what another has of things that this one has nothing of.
    pub fn add(&mut self, other: Origins) {
        fn add<V>(all: &mut BTreeMap<String, V>, more: BTreeMap<String, V>) {
            for (name, value) in more {
                all.entry(name).or_insert(value);
            }
        }
        add(&mut self.reasons, other.reasons);
        add(&mut self.sites, other.sites);
        add(&mut self.steps, other.steps);
    }
}

impl Artifact {
    /// A kernel by name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|k| k.name == name)
    }

    /// Where things for one of its targets come from, as far as that is known.
    pub fn origins(&self, target: usize) -> Option<&Origins> {
        self.origins.get(target)
    }

    /// The lanes of the subgroups of the bodies for one of its targets, each number once.
    pub fn waves(&self, target: usize) -> BTreeSet<u32> {
        let modules = self.modules.iter().filter(|m| m.target == target);
        let bodies = modules.flat_map(|module| &module.bodies);
        bodies.map(|body| body.wave).collect()
    }
}
