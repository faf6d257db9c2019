//! Buffers that are parts of one.

use super::assert;
use qd_dialects::{
    builder::{Builder, V},
    ir::{self, OpExt, Value, ValueExt, as_memref},
    melior::ir::{ShapedTypeLike, ValueLike},
    ops::grid,
};

/// The buffer that a value is part of by `qd.grid.view` alone; none where other ops say of what, too.
fn whole(mut value: Value<'_>) -> Option<Value<'_>> {
    while let Some(op) = value.defining_op() {
        match grid::View::of(op) {
            Some(view) => value = view.source(),
            // What the kernel has of its own is a buffer, too.
            None if op.is(grid::Scratch::NAME) => break,
            None => return None,
        }
    }
    Some(value)
}

/// Where a value begins and ends in its whole, in bytes.
fn bytes<'b, 'c>(b: &'b Builder<'c>, value: Value<'c>) -> [V<'b, 'c>; 2] {
    let size = |value: Value<'c>| {
        let element = ir::element_type(value.r#type()).expect("a buffer");
        b.index(i64::from(ir::bit_width(element).div_ceil(8)))
    };
    let (mut begin, mut part) = (b.index(0), value);
    while let Some(view) = part.defining_op().and_then(grid::View::of) {
        part = view.source();
        begin = begin + b.v(view.offset()) * size(part);
    }
    let rank = as_memref(value.r#type()).map_or(0, |memref| memref.rank());
    let extents = (0..rank).map(|dimension| extent(b, value, dimension));
    let count = extents.fold(b.index(1), |count, extent| count * extent);
    [begin, begin + count * size(value)]
}

fn extent<'b, 'c>(b: &'b Builder<'c>, value: Value<'c>, dimension: usize) -> V<'b, 'c> {
    let dimension = b.index(dimension as i64);
    b.result("memref.dim", &[b.v(value), dimension], b.index_type(), &[])
}

/// Asserts of each two of these buffers of which one is written, and which are parts of the same, that they do not
/// overlap; in a phase of one thread.
pub fn assert_apart<'c>(b: &Builder<'c>, buffers: &[(Value<'c>, bool)], text: &str) {
    for (i, (one, is_written)) in buffers.iter().enumerate() {
        for (other, is_other_written) in &buffers[i + 1..] {
            let is_same = whole(*one).is_some_and(|of| whole(*other) == Some(of));
            if one == other || !is_same || !(is_written | is_other_written) {
                continue;
            }
            let [[begin, end], [from, to]] = [*one, *other].map(|value| bytes(b, value));
            let is_apart = end.sle(from) | to.sle(begin);
            let is_none = begin.eq(end) | from.eq(to);
            assert(is_apart | is_none, text);
        }
    }
}

/// Checks that what a loop swaps has the same extents, and does not overlap.
pub(super) fn swap(of: grid::DoWhile<'_>) {
    let swapped = of.swap();
    if swapped.is_empty() {
        return;
    }
    let b = Builder::before(of.op());
    b.phase("swap checked", b.index(1), 1, || {
        for pair in swapped.chunks_exact(2) {
            let rank = as_memref(pair[0].r#type()).map_or(0, |memref| memref.rank());
            for dimension in 0..rank {
                let [one, other] = [pair[0], pair[1]].map(|value| extent(&b, value, dimension));
                let text = format!("what 'qd.grid.do_while' swaps has the same extent {dimension}");
                assert(one.eq(other), &text);
            }
        }
        let all: Vec<_> = swapped.iter().map(|value| (*value, true)).collect();
        assert_apart(&b, &all, "what 'qd.grid.do_while' swaps does not overlap");
    });
}
