//! Atomic loads and stores, which the dialect lacks.
//!
//! An `OpAtomicOr` with 0 that does not release is an `OpAtomicLoad`, and an
//! `OpAtomicExchange` with an unused result that does not acquire is an
//! `OpAtomicStore`. They are equivalent, but a device serves concurrent loads of
//! one address together and serialises updates, and look-back waits on loads.

use super::reflect::{ModuleError, load};
use rspirv::{
    binary::Assemble,
    dr::{Instruction, Module, Operand},
    spirv::{MemorySemantics, Op, Word},
};
use std::collections::{HashMap, HashSet};

/// The same module with loads and stores where it has what means the same.
pub fn with_loads_and_stores(words: Vec<Word>) -> Result<Vec<Word>, ModuleError> {
    let mut module = load(&words)?;
    let constants = constants(&module);
    let used = used(&module);
    let mut changed = false;
    for instruction in module.all_inst_iter_mut() {
        let new = match instruction.class.opcode {
            Op::AtomicOr => as_load(instruction, &constants),
            Op::AtomicExchange if !instruction.result_id.is_some_and(|id| used.contains(&id)) => {
                as_store(instruction, &constants)
            }
            _ => None,
        };
        if let Some(new) = new {
            *instruction = new;
            changed = true;
        }
    }
    match changed {
        true => Ok(module.assemble()),
        false => Ok(words),
    }
}

/// Constants of one word, by their id.
fn constants(module: &Module) -> HashMap<Word, u32> {
    let all = module.types_global_values.iter();
    let constants = all.filter_map(|instruction| {
        let value = match (instruction.class.opcode, &instruction.operands[..]) {
            (Op::Constant, [Operand::LiteralBit32(value)]) => *value,
            (Op::Constant, [Operand::LiteralBit64(value)]) => u32::try_from(*value).ok()?,
            (Op::ConstantNull, []) => 0,
            _ => return None,
        };
        Some((instruction.result_id?, value))
    });
    constants.collect()
}

/// Everything that is an operand of something.
fn used(module: &Module) -> HashSet<Word> {
    let operands = module.all_inst_iter().flat_map(|i| &i.operands);
    operands.filter_map(Operand::id_ref_any).collect()
}

/// Whether an order that is a constant has none of these bits.
fn lacks(order: &Operand, constants: &HashMap<Word, u32>, bits: MemorySemantics) -> bool {
    let value = order.id_ref_any().and_then(|id| constants.get(&id));
    value.is_some_and(|value| value & bits.bits() == 0)
}

fn as_load(or: &Instruction, constants: &HashMap<Word, u32>) -> Option<Instruction> {
    let [pointer, scope, order, value] = &or.operands[..] else {
        return None;
    };
    let releases = MemorySemantics::RELEASE | MemorySemantics::ACQUIRE_RELEASE;
    let is_nothing = constants.get(&value.id_ref_any()?) == Some(&0);
    (is_nothing && lacks(order, constants, releases)).then(|| {
        let operands = vec![pointer.clone(), scope.clone(), order.clone()];
        Instruction::new(Op::AtomicLoad, or.result_type, or.result_id, operands)
    })
}

fn as_store(exchange: &Instruction, constants: &HashMap<Word, u32>) -> Option<Instruction> {
    let order = exchange.operands.get(2)?;
    let acquires = MemorySemantics::ACQUIRE | MemorySemantics::ACQUIRE_RELEASE;
    lacks(order, constants, acquires)
        .then(|| Instruction::new(Op::AtomicStore, None, None, exchange.operands.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::dr::Builder;

    const RELAXED: u32 = 0;
    const ACQUIRE: u32 = 0x4042;
    const RELEASE: u32 = 0x2044;

    /// The atomics of a function once that is done with a module of an `or` with
    /// `bits`, and an exchange of its result, both of an order.
    fn after(order: u32, bits: u32, exchange_is_used: bool) -> Vec<Op> {
        let mut b = Builder::new();
        let (void, int) = (b.type_void(), b.type_int(32, 0));
        let signature = b.type_function(void, vec![]);
        let pointer = b.type_pointer(None, rspirv::spirv::StorageClass::Workgroup, int);
        let at = b.variable(pointer, None, rspirv::spirv::StorageClass::Workgroup, None);
        let mut constant = |value| b.constant_bit32(int, value);
        let (scope, order, bits) = (constant(1), constant(order), constant(bits));
        let none = rspirv::spirv::FunctionControl::NONE;
        b.begin_function(void, None, none, signature).unwrap();
        b.begin_block(None).unwrap();
        let old = b.atomic_or(int, None, at, scope, order, bits).unwrap();
        let other = b.atomic_exchange(int, None, at, scope, order, old).unwrap();
        if exchange_is_used {
            b.atomic_xor(int, None, at, scope, order, other).unwrap();
        }
        b.ret().unwrap();
        b.end_function().unwrap();
        let words = with_loads_and_stores(b.module().assemble()).unwrap();
        let module = load(&words).unwrap();
        let all = module.all_inst_iter().map(|i| i.class.opcode);
        all.filter(|op| format!("{op:?}").starts_with("Atomic"))
            .collect()
    }

    #[test]
    fn an_or_with_nothing_is_a_load() {
        assert_eq!(
            after(ACQUIRE, 0, false),
            [Op::AtomicLoad, Op::AtomicExchange]
        );
        assert_eq!(after(ACQUIRE, 1, false), [Op::AtomicOr, Op::AtomicExchange]);
    }

    #[test]
    fn an_exchange_for_nobody_is_a_store() {
        assert_eq!(after(RELEASE, 0, false), [Op::AtomicOr, Op::AtomicStore]);
        assert_eq!(
            after(RELEASE, 0, true),
            [Op::AtomicOr, Op::AtomicExchange, Op::AtomicXor]
        );
    }

    #[test]
    fn without_an_order_both_are() {
        assert_eq!(after(RELAXED, 0, false), [Op::AtomicLoad, Op::AtomicStore]);
    }
}
