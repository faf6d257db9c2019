//! The semantics of each operation, and each kind of fault.
#![allow(missing_docs)]

mod algo;
mod arithmetic;
mod block;
mod control;
mod faults;
mod grid;
mod partly;
mod races;
mod subgroup;
mod support;
mod thin;
mod workspace;

/// A new row of the table comes with a test.
#[test]
fn every_operation_occurs_in_a_test() {
    let tests = [
        include_str!("algo.rs"),
        include_str!("arithmetic.rs"),
        include_str!("block.rs"),
        include_str!("control.rs"),
        include_str!("faults.rs"),
        include_str!("grid.rs"),
        include_str!("partly.rs"),
        include_str!("races.rs"),
        include_str!("subgroup.rs"),
        include_str!("thin.rs"),
        include_str!("workspace.rs"),
    ]
    .concat();
    let missing: Vec<_> = qd_interp::supported_operations()
        .filter(|name| *name != "func.return" && !tests.contains(name))
        .collect();
    assert!(
        missing.is_empty(),
        "no test under tests/semantics names {missing:?}"
    );
}
