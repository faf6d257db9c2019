//! Tunings: how algorithms cut their input into tiles, as measured, by target,
//! algorithm and bytes of an element. Each is a row of a file that `qd-bench
//! --tune` writes.

use serde::{Deserialize, Serialize};
use std::{fmt, sync::LazyLock};

/// The size of tiles, and how their blocks run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuning {
    /// Of a block: a multiple of the widest subgroup.
    pub threads: i64,
    /// Elements of a thread. Odd where threads have consecutive elements in shared
    /// memory, to avoid bank conflicts.
    pub items: i64,
    /// Occupancy: the blocks that one SM or CU is to have room for at a time, which
    /// bounds the registers of a thread; 0 leaves it to the target.
    pub blocks_per_core: i64,
    /// Prefetch distance, in tiles; 0 is no prefetch.
    pub ahead: i64,
    /// Backoff: nanoseconds until a tile first looks back, from tile `ahead` on; 0
    /// is none.
    pub pause: i64,
    /// The most blocks, where each takes as many tiles as its share; 0 where each
    /// takes one. A multiple of the SMs, so that all end together.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blocks: i64,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// As the entries of an attribute are written.
impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            threads,
            items,
            blocks_per_core,
            ahead,
            pause,
            blocks,
        } = self;
        write!(
            f,
            "threads = {threads}, items = {items}, blocks_per_core = {blocks_per_core}, ahead = {ahead}, pause = {pause}, blocks = {blocks}"
        )
    }
}

/// A row of a target's table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The algorithm.
    pub algorithm: String,
    /// Bytes of an element that a thread holds, at most.
    pub bytes: i64,
    /// What is best for that.
    #[serde(flatten)]
    pub tuning: Tuning,
}

fn table(text: &str) -> Vec<Row> {
    serde_json::from_str(text).expect("a table, tested")
}

static SM_90: LazyLock<Vec<Row>> = LazyLock::new(|| table(include_str!("sm_90.tuning.json")));
static CDNA: LazyLock<Vec<Row>> = LazyLock::new(|| table(include_str!("cdna.tuning.json")));
static RDNA: LazyLock<Vec<Row>> = LazyLock::new(|| table(include_str!("rdna.tuning.json")));

/// The measurements of an H200, which are also used for targets without any table.
pub fn sm_90() -> &'static [Row] {
    &SM_90
}

/// Not measured: from the limits of AMD's CDNA, see `docs/rationale/amdgpu.md`.
pub fn cdna() -> &'static [Row] {
    &CDNA
}

/// Not measured: from the limits of AMD's RDNA, see `docs/rationale/amdgpu.md`.
pub fn rdna() -> &'static [Row] {
    &RDNA
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which algorithms look their tuning up, and the widest element of each.
    const WANTED: [(&str, i64); 10] = [
        ("sort", 12),
        ("sort_wide", 16),
        ("reduce", 32),
        ("scan", 32),
        ("scan_in_order", 32),
        ("compact", 8),
        ("select", 8),
        ("select_rows", 0),
        ("reduce_by_key", 16),
        ("unique", 12),
    ];

    #[test]
    fn each_table_has_all_that_is_looked_up() {
        for table in [sm_90(), cdna(), rdna()] {
            for (algorithm, widest) in WANTED {
                let rows = table.iter().filter(|r| r.algorithm == algorithm);
                let bytes: Vec<_> = rows.map(|row| row.bytes).collect();
                assert!(bytes.is_sorted(), "{algorithm}");
                assert!(bytes.last() >= Some(&widest), "{algorithm}");
            }
        }
    }
}
