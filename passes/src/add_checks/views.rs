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
        let (reaches, text) = match op.full_name() {
            SUBVIEW => (
                sub_view(&b, op),
                "'memref.subview' is within the buffer that it is a part of",
            ),
            REINTERPRET => (
                Vec::from_iter(reinterpret(&b, op)),
                "'memref.reinterpret_cast' is within the buffer that it is of",
            ),
            _ => return,
        };
        // A comparison for each dimension, so that a fault has its numbers.
        let say = || {
            for (furthest, beyond) in &reaches {
                assert(furthest.lt(*beyond), text);
            }
        };
        // Not the same comparison as in a phase: that would become this one, of which a fault there has no numbers.
        let each = reaches
            .iter()
            .map(|(furthest, beyond)| beyond.gt(*furthest));
        let Some(holds) = each.reduce(|all, each| all & each) else {
            return;
        };
        match is_hosts(op) {
            true => _ = b.phase("view checked", b.index(1), 1, say),
            false => say(),
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

/// Where a view reaches to at most, and what that has to be less than.
type Reach<'b, 'c> = (V<'b, 'c>, V<'b, 'c>);

/// That of elements from `offset` to `last`, of which there are as many as `is_some` and `is_empty` say, or a number below 0. One
/// without elements may begin at the end.
fn reach<'b, 'c>(
    offset: V<'b, 'c>,
    last: V<'b, 'c>,
    [is_some, is_empty]: [V<'b, 'c>; 2],
    available: V<'b, 'c>,
) -> Reach<'b, 'c> {
    let of_some = is_some.select(offset.max(last), offset.same(-1));
    (
        is_empty.select(offset, of_some),
        is_empty.select(available + 1, available),
    )
}

/// Of a subview, in each dimension in which it may be beyond its source.
fn sub_view<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Vec<Reach<'b, 'c>> {
    let source = op.operand_values()[0];
    let [offsets, sizes, strides] = written(b, op);
    let mut all = Vec::new();
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
        all.push(reach(offset, last, [size.sgt(0), size.eq(0)], available));
    }
    all
}

/// Of elements of the source, in their order.
fn reinterpret<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>) -> Option<Reach<'b, 'c>> {
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
    Some(reach(offset, last, [is_some, is_empty], available))
}
