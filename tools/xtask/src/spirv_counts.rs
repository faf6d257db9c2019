//! `spirv-counts`: what the search changes of SPIR-V, counted in instructions: those of the bench's kernels and of its
//! algorithms, as they are and with the search, at each size that Vulkan has.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result};

use crate::workspace::{Profile, Workspace};
use crate::{algorithms, cargo, process, workers};

/// Vulkan's sizes.
const SIZES: [u32; 5] = [4, 8, 16, 32, 64];

/// log2 of the elements of the kernels that are one body.
const LOG2: &str = "12";

/// Instructions of a row, without the search and with it.
type Counts = [u64; 2];

/// Counts all of it and prints the table: each row of which the search changes something, and all of them.
pub fn run(workspace: &Workspace) -> Result<()> {
    cargo::build_tools(workspace, Profile::Dev)?;
    let folder = workspace.empty_folder("spirv-counts")?;
    let set = ["--only", "waves", "--log2", LOG2];
    let mut rows = algorithms::write(workspace, &set, &folder.join("set"))?;
    rows.extend(algorithms::write_all(
        workspace,
        &folder.join("algorithms"),
    )?);
    let jobs = rows.iter().flat_map(|row| SIZES.map(|size| (row, size)));
    let found: Mutex<BTreeMap<(PathBuf, u32), Counts>> = Mutex::default();
    workers::share(jobs.collect::<Vec<_>>(), |(row, size)| {
        let counts = of_row(workspace, &folder, row, size)?;
        let mut found = found.lock().expect("nothing panics");
        if let Some(counts) = counts {
            found.insert((row.clone(), size), counts);
        }
        Ok(())
    })?;
    let found = found.into_inner().expect("nothing panics");
    print!("{}", table(&rows, &found));
    Ok(())
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

fn table(rows: &[PathBuf], found: &BTreeMap<(PathBuf, u32), Counts>) -> String {
    let mut text = String::from("| row |");
    for size in SIZES {
        text += &format!(" {size} | search |");
    }
    text += &format!("\n|---|{}\n", "---:|".repeat(2 * SIZES.len()));
    let mut sums = [[0; 2]; SIZES.len()];
    for row in rows {
        let counts = SIZES.map(|size| found.get(&(row.clone(), size)).copied());
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
    fn rows_that_stay_as_they_are_count_in_the_sum_alone() {
        let rows = ["a.mlir", "b.mlir"].map(PathBuf::from);
        let found = [(0, 4, [10, 7]), (0, 8, [10, 10]), (1, 4, [5, 5])];
        let found = found.map(|(row, size, counts)| ((rows[row].clone(), size), counts));
        let text = table(&rows, &BTreeMap::from(found));
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
