//! Selection of some of a module's kernels.

use crate::emit::handle;
use melior::ir::Module;
use qd_dialects::{
    attributes,
    ir::{self, Op, OpExt, operations},
    melior,
    ops::grid,
};
use std::collections::{HashMap, HashSet};

/// A name that no kernel has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no kernel '{name}': {}", listed(.known))]
pub struct UnknownKernel {
    /// The name.
    pub name: String,
    /// Those that kernels have.
    pub known: Vec<String>,
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "the module has none".into(),
        names => format!("the module has {}", names.join(", ")),
    }
}

/// Takes away all kernels but these and what they dispatch to, and the functions that only
/// others call or launch.
///
/// # Errors
///
/// The module has no kernel of one of the names: it stays as it is.
pub fn select(module: &mut Module<'_>, names: &[String]) -> Result<(), UnknownKernel> {
    let all = operations(handle(module).body().expect("a module's body"));
    let symbols = all.iter().filter_map(|op| Some((symbol(*op)?, *op)));
    let symbols: HashMap<String, Op<'_>> = symbols.collect();
    let is_kernel = |name: &&String| {
        symbols
            .get(*name)
            .is_some_and(|op| op.is(grid::Kernel::NAME))
    };
    if let Some(unknown) = names.iter().find(|name| !is_kernel(name)) {
        let kernels = all.iter().filter(|op| op.is(grid::Kernel::NAME));
        return Err(UnknownKernel {
            name: unknown.clone(),
            known: kernels.filter_map(|op| symbol(*op)).collect(),
        });
    }
    let mut kept: HashSet<String> = names.iter().cloned().collect();
    let mut next = names.to_vec();
    while let Some(name) = next.pop() {
        let found = symbols.get(&name).map(|op| symbols_below(*op));
        let found = found.unwrap_or_default().into_iter();
        next.extend(found.filter(|name| kept.insert(name.clone())));
    }
    let goes = |op: &Op<'_>| op.is(grid::Kernel::NAME) || op.is("func.func");
    ir::edit(|| {
        for op in all.into_iter().filter(goes) {
            if symbol(op).is_some_and(|name| !kept.contains(&name)) {
                op.erase();
            }
        }
    });
    Ok(())
}

/// The name of an operation.
pub(crate) fn symbol(op: Op<'_>) -> Option<String> {
    op.attr("sym_name").and_then(attributes::text)
}

/// The symbols that what is in an operation names, in that order.
pub(crate) fn symbols_below(op: Op<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for op in op.walk_all() {
        op.attributes()
            .for_each(|(_, value)| attributes::add_symbols(value, &mut found));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "
        func.func private @shared() { return }
        func.func private @other() { return }
        qd.grid.kernel @callee(%n: index) {
          qd.grid.phase blocks(%n) threads(64) { func.call @shared() : () -> () }
        }
        qd.grid.kernel @chooses(%n: index) {
          qd.grid.dispatch(%n : index) { qd.grid.variant @callee }
        }
        qd.grid.kernel @third(%n: index) {
          qd.grid.phase blocks(%n) threads(64) { func.call @other() : () -> () }
        }";

    fn names(module: &Module<'_>) -> Vec<String> {
        let all = operations(handle(module).body().expect("a module's body"));
        all.into_iter().filter_map(symbol).collect()
    }

    #[test]
    fn what_a_kernel_needs_stays_with_it() {
        let context = qd_dialects::context();
        let module = || Module::parse(&context, MODULE).expect("it parses");
        for (asked, left) in [
            (vec!["chooses"], vec!["shared", "callee", "chooses"]),
            (vec!["third"], vec!["other", "third"]),
            (
                vec!["callee", "third"],
                vec!["shared", "other", "callee", "third"],
            ),
            (vec![], vec![]),
        ] {
            let mut module = module();
            let asked: Vec<_> = asked.into_iter().map(String::from).collect();
            select(&mut module, &asked).expect("they are there");
            assert_eq!(names(&module), left);
        }
    }

    #[test]
    fn a_function_is_no_kernel() {
        let context = qd_dialects::context();
        let mut module = Module::parse(&context, MODULE).expect("it parses");
        let error = select(&mut module, &["third".into(), "shared".into()]).expect_err("none");
        assert_eq!(
            error.to_string(),
            "there is no kernel 'shared': the module has callee, chooses, third"
        );
        assert_eq!(names(&module).len(), 5);
    }
}
