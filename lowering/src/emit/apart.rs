//! Bodies in modules of their own: what follows is then done to them side by
//! side, for passes on a module and LLVM take one on one thread.

use crate::convert::erase_kernels;
use qd_dialects::{
    attributes,
    ir::{self, InsertionPoint, Op, OpExt, operations},
    melior::ir::{RegionLike, operation::OperationLike},
};

/// Moves each outlined body of a module, with a copy of the functions that it
/// calls, into a module within this one. False, and nothing is moved, where there
/// is no body, or something else that bodies may have in common.
pub fn separate(module: Op<'_>) -> bool {
    let all = operations(module.body().expect("a module's body"));
    let known = |op: &Op| op.is("func.func") || op.is("qd.grid.kernel");
    if !all.iter().all(known) {
        return false;
    }
    let (bodies, others): (Vec<_>, Vec<_>) = all
        .into_iter()
        .filter(|op| op.is("func.func"))
        .partition(|op| op.is("func.func") && op.attr("qd.threads").is_some());
    if bodies.is_empty() {
        return false;
    }
    erase_kernels(module);
    for body in bodies {
        let functions = called(body, &others);
        let end = InsertionPoint::End(nested(module, body).body().expect("just made"));
        body.move_to(end);
        // Nothing here launches it, and what is private and not used goes.
        body.remove_attr("sym_visibility");
        for function in functions {
            end.insert(function.detached_clone());
        }
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

/// The functions among `others` that a body calls, and those that these call.
fn called<'c>(body: Op<'c>, others: &[Op<'c>]) -> Vec<Op<'c>> {
    let named = |name: String| {
        let is = |op: &&Op| op.attr("sym_name").and_then(attributes::text).as_ref() == Some(&name);
        others.iter().find(is).copied()
    };
    let (mut found, mut next): (Vec<Op<'c>>, Vec<Op<'c>>) = (Vec::new(), vec![body]);
    while let Some(caller) = next.pop() {
        for call in caller.nested() {
            let callee = call.is("func.call").then(|| call.attr("callee")).flatten();
            let Some(function) = callee.and_then(attributes::symbol_name).and_then(named) else {
                continue;
            };
            if !found.iter().any(|known| known.key() == function.key()) {
                found.push(function);
                next.push(function);
            }
        }
    }
    found
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
