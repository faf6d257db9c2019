//! `qd-fill-subgroups`: blocks of any size become blocks of full subgroups.
//!
//! Runs after `qd-select-subgroup-size`, on the bodies whose threads are no multiple of the wave. The
//! block is rounded up, and the threads that are added do nothing that anyone could see. They take part in
//! collectives, with neutral values, since a target executes these in all lanes of a subgroup; everything
//! else that has effects or may be undefined is executed where `thread_id` is below the block's size.
//! Control flow with collectives in it is uniform in a subgroup, and the lanes that are added follow its
//! lane 0, which every subgroup has.
//!
//! What each collective means in a subgroup that is filled in part is on the page of
//! `qd.simt.num_subgroups`; how it is kept is in `fill_subgroups/collectives.rs`.
//!
//! Errors: a phase, which is to be outlined first; a collective in a region of an op that is not known; a
//! result that is no scalar and would leave a guarded region.
//!
//! Before, for subgroups of 32:
//! ```mlir
//! func.func private @sum(%a: memref<?xi32>) attributes {qd.threads = 40 : i64, qd.wave = 32 : i64} {
//!   %v = memref.load %a[%thread] : memref<?xi32>
//!   %sum = qd.simt.reduce_all add %v tile(5) : i32
//!   ...
//! ```
//! After:
//! ```mlir
//! func.func private @sum(%a: memref<?xi32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
//!   %there = arith.cmpi ult, %thread, %c40 : index
//!   %v = scf.if %there -> i32 {
//!     %0 = memref.load %a[%thread] : memref<?xi32>
//!     scf.yield %0 : i32
//!   } else {
//!     scf.yield %c0 : i32
//!   }
//!   %w = arith.select %there, %v, %c0 : i32
//!   %sum = qd.simt.reduce_all add %w tile(5) : i32
//!   ...
//! ```

mod collectives;

use crate::{
    select_subgroup_size::{bodies, wave_at},
    uniformity::{Scope, Uniformity},
};
use qd_dialects::{
    attributes::{self, names},
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    interfaces::{Collective, is_pure},
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, context_of, operations},
    melior::{dialect::DialectHandle, ir::ValueLike},
    ops::simt,
    pass::{NoOptions, Pass},
};
use std::collections::HashSet;

/// The pass.
pub struct FillSubgroups;

impl Pass for FillSubgroups {
    type Options = NoOptions;
    const NAME: &'static str = "qd-fill-subgroups";
    const SUMMARY: &'static str = "Round blocks up to full subgroups";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::arith(), DialectHandle::scf()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        for (body, threads) in bodies(module) {
            if let Some(wave) = wave_at(body)
                && threads % wave != 0
                && let Some(block) = body.body()
            {
                if !body.is("func.func") {
                    let message = "has a subgroup that is filled in part, and is no outlined body: \
                                   run qd-outline-phases first";
                    return Err(Diagnostic::at(body, message));
                }
                fill(body, block, threads, wave)?;
            }
        }
        Ok(())
    }
}

fn fill<'c>(body: Op<'c>, block: Block<'c>, threads: i64, wave: i64) -> Result<'c> {
    let Some(first) = block.first_operation() else {
        return Ok(());
    };
    let uniformity = Uniformity::analyse(block, threads, wave as u32);
    let counted = |op: &Op<'c>| {
        let same = |value: &Value<'c>| uniformity.is_uniform(*value, Scope::Subgroup);
        op.is("scf.for") && holds_collective(*op) && !op.operand_values()[..3].iter().all(same)
    };
    let nested = body.nested();
    let counted = nested.iter().copied().filter(counted);
    let counted = counted.map(|op| op.key()).collect();
    let together =
        |op: &Op<'c>| holds_collective(*op) && uniformity.enters_together(*op, Scope::Block);
    let together = nested.iter().copied().filter(together);
    let together = together.map(|op| op.key()).collect();
    let b = Builder::before(first);
    let mut filling = Filling {
        there: b.thread_id().lt(threads).value(),
        present: match threads < wave {
            true => b.i32(threads as i32),
            false => b.i32(threads as i32) - b.subgroup_id() * wave,
        }
        .value(),
        wave: Some(wave),
        common: arguments(block).iter().map(|value| value.key()).collect(),
        counted,
        together,
    };
    let ops = operations(block);
    let from = ops.iter().position(|op| op.key() == first.key());
    filling.ops(&ops[from.unwrap_or(0)..])?;
    let full = (threads + wave - 1) / wave * wave;
    body.set_attr(names::THREADS, attributes::i64(context_of(body), full));
    Ok(())
}

/// Fills the subgroups of ops in a row, which are the end of their block, where the subgroup size has not been
/// chosen. `there` and `present` are as in [`Filling`], and `common` the values that all lanes share.
///
/// # Errors
///
/// As of the pass.
pub(crate) fn fill_ops<'c>(
    ops: &[Op<'c>],
    there: Value<'c>,
    present: Value<'c>,
    common: impl IntoIterator<Item = Value<'c>>,
    counted: impl IntoIterator<Item = Op<'c>>,
) -> Result<'c> {
    let mut filling = Filling {
        there,
        present,
        wave: None,
        common: common.into_iter().map(|value| value.key()).collect(),
        counted: counted.into_iter().map(|op| op.key()).collect(),
        together: HashSet::new(),
    };
    filling.ops(ops)
}

/// What is known while a body is filled.
struct Filling<'c> {
    /// Whether this thread is one of the block's, `i1`.
    there: Value<'c>,
    /// At least as many as this subgroup's lanes that are there, and less than the wave only if that
    /// many are, `i32`.
    present: Value<'c>,
    /// Lanes of a subgroup, if they have been chosen.
    wave: Option<i64>,
    /// Values that the added lanes share with the subgroup's lane 0, so that they may follow them.
    common: HashSet<Key>,
    /// Loops that each lane takes from and to numbers of its own, as often as the others.
    counted: HashSet<Key>,
    /// Control flow that all threads of the block take together, whose conditions may be lost to an
    /// analysis once only the lanes that are there compute them.
    together: HashSet<Key>,
}

impl<'c> Filling<'c> {
    fn block(&mut self, block: Option<Block<'c>>) -> Result<'c> {
        block.map_or(Ok(()), |block| self.ops(&operations(block)))
    }

    /// The ops of one block, in runs between collectives.
    fn ops(&mut self, ops: &[Op<'c>]) -> Result<'c> {
        let mut run = Run::default();
        for &op in ops {
            let last = op.next_in_block().is_none();
            if last || holds_collective(op) {
                std::mem::take(&mut run).guard(self.there, op)?;
            }
            if holds_collective(op) {
                self.together(op)?;
            } else if last {
                self.terminator(op);
            } else if !is_everywhere(op) {
                run.push(op);
            } else if !run.depends(op) {
                self.everywhere(op);
            } else if op.result_values().into_iter().all(is_scalar) {
                run.push(op);
            } else {
                // A view at a place that only the lanes that are there know.
                std::mem::take(&mut run).guard(self.there, op)?;
            }
        }
        Ok(())
    }

    /// Notes what all lanes know of an op that they all execute.
    fn everywhere(&mut self, op: Op<'c>) {
        let differs = [
            simt::LaneId::NAME,
            simt::Elect::NAME,
            simt::BlockThreadId::NAME,
        ];
        let same = |value: &Value<'c>| self.common.contains(&value.key());
        if !differs.contains(&op.full_name()) && op.operand_values().iter().all(same) {
            self.common
                .extend(op.result_values().iter().map(|v| v.key()));
        }
    }

    /// An op that the lanes of a subgroup execute together.
    fn together(&mut self, op: Op<'c>) -> Result<'c> {
        if let Some(collective) = Collective::of(op) {
            // Such as by how many lanes values rotate, which only the lanes that are there may have computed.
            let decides = collective.uniform_operands().into_iter();
            let decides: HashSet<_> = decides.map(|(_, value)| value.key()).collect();
            for (operand, value) in op.operand_values().into_iter().enumerate() {
                if decides.contains(&value.key()) {
                    self.follow(op, operand);
                }
            }
            return collectives::fill(self, op, collective);
        }
        let decides: &[usize] = match op.full_name() {
            "scf.if" | "scf.index_switch" => &[0],
            "scf.for" => &[0, 1, 2],
            "scf.while" | "scf.execute_region" | "memref.alloca_scope" => &[],
            _ => {
                let message = "has collectives in a block of which a subgroup is filled in part, \
                               which is known of structured control flow only";
                return Err(Diagnostic::at(op, message));
            }
        };
        if self.counted.contains(&op.key()) {
            self.count(op);
        }
        for &operand in decides {
            self.follow(op, operand);
        }
        if op.is("scf.for")
            && let Some(i) = op.body().and_then(|body| arguments(body).first().copied())
        {
            self.common.insert(i.key());
        }
        (0..op.region_count()).try_for_each(|region| self.block(op.region_block(region)))
    }

    /// Makes a loop one from 0 by steps of 1, so that lanes that are added can take it as often as the
    /// others.
    fn count(&self, op: Op<'c>) {
        let Some(body) = op.body() else {
            return;
        };
        let b = Builder::before(op);
        let bounds: [Value; 3] = std::array::from_fn(|at| op.operand_values()[at]);
        let [lower, upper, step] = bounds.map(|value| b.v(value));
        let turns = || {
            let runs = match op.attr("unsignedCmp").is_some() {
                true => lower.lt(upper),
                false => lower.slt(upper),
            };
            // As unsigned, the difference does not overflow where there is a turn.
            let count = (upper - lower).ceil_div(step);
            vec![runs.select(count, lower.same(0))]
        };
        // A step of a lane that is added may be 0.
        let turns = b.if_else(b.v(self.there), turns, || vec![lower.same(0)]);
        op.set_operand_at(0, lower.same(0).value());
        op.set_operand_at(1, turns[0].value());
        op.set_operand_at(2, lower.same(1).value());
        let (Some(&turn), Some(first)) = (arguments(body).first(), body.first_operation()) else {
            return;
        };
        let uses = turn.uses();
        let b = Builder::before(first);
        let [lower, _, step] = bounds.map(|value| b.v(value));
        let i = (lower + b.v(turn) * step).value();
        for (user, operand) in uses {
            user.set_operand_at(operand, i);
        }
    }

    fn terminator(&mut self, op: Op<'c>) {
        let loops = op.parent().is_some_and(holds_collective);
        if op.is("scf.condition") && loops {
            self.follow(op, 0);
        }
    }

    /// Makes an operand that decides where a subgroup goes, which its lanes share, that of lane 0.
    fn follow(&mut self, op: Op<'c>, operand: usize) {
        let value = op.operand_values()[operand];
        if self.common.contains(&value.key()) {
            return;
        }
        let b = Builder::before(op);
        let control = if op.is("scf.condition") {
            op.parent()
        } else {
            Some(op)
        };
        let same = (names::SAME_IN_BLOCK, attributes::unit(context_of(op)));
        let attributes = match control.is_some_and(|op| self.together.contains(&op.key())) {
            true => &[same][..],
            false => &[],
        };
        let first = collectives::of_lane_0(b.v(value), attributes).value();
        self.common.insert(first.key());
        op.set_operand_at(operand, first);
    }
}

/// Ops, one after another, that only the lanes that are there execute.
#[derive(Default)]
struct Run<'c> {
    ops: Vec<Op<'c>>,
    keys: HashSet<Key>,
    results: HashSet<Key>,
}

impl<'c> Run<'c> {
    fn push(&mut self, op: Op<'c>) {
        self.ops.push(op);
        self.keys.insert(op.key());
        self.results
            .extend(op.result_values().iter().map(|value| value.key()));
    }

    /// Whether an op, or one in its regions, uses a result of the run.
    fn depends(&self, op: Op<'c>) -> bool {
        let uses = |op: Op<'c>| {
            let mut operands = op.operand_values().into_iter();
            operands.any(|value| self.results.contains(&value.key()))
        };
        uses(op) || op.nested().into_iter().any(uses)
    }

    /// Moves the run into a branch before `end` that is taken where `there` holds.
    fn guard(self, there: Value<'c>, end: Op<'c>) -> Result<'c> {
        let Some(first) = self.ops.first() else {
            return Ok(());
        };
        let mut leaving = Vec::new();
        for op in &self.ops {
            for value in op.result_values() {
                let mut uses = value.uses();
                uses.retain(|(user, _)| !self.is_around(*user));
                if uses.is_empty() {
                    continue;
                }
                if !is_scalar(value) {
                    let message = format!(
                        "yields a {} that a collective's block uses where a subgroup is filled in \
                         part; only scalars can be",
                        value.r#type()
                    );
                    return Err(Diagnostic::at(*op, message));
                }
                leaving.push((value, uses));
            }
        }
        let b = Builder::before(end);
        b.set_location(first.location());
        let there = b.v(there);
        let move_all = || {
            self.ops
                .iter()
                .for_each(|op| op.move_to(b.insertion_point()))
        };
        if leaving.is_empty() {
            b.if_(there, move_all);
            return Ok(());
        }
        let values: Vec<_> = leaving.iter().map(|(value, _)| *value).collect();
        let then = || {
            move_all();
            b.vs(&values)
        };
        let otherwise = || {
            let zeros = values.iter().map(|value| b.zero(value.r#type()));
            zeros.collect()
        };
        let results = b.if_else(there, then, otherwise);
        for ((_, uses), result) in leaving.iter().zip(results) {
            for (user, operand) in uses {
                user.set_operand_at(*operand, result.value());
            }
        }
        Ok(())
    }

    /// Whether an op is one of the run, or in one of its regions.
    fn is_around(&self, op: Op<'c>) -> bool {
        let mut around = Some(op);
        while let Some(at) = around {
            if self.keys.contains(&at.key()) {
                return true;
            }
            around = at.parent();
        }
        false
    }
}

/// Whether all lanes may execute an op, those that are added included.
fn is_everywhere(op: Op) -> bool {
    is_pure(op) || op.is("memref.alloca") || op.is(simt::BlockShared::NAME)
}

fn is_scalar(value: Value) -> bool {
    use qd_dialects::melior::ir::TypeLike;
    let r#type = value.r#type();
    r#type.is_index() || r#type.is_integer() || qd_dialects::ir::is_float(r#type)
}

pub(crate) fn holds_collective(op: Op) -> bool {
    Collective::of(op).is_some()
        || op
            .nested()
            .into_iter()
            .any(|op| Collective::of(op).is_some())
}

/// Of one of two values, by a condition of the lane.
fn choose<'b, 'c>(condition: V<'b, 'c>, then: V<'b, 'c>, otherwise: V<'b, 'c>) -> Value<'c> {
    condition.select(then, otherwise).value()
}
