//! Loops and branches around parallel regions, whose control is uniform in the
//! active threads.

use super::BodyLowering;
use crate::convert::descriptor;
use melior::ir::{RegionLike, Type, ValueLike};
use qd_dialects::{
    builder::V,
    diagnostic::Result,
    ir::{Block, InsertionPoint, Op, OpExt, Value, ValueExt, Values, arguments, operations},
    melior,
};

impl<'b, 'c> BodyLowering<'b, 'c> {
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

    pub(super) fn for_loop(&mut self, op: Op<'c>) -> Result<'c> {
        let b = self.b;
        let operands = op.operand_values();
        let body = op.body().expect("a loop body");
        let arguments = arguments(body);
        let (induction, carried) = (arguments[0], &arguments[1..]);
        let results = op.result_values();
        let lower = self.common(operands[0]);
        let upper = self.common(operands[1]);
        let step = self.common(operands[2]);
        // The same number of iterations in each thread does not make the
        // induction variables equal.
        let numbers = (!self.is_common(operands[0])).then(|| self.array_of(induction));

        // Uniform carried values stay SSA; the others live in arrays.
        let (mut scalars, mut arrays, mut initial) = (Vec::new(), Vec::new(), Vec::new());
        for (i, argument) in carried.iter().enumerate() {
            if self.once.has(*argument) {
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
            .map(|i| self.common(operands[3 + i]))
            .collect();
        let yielded = yielded(body);
        let mut outcome = Ok(());
        let finals = b.for_(lower, upper, step, start, |i, state| {
            if let (Some(unsigned), InsertionPoint::End(block)) =
                (op.attr("unsignedCmp"), b.insertion_point())
                && let Some(lowered) = block.parent_operation()
            {
                lowered.set_attr("unsignedCmp", unsigned);
            }
            match numbers {
                None => self.mapping.insert(induction, i.value()),
                Some(array) => {
                    let this = &*self;
                    this.for_threads(|t| array.set(t, this.read(operands[0], t) + (i - lower)));
                }
            }
            for (at, value) in scalars.iter().zip(&state) {
                self.mapping.insert(carried[*at], value.value());
            }
            outcome = self.block(body);
            if outcome.is_err() {
                return state;
            }
            // Before the arrays change, of which these may be computed.
            let uniform = scalars.iter().map(|i| self.common(yielded[*i])).collect();
            let next: Vec<_> = arrays.iter().map(|(i, _)| yielded[*i]).collect();
            self.assign(&targets, &next);
            uniform
        });
        for (i, value) in scalars.iter().zip(finals) {
            self.mapping.insert(results[*i], value.value());
        }
        outcome
    }

    /// `scf.if` and `scf.index_switch`.
    pub(super) fn branch(&mut self, op: Op<'c>) -> Result<'c> {
        let b = self.b;
        let condition = self.common(op.operand_values()[0]);
        let results = op.result_values();
        let (scalars, varying): (Vec<usize>, Vec<usize>) =
            (0..results.len()).partition(|i| self.once.has(results[*i]));
        let targets: Vec<_> = varying.iter().map(|i| self.array_of(results[*i])).collect();
        let types: Vec<_> = scalars.iter().map(|i| self.plain(results[*i])).collect();
        let cases = op.attr("cases").map(|cases| ("cases", cases));
        let lowered = b.insert(qd_dialects::ir::build(
            op.full_name(),
            b.location(),
            &[condition.value()],
            &types,
            cases.as_slice(),
            (0..op.region_count()).map(|_| self.region(&[])).collect(),
        ));
        for index in 0..op.region_count() {
            let arm = lowered.region_block(index).expect("just made");
            b.at(InsertionPoint::End(arm), || -> Result<'c> {
                let mut uniform = Vec::new();
                if let Some(block) = op.region_block(index) {
                    self.block(block)?;
                    let yielded = yielded(block);
                    let values: Vec<_> = varying.iter().map(|i| yielded[*i]).collect();
                    self.assign(&targets, &values);
                    uniform.extend(scalars.iter().map(|i| self.common(yielded[*i]).value()));
                }
                b.op("scf.yield", &uniform, &[], &[]);
                Ok(())
            })?;
        }
        for (i, value) in scalars.iter().zip(lowered.result_values()) {
            self.mapping.insert(results[*i], value);
        }
        Ok(())
    }

    pub(super) fn while_loop(&mut self, op: Op<'c>) -> Result<'c> {
        let b = self.b;
        let before = op.region_block(0).expect("a condition region");
        let after = op.region_block(1).expect("a body region");
        let (state, passed) = (arguments(before), arguments(after));
        let results = op.result_values();
        let initial = op.operand_values();
        let condition = operations(before).pop().expect("scf.condition");
        let forwarded = condition.operand_values()[1..].to_vec();
        let yielded = yielded(after);

        // State that varies lives in arrays, as do varying forwarded values;
        // uniform state is carried, uniform forwarded values are forwarded.
        let uniform_state: Vec<usize> = (0..state.len())
            .filter(|i| self.once.has(state[*i]))
            .collect();
        let uniform_passed: Vec<usize> = (0..passed.len())
            .filter(|i| self.once.has(passed[*i]))
            .collect();
        let mut state_arrays = Vec::new();
        for (i, argument) in state.iter().enumerate() {
            if !self.once.has(*argument) {
                state_arrays.push((i, self.array_of(*argument)));
            }
        }
        let mut passed_arrays = Vec::new();
        for (i, argument) in passed.iter().enumerate() {
            if !self.once.has(*argument) {
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
            .map(|i| self.common(initial[*i]))
            .collect();
        let state_types: Vec<Type<'c>> = carried.iter().map(|v| v.ty()).collect();
        let passed_types: Vec<Type<'c>> = uniform_passed
            .iter()
            .map(|i| self.plain(passed[*i]))
            .collect();
        let operands: Vec<_> = carried.iter().map(|v| v.value()).collect();
        let lowered = b.insert(qd_dialects::ir::build(
            "scf.while",
            b.location(),
            &operands,
            &passed_types,
            &[],
            vec![self.region(&state_types), self.region(&passed_types)],
        ));
        let first = lowered.region_block(0).expect("just made");
        for (i, value) in uniform_state.iter().zip(arguments(first)) {
            self.mapping.insert(state[*i], value);
        }
        b.at(InsertionPoint::End(first), || -> Result<'c> {
            self.block(before)?;
            let values: Vec<_> = passed_arrays.iter().map(|(i, _)| forwarded[*i]).collect();
            self.assign(&passed_targets, &values);
            let mut operands = vec![self.common(condition.operand_values()[0]).value()];
            for i in &uniform_passed {
                operands.push(self.common(forwarded[*i]).value());
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
            // Before the arrays change, of which these may be computed.
            let uniform = uniform_state
                .iter()
                .map(|i| self.common(yielded[*i]).value());
            let uniform: Vec<_> = uniform.collect();
            let values: Vec<_> = state_arrays.iter().map(|(i, _)| yielded[*i]).collect();
            self.assign(&targets, &values);
            b.op("scf.yield", &uniform, &[], &[]);
            Ok(())
        })?;
        for (i, value) in uniform_passed.iter().zip(lowered.result_values()) {
            self.mapping.insert(results[*i], value);
        }
        Ok(())
    }

    /// A region of one block with these arguments.
    fn region(&self, arguments: &[Type<'c>]) -> melior::ir::Region<'c> {
        let region = melior::ir::Region::new();
        region.append_block(qd_dialects::ir::new_block(arguments, self.b.location()));
        region
    }

    /// The type of a value's replacement.
    fn plain(&self, value: Value<'c>) -> Type<'c> {
        descriptor::without_memory_space(self.b, value.r#type())
    }
}

/// The operands of a region's terminator.
fn yielded<'c>(block: Block<'c>) -> Values<'c> {
    operations(block)
        .pop()
        .map(|end| end.operand_values())
        .unwrap_or_default()
}
