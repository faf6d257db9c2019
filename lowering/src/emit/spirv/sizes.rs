//! The sizes of types, in bytes.

use super::reflect::ModuleError;
use rspirv::{
    dr::{Instruction, Module, Operand},
    spirv::{Decoration, Op, Word},
};
use std::collections::HashMap;

/// A type's size, and what it is aligned to.
#[derive(Clone, Copy)]
struct Layout {
    size: u32,
    align: u32,
}

/// Sizes by the layout that decorations give, and where there are none by that
/// of std430, which is how Vulkan counts a workgroup's memory.
pub struct Sizes<'m> {
    types: HashMap<Word, &'m Instruction>,
    /// By structure and member.
    offsets: HashMap<(Word, u32), u32>,
    strides: HashMap<Word, u32>,
}

impl<'m> Sizes<'m> {
    pub fn of(module: &'m Module) -> Self {
        let globals = module.types_global_values.iter();
        let mut sizes = Self {
            types: globals
                .filter_map(|global| Some((global.result_id?, global)))
                .collect(),
            offsets: HashMap::new(),
            strides: HashMap::new(),
        };
        for annotation in &module.annotations {
            match annotation.operands[..] {
                [
                    Operand::IdRef(id),
                    Operand::LiteralBit32(member),
                    Operand::Decoration(Decoration::Offset),
                    Operand::LiteralBit32(offset),
                ] => _ = sizes.offsets.insert((id, member), offset),
                [
                    Operand::IdRef(id),
                    Operand::Decoration(Decoration::ArrayStride),
                    Operand::LiteralBit32(stride),
                ] => _ = sizes.strides.insert(id, stride),
                _ => {}
            }
        }
        sizes
    }

    /// The size of what a variable holds.
    pub fn pointee(&self, variable: &Instruction) -> Result<u32, ModuleError> {
        let pointer = variable.result_type.and_then(|id| self.types.get(&id));
        match pointer.map(|pointer| &pointer.operands[..]) {
            Some([_, Operand::IdRef(pointee)]) => Ok(self.layout(*pointee)?.size),
            _ => Err(ModuleError::Malformed(
                "a variable that is not a pointer".into(),
            )),
        }
    }

    fn layout(&self, id: Word) -> Result<Layout, ModuleError> {
        let unknown = || ModuleError::Malformed(format!("the type %{id} has no size"));
        let of = self.types.get(&id).ok_or_else(unknown)?;
        let scalar = |bytes| Layout {
            size: bytes,
            align: bytes,
        };
        Ok(match (of.class.opcode, &of.operands[..]) {
            // In private memory, a boolean is a word.
            (Op::TypeBool, _) => scalar(4),
            (Op::TypeInt | Op::TypeFloat, [Operand::LiteralBit32(bits), ..]) => scalar(bits / 8),
            // Only addresses are kept in memory.
            (Op::TypePointer, _) => scalar(8),
            (Op::TypeVector, [Operand::IdRef(element), Operand::LiteralBit32(count)]) => {
                let element = self.layout(*element)?;
                Layout {
                    size: element.size.saturating_mul(*count),
                    align: element.size.saturating_mul(count.next_power_of_two()),
                }
            }
            (Op::TypeArray, [Operand::IdRef(element), Operand::IdRef(count)]) => {
                let element = self.layout(*element)?;
                let natural = element.size.next_multiple_of(element.align.max(1));
                let stride = self.strides.get(&id).copied().unwrap_or(natural);
                let count = self.constant(*count).ok_or_else(unknown)?;
                Layout {
                    size: stride.saturating_mul(count),
                    align: element.align,
                }
            }
            (Op::TypeStruct, members) => {
                let mut whole = Layout { size: 0, align: 1 };
                for (index, member) in (0..).zip(members) {
                    let Operand::IdRef(member) = member else {
                        return Err(unknown());
                    };
                    let member = self.layout(*member)?;
                    let natural = whole.size.next_multiple_of(member.align.max(1));
                    let begin = self.offsets.get(&(id, index)).copied().unwrap_or(natural);
                    whole.size = whole.size.max(begin.saturating_add(member.size));
                    whole.align = whole.align.max(member.align);
                }
                whole
            }
            _ => return Err(unknown()),
        })
    }

    fn constant(&self, id: Word) -> Option<u32> {
        match self.types.get(&id)?.operands[..] {
            [Operand::LiteralBit32(value)] => Some(value),
            [Operand::LiteralBit64(value)] => u32::try_from(value).ok(),
            _ => None,
        }
    }
}
