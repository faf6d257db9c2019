//! Lanes that come back together after a branch.
//!
//! All lanes of a subgroup are at its operations, if a driver brings those that
//! took a branch back together behind it. SPIR-V promises that to a module that
//! asks for it, and a module may ask only where the device offers it. So it is the
//! driver that asks, when it knows the device. Elsewhere nothing is promised, and
//! blocks are in an order in which drivers are known to do it anyway: each branch
//! before what follows both of its sides.

use super::{capabilities, features::Features, spirv};

// Opcodes.
const EXTENSION: u32 = 10;
const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
const CAPABILITY: u32 = 17;

/// The module with the strongest promise asked for that the device offers, for
/// each of its entry points.
pub(super) fn asked_for(words: Vec<u32>, features: &Features) -> Vec<u32> {
    match capabilities::convergence(features) {
        Some((mode, extension)) => with_mode(&words, mode, extension),
        None => words,
    }
}

fn with_mode(words: &[u32], mode: u32, extension: &str) -> Vec<u32> {
    let (header, _) = words.split_at(spirv::HEADER_WORDS);
    let mut all = header.to_vec();
    let mut extension = Some(instruction(EXTENSION, literal(extension)));
    let mut modes = Vec::new();
    for instruction_words in spirv::instructions(words) {
        let opcode = instruction_words[0] & 0xFFFF;
        if !matches!(opcode, CAPABILITY | EXTENSION) {
            all.extend(extension.take().unwrap_or_default());
        }
        match (opcode, instruction_words) {
            (ENTRY_POINT, [_, _, id, ..]) => {
                modes.extend(instruction(EXECUTION_MODE, [*id, mode]));
            }
            // Modes come behind the last entry point.
            (ENTRY_POINT, _) => {}
            _ if !modes.is_empty() => all.append(&mut modes),
            _ => {}
        }
        all.extend(instruction_words);
    }
    all
}

fn instruction(opcode: u32, operands: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut words = vec![0];
    words.extend(operands);
    words[0] = (words.len() as u32) << 16 | opcode;
    words
}

/// A string, which ends with a 0.
fn literal(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_point_asks() {
        let entry = |id, name: &str| {
            let name = literal(name);
            instruction(ENTRY_POINT, [5, id].into_iter().chain(name))
        };
        let mut words = vec![0x0723_0203, 0x0001_0600, 0, 9, 0];
        words.extend(instruction(CAPABILITY, [1]));
        words.extend(entry(4, "first"));
        words.extend(entry(5, "second"));
        // `OpExecutionMode %4 LocalSize 64 1 1`
        words.extend(instruction(EXECUTION_MODE, [4, 17, 64, 1, 1]));

        let asking = with_mode(&words, 4421, "SPV_X");
        let module = spirv::Module::read(&asking).expect("a module");
        for name in ["first", "second"] {
            assert!(module.entries[name].modes.contains(&(4421, 0)), "{name}");
        }
        assert_eq!(module.entries["first"].local_size, [64, 1, 1]);
        let opcodes: Vec<_> = spirv::instructions(&asking)
            .map(|i| i[0] & 0xFFFF)
            .collect();
        assert_eq!(opcodes, [17, 10, 15, 15, 16, 16, 16]);
    }
}
