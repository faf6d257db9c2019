//! `qd-plan-launches`: from phases to a graph of launches.
//!
//! Fuses phases (`qd-fuse-phases`), outlines each (`qd-outline-phases`), lets
//! bodies be shared (`qd-share-bodies`), and gives each launch the launches it truly depends on:
//! those that read or write memory it writes, or write memory it reads, without
//! those that others already wait for. Buffers passed as different arguments
//! do not overlap unless both carry `qd.may_alias`; parts of one buffer
//! (`qd.grid.view`, ranges of `qd.grid.fill`) are told apart where their bounds
//! can be compared. The body of a `do_while` or an `if` is planned by itself; the
//! whole is one step for what is around it. Steps that are no launches (`fill`,
//! `do_while`, `if`, `dispatch`) keep their place: everything before them ends before
//! they begin, and they end before anything after them begins.
//!
//! `print-plan` writes, for each kernel, its launches, what each waits for and
//! why, and why neighbours are not one launch, to standard error.
//!
//! Limits: what cannot be followed (a call, a memref carried through a region)
//! counts as read and written.
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
    fuse_phases::{self, Apart},
    outline_phases::{self, Names, id_of, set_order},
    plan::{
        access::{Accesses, Functions},
        hazard,
    },
    share_bodies,
};
use qd_dialects::{
    attributes,
    diagnostic::Result,
    ir::{Op, OpExt},
    melior::dialect::DialectHandle,
    options,
    pass::{NoOptions, Pass},
};
use std::{collections::BTreeMap, fmt::Write};

options! {
    /// Options of `qd-plan-launches`.
    pub struct PlanOptions {
        /// write each kernel's plan to standard error
        print_plan: bool = false,
        /// make one launch of phases whose conflicts are within a thread
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
    const SUMMARY: &'static str = "Make a graph of launches of a kernel's phases";

    fn dialects() -> Vec<DialectHandle> {
        outline_phases::OutlinePhases::dialects()
    }

    fn run<'c>(module: Op<'c>, options: &PlanOptions) -> Result<'c> {
        let kernels = outline_phases::kernels(module);
        let mut apart = Vec::new();
        let mut functions = Functions::default();
        for kernel in &kernels {
            apart.push(match options.fuse {
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
        // Bodies have been made and shared since.
        let mut functions = Functions::default();
        for (kernel, apart) in kernels.iter().zip(apart) {
            let mut lines = String::new();
            let bodies = bodies(*kernel);
            let mut accesses = Accesses::new(*kernel, &mut functions);
            order(*kernel, &mut accesses, 1, &bodies, &mut lines);
            printed += &title(*kernel, &bodies);
            printed += &lines;
            for Apart { first, second, why } in apart {
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

/// Sets what each launch of a sequence waits for, and of the sequences in it.
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
        let shared = match body_of(*step).and_then(|body| bodies.get(&body)) {
            Some(users) if *users > 1 => {
                format!(
                    ", \"{}\": {users} launches share this body",
                    text(*step, "qd.phase")
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

fn body_of(step: Op) -> Option<String> {
    step.attr("body").and_then(attributes::symbol_name)
}

fn describe(step: Op) -> String {
    match (step.full_name(), body_of(step)) {
        ("qd.grid.launch", Some(body)) => {
            format!("launch {} @{body}", id_of(step).unwrap_or_default())
        }
        (name, _) => name.trim_start_matches("qd.grid.").to_string(),
    }
}

/// The bodies of a kernel's launches, and how many launches have each.
type Bodies = BTreeMap<String, usize>;

fn bodies(kernel: Op) -> Bodies {
    let mut bodies = Bodies::new();
    for op in kernel.nested() {
        if op.is("qd.grid.launch")
            && let Some(body) = body_of(op)
        {
            *bodies.entry(body).or_default() += 1;
        }
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
