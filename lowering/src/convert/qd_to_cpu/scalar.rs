//! Per-thread ops of the dialect as upstream ops.

use crate::convert::{
    classes::CLASSES,
    memory::{self, Scopes},
};
use melior::ir::ValueLike;
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt},
    melior,
};

/// Threads of the host are the only ones there are, and their scope is LLVM's
/// widest.
const HOST: &Scopes = &Scopes {
    block: None,
    device: None,
    rmw_has_order: true,
    rmw_orders_zeros: false,
};

/// Rewrites every op of ours that is left below `root`, and what upstream's
/// conversions lack.
pub fn lower<'c>(root: Op<'c>) -> Result<'c> {
    for op in root.nested() {
        let name = op.full_name();
        if let Some((_, conversion)) = CLASSES.iter().find(|(known, _)| *known == name) {
            let results = conversion(&Builder::before(op), op)?;
            op.replace_with(&results);
            continue;
        }
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
            "grid.view" => Some(memory::view(&b, op, &operands)),
            "grid.atomic.rmw" => Some(memory::atomic_rmw(&b, op, &operands, HOST)),
            "grid.atomic.load" => Some(memory::atomic_load(&b, op, &operands, HOST)),
            "grid.atomic.store" => {
                memory::atomic_store(&b, op, &operands, HOST);
                None
            }
            "grid.atomic.cas" => Some(memory::atomic_cas(&b, op, &operands, HOST)),
            "simt.mem_fence" | "simt.block.mem_fence" | "grid.mem_fence" => {
                fence(&b, short);
                None
            }
            // There is nothing that would wait faster.
            "simt.pause" => None,
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

/// One host thread runs a block, so only a device-scope fence does anything.
fn fence(b: &Builder<'_>, name: &str) {
    if name == "grid.mem_fence" {
        memory::fence(b, memory::SEQ_CST, HOST.device);
    }
}
