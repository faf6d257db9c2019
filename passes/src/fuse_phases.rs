//! `qd-fuse-phases`: neighbouring phases become one where no thread needs what
//! another one did.
//!
//! A launch costs microseconds and a trip through memory. Two phases that follow
//! each other in a kernel, in a loop or in an `if` become one if they have the same grid
//! and block size and every conflict between them is within one thread: each
//! buffer that one writes and the other touches is accessed by plain loads and
//! stores at the element that the thread owns, `tile · threads + thread_id`,
//! where the tile is the block's number or goes from there in strides of the
//! grid. The second phase's body is put behind the first's, in the same thread.
//!
//! Limits: any other access to a buffer in conflict keeps phases apart, and so
//! do atomics, fences between blocks and calls in either, shared memory in both,
//! and any step that stands between them. Loops of fused bodies stay two loops.
//!
//! Before:
//! ```mlir
//! qd.grid.phase "a" blocks(%g) threads(256) { %i = ELEMENT  WRITES(%x[%i]) }
//! qd.grid.phase "b" blocks(%g) threads(256) { %i = ELEMENT  READS(%x[%i]) }
//! ```
//! After:
//! ```mlir
//! qd.grid.phase "a+b" blocks(%g) threads(256) { WRITES(%x[%i])  READS(%x[%i]) }
//! ```

use crate::{
    outline_phases::{is_sequence, kernels, steps},
    plan::access::Accesses,
};
use qd_dialects::{
    attributes,
    diagnostic::Result,
    ir::{InsertionPoint, Op, OpExt, Value, ValueExt, context_of, operations},
    melior::ir::BlockLike,
    pass::{NoOptions, Pass},
};

/// The pass.
pub struct FusePhases;

impl Pass for FusePhases {
    type Options = NoOptions;
    const NAME: &'static str = "qd-fuse-phases";
    const SUMMARY: &'static str =
        "Make one phase of neighbours whose conflicts are within a thread";

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        for kernel in kernels(module) {
            fuse(kernel);
        }
        Ok(())
    }
}

/// Two phases that stay apart, and why.
pub struct Apart {
    /// The first phase's name.
    pub first: String,
    /// The second's.
    pub second: String,
    /// Why they are not one.
    pub why: String,
}

/// Fuses the phases of a kernel and of the sequences in it.
pub fn fuse(kernel: Op) -> Vec<Apart> {
    let mut apart = Vec::new();
    let mut accesses = Accesses::new(kernel);
    fuse_sequence(kernel, &mut accesses, &mut apart);
    apart
}

fn fuse_sequence<'c>(sequence: Op<'c>, accesses: &mut Accesses<'c>, apart: &mut Vec<Apart>) {
    let mut last: Option<Op<'c>> = None;
    for step in steps(sequence) {
        if is_sequence(step) {
            fuse_sequence(step, accesses, apart);
        }
        if !step.is("qd.grid.phase") {
            last = None;
            continue;
        }
        if let Some(first) = last {
            match obstacle(first, step, accesses) {
                None => merge(first, step),
                Some(why) => apart.push(Apart {
                    first: name_of(first),
                    second: name_of(step),
                    why,
                }),
            }
        }
        last = Some(step);
    }
}

/// What a step is called: by its name, or by what it is.
pub(crate) fn name_of(step: Op) -> String {
    let name = step.attr("name").and_then(attributes::text);
    name.unwrap_or_else(|| step.full_name().trim_start_matches("qd.grid.").into())
}

/// Why two neighbouring phases cannot be one.
fn obstacle<'c>(first: Op<'c>, second: Op<'c>, accesses: &mut Accesses<'c>) -> Option<String> {
    if first.attr("threads") != second.attr("threads") {
        return Some("their blocks differ in size".into());
    }
    let blocks = (first.operand_values()[0], second.operand_values()[0]);
    if !accesses.host().equal(blocks.0, blocks.1) {
        return Some("their grids differ".into());
    }
    if let Some(op) = [first, second].into_iter().find_map(ordering_op) {
        return Some(format!("'{}' orders memory between blocks", op.full_name()));
    }
    if [first, second].into_iter().all(uses_shared) {
        return Some("both use shared memory".into());
    }
    let (before, after) = (accesses.of_captured(first), accesses.of_captured(second));
    for (a, access) in &before {
        for (b, other) in &after {
            if !access.conflicts(other) {
                continue;
            }
            let what = access.root;
            let same = a.zip(*b).filter(|(a, b)| a.key() == b.key());
            let Some((buffer, _)) = same else {
                return Some(format!("they access parts of {what} that may overlap"));
            };
            let name = match () {
                _ if !is_elementwise(first, buffer) => name_of(first),
                _ if !is_elementwise(second, buffer) => name_of(second),
                _ => continue,
            };
            return Some(format!(
                "\"{name}\" accesses {what} at other elements than its threads own"
            ));
        }
    }
    None
}

/// An op after which other blocks' memory may be seen, or of which that is not
/// known.
fn ordering_op<'c>(phase: Op<'c>) -> Option<Op<'c>> {
    phase.nested().into_iter().find(|op| {
        let name = op.full_name();
        name.starts_with("qd.grid.") && name != "qd.grid.view"
            || name.contains("atomic")
            || name.starts_with("func.")
    })
}

fn uses_shared(phase: Op) -> bool {
    let mut nested = phase.nested().into_iter();
    nested.any(|op| op.is("qd.simt.block.shared"))
}

/// Whether a phase accesses a buffer by loads and stores of elements that the
/// thread owns, and not otherwise.
fn is_elementwise<'c>(phase: Op<'c>, buffer: Value<'c>) -> bool {
    phase.nested().into_iter().all(|op| {
        let operands = op.operand_values();
        let Some(place) = operands.iter().position(|v| v.key() == buffer.key()) else {
            return true;
        };
        match op.full_name() {
            "memref.dim" | "memref.rank" | "memref.prefetch" => true,
            "memref.load" | "memref.store" => {
                operands.get(place + 1).is_some_and(|i| is_own(phase, *i))
            }
            _ => false,
        }
    })
}

/// Whether an index is `tile · threads + thread_id`: no two threads of the grid
/// have the same, and a thread has the same ones in every phase.
fn is_own<'c>(phase: Op<'c>, index: Value<'c>) -> bool {
    let sum = |value: Value<'c>| {
        let op = value.defining_op().filter(|op| op.is("arith.addi"))?;
        Some((op.operand_values()[0], op.operand_values()[1]))
    };
    let is = |value: Value<'c>, name: &str| value.defining_op().is_some_and(|op| op.is(name));
    let threads = phase.attr("threads").and_then(attributes::int);
    let is_threads = |value: Value<'c>| {
        is(value, "qd.simt.block.dim") || (threads.is_some() && value.constant_int() == threads)
    };
    let is_tile = |value: Value<'c>| {
        if is(value, "qd.simt.block.id") {
            return true;
        }
        let Some((block, 0)) = value.block_argument() else {
            return false;
        };
        block.parent_operation().is_some_and(|op: Op<'c>| {
            let bounds = op.operand_values();
            op.is("scf.for")
                && is(bounds[0], "qd.simt.block.id")
                && is(bounds[2], "qd.simt.grid.dim")
        })
    };
    let is_start = |value: Value<'c>| {
        let Some(op) = value.defining_op().filter(|op| op.is("arith.muli")) else {
            return false;
        };
        let (a, b) = (op.operand_values()[0], op.operand_values()[1]);
        (is_tile(a) && is_threads(b)) || (is_tile(b) && is_threads(a))
    };
    let is_thread = |value: Value<'c>| is(value, "qd.simt.block.thread_id");
    sum(index).is_some_and(|(a, b)| (is_start(a) && is_thread(b)) || (is_start(b) && is_thread(a)))
}

/// Puts the first phase's body before the second's.
fn merge(first: Op, second: Op) {
    let (Some(from), Some(to)) = (first.body(), second.body()) else {
        return;
    };
    let at = match to.first_operation() {
        Some(op) => InsertionPoint::Before(op),
        None => InsertionPoint::End(to),
    };
    for op in operations(from) {
        op.move_to(at);
    }
    let name = format!("{}+{}", name_of(first), name_of(second));
    second.set_attr("name", attributes::string(context_of(second), &name));
    first.erase();
}
