//! `spirv-counts`: what the search changes of SPIR-V, counted in instructions: those of the bench's kernels and of its
//! algorithms, as they are and with the search, at each size that Vulkan has; and of the kernels' the machine code that
//! lavapipe makes of it, at the sizes that it has.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use crate::workspace::{Profile, Workspace};
use crate::{algorithms, cargo, lavapipe, process, workers};

/// Vulkan's sizes.
const SIZES: [u32; 5] = [4, 8, 16, 32, 64];

/// Elements of the kernels that are one body, and their logarithm.
const ELEMENTS: u32 = 4_096;
const LOG2: &str = "12";

/// Instructions of a row, without the search and with it.
type Counts = [u64; 2];

/// Counts all of it and prints two tables: each row of which the search changes something, and all of them.
pub fn run(workspace: &Workspace) -> Result<()> {
    cargo::build_tools(workspace, Profile::Dev)?;
    let folder = workspace.empty_folder("spirv-counts")?;
    let set = ["--only", "waves", "--log2", LOG2];
    let kernels = algorithms::write(workspace, &set, &folder.join("set"))?;
    let mut rows = kernels.clone();
    rows.extend(algorithms::write_all(
        workspace,
        &folder.join("algorithms"),
    )?);
    let found = counted(&rows, SIZES, |row, size| {
        of_row(workspace, &folder, row, size)
    })?;
    println!("SPIR-V\n{}", table(&rows, SIZES, &found));
    lavapipe::is_there()?;
    let sizes = lavapipe::SUBGROUP_SIZES;
    let found = counted(&kernels, sizes, |row, size| {
        of_lavapipe(workspace, row, size).map(Some)
    })?;
    print!("lavapipe\n{}", table(&kernels, sizes, &found));
    Ok(())
}

/// What was counted of rows at sizes.
type Found = BTreeMap<(PathBuf, u32), Counts>;

fn counted<const N: usize>(
    rows: &[PathBuf],
    sizes: [u32; N],
    count: impl Fn(&Path, u32) -> Result<Option<Counts>> + Sync,
) -> Result<Found> {
    let jobs = rows.iter().flat_map(|row| sizes.map(|size| (row, size)));
    let found: Mutex<Found> = Mutex::default();
    workers::share(jobs.collect::<Vec<_>>(), |(row, size)| {
        let counts = count(row, size)?;
        let mut found = found.lock().expect("nothing panics");
        if let Some(counts) = counts {
            found.insert((row.clone(), size), counts);
        }
        Ok(())
    })?;
    Ok(found.into_inner().expect("nothing panics"))
}

/// Of what lavapipe compiles a kernel of the set to.
fn of_lavapipe(workspace: &Workspace, row: &Path, size: u32) -> Result<Counts> {
    let text = fs::read_to_string(row).with_context(|| format!("cannot read {}", row.display()))?;
    let signature = text.lines().next().unwrap_or_default();
    let buffers = signature.matches("memref<").count();
    let mut counts = [0; 2];
    for (count, option) in counts.iter_mut().zip([",fixed", ""]) {
        let mut run = algorithms::tool(workspace, "qd-run");
        run.arg(row).arg("--quiet");
        run.arg(format!("--target=vulkan:1.3,subgroup={size}{option}"));
        for buffer in 0..buffers {
            run.arg("--arg")
                .arg(format!("arg{buffer}=random[{ELEMENTS}]"));
        }
        lavapipe::select(&mut run, size);
        // As it optimises for those who do not ask for less.
        run.env_remove("GALLIVM_PERF").env("GALLIVM_DEBUG", "asm");
        let (said, status) = process::collect(&mut run)?;
        ensure!(status.success(), "{}: {said}", row.display());
        *count = machine_instructions(&said);
        ensure!(
            *count > 0,
            "lavapipe prints no machine code: this build of Mesa leaves GALLIVM_DEBUG out"
        );
    }
    Ok(counts)
}

/// Instructions of what lavapipe prints, of functions that it has for textures besides.
fn machine_instructions(printed: &str) -> u64 {
    let mut counts = false;
    let mut count = 0;
    for line in printed.lines() {
        match line.split_once(':') {
            Some((name, "")) => counts = !["sample", "size"].contains(&name),
            Some((address, code)) if code.starts_with('\t') => {
                let address = address.trim_start();
                let is_address = address.chars().all(|c| c.is_ascii_hexdigit());
                count += u64::from(counts && is_address);
            }
            _ => {}
        }
    }
    count
}

/// Of a row at a size; none where it needs more than Vulkan promises.
fn of_row(workspace: &Workspace, folder: &Path, row: &Path, size: u32) -> Result<Option<Counts>> {
    let mut counts = [0; 2];
    for (count, option) in counts.iter_mut().zip([",fixed", ""]) {
        let name = algorithms::row_of(row);
        let module = folder.join(format!("{name}.{size}{option}.spv"));
        let mut translate = algorithms::tool(workspace, "qd-translate");
        translate.arg(row).args(["--emit=spirv", "-o"]).arg(&module);
        translate.arg(format!("--target=vulkan:1.3,subgroup={size}{option}"));
        if !process::collect(&mut translate)?.1.success() {
            return Ok(None);
        }
        let mut counter = algorithms::tool(workspace, "qd-bench-spirv");
        *count = instructions(&process::capture(counter.arg(&module))?)?;
        fs::remove_file(&module)?;
    }
    Ok(Some(counts))
}

/// The sum of what `qd-bench-spirv` says.
fn instructions(lines: &str) -> Result<u64> {
    let of_line = |line: &str| {
        let (_, rest) = line.split_once("\"instructions\":")?;
        let digits = rest
            .trim_start()
            .split(|c: char| !c.is_ascii_digit())
            .next();
        digits?.parse::<u64>().ok()
    };
    let all = lines
        .lines()
        .map(|line| of_line(line).with_context(|| format!("no count in {line}")));
    all.sum()
}

fn table<const N: usize>(rows: &[PathBuf], sizes: [u32; N], found: &Found) -> String {
    let mut text = String::from("| row |");
    for size in sizes {
        text += &format!(" {size} | search |");
    }
    text += &format!("\n|---|{}\n", "---:|".repeat(2 * N));
    let mut sums = [[0; 2]; N];
    for row in rows {
        let counts = sizes.map(|size| found.get(&(row.clone(), size)).copied());
        for (sum, counts) in sums.iter_mut().zip(counts) {
            for (sum, count) in sum.iter_mut().zip(counts.unwrap_or_default()) {
                *sum += count;
            }
        }
        if counts
            .iter()
            .flatten()
            .any(|[before, after]| before != after)
        {
            text += &line(&algorithms::row_of(row).replace('_', " "), &counts);
        }
    }
    text + &line("all", &sums.map(Some))
}

fn line(name: &str, counts: &[Option<Counts>]) -> String {
    let cells = counts.iter().map(|counts| match counts {
        Some([before, after]) => format!(" {before} | {after} |"),
        None => "  |  |".into(),
    });
    format!("| {name} |{}\n", cells.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_entry_points_add_up() {
        let lines = "{\"entry\":\"a\",\"file\":\"f\",\"instructions\":12}\n{\"instructions\": 30,\"x\":1}\n";
        assert_eq!(instructions(lines).unwrap(), 42);
        assert!(instructions("{}").is_err());
    }

    #[test]
    fn functions_for_textures_do_not_count() {
        let printed = "size:\n   0:\tret\ncs_variant:\n   0:\tpushq\t%rbp\n  1f:\tret\nnote: this\nsample:\n   0:\tret\n";
        assert_eq!(machine_instructions(printed), 2);
    }

    #[test]
    fn rows_that_stay_as_they_are_count_in_the_sum_alone() {
        let rows = ["a.mlir", "b.mlir"].map(PathBuf::from);
        let found = [(0, 4, [10, 7]), (0, 8, [10, 10]), (1, 4, [5, 5])];
        let found = found.map(|(row, size, counts)| ((rows[row].clone(), size), counts));
        let text = table(&rows, SIZES, &BTreeMap::from(found));
        let lines: Vec<_> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| a | 10 | 7 | 10 | 10 |  |  |  |  |  |  |",
                "| all | 15 | 12 | 10 | 10 | 0 | 0 | 0 | 0 | 0 | 0 |"
            ]
        );
    }
}
