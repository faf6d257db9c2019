//! First elements of runs, and how long these are, beside CUB: rows of `qd-bench`, which compiles this file.

use super::{Bench, DEPTH, Prepared, Subject};
use crate::device::data::{Value, count, empty, runs};
use anyhow::ensure;
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::select_scratch_slots;

/// The rows, and what tunings are found by.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "unique" "u32": kernel::<u32>(false), firsts::<u32>;
        "unique" "u64": kernel::<u64>(false), firsts::<u64>;
        "run_lengths" "u32": kernel::<u32>(true), lengths::<u32>;
        "run_lengths" "u64": kernel::<u64>(true), lengths::<u64>;
    },
    subjects: &[
        Subject {
            algorithm: "unique",
            bytes: 4,
            case: "unique u32",
            blocks: &[],
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
            blocks: &[],
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
            blocks: &[],
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
    ],
};

/// With lengths, or without.
fn kernel<T: Value>(with_lengths: bool) -> String {
    let e = T::MLIR;
    let counts = match with_lengths {
        true => "counts(%c : memref<?xi32>)",
        false => "",
    };
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %o: memref<?x{e}> {{qd.dtype = \"{d}\"}}, \
                              %c: memref<?xi32>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.unique ins(%a : memref<?x{e}>) outs(%o, %m : memref<?x{e}>, memref<i32>) {counts}
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME
    )
}

fn firsts<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    of_runs::<T>(n, on, false)
}

fn lengths<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    of_runs::<T>(n, on, true)
}

/// Runs of eight on average.
fn of_runs<T: Value>(n: usize, on: &Stream, with_lengths: bool) -> anyhow::Result<Prepared> {
    let input: Vec<T> = runs(n).into_iter().map(|run| T::of(run.into())).collect();
    let mut expected: Vec<(T, i32)> = Vec::new();
    for x in &input {
        match expected.last_mut() {
            Some((last, length)) if last == x => *length += 1,
            _ => expected.push((*x, 1)),
        }
    }
    let written = size_of::<T>() + if with_lengths { 4 } else { 0 };
    let moved = n * size_of::<T>() + expected.len() * written;
    let lengths = if with_lengths { n as u64 } else { 1 };
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<T>(on, n as u64)?,
            empty::<i32>(on, lengths)?,
            count(on, 0)?,
            empty::<i32>(on, select_scratch_slots(n as u64))?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: moved as f64,
        check: Box::new(move |on, after| {
            let number = after[3].to_vec::<i32>(on)?[0] as usize;
            let runs = expected.len();
            ensure!(number == runs, "{number} runs, not {runs}");
            let firsts = after[1].to_vec::<T>(on)?;
            let same = firsts.iter().zip(&expected).all(|(got, run)| *got == run.0);
            ensure!(same, "other elements");
            if with_lengths {
                let lengths = after[2].to_vec::<i32>(on)?;
                let same = lengths
                    .iter()
                    .zip(&expected)
                    .all(|(got, run)| *got == run.1);
                ensure!(same, "other lengths");
            }
            Ok(())
        }),
    })
}
