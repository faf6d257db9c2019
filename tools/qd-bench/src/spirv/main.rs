//! What is known of compiled bodies without running them: how many instructions SPIR-V has, and what the
//! compiler of a Vulkan driver estimates.
//!
//! It prints a line of JSON for each entry point of each file. With `--driver` the first device that
//! Vulkan's loader finds makes a pipeline of it, with subgroups of the size that is asked for, and what its
//! compiler says (`VK_KHR_pipeline_executable_properties`) is in the line, too. Mesa's RADV does that
//! without hardware, for the chip that `RADV_FORCE_FAMILY` names. Nothing is launched.

mod arguments;
mod driver;

use anyhow::{Context, anyhow};
use clap::Parser;
use driver::Driver;
use rspirv::{
    binary::Assemble,
    dr::{self, Operand},
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::PathBuf, process::ExitCode};

/// Prints what is known of the entry points of SPIR-V modules, a line of JSON for each.
#[derive(Debug, Parser)]
struct Arguments {
    /// Files with SPIR-V in its binary form
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Lanes of a subgroup: pipelines are made for it, and what their compiler says is printed, too
    #[arg(long, value_name = "LANES")]
    driver: Option<u32>,
    /// Makes the kernel arguments push constants before the driver sees them
    #[arg(long, requires = "driver")]
    push_arguments: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("qd-bench-spirv: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let driver = arguments.driver.map(|_| Driver::open()).transpose()?;
    for file in &arguments.files {
        let bytes = fs::read(file).with_context(|| file.display().to_string())?;
        let of_file = || file.display().to_string();
        let mut module =
            dr::load_bytes(&bytes).map_err(|error| anyhow!("{}: {error}", of_file()))?;
        let pushed = match arguments.push_arguments {
            true => arguments::pushed(&mut module),
            false => None,
        };
        let made = match (&driver, arguments.driver) {
            (Some(driver), Some(lanes)) => {
                let code = driver.module(&module.assemble(), pushed);
                Some((code.with_context(of_file)?, lanes))
            }
            _ => None,
        };
        for entry in &module.entry_points {
            let [
                _,
                Operand::IdRef(function),
                Operand::LiteralString(name),
                ..,
            ] = &entry.operands[..]
            else {
                continue;
            };
            let mut line = json!({
                "file": file.file_name().unwrap_or_default().to_string_lossy(),
                "entry": name,
                "instructions": instructions(&module, *function),
            });
            if let Some((code, lanes)) = &made {
                let said: BTreeMap<String, f64> = code.said(name, *lanes).with_context(of_file)?;
                line["driver"] = Value::from_iter(said);
            }
            println!("{line}");
        }
    }
    Ok(())
}

/// Instructions of a function's blocks, without labels, and of those that it calls.
fn instructions(module: &dr::Module, function: u32) -> usize {
    let mut seen = vec![function];
    let mut count = 0;
    let mut at = 0;
    while let Some(id) = seen.get(at).copied() {
        at += 1;
        let of_it = |function: &&dr::Function| function.def_id() == Some(id);
        for block in module
            .functions
            .iter()
            .filter(of_it)
            .flat_map(|f| &f.blocks)
        {
            count += block.instructions.len();
            for called in block.instructions.iter().filter_map(called) {
                if !seen.contains(&called) {
                    seen.push(called);
                }
            }
        }
    }
    count
}

fn called(instruction: &dr::Instruction) -> Option<u32> {
    match (instruction.class.opname, instruction.operands.first()) {
        ("FunctionCall", Some(Operand::IdRef(id))) => Some(*id),
        _ => None,
    }
}
