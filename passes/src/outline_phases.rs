//! `qd-outline-phases`: each phase's body becomes a function, and the phase a
//! launch of it.
//!
//! A body is a private `func.func` with the attribute `qd.threads`. Its arguments are the values
//! that the phase captures, in order of first use; constants are cloned into it instead. Launches
//! are numbered in program order, and each waits for the one before it: `qd-plan-launches` finds
//! the real dependencies. `qd.phase` keeps the phase's name, and a phase's `qd.blocks_per_core`
//! (its occupancy: blocks per SM or CU) is copied to its body.
//!
//! Limits: a `for_each` or an algorithm is an error; expand them first.
//!
//! Before:
//! ```mlir
//! qd.grid.kernel @k(%a: memref<?xf32>, %g: index) {
//!   qd.grid.phase "clear" blocks(%g) threads(256) { BODY(%a) }
//! }
//! ```
//! After:
//! ```mlir
//! func.func private @k_clear_0(%a: memref<?xf32>) attributes {qd.threads = 256 : i64} { BODY(%a) return }
//! qd.grid.kernel @k(%a: memref<?xf32>, %g: index) {
//!   qd.grid.launch 0 @k_clear_0 blocks(%g) args(%a : memref<?xf32>)
//! }
//! ```

use qd_dialects::{
    attributes::{self, names},
    clone::Mapping,
    diagnostic::{Diagnostic, Result},
    ir::{
        self, InsertionPoint, Key, Op, OpExt, Value, ValueExt, block_key, context_of, operations,
    },
    melior::{
        dialect::DialectHandle,
        ir::{
            Attribute, Region, RegionLike, Type, ValueLike, attribute::TypeAttribute,
            r#type::FunctionType,
        },
    },
    ops::{algo, grid},
    pass::{NoOptions, Pass},
};
use std::collections::{HashMap, HashSet};

/// The pass.
pub struct OutlinePhases;

impl Pass for OutlinePhases {
    type Options = NoOptions;
    const NAME: &'static str = "qd-outline-phases";
    const SUMMARY: &'static str = "Outline each phase's body to a function, and launch it";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::arith(), DialectHandle::func()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let mut names = Names::default();
        for kernel in kernels(module) {
            outline(kernel, &mut names)?;
            number(kernel);
        }
        Ok(())
    }
}

/// All kernels at or below an op.
pub fn kernels<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let mut all = op.walk_all();
    all.retain(|op| op.is(grid::Kernel::NAME));
    all
}

/// Whether an op is a step of a kernel.
pub fn is_step(op: Op) -> bool {
    const STEPS: [&str; 7] = [
        grid::Phase::NAME,
        grid::ForEach::NAME,
        grid::DoWhile::NAME,
        grid::If::NAME,
        grid::Launch::NAME,
        grid::Fill::NAME,
        grid::Dispatch::NAME,
    ];
    let name = op.full_name();
    name.starts_with(algo::PREFIX) || STEPS.contains(&name)
}

/// Whether a step is a sequence of steps itself: a loop or an `if`.
pub fn is_sequence(step: Op) -> bool {
    step.is(grid::DoWhile::NAME) || step.is(grid::If::NAME)
}

/// The steps of a kernel or of a sequence in it, in program order.
pub fn steps<'c>(sequence: Op<'c>) -> Vec<Op<'c>> {
    let mut all = sequence.body().map(operations).unwrap_or_default();
    all.retain(|op| is_step(*op));
    all
}

/// Outlines every phase of a kernel.
pub fn outline<'c>(kernel: Op<'c>, names: &mut Names) -> Result<'c> {
    let mut phases = 0;
    for op in kernel.nested() {
        if op.is(grid::Phase::NAME) {
            outline_phase(kernel, op, phases, names)?;
            phases += 1;
        } else if op.is(grid::ForEach::NAME) {
            return Err(Diagnostic::at(
                op,
                "has to become a phase first: run qd-expand-for-each",
            ));
        } else if op.full_name().starts_with(algo::PREFIX) && is_step(op) && op.result_count() == 0
        {
            return Err(Diagnostic::at(
                op,
                "has to be expanded into phases first: run qd-to-grid",
            ));
        }
    }
    Ok(())
}

fn outline_phase<'c>(kernel: Op<'c>, phase: Op<'c>, index: usize, names: &mut Names) -> Result<'c> {
    let context = context_of(phase);
    let location = phase.location();
    let Some(body) = phase.body() else {
        return Err(Diagnostic::at(phase, "has no body"));
    };
    let (constants, captured) = captures(phase);
    let types: Vec<Type<'c>> = captured.iter().map(|v| v.r#type()).collect();

    let name = names.body(kernel, phase, index);
    let region = Region::new();
    region.append_block(ir::new_block(&types, location));
    let function = InsertionPoint::Before(kernel).insert(ir::build(
        "func.func",
        location,
        &[],
        &[],
        &[
            ("sym_name", attributes::string(context, &name)),
            (
                "function_type",
                TypeAttribute::new(FunctionType::new(context, &types, &[]).into()).into(),
            ),
            ("sym_visibility", attributes::string(context, "private")),
            (
                names::THREADS,
                phase
                    .attr("threads")
                    .unwrap_or_else(|| attributes::i64(context, 256)),
            ),
        ],
        vec![region],
    ));
    let Some(entry) = function.body() else {
        return Err(Diagnostic::at(phase, "could not be outlined"));
    };

    for name in [names::BLOCKS_PER_CORE, names::WAVE] {
        if let Some(value) = phase.attr(name) {
            function.set_attr(name, value);
        }
    }

    let at = InsertionPoint::End(entry);
    let mut inside = Mapping::new();
    for constant in constants {
        inside.clone_op(constant, at);
    }
    for (from, to) in captured.iter().zip(ir::arguments(entry)) {
        inside.insert(*from, to);
    }
    for op in operations(body) {
        op.move_to(at);
        for inner in op.walk_all() {
            for (index, operand) in inner.operand_values().into_iter().enumerate() {
                if let Some(to) = inside.find(operand) {
                    inner.set_operand_at(index, to);
                }
            }
        }
    }
    at.insert(ir::build(
        "func.return",
        location,
        &[],
        &[],
        &[],
        Vec::new(),
    ));

    let mut operands = vec![grid::Phase::cast(phase).blocks()];
    operands.extend(captured);
    InsertionPoint::Before(phase).insert(ir::build(
        grid::Launch::NAME,
        location,
        &operands,
        &[],
        &launch_attributes(context, &name, phase),
        Vec::new(),
    ));
    phase.erase();
    Ok(())
}

fn launch_attributes<'c>(
    context: &'c ir::Context,
    body: &str,
    phase: Op<'c>,
) -> Vec<(&'static str, Attribute<'c>)> {
    let mut named = vec![
        ("id", attributes::i64(context, 0)),
        ("body", attributes::symbol(context, body)),
        ("after", attributes::i64_array(context, &[])),
    ];
    if let Some(name) = phase.attr("name") {
        named.push((names::PHASE, name));
    }
    named
}

/// The values that a phase captures, in order of first use: the constants, and all others.
pub(crate) fn captures<'c>(phase: Op<'c>) -> (Vec<Op<'c>>, Vec<Value<'c>>) {
    let inner: HashSet<Key> = phase.nested().into_iter().map(OpExt::key).collect();
    let mut blocks = HashSet::new();
    for op in phase.walk_all() {
        for region in 0..op.region_count() {
            let mut block = op.region_block(region);
            while let Some(current) = block {
                blocks.insert(block_key(current));
                block = current.next_in_region();
            }
        }
    }
    let is_inside = |value: Value<'c>| match value.defining_op() {
        Some(op) => inner.contains(&op.key()),
        None => value
            .block_argument()
            .is_some_and(|(block, _)| blocks.contains(&block_key(block))),
    };
    let (mut constants, mut captured) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for value in phase.nested().into_iter().flat_map(OpExt::operand_values) {
        if is_inside(value) || !seen.insert(value.key()) {
            continue;
        }
        match value.defining_op() {
            Some(op) if ir::is_constant(op) => constants.push(op),
            _ => captured.push(value),
        }
    }
    (constants, captured)
}

/// A name as every target can spell it.
pub(crate) fn plain(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect()
}

/// The names that symbols have in the modules around kernels, looked up once.
#[derive(Default)]
pub struct Names(HashMap<Key, HashSet<String>>);

impl Names {
    /// `<kernel>_<phase>_<index>`, with a further number if that is taken.
    fn body<'c>(&mut self, kernel: Op<'c>, phase: Op<'c>, index: usize) -> String {
        let text = |op: Op<'c>, name: &str| op.attr(name).and_then(attributes::text);
        let kernel_name = plain(&text(kernel, "sym_name").unwrap_or_default());
        let phase_name = text(phase, "name").map_or_else(|| "phase".into(), |name| plain(&name));
        let module = kernel.parent();
        let taken = self.0.entry(module.unwrap_or(kernel).key());
        let taken = taken.or_insert_with(|| {
            let all = module.and_then(OpExt::body).map(operations);
            let all = all.unwrap_or_default().into_iter();
            all.filter_map(|op| text(op, "sym_name")).collect()
        });
        let base = format!("{kernel_name}_{phase_name}_{index}");
        let mut name = base.clone();
        for again in 1.. {
            if taken.insert(name.clone()) {
                break;
            }
            name = format!("{base}_{again}");
        }
        name
    }
}

/// Numbers the launches of a kernel in program order; each waits for the one
/// before it in its sequence.
pub fn number(kernel: Op) {
    fn sequence(op: Op, next: &mut i64) {
        let mut last = None;
        for step in steps(op) {
            if step.is(grid::Launch::NAME) {
                set_order(step, *next, last.as_slice());
                last = Some(*next);
                *next += 1;
            } else if is_sequence(step) {
                sequence(step, next);
            }
        }
    }
    sequence(kernel, &mut 0);
}

/// Sets the number of a launch and its dependencies.
pub fn set_order(launch: Op, id: i64, after: &[i64]) {
    let context = context_of(launch);
    launch.set_attr("id", attributes::i64(context, id));
    launch.set_attr("after", attributes::i64_array(context, after));
}

/// The number of a launch; nothing for any other step.
pub fn id_of(step: Op) -> Option<i64> {
    grid::Launch::of(step).map(grid::Launch::id)
}
