//! A module as text that a person reads and `spirv-as` takes.

use super::{
    names::Names,
    reflect::{ModuleError, load},
};
use rspirv::{
    binary::Disassemble,
    dr::{Instruction, Operand},
    spirv::{GlslStd450Op, MemorySemantics, Op, Scope, Word},
};

/// Where ops begin, as in what `spirv-dis` prints.
const INDENT: usize = 15;

/// A module's words as text. The same words always give the same text.
///
/// # Errors
///
/// If they are no module.
pub fn disassemble(words: &[u32]) -> Result<String, ModuleError> {
    let module = load(words)?;
    let mut printer = Printer {
        names: Names::of(&module),
        functions: None,
        text: String::new(),
    };
    if let Some(header) = &module.header {
        let (major, minor) = header.version();
        printer.text = format!(
            "; SPIR-V\n; Version: {major}.{minor}\n; Bound: {}\n",
            header.bound
        );
    }
    for instruction in module.global_inst_iter() {
        printer.line(instruction);
    }
    for function in &module.functions {
        printer.text.push('\n');
        for instruction in function.all_inst_iter() {
            printer.line(instruction);
        }
    }
    Ok(printer.text)
}

struct Printer<'m> {
    names: Names<'m>,
    /// The id of GLSL's functions.
    functions: Option<Word>,
    text: String,
}

impl Printer<'_> {
    fn line(&mut self, instruction: &Instruction) {
        let result = match instruction.result_id {
            Some(id) => self.names.id(id) + " = ",
            None => String::new(),
        };
        let mut words = vec![format!("{result:>INDENT$}Op{}", instruction.class.opname)];
        words.extend(instruction.result_type.map(|id| self.names.id(id)));
        let operands = &instruction.operands;
        words.extend(
            operands
                .iter()
                .map(|operand| self.operand(operand, instruction)),
        );
        let comments: Vec<String> = operands.iter().filter_map(|o| self.meaning(o)).collect();
        if !comments.is_empty() {
            words.push(format!("; {}", comments.join(", ")));
        }
        self.text += &words.join(" ");
        self.text.push('\n');
        if instruction.class.opcode == Op::ExtInstImport
            && *operands == [Operand::LiteralString("GLSL.std.450".into())]
        {
            self.functions = instruction.result_id;
        }
    }

    fn operand(&self, operand: &Operand, of: &Instruction) -> String {
        match *operand {
            Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => {
                self.names.id(id)
            }
            Operand::LiteralBit32(_) | Operand::LiteralBit64(_)
                if of.class.opcode == Op::Constant =>
            {
                self.names
                    .literal(of)
                    .unwrap_or_else(|| operand.to_string())
            }
            Operand::LiteralExtInstInteger(number) => {
                let known = self
                    .functions
                    .is_some_and(|id| of.operands[0] == Operand::IdRef(id));
                match GlslStd450Op::from_u32(number).filter(|_| known) {
                    Some(function) => format!("{function:?}"),
                    None => number.to_string(),
                }
            }
            _ => operand.disassemble(),
        }
    }

    /// What a number stands for that the instruction has as a constant.
    fn meaning(&self, operand: &Operand) -> Option<String> {
        match *operand {
            Operand::IdScope(id) => {
                Scope::from_u32(self.names.word(id)?).map(|scope| format!("{scope:?}"))
            }
            Operand::IdMemorySemantics(id) => {
                MemorySemantics::from_bits(self.names.word(id)?).map(|bits| bits.disassemble())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;
    use std::{
        io::Write,
        process::{Command, Stdio},
    };

    fn text(sample: &Sample) -> String {
        disassemble(&sample.words()).expect("a module")
    }

    #[test]
    fn types_constants_and_variables_have_names() {
        let text = text(&Sample::default());
        for line in [
            "; Version: 1.6\n",
            "               OpMemoryModel PhysicalStorageBuffer64 Vulkan\n",
            "               OpEntryPoint GLCompute %first \"first\" %launch %shared %flag %LocalInvocationIndex\n",
            "               OpExecutionMode %first LocalSize 256 1 1\n",
            "      %ulong = OpTypeInt 64 0\n",
            "     %int_n1 = OpConstant %int -1\n",
            "  %float_1_5 = OpConstant %float 1.5\n",
            "%_arr_uint_uint_64 = OpTypeArray %uint %uint_64\n",
            "     %shared = OpVariable %_ptr_Workgroup__arr_uint_uint_64 Workgroup\n",
            " Aligned 8\n",
            "OpExtInst %int %1 SAbs %int_n1\n",
            "OpControlBarrier %uint_2 %uint_2 %uint_264 ; Workgroup, Workgroup, AcquireRelease|WorkgroupMemory\n",
        ] {
            assert!(text.contains(line), "{line}is not in\n{text}");
        }
    }

    #[test]
    fn a_name_of_two_is_neithers() {
        let names = ["same", "same"];
        let text = text(&Sample {
            names,
            ..Sample::default()
        });
        assert!(text.contains(" \"same\"\n"), "{text}");
        assert!(!text.contains("%same"), "{text}");
    }

    #[test]
    fn a_name_that_is_a_number_or_a_types_is_not_used() {
        let names = ["7", "uint"];
        let text = text(&Sample {
            names,
            ..Sample::default()
        });
        assert!(
            text.contains("\"7\"\n") && !text.contains("%7 = OpVariable"),
            "{text}"
        );
        // What the module itself calls so keeps the name.
        assert!(text.contains("%uint = OpVariable"), "{text}");
        assert!(text.contains("%4 = OpTypeInt 32 0"), "{text}");
    }

    /// The assembler makes a module of the text that has the same text.
    #[test]
    fn the_assembler_takes_the_text() {
        for names in [
            ["shared", "flag"],
            ["same", "same"],
            ["a b", "é%"],
            ["7", "uint"],
        ] {
            let first = text(&Sample {
                names,
                ..Sample::default()
            });
            let Some(words) = assemble(&first) else {
                eprintln!("not run: there is no spirv-as");
                return;
            };
            let module = disassemble(&words).expect("a module");
            let mut again = module.lines().map(numberless);
            for line in first.lines().map(numberless) {
                assert_eq!(Some(line), again.next());
            }
        }
    }

    /// A line without the numbers that the assembler gives anew.
    fn numberless(line: &str) -> String {
        let words = line
            .split_whitespace()
            .map(|word| match word.strip_prefix('%') {
                Some(id) if id.bytes().all(|c| c.is_ascii_digit()) => "%",
                _ => word,
            });
        words.collect::<Vec<_>>().join(" ")
    }

    fn assemble(text: &str) -> Option<Vec<u32>> {
        let mut child = Command::new("spirv-as")
            .args(["--target-env", "vulkan1.3", "-o", "-", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        child
            .stdin
            .take()?
            .write_all(text.as_bytes())
            .expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{text}");
        let words = output.stdout.chunks_exact(4);
        Some(
            words
                .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four")))
                .collect(),
        )
    }
}
