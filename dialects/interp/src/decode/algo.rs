//! Device-wide algorithms.

use super::{Decoder, Op, read, steps::Host};
use crate::{
    algorithms::{Algorithm, Arity, Operand},
    fault::Fault,
    program::Algo,
    value::Element,
};
use melior::ir::{ValueLike, operation::OperationLike};

impl<'c: 'm, 'm> Decoder<'c, 'm> {
    pub(super) fn algorithm(
        &mut self,
        host: &Host,
        op: Op<'c, 'm>,
        definition: &'static Algorithm,
    ) -> Result<Algo, Fault> {
        let mut groups = Vec::new();
        let (mut end, mut combined) = (0, 0..0);
        for (number, size) in sizes(op, definition)?.into_iter().enumerate() {
            let operands = end..end + size;
            end = operands.end;
            if definition.combines == Some(number) {
                combined = operands.clone();
            }
            groups.push(host.regs(op, operands)?);
        }
        let combiner = match definition.combines {
            Some(_) => {
                let elements = combined.map(|index| element_at(op, index));
                let elements = elements.collect::<Result<Vec<_>, _>>()?;
                Some(self.combiner(op, &elements)?)
            }
            None => None,
        };
        Ok(Algo {
            definition,
            groups,
            combiner,
            is_deterministic: op.has_attribute("deterministic"),
            is_unsigned: op.has_attribute("is_unsigned"),
            end_bit: read::integer(op, "end_bit").map(|bit| bit as u32),
            depth: definition.slots.map(|_| depth(op)).transpose()?,
        })
    }
}

/// How many buffers each operand is.
fn sizes(op: Op, definition: &Algorithm) -> Result<Vec<usize>, Fault> {
    let operands = definition.operands;
    let mut sizes = read::segments(op);
    if sizes.is_empty() {
        // Where nothing is said, at most one operand may be left out.
        let is_whole = op.operand_count() == operands.len();
        let size = |operand: &Operand| usize::from(is_whole || operand.arity != Arity::Optional);
        sizes = operands.iter().map(size).collect();
    }
    let fits = |(operand, size): (&Operand, &usize)| match operand.arity {
        Arity::One => *size == 1,
        Arity::Optional => *size <= 1,
        Arity::Many => true,
    };
    let add_up = sizes.len() == operands.len()
        && sizes.iter().sum::<usize>() == op.operand_count()
        && operands.iter().zip(&sizes).all(fits);
    match add_up {
        true => Ok(sizes),
        false => Err(read::fault(op, "has operands that do not add up")),
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
