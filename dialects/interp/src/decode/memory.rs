//! Loads, stores, atomics, and memref descriptors.

use super::{Decoder, Op, body::Body, read};
use crate::{
    fault::Fault,
    program::{Atomic, AtomicOp, Extent, Instruction, Kind, Order, Reinterpret, Scope, SubView},
    table::Form,
};
use melior::ir::{ValueLike, operation::OperationLike, r#type::MemRefType};

impl<'c: 'm, 'm> Decoder<'c, 'm> {
    pub(super) fn memory(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        form: Form,
    ) -> Result<(), Fault> {
        let site = self.site(op);
        let count = op.operand_count();
        let instruction = match form {
            Form::Load => {
                let (memref, indices) = (body.operand(op, 0)?, body.operands(op, 1..count)?);
                read::memref(op, operand_type(op, 0)?)?;
                Instruction::Load {
                    dst: body.result(op, 0)?,
                    memref,
                    indices,
                }
            }
            Form::Store => {
                read::memref(op, operand_type(op, 1)?)?;
                let (value, memref) = (body.operand(op, 0)?, body.operand(op, 1)?);
                Instruction::Store {
                    value,
                    memref,
                    indices: body.operands(op, 2..count)?,
                }
            }
            Form::Alloca => {
                let result = op
                    .result(0)
                    .map_err(|_| read::fault(op, "lacks a result"))?;
                let (element, shape) = read::static_memref(op, result.r#type())?;
                body.code.private.push((element, shape.iter().product()));
                let slot = body.code.private.len() as u32 - 1;
                Instruction::Alloca {
                    dst: body.result(op, 0)?,
                    slot,
                    shape: shape.into(),
                }
            }
            Form::AtomicRmw => {
                let number = read::required_integer(op, "kind")?;
                let which = upstream_kind(number)
                    .ok_or_else(|| read::fault(op, format!("has the unknown kind {number}")))?;
                // Upstream's has no order: nothing may rest on one.
                self.atomic(body, op, which, Scope::Device, Order::Relaxed)?
            }
            Form::AtomicCombine => {
                let kind = read::case(op, "kind", Kind::parse)?;
                self.ordered_atomic(body, op, AtomicOp::Combine(kind))?
            }
            Form::Atomic(which) => self.ordered_atomic(body, op, which)?,
            _ => return Err(read::fault(op, "is not legal here")),
        };
        body.emit(site, instruction);
        Ok(())
    }

    fn ordered_atomic(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        which: AtomicOp,
    ) -> Result<Instruction, Fault> {
        let scope = read::case(op, "scope", Scope::parse)?;
        let order = read::case(op, "order", Order::parse)?;
        self.atomic(body, op, which, scope, order)
    }

    fn atomic(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        which: AtomicOp,
        scope: Scope,
        order: Order,
    ) -> Result<Instruction, Fault> {
        let values = match which {
            AtomicOp::Load => 0,
            AtomicOp::CompareSwap => 2,
            _ => 1,
        };
        let (element, _) = read::memref(op, operand_type(op, values)?)?;
        let expected = (values == 2).then(|| body.operand(op, 0)).transpose()?;
        let value = (values > 0)
            .then(|| body.operand(op, values - 1))
            .transpose()?;
        let memref = body.operand(op, values)?;
        let indices = body.operands(op, values + 1..op.operand_count())?;
        let dst = (op.result_count() > 0)
            .then(|| body.result(op, 0))
            .transpose()?;
        Ok(Instruction::Atomic(Box::new(Atomic {
            op: which,
            element,
            scope,
            order,
            dst,
            memref,
            indices,
            value,
            expected,
        })))
    }

    pub(super) fn descriptor(
        &mut self,
        body: &mut Body,
        op: Op<'c, 'm>,
        form: Form,
    ) -> Result<(), Fault> {
        let site = self.site(op);
        let source = body.operand(op, 0)?;
        let result = op
            .result(0)
            .map_err(|_| read::fault(op, "lacks a result"))?;
        let instruction = match form {
            Form::Dim => {
                let index = body.operand(op, 1)?;
                Instruction::Dim {
                    dst: body.result(op, 0)?,
                    memref: source,
                    index,
                }
            }
            Form::Address => Instruction::Address {
                dst: body.result(op, 0)?,
                memref: source,
            },
            Form::MemrefCast => {
                let (_, shape) = read::memref(op, result.r#type())?;
                Instruction::MemrefCast {
                    dst: body.result(op, 0)?,
                    source,
                    shape: shape.into(),
                }
            }
            Form::View => {
                let (element, shape) = read::memref(op, result.r#type())?;
                let offset = body.operand(op, 1)?;
                let has_size = op.operand_count() > 2;
                let size = has_size.then(|| body.operand(op, 2)).transpose()?;
                Instruction::View {
                    dst: body.result(op, 0)?,
                    source,
                    offset,
                    size,
                    row: shape.get(1).copied().flatten(),
                    element,
                }
            }
            Form::CollapseShape => Instruction::Collapse {
                dst: body.result(op, 0)?,
                source,
                groups: read::groups(op, "reassociation").into(),
            },
            Form::ReinterpretCast => {
                let of = operand_type(op, 0)?;
                if !MemRefType::try_from(of).is_ok_and(|of| of.affine_map().is_identity()) {
                    return Err(read::fault(
                        op,
                        format!(
                            "is of {of}, which has a layout: the offset would count from elsewhere"
                        ),
                    ));
                }
                let [offsets, sizes, strides] = extents(body, op)?;
                let offset = offsets.first().copied();
                Instruction::Reinterpret(Box::new(Reinterpret {
                    dst: body.result(op, 0)?,
                    source,
                    offset: offset.ok_or_else(|| read::fault(op, "lacks an offset"))?,
                    sizes,
                    strides,
                }))
            }
            _ => {
                let (_, shape) = read::memref(op, result.r#type())?;
                let [offsets, sizes, strides] = extents(body, op)?;
                let kept = kept_dimensions(&sizes, &shape);
                let dst = body.result(op, 0)?;
                Instruction::SubView(Box::new(SubView {
                    dst,
                    source,
                    offsets,
                    sizes,
                    strides,
                    kept,
                }))
            }
        };
        body.emit(site, instruction);
        Ok(())
    }
}

/// Offsets, sizes and strides, of operands after the first.
fn extents<'c: 'm, 'm>(body: &mut Body, op: Op<'c, 'm>) -> Result<[Vec<Extent>; 3], Fault> {
    let mut next = 1;
    let mut extents = |name: &str| {
        read::integers(op, name)
            .into_iter()
            .map(|value| {
                if value != i64::MIN {
                    return Ok(Extent::Static(value));
                }
                next += 1;
                body.operand(op, next - 1).map(Extent::Dynamic)
            })
            .collect::<Result<Vec<_>, _>>()
    };
    Ok([
        extents("static_offsets")?,
        extents("static_sizes")?,
        extents("static_strides")?,
    ])
}

fn operand_type<'c>(op: Op<'c, '_>, index: usize) -> Result<melior::ir::Type<'c>, Fault> {
    let value = op
        .operand(index)
        .map_err(|_| read::fault(op, format!("lacks operand {index}")))?;
    Ok(value.r#type())
}

/// Which dimensions a rank-reducing subview keeps: it drops sizes of 1.
fn kept_dimensions(sizes: &[Extent], result: &[Option<usize>]) -> Vec<bool> {
    let mut to_drop = sizes.len().saturating_sub(result.len());
    let mut kept = 0;
    sizes
        .iter()
        .map(|size| {
            let unit = *size == Extent::Static(1);
            let wanted = result.get(kept) == Some(&Some(1));
            let drop = to_drop > 0 && unit && !wanted;
            if drop {
                to_drop -= 1;
            } else {
                kept += 1;
            }
            !drop
        })
        .collect()
}

/// The kinds of `memref.atomic_rmw`, by number.
fn upstream_kind(number: i64) -> Option<AtomicOp> {
    use AtomicOp::Combine;
    Some(match number {
        0 | 1 => Combine(Kind::Add),
        2 => Combine(Kind::And),
        3 => AtomicOp::Exchange,
        4 => AtomicOp::Maximum,
        5 => Combine(Kind::MaxNum),
        6 => Combine(Kind::MaxS),
        7 => Combine(Kind::MaxU),
        8 => AtomicOp::Minimum,
        9 => Combine(Kind::MinNum),
        10 => Combine(Kind::MinS),
        11 => Combine(Kind::MinU),
        12 | 13 => Combine(Kind::Mul),
        14 => Combine(Kind::Or),
        15 => Combine(Kind::Xor),
        _ => return None,
    })
}
