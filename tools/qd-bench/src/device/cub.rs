//! CUB's times, by a program that is built where it runs.

use super::{Table, case::PEERS};
use anyhow::{Context, bail, ensure};
use std::{collections::HashMap, process::Command};

const SOURCE: &str = include_str!("cub.cu");

/// Whether the program has rows of an element: others are measured alone.
fn has_rows_of(element: &str) -> bool {
    SOURCE.contains(&format!(">(\"{element}\", log2);"))
}

/// Times in microseconds, by algorithm, element and log2 of the elements.
#[derive(Default)]
pub struct Times(HashMap<(String, String, u32), f64>);

impl Times {
    /// Builds the program with nvcc, for the device at hand, and has it measure rows,
    /// by their names, each size as often as the table does.
    ///
    /// # Errors
    ///
    /// There is no nvcc, the program does not build or run, or it leaves a row out that it should have.
    pub fn measure(rows: &[String], table: &Table<'_>) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("cub.cu");
        let program = folder.path().join("cub");
        std::fs::write(&source, SOURCE)?;
        std::fs::write(folder.path().join("rows.inc"), PEERS)?;
        eprintln!("building the peer with nvcc");
        let built = Command::new("nvcc")
            .args(["-O3", "-std=c++17", "-arch=native", "-o"])
            .args([&program, &source])
            .output()
            .context("nvcc, which builds the peer, does not start")?;
        if !built.status.success() {
            bail!("nvcc: {}", String::from_utf8_lossy(&built.stderr));
        }
        eprintln!("measuring the peer");
        let sizes = table.sizes.iter();
        let output = Command::new(&program)
            .arg(rows.join(","))
            .args(sizes.flat_map(|log2| [log2.to_string(), table.repeats(*log2).to_string()]))
            .output()?;
        ensure!(
            output.status.success(),
            "the peer: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let times = Self::parse(&String::from_utf8_lossy(&output.stdout))?;
        for row in rows {
            let found = row.split_once(' ').map(|(name, element)| {
                let has = |log2: &u32| times.of(name, element, *log2).is_some();
                !has_rows_of(element) || table.sizes.iter().all(has)
            });
            ensure!(found == Some(true), "the peer has no row '{row}'");
        }
        Ok(times)
    }

    fn parse(output: &str) -> anyhow::Result<Self> {
        let mut times = HashMap::new();
        for line in output.lines() {
            let [name, element, log2, time] = line.split(' ').collect::<Vec<_>>()[..] else {
                bail!("the peer printed '{line}'");
            };
            let key = (name.to_string(), element.to_string(), log2.parse()?);
            times.insert(key, time.parse()?);
        }
        Ok(Self(times))
    }

    /// The time of a row.
    pub fn of(&self, name: &str, element: &str, log2: u32) -> Option<f64> {
        let key = (name.to_string(), element.to_string(), log2);
        self.0.get(&key).copied()
    }

    /// Bytes a second that a copy moves, read plus written.
    pub fn bandwidth(&self) -> Option<f64> {
        let microseconds = self.of("copy", "bytes", 30)?;
        Some(2.0 * f64::from(1 << 30) / (microseconds * 1e-6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::case;
    use std::collections::HashSet;

    #[test]
    fn lines_are_times() {
        let times = Times::parse("sort u64 16 12.5\ncopy bytes 30 500\n").expect("two lines");
        assert_eq!(times.of("sort", "u64", 16), Some(12.5));
        assert_eq!(times.of("sort", "u32", 16), None);
        assert!(times.bandwidth().is_some());
        assert!(Times::parse("sort u64 16").is_err());
    }

    /// What needs a GPU to run can at least be looked at.
    #[test]
    fn the_peer_knows_every_algorithm() {
        let of_peer = case::all().filter(|case| has_rows_of(case.element));
        let mut elements = HashSet::new();
        for case in of_peer {
            let name = format!("(\"{}\"", case.algorithm);
            assert!(PEERS.contains(&name), "{}", case.algorithm);
            elements.insert(case.element);
        }
        assert_eq!(elements, ["u32", "u64", "f32"].into());
    }
}
