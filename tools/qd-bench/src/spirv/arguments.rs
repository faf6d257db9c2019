//! Hands kernel arguments to bodies directly.
//!
//! Our modules get the address of their arguments as a push constant, and a driver may load them as it loads
//! any memory: Mesa does, once for each argument and wave, at the latency of device memory. On targets with a
//! calling convention of their own they are scalar loads. Here the arguments themselves become the
//! push constants, so that what is said of a body is about the body.

use rspirv::{
    dr::{Instruction, Module, Operand},
    spirv::{Op, StorageClass},
};
use std::collections::HashMap;

/// Bytes of push constants that Mesa's drivers have.
const MOST: u32 = 256;

/// Changes a module so; one whose arguments are too many or come otherwise stays as it is. Returns the bytes of
/// push constants.
pub fn pushed(module: &mut Module) -> Option<u32> {
    let variables: Vec<(u32, u32)> = (module.types_global_values.iter())
        .filter(|one| {
            one.operands.first() == Some(&Operand::StorageClass(StorageClass::PushConstant))
        })
        .filter(|one| one.class.opcode == Op::Variable)
        .filter_map(|one| Some((one.result_id?, one.result_type?)))
        .collect();
    // Of each variable the structure of arguments that its only member points to.
    let mut structures = HashMap::new();
    for (variable, pointer) in variables {
        let block = pointee(module, pointer)?;
        let member = defined(module, block)?.operands.first()?.id_ref_any()?;
        structures.insert(variable, pointee(module, member)?);
    }
    let bytes = structures.values().map(|of| end(module, *of)).max()??;
    if bytes > MOST {
        return None;
    }
    // Loads of the pointer are the variable itself.
    let mut chains: HashMap<u32, u32> = HashMap::new();
    let mut roots: HashMap<u32, u32> = HashMap::new();
    for one in module
        .functions
        .iter()
        .flat_map(|function| function.all_inst_iter())
    {
        let (Some(result), Some(from)) = (
            one.result_id,
            one.operands.first().and_then(Operand::id_ref_any),
        ) else {
            continue;
        };
        match one.class.opcode {
            Op::AccessChain if structures.contains_key(&from) => drop(chains.insert(result, from)),
            Op::Load if chains.contains_key(&from) => drop(roots.insert(result, chains[&from])),
            _ => {}
        }
    }
    let mut pointers: HashMap<u32, u32> = HashMap::new();
    let mut next = module.header.as_ref()?.bound;
    let mut made = Vec::new();
    let mut pointer_to = |pointed: u32| {
        *pointers.entry(pointed).or_insert_with(|| {
            let operands = vec![
                Operand::StorageClass(StorageClass::PushConstant),
                Operand::IdRef(pointed),
            ];
            made.push(Instruction::new(
                Op::TypePointer,
                None,
                Some(next),
                operands,
            ));
            next += 1;
            next - 1
        })
    };
    let types: HashMap<u32, u32> = (module.types_global_values.iter())
        .filter(|one| one.class.opcode == Op::TypePointer)
        .filter_map(|one| Some((one.result_id?, one.operands.get(1)?.id_ref_any()?)))
        .collect();
    for function in &mut module.functions {
        let mut arguments = Vec::new();
        for block in &mut function.blocks {
            block.instructions.retain(|one| {
                let result = one.result_id.unwrap_or_default();
                !chains.contains_key(&result) && !roots.contains_key(&result)
            });
            for one in &mut block.instructions {
                let from = one.operands.first().and_then(Operand::id_ref_any);
                let Some(from) = from else { continue };
                if let (Op::AccessChain, Some(variable)) = (one.class.opcode, roots.get(&from)) {
                    one.operands[0] = Operand::IdRef(*variable);
                    one.result_type = one
                        .result_type
                        .and_then(|of| types.get(&of))
                        .map(|of| pointer_to(*of));
                    arguments.extend(one.result_id);
                } else if one.class.opcode == Op::Load && arguments.contains(&from) {
                    // Alignment is said of physical addresses alone.
                    one.operands.truncate(1);
                }
            }
        }
    }
    for one in &mut module.types_global_values {
        if let Some(structure) = one.result_id.and_then(|id| structures.get(&id)) {
            one.result_type = Some(pointer_to(*structure));
        }
    }
    // Behind the types that they are of, and before what is of them.
    let is_variable = |one: &Instruction| one.class.opcode == Op::Variable;
    let (variables, mut all): (Vec<_>, Vec<_>) =
        module.types_global_values.drain(..).partition(is_variable);
    all.extend(made);
    all.extend(variables);
    module.types_global_values = all;
    module.header.as_mut()?.bound = next;
    Some(bytes)
}

fn defined(module: &Module, id: u32) -> Option<&Instruction> {
    let mut all = module.types_global_values.iter();
    all.find(|one| one.result_id == Some(id))
}

fn pointee(module: &Module, pointer: u32) -> Option<u32> {
    defined(module, pointer)?.operands.get(1)?.id_ref_any()
}

/// Where a structure of arguments ends, each of which has 8 bytes.
fn end(module: &Module, structure: u32) -> Option<u32> {
    let members = defined(module, structure)?.operands.len();
    u32::try_from(members).ok()?.checked_mul(8)
}
