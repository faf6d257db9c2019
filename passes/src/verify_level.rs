//! `qd-verify-level`: nothing is left that a level has lowered.
//!
//! One check at each border between stages, with the pass that should have
//! removed what it finds:
//!
//! | level | what may not be there any more |
//! |---|---|
//! | `algo` | what a body cannot hold (`verify_level/body.rs`), extents of dimensions that a buffer does not have, arithmetic that is too much for the host (`verify_level/host.rs`) |
//! | `grid` | and `qd.algo.*`, types and sizes that no target has (`verify_level/portable.rs`) |
//! | `plan` | and `qd.grid.phase`, `qd.grid.for_each` |
//! | `subgroup` | and wave-polymorphic ops, collectives without a tile, a module without `qd.wave` |
//!
//! With `expanded=true`, `subgroup` also rejects the collectives that
//! `qd-expand-collectives` expands where its `keep` names none.
//!
//! Limits: it looks at ops, not at what they compute; verifiers of the ops
//! themselves run after every pass anyway.
//!
//! Rejected at level `plan`:
//! ```mlir
//! qd.grid.phase blocks(%g) threads(256) { ... }
//! // error: 'qd.grid.phase' op does not belong at level 'plan': 'qd-plan-launches' removes it
//! ```

mod body;
mod host;
mod portable;

pub use portable::no_data;

use crate::{
    expand_collectives,
    expand_dims::{constant_dimension, rank},
    outline_phases, select_subgroup_size,
};
use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    interfaces::Collective,
    ir::{Op, OpExt},
    options,
    pass::Pass,
};
use std::{fmt, str::FromStr};

/// A level of the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Algorithms.
    Algo,
    /// Phases.
    Grid,
    /// Launches of outlined bodies.
    Plan,
    /// For one subgroup size.
    Subgroup,
}

const LEVELS: [(Level, &str); 4] = [
    (Level::Algo, "algo"),
    (Level::Grid, "grid"),
    (Level::Plan, "plan"),
    (Level::Subgroup, "subgroup"),
];

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = LEVELS.iter().find(|(level, _)| level == self);
        f.write_str(name.map_or("", |(_, name)| name))
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = LEVELS.iter().find(|(_, name)| *name == text);
        found.map(|(level, _)| *level).ok_or_else(|| match text {
            FORMER_SUBGROUP => format!("it is called '{}' now", Level::Subgroup),
            _ => "expected algo, grid, plan or subgroup".into(),
        })
    }
}

/// What the level `subgroup` was called.
pub const FORMER_SUBGROUP: &str = "tiled";

options! {
    /// Options of `qd-verify-level`.
    pub struct VerifyLevelOptions {
        /// algo, grid, plan or subgroup
        level: Level = Level::Grid,
        /// whether collectives are to be expanded as well, at level subgroup
        expanded: bool = false,
    }
}

/// The pass.
pub struct VerifyLevel;

impl Pass for VerifyLevel {
    type Options = VerifyLevelOptions;
    const NAME: &'static str = "qd-verify-level";
    const SUMMARY: &'static str = "Check that nothing is left of what a level has lowered";

    fn run<'c>(module: Op<'c>, options: &VerifyLevelOptions) -> Result<'c> {
        let level = options.level;
        if level >= Level::Subgroup && module.attr("qd.wave").is_none() {
            return Err(Diagnostic::at(
                module,
                format!("has no 'qd.wave' at level '{level}': 'qd-select-subgroup-size' sets it"),
            ));
        }
        let all = module.nested();
        // Below, the ops are ours.
        if level == Level::Grid {
            portable::verify(&all)?;
        }
        let mut errors: Vec<_> = all
            .into_iter()
            .filter_map(|op| {
                let message = match remover(op, level, options.expanded) {
                    Some(pass) => {
                        format!("does not belong at level '{level}': '{pass}' removes it")
                    }
                    None => body::misplaced(op).or_else(|| out_of_range(op))?,
                };
                Some(Diagnostic::at(op, message))
            })
            .collect();
        if level == Level::Algo {
            let kernels = outline_phases::kernels(module);
            errors.extend(kernels.into_iter().filter_map(host::too_much));
        }
        let last = errors.pop();
        errors.into_iter().for_each(Diagnostic::emit);
        last.map_or(Ok(()), Err)
    }
}

/// The pass that should have removed an op before a level.
fn remover(op: Op, level: Level, expanded: bool) -> Option<&'static str> {
    let name = op.full_name();
    match name {
        // Sizing ops are host arithmetic, and fold.
        "qd.algo.scratch_slots" => None,
        _ if level == Level::Algo => None,
        _ if name.starts_with("qd.algo.") => Some("qd-expand-algorithms"),
        "qd.grid.for_each" if level >= Level::Plan => Some("qd-expand-for-each"),
        "qd.grid.phase" if level >= Level::Plan => Some("qd-plan-launches"),
        "qd.simt.subgroup_size" | "qd.simt.log2_subgroup_size" if level >= Level::Subgroup => {
            Some("qd-select-subgroup-size")
        }
        "qd.simt.num_subgroups" | "qd.simt.block.dim"
            if level >= Level::Subgroup && is_in_body(op) =>
        {
            Some("qd-select-subgroup-size")
        }
        _ if expanded && level >= Level::Subgroup && expand_collectives::is_expandable(name) => {
            Some("qd-expand-collectives")
        }
        _ if level >= Level::Subgroup
            && Collective::of(op)
                .is_some_and(|c| c.supports_clusters && c.log2_cluster_size.is_none()) =>
        {
            Some("qd-select-subgroup-size")
        }
        _ => None,
    }
}

/// What is wrong with the dimension that a `memref.dim` asks for.
fn out_of_range(op: Op) -> Option<String> {
    let rank = op.is("memref.dim").then(|| rank(op))??;
    let at = constant_dimension(op)?;
    let is_there = usize::try_from(at).is_ok_and(|at| at < rank);
    (!is_there)
        .then(|| format!("asks for dimension {at} of a buffer that has {rank}, numbered from 0"))
}

fn is_in_body(op: Op) -> bool {
    let mut around = op.parent();
    while let Some(body) = around {
        if select_subgroup_size::threads_of(body).is_some() {
            return true;
        }
        around = body.parent();
    }
    false
}
