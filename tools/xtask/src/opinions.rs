//! `wave-opinions`: what others say of the subgroup sizes that the search chooses for RDNA, without the
//! hardware.
//!
//! Two opinions on each body at 32 and at 64 lanes: what Mesa's compiler estimates (RADV without a device),
//! and what the oracle counts. Both see what the search makes of the body at that size: the driver is
//! given, as SPIR-V, the collectives that are left for the chip.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::oracle::{self, Chip, Oracle};
use crate::packages::{self, Purpose};
use crate::workspace::{Profile, Workspace};
use crate::{algorithms, cargo, drivers, process, workers};

/// RDNA's architectures, with what Mesa calls a chip of each.
const CHIPS: [(&str, &str); 2] = [("gfx1100", "navi31"), ("gfx1201", "gfx1201")];

/// Of the elements of an algorithm's launch.
const LOG2: u32 = 14;

/// What all of it needs.
struct Maker<'a> {
    workspace: &'a Workspace,
    oracle: &'a Oracle,
    folder: &'a Path,
    /// The file of each row, and whether it is of an algorithm.
    rows: Vec<(PathBuf, bool)>,
}

/// Asks for all opinions, and prints the table.
pub fn run(workspace: &Workspace) -> Result<()> {
    packages::ensure(Purpose::Test)?;
    drivers::is_there(drivers::RADEON)?;
    cargo::build_tools(workspace, Profile::Dev)?;
    let oracle = Oracle::prepare(workspace)?;
    let folder = oracle.empty_folder("opinions")?;
    let set = algorithms::write_set(workspace, &folder.join("set"))?;
    let all = algorithms::write_all(workspace, &folder.join("algorithms"))?;
    let maker = Maker {
        workspace,
        oracle: &oracle,
        folder: &folder,
        rows: (set.into_iter().map(|file| (file, false)))
            .chain(all.into_iter().map(|file| (file, true)))
            .collect(),
    };
    let is_rdna = |chip: &Chip| CHIPS.iter().any(|(name, _)| *name == chip.architecture);
    let chips: Vec<Chip> = oracle::all().into_iter().filter(is_rdna).collect();
    workers::share(chips, |chip| maker.of_chip(&chip))?;
    let folder = folder.to_string_lossy();
    print!(
        "{}",
        process::capture(&mut oracle.command(&["opinions", &folder]))?
    );
    Ok(())
}

impl Maker<'_> {
    fn tool(&self, name: &str) -> Command {
        algorithms::tool(self.workspace, name)
    }

    fn of_chip(&self, chip: &Chip) -> Result<()> {
        let name = |row: &Path, suffix: &str| {
            let row = algorithms::row_of(row);
            let Chip {
                architecture, wave, ..
            } = chip;
            self.folder
                .join(format!("{row}.{architecture}.{wave}.{suffix}"))
        };
        let mut modules = Vec::new();
        for (row, _) in &self.rows {
            // The choice is of both sizes.
            if chip.wave == 32 {
                let plan = name(row, "plan");
                let target = format!("{}{}", oracle::PREFIX, chip.architecture);
                let mut lower = self.tool("qd-opt");
                lower
                    .arg(row)
                    .args(["--to=plan", &format!("--target={target}"), "-o"]);
                process::capture(lower.arg(&plan))?;
                let mut select = self.tool("qd-opt");
                select
                    .arg(plan)
                    .arg(format!("--qd-select-lowering=target={target}"));
                process::capture(select.arg("-o").arg(name(row, "chosen")))?;
            }
            let lowered = name(row, "lowered");
            let mut lower = self.tool("qd-opt");
            lower.arg(row).args([
                "--to=subgroup",
                &format!("--target={}", chip.target()),
                "-o",
            ]);
            process::capture(lower.arg(&lowered))?;
            // Their forms are AMD's.
            let text = fs::read_to_string(&lowered)?.replace("qd.form = ", "form = ");
            fs::write(&lowered, text)?;
            let mut translate = self.tool("qd-translate");
            translate
                .arg(&lowered)
                .arg(format!("--target=vulkan:1.3,subgroup={}", chip.wave));
            translate.args(["--emit=spirv", "-o"]).arg(name(row, "spv"));
            // Some need more shared memory than Vulkan promises.
            if process::collect(&mut translate)?.1.success() {
                modules.push(name(row, "spv"));
            }
        }
        let mesa = CHIPS.iter().find(|(name, _)| *name == chip.architecture);
        // As they are, and with arguments that come as cheaply as on AMD's own targets.
        for (suffix, flag) in [("driver", None), ("pushed", Some("--push-arguments"))] {
            let mut driver = self.tool("qd-bench-spirv");
            driver
                .args(&modules)
                .args(["--driver", &chip.wave.to_string()]);
            driver.args(flag);
            drivers::select(&mut driver, drivers::RADEON);
            driver.env("RADV_FORCE_FAMILY", mesa.map_or("", |(_, mesa)| mesa));
            let said = process::capture(&mut driver)?;
            let file = name(Path::new("all"), suffix);
            fs::write(file, said).context("cannot write what Mesa says")?;
        }
        let (workspace, oracle) = (self.workspace, self.oracle);
        let to = name(Path::new("set"), "jsonl");
        algorithms::count_set(workspace, oracle, chip, &to)?;
        for (file, _) in self.rows.iter().filter(|(_, is_algorithm)| *is_algorithm) {
            let row = algorithms::row_of(file);
            let to = name(file, "jsonl");
            algorithms::count_algorithm(workspace, oracle, chip, (&row, LOG2), &to)?;
        }
        Ok(())
    }
}
