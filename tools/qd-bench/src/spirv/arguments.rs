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

#[cfg(test)]
mod tests {
    use super::*;
    use qd_frontend::{CompileOptions, Emit, Parsed, Source};
    use rspirv::{binary::Assemble, dr};
    use std::{env, fs, process::Command};

    const TWO_BUFFERS: &str = "qd.grid.kernel @k(%from: memref<?xi32>, %out: memref<?xi32>) {
      %one = arith.constant 1 : index
      qd.grid.phase blocks(%one) threads(64) {
        %t = qd.simt.block.thread_id
        %v = memref.load %from[%t] : memref<?xi32>
        memref.store %v, %out[%t] : memref<?xi32>
      }
    }";

    fn module() -> Module {
        let context = qd_frontend::lazy_context();
        let source = Source::text("k.mlir", TWO_BUFFERS);
        let parsed = Parsed::new(&context, &source, &mut |_| ());
        let target = "vulkan:1.3,subgroup=32".parse().unwrap();
        let options = CompileOptions::of_environment();
        let mut parsed = parsed.unwrap();
        let made = parsed.translate(&target, &options, Emit::Spirv, &mut |_| ());
        dr::load_bytes(made.unwrap()).unwrap()
    }

    /// How often the push constants are an operand of an instruction, and instructions that access memory by an address.
    fn accesses(module: &Module) -> (usize, usize) {
        let is_pushed = |one: &&Instruction| {
            one.class.opcode == Op::Variable
                && one.operands.first() == Some(&Operand::StorageClass(StorageClass::PushConstant))
        };
        let pushed = module.types_global_values.iter().find(is_pushed);
        let pushed = Operand::IdRef(pushed.unwrap().result_id.unwrap());
        let all = module.functions.iter().flat_map(|f| f.all_inst_iter());
        let (mut direct, mut by_address) = (0, 0);
        for one in all {
            direct += usize::from(one.operands.first() == Some(&pushed));
            let is_aligned = |operand: &Operand| matches!(operand, Operand::MemoryAccess(_));
            by_address += usize::from(one.operands.iter().any(is_aligned));
        }
        (direct, by_address)
    }

    #[test]
    fn arguments_are_push_constants_and_no_longer_behind_their_address() {
        let mut module = module();
        let (direct, by_address) = accesses(&module);
        let bytes = pushed(&mut module).unwrap();
        assert!(bytes >= 16 && bytes.is_multiple_of(8), "{bytes}");
        let (direct_now, by_address_now) = accesses(&module);
        // Each argument is read from them, where their address was.
        assert!(direct_now > direct, "{direct} {direct_now}");
        // The buffers' own elements are left.
        assert!(by_address_now < by_address, "{by_address} {by_address_now}");
        assert!(by_address_now >= 2, "{by_address_now}");
        let path = env::temp_dir().join(format!("qd-pushed-{}.spv", std::process::id()));
        let bytes: Vec<u8> = module
            .assemble()
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect();
        fs::write(&path, bytes).unwrap();
        let judged = Command::new("spirv-val")
            .args(["--target-env", "vulkan1.3", "--scalar-block-layout"])
            .arg(&path)
            .output();
        fs::remove_file(&path).unwrap();
        let judged = judged.expect("spirv-val starts: `cargo xtask setup` installs it");
        let said = String::from_utf8_lossy(&judged.stderr);
        assert!(judged.status.success(), "{said}");
    }

    #[test]
    fn more_than_a_driver_has_stays_where_it_is() {
        let mut module = module();
        let structure = module
            .types_global_values
            .iter()
            .position(|one| one.class.opcode == Op::TypeStruct && one.operands.len() >= 2);
        let structure = &mut module.types_global_values[structure.unwrap()];
        let member = structure.operands[0].clone();
        structure.operands.extend(vec![member; 64]);
        let before = module.assemble();
        assert_eq!(pushed(&mut module), None);
        assert_eq!(module.assemble(), before);
    }
}
