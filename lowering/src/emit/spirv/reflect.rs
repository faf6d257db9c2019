//! Reflection of a module, as a runtime needs it before it creates a pipeline.

use super::sizes::Sizes;
use rspirv::{
    dr::{Instruction, Module, Operand},
    spirv::{Decoration, ExecutionMode, ExecutionModel, Op, StorageClass, Word},
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a module declares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reflection {
    /// SPIR-V's version, such as `1.6`.
    pub version: String,
    /// How pointers and memory work, such as `PhysicalStorageBuffer64 Vulkan`.
    pub memory_model: String,
    /// By the specification's names, sorted.
    pub capabilities: Vec<String>,
    /// Sorted.
    pub extensions: Vec<String>,
    /// Variables that a descriptor set would be bound to.
    pub bindings: Vec<Binding>,
    /// In the module's order.
    pub entry_points: Vec<EntryPoint>,
}

/// A function that can be dispatched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryPoint {
    /// Its name.
    pub name: String,
    /// How it is called, such as `GLCompute`.
    pub model: String,
    /// The threads of a workgroup, where they are literals.
    pub local_size: Option<[u32; 3]>,
    /// The block of push constants, up to the end of its last member.
    pub push_constant_bytes: u32,
    /// Memory that a workgroup shares.
    pub workgroup_bytes: u32,
}

/// A variable in a descriptor set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The descriptor set.
    pub set: u32,
    /// The number in it.
    pub binding: u32,
    /// The variable's name, or its id.
    pub name: String,
}

/// What is wrong with a module.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ModuleError {
    /// It is not SPIR-V, or is truncated.
    #[error("not a SPIR-V module: {0}")]
    Malformed(String),
    /// Nothing that our runtime could launch.
    #[error("not a module of a vulkan artifact: {0}")]
    Interface(String),
}

/// A module's words as instructions.
pub(super) fn load(words: &[u32]) -> Result<Module, ModuleError> {
    rspirv::dr::load_words(words).map_err(|why| ModuleError::Malformed(why.to_string()))
}

impl Reflection {
    /// Reads a module's words.
    ///
    /// # Errors
    ///
    /// If they are no module, or name what they do not define.
    pub fn of(words: &[u32]) -> Result<Self, ModuleError> {
        let module = load(words)?;
        let header = module.header.as_ref();
        let (major, minor) = header.map_or((0, 0), |header| header.version());
        let sizes = Sizes::of(&module);
        let entry_points = module.entry_points.iter();
        Ok(Self {
            version: format!("{major}.{minor}"),
            memory_model: module
                .memory_model
                .as_ref()
                .map_or_else(String::new, words_of),
            capabilities: sorted(&module.capabilities),
            extensions: sorted(&module.extensions),
            bindings: bindings(&module),
            entry_points: entry_points
                .map(|entry| EntryPoint::of(entry, &module, &sizes))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Checks the module against `docs/rationale/vulkan.md`: whether our
    /// launches can pass its arguments.
    ///
    /// # Errors
    ///
    /// The first violation.
    pub fn check(&self) -> Result<(), ModuleError> {
        let fail = |what: String| Err(ModuleError::Interface(what));
        if self.version != "1.6" {
            return fail(format!("version {} instead of 1.6", self.version));
        }
        if self.memory_model != "PhysicalStorageBuffer64 Vulkan" {
            return fail(format!("the memory model '{}'", self.memory_model));
        }
        if let Some(binding) = self.bindings.first() {
            return fail(format!(
                "'{}' is bound in set {}, but a launch passes addresses and no descriptor sets",
                binding.name, binding.set
            ));
        }
        let mut names = BTreeSet::new();
        for entry in &self.entry_points {
            let name = &entry.name;
            if !names.insert(name) {
                return fail(format!("two entry points '{name}'"));
            }
            entry
                .check()
                .or_else(|what| fail(format!("the entry point '{name}' {what}")))?;
        }
        Ok(())
    }
}

/// The address of a launch's kernel arguments.
const PUSH_CONSTANT_BYTES: u32 = 8;

impl EntryPoint {
    fn of(entry: &Instruction, module: &Module, sizes: &Sizes<'_>) -> Result<Self, ModuleError> {
        let [
            Operand::ExecutionModel(model),
            Operand::IdRef(function),
            Operand::LiteralString(name),
            interface @ ..,
        ] = entry.operands.as_slice()
        else {
            return Err(ModuleError::Malformed(
                "an entry point without a name".into(),
            ));
        };
        // Since SPIR-V 1.4 the interface has the variables of every storage class.
        let used: BTreeSet<Word> = interface.iter().filter_map(Operand::id_ref_any).collect();
        let bytes = |class| {
            variables(module, class)
                .filter(|variable| variable.result_id.is_some_and(|id| used.contains(&id)))
                .map(|variable| sizes.pointee(variable))
                .sum::<Result<u32, _>>()
        };
        Ok(Self {
            name: name.clone(),
            model: execution_model(*model),
            local_size: local_size(module, *function),
            push_constant_bytes: bytes(StorageClass::PushConstant)?,
            workgroup_bytes: bytes(StorageClass::Workgroup)?,
        })
    }

    /// Why a launch could not run it.
    fn check(&self) -> Result<(), String> {
        if self.model != "GLCompute" {
            return Err(format!("is {}, not GLCompute", self.model));
        }
        match self.local_size {
            Some([threads, 1, 1]) if threads > 0 => {}
            Some([x, y, z]) => {
                return Err(format!(
                    "has LocalSize {x} {y} {z}; blocks have one dimension"
                ));
            }
            None => return Err("has no LocalSize".into()),
        }
        // A body that takes nothing has no block.
        if ![0, PUSH_CONSTANT_BYTES].contains(&self.push_constant_bytes) {
            return Err(format!(
                "has {} bytes of push constants instead of {PUSH_CONSTANT_BYTES}",
                self.push_constant_bytes
            ));
        }
        Ok(())
    }
}

fn execution_model(model: ExecutionModel) -> String {
    format!("{model:?}")
}

fn local_size(module: &Module, function: Word) -> Option<[u32; 3]> {
    module
        .execution_modes
        .iter()
        .find_map(|mode| match mode.operands[..] {
            [
                Operand::IdRef(of),
                Operand::ExecutionMode(ExecutionMode::LocalSize),
                Operand::LiteralBit32(x),
                Operand::LiteralBit32(y),
                Operand::LiteralBit32(z),
            ] if of == function => Some([x, y, z]),
            _ => None,
        })
}

fn variables(module: &Module, class: StorageClass) -> impl Iterator<Item = &Instruction> {
    module.types_global_values.iter().filter(move |global| {
        global.class.opcode == Op::Variable
            && global.operands.first() == Some(&Operand::StorageClass(class))
    })
}

fn bindings(module: &Module) -> Vec<Binding> {
    let mut sets = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    for annotation in &module.annotations {
        if let [
            Operand::IdRef(id),
            Operand::Decoration(what),
            Operand::LiteralBit32(number),
        ] = annotation.operands[..]
        {
            match what {
                Decoration::DescriptorSet => _ = sets.insert(id, number),
                Decoration::Binding => _ = numbers.insert(id, number),
                _ => {}
            }
        }
    }
    let ids: BTreeSet<Word> = sets.keys().chain(numbers.keys()).copied().collect();
    ids.into_iter()
        .map(|id| Binding {
            set: sets.get(&id).copied().unwrap_or(0),
            binding: numbers.get(&id).copied().unwrap_or(0),
            name: name_of(module, id),
        })
        .collect()
}

fn name_of(module: &Module, id: Word) -> String {
    let given = module
        .debug_names
        .iter()
        .find_map(|name| match &name.operands[..] {
            [Operand::IdRef(of), Operand::LiteralString(text)] if *of == id => Some(text.clone()),
            _ => None,
        });
    given.unwrap_or_else(|| format!("%{id}"))
}

/// The one operand of each instruction, as a sorted list without repetitions.
fn sorted(instructions: &[Instruction]) -> Vec<String> {
    let set: BTreeSet<String> = instructions
        .iter()
        .filter_map(|instruction| match instruction.operands.first()? {
            Operand::LiteralString(text) => Some(text.clone()),
            operand => Some(operand.to_string()),
        })
        .collect();
    set.into_iter().collect()
}

fn words_of(instruction: &Instruction) -> String {
    let words: Vec<String> = instruction
        .operands
        .iter()
        .map(Operand::to_string)
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn a_module_says_what_it_is() {
        let reflection = Reflection::of(&Sample::default().words()).expect("a module");
        assert_eq!(reflection.check(), Ok(()));
        let entry = |name: &str, threads, workgroup_bytes| EntryPoint {
            name: name.into(),
            model: "GLCompute".into(),
            local_size: Some([threads, 1, 1]),
            // Each has a block of its own.
            push_constant_bytes: 8,
            workgroup_bytes,
        };
        assert_eq!(
            reflection,
            Reflection {
                version: "1.6".into(),
                memory_model: "PhysicalStorageBuffer64 Vulkan".into(),
                capabilities: [
                    "Int64",
                    "PhysicalStorageBufferAddresses",
                    "Shader",
                    "VulkanMemoryModel"
                ]
                .map(String::from)
                .to_vec(),
                extensions: vec!["SPV_KHR_test".into()],
                bindings: Vec::new(),
                // Only the first uses the array of 64 words and the flag.
                entry_points: vec![entry("first", 256, 260), entry("second", 64, 0)],
            }
        );
    }

    #[test]
    fn a_module_that_no_launch_reaches_is_refused() {
        let because = |sample: Sample| {
            let reflection = Reflection::of(&sample.words()).expect("a module");
            reflection.check().expect_err("refused").to_string()
        };
        let sample = Sample::default;
        for (sample, why) in [
            (
                Sample {
                    version: (1, 5),
                    ..sample()
                },
                "version 1.5 instead of 1.6",
            ),
            (
                Sample {
                    physical: false,
                    ..sample()
                },
                "memory model 'Logical Vulkan'",
            ),
            (
                Sample {
                    push_words: 2,
                    ..sample()
                },
                "'first' has 16 bytes of push constants instead of 8",
            ),
            (
                Sample {
                    local_size: None,
                    ..sample()
                },
                "'first' has no LocalSize",
            ),
            (
                Sample {
                    local_size: Some([8, 8, 1]),
                    ..sample()
                },
                "'first' has LocalSize 8 8 1",
            ),
            (
                Sample {
                    local_size: Some([0, 1, 1]),
                    ..sample()
                },
                "'first' has LocalSize 0 1 1",
            ),
            (
                Sample {
                    model: ExecutionModel::Fragment,
                    ..sample()
                },
                "'first' is Fragment, not GLCompute",
            ),
            (
                Sample {
                    second: "first",
                    ..sample()
                },
                "two entry points 'first'",
            ),
            (
                Sample {
                    bound: true,
                    ..sample()
                },
                "'shared' is bound in set 3",
            ),
        ] {
            let message = because(sample);
            assert!(message.contains(why), "{message}\ninstead of\n{why}");
        }
    }

    #[test]
    fn what_is_no_module_is_an_error() {
        let words = Sample::default().words();
        for cut in [0, 3, 5, words.len() - 1] {
            let error = Reflection::of(&words[..cut]);
            // A header alone is a module of nothing, which no check lets pass.
            let fine = error.is_ok_and(|reflection| reflection.check().is_ok());
            assert!(!fine, "{cut}");
        }
        let error = Reflection::of(&[1, 2, 3, 4, 5]).expect_err("no magic number");
        assert!(
            error.to_string().starts_with("not a SPIR-V module"),
            "{error}"
        );
    }
}
