//! Per-thread ops of the dialect as upstream ops.

use crate::convert::descriptor;
use melior::ir::ValueLike;
use qd_dialects::{
    attributes::{self, Kind},
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    ir::{self, Op, OpExt},
    melior,
};

/// Rewrites every op of ours that is left below `root`.
pub fn lower<'c>(root: Op<'c>) -> Result<'c> {
    for op in root.nested() {
        let name = op.full_name();
        let Some(short) = name.strip_prefix("qd.") else {
            continue;
        };
        // Reached with its op, when that is cloned or rewritten.
        if short == "yield" {
            continue;
        }
        let b = Builder::before(op);
        let operands = b.vs(&op.operand_values());
        let value = match short {
            "math.popcnt" => Some(narrow(b.result(
                "math.ctpop",
                &operands,
                operands[0].ty(),
                &[],
            ))),
            "math.clz" => Some(narrow(b.result(
                "math.ctlz",
                &operands,
                operands[0].ty(),
                &[],
            ))),
            "math.ffs" => Some(ffs(&b, operands[0])),
            "math.fns" => Some(fns(&b, operands[0], operands[1], operands[2])),
            "simt.lanemask" => Some(lanemask(&b, op, operands[0])),
            "grid.view" => Some(view(&b, op, &operands)),
            "grid.atomic.rmw" => Some(atomic_rmw(&b, op, &operands)),
            "grid.atomic.load" => Some(atomic_access(&b, op, &operands, None)),
            "grid.atomic.store" => {
                atomic_access(&b, op, &operands[1..], Some(operands[0]));
                None
            }
            "grid.atomic.cas" => Some(atomic_cas(&b, op, &operands)),
            "simt.mem_fence" | "simt.block.mem_fence" | "grid.mem_fence" => {
                fence(&b, short);
                None
            }
            _ => {
                return Err(Diagnostic::at(
                    op,
                    "has no lowering to the cpu target here: it belongs to an earlier level",
                ));
            }
        };
        match value {
            Some(value) => op.replace_with(&[value.value()]),
            None => op.erase(),
        }
    }
    Ok(())
}

fn narrow<'b, 'c>(count: V<'b, 'c>) -> V<'b, 'c> {
    count.to_i32()
}

/// 1-based position of the lowest set bit, 0 for 0.
fn ffs<'b, 'c>(b: &'b Builder<'c>, x: V<'b, 'c>) -> V<'b, 'c> {
    let position = narrow(b.result("math.cttz", &[x], x.ty(), &[])) + 1;
    x.eq(0).select(b.i32(0), position)
}

/// Goes through the bits from `base` on, up or down, until enough are found.
fn fns<'b, 'c>(
    b: &'b Builder<'c>,
    mask: V<'b, 'c>,
    base: V<'b, 'c>,
    offset: V<'b, 'c>,
) -> V<'b, 'c> {
    let zero = b.i32(0);
    let down = offset.slt(0);
    let step = down.select(b.i32(-1), b.i32(1));
    let magnitude = down.select(zero - offset, offset);
    let none = b.i32(-1);
    let here = ((mask >> base) & 1).ne(0);
    let [_, _, found] = b.while_(
        [base, magnitude, none],
        |[bit, left, found]| bit.lt(32) & left.ne(0) & found.eq(none),
        |[bit, left, found]| {
            let set = (mask >> bit) & 1;
            let left = left - set;
            let hit = set.ne(0) & left.eq(0);
            [bit + step, left, hit.select(bit, found)]
        },
    );
    offset.eq(0).select(here.select(base, none), found)
}

fn lanemask<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, lane: V<'b, 'c>) -> V<'b, 'c> {
    let r#type = op.first_result().r#type();
    let one = b.int(r#type, 1);
    let own = one << lane.cast(r#type);
    let below = own - one;
    match op
        .attr("relation")
        .map(attributes::case_of)
        .unwrap_or_default()
        .as_str()
    {
        "lt" => below,
        "le" => below | own,
        "eq" => own,
        "gt" => !(below | own),
        _ => !below,
    }
}

fn view<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, operands: &[V<'b, 'c>]) -> V<'b, 'c> {
    let r#type = op.first_result().r#type();
    let pointer = descriptor::pointer_of_memref(b, operands[0]);
    let pointer =
        descriptor::offset_pointer(b, pointer, operands[1].to_i64(), operands[0].element());
    descriptor::memref_from_pointer(b, pointer, Some(operands[2].to_i64()), r#type)
}

/// The address of an element, and whether it is in shared memory: there one
/// host thread runs the whole block, and nothing need be atomic.
fn address<'b, 'c>(b: &'b Builder<'c>, operands: &[V<'b, 'c>]) -> V<'b, 'c> {
    let memref = operands[0];
    let pointer = descriptor::pointer_of_memref(b, memref);
    let extents = descriptor::shape(memref.ty()).expect("a memref");
    let mut index = b.i64(0);
    for (extent, at) in extents.iter().zip(&operands[1..]) {
        index = index * extent.unwrap_or(1) + at.to_i64();
    }
    descriptor::offset_pointer(b, pointer, index, memref.element())
}

/// `llvm`'s number of an ordering.
fn ordering(op: Op<'_>) -> i64 {
    match op
        .attr("order")
        .map(attributes::case_of)
        .unwrap_or_default()
        .as_str()
    {
        "relaxed" => 2,
        "acquire" => 4,
        "release" => 5,
        _ => 6,
    }
}

fn aligned<'c>(b: &Builder<'c>, value: V<'_, 'c>) -> melior::ir::Attribute<'c> {
    attributes::i64(b.context(), i64::from(ir::bit_width(value.ty()) / 8))
}

fn atomic_access<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    operands: &[V<'b, 'c>],
    stored: Option<V<'b, 'c>>,
) -> V<'b, 'c> {
    let at = address(b, operands);
    let order = attributes::i64(b.context(), ordering(op));
    match stored {
        Some(value) => {
            let alignment = aligned(b, value);
            b.op(
                "llvm.store",
                &[value.value(), at.value()],
                &[],
                &[("ordering", order), ("alignment", alignment)],
            );
            at
        }
        None => {
            let r#type = operands[0].element();
            let alignment = attributes::i64(b.context(), i64::from(ir::bit_width(r#type) / 8));
            b.result(
                "llvm.load",
                &[at],
                r#type,
                &[("ordering", order), ("alignment", alignment)],
            )
        }
    }
}

fn atomic_rmw<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, operands: &[V<'b, 'c>]) -> V<'b, 'c> {
    let kind = op.attr("kind").and_then(Kind::of).expect("a verified kind");
    let value = operands[0];
    let at = address(b, &operands[1..]);
    let float = value.is_float();
    // Numbers of `llvm.atomicrmw`'s operations.
    let operation = match kind {
        Kind::Add if float => Some(11),
        Kind::Add => Some(1),
        Kind::And => Some(3),
        Kind::Or => Some(5),
        Kind::Xor => Some(6),
        Kind::MaxSi => Some(7),
        Kind::MinSi => Some(8),
        Kind::MaxUi => Some(9),
        Kind::MinUi => Some(10),
        Kind::MaxNumF => Some(13),
        Kind::MinNumF => Some(14),
        Kind::Mul => None,
    };
    let order = ordering(op);
    if let Some(operation) = operation {
        return b.result(
            "llvm.atomicrmw",
            &[at, value],
            value.ty(),
            &[
                ("bin_op", attributes::i64(b.context(), operation)),
                ("ordering", attributes::i64(b.context(), order)),
            ],
        );
    }
    // No such instruction: compare and swap until it holds.
    let word = b.int_type(ir::bit_width(value.ty()));
    let first = b.result("llvm.load", &[at], word, &[]);
    let combiner = Combiner::kind(b.context(), kind, value.ty());
    let [old, _] = b.while_(
        [first, b.bool(false)],
        |[_, done]| done.eq(0),
        |[seen, _]| {
            let next = combiner.apply(b, &[seen.bitcast(value.ty())], &[value])[0].bitcast(word);
            let (now, swapped) = compare_exchange(b, at, seen, next, order);
            [swapped.select(seen, now), swapped]
        },
    );
    old.bitcast(value.ty())
}

fn atomic_cas<'b, 'c>(b: &'b Builder<'c>, op: Op<'c>, operands: &[V<'b, 'c>]) -> V<'b, 'c> {
    let at = address(b, &operands[2..]);
    compare_exchange(b, at, operands[0], operands[1], ordering(op)).0
}

/// What was there before, and whether it was `expected`.
fn compare_exchange<'b, 'c>(
    b: &'b Builder<'c>,
    at: V<'b, 'c>,
    expected: V<'b, 'c>,
    desired: V<'b, 'c>,
    order: i64,
) -> (V<'b, 'c>, V<'b, 'c>) {
    use melior::ir::{Type, attribute::DenseI64ArrayAttribute};
    let pair = Type::parse(
        b.context(),
        &format!("!llvm.struct<({}, i1)>", expected.ty()),
    )
    .expect("the llvm dialect");
    // A failed exchange only loads: it cannot release.
    let failure = match order {
        4 | 6 => 4,
        _ => 2,
    };
    let result = b.result(
        "llvm.cmpxchg",
        &[at, expected, desired],
        pair,
        &[
            ("success_ordering", attributes::i64(b.context(), order)),
            ("failure_ordering", attributes::i64(b.context(), failure)),
        ],
    );
    let field = |i: i64, r#type| {
        let position = DenseI64ArrayAttribute::new(b.context(), &[i]).into();
        b.result(
            "llvm.extractvalue",
            &[result],
            r#type,
            &[("position", position)],
        )
    };
    (field(0, expected.ty()), field(1, b.int_type(1)))
}

/// One host thread runs a block, so only a device-scope fence does anything.
fn fence(b: &Builder<'_>, name: &str) {
    if name == "grid.mem_fence" {
        let order = attributes::i64(b.context(), 7);
        b.op("llvm.fence", &[], &[], &[("ordering", order)]);
    }
}
