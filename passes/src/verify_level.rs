//! `qd-verify-level`: a level holds no op that an earlier pass should have removed.
//!
//! One check after the passes of each level, whose error names the pass that should have removed the
//! op:
//!
//! | level | illegal |
//! |---|---|
//! | `algo` | ops that a body cannot hold (`verify_level/body.rs`), extents of dimensions that a buffer does not have, too much host arithmetic (`verify_level/host.rs`) |
//! | `grid` | and `qd.algo.*`, types and sizes that no target has (`verify_level/portable.rs`) |
//! | `plan` | and `qd.grid.phase`, `qd.grid.for_each` |
//! | `subgroup` | and wave-polymorphic ops, collectives without a tile, bodies without `qd.wave` |
//!
//! With `expanded=true`, `subgroup` also rejects the collectives that
//! `qd-expand-collectives` expands for a target that has none.
//!
//! Limits: it checks which ops there are, not their results; the ops' own verifiers run after every
//! pass anyway.
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
    expand_prints::{PRINT, unprintable},
    outline_phases, select_subgroup_size,
};
use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    interfaces::Collective,
    ir::{Op, OpExt},
    ops::{algo, grid, simt},
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

/// The former name of the level `subgroup`.
pub const FORMER_SUBGROUP: &str = "tiled";

options! {
    /// Options of `qd-verify-level`.
    pub struct VerifyLevelOptions {
        /// algo, grid, plan or subgroup
        level: Level = Level::Grid,
        /// whether, at level subgroup, collectives have been expanded as well
        expanded: bool = false,
    }
}

/// The pass.
pub struct VerifyLevel;

impl Pass for VerifyLevel {
    type Options = VerifyLevelOptions;
    const NAME: &'static str = "qd-verify-level";
    const SUMMARY: &'static str = "Check that a level holds no op that an earlier pass removes";

    fn run<'c>(module: Op<'c>, options: &VerifyLevelOptions) -> Result<'c> {
        let level = options.level;
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
                    None => body::misplaced(op)
                        .or_else(|| op.is(PRINT).then(|| unprintable(op)).flatten())
                        .or_else(|| out_of_range(op))
                        .or_else(|| without_wave(op, level))?,
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
        algo::ScratchSlots::NAME => None,
        _ if level == Level::Algo => None,
        _ if name.starts_with(algo::PREFIX) => Some("qd-expand-algorithms"),
        grid::ForEach::NAME if level >= Level::Plan => Some("qd-expand-for-each"),
        grid::Phase::NAME if level >= Level::Plan => Some("qd-plan-launches"),
        simt::SubgroupSize::NAME | simt::Log2SubgroupSize::NAME if level >= Level::Subgroup => {
            Some("qd-select-subgroup-size")
        }
        simt::NumSubgroups::NAME | simt::BlockDim::NAME
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

/// What is wrong with a body at a level where its subgroup size has been chosen.
fn without_wave(op: Op, level: Level) -> Option<String> {
    let is_without = level >= Level::Subgroup
        && select_subgroup_size::threads_of(op).is_some()
        && select_subgroup_size::wave_at(op).is_none();
    is_without
        .then(|| format!("has no 'qd.wave' at level '{level}': 'qd-select-subgroup-size' sets it"))
}

/// The error of a `memref.dim` whose dimension does not exist.
fn out_of_range(op: Op) -> Option<String> {
    let rank = op.is("memref.dim").then(|| rank(op))??;
    let at = constant_dimension(op)?;
    let is_there = usize::try_from(at).is_ok_and(|at| at < rank);
    (!is_there)
        .then(|| format!("takes dimension {at} of a buffer that has {rank}, numbered from 0"))
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
