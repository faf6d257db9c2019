//! `wave-opinions`: what others say of the subgroup sizes that the search chooses for RDNA, without the
//! hardware.
//!
//! Two opinions on each body at 32 and at 64 lanes: what Mesa's compiler estimates (RADV without a device),
//! and what the oracle counts. Both see what the search makes of the body at that size: the driver is
//! given, as SPIR-V, the collectives that are left for the chip.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result};

use crate::oracle::{self, Chip, Oracle};
use crate::packages::{self, Purpose};
use crate::workspace::{Profile, Workspace};
use crate::{cargo, drivers, process};

/// RDNA's architectures, with what Mesa calls a chip of each.
const CHIPS: [(&str, &str); 2] = [("gfx1100", "navi31"), ("gfx1201", "gfx1201")];

/// Elements of a launch: of algorithms, and of the kernels that are one body.
const LOG2: (u32, u32) = (14, 12);

/// The rows of the bench that are taken: algorithms on 4-byte elements.
const ELEMENT: &str = "u32";

/// Every row's text is in a file that ends so.
const TEXT: &str = ".mlir";

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
    let mut maker = Maker {
        workspace,
        oracle: &oracle,
        folder: &folder,
        rows: Vec::new(),
    };
    maker.write_rows()?;
    let is_rdna = |chip: &Chip| CHIPS.iter().any(|(name, _)| *name == chip.architecture);
    let mut chips: VecDeque<Chip> = oracle::all().into_iter().filter(is_rdna).collect();
    chips.iter_mut().for_each(|chip| chip.selects = true);
    let chips = Mutex::new(chips);
    let work = || -> Result<()> {
        loop {
            let Some(chip) = chips.lock().expect("nothing panics").pop_front() else {
                return Ok(());
            };
            maker.of_chip(&chip)?;
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("nothing panics"))
    })?;
    let folder = folder.to_string_lossy();
    print!(
        "{}",
        process::capture(&mut oracle.command(&["opinions", &folder]))?
    );
    Ok(())
}

impl Maker<'_> {
    fn tool(&self, name: &str) -> Command {
        Command::new(self.workspace.bin_dir(Profile::Dev).join(name))
    }

    /// Writes the text of every row.
    fn write_rows(&mut self) -> Result<()> {
        let [set, algorithms] = ["set", "algorithms"].map(|name| self.folder.join(name));
        let mut write = self.tool("qd-bench");
        write.args([
            "--only",
            "waves",
            "--log2",
            &LOG2.1.to_string(),
            "--kernels",
        ]);
        process::capture(write.arg(&set))?;
        let mut write = self.tool("qd-bench");
        write.args([
            "--target",
            &oracle::all()[0].target(),
            "--only",
            ELEMENT,
            "--kernels",
        ]);
        process::capture(write.arg(&algorithms))?;
        for (folder, is_algorithm) in [(set, false), (algorithms, true)] {
            let mut files: Vec<_> = fs::read_dir(&folder)?
                .map(|file| Ok(file?.path()))
                .collect::<Result<_>>()?;
            files.sort();
            self.rows
                .extend(files.into_iter().map(|file| (file, is_algorithm)));
        }
        Ok(())
    }

    fn of_chip(&self, chip: &Chip) -> Result<()> {
        let name = |row: &Path, suffix: &str| {
            let row = row.file_name().unwrap_or_default().to_string_lossy();
            let row = row.trim_end_matches(TEXT).trim_end_matches(".held-out");
            let row = row.trim_end_matches(&format!(".{ELEMENT}"));
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
        self.counted(
            chip,
            "waves",
            LOG2.1,
            &["--once"],
            &name(Path::new("set"), "jsonl"),
        )?;
        for (row, _) in self.rows.iter().filter(|(_, is_algorithm)| *is_algorithm) {
            let algorithm = row.file_name().unwrap_or_default().to_string_lossy();
            let algorithm = algorithm.trim_end_matches(&format!(".{ELEMENT}{TEXT}"));
            let only = format!("{algorithm} {ELEMENT}");
            let flags = ["--alone", "--repeats", "1"];
            self.counted(chip, &only, LOG2.0, &flags, &name(row, "jsonl"))?;
        }
        Ok(())
    }

    /// Runs rows of the bench in the oracle, which appends what launches execute to a file.
    fn counted(&self, chip: &Chip, only: &str, log2: u32, flags: &[&str], to: &Path) -> Result<()> {
        fs::write(to, "").with_context(|| format!("cannot write {}", to.display()))?;
        let mut bench = self.tool("qd-bench");
        bench.args(["--target", &chip.target(), "--only", only]);
        bench.args(["--log2", &log2.to_string()]).args(flags);
        self.oracle.select(&mut bench, &chip.architecture, to);
        process::capture(&mut bench).map(drop)
    }
}
