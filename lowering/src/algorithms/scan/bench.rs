//! Scans that add, beside CUB: rows of `qd-bench`, which compiles this file.

use super::{Bench, DEPTH, Prepared, Subject};
use crate::device::data::{CHUNK, Value, count, empty, random, slots};
use anyhow::ensure;
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::scan_scratch_slots;

/// The rows, and what tunings are found by.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "exclusive_scan" "u32": kernel::<u32>("exclusive_scan", ""), exclusive_scan::<u32>;
        "exclusive_scan" "f32": kernel::<f32>("exclusive_scan", ""), exclusive_scan::<f32>;
        "exclusive_scan" "u64": kernel::<u64>("exclusive_scan", ""), exclusive_scan::<u64>;
        "inclusive_scan" "u32": kernel::<u32>("inclusive_scan", ""), inclusive_scan::<u32>;
        "inclusive_scan" "f32": kernel::<f32>("inclusive_scan", ""), inclusive_scan::<f32>;
        "inclusive_scan" "u64": kernel::<u64>("inclusive_scan", ""), inclusive_scan::<u64>;
        "scan_in_order" "f32": kernel::<f32>("inclusive_scan", "deterministic"), inclusive_scan::<f32>;
        "scan_in_order" "f64": kernel::<f64>("inclusive_scan", "deterministic"), inclusive_scan::<f64>;
    },
    subjects: &[
        Subject {
            algorithm: "scan",
            bytes: 4,
            case: "exclusive_scan u32",
            blocks: &[],
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
            blocks: &[],
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
    ],
};

fn kernel<T: Value>(algorithm: &str, order: &str) -> String {
    let (e, s) = (T::MLIR, T::SLOT);
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %o: memref<?x{e}> {{qd.dtype = \"{d}\"}}, \
                              %s: memref<?x{s}>, %n: memref<i32>) {{
           qd.algo.{algorithm} add ins(%a : memref<?x{e}>) outs(%o : memref<?x{e}>)
             scratch(%s : memref<?x{s}>) count(%n : memref<i32>) log256_max_n = {DEPTH} {order}
         }}",
        d = T::DTYPE_NAME
    )
}

fn exclusive_scan<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    scan::<T>(n, on, |before, _| before)
}

fn inclusive_scan<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    scan::<T>(n, on, T::plus)
}

/// `at` makes a result of the sum before an element, and of that element.
fn scan<T: Value>(n: usize, on: &Stream, at: fn(T, T) -> T) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<T>(on, n as u64)?,
            slots::<T>(on, scan_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: (2 * size_of::<T>() * n) as f64,
        check: Box::new(move |on, after| {
            let got = after[1].to_vec::<T>(on)?;
            let mut before = T::of(0);
            for (chunk, from) in input.chunks(CHUNK).zip((0..).step_by(CHUNK)) {
                let mut within = T::of(0);
                for (i, x) in (from..).zip(chunk) {
                    let expected = before.plus(at(within, *x));
                    ensure!(
                        got[i].close(expected, i + 1),
                        "[{i}] is {:?}, not {expected:?}",
                        got[i]
                    );
                    within = within.plus(*x);
                }
                before = before.plus(within);
            }
            Ok(())
        }),
    })
}
