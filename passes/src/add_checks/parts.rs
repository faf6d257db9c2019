//! Buffers that are parts of one, and arguments that may be.

use super::assert;
use qd_dialects::{
    argument_attributes,
    attributes::names,
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

/// Buffers of a step, and whether each is written.
pub struct Buffers<'b, 'c> {
    all: Vec<(Value<'c>, bool)>,
    /// Of each, where the argument of the kernel lies that it is, or is part of, if that may share memory with others.
    addresses: Vec<Option<V<'b, 'c>>>,
}

impl<'b, 'c> Buffers<'b, 'c> {
    /// These, before a phase that compares them: the host knows where arguments lie.
    pub fn new(b: &'b Builder<'c>, all: Vec<(Value<'c>, bool)>) -> Self {
        let values = all
            .iter()
            .map(|(value, _)| whole(*value).filter(|of| may_alias(*of)));
        let address = |value| {
            let name = "memref.extract_aligned_pointer_as_index";
            b.result(name, &[b.v(value)], b.index_type(), &[])
        };
        let addresses = values.map(|value| value.map(address)).collect();
        Self { all, addresses }
    }

    /// Asserts of each two of them of which one is written, and which are parts of the same or may be, that they do not
    /// overlap; in a phase of one thread.
    pub fn assert_apart(&self, b: &'b Builder<'c>, text: &str) {
        for (i, (one, is_written)) in self.all.iter().enumerate() {
            for (j, (other, is_other_written)) in self.all.iter().enumerate().skip(i + 1) {
                if one == other || !(is_written | is_other_written) {
                    continue;
                }
                let is_same = whole(*one).is_some_and(|of| whole(*other) == Some(of));
                let begins = match (is_same, self.addresses[i], self.addresses[j]) {
                    (true, ..) => [b.index(0); 2],
                    (false, Some(one), Some(other)) => [one, other],
                    _ => continue,
                };
                let [begin, from] = begins;
                let [[begin, end], [from, to]] =
                    [(begin, *one), (from, *other)].map(|(begin, value)| bytes(b, begin, value));
                let is_apart = end.sle(from) | to.sle(begin);
                let is_none = begin.eq(end) | from.eq(to);
                assert(is_apart | is_none, text);
            }
        }
    }
}

/// Whether a value is an argument of a kernel that may share memory with others.
fn may_alias(value: Value<'_>) -> bool {
    let argument = value.block_argument();
    let of = argument.and_then(|(block, index)| Some((block.parent_operation()?, index)));
    of.is_some_and(|(kernel, index)| {
        kernel.is(grid::Kernel::NAME) && argument_attributes::has(kernel, index, names::MAY_ALIAS)
    })
}

/// Where a value begins and ends, in bytes, if what it is part of begins there.
fn bytes<'b, 'c>(b: &'b Builder<'c>, begin: V<'b, 'c>, value: Value<'c>) -> [V<'b, 'c>; 2] {
    let size = |value: Value<'c>| {
        let element = ir::element_type(value.r#type()).expect("a buffer");
        b.index(i64::from(ir::bit_width(element).div_ceil(8)))
    };
    let (mut begin, mut part) = (begin, value);
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

/// Checks that what a loop swaps has the same extents, and does not overlap.
pub(super) fn swap(of: grid::DoWhile<'_>) {
    let swapped = of.swap();
    if swapped.is_empty() {
        return;
    }
    let b = Builder::before(of.op());
    let all = swapped.iter().map(|value| (*value, true)).collect();
    let buffers = Buffers::new(&b, all);
    b.phase("swap checked", b.index(1), 1, || {
        for pair in swapped.chunks_exact(2) {
            let rank = as_memref(pair[0].r#type()).map_or(0, |memref| memref.rank());
            for dimension in 0..rank {
                let [one, other] = [pair[0], pair[1]].map(|value| extent(&b, value, dimension));
                let text = format!("what 'qd.grid.do_while' swaps has the same extent {dimension}");
                assert(one.eq(other), &text);
            }
        }
        buffers.assert_apart(&b, "what 'qd.grid.do_while' swaps does not overlap");
    });
}
