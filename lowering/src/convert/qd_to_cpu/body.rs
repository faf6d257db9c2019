//! Loops over the threads of a block, split at barriers and collectives.
//!
//! A body that runs once per thread becomes one that runs once per block:
//! - what is the same in every thread is computed once, in place;
//! - runs of other ops become a loop over the threads;
//! - a collective ends the run: it becomes loops of its own over arrays that
//!   hold one element per thread;
//! - control flow that is uniform stays outside the loops over threads, so that
//!   barriers may stand in it and the innermost loop is always over threads,
//!   where neighbours touch neighbouring memory: that is the loop LLVM
//!   vectorises;
//! - a value that is used behind the run it is made in goes through an array,
//!   unless it is cheap to compute again.

use super::{
    collectives,
    uniform::{Uniform, is_uniform_op},
};
use crate::convert::descriptor;
use melior::ir::{Type, ValueLike, operation::OperationLike};
use qd_dialects::{
    builder::{Builder, V},
    clone::Mapping,
    diagnostic::{Diagnostic, Result},
    ir::{Block, InsertionPoint, Op, OpExt, Value, ValueExt, arguments, operations},
    melior,
};
use std::collections::{HashMap, HashSet};

/// Rewrites one body.
pub struct BodyLowering<'b, 'c> {
    /// Inserts into the new function.
    pub b: &'b Builder<'c>,
    /// Threads in a block.
    pub threads: i64,
    /// Lanes in a subgroup.
    pub wave: i64,
    uniform: Uniform,
    /// Uniform values of the old body, and what stands for them.
    mapping: Mapping<'c>,
    /// Varying values that live in arrays, one element per thread.
    arrays: HashMap<usize, V<'b, 'c>>,
    /// Where arrays are allocated: the top of the function.
    entry: InsertionPoint<'c>,
    /// What `block.id` and `grid.dim` are.
    block_id: V<'b, 'c>,
    grid_dim: V<'b, 'c>,
}

/// Values of one thread, while its loop body is built.
pub struct Thread<'b, 'c> {
    /// The thread's number.
    pub id: V<'b, 'c>,
    values: Mapping<'c>,
}

fn key(value: Value<'_>) -> usize {
    value.to_raw().ptr as usize
}

impl<'b, 'c> BodyLowering<'b, 'c> {
    /// Prepares to rewrite `body`, whose arguments have been mapped already.
    pub fn new(
        b: &'b Builder<'c>,
        body: Block<'c>,
        mapping: Mapping<'c>,
        entry: InsertionPoint<'c>,
        (threads, wave): (i64, i64),
        (block_id, grid_dim): (V<'b, 'c>, V<'b, 'c>),
    ) -> Self {
        Self {
            b,
            threads,
            wave,
            uniform: Uniform::of(body),
            mapping,
            arrays: HashMap::new(),
            entry,
            block_id,
            grid_dim,
        }
    }

    /// Rewrites a block of uniform control flow, at the insertion point.
    pub fn block(&mut self, block: Block<'c>) -> Result<'c> {
        let mut run: Vec<Op<'c>> = Vec::new();
        for op in operations(block) {
            let name = op.full_name();
            if is_terminator(name) {
                continue;
            }
            if self.is_structure(op) {
                self.flush(&mut run);
                self.structure(op)?;
            } else if self.is_uniform(op) {
                // Loads must not overtake the stores of the run before them.
                if name == "memref.load" && run.iter().any(|op| may_write(*op)) {
                    self.flush(&mut run);
                }
                self.uniform_op(op);
            } else if collectives::is_collective(name) {
                self.flush(&mut run);
                collectives::lower(self, op)?;
            } else if !self.is_cheap(op) {
                run.push(op);
            }
        }
        self.flush(&mut run);
        Ok(())
    }

    fn is_uniform(&self, op: Op<'c>) -> bool {
        is_uniform_op(op.full_name())
            && !collectives::is_collective(op.full_name())
            && self.uniform.has_all(&op.operand_values())
    }

    /// Control flow that stays outside the loops over threads.
    fn is_structure(&self, op: Op<'c>) -> bool {
        match op.full_name() {
            "scf.for" => self.uniform.has_all(&op.operand_values()[..3]) || contains_collective(op),
            "scf.if" => self.uniform.has(op.operand_values()[0]) || contains_collective(op),
            "scf.while" => contains_collective(op),
            _ => false,
        }
    }

    /// Whether the op is computed again wherever it is needed: the thread's
    /// number and short arithmetic on it.
    fn is_cheap(&self, op: Op<'c>) -> bool {
        let mut budget = 8;
        self.cheap(op, &mut budget)
    }

    fn cheap(&self, op: Op<'c>, budget: &mut i32) -> bool {
        *budget -= 1;
        if *budget < 0 {
            return false;
        }
        let name = op.full_name();
        if is_thread_identity(name) {
            return true;
        }
        let simple = matches!(
            name,
            "arith.addi"
                | "arith.subi"
                | "arith.muli"
                | "arith.andi"
                | "arith.ori"
                | "arith.xori"
                | "arith.shli"
                | "arith.shrui"
                | "arith.index_cast"
                | "arith.index_castui"
                | "arith.extui"
                | "arith.extsi"
                | "arith.trunci"
                | "arith.cmpi"
        );
        simple
            && op.operand_values().iter().all(|operand| {
                self.uniform.has(*operand)
                    || operand
                        .defining_op()
                        .is_some_and(|source| self.cheap(source, budget))
            })
    }

    // Values.

    /// What stands for a uniform value.
    pub fn uniform_value(&self, value: Value<'c>) -> Option<V<'b, 'c>> {
        if !self.uniform.has(value) {
            return None;
        }
        self.mapping.find(value).map(|v| self.b.v(v))
    }

    /// A new array of one element per thread.
    pub fn new_array(&self, element: Type<'c>) -> V<'b, 'c> {
        self.allocate(&format!("memref<{}x{element}>", self.threads))
    }

    fn allocate(&self, r#type: &str) -> V<'b, 'c> {
        let r#type = Type::parse(self.b.context(), r#type).expect("a memref of scalars");
        self.b.at(self.entry, || {
            let segments =
                melior::ir::attribute::DenseI32ArrayAttribute::new(self.b.context(), &[0, 0])
                    .into();
            let alignment = qd_dialects::attributes::i64(self.b.context(), 64);
            self.b.result(
                "memref.alloca",
                &[],
                r#type,
                &[("operandSegmentSizes", segments), ("alignment", alignment)],
            )
        })
    }

    /// The array of a varying value, made if there is none yet.
    pub fn array_of(&mut self, value: Value<'c>) -> V<'b, 'c> {
        if let Some(array) = self.arrays.get(&key(value)) {
            return *array;
        }
        let array = self.new_array(value.r#type());
        self.arrays.insert(key(value), array);
        array
    }

    /// Makes an array hold a value, element by thread.
    pub fn define(&mut self, value: Value<'c>, array: V<'b, 'c>) {
        self.arrays.insert(key(value), array);
    }

    /// A loop over all threads.
    pub fn for_threads(&self, body: impl FnOnce(V<'b, 'c>)) {
        let b = self.b;
        b.for_(
            b.index(0),
            b.index(self.threads),
            b.index(1),
            [],
            |t, []| {
                body(t);
                []
            },
        );
    }

    /// A value as thread `t` has it, which need not be the thread whose loop this
    /// is.
    pub fn read(&self, value: Value<'c>, t: V<'b, 'c>) -> V<'b, 'c> {
        let mut thread = Thread {
            id: t,
            values: Mapping::new(),
        };
        self.b.v(self.in_thread(&mut thread, value))
    }

    fn in_thread(&self, thread: &mut Thread<'b, 'c>, value: Value<'c>) -> Value<'c> {
        if let Some(known) = thread.values.find(value) {
            return known;
        }
        if let Some(uniform) = self.uniform_value(value) {
            return uniform.value();
        }
        let found = if let Some(array) = self.arrays.get(&key(value)) {
            array.at(thread.id).value()
        } else if let Some(op) = value.defining_op() {
            self.recompute(thread, op)
        } else {
            value
        };
        thread.values.insert(value, found);
        found
    }

    fn recompute(&self, thread: &mut Thread<'b, 'c>, op: Op<'c>) -> Value<'c> {
        if let Some(id) = self.thread_identity(op.full_name(), thread.id) {
            return id.value();
        }
        let mut values = Mapping::new();
        for operand in op.operand_values() {
            values.insert(operand, self.in_thread(thread, operand));
        }
        values.clone_op(op, self.b.insertion_point()).first_result()
    }

    /// What the ops that name a thread are in thread `t`.
    fn thread_identity(&self, name: &str, t: V<'b, 'c>) -> Option<V<'b, 'c>> {
        Some(match name {
            "qd.simt.block.thread_id" => t,
            "qd.simt.lane_id" => (t & (self.wave - 1)).to_i32(),
            "qd.simt.subgroup_id" => (t >> i64::from(self.wave.trailing_zeros())).to_i32(),
            "qd.simt.elect" => (t & (self.wave - 1)).eq(0),
            _ => return None,
        })
    }

    /// What the ops that name the block or its shape are.
    fn block_identity(&self, name: &str) -> Option<V<'b, 'c>> {
        let b = self.b;
        Some(match name {
            "qd.simt.block.id" => self.block_id,
            "qd.simt.grid.dim" => self.grid_dim,
            "qd.simt.block.dim" => b.index(self.threads),
            "qd.simt.subgroup_size" => b.i32(self.wave as i32),
            "qd.simt.log2_subgroup_size" => b.i32(self.wave.trailing_zeros() as i32),
            "qd.simt.num_subgroups" => b.i32((self.threads / self.wave) as i32),
            _ => return None,
        })
    }

    // Ops.

    fn uniform_op(&mut self, op: Op<'c>) {
        let name = op.full_name();
        if let Some(value) = self.block_identity(name) {
            self.mapping.insert(op.first_result(), value.value());
        } else if name == "qd.simt.block.shared" {
            let r#type = descriptor::without_memory_space(self.b, op.first_result().r#type());
            let array = self.allocate(&r#type.to_string());
            self.mapping.insert(op.first_result(), array.value());
        } else {
            let copy = self.mapping.clone_op(op, self.b.insertion_point());
            strip_memory_space(self.b, copy);
        }
    }

    /// Emits a run of ops as one loop over the threads.
    fn flush(&mut self, run: &mut Vec<Op<'c>>) {
        let run = std::mem::take(run);
        if run.is_empty() {
            return;
        }
        let inside: HashSet<usize> = run.iter().map(|op| op.to_raw().ptr as usize).collect();
        // What is used behind the run: by ops outside it, or as a loop's value.
        let mut escaping = Vec::new();
        for op in &run {
            for result in op.result_values() {
                let escapes = result.uses().iter().any(|(user, _)| {
                    let mut user = *user;
                    loop {
                        if inside.contains(&(user.to_raw().ptr as usize)) {
                            return false;
                        }
                        match user.parent() {
                            Some(parent) if user.block() != op.block() => user = parent,
                            _ => return true,
                        }
                    }
                });
                if escapes {
                    escaping.push((result, self.array_of(result)));
                }
            }
        }
        let this = &*self;
        this.for_threads(|t| {
            let mut thread = Thread {
                id: t,
                values: Mapping::new(),
            };
            for op in &run {
                this.clone_into_thread(&mut thread, *op);
            }
            for (value, array) in &escaping {
                array.set(t, this.b.v(thread.values.get(*value)));
            }
        });
    }

    /// Copies an op, nested ones included, into the loop over threads.
    fn clone_into_thread(&self, thread: &mut Thread<'b, 'c>, op: Op<'c>) {
        // Everything it uses from outside must be at hand.
        let mut outside = op.operand_values();
        let mut identities = Vec::new();
        for inner in op.nested() {
            outside.extend(inner.operand_values());
            identities.push(inner.full_name());
        }
        for operand in outside {
            if self.is_known(operand) {
                self.in_thread(thread, operand);
            }
        }
        let mut values = thread.values.clone();
        for operand in op.walk_all().iter().flat_map(|o| o.operand_values()) {
            if let Some(uniform) = self.uniform_value(operand)
                && values.find(operand).is_none()
            {
                values.insert(operand, uniform.value());
            }
        }
        let copy = values.clone_op(op, self.b.insertion_point());
        for (old, new) in op.result_values().into_iter().zip(copy.result_values()) {
            thread.values.insert(old, new);
        }
        strip_memory_space(self.b, copy);
        for inner in copy.walk_all() {
            let name = inner.full_name();
            if !is_thread_identity(name) && self.block_identity_name(name).is_none() {
                continue;
            }
            let value = self.b.at(InsertionPoint::Before(inner), || {
                self.thread_identity(name, thread.id)
                    .or_else(|| self.block_identity(name))
            });
            if let Some(value) = value {
                inner.replace_with(&[value.value()]);
            }
        }
    }

    fn block_identity_name(&self, name: &str) -> Option<()> {
        matches!(
            name,
            "qd.simt.block.id"
                | "qd.simt.grid.dim"
                | "qd.simt.block.dim"
                | "qd.simt.subgroup_size"
                | "qd.simt.log2_subgroup_size"
                | "qd.simt.num_subgroups"
        )
        .then_some(())
    }

    /// Whether a value comes from outside the run being emitted.
    fn is_known(&self, value: Value<'c>) -> bool {
        self.mapping.find(value).is_some()
            || self.arrays.contains_key(&key(value))
            || value.defining_op().is_some_and(|op| self.is_cheap(op))
    }

    // Structure.

    fn structure(&mut self, op: Op<'c>) -> Result<'c> {
        match op.full_name() {
            "scf.for" => self.for_loop(op),
            "scf.if" => self.branch(op),
            _ => self.while_loop(op),
        }
    }

    fn control(&self, op: Op<'c>, value: Value<'c>) -> Result<'c, V<'b, 'c>> {
        self.uniform_value(value).ok_or_else(|| {
            Diagnostic::at(
                op,
                "holds a collective, but its control varies between the threads of a block",
            )
            .note(value.location(), "this value varies")
        })
    }

    /// Copies varying values to arrays, all reads before all writes.
    fn assign(&mut self, to: &[V<'b, 'c>], from: &[Value<'c>]) {
        if to.is_empty() {
            return;
        }
        let this = &*self;
        this.for_threads(|t| {
            let values: Vec<_> = from.iter().map(|v| this.read(*v, t)).collect();
            for (array, value) in to.iter().zip(values) {
                array.set(t, value);
            }
        });
    }

    fn for_loop(&mut self, op: Op<'c>) -> Result<'c> {
        let b = self.b;
        let operands = op.operand_values();
        let body = op.body().expect("a loop body");
        let carried = &arguments(body)[1..];
        let results = op.result_values();
        let lower = self.control(op, operands[0])?;
        let upper = self.control(op, operands[1])?;
        let step = self.control(op, operands[2])?;

        // Uniform carried values stay SSA; the others live in arrays.
        let (mut scalars, mut arrays, mut initial) = (Vec::new(), Vec::new(), Vec::new());
        for (i, argument) in carried.iter().enumerate() {
            if self.uniform.has(*argument) {
                scalars.push(i);
            } else {
                let array = self.new_array(argument.r#type());
                arrays.push((i, array));
                initial.push(operands[3 + i]);
            }
        }
        let targets: Vec<_> = arrays.iter().map(|(_, array)| *array).collect();
        self.assign(&targets, &initial);
        for (i, array) in &arrays {
            self.arrays.insert(key(carried[*i]), *array);
            self.arrays.insert(key(results[*i]), *array);
        }
        let start: Vec<_> = scalars
            .iter()
            .map(|i| self.uniform_value(operands[3 + i]).expect("uniform"))
            .collect();
        let yielded = operations(body)
            .pop()
            .map(|y| y.operand_values())
            .unwrap_or_default();
        let mut outcome = Ok(());
        let finals = b.for_(lower, upper, step, start, |i, state| {
            self.mapping.insert(arguments(body)[0], i.value());
            for (at, value) in scalars.iter().zip(&state) {
                self.mapping.insert(carried[*at], value.value());
            }
            outcome = self.block(body);
            let next: Vec<_> = arrays.iter().map(|(i, _)| yielded[*i]).collect();
            self.assign(&targets, &next);
            scalars
                .iter()
                .zip(&state)
                .map(|(i, old)| self.uniform_value(yielded[*i]).unwrap_or(*old))
                .collect()
        });
        for (i, value) in scalars.iter().zip(finals) {
            self.mapping.insert(results[*i], value.value());
        }
        outcome
    }

    fn branch(&mut self, op: Op<'c>) -> Result<'c> {
        let b = self.b;
        let condition = self.control(op, op.operand_values()[0])?;
        let results = op.result_values();
        let mut scalars = Vec::new();
        let mut arrays = Vec::new();
        for (i, result) in results.iter().enumerate() {
            if self.uniform.has(*result) {
                scalars.push(i);
            } else {
                arrays.push((i, self.array_of(*result)));
            }
        }
        let mut outcomes = Vec::new();
        let this = std::cell::RefCell::new(&mut *self);
        let arm = |index: usize| -> (Vec<V<'b, 'c>>, Result<'c>) {
            let Some(block) = op.region_block(index) else {
                return (Vec::new(), Ok(()));
            };
            let mut this = this.borrow_mut();
            let outcome = this.block(block);
            let yielded = operations(block)
                .pop()
                .map(|y| y.operand_values())
                .unwrap_or_default();
            let targets: Vec<_> = arrays.iter().map(|(_, a)| *a).collect();
            let values: Vec<_> = arrays.iter().map(|(i, _)| yielded[*i]).collect();
            this.assign(&targets, &values);
            let uniform = scalars
                .iter()
                .filter_map(|i| this.uniform_value(yielded[*i]))
                .collect();
            (uniform, outcome)
        };
        let outcomes_cell = std::cell::RefCell::new(&mut outcomes);
        let values = b.if_else(
            condition,
            || {
                let (values, outcome) = arm(0);
                outcomes_cell.borrow_mut().push(outcome);
                values
            },
            || {
                let (values, outcome) = arm(1);
                outcomes_cell.borrow_mut().push(outcome);
                values
            },
        );
        for (i, value) in scalars.iter().zip(values) {
            self.mapping.insert(results[*i], value.value());
        }
        outcomes.into_iter().collect()
    }

    fn while_loop(&mut self, op: Op<'c>) -> Result<'c> {
        let b = self.b;
        let before = op.region_block(0).expect("a condition region");
        let after = op.region_block(1).expect("a body region");
        let (state, passed) = (arguments(before), arguments(after));
        let results = op.result_values();
        let initial = op.operand_values();
        let condition = operations(before).pop().expect("scf.condition");
        let forwarded = condition.operand_values()[1..].to_vec();
        let yielded = operations(after)
            .pop()
            .map(|y| y.operand_values())
            .unwrap_or_default();

        // State that varies lives in arrays, as do varying forwarded values;
        // uniform state is carried, uniform forwarded values are forwarded.
        let uniform_state: Vec<usize> = (0..state.len())
            .filter(|i| self.uniform.has(state[*i]))
            .collect();
        let uniform_passed: Vec<usize> = (0..passed.len())
            .filter(|i| self.uniform.has(passed[*i]))
            .collect();
        let mut state_arrays = Vec::new();
        for (i, argument) in state.iter().enumerate() {
            if !self.uniform.has(*argument) {
                state_arrays.push((i, self.array_of(*argument)));
            }
        }
        let mut passed_arrays = Vec::new();
        for (i, argument) in passed.iter().enumerate() {
            if !self.uniform.has(*argument) {
                let array = self.array_of(*argument);
                self.arrays.insert(key(results[i]), array);
                passed_arrays.push((i, array));
            }
        }
        let targets: Vec<_> = state_arrays.iter().map(|(_, a)| *a).collect();
        let passed_targets: Vec<_> = passed_arrays.iter().map(|(_, a)| *a).collect();
        let start: Vec<_> = state_arrays.iter().map(|(i, _)| initial[*i]).collect();
        self.assign(&targets, &start);

        let carried: Vec<V> = uniform_state
            .iter()
            .map(|i| self.uniform_value(initial[*i]).expect("uniform"))
            .collect();
        let state_types: Vec<Type<'c>> = carried.iter().map(|v| v.ty()).collect();
        let passed_types: Vec<Type<'c>> =
            uniform_passed.iter().map(|i| passed[*i].r#type()).collect();
        let region = |types: &[Type<'c>]| {
            use melior::ir::RegionLike;
            let region = melior::ir::Region::new();
            region.append_block(qd_dialects::ir::new_block(types, b.location()));
            region
        };
        let operands: Vec<_> = carried.iter().map(|v| v.value()).collect();
        let lowered = b.insert(qd_dialects::ir::build(
            "scf.while",
            b.location(),
            &operands,
            &passed_types,
            &[],
            vec![region(&state_types), region(&passed_types)],
        ));
        let first = lowered.region_block(0).expect("just made");
        for (i, value) in uniform_state.iter().zip(arguments(first)) {
            self.mapping.insert(state[*i], value);
        }
        b.at(InsertionPoint::End(first), || -> Result<'c> {
            self.block(before)?;
            let values: Vec<_> = passed_arrays.iter().map(|(i, _)| forwarded[*i]).collect();
            self.assign(&passed_targets, &values);
            let mut operands = vec![self.control(op, condition.operand_values()[0])?.value()];
            for i in &uniform_passed {
                operands.push(self.control(op, forwarded[*i])?.value());
            }
            b.op("scf.condition", &operands, &[], &[]);
            Ok(())
        })?;
        let second = lowered.region_block(1).expect("just made");
        for (i, value) in uniform_passed.iter().zip(arguments(second)) {
            self.mapping.insert(passed[*i], value);
        }
        b.at(InsertionPoint::End(second), || -> Result<'c> {
            self.block(after)?;
            let values: Vec<_> = state_arrays.iter().map(|(i, _)| yielded[*i]).collect();
            self.assign(&targets, &values);
            let mut operands = Vec::new();
            for i in &uniform_state {
                operands.push(self.control(op, yielded[*i])?.value());
            }
            b.op("scf.yield", &operands, &[], &[]);
            Ok(())
        })?;
        for (i, value) in uniform_passed.iter().zip(lowered.result_values()) {
            self.mapping.insert(results[*i], value);
        }
        Ok(())
    }
}

fn is_terminator(name: &str) -> bool {
    matches!(name, "scf.yield" | "scf.condition" | "func.return")
}

fn is_thread_identity(name: &str) -> bool {
    matches!(
        name,
        "qd.simt.block.thread_id" | "qd.simt.lane_id" | "qd.simt.subgroup_id" | "qd.simt.elect"
    )
}

/// Whether the threads of a block meet somewhere below an op.
pub(super) fn contains_collective(op: Op<'_>) -> bool {
    op.nested()
        .iter()
        .any(|inner| collectives::is_collective(inner.full_name()))
}

/// Whether an op, or one in its regions, may write to memory.
fn may_write(op: Op<'_>) -> bool {
    op.walk_all().iter().any(|op| {
        let name = op.full_name();
        name == "memref.store"
            || name == "memref.atomic_rmw"
            || name == "func.call"
            || name.starts_with("qd.grid.atomic.")
    })
}

/// Shared arrays are plain memory here.
fn strip_memory_space<'c>(b: &Builder<'c>, op: Op<'c>) {
    for inner in op.walk_all() {
        for result in inner.result_values() {
            let old = result.r#type();
            if descriptor::shape(old).is_some() {
                let plain = descriptor::without_memory_space(b, old);
                if !descriptor::same(old, plain) {
                    result.set_type(plain);
                }
            }
        }
    }
}
