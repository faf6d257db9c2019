//! Subgroup barriers on a driver that executes them as block barriers.
//!
//! Mesa's llvmpipe suspends a subgroup at every control barrier, whatever its
//! scope, until each of the block's other subgroups has reached one as well or has
//! ended, and drops those that have not ended when the first one has. If not all
//! subgroups take a branch with such a barrier, the code after the branch then
//! runs too early, or never. Its lanes are those of a vector and always together,
//! so that a memory barrier is sufficient for a subgroup's barrier there.

use super::spirv;
use ash::vk;
use std::collections::BTreeSet;

// Opcodes.
const CONSTANT: u32 = 43;
const CONTROL_BARRIER: u32 = 224;
const MEMORY_BARRIER: u32 = 225;
/// The scope.
const SUBGROUP: u32 = 3;

/// The module in a form that this driver executes correctly.
pub(super) fn suited(words: Vec<u32>, driver: vk::DriverId) -> Vec<u32> {
    match driver {
        vk::DriverId::MESA_LLVMPIPE => of_memory_alone(&words),
        _ => words,
    }
}

/// Replaces each control barrier of a subgroup by a memory barrier.
fn of_memory_alone(words: &[u32]) -> Vec<u32> {
    let mut scopes = BTreeSet::new();
    let mut all = words[..spirv::HEADER_WORDS].to_vec();
    for instruction in spirv::instructions(words) {
        match (instruction[0] & 0xFFFF, instruction) {
            (CONSTANT, [_, _, id, SUBGROUP]) => {
                scopes.insert(*id);
            }
            (CONTROL_BARRIER, [_, execution, memory, semantics]) if scopes.contains(execution) => {
                all.extend([3 << 16 | MEMORY_BARRIER, *memory, *semantics]);
                continue;
            }
            _ => {}
        }
        all.extend(instruction);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_subgroups_barriers_are_replaced() {
        const HEADER: [u32; spirv::HEADER_WORDS] = [0x0723_0203, 0x0001_0600, 0, 9, 0];
        let constant = |id, value| [4 << 16 | CONSTANT, 1, id, value];
        let barrier = |scope| [4 << 16 | CONTROL_BARRIER, scope, scope, 7];
        let module = |behind: &[u32]| {
            let constants = [constant(5, SUBGROUP), constant(6, 2), constant(7, 24904)];
            [&HEADER, constants.as_flattened(), behind].concat()
        };
        let given = module([barrier(6), barrier(5)].as_flattened());
        let mut replaced = barrier(6).to_vec();
        replaced.extend([3 << 16 | MEMORY_BARRIER, 5, 7]);
        let llvmpipe = suited(given.clone(), vk::DriverId::MESA_LLVMPIPE);
        assert_eq!(llvmpipe, module(&replaced));
        let other = suited(given.clone(), vk::DriverId::NVIDIA_PROPRIETARY);
        assert_eq!(other, given);
    }
}
