//! Which arguments of a body LLVM may be told overlap no other (`noalias`).
//!
//! That is decided where a body is launched: by the buffers of the kernel that
//! the arguments are parts of, by which parts, and by what the body does to
//! them. Two that are only read may overlap as they like.

use qd_dialects::{
    attributes,
    ir::{Op, OpExt, element_type},
    melior::ir::ValueLike,
};
use qd_passes::{outline_phases::kernels, plan::access::Accesses};
use std::collections::HashSet;

/// The arguments that overlap another, by body and number.
pub struct Aliases(HashSet<(String, usize)>);

impl Aliases {
    /// Of a planned module, whose kernels are still there.
    pub fn of(module: Op<'_>) -> Self {
        let mut overlapping = HashSet::new();
        for kernel in kernels(module) {
            let mut accesses = Accesses::new(kernel);
            for launch in kernel.nested() {
                let body = launch.attr("body").and_then(attributes::symbol_name);
                if let (true, Some(body)) = (launch.is("qd.grid.launch"), body) {
                    for argument in overlaps(&mut accesses, launch) {
                        overlapping.insert((body.clone(), argument));
                    }
                }
            }
        }
        Self(overlapping)
    }

    /// Whether no other argument shares memory with this one, where one of both
    /// is written.
    pub fn is_alone(&self, body: &str, argument: usize) -> bool {
        !self.0.contains(&(body.to_string(), argument))
    }
}

/// The arguments of a launch that are in conflict with another.
fn overlaps<'c>(accesses: &mut Accesses<'c>, launch: Op<'c>) -> Vec<usize> {
    // Accesses come one for each buffer, in order, before any of no argument.
    let operands = launch.operand_values();
    let buffers: Vec<_> = (0..)
        .zip(&operands[1..])
        .filter(|(_, value)| element_type(value.r#type()).is_some())
        .map(|(argument, _)| argument)
        .collect();
    let all = accesses.of(launch);
    let mut found = Vec::new();
    for (i, (argument, access)) in buffers.iter().zip(&all).enumerate() {
        let others = all.iter().take(buffers.len()).enumerate();
        if others
            .into_iter()
            .any(|(j, other)| i != j && access.conflicts(other))
        {
            found.push(*argument);
        }
    }
    found
}
