//! Partitions, beside CUB: rows of `qd-bench`, which compiles this file.

use super::{
    Bench, Prepared, Subject,
    select::{flagged, kernel},
};
use crate::device::data::Value;
use qd_frontend::objects::Stream;

/// The rows, and what tunings are found by.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "partition" "u32": kernel::<u32>("partition"), partition::<u32>;
        "partition" "f32": kernel::<f32>("partition"), partition::<f32>;
        "partition" "u64": kernel::<u64>("partition"), partition::<u64>;
    },
    subjects: &[
        Subject {
            algorithm: "compact",
            bytes: 4,
            case: "partition u32",
            blocks: &[132, 264, 396, 528, 792, 1056, 2640],
            shapes: &[
                (256, 16, 5),
                (256, 24, 4),
                (256, 32, 3),
                (128, 16, 10),
                (128, 24, 8),
            ],
        },
        Subject {
            algorithm: "compact",
            bytes: 8,
            case: "partition u64",
            blocks: &[132, 264, 396, 528, 792, 1056, 2640],
            shapes: &[(256, 14, 4), (256, 12, 5), (128, 14, 8), (128, 20, 6)],
        },
    ],
};

/// The others in their order after the flagged ones. CUB's are there the other way
/// round, which is less to ask, and moves as many bytes.
fn partition<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    flagged::<T>(n, on, true)
}
