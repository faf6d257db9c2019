//! `qd-expand-swaps`: a loop that swaps buffers becomes one of two iterations, with the names exchanged.
//!
//! No target exchanges the buffers of a launch on the device. So the body is there twice, the second time with
//! each pair's names exchanged and under an `if` of the flag: after both, each name is of the buffer that it was
//! of before. A control word says whether the first was the last. Then the number of iterations is odd, and the
//! elements are exchanged behind the loop, once.
//!
//! Errors: a buffer that is `qd.scratch`; the flag, or a view that the body uses, in a buffer that is swapped.
//!
//! Limits: a loop around a loop grows by as many bodies as there are combinations. `qd-share-bodies` merges
//! those that differ in their arguments alone.
//!
//! Before:
//! ```mlir
//! qd.grid.do_while %flag : memref<i32> swap(%x = %a, %y = %b : memref<?xi32>, memref<?xi32>) { BODY(%x, %y) }
//! ```
//! After:
//! ```mlir
//! %odd = qd.grid.control : memref<1xi32>
//! qd.grid.do_while %flag : memref<i32> {
//!   BODY(%a, %b)
//!   qd.grid.phase "note_odd" blocks(1) threads(1) { %odd[0] = %flag[] == 0 }
//!   qd.grid.if %flag : memref<i32> { BODY(%b, %a) }
//! }
//! qd.grid.if %odd : memref<1xi32> {
//!   qd.grid.for_each "exchange" %i to min(dim %a, 0, dim %b, 0) { exchange %a[%i] and %b[%i] }
//!   qd.grid.phase "clear_odd" blocks(1) threads(1) { %odd[0] = 0 }
//! }
//! ```

use qd_dialects::{
    argument_attributes,
    attributes::names,
    builder::{Builder, V},
    clone::Mapping,
    diagnostic::{Diagnostic, Result},
    interfaces::view_source,
    ir::{InsertionPoint, Op, OpExt, Value, ValueExt, arguments, as_memref, operations},
    melior::{
        dialect::DialectHandle,
        ir::{ShapedTypeLike, ValueLike},
    },
    ops::grid,
    pass::{NoOptions, Pass},
};

/// The pass.
pub struct ExpandSwaps;

impl Pass for ExpandSwaps {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-swaps";
    const SUMMARY: &'static str = "Expand loops that swap buffers into two iterations";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let loops = module.nested().into_iter().filter_map(grid::DoWhile::of);
        let mut loops: Vec<_> = loops.filter(|one| !one.swap().is_empty()).collect();
        for swapping in &loops {
            check(*swapping)?;
        }
        // Inner loops first, which are copied with the bodies around them.
        loops.reverse();
        loops.into_iter().for_each(expand);
        Ok(())
    }
}

/// The buffer that a value is part of.
fn root(mut value: Value<'_>) -> Value<'_> {
    while let Some(source) = value.defining_op().and_then(view_source) {
        value = source;
    }
    value
}

fn is_scratch(buffer: Value<'_>) -> bool {
    buffer.block_argument().is_some_and(|(block, number)| {
        block.parent_operation().is_some_and(|kernel| {
            kernel.is(grid::Kernel::NAME)
                && argument_attributes::has(kernel, number, names::SCRATCH)
        })
    })
}

/// What the op's verifier does not see, for it does not look at where operands come from.
fn check(swapping: grid::DoWhile<'_>) -> Result<'_> {
    let (op, swapped) = (swapping.op(), swapping.swap());
    let error = |message: &str| Err(Diagnostic::at(op, message));
    for value in &swapped {
        if is_scratch(root(*value)) {
            return error(
                "'swap' lists a buffer that is 'qd.scratch': an exchange reads all elements, also those that \
                 the kernel has not written",
            );
        }
        if root(*value) == root(swapping.flag()) {
            return error("has its flag in a buffer that it swaps");
        }
    }
    for inner in op.nested() {
        let is_another = |value: Value| {
            as_memref(value.r#type()).is_some()
                && swapped.iter().any(|one| root(*one) == root(value))
        };
        if inner.operand_values().into_iter().any(is_another) {
            let message = "uses part of a buffer that the loop around it swaps by a view from outside: make it in the \
                           loop, of the name that 'swap' gives the buffer";
            return Err(Diagnostic::at(inner, message).note(op.location(), "the loop"));
        }
    }
    Ok(())
}

fn expand(swapping: grid::DoWhile<'_>) {
    let (op, body) = (swapping.op(), swapping.body());
    let b = Builder::before(op);
    let (flag, swapped) = (b.v(swapping.flag()), swapping.swap());
    let names = arguments(body);
    let odd = b.control(1);
    let expanded = b.do_while(flag, || {
        let ops = operations(body);
        let phase = b.phase("note_odd", b.index(1), 1, || {
            let is_last = flag.first().eq(0);
            odd.set_first(is_last.to_i32());
        });
        b.run_if(flag, || {
            let mut exchanged = Mapping::new();
            for (place, name) in names.iter().enumerate() {
                exchanged.insert(*name, swapped[place ^ 1]);
            }
            for op in &ops {
                exchanged.clone_op(*op, b.insertion_point());
            }
        });
        for (name, buffer) in names.iter().zip(&swapped) {
            name.replace_all_uses(*buffer);
        }
        let at = InsertionPoint::Before(first_of(phase));
        for op in ops {
            op.move_to(at);
        }
    });
    for (name, value) in op.attributes() {
        if let Ok(name) = name.as_string_ref().as_str()
            && name.contains('.')
        {
            expanded.set_attr(name, value);
        }
    }
    b.run_if(odd, || {
        for pair in swapped.chunks_exact(2) {
            exchange(&b, b.v(pair[0]), b.v(pair[1]));
        }
        b.phase("clear_odd", b.index(1), 1, || odd.set_first(b.i32(0)));
    });
    op.erase();
}

/// The number of blocks of a phase, which is right before it.
fn first_of(phase: Op<'_>) -> Op<'_> {
    let blocks = grid::Phase::cast(phase).blocks();
    blocks.defining_op().unwrap_or(phase)
}

/// How much of a dimension two buffers have. Of an argument and another the rows are compared before a
/// launch; for all else, nothing is written beyond either.
fn extent<'b, 'c>(b: &'b Builder<'c>, buffers: [V<'b, 'c>; 2], dimension: usize) -> V<'b, 'c> {
    let [x, y] = buffers.map(|buffer| {
        let dimension = b.index(dimension as i64);
        b.result("memref.dim", &[buffer, dimension], b.index_type(), &[])
    });
    x.min(y)
}

/// A phase that exchanges all elements of two buffers.
fn exchange<'b, 'c>(b: &'b Builder<'c>, x: V<'b, 'c>, y: V<'b, 'c>) {
    let rank = as_memref(x.ty()).map_or(0, |memref| memref.rank());
    let rows = match rank {
        0 => b.index(1),
        _ => extent(b, [x, y], 0),
    };
    b.for_each("exchange", rows, None, |i| {
        let at = if rank == 0 { Vec::new() } else { vec![i] };
        row(b, [x, y], at, rank);
    });
}

/// Exchanges the elements whose first indices are given.
fn row<'b, 'c>(b: &'b Builder<'c>, buffers: [V<'b, 'c>; 2], at: Vec<V<'b, 'c>>, rank: usize) {
    let [x, y] = buffers;
    if at.len() == rank {
        let (of_x, of_y) = (x.load(&at), y.load(&at));
        x.store(&at, of_y);
        y.store(&at, of_x);
        return;
    }
    let extent = extent(b, buffers, at.len());
    b.for_(b.index(0), extent, b.index(1), [], |i, []| {
        row(b, buffers, [at, vec![i]].concat(), rank);
        []
    });
}
