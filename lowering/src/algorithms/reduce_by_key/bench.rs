//! Sums of the values of each run of equal keys, beside CUB: rows of `qd-bench`, which compiles this file.

use super::{Bench, DEPTH, Prepared, Subject};
use crate::device::data::{Value, count, empty, random, runs};
use anyhow::ensure;
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::reduce_by_key_scratch_slots;

/// The rows, and what tunings are found by.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "reduce_by_key" "u32": kernel::<u32>(""), reduce::<u32>;
        "reduce_by_key" "f32": kernel::<f32>(""), reduce::<f32>;
        "reduce_by_key" "u64": kernel::<u64>(""), reduce::<u64>;
        "by_key_in_order" "f32": kernel::<f32>("deterministic"), reduce::<f32>;
        "by_key_in_order" "f64": kernel::<f64>("deterministic"), reduce::<f64>;
    },
    subjects: &[
        Subject {
            algorithm: "reduce_by_key",
            bytes: 8,
            case: "reduce_by_key u32",
            blocks: &[],
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
            blocks: &[],
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
    ],
};

fn kernel<T: Value>(order: &str) -> String {
    let e = T::MLIR;
    format!(
        "qd.grid.kernel @main(%k: memref<?xi32>, %v: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %ko: memref<?xi32>, \
                              %vo: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %m: memref<i32>, \
                              %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?x{e}>)
             outs(%ko, %vo, %m : memref<?xi32>, memref<?x{e}>, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH} {order}
         }}",
        d = T::DTYPE_NAME
    )
}

fn reduce<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    let keys: Vec<i32> = runs(n).into_iter().map(|key| key as i32).collect();
    let mut expected: Vec<(i32, T)> = Vec::new();
    for (key, x) in keys.iter().zip(&input) {
        match expected.last_mut() {
            Some((last, sum)) if last == key => *sum = sum.plus(*x),
            _ => expected.push((*key, *x)),
        }
    }
    let moved = (n + expected.len()) * (size_of::<T>() + 4);
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &keys)?,
            Buffer::from_slice(on, &input)?,
            empty::<i32>(on, n as u64)?,
            empty::<T>(on, n as u64)?,
            count(on, 0)?,
            empty::<i32>(on, reduce_by_key_scratch_slots(n as u64))?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: moved as f64,
        check: Box::new(move |on, after| {
            let number = after[4].to_vec::<i32>(on)?[0] as usize;
            ensure!(
                number == expected.len(),
                "{number} runs, not {}",
                expected.len()
            );
            let (keys, sums) = (after[2].to_vec::<i32>(on)?, after[3].to_vec::<T>(on)?);
            let got = keys.into_iter().zip(sums);
            for (i, (got, expected)) in got.zip(&expected).enumerate() {
                ensure!(
                    got.0 == expected.0 && got.1.close(expected.1, 64),
                    "run {i} is {got:?}, not {expected:?}"
                );
            }
            Ok(())
        }),
    })
}
