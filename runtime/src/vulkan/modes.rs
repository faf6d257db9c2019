//! Execution modes that the driver adds to a module where the device has them.
//!
//! SPIR-V promises some things only to a module that declares a mode, and a module
//! may declare it only where the device has it. So the driver adds it, since it
//! knows the device.
//!
//! - *Reconvergence.* All lanes of a subgroup reach its operations, if those that
//!   took a branch reconverge after it. Without the promise, blocks are in an order
//!   for which drivers are known to reconverge anyway: each branch before the
//!   blocks that follow both of its sides.
//! - *Denormals.* Without the promise, a device may take them for zeros.

use super::{
    capabilities::{self, DENORM_PRESERVE},
    device::Device,
    spirv,
};

// Opcodes.
const EXTENSION: u32 = 10;
const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
const CAPABILITY: u32 = 17;

/// What is to be asked for.
#[derive(Default)]
struct Asked {
    capabilities: Vec<u32>,
    extensions: Vec<&'static str>,
    /// For each entry point: a mode and its operands.
    modes: Vec<Vec<u32>>,
}

/// The module, asking for what the device offers.
pub(super) fn asked_for(words: Vec<u32>, declared: &spirv::Module, device: &Device) -> Vec<u32> {
    let mut asked = Asked::default();
    // A layer that is older than the modes takes the whole module for damaged.
    if !device.instance.is_validated()
        && let Some((mode, extension)) = capabilities::convergence(&device.features)
    {
        asked.extensions.push(extension);
        asked.modes.push(vec![mode]);
    }
    let widths = capabilities::widths_with_denormals(declared, &device.properties.v12);
    if !widths.is_empty() {
        asked.capabilities.push(DENORM_PRESERVE.capability);
        let modes = widths
            .iter()
            .map(|width| vec![DENORM_PRESERVE.mode, *width]);
        asked.modes.extend(modes);
    }
    asked.of(&words)
}

impl Asked {
    fn of(&self, words: &[u32]) -> Vec<u32> {
        let capabilities = self.capabilities.iter();
        let capabilities = capabilities.flat_map(|number| instruction(CAPABILITY, [*number]));
        let extensions = self.extensions.iter();
        let extensions = extensions.flat_map(|name| instruction(EXTENSION, literal(name)));
        let mut extensions = Some(extensions.collect::<Vec<_>>());
        let (header, _) = words.split_at(spirv::HEADER_WORDS);
        let mut all: Vec<_> = header.iter().copied().chain(capabilities).collect();
        let mut modes = Vec::new();
        for instruction_words in spirv::instructions(words) {
            let opcode = instruction_words[0] & 0xFFFF;
            if !matches!(opcode, CAPABILITY | EXTENSION) {
                all.extend(extensions.take().unwrap_or_default());
            }
            match (opcode, instruction_words) {
                (ENTRY_POINT, [_, _, id, ..]) => {
                    for mode in &self.modes {
                        let operands = [*id].into_iter().chain(mode.iter().copied());
                        modes.extend(instruction(EXECUTION_MODE, operands));
                    }
                }
                // Modes come after the last entry point.
                (ENTRY_POINT, _) => {}
                _ if !modes.is_empty() => all.append(&mut modes),
                _ => {}
            }
            all.extend(instruction_words);
        }
        all
    }
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

        let asked = Asked {
            capabilities: vec![4464],
            extensions: vec!["SPV_X"],
            modes: vec![vec![4421], vec![4459, 32]],
        };
        let asking = asked.of(&words);
        let module = spirv::Module::read(&asking).expect("a module");
        for name in ["first", "second"] {
            for mode in [(4421, 0), (4459, 32)] {
                assert!(
                    module.entries[name].modes.contains(&mode),
                    "{name}: {mode:?}"
                );
            }
        }
        assert_eq!(module.capabilities, [4464, 1]);
        assert_eq!(module.entries["first"].local_size, [64, 1, 1]);
        let opcodes: Vec<_> = spirv::instructions(&asking)
            .map(|i| i[0] & 0xFFFF)
            .collect();
        assert_eq!(opcodes, [17, 17, 10, 15, 15, 16, 16, 16, 16, 16]);
    }
}
