//! Tuning: the search for the best settings of algorithms on a device.
//!
//! For each row of the table, it varies one setting after the other: the shapes
//! of blocks, then the prefetch distance, then the backoff before the
//! look-back; for algorithms with a fixed number of blocks, that number
//! instead. The objective is the sum over the sizes of the time relative to the
//! initial one. Results are checked each time.

use super::{
    Table,
    case::{self, CASES, Case, Prepared},
    measure,
};
use anyhow::Context;
use qd_frontend::{Program, objects::Stream};
use qd_lowering::targets::tuning::{Row, Tuning};
use std::path::Path;

/// What a row of the table is measured by.
struct Subject {
    algorithm: &'static str,
    bytes: i64,
    /// Of the cases.
    case: &'static str,
    /// Threads, items and occupancy (blocks per SM or CU).
    shapes: &'static [(i64, i64, i64)],
}

const SUBJECTS: &[Subject] = &[
    Subject {
        algorithm: "reduce",
        bytes: 4,
        case: "reduce u32",
        shapes: &[
            (256, 8, 4),
            (256, 16, 4),
            (256, 32, 4),
            (512, 8, 2),
            (512, 16, 2),
            (512, 24, 2),
            (1024, 8, 1),
            (1024, 16, 1),
            (128, 16, 8),
        ],
    },
    Subject {
        algorithm: "reduce",
        bytes: 8,
        case: "reduce u64",
        shapes: &[
            (256, 8, 4),
            (256, 12, 4),
            (256, 16, 4),
            (512, 8, 2),
            (512, 12, 2),
            (1024, 8, 1),
        ],
    },
    Subject {
        algorithm: "scan",
        bytes: 4,
        case: "exclusive_scan u32",
        shapes: &[
            (256, 23, 6),
            (256, 31, 5),
            (256, 39, 4),
            (256, 47, 4),
            (128, 31, 10),
            (128, 47, 8),
            (512, 23, 3),
        ],
    },
    Subject {
        algorithm: "scan",
        bytes: 8,
        case: "exclusive_scan u64",
        shapes: &[
            (256, 15, 5),
            (128, 13, 11),
            (128, 15, 10),
            (128, 19, 8),
            (128, 21, 7),
            (128, 23, 6),
            (128, 23, 7),
            (128, 25, 6),
        ],
    },
    Subject {
        algorithm: "compact",
        bytes: 4,
        case: "partition u32",
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
        shapes: &[(256, 14, 4), (256, 12, 5), (128, 14, 8), (128, 20, 6)],
    },
    Subject {
        algorithm: "select",
        bytes: 4,
        case: "select-if u32",
        shapes: &[
            (128, 28, 8),
            (256, 16, 5),
            (256, 20, 4),
            (256, 24, 4),
            (256, 28, 4),
            (256, 31, 3),
            (512, 16, 3),
            (512, 24, 2),
        ],
    },
    Subject {
        algorithm: "reduce_by_key",
        bytes: 8,
        case: "reduce_by_key u32",
        shapes: &[
            (256, 19, 4),
            (256, 23, 4),
            (256, 27, 3),
            (128, 31, 6),
            (512, 21, 2),
            (512, 23, 2),
            (512, 25, 2),
        ],
    },
    Subject {
        algorithm: "reduce_by_key",
        bytes: 12,
        case: "reduce_by_key u64",
        shapes: &[
            (128, 15, 6),
            (128, 19, 5),
            (128, 21, 5),
            (128, 23, 5),
            (128, 25, 5),
            (256, 13, 4),
            (256, 19, 3),
        ],
    },
    Subject {
        algorithm: "sort",
        bytes: 4,
        case: "sort u32",
        shapes: &[(512, 16, 2), (512, 18, 2), (512, 20, 2), (512, 24, 2)],
    },
    Subject {
        algorithm: "sort",
        bytes: 8,
        case: "sort-pairs u32",
        shapes: &[(512, 16, 2), (512, 18, 2), (512, 20, 2), (512, 22, 2)],
    },
    Subject {
        algorithm: "sort_wide",
        bytes: 8,
        case: "sort u64",
        shapes: &[
            (512, 8, 2),
            (512, 8, 3),
            (512, 10, 2),
            (512, 12, 2),
            (512, 14, 2),
            (512, 16, 2),
        ],
    },
    Subject {
        algorithm: "sort_wide",
        bytes: 12,
        case: "sort-pairs u64",
        shapes: &[
            (512, 8, 2),
            (512, 9, 2),
            (512, 10, 2),
            (512, 12, 2),
            (512, 14, 2),
        ],
    },
    Subject {
        algorithm: "unique",
        bytes: 4,
        case: "unique u32",
        shapes: &[
            (512, 23, 2),
            (512, 31, 2),
            (512, 15, 3),
            (256, 23, 5),
            (256, 31, 4),
            (256, 39, 3),
            (128, 31, 9),
        ],
    },
    Subject {
        algorithm: "unique",
        bytes: 8,
        case: "unique u64",
        shapes: &[
            (512, 15, 2),
            (512, 19, 2),
            (256, 15, 5),
            (256, 19, 4),
            (256, 23, 3),
            (128, 19, 8),
            (128, 23, 7),
        ],
    },
    Subject {
        algorithm: "unique",
        bytes: 12,
        case: "run_lengths u64",
        shapes: &[
            (512, 15, 2),
            (512, 19, 2),
            (256, 11, 5),
            (256, 15, 4),
            (256, 19, 3),
            (128, 15, 8),
            (128, 23, 5),
        ],
    },
];

const AHEAD: [i64; 5] = [0, 132, 264, 396, 528];
const BACKOFFS: [i64; 5] = [0, 1000, 2000, 3000, 4000];
const BLOCKS: [i64; 6] = [132, 264, 396, 528, 792, 1056];

/// Searches, and writes the table.
pub fn tune(table: &Table<'_>, path: &Path, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut rows: Vec<Row> =
        serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    for subject in SUBJECTS.iter().filter(|subject| wanted(subject.case)) {
        let case = CASES
            .iter()
            .find(|case| case.name() == subject.case)
            .context("there is no such case")?;
        let row = rows
            .iter_mut()
            .find(|row| row.algorithm == subject.algorithm && row.bytes == subject.bytes)
            .with_context(|| format!("{} has no row of {}", path.display(), subject.case))?;
        let stream = table.stream()?;
        let mut prepared = Vec::new();
        for log2 in table.sizes {
            prepared.push((case.prepare)(1 << log2, &stream)?);
        }
        row.tuning = Search {
            table,
            case,
            prepared,
            stream,
        }
        .run(row.tuning, subject.shapes)?;
    }
    std::fs::write(path, written(&rows)?).with_context(|| path.display().to_string())
}

/// A row a line.
fn written(rows: &[Row]) -> anyhow::Result<String> {
    let lines: Result<Vec<_>, _> = rows.iter().map(serde_json::to_string).collect();
    Ok(format!("[\n  {}\n]\n", lines?.join(",\n  ")))
}

struct Search<'a> {
    table: &'a Table<'a>,
    case: &'a Case,
    /// At each size.
    prepared: Vec<Prepared>,
    stream: Stream,
}

impl Search<'_> {
    fn run(&self, first: Tuning, shapes: &[(i64, i64, i64)]) -> anyhow::Result<Tuning> {
        println!("{}", self.case.name());
        let reference = self.times(first)?;
        let mut best = (self.table.sizes.len() as f64, first);
        let shapes = shapes.iter();
        let shaped = shapes.map(|(threads, items, blocks_per_core)| Tuning {
            threads: *threads,
            items: *items,
            blocks_per_core: *blocks_per_core,
            ..first
        });
        self.improve(&mut best, &reference, shaped.collect())?;
        if first.blocks > 0 {
            let blocks = |blocks| Tuning { blocks, ..best.1 };
            let other = BLOCKS.map(blocks).to_vec();
            self.improve(&mut best, &reference, other)?;
            println!("  best: {}", best.1);
            return Ok(best.1);
        }
        let ahead = |ahead| Tuning { ahead, ..best.1 };
        let further = AHEAD.map(ahead).to_vec();
        self.improve(&mut best, &reference, further)?;
        let pause = |pause| Tuning { pause, ..best.1 };
        let longer = BACKOFFS.map(pause).to_vec();
        self.improve(&mut best, &reference, longer)?;
        println!("  best: {}", best.1);
        Ok(best.1)
    }

    /// Takes the best of some, if one is better.
    fn improve(
        &self,
        best: &mut (f64, Tuning),
        reference: &[f64],
        candidates: Vec<Tuning>,
    ) -> anyhow::Result<()> {
        for tuning in candidates {
            let times = match self.times(tuning) {
                Ok(times) => times,
                // Such as more shared memory than there is.
                Err(error) => {
                    println!("  {tuning}: {error:#}");
                    continue;
                }
            };
            let ratios = times
                .iter()
                .zip(reference)
                .map(|(time, first)| time / first);
            let score = ratios.sum();
            if score < best.0 {
                *best = (score, tuning);
            }
        }
        Ok(())
    }

    /// At each size, µs.
    fn times(&self, tuning: Tuning) -> anyhow::Result<Vec<f64>> {
        let kernel = case::with_tuning(&(self.case.kernel)(), tuning);
        let kernel = Program::compile(&kernel, self.table.target)?.kernel("main")?;
        let mut times = Vec::new();
        for prepared in &self.prepared {
            let (time, _) = measure(&kernel, &self.stream, prepared, self.table.repeats)?;
            times.push(time);
        }
        let shown: Vec<_> = times.iter().map(|time| format!("{time:9.1}")).collect();
        println!("  {tuning}: {}", shown.join(" "));
        Ok(times)
    }
}
