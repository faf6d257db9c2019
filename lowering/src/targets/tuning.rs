//! Tunings: how algorithms cut their input into tiles, as measured, by
//! algorithm and bytes of an element. Each is a row of a file that `qd-bench
//! --tune` writes: `tuning.json` in the algorithm's folder, measured on an H200,
//! or a target's own.

use serde::{Deserialize, Serialize};
use std::fmt;

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

/// A row of a table.
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

/// Reads a table.
///
/// # Errors
///
/// It is no JSON of rows.
pub fn table(text: &str) -> serde_json::Result<Vec<Row>> {
    serde_json::from_str(text)
}
