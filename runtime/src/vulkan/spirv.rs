//! What a SPIR-V module declares before its first function: the little of it
//! that a driver has to know. Handing Vulkan a module without the entry point
//! that is asked for is undefined, and artifacts are files.

use crate::Error;
use std::collections::BTreeMap;

const MAGIC: u32 = 0x0723_0203;
pub(super) const HEADER_WORDS: usize = 5;
// Opcodes.
const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
const CAPABILITY: u32 = 17;
const FUNCTION: u32 = 54;
const GL_COMPUTE: u32 = 5;
const LOCAL_SIZE: u32 = 17;

/// What a module declares.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// By number, as the specification has them.
    pub capabilities: Vec<u32>,
    /// What is called from outside.
    pub entries: BTreeMap<String, Entry>,
}

/// A compute entry point.
#[derive(Debug, Default)]
pub(super) struct Entry {
    id: u32,
    /// Threads of a block, in each dimension.
    pub local_size: [u32; 3],
    /// Execution modes, with the first of their operands: for those about floats
    /// it is the width.
    pub modes: Vec<(u32, u32)>,
}

/// The words of a binary.
pub(super) fn words(binary: &[u8]) -> Result<Vec<u32>, Error> {
    let no_module = |why: &str| Error::Load(format!("it is not SPIR-V: {why}"));
    let (chunks, rest) = binary.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(no_module("its length is not a multiple of 4 bytes"));
    }
    let words: Vec<_> = chunks
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect();
    match words.first() {
        Some(&MAGIC) if words.len() > HEADER_WORDS => Ok(words),
        _ => Err(no_module("it does not begin as a module does")),
    }
}

/// The instructions of a module, each its words, up to one that is damaged.
pub(super) fn instructions(words: &[u32]) -> impl Iterator<Item = &[u32]> {
    let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
    std::iter::from_fn(move || {
        let length = (rest.first()? >> 16) as usize;
        let (instruction, behind) = rest.split_at_checked(length)?;
        rest = behind;
        (!instruction.is_empty()).then_some(instruction)
    })
}

impl Module {
    /// Reads a module's declarations.
    pub fn read(words: &[u32]) -> Result<Self, Error> {
        let damaged = || Error::Load("the SPIR-V module is damaged".into());
        let mut module = Self::default();
        let mut rest = words.get(HEADER_WORDS..).ok_or_else(damaged)?;
        while let [first, ..] = rest {
            let (opcode, length) = (first & 0xFFFF, (first >> 16) as usize);
            let (instruction, behind) = rest.split_at_checked(length).ok_or_else(damaged)?;
            let Some((_, operands)) = instruction.split_first() else {
                return Err(damaged());
            };
            rest = behind;
            match (opcode, operands) {
                (CAPABILITY, [number]) => module.capabilities.push(*number),
                (ENTRY_POINT, [GL_COMPUTE, id, name @ ..]) => {
                    let entry = Entry {
                        id: *id,
                        ..Entry::default()
                    };
                    module.entries.insert(text(name), entry);
                }
                (EXECUTION_MODE, [id, mode, operands @ ..]) => {
                    module.mode(*id, *mode, operands);
                }
                // All that is looked for comes before.
                (FUNCTION, _) => break,
                _ => {}
            }
        }
        Ok(module)
    }

    fn mode(&mut self, id: u32, mode: u32, operands: &[u32]) {
        for entry in self.entries.values_mut().filter(|entry| entry.id == id) {
            match (mode, operands) {
                (LOCAL_SIZE, [x, y, z]) => entry.local_size = [*x, *y, *z],
                _ => {
                    let first = operands.first().copied().unwrap_or(0);
                    entry.modes.push((mode, first));
                }
            }
        }
    }
}

/// A literal string: it ends with a 0, and other operands may follow.
fn text(words: &[u32]) -> String {
    let bytes: Vec<_> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: [u32; 17] = [
        MAGIC,
        0x0001_0600,
        0,
        9,
        0, // header
        2 << 16 | CAPABILITY,
        11, // Int64
        5 << 16 | ENTRY_POINT,
        GL_COMPUTE,
        4,
        u32::from_le_bytes(*b"main"),
        0,
        // `OpExecutionMode %4 RoundingModeRTE 32`
        4 << 16 | EXECUTION_MODE,
        4,
        4462,
        32,
        1 << 16 | FUNCTION,
    ];

    #[test]
    fn declarations_are_found() {
        let module = Module::read(&TINY).expect("a module");
        assert_eq!(module.capabilities, [11]);
        assert_eq!(module.entries["main"].modes, [(4462, 32)]);
    }

    #[test]
    fn what_is_cut_short_or_no_module_is_an_error() {
        assert!(Module::read(&TINY[..15]).is_err());
        assert!(words(&[1, 2, 3]).is_err());
        assert!(words(b"not SPIR-V, whatever the length.").is_err());
        // An instruction of no words would be read without end.
        assert!(Module::read(&[MAGIC, 0, 0, 0, 0, 0]).is_err());
    }
}
