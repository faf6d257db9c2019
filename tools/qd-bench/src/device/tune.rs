//! Tuning: the search for the best settings of algorithms on a device.
//!
//! For each row of the table, it varies one setting after the other: the shapes
//! of blocks, then the prefetch distance, then the backoff before the
//! look-back; for algorithms with a fixed number of blocks, that number
//! instead. The objective is the sum over the sizes of the time relative to the
//! initial one. Results are checked each time.

use super::{
    Table,
    case::{self, Case, Prepared, Subject},
    measure,
};
use anyhow::{Context, ensure};
use qd_frontend::{Program, objects::Stream};
use qd_lowering::targets::tuning::{Row, Tuning};
use std::path::Path;

pub(super) const AHEAD: [i64; 5] = [0, 132, 264, 396, 528];
pub(super) const BACKOFFS: [i64; 5] = [0, 1000, 2000, 3000, 4000];

/// Searches, and writes the table.
pub fn tune(table: &Table<'_>, path: &Path, wanted: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut rows: Vec<Row> =
        serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    let is_of = |row: &Row, subject: &Subject| {
        row.algorithm == subject.algorithm && row.bytes == subject.bytes
    };
    let mut found = false;
    for row in &mut rows {
        let subject = case::subjects().find(|s| is_of(row, s) && wanted(s.case));
        let Some(subject) = subject else {
            continue;
        };
        found = true;
        let case = case::all()
            .find(|case| case.name() == subject.case)
            .context("there is no such case")?;
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
        .run(row.tuning, subject)?;
    }
    ensure!(found, "{} has no row that is wanted", path.display());
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
    fn run(&self, first: Tuning, subject: &Subject) -> anyhow::Result<Tuning> {
        println!("{}", self.case.name());
        let reference = self.times(first)?;
        let mut best = (self.table.sizes.len() as f64, first);
        let shapes = subject.shapes.iter();
        let shaped = shapes.map(|(threads, items, blocks_per_core)| Tuning {
            threads: *threads,
            items: *items,
            blocks_per_core: *blocks_per_core,
            ..first
        });
        self.improve(&mut best, &reference, shaped.collect())?;
        if !subject.blocks.is_empty() {
            let others = subject.blocks.iter();
            let others = others.map(|blocks| Tuning {
                blocks: *blocks,
                ..best.1
            });
            let others = others.collect();
            self.improve(&mut best, &reference, others)?;
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
