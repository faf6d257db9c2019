//! Kernels as separate units, for telling which of them an edit changes.

use crate::{
    emit::handle,
    kernels::{symbol, symbols_below},
};
use melior::ir::Module;
use qd_dialects::{
    ir::{self, InsertionPoint, Op, OpExt, operations},
    melior,
    ops::grid,
};
use std::collections::{HashMap, HashSet};

/// The attributes of a kernel that are its signature.
const SIGNATURE: [&str; 3] = ["sym_name", "function_type", "arg_attrs"];

/// A kernel in a module of its own.
pub struct Unit<'c> {
    /// Its name.
    pub kernel: String,
    /// The kernel, then what it names and what that names, in the order in which they are named: one
    /// order, whatever that of the module was. Of kernels that it dispatches to there is the
    /// signature, with an empty body.
    pub module: Module<'c>,
}

/// The kernels of a module, each with a copy of what it rests on, in their order.
pub fn units<'c>(module: &Module<'c>) -> Vec<Unit<'c>> {
    let module = handle(module);
    let all = operations(module.body().expect("a module's body"));
    let symbols = all.iter().filter_map(|op| Some((symbol(*op)?, *op)));
    let symbols: HashMap<String, Op<'c>> = symbols.collect();
    let kernels = all.into_iter().filter(|op| is_kernel(*op));
    let units = kernels.map(|kernel| Unit {
        kernel: symbol(kernel).unwrap_or_default(),
        module: copied(module, &parts(kernel, &symbols)),
    });
    units.collect()
}

fn is_kernel(op: Op<'_>) -> bool {
    op.is(grid::Kernel::NAME)
}

/// The kernel and what it rests on.
fn parts<'c>(kernel: Op<'c>, symbols: &HashMap<String, Op<'c>>) -> Vec<Op<'c>> {
    let mut known: HashSet<String> = symbol(kernel).into_iter().collect();
    let mut parts = vec![kernel];
    let mut next = 0;
    while let Some(part) = parts.get(next).copied() {
        next += 1;
        if next > 1 && is_kernel(part) {
            continue;
        }
        for name in symbols_below(part) {
            if let Some(named) = symbols.get(&name)
                && known.insert(name)
            {
                parts.push(*named);
            }
        }
    }
    parts
}

/// Parts in a module with the attributes of the one that they are in, but its name.
fn copied<'c>(module: Op<'c>, parts: &[Op<'c>]) -> Module<'c> {
    let copy = Module::new(module.location());
    let root = handle(&copy);
    for (name, value) in module.attributes() {
        if let Ok(name) = name.as_string_ref().as_str()
            && name != "sym_name"
        {
            root.set_attr(name, value);
        }
    }
    let end = InsertionPoint::End(root.body().expect("just made"));
    for (i, part) in parts.iter().enumerate() {
        let part = end.insert(part.detached_clone());
        if i > 0 && is_kernel(part) {
            leave_signature(part);
        }
    }
    copy
}

/// Takes away what of a kernel does not concern those who dispatch to it.
fn leave_signature(kernel: Op<'_>) {
    let body = kernel.body().expect("a kernel's body");
    let all = operations(body).into_iter();
    ir::edit(|| all.rev().for_each(|op| op.erase()));
    let names = kernel.attributes().map(|(name, _)| name);
    let names = names.filter_map(|name| Some(name.as_string_ref().as_str().ok()?.to_owned()));
    let names: Vec<String> = names.collect();
    for name in names.iter().filter(|name| !SIGNATURE.contains(&&***name)) {
        kernel.remove_attr(name);
    }
}
