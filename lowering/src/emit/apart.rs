//! Bodies in modules of their own: what follows is then done to them side by
//! side, for passes on a module and LLVM take one on one thread.

use crate::convert::erase_kernels;
use qd_dialects::{
    ir::{self, InsertionPoint, Op, OpExt, operations},
    melior::ir::{RegionLike, operation::OperationLike},
};

/// Moves each outlined body of a module into a module within this one. False, and
/// nothing is moved, where there is no body, or something else that bodies may have
/// in common.
pub fn separate(module: Op<'_>) -> bool {
    let all = operations(module.body().expect("a module's body"));
    let is_body = |op: &Op| op.is("func.func") && op.attr("qd.threads").is_some();
    if !all.iter().all(|op| is_body(op) || op.is("qd.grid.kernel")) {
        return false;
    }
    let bodies: Vec<Op> = all.into_iter().filter(is_body).collect();
    if bodies.is_empty() {
        return false;
    }
    erase_kernels(module);
    for body in bodies {
        let end = InsertionPoint::End(nested(module, body).body().expect("just made"));
        body.move_to(end);
        // Nothing here launches it, and what is private and not used goes.
        body.remove_attr("sym_visibility");
    }
    true
}

/// An empty module before a body, with the attributes of the one around it.
fn nested<'c>(module: Op<'c>, body: Op<'c>) -> Op<'c> {
    let region = qd_dialects::melior::ir::Region::new();
    region.append_block(ir::new_block(&[], body.location()));
    let made = InsertionPoint::Before(body).insert(ir::build(
        "builtin.module",
        body.location(),
        &[],
        &[],
        &[],
        vec![region],
    ));
    for (name, value) in module.attributes() {
        if let Ok(name) = name.as_string_ref().as_str()
            && name != "sym_name"
        {
            made.set_attr(name, value);
        }
    }
    made
}

/// The modules within a module, or it if there are none.
pub fn parts(module: Op<'_>) -> Vec<Op<'_>> {
    let mut parts = operations(module.body().expect("a module's body"));
    parts.retain(|op| op.is("builtin.module"));
    match parts.is_empty() {
        true => vec![module],
        false => parts,
    }
}
