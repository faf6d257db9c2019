//! How much host arithmetic a value depends on.
//!
//! A launch plan holds host arithmetic as an expression, a tree: a value that
//! is used twice is in it twice, and its readers recurse.

use qd_dialects::{
    diagnostic::Diagnostic,
    ir::{Op, OpExt, ValueExt},
    ops::grid,
};
use std::collections::HashMap;

/// Operations one after another.
const MOST_DEEP: u32 = 128;
/// Operations in one expression.
const MOST: u32 = 10_000;

/// The first op of a kernel with too much host arithmetic.
pub fn too_much<'c>(kernel: Op<'c>) -> Option<Diagnostic<'c>> {
    // By result: how deep, and how many. Operands come before their users.
    let mut known = HashMap::new();
    for op in kernel.nested() {
        // What threads compute is no expression.
        let is_hosts = op
            .parent()
            .is_some_and(|around| is_host_region(around.full_name()));
        if !is_hosts || op.region_count() != 0 {
            continue;
        }
        let (mut deep, mut many) = (0, 0_u32);
        for operand in op.operand_values() {
            let (d, m) = known.get(&operand.key()).copied().unwrap_or((0, 0));
            deep = deep.max(d);
            many = many.saturating_add(m);
        }
        let (deep, many) = (deep + 1, many.saturating_add(1));
        if deep > MOST_DEEP {
            let message = format!(
                "is the last of more than {MOST_DEEP} operations that the host does one after another for \
                 one value"
            );
            return Some(Diagnostic::at(op, message));
        }
        if many > MOST {
            let message = format!(
                "makes the host's expression for one value hold more than {MOST} operations"
            );
            return Some(Diagnostic::at(op, message));
        }
        for result in op.result_values() {
            known.insert(result.key(), (deep, many));
        }
    }
    None
}

/// Whether the ops right within one of this name are the host's.
fn is_host_region(name: &str) -> bool {
    matches!(
        name,
        grid::Kernel::NAME | grid::DoWhile::NAME | grid::If::NAME | grid::Variant::NAME
    )
}
