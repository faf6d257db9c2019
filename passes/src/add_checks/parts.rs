//! Buffers that are parts of one.

use super::assert;
use qd_dialects::{
    builder::{Builder, V},
    ir::{self, Key, OpExt, Value, ValueExt, as_memref},
    melior::ir::{ShapedTypeLike, ValueLike},
    ops::grid,
};

/// The bytes of a buffer that a value has.
struct Bytes<'b, 'c> {
    /// The buffer.
    of: Key,
    begin: V<'b, 'c>,
    end: V<'b, 'c>,
}

impl<'b, 'c> Bytes<'b, 'c> {
    /// Those of a value that is a chain of `qd.grid.view`; none of one that other ops are in, too.
    fn of(b: &'b Builder<'c>, value: Value<'c>) -> Option<Self> {
        let size = |value: Value<'c>| {
            let element = ir::element_type(value.r#type()).expect("a buffer");
            b.index(i64::from(ir::bit_width(element).div_ceil(8)))
        };
        let mut begin = b.index(0);
        let mut whole = value;
        while let Some(op) = whole.defining_op() {
            let Some(view) = grid::View::of(op) else {
                // What the kernel has of its own is a buffer, too.
                if op.is(grid::Scratch::NAME) {
                    break;
                }
                return None;
            };
            whole = view.source();
            begin = begin + b.v(view.offset()) * size(whole);
        }
        let rank = as_memref(value.r#type())?.rank();
        let extents = (0..rank).map(|dimension| extent(b, value, dimension));
        let count = extents.fold(b.index(1), |count, extent| count * extent);
        Some(Self {
            of: whole.key(),
            begin,
            end: begin + count * size(value),
        })
    }
}

fn extent<'b, 'c>(b: &'b Builder<'c>, value: Value<'c>, dimension: usize) -> V<'b, 'c> {
    let dimension = b.index(dimension as i64);
    b.result("memref.dim", &[b.v(value), dimension], b.index_type(), &[])
}

/// Asserts of each two of these buffers of which one is written, and which are parts of the same, that they do not
/// overlap; in a phase of one thread.
pub fn assert_apart<'c>(b: &Builder<'c>, buffers: &[(Value<'c>, bool)], text: &str) {
    let parts = buffers.iter().map(|(value, _)| Bytes::of(b, *value));
    let parts: Vec<_> = parts.collect();
    for (i, one) in parts.iter().enumerate() {
        for (j, other) in parts.iter().enumerate().skip(i + 1) {
            let is_written = buffers[i].1 || buffers[j].1;
            if let (Some(one), Some(other)) = (one, other)
                && is_written
                && one.of == other.of
                && buffers[i].0 != buffers[j].0
            {
                let is_before = one.end.sle(other.begin) | other.end.sle(one.begin);
                let is_none = one.begin.eq(one.end) | other.begin.eq(other.end);
                assert(is_before | is_none, text);
            }
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
