//! Compilation as data: what it is asked.

use crate::source::Source;
use qd_artifact::{Options, TargetSpec};

/// Everything that determines an artifact: compiling it reads no files and no environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileRequest {
    /// The source.
    pub source: Source,
    /// The targets, at least one. Their devices need not be present. The artifact has the targets in
    /// this order, each once, and a device uses the first that it can run.
    pub targets: Vec<TargetSpec>,
    /// The names of the kernels to compile, together with those that they dispatch to; `None` for
    /// all.
    pub kernels: Option<Vec<String>>,
    /// The other options.
    pub options: Options,
}

impl CompileRequest {
    /// All kernels of a text, for one target.
    pub fn of_text(text: &str, target: TargetSpec) -> Self {
        Self {
            source: Source::text("<source>", text),
            targets: vec![target],
            ..Self::default()
        }
    }
}

/// Each target once.
pub fn distinct(targets: &[TargetSpec]) -> Vec<&TargetSpec> {
    let mut distinct: Vec<&TargetSpec> = Vec::new();
    for target in targets {
        if !distinct.contains(&target) {
            distinct.push(target);
        }
    }
    distinct
}
