//! `qd-fuse-phases`: neighbouring phases become one if no thread needs another thread's
//! results.
//!
//! A launch costs microseconds and a round trip through memory. Two phases that follow
//! each other in a kernel, in a loop or in an `if` become one if they have the same grid
//! and block size and every conflict between them is within one thread: each buffer that
//! one writes and the other accesses is accessed by plain loads and stores at the
//! element that the thread owns, `tile · threads + thread_id`, where the tile is the
//! block's number or advances from there by the grid's size. The second phase's body is
//! appended to the first's, in the same thread.
//!
//! Limits: phases are not fused across any other access to a buffer in conflict, across
//! atomics, fences between blocks and calls in either, if both have shared memory, or if
//! any step stands between them. Loops of fused bodies stay two loops. At most 32 phases become one: what LLVM takes for a
//! body grows faster than its loops.
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
    select_subgroup_size::wave_at,
};
use qd_dialects::{
    attributes::{self, names},
    diagnostic::Result,
    ir::{InsertionPoint, Key, Op, OpExt, Value, ValueExt, context_of, element_type, operations},
    melior::ir::ValueLike,
    ops::{grid, simt},
    pass::{NoOptions, Pass},
};
use std::collections::{HashMap, HashSet};

/// Phases of one. The optimiser took 24 s for 400, and a launch of one in 32 is no longer what time goes to.
const MOST: usize = 32;

/// The pass.
pub struct FusePhases;

impl Pass for FusePhases {
    type Options = NoOptions;
    const NAME: &'static str = "qd-fuse-phases";
    const SUMMARY: &'static str = "Fuse neighbouring phases whose conflicts are within a thread";

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let mut functions = Functions::default();
        for kernel in kernels(module) {
            fuse(kernel, &mut functions);
        }
        Ok(())
    }
}

/// Two phases that are not fused, and why.
pub struct NotFused {
    /// The first phase's name.
    pub first: String,
    /// The second's.
    pub second: String,
    /// Why they are not fused.
    pub why: String,
}

/// Fuses the phases of a kernel and of the sequences in it.
pub fn fuse<'c>(kernel: Op<'c>, functions: &mut Functions<'c>) -> Vec<NotFused> {
    let mut not_fused = Vec::new();
    let mut accesses = Accesses::new(kernel, functions);
    fuse_sequence(kernel, &mut accesses, &mut not_fused);
    not_fused
}

fn fuse_sequence<'c>(sequence: Op<'c>, accesses: &mut Accesses<'c>, not_fused: &mut Vec<NotFused>) {
    let mut last: Option<Group<'c>> = None;
    for step in steps(sequence) {
        if is_sequence(step) {
            fuse_sequence(step, accesses, not_fused);
        }
        if !step.is(grid::Phase::NAME) {
            last.take().into_iter().for_each(Group::merge);
            continue;
        }
        let next = Group::of(step, accesses);
        last = Some(match last {
            None => next,
            Some(first) => match obstacle(&first, &next, accesses) {
                None => first.followed_by(next),
                Some(why) => {
                    not_fused.push(NotFused {
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
    last.into_iter().for_each(Group::merge);
}

/// Neighbouring phases that will be fused, and what is known of them together.
struct Group<'c> {
    phases: Vec<Op<'c>>,
    /// In order of first use; accesses to memory that the phases do not know come last.
    accesses: Vec<Known<'c>>,
    /// Where in `accesses` a buffer is.
    places: HashMap<Key, usize>,
    /// Buffers that are accessed at other elements than the thread's own.
    shared_buffers: HashSet<Key>,
    /// An op that may order memory between blocks.
    ordering_op: Option<Op<'c>>,
    uses_shared: bool,
}

impl<'c> Group<'c> {
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
            uses_shared: nested.iter().any(|op| op.is(simt::BlockShared::NAME)),
        }
    }

    /// The last of the phases, which the others are merged into.
    fn last(&self) -> Op<'c> {
        *self.phases.last().expect("a group has a phase")
    }

    fn name(&self) -> String {
        let names: Vec<_> = self.phases.iter().map(|phase| name_of(*phase)).collect();
        names.join("+")
    }

    /// This group and the next one.
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
        // Where one of them does not say that any size of subgroups will do, they do not.
        let mut said = self.phases.iter().map(|phase| phase.attr(names::WAVE));
        if wave_at(last).is_none() && said.any(|wave| wave.is_none()) {
            last.remove_attr(names::WAVE);
        }
        for phase in &self.phases[..self.phases.len() - 1] {
            for op in phase.body().map(operations).unwrap_or_default() {
                op.move_to(at);
            }
            phase.erase();
        }
        last.set_attr("name", attributes::string(context_of(last), &name));
    }
}

/// The name of a step, or else its kind.
pub(crate) fn name_of(step: Op) -> String {
    let name = step.attr("name").and_then(attributes::text);
    name.unwrap_or_else(|| step.full_name().trim_start_matches(grid::PREFIX).into())
}

/// Why two neighbours cannot be fused.
fn obstacle<'c>(
    first: &Group<'c>,
    second: &Group<'c>,
    accesses: &mut Accesses<'c>,
) -> Option<String> {
    let (before, after) = (first.last(), second.last());
    if first.phases.len() == MOST {
        return Some(format!("{MOST} phases are one already"));
    }
    if before.attr("threads") != after.attr("threads") {
        return Some("their blocks differ in size".into());
    }
    if wave_at(before) != wave_at(after) {
        return Some("their subgroups differ in size".into());
    }
    let blocks = (
        grid::Phase::cast(before).blocks(),
        grid::Phase::cast(after).blocks(),
    );
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

/// Whether an op may order memory between blocks.
fn is_ordering(op: Op) -> bool {
    let name = op.full_name();
    name.starts_with(grid::PREFIX) && name != grid::View::NAME
        || name.contains("atomic")
        || name.starts_with("func.")
}

/// The buffers with accesses other than loads and stores of elements that the thread
/// owns.
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
        is(value, simt::BlockDim::NAME) || (threads.is_some() && value.constant_int() == threads)
    };
    let is_tile = |value: Value<'c>| {
        if is(value, simt::BlockId::NAME) {
            return true;
        }
        let Some((block, 0)) = value.block_argument() else {
            return false;
        };
        block.parent_operation().is_some_and(|op: Op<'c>| {
            let bounds = op.operand_values();
            op.is("scf.for")
                && is(bounds[0], simt::BlockId::NAME)
                && is(bounds[2], simt::GridDim::NAME)
        })
    };
    let is_start = |value: Value<'c>| {
        let Some(op) = value.defining_op().filter(|op| op.is("arith.muli")) else {
            return false;
        };
        let (a, b) = (op.operand_values()[0], op.operand_values()[1]);
        (is_tile(a) && is_threads(b)) || (is_tile(b) && is_threads(a))
    };
    let is_thread = |value: Value<'c>| is(value, simt::BlockThreadId::NAME);
    sum(index).is_some_and(|(a, b)| (is_start(a) && is_thread(b)) || (is_start(b) && is_thread(a)))
}
