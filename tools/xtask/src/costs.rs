//! `amd-costs`: what algorithms cost on AMD's chips, counted in the oracle and not measured.

use anyhow::Result;

use crate::oracle::{self, Oracle};
use crate::packages::{self, Purpose};
use crate::workspace::{LLVM_PREFIX, Profile, Workspace};
use crate::{algorithms, cargo, process};

/// Of the elements of each launch. Bodies that see few of them are left out of the table.
const LOG2: u32 = 14;

/// Runs each algorithm, and the kernels of one body of `bench -- --only waves`, on each chip at each wave, with the search
/// and without, and prints a table of either.
pub fn run(workspace: &Workspace) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    cargo::build_tools(workspace, Profile::Dev)?;
    let oracle = Oracle::prepare(workspace)?;
    let folder = oracle.empty_folder("costs")?;
    let sources = algorithms::write_all(workspace, &folder.join("kernels"))?;
    let set = algorithms::write_set(workspace, &folder.join("set"))?;
    let searched = oracle::all();
    let fixed = searched.iter().map(|chip| oracle::Chip {
        is_fixed: true,
        ..chip.clone()
    });
    let chips: Vec<_> = searched.iter().cloned().chain(fixed).collect();
    for chip in chips {
        let lowering = if chip.is_fixed { "fixed" } else { "selected" };
        let file = |row: &str, suffix: &str| {
            let (architecture, wave) = (&chip.architecture, chip.wave);
            folder.join(format!("{row}.{architecture}.{wave}.{lowering}.{suffix}"))
        };
        for source in sources.iter().chain(&set) {
            let mut translate = algorithms::tool(workspace, "qd-translate");
            translate.arg(source);
            translate.args(["--target", &chip.target(), "--emit=asm", "-o"]);
            process::capture(translate.arg(file(&algorithms::row_of(source), "s")))?;
        }
        for source in &sources {
            let row = algorithms::row_of(source);
            let to = file(&row, "jsonl");
            algorithms::count_algorithm(workspace, &oracle, &chip, (&row, LOG2), &to)?;
        }
        // Not among the files of the algorithms.
        let to = file("set", "counts");
        algorithms::count_set(workspace, &oracle, &chip, &to)?;
    }
    let folder = folder.to_string_lossy();
    let llvm = format!("{LLVM_PREFIX}/bin");
    // Each row is launched twice: to be checked, and once.
    let elements = (2 << LOG2).to_string();
    let table = ["costs", &folder, "--elements", &elements, "--llvm", &llvm];
    print!("{}", process::capture(&mut oracle.command(&table))?);
    Ok(())
}
