//! Arithmetic; and the dispatch on an operation's form.

use super::{
    Decoder, Op,
    body::{Body, Setting},
    read,
};
use crate::{
    algorithms::Algorithm,
    fault::Fault,
    program::{Binary, Cast, FloatPredicate, Id, Instruction, IntPredicate, LaneRelation, Promise},
    table::Form,
    value::Element,
};
use melior::ir::operation::OperationLike;

/// Where memory is used.
const IN_BODIES: [Setting; 3] = [
    Setting::Thread,
    Setting::Element,
    Setting::ElementOfSubgroup,
];

impl<'c: 'm, 'm> Decoder<'c, 'm> {
    /// Decodes one operation within a body.
    pub(super) fn operation(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        form: Form,
    ) -> Result<(), Fault> {
        use Form as F;
        match form {
            F::Constant | F::Poison | F::IndexWidth => self.constant(body, op, form),
            F::Binary(_)
            | F::Unary(_)
            | F::Cast(_)
            | F::CompareInts
            | F::CompareFloats
            | F::Select
            | F::Fma
            | F::Clamp
            | F::Extended(_)
            | F::FindNthSet
            | F::Philox
            | F::LaneMask
            | F::ScratchSlots => self.arithmetic(body, op, form),

            F::If | F::For | F::While | F::ExecuteRegion | F::IndexSwitch | F::Call | F::Assert => {
                self.control(body, op, form)
            }
            F::Print => {
                self.only_in(body, op, &IN_BODIES)?;
                self.print(body, op)
            }

            F::Dim | F::MemrefCast | F::SubView | F::View => self.descriptor(body, op, form),
            F::Address | F::CollapseShape | F::ReinterpretCast => {
                self.only_in(body, op, &[Setting::Host])?;
                self.descriptor(body, op, form)
            }
            F::Load | F::Store | F::Alloca | F::AtomicRmw | F::Atomic(_) | F::AtomicCombine => {
                self.only_in(body, op, &IN_BODIES)?;
                self.memory(body, op, form)
            }

            F::Id(Id::Lane | Id::Elect | Id::SubgroupSize | Id::Log2SubgroupSize)
            | F::Shuffle
            | F::Broadcast
            | F::BroadcastFirst
            | F::Rotate
            | F::SubgroupSync
            | F::Vote(_)
            | F::AllEqual
            | F::Ballot
            | F::BallotFirstN
            | F::MatchAny
            | F::MatchAll
            | F::ActiveMask
            | F::Combine(_)
            | F::BitonicSort => {
                self.only_in(body, op, &[Setting::Thread, Setting::ElementOfSubgroup])?;
                self.simt(body, op, form)
            }
            F::Id(_) | F::BlockSync | F::Shared | F::BlockCombine(_) | F::RadixRank => {
                self.only_in(body, op, &[Setting::Thread])?;
                self.simt(body, op, form)
            }
            F::SubgroupFence | F::BlockFence | F::DeviceFence => {
                self.only_in(body, op, &IN_BODIES)?;
                self.simt(body, op, form)
            }
            F::Hint => self.only_in(
                body,
                op,
                &[
                    Setting::Thread,
                    Setting::Element,
                    Setting::ElementOfSubgroup,
                ],
            ),

            F::Phase
            | F::ForEach
            | F::DoWhile
            | F::RunIf
            | F::Launch
            | F::Fill
            | F::Dispatch
            | F::Variant
            | F::Control
            | F::Faults
            | F::Prints
            | F::Scratch
            | F::Algorithm(_)
            | F::Symbol
            | F::Terminator => Err(read::fault(
                op,
                "is not legal here: it belongs at the top level of a kernel",
            )),
        }
    }

    fn only_in(&self, body: &Body, op: Op, settings: &[Setting]) -> Result<(), Fault> {
        if settings.contains(&body.setting) {
            return Ok(());
        }
        if settings == [Setting::Host] {
            return Err(read::fault(
                op,
                "is not legal in a body: the host makes such a view, at the top level of a kernel",
            ));
        }
        Err(read::fault(
            op,
            match body.setting {
                Setting::Host => "cannot be evaluated by the host",
                Setting::Combiner => "is not legal in a combiner: it is not pure",
                Setting::Element | Setting::ElementOfSubgroup => {
                    "is not legal in a 'qd.grid.for_each': its body runs per element, in no particular thread"
                }
                Setting::Thread => "is not legal in a phase",
            },
        ))
    }

    fn constant(&mut self, body: &mut Body, op: Op<'c, 'm>, form: Form) -> Result<(), Fault> {
        let site = self.site(op);
        let dst = body.result(op, 0)?;
        let result = op
            .result(0)
            .map_err(|_| read::fault(op, "lacks a result"))?;
        let instruction = match form {
            Form::Poison => Instruction::Poison { dst },
            Form::IndexWidth => Instruction::Constant { dst, bits: 64 },
            _ => {
                let element = read::element_of(op, result.into())?;
                let attribute = read::required(op, "value")?;
                let bits = read::constant(attribute, element).ok_or_else(|| {
                    read::fault(
                        op,
                        format!("has no reference semantics for the value {attribute}"),
                    )
                })?;
                Instruction::Constant { dst, bits }
            }
        };
        body.emit(site, instruction);
        Ok(())
    }

    fn arithmetic(&mut self, body: &mut Body, op: Op<'c, 'm>, form: Form) -> Result<(), Fault> {
        let site = self.site(op);
        let operands = body.operands(op, 0..op.operand_count())?;
        let at = |index: usize| {
            operands
                .get(index)
                .copied()
                .ok_or_else(|| read::fault(op, "lacks an operand"))
        };
        let operand_type = |index: usize| {
            let value = op
                .operand(index)
                .map_err(|_| read::fault(op, "lacks an operand"))?;
            read::element_of(op, value)
        };
        let result_type = || {
            let value = op
                .result(0)
                .map_err(|_| read::fault(op, "lacks a result"))?;
            read::element_of(op, value.into())
        };
        let dst = body.result(op, 0)?;
        let instruction = match form {
            Form::Binary(which) => Instruction::Binary {
                op: which,
                element: operand_type(0)?,
                dst,
                a: at(0)?,
                b: at(1)?,
            },
            Form::Unary(which) => Instruction::Unary {
                op: which,
                element: operand_type(0)?,
                dst,
                a: at(0)?,
            },
            Form::Cast(which) => Instruction::Cast {
                op: which,
                from: operand_type(0)?,
                to: result_type()?,
                dst,
                a: at(0)?,
            },
            Form::CompareInts => {
                let number = read::integer(op, "predicate").map(|number| number as usize);
                let predicate = match number {
                    Some(number) => IntPredicate::ALL.get(number).copied().ok_or_else(|| {
                        read::fault(op, format!("has the unknown predicate {number}"))
                    })?,
                    None => read::case(op, "pred", IntPredicate::parse)?,
                };
                let element = operand_type(0)?;
                Instruction::CompareInts {
                    predicate,
                    element,
                    dst,
                    a: at(0)?,
                    b: at(1)?,
                }
            }
            Form::CompareFloats => {
                let number = read::required_integer(op, "predicate")?;
                let predicate = FloatPredicate::of(number as u64).ok_or_else(|| {
                    read::fault(op, format!("has the unknown predicate {number}"))
                })?;
                let element = operand_type(0)?;
                Instruction::CompareFloats {
                    predicate,
                    element,
                    dst,
                    a: at(0)?,
                    b: at(1)?,
                }
            }
            Form::Select => Instruction::Select {
                dst,
                condition: at(0)?,
                a: at(1)?,
                b: at(2)?,
            },
            Form::Fma => {
                let element = operand_type(0)?;
                Instruction::Fma {
                    element,
                    dst,
                    a: at(0)?,
                    b: at(1)?,
                    c: at(2)?,
                }
            }
            Form::Clamp => Instruction::Clamp {
                element: operand_type(0)?,
                dst,
                value: at(0)?,
                low: at(1)?,
                high: at(2)?,
            },
            Form::Extended(which) => Instruction::Extended {
                op: which,
                element: operand_type(0)?,
                low: dst,
                high: body.result(op, 1)?,
                a: at(0)?,
                b: at(1)?,
            },
            Form::FindNthSet => Instruction::FindNthSet {
                dst,
                mask: at(0)?,
                base: at(1)?,
                offset: at(2)?,
            },
            Form::Philox => {
                let (mut read, mut made) = ([dst; 6], [dst; 4]);
                for (index, reg) in read.iter_mut().enumerate() {
                    *reg = at(index)?;
                }
                for (index, reg) in made.iter_mut().enumerate().skip(1) {
                    *reg = body.result(op, index)?;
                }
                Instruction::Philox { made, read }
            }
            Form::LaneMask => Instruction::LaneMask {
                dst,
                lane: at(0)?,
                relation: read::case(op, "relation", LaneRelation::parse)?,
                element: result_type()?,
            },
            _ => Instruction::ScratchSlots {
                dst,
                n: at(0)?,
                algorithm: read::case(op, "algorithm", Algorithm::named)?,
                depth: match op.has_attribute("log256_max_n") {
                    true => read::required_u32(op, "log256_max_n")?,
                    // The largest capacity there is.
                    false => 4,
                },
            },
        };
        body.emit(site, instruction);
        for (promise, element) in promises(op, form, &operand_type, &result_type)? {
            let b = operands.get(1).copied().unwrap_or(operands[0]);
            body.emit(
                site,
                Instruction::Promise {
                    promise,
                    element,
                    dst,
                    a: operands[0],
                    b,
                },
            );
        }
        Ok(())
    }
}

/// What an operation's flags promise.
fn promises(
    op: Op,
    form: Form,
    operand_type: &dyn Fn(usize) -> Result<Element, Fault>,
    result_type: &dyn Fn() -> Result<Element, Fault>,
) -> Result<Vec<(Promise, Element)>, Fault> {
    if !matches!(form, Form::Binary(_) | Form::Cast(_)) {
        return Ok(Vec::new());
    }
    let mut promises = Vec::new();
    let (flags, element) = (read::printed(op, "overflowFlags"), operand_type(0)?);
    let truncates = matches!(form, Form::Cast(Cast::Unsigned));
    let which = if let Form::Binary(which) = form {
        which
    } else {
        Binary::AddI
    };
    if flags.contains("nsw") {
        promises.push(if truncates {
            Promise::TruncatesSigned(result_type()?)
        } else {
            Promise::NoSignedWrap(which)
        });
    }
    if flags.contains("nuw") {
        promises.push(if truncates {
            Promise::TruncatesUnsigned(result_type()?)
        } else {
            Promise::NoUnsignedWrap(which)
        });
    }
    if op.has_attribute("isExact") {
        promises.push(Promise::Exact(which));
    }
    if op.has_attribute("nonNeg") {
        promises.push(Promise::NonNegative);
    }
    Ok(promises
        .into_iter()
        .map(|promise| (promise, element))
        .collect())
}
