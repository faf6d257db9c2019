//! Names of ids in disassembly.

use rspirv::{
    dr::{Instruction, Module, Operand},
    spirv::{Decoration, Op, Word},
};
use std::collections::HashMap;

/// Names of ids. What has none is called by its number.
#[derive(Default)]
pub struct Names<'m> {
    names: HashMap<Word, String>,
    globals: HashMap<Word, &'m Instruction>,
}

impl<'m> Names<'m> {
    /// First the names that the module gives, then names of types and constants
    /// that say what they are, as `spirv-dis` has them. A name that two ids would
    /// have is neither's.
    pub fn of(module: &'m Module) -> Self {
        let mut names = Self::default();
        let given = module.debug_names.iter().filter_map(|name| {
            match (name.class.opcode, &name.operands[..]) {
                (Op::Name, [Operand::IdRef(id), Operand::LiteralString(text)]) => {
                    Some((*id, identifier(text)))
                }
                _ => None,
            }
        });
        names.add(given.collect());
        let built_in =
            module
                .annotations
                .iter()
                .filter_map(|annotation| match annotation.operands[..] {
                    [
                        Operand::IdRef(id),
                        Operand::Decoration(Decoration::BuiltIn),
                        Operand::BuiltIn(what),
                    ] => Some((id, format!("{what:?}"))),
                    _ => None,
                });
        names.add(built_in.collect());
        // One by one: a type's name is made of those of its parts, which come first.
        for global in &module.types_global_values {
            if let Some(id) = global.result_id {
                names.globals.insert(id, global);
                let made = names.made_up(global);
                names.add(made.map(|name| (id, name)).into_iter().collect());
            }
        }
        names
    }

    fn add(&mut self, wanted: Vec<(Word, String)>) {
        let mut uses: HashMap<String, usize> = HashMap::new();
        for name in self
            .names
            .values()
            .chain(wanted.iter().map(|(_, name)| name))
        {
            *uses.entry(name.clone()).or_default() += 1;
        }
        for (id, name) in wanted {
            // Digits alone are the number of another.
            if uses[&name] == 1 && !name.bytes().all(|c| c.is_ascii_digit()) {
                self.names.entry(id).or_insert(name);
            }
        }
    }

    /// An id, as in `%name` or `%12`.
    pub fn id(&self, id: Word) -> String {
        match self.names.get(&id) {
            Some(name) => format!("%{name}"),
            None => format!("%{id}"),
        }
    }

    /// The value of a constant word.
    pub fn word(&self, id: Word) -> Option<u32> {
        match (
            self.globals.get(&id)?.class.opcode,
            &self.globals[&id].operands[..],
        ) {
            (Op::Constant, [Operand::LiteralBit32(value)]) => Some(*value),
            _ => None,
        }
    }

    /// A constant's value, as the assembler reads it.
    pub fn literal(&self, constant: &Instruction) -> Option<String> {
        let of = self.globals.get(&constant.result_type?)?;
        let bits = match constant.operands[..] {
            [Operand::LiteralBit32(bits)] => u64::from(bits),
            [Operand::LiteralBit64(bits)] => bits,
            _ => return None,
        };
        match (of.class.opcode, &of.operands[..]) {
            (Op::TypeInt, [Operand::LiteralBit32(64), Operand::LiteralBit32(1)]) => {
                Some((bits as i64).to_string())
            }
            (Op::TypeInt, [_, Operand::LiteralBit32(1)]) => Some((bits as u32 as i32).to_string()),
            (Op::TypeInt, _) => Some(bits.to_string()),
            (Op::TypeFloat, [Operand::LiteralBit32(32), ..]) => {
                let value = f32::from_bits(bits as u32);
                Some(match value.is_finite() {
                    true => format!("{value:?}"),
                    false => special(bits, 8, 23),
                })
            }
            (Op::TypeFloat, [Operand::LiteralBit32(64), ..]) => {
                let value = f64::from_bits(bits);
                Some(match value.is_finite() {
                    true => format!("{value:?}"),
                    false => special(bits, 11, 52),
                })
            }
            (Op::TypeFloat, [Operand::LiteralBit32(16), ..]) => Some(half(bits as u16)),
            _ => None,
        }
    }

    /// How many structures come before the last one.
    fn structures(&self) -> usize {
        let globals = self.globals.values();
        globals
            .filter(|global| global.class.opcode == Op::TypeStruct)
            .count()
            - 1
    }

    fn made_up(&self, global: &Instruction) -> Option<String> {
        let literal = |i: usize| match global.operands.get(i) {
            Some(Operand::LiteralBit32(value)) => Some(*value),
            _ => None,
        };
        let part = |i: usize| match global.operands.get(i) {
            Some(Operand::IdRef(id)) => self.names.get(id).cloned(),
            _ => None,
        };
        let kind = || self.names.get(&global.result_type?).cloned();
        Some(match global.class.opcode {
            Op::TypeVoid => "void".into(),
            Op::TypeBool => "bool".into(),
            Op::TypeInt => {
                let name = match literal(0)? {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    64 => "long",
                    _ => return None,
                };
                format!("{}{name}", if literal(1)? == 0 { "u" } else { "" })
            }
            Op::TypeFloat => match literal(0)? {
                16 => "half".into(),
                32 => "float".into(),
                64 => "double".into(),
                _ => return None,
            },
            Op::TypeVector => format!("v{}{}", literal(1)?, part(0)?),
            Op::TypeArray => format!("_arr_{}_{}", part(0)?, part(1)?),
            Op::TypeRuntimeArray => format!("_runtimearr_{}", part(0)?),
            Op::TypePointer => format!("_ptr_{}_{}", global.operands.first()?, part(1)?),
            Op::TypeStruct => format!("_struct_{}", self.structures()),
            Op::ConstantTrue => "true".into(),
            Op::ConstantFalse => "false".into(),
            Op::Constant => {
                let value = self.literal(global)?.replace('-', "n");
                format!(
                    "{}_{}",
                    kind()?,
                    identifier(value.strip_suffix(".0").unwrap_or(&value))
                )
            }
            _ => return None,
        })
    }
}

/// Infinities and NaNs, whose exponent is one more than a number's can be.
fn special(bits: u64, exponent: u32, mantissa: u32) -> String {
    let sign = if bits >> (exponent + mantissa) & 1 == 1 {
        "-"
    } else {
        ""
    };
    let power = 1u64 << (exponent - 1);
    // Hexadecimal digits are of four bits.
    let digits = mantissa.div_ceil(4);
    let fraction = (bits & ((1 << mantissa) - 1)) << (4 * digits - mantissa);
    match fraction {
        0 => format!("{sign}0x1p+{power}"),
        _ => format!(
            "{sign}0x1.{fraction:0width$x}p+{power}",
            width = digits as usize
        ),
    }
}

fn half(bits: u16) -> String {
    let (sign, rest) = (bits >> 15, i32::from(bits & 0x7fff));
    let (exponent, mantissa) = (rest >> 10, rest & 0x3ff);
    if exponent == 31 {
        return special(u64::from(bits), 5, 10);
    }
    let value = match exponent {
        0 => f64::from(mantissa) * 2f64.powi(-24),
        _ => f64::from(mantissa + 1024) * 2f64.powi(exponent - 25),
    };
    format!("{:?}", if sign == 1 { -value } else { value })
}

/// A text as the assembler lets an id be called.
fn identifier(text: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    text.chars().map(allowed).collect()
}
