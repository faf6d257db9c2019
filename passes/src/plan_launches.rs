//! `qd-plan-launches`: from phases to a graph of launches.
//!
//! Fuses phases (`qd-fuse-phases`), outlines each (`qd-outline-phases`), shares bodies
//! (`qd-share-bodies`), and gives each launch its dependencies: the launches that read or write
//! memory that it writes, or write memory that it reads, reduced transitively. Buffers passed as
//! different arguments do not overlap unless both have `qd.may_alias`; parts of one buffer
//! (`qd.grid.view`, ranges of `qd.grid.fill`) are distinguished where their bounds can be
//! compared. The body of a `do_while` or an `if` is planned by itself, and the op is one step of
//! the sequence around it. Steps that are no launches (`fill`, `do_while`, `if`, `dispatch`) are
//! barriers: everything before them ends before they begin, and they end before anything after
//! them begins.
//!
//! `print-plan` writes, for each kernel, its launches, their dependencies and why, and why
//! neighbouring phases are not fused, to standard error.
//!
//! Limits: memory that cannot be traced (a call, a memref carried through a region) counts as
//! read and written.
//!
//! Before:
//! ```mlir
//! qd.grid.phase "a" blocks(%g) threads(256) { READS(%x) WRITES(%y) }
//! qd.grid.phase "b" blocks(%g) threads(256) { READS(%x) WRITES(%z) }
//! qd.grid.phase "c" blocks(%g) threads(256) { READS(%y) WRITES(%z) }
//! ```
//! After:
//! ```mlir
//! qd.grid.launch 0 @k_a_0 blocks(%g) args(…)
//! qd.grid.launch 1 @k_b_1 blocks(%g) args(…)
//! qd.grid.launch 2 @k_c_2 blocks(%g) args(…) after [0, 1]
//! ```

use crate::{
    fuse_phases::{self, NotFused},
    outline_phases::{self, Names, id_of, set_order},
    plan::{
        access::{Accesses, Functions},
        hazard,
    },
    share_bodies,
};
use qd_dialects::{
    attributes::{self, names},
    diagnostic::Result,
    ir::{Op, OpExt},
    melior::dialect::DialectHandle,
    ops::grid,
    options,
    pass::{NoOptions, Pass},
};
use std::{collections::BTreeMap, fmt::Write};

options! {
    /// Options of `qd-plan-launches`.
    pub struct PlanOptions {
        /// write each kernel's plan to standard error
        print_plan: bool = false,
        /// fuse phases whose conflicts are within a thread into one launch
        fuse: bool = true,
        /// let launches that differ only in parameters share a body
        share: bool = true,
    }
}

/// The pass.
pub struct PlanLaunches;

impl Pass for PlanLaunches {
    type Options = PlanOptions;
    const NAME: &'static str = "qd-plan-launches";
    const SUMMARY: &'static str = "Turn the phases of a kernel into a graph of launches";

    fn dialects() -> Vec<DialectHandle> {
        outline_phases::OutlinePhases::dialects()
    }

    fn run<'c>(module: Op<'c>, options: &PlanOptions) -> Result<'c> {
        let kernels = outline_phases::kernels(module);
        let mut not_fused = Vec::new();
        let mut functions = Functions::default();
        for kernel in &kernels {
            not_fused.push(match options.fuse {
                true => fuse_phases::fuse(*kernel, &mut functions),
                false => Vec::new(),
            });
        }
        let mut names = Names::default();
        for kernel in &kernels {
            outline_phases::outline(*kernel, &mut names)?;
            outline_phases::number(*kernel);
        }
        if options.share {
            share_bodies::ShareBodies::run(module, &NoOptions)?;
        }
        let mut printed = String::new();
        // Bodies have been created and shared since.
        let mut functions = Functions::default();
        for (kernel, not_fused) in kernels.iter().zip(not_fused) {
            let mut lines = String::new();
            let bodies = bodies(*kernel);
            let mut accesses = Accesses::new(*kernel, &mut functions);
            order(*kernel, &mut accesses, 1, &bodies, &mut lines);
            printed += &title(*kernel, &bodies);
            printed += &lines;
            for NotFused { first, second, why } in not_fused {
                let _ = writeln!(
                    printed,
                    "  \"{first}\" and \"{second}\" are not one launch: {why}"
                );
            }
        }
        if options.print_plan {
            eprint!("{printed}");
        }
        Ok(())
    }
}

/// Sets the dependencies of each launch of a sequence, and of the sequences in it.
fn order<'c>(
    sequence: Op<'c>,
    accesses: &mut Accesses<'c>,
    depth: usize,
    bodies: &Bodies,
    lines: &mut String,
) {
    let planned = hazard::analyse(sequence, accesses);
    let indent = 2 * depth;
    for (place, step) in planned.steps.iter().enumerate() {
        if let Some(id) = id_of(*step) {
            let before = planned.launches[place].iter();
            let after: Vec<i64> = before.filter_map(|on| id_of(planned.steps[*on])).collect();
            set_order(*step, id, &after);
        }
        let shared = match grid::Launch::of(*step).and_then(|launch| bodies.get(&launch.body())) {
            Some(users) if *users > 1 => {
                format!(
                    ", \"{}\": {users} launches share this body",
                    text(*step, names::PHASE)
                )
            }
            _ => String::new(),
        };
        let _ = writeln!(lines, "{:indent$}{}{shared}", "", describe(*step));
        for wait in &planned.waits[place] {
            let on = describe(planned.steps[wait.on]);
            let _ = writeln!(lines, "{:indent$}    after {on}: {}", "", wait.why);
        }
        if outline_phases::is_sequence(*step) {
            order(*step, accesses, depth + 1, bodies, lines);
        }
    }
}

fn text(op: Op, name: &str) -> String {
    op.attr(name).and_then(attributes::text).unwrap_or_default()
}

fn describe(step: Op) -> String {
    match grid::Launch::of(step) {
        Some(launch) => format!("launch {} @{}", launch.id(), launch.body()),
        None => step.full_name().trim_start_matches(grid::PREFIX).into(),
    }
}

/// The bodies of a kernel's launches, and how many launches have each.
type Bodies = BTreeMap<String, usize>;

fn bodies(kernel: Op) -> Bodies {
    let mut bodies = Bodies::new();
    for launch in kernel.nested().into_iter().filter_map(grid::Launch::of) {
        *bodies.entry(launch.body()).or_default() += 1;
    }
    bodies
}

fn title(kernel: Op, bodies: &Bodies) -> String {
    format!(
        "plan of @{}: {} of {}\n",
        text(kernel, "sym_name"),
        count(bodies.values().sum(), "launch", "launches"),
        count(bodies.len(), "body", "bodies"),
    )
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
