//! CUB's times, by a program that is built where it runs.

use anyhow::{Context, bail, ensure};
use std::{collections::HashMap, process::Command};

/// Times in microseconds, by algorithm, element and log2 of the elements.
#[derive(Default)]
pub struct Times(HashMap<(String, String, u32), f64>);

impl Times {
    /// Builds the program with nvcc, for the device at hand, and runs it.
    pub fn measure(sizes: &[u32], repeats: u32) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("cub.cu");
        let program = folder.path().join("cub");
        std::fs::write(&source, include_str!("cub.cu"))?;
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
        let output = Command::new(&program)
            .arg(repeats.to_string())
            .args(sizes.iter().map(u32::to_string))
            .output()?;
        ensure!(
            output.status.success(),
            "the peer: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let mut times = HashMap::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
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
