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
    plan::access::{Accesses, Functions, Known},
};
use qd_dialects::{
    attributes,
    diagnostic::Result,
    ir::{InsertionPoint, Key, Op, OpExt, Value, ValueExt, context_of, element_type, operations},
    melior::ir::{BlockLike, ValueLike},
    pass::{NoOptions, Pass},
};
use std::collections::{HashMap, HashSet};

/// The pass.
pub struct FusePhases;

impl Pass for FusePhases {
    type Options = NoOptions;
    const NAME: &'static str = "qd-fuse-phases";
    const SUMMARY: &'static str =
        "Make one phase of neighbours whose conflicts are within a thread";

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let mut functions = Functions::default();
        for kernel in kernels(module) {
            fuse(kernel, &mut functions);
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
pub fn fuse<'c>(kernel: Op<'c>, functions: &mut Functions<'c>) -> Vec<Apart> {
    let mut apart = Vec::new();
    let mut accesses = Accesses::new(kernel, functions);
    fuse_sequence(kernel, &mut accesses, &mut apart);
    apart
}

fn fuse_sequence<'c>(sequence: Op<'c>, accesses: &mut Accesses<'c>, apart: &mut Vec<Apart>) {
    let mut last: Option<Stretch<'c>> = None;
    for step in steps(sequence) {
        if is_sequence(step) {
            fuse_sequence(step, accesses, apart);
        }
        if !step.is("qd.grid.phase") {
            last.take().into_iter().for_each(Stretch::merge);
            continue;
        }
        let next = Stretch::of(step, accesses);
        last = Some(match last {
            None => next,
            Some(first) => match obstacle(&first, &next, accesses) {
                None => first.followed_by(next),
                Some(why) => {
                    apart.push(Apart {
                        first: first.name(),
                        second: next.name(),
                        why,
                    });
                    first.merge();
                    next
                }
            },
        });
    }
    last.into_iter().for_each(Stretch::merge);
}

/// Neighbouring phases that are to be one, and what is known of them together.
struct Stretch<'c> {
    phases: Vec<Op<'c>>,
    /// In order of first use; what is accessed unknown to the phases is last.
    accesses: Vec<Known<'c>>,
    /// Where in `accesses` a buffer is.
    places: HashMap<Key, usize>,
    /// Buffers that are accessed at other elements than the thread's own.
    shared_buffers: HashSet<Key>,
    /// An op after which other blocks' memory may be seen, or of which that is not
    /// known.
    ordering_op: Option<Op<'c>>,
    uses_shared: bool,
}

impl<'c> Stretch<'c> {
    fn of(phase: Op<'c>, accesses: &mut Accesses<'c>) -> Self {
        let nested = phase.nested();
        let accesses = accesses.of_captured(phase);
        let numbered = accesses.iter().enumerate();
        Self {
            phases: vec![phase],
            places: numbered
                .filter_map(|(place, (value, _))| Some(((*value)?.key(), place)))
                .collect(),
            accesses,
            shared_buffers: not_elementwise(phase, &nested),
            ordering_op: nested.iter().copied().find(|op| is_ordering(*op)),
            uses_shared: nested.iter().any(|op| op.is("qd.simt.block.shared")),
        }
    }

    /// The last of the phases, which becomes all of them.
    fn last(&self) -> Op<'c> {
        *self.phases.last().expect("a stretch has a phase")
    }

    fn name(&self) -> String {
        let names: Vec<_> = self.phases.iter().map(|phase| name_of(*phase)).collect();
        names.join("+")
    }

    /// This stretch and the one behind it.
    fn followed_by(mut self, next: Self) -> Self {
        let unknown = self.accesses.pop_if(|(value, _)| value.is_none());
        let mut unknown: Vec<_> = unknown.into_iter().collect();
        for (value, access) in next.accesses {
            let Some(value) = value else {
                unknown.push((None, access));
                continue;
            };
            match self.places.get(&value.key()) {
                Some(place) => {
                    let known = &mut self.accesses[*place].1;
                    known.effect = known.effect.or(access.effect);
                }
                None => {
                    self.places.insert(value.key(), self.accesses.len());
                    self.accesses.push((Some(value), access));
                }
            }
        }
        let all = unknown.into_iter().reduce(|(_, mut all), (_, other)| {
            all.effect = all.effect.or(other.effect);
            (None, all)
        });
        self.accesses.extend(all);
        self.phases.extend(next.phases);
        self.shared_buffers.extend(next.shared_buffers);
        self.ordering_op = self.ordering_op.or(next.ordering_op);
        self.uses_shared |= next.uses_shared;
        self
    }

    /// Puts the bodies of the other phases before the last one's.
    fn merge(self) {
        let last = self.last();
        let Some(to) = last.body().filter(|_| self.phases.len() > 1) else {
            return;
        };
        let at = match to.first_operation() {
            Some(op) => InsertionPoint::Before(op),
            None => InsertionPoint::End(to),
        };
        let name = self.name();
        for phase in &self.phases[..self.phases.len() - 1] {
            for op in phase.body().map(operations).unwrap_or_default() {
                op.move_to(at);
            }
            phase.erase();
        }
        last.set_attr("name", attributes::string(context_of(last), &name));
    }
}

/// What a step is called: by its name, or by what it is.
pub(crate) fn name_of(step: Op) -> String {
    let name = step.attr("name").and_then(attributes::text);
    name.unwrap_or_else(|| step.full_name().trim_start_matches("qd.grid.").into())
}

/// Why two neighbours cannot be one.
fn obstacle<'c>(
    first: &Stretch<'c>,
    second: &Stretch<'c>,
    accesses: &mut Accesses<'c>,
) -> Option<String> {
    let (before, after) = (first.last(), second.last());
    if before.attr("threads") != after.attr("threads") {
        return Some("their blocks differ in size".into());
    }
    let blocks = (before.operand_values()[0], after.operand_values()[0]);
    if !accesses.host().equal(blocks.0, blocks.1) {
        return Some("their grids differ".into());
    }
    if let Some(op) = first.ordering_op.or(second.ordering_op) {
        return Some(format!("'{}' orders memory between blocks", op.full_name()));
    }
    if first.uses_shared && second.uses_shared {
        return Some("both use shared memory".into());
    }
    for (a, access) in &first.accesses {
        for (b, other) in &second.accesses {
            if !access.conflicts(other) {
                continue;
            }
            let what = access.root;
            let same = a.zip(*b).filter(|(a, b)| a.key() == b.key());
            let Some((buffer, _)) = same else {
                return Some(format!("they access parts of {what} that may overlap"));
            };
            let name = match () {
                _ if first.shared_buffers.contains(&buffer.key()) => first.name(),
                _ if second.shared_buffers.contains(&buffer.key()) => second.name(),
                _ => continue,
            };
            return Some(format!(
                "\"{name}\" accesses {what} at other elements than its threads own"
            ));
        }
    }
    None
}

/// Whether other blocks' memory may be seen after an op, or that is not known.
fn is_ordering(op: Op) -> bool {
    let name = op.full_name();
    name.starts_with("qd.grid.") && name != "qd.grid.view"
        || name.contains("atomic")
        || name.starts_with("func.")
}

/// The buffers that a phase accesses otherwise than by loads and stores of elements
/// that the thread owns.
fn not_elementwise<'c>(phase: Op<'c>, nested: &[Op<'c>]) -> HashSet<Key> {
    let mut found = HashSet::new();
    for op in nested {
        let operands = op.operand_values();
        for (place, operand) in operands.iter().enumerate() {
            let is_elementwise = match op.full_name() {
                "memref.dim" | "memref.rank" | "memref.prefetch" => true,
                "memref.load" | "memref.store" => {
                    operands.get(place + 1).is_some_and(|i| is_own(phase, *i))
                }
                _ => false,
            };
            if element_type(operand.r#type()).is_some() && !is_elementwise {
                found.insert(operand.key());
            }
        }
    }
    found
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
