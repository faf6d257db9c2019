//! Device-wide algorithms.

use super::{Decoder, Op, read, steps::Host};
use crate::{
    fault::Fault,
    program::{Algo, AlgoOp, Algorithm, Limits},
    table::Form,
    value::Element,
};
use melior::ir::{ValueLike, operation::OperationLike};

impl<'c: 'm, 'm> Decoder<'c, 'm> {
    pub(super) fn algorithm(
        &mut self,
        host: &Host,
        op: Op<'c, 'm>,
        form: Form,
    ) -> Result<Algo, Fault> {
        let limits = |scratch: Vec<u32>, count: u32| -> Result<Option<Limits>, Fault> {
            Ok(Some(Limits {
                scratch,
                count,
                depth: depth(op)?,
            }))
        };
        match form {
            Form::Reduce | Form::Scan(_) => {
                let segments = read::segments(op);
                let &[inputs, outputs, scratch, 1] = &segments[..] else {
                    return Err(read::fault(op, "has operands that do not add up"));
                };
                let elements = (0..inputs)
                    .map(|index| element_at(op, index))
                    .collect::<Result<Vec<_>, _>>()?;
                let combiner = self.combiner(op, &elements)?;
                let scratch_from = inputs + outputs;
                let limits = limits(
                    host.regs(op, scratch_from..scratch_from + scratch)?,
                    host.reg(op, scratch_from + scratch)?,
                )?;
                let (inputs, outputs) = (
                    host.regs(op, 0..inputs)?,
                    host.regs(op, inputs..scratch_from)?,
                );
                let op = match form {
                    Form::Scan(which) => AlgoOp::Scan {
                        inclusive: which == Algorithm::InclusiveScan,
                        inputs,
                        outputs,
                        combiner,
                    },
                    _ => AlgoOp::Reduce {
                        inputs,
                        outputs,
                        combiner,
                    },
                };
                Ok(Algo { op, limits })
            }
            Form::Compact { rest } => Ok(Algo {
                op: AlgoOp::Compact {
                    rest,
                    input: host.reg(op, 0)?,
                    flags: host.reg(op, 1)?,
                    output: host.reg(op, 2)?,
                    written: host.reg(op, 3)?,
                },
                limits: limits(vec![host.reg(op, 4)?], host.reg(op, 5)?)?,
            }),
            Form::Sort => {
                let segments = read::segments(op);
                let &[1, 1, values, temporary, 1, 1] = &segments[..] else {
                    return Err(read::fault(op, "has operands that do not add up"));
                };
                let mut temporaries = vec![host.reg(op, 1)?];
                if temporary > 0 {
                    temporaries.push(host.reg(op, 2 + values)?);
                }
                let scratch = 2 + values + temporary;
                Ok(Algo {
                    op: AlgoOp::Sort {
                        keys: host.reg(op, 0)?,
                        values: (values > 0).then(|| host.reg(op, 2)).transpose()?,
                        temporaries,
                        unsigned: op.has_attribute("is_unsigned"),
                        end_bit: read::integer(op, "end_bit").map(|bit| bit as u32),
                    },
                    limits: limits(vec![host.reg(op, scratch)?], host.reg(op, scratch + 1)?)?,
                })
            }
            Form::ReduceByKey => Ok(Algo {
                op: AlgoOp::ReduceByKey {
                    keys: host.reg(op, 0)?,
                    values: host.reg(op, 1)?,
                    keys_out: host.reg(op, 2)?,
                    values_out: host.reg(op, 3)?,
                    runs: host.reg(op, 4)?,
                    combiner: self.combiner(op, &[element_at(op, 1)?])?,
                },
                limits: limits(vec![host.reg(op, 5)?], host.reg(op, 6)?)?,
            }),
            _ => Ok(Algo {
                op: AlgoOp::Sort {
                    keys: host.reg(op, 0)?,
                    values: (op.operand_count() > 1)
                        .then(|| host.reg(op, 1))
                        .transpose()?,
                    temporaries: Vec::new(),
                    unsigned: op.has_attribute("is_unsigned"),
                    end_bit: None,
                },
                limits: None,
            }),
        }
    }
}

fn depth(op: Op) -> Result<u32, Fault> {
    match read::required_u32(op, "log256_max_n")? {
        depth @ 1..=4 => Ok(depth),
        depth => Err(read::fault(
            op,
            format!("has log256_max_n = {depth}, but 1 to 4 are possible"),
        )),
    }
}

/// Element type of a buffer operand.
fn element_at(op: Op, index: usize) -> Result<Element, Fault> {
    let value = op
        .operand(index)
        .map_err(|_| read::fault(op, format!("lacks operand {index}")))?;
    read::memref(op, value.r#type()).map(|(element, _)| element)
}
