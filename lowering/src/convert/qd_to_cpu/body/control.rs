//! Control flow around runs: loops and branches whose conditions are the same in
//! every thread of a block.

use super::{BodyLowering, contains_collective};
use melior::ir::{Type, ValueLike};
use qd_dialects::{
    builder::V,
    diagnostic::{Diagnostic, Result},
    ir::{InsertionPoint, Op, OpExt, Value, ValueExt, arguments, operations},
    melior,
};

impl<'b, 'c> BodyLowering<'b, 'c> {
    /// Control flow that stays outside the loops over threads.
    pub(super) fn is_structure(&self, op: Op<'c>) -> bool {
        match op.full_name() {
            "scf.for" => self.uniform.has_all(&op.operand_values()[..3]) || contains_collective(op),
            "scf.if" => self.uniform.has(op.operand_values()[0]) || contains_collective(op),
            "scf.while" => contains_collective(op),
            _ => false,
        }
    }

    pub(super) fn structure(&mut self, op: Op<'c>) -> Result<'c> {
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
            self.arrays.insert(carried[*i].key(), *array);
            self.arrays.insert(results[*i].key(), *array);
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
                self.arrays.insert(results[i].key(), array);
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
