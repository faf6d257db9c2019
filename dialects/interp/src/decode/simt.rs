//! Subgroup and block operations.

use super::{Decoder, Op, body::Body, read};
use crate::{
    fault::Fault,
    program::{BlockOp, Combining, Instruction, Scope, ShuffleMode, SubgroupOp},
    table::Form,
    value::Element,
};
use melior::ir::{ValueLike, operation::OperationLike};

impl<'c: 'm, 'm> Decoder<'c, 'm> {
    pub(super) fn simt(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        form: Form,
    ) -> Result<(), Fault> {
        let site = self.site(op);
        let tile = read::tile(op, self.wave)?;
        let subgroup = |op| Instruction::Subgroup(Box::new(op));
        let instruction = match form {
            Form::Id(what) => Instruction::Id {
                dst: body.result(op, 0)?,
                what,
            },
            Form::SubgroupFence => Instruction::Fence {
                scope: Scope::Subgroup,
            },
            Form::BlockFence => Instruction::Fence {
                scope: Scope::Block,
            },
            Form::DeviceFence => Instruction::Fence {
                scope: Scope::Device,
            },
            Form::Shuffle => {
                let (value, lane) = (body.operand(op, 0)?, body.operand(op, 1)?);
                let mode = read::case(op, "mode", ShuffleMode::parse)?;
                subgroup(SubgroupOp::Shuffle {
                    mode,
                    dst: body.result(op, 0)?,
                    value,
                    lane,
                    in_range: op.attribute("in_range").is_ok(),
                })
            }
            Form::Broadcast => {
                let (value, lane) = (body.operand(op, 0)?, body.operand(op, 1)?);
                subgroup(SubgroupOp::Broadcast {
                    dst: body.result(op, 0)?,
                    value,
                    lane,
                })
            }
            Form::BroadcastFirst => {
                let value = body.operand(op, 0)?;
                subgroup(SubgroupOp::BroadcastFirst {
                    dst: body.result(op, 0)?,
                    value,
                })
            }
            Form::Rotate => {
                let (value, delta) = (body.operand(op, 0)?, body.operand(op, 1)?);
                subgroup(SubgroupOp::Rotate {
                    dst: body.result(op, 0)?,
                    value,
                    delta,
                    tile,
                })
            }
            Form::SubgroupSync => subgroup(SubgroupOp::Sync),
            Form::Vote(vote) => {
                let predicate = body.operand(op, 0)?;
                subgroup(SubgroupOp::Vote {
                    vote,
                    dst: body.result(op, 0)?,
                    predicate,
                    tile,
                })
            }
            Form::AllEqual => {
                let value = body.operand(op, 0)?;
                let element = element_of_operand(op, 0)?;
                subgroup(SubgroupOp::AllEqual {
                    dst: body.result(op, 0)?,
                    value,
                    element,
                    tile,
                })
            }
            Form::Ballot | Form::BallotFirstN => {
                let predicate = body.operand(op, 0)?;
                let first = match form {
                    Form::Ballot => 64,
                    _ => read::required_u32(op, "n")?.clamp(1, 32),
                };
                subgroup(SubgroupOp::Ballot {
                    dst: body.result(op, 0)?,
                    predicate,
                    first,
                })
            }
            Form::MatchAny => {
                let value = body.operand(op, 0)?;
                let bits = read::integer(op, "bits").unwrap_or(64);
                subgroup(SubgroupOp::MatchAny {
                    dst: body.result(op, 0)?,
                    value,
                    among: u64::MAX >> (64 - bits.clamp(1, 64)),
                })
            }
            Form::MatchAll => {
                let value = body.operand(op, 0)?;
                subgroup(SubgroupOp::MatchAll {
                    dst: body.result(op, 0)?,
                    value,
                })
            }
            Form::ActiveMask => subgroup(SubgroupOp::ActiveMask {
                dst: body.result(op, 0)?,
            }),
            Form::Combine(combining) => {
                let heads = (combining == Combining::Segmented) as usize;
                let count = op.operand_count().saturating_sub(heads);
                let values = body.operands(op, 0..count)?;
                let head = (heads > 0).then(|| body.operand(op, count)).transpose()?;
                let combiner = self.combiner(op, &elements(op, count)?)?;
                let dst = body.results(op)?;
                subgroup(SubgroupOp::Combine {
                    combining,
                    dst,
                    values,
                    head,
                    tile,
                    combiner,
                })
            }
            Form::BitonicSort => subgroup(SubgroupOp::BitonicSort {
                source: [body.operand(op, 0)?, body.operand(op, 1)?],
                element: [element_of_operand(op, 0)?, element_of_operand(op, 1)?],
                unsigned: ["unsigned_key", "unsigned_value"].map(|name| op.has_attribute(name)),
                tile,
                dst: [body.result(op, 0)?, body.result(op, 1)?],
            }),
            Form::BlockSync => Instruction::Block(Box::new(BlockOp::Sync)),
            Form::Shared => {
                let result = op
                    .result(0)
                    .map_err(|_| read::fault(op, "lacks a result"))?;
                let (element, shape) = read::static_memref(op, result.r#type())?;
                body.code.shared.push((element, shape.iter().product()));
                let slot = body.code.shared.len() as u32 - 1;
                Instruction::Shared {
                    dst: body.result(op, 0)?,
                    slot,
                    shape: shape.into(),
                }
            }
            Form::BlockCombine(combining) => {
                let values = body.operands(op, 0..op.operand_count())?;
                let combiner = self.combiner(op, &elements(op, values.len())?)?;
                let dst = body.results(op)?;
                Instruction::Block(Box::new(BlockOp::Combine {
                    combining,
                    dst,
                    values,
                    combiner,
                }))
            }
            Form::RadixRank => {
                let bits = read::required_u32(op, "radix_bits")?;
                let [digit, histogram, prefix] = [0, 1, 2].map(|index| body.operand(op, index));
                let (digit, histogram, prefix) = (digit?, histogram?, prefix?);
                let valid = (op.operand_count() > 3)
                    .then(|| body.operand(op, 3))
                    .transpose()?;
                let dst = body.result(op, 0)?;
                Instruction::Block(Box::new(BlockOp::RadixRank {
                    dst,
                    digit,
                    histogram,
                    prefix,
                    valid,
                    bits,
                }))
            }
            _ => return Err(read::fault(op, "is not legal here")),
        };
        body.emit(site, instruction);
        Ok(())
    }
}

pub(super) fn element_of_operand(op: Op, index: usize) -> Result<Element, Fault> {
    let value = op
        .operand(index)
        .map_err(|_| read::fault(op, format!("lacks operand {index}")))?;
    read::element_of(op, value)
}

/// Types of the first `count` operands.
fn elements(op: Op, count: usize) -> Result<Vec<Element>, Fault> {
    op.operands()
        .take(count)
        .map(|value| {
            read::element(value.r#type()).ok_or_else(|| {
                read::fault(
                    op,
                    format!("has no reference semantics on {}", value.r#type()),
                )
            })
        })
        .collect()
}
