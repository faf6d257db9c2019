//! Structured control flow and calls.

use super::{Decoder, Op, block, body::Body, read};
use crate::{
    fault::{Fault, SiteId},
    program::{Instruction, IntPredicate, Reg},
    table::Form,
    value::Element,
};
use melior::ir::{BlockLike, operation::OperationLike};
use qd_artifact::{Dtype, printing};

impl<'c: 'm, 'm> Decoder<'c, 'm> {
    pub(super) fn control(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        form: Form,
    ) -> Result<(), Fault> {
        let site = self.site(op);
        match form {
            Form::If => self.if_op(body, op, site),
            Form::For => self.for_op(body, op, site),
            Form::While => self.while_op(body, op, site),
            Form::ExecuteRegion => {
                let values = self.yielding(body, op, 0, 0)?;
                body.bind_results(op, &values)
            }
            Form::IndexSwitch => self.index_switch(body, op, site),
            Form::Call => self.call(body, op),
            _ => {
                let condition = body.operand(op, 0)?;
                let message = read::string(op, "msg").unwrap_or_default().into();
                body.emit(site, Instruction::Assert { condition, message });
                Ok(())
            }
        }
    }

    pub(super) fn print(&mut self, body: &mut Body, op: Op<'c, 'm>) -> Result<(), Fault> {
        let site = self.site(op);
        let format = read::string(op, "format").unwrap_or_default();
        let elements =
            (0..op.operand_count()).map(|index| super::simt::element_of_operand(op, index));
        let elements: Vec<Element> = elements.collect::<Result<_, _>>()?;
        let types: Vec<Dtype> = elements.iter().copied().map(Element::dtype).collect();
        printing::check(&format, &types).map_err(|why| read::fault(op, why))?;
        let registers = body.operands(op, 0..elements.len())?;
        let values = registers.iter().copied().zip(elements).collect();
        let format = format.into();
        body.emit(site, Instruction::Print { format, values });
        Ok(())
    }

    fn if_op(&mut self, body: &mut Body, op: Op<'c, 'm>, site: SiteId) -> Result<(), Fault> {
        let condition = body.operand(op, 0)?;
        let results: Vec<Reg> = (0..op.result_count()).map(|_| body.fresh()).collect();
        let test = body.emit_forward(
            site,
            Instruction::If {
                condition,
                otherwise: 0,
            },
        );
        let values = self.yielding(body, op, 0, 0)?;
        body.copy(site, &results, &values);
        body.land(test);
        let turn = body.emit_forward(site, Instruction::Else { end: 0 });
        let values = self.yielding(body, op, 1, 0)?;
        body.copy(site, &results, &values);
        body.land(turn);
        body.emit(site, Instruction::EndIf);
        body.bind_results(op, &results)
    }

    fn for_op(&mut self, body: &mut Body, op: Op<'c, 'm>, site: SiteId) -> Result<(), Fault> {
        let [lower, bound, step] = [0, 1, 2].map(|index| body.operand(op, index));
        let (lower, bound, step) = (lower?, bound?, step?);
        let unsigned = op.has_attribute("unsignedCmp");
        let initial = body.operands(op, 3..op.operand_count())?;
        let bounds = op.operand(0).map_err(|_| read::fault(op, "lacks bounds"))?;
        let element = read::element_of(op, bounds)?;
        let counter = body.fresh();
        let carried: Vec<Reg> = initial.iter().map(|_| body.fresh()).collect();
        let Some(block) = block(op, 0)? else {
            return Err(read::fault(op, "has no body"));
        };
        body.bind_argument(op, block, 0, counter)?;
        for (index, &reg) in carried.iter().enumerate() {
            body.bind_argument(op, block, index + 1, reg)?;
        }
        body.emit(
            site,
            Instruction::EnterLoop {
                step: Some((step, element)),
            },
        );
        body.copy(site, &[counter], &[lower]);
        body.copy(site, &carried, &initial);
        let head = body.here();
        let test = body.emit_forward(
            site,
            Instruction::ForTest {
                counter,
                bound,
                element,
                unsigned,
                exit: 0,
            },
        );
        let values = self.yielding(body, op, 0, 0)?;
        body.copy(site, &carried, &values);
        let next = body.emit_forward(
            site,
            Instruction::ForStep {
                counter,
                step,
                element,
                unsigned,
                head,
                exit: 0,
            },
        );
        body.land(test);
        body.land(next);
        body.bind_results(op, &carried)
    }

    fn while_op(&mut self, body: &mut Body, op: Op<'c, 'm>, site: SiteId) -> Result<(), Fault> {
        let initial = body.operands(op, 0..op.operand_count())?;
        let (Some(before), Some(after)) = (block(op, 0)?, block(op, 1)?) else {
            return Err(read::fault(op, "lacks a region"));
        };
        let carried: Vec<Reg> = initial.iter().map(|_| body.fresh()).collect();
        // A lane that leaves keeps what it passed on: the loop's results.
        let passed: Vec<Reg> = (0..op.result_count()).map(|_| body.fresh()).collect();
        for (index, &reg) in carried.iter().enumerate() {
            body.bind_argument(op, before, index, reg)?;
        }
        for (index, &reg) in passed.iter().enumerate().take(after.argument_count()) {
            body.bind_argument(op, after, index, reg)?;
        }
        body.emit(site, Instruction::EnterLoop { step: None });
        body.copy(site, &carried, &initial);
        let head = body.here();
        let Some(condition_op) = self.region(body, op, 0)? else {
            return Err(read::fault(op, "lacks a condition"));
        };
        let condition = body.operand(condition_op, 0)?;
        let values = body.operands(condition_op, 1..condition_op.operand_count())?;
        body.copy(site, &passed, &values);
        let test = body.emit_forward(site, Instruction::WhileTest { condition, exit: 0 });
        let values = self.yielding(body, op, 1, 0)?;
        body.copy(site, &carried, &values);
        body.emit(site, Instruction::Jump { target: head });
        body.land(test);
        body.bind_results(op, &passed)
    }

    /// A chain of conditions, the default last.
    fn index_switch(&mut self, body: &mut Body, op: Op<'c, 'm>, site: SiteId) -> Result<(), Fault> {
        let chosen = body.operand(op, 0)?;
        let results: Vec<Reg> = (0..op.result_count()).map(|_| body.fresh()).collect();
        let cases = read::integers(op, "cases");
        let mut turns = Vec::new();
        for (index, &case) in cases.iter().enumerate() {
            let constant = body.fresh();
            body.emit(
                site,
                Instruction::Constant {
                    dst: constant,
                    bits: case as u64,
                },
            );
            let condition = body.fresh();
            body.emit(
                site,
                Instruction::CompareInts {
                    predicate: IntPredicate::Eq,
                    element: Element::Index,
                    dst: condition,
                    a: chosen,
                    b: constant,
                },
            );
            let test = body.emit_forward(
                site,
                Instruction::If {
                    condition,
                    otherwise: 0,
                },
            );
            let values = self.yielding(body, op, index + 1, 0)?;
            body.copy(site, &results, &values);
            body.land(test);
            turns.push(body.emit_forward(site, Instruction::Else { end: 0 }));
        }
        let values = self.yielding(body, op, 0, 0)?;
        body.copy(site, &results, &values);
        for turn in turns.into_iter().rev() {
            body.land(turn);
            body.emit(site, Instruction::EndIf);
        }
        body.bind_results(op, &results)
    }

    fn call(&mut self, body: &mut Body, op: Op<'c, 'm>) -> Result<(), Fault> {
        let callee = read::symbol(op, "callee")?;
        let Some(&function) = self.symbols.get(&callee) else {
            return Err(read::fault(
                op,
                format!("calls '{callee}', which is not in this module"),
            ));
        };
        let arguments = body.operands(op, 0..op.operand_count())?;
        let results = body.inlined(op, &callee, |body| {
            let Some(entry) = block(function, 0)? else {
                return Err(read::fault(
                    op,
                    format!("calls '{callee}', which has no body"),
                ));
            };
            for (index, &reg) in arguments.iter().enumerate() {
                body.bind_argument(function, entry, index, reg)?;
            }
            self.yielding(body, function, 0, 0)
        })?;
        body.bind_results(op, &results)
    }
}
