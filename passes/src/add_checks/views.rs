//! Views that may reach beyond the buffer that they are part of.

use super::{assert, extent, fixed_extent};
use crate::expand_views::{REINTERPRET, SUBVIEW, is_hosts, written};
use qd_dialects::{
    builder::{Builder, V},
    interfaces::view_source,
    ir::{Key, Op, OpExt, Value, ValueExt, as_memref},
    melior::ir::{ShapedTypeLike, ValueLike},
};
use std::collections::HashMap;

/// Of views that may reach beyond their buffers, whether they do not.
#[derive(Clone, Default)]
pub(super) struct Views<'c> {
    known: HashMap<Key, Value<'c>>,
}

impl<'c> Views<'c> {
    /// Checks what an op makes, if it is such a view: one of the host's in a phase of its own.
    pub fn check(&mut self, op: Op<'c>) {
        let b = Builder::before(op);
        let (holds, text) = match op.full_name() {
            SUBVIEW => (
                sub_view(&b, op),
                "'memref.subview' is within the buffer that it is a part of",
            ),
            REINTERPRET => (
                reinterpret(&b, op),
                "'memref.reinterpret_cast' is within the buffer that it is of",
            ),
            _ => return,
        };
        let Some(holds) = holds else { return };
        match is_hosts(op) {
            true => _ = b.phase("view checked", b.index(1), 1, || assert(holds, text)),
            false => assert(holds, text),
        }
        self.known.insert(op.first_result().key(), holds.value());
    }

    /// Whether the views that a buffer is part of are within theirs; none if they are whatever the data.
    pub fn hold<'b>(&self, b: &'b Builder<'c>, mut buffer: Value<'c>) -> Option<V<'b, 'c>> {
        let mut all: Option<V<'b, 'c>> = None;
        while let Some(source) = buffer.defining_op().and_then(view_source) {
            if let Some(holds) = self.known.get(&buffer.key()) {
                let holds = b.v(*holds);
                all = Some(all.map_or(holds, |others| others & holds));
            }
            buffer = source;
        }
        all
    }
}

/// Whether a subview is within its source in each dimension.
fn sub_view<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Option<V<'b, 'c>> {
    let source = op.operand_values()[0];
    let [offsets, sizes, strides] = written(b, op);
    let mut all: Option<V<'b, 'c>> = None;
    for (dimension, ((offset, size), stride)) in
        offsets.iter().zip(&sizes).zip(&strides).enumerate()
    {
        let numbers = [*offset, *size, *stride].map(ValueExt::constant_int);
        if let [Some(offset), Some(size @ 1..), Some(stride)] = numbers
            && let Some(available) = fixed_extent(source, dimension)
            && let Some(last) = (size - 1)
                .checked_mul(stride)
                .and_then(|reach| reach.checked_add(offset))
            && [offset, last].iter().all(|at| (0..available).contains(at))
        {
            continue;
        }
        let available = extent(b.v(source), dimension);
        let [offset, size, stride] = [*offset, *size, *stride].map(|value| b.v(value));
        let last = offset + (size - 1) * stride;
        let is_inside = size.sgt(0) & offset.lt(available) & last.lt(available);
        let holds = is_inside | (size.eq(0) & offset.le(available));
        all = Some(all.map_or(holds, |others| others & holds));
    }
    all
}

/// Whether the last element is one of the source's.
fn reinterpret<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Option<V<'b, 'c>> {
    let source = op.operand_values()[0];
    let rank = as_memref(source.r#type())?.rank();
    let available = (0..rank).fold(b.index(1), |all, dimension| {
        all * extent(b.v(source), dimension)
    });
    let [offsets, sizes, strides] = written(b, op);
    let offset = b.v(*offsets.first()?);
    let (mut last, mut is_some, mut is_empty) = (offset, b.bool(true), b.bool(false));
    for (size, stride) in sizes.iter().zip(&strides) {
        let (size, stride) = (b.v(*size), b.v(*stride));
        last = last + (size - 1) * stride;
        is_some = is_some & size.sgt(0) & stride.sge(0);
        is_empty = is_empty | size.eq(0);
    }
    let is_inside = is_some & offset.lt(available) & last.lt(available);
    Some(is_inside | (is_empty & offset.le(available)))
}
