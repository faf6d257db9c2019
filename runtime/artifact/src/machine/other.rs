//! Processors whose features LLVM does not list one by one: their names imply some.

use std::{collections::BTreeSet, env::consts::ARCH, fs};

/// What Linux says of the processors, without what differs between them and between boots.
pub fn words() -> Vec<u32> {
    const VARIES: [&str; 3] = ["processor", "BogoMIPS", "cpu MHz"];
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let counts = |line: &&str| !VARIES.iter().any(|name| line.starts_with(name));
    let lines: BTreeSet<&str> = text.lines().filter(counts).collect();
    lines
        .into_iter()
        .flat_map(str::bytes)
        .map(u32::from)
        .collect()
}

pub fn name() -> String {
    ARCH.into()
}

pub fn features() -> Vec<String> {
    vec![format!("all of {ARCH} {}", &super::fingerprint()[..12])]
}
