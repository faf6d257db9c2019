//! The legal ops of a body: a closed list, which is the interpreter's.
//!
//! An op without reference semantics has no meaning that targets could agree on. Its
//! behaviour would depend on upstream's conversions: `memref.alloc` called `malloc`
//! for every thread on the cpu, and did nothing on a GPU.
//!
//! Limits: every op of `arith`, `math` and `index` is legal, since they compute on
//! scalars, and each target reports those that it lacks. At the top level of a kernel
//! an op's own verifier decides whether the host can evaluate it.

use qd_dialects::ir::{Op, OpExt, ValueExt};
use qd_dialects::ops::{algo, grid};

/// Dialects of which every op may be in a body.
const DIALECTS: [&str; 4] = ["arith", "index", "math", "qd"];

/// Ops of others.
const OPS: &[&str] = &[
    "cf.assert",
    "func.return",
    "gpu.printf",
    "memref.alloca",
    "memref.atomic_rmw",
    "memref.cast",
    "memref.dim",
    "memref.load",
    "memref.memory_space_cast",
    "memref.prefetch",
    "memref.store",
    "memref.subview",
    "scf.condition",
    "scf.execute_region",
    "scf.for",
    "scf.if",
    "scf.index_switch",
    "scf.while",
    "scf.yield",
    "ub.poison",
];

/// Alternatives to some ops that are often tried.
const INSTEAD: &[(&str, &str)] = &[
    (
        "memref.alloc",
        "a thread's private memory is 'memref.alloca', the block's 'qd.simt.block.shared'",
    ),
    (
        "memref.collapse_shape",
        "the host makes such a view, at the top level of a kernel",
    ),
    (
        "memref.reinterpret_cast",
        "the host makes such a view, at the top level of a kernel",
    ),
    ("memref.copy", "copy element by element"),
    ("scf.parallel", "a phase's threads are what is parallel"),
    ("scf.forall", "a phase's threads are what is parallel"),
    ("gpu.barrier", "use 'qd.simt.block.sync'"),
    ("gpu.thread_id", "use 'qd.simt.block.thread_id'"),
    ("gpu.block_id", "use 'qd.simt.block.id'"),
];

/// Why an op is illegal, if it is in a body and not on the list. Ops in such an op,
/// and uses of its results, are not reported as well.
pub fn misplaced(op: Op) -> Option<String> {
    let name = op.full_name();
    if is_known(name) || !is_in_body(op) {
        return None;
    }
    let makers = op.operand_values();
    let mut makers = makers.into_iter().filter_map(|value| value.defining_op());
    let is_unknown = |op: Op| !is_known(op.full_name()) && is_in_body(op);
    if makers.any(is_unknown) || op.parent().is_some_and(is_unknown) {
        return None;
    }
    let reason = "is not legal in a body: no target has it";
    let instead = INSTEAD.iter().find(|(known, _)| *known == name);
    Some(match instead {
        Some((_, instead)) => format!("{reason}; {instead}"),
        None => reason.to_string(),
    })
}

fn is_known(name: &str) -> bool {
    let dialect = name.split_once('.').map(|(dialect, _)| dialect);
    dialect.is_some_and(|dialect| DIALECTS.contains(&dialect)) || OPS.contains(&name)
}

/// Whether threads run an op: that of a phase, of an outlined body, of a combiner.
fn is_in_body(op: Op) -> bool {
    std::iter::successors(op.parent(), |around| around.parent()).any(|around| {
        let name = around.full_name();
        matches!(name, grid::Phase::NAME | grid::ForEach::NAME | "func.func")
            || name.starts_with(algo::PREFIX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_interpreters() {
        // Looked up by name and never executed where they stand, or removed by then.
        // Or the host's alone.
        let symbols = [
            "func.func",
            "func.call",
            "memref.collapse_shape",
            "memref.extract_aligned_pointer_as_index",
            "memref.reinterpret_cast",
        ];
        let theirs: Vec<_> = qd_interp::supported_operations()
            .filter(|name| !symbols.contains(name))
            .collect();
        let unknown: Vec<_> = theirs.iter().filter(|name| !is_known(name)).collect();
        assert!(unknown.is_empty(), "a body may not hold {unknown:?}");
        let more: Vec<_> = OPS.iter().filter(|name| !theirs.contains(name)).collect();
        assert!(more.is_empty(), "the interpreter does not know {more:?}");
    }
}
