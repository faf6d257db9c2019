//! Sums, beside CUB: rows of `qd-bench`, which compiles this file.

use super::{Bench, DEPTH, Prepared, Subject};
use crate::device::data::{CHUNK, Value, added, count, empty, random, slots};
use anyhow::ensure;
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::reduce_scratch_slots;

/// The rows, and what tunings are found by.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "reduce" "u32": sum_kernel::<u32>(""), sum::<u32>;
        "reduce" "f32": sum_kernel::<f32>(""), sum::<f32>;
        "reduce" "u64": sum_kernel::<u64>(""), sum::<u64>;
        "reduce_in_order" "f32": sum_kernel::<f32>("deterministic"), sum::<f32>;
        "reduce_in_order" "f64": sum_kernel::<f64>("deterministic"), sum::<f64>;
        "transform-reduce" "u32": squares_kernel::<u32>(), squares::<u32>;
        "transform-reduce" "f32": squares_kernel::<f32>(), squares::<f32>;
    },
    subjects: &[
        Subject {
            algorithm: "reduce",
            bytes: 4,
            case: "reduce u32",
            blocks: &[132, 264, 396, 528, 792, 1056, 2640],
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
            blocks: &[132, 264, 396, 528, 792, 1056, 2640],
            shapes: &[
                (256, 8, 4),
                (256, 12, 4),
                (256, 16, 4),
                (512, 8, 2),
                (512, 12, 2),
                (1024, 8, 1),
            ],
        },
    ],
};

fn sum_kernel<T: Value>(order: &str) -> String {
    let (e, s) = (T::MLIR, T::SLOT);
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %o: memref<1x{e}> {{qd.dtype = \"{d}\"}}, \
                              %s: memref<?x{s}>, %n: memref<i32>) {{
           qd.algo.reduce add ins(%a : memref<?x{e}>) outs(%o : memref<1x{e}>)
             scratch(%s : memref<?x{s}>) count(%n : memref<i32>) log256_max_n = {DEPTH} {order}
         }}",
        d = T::DTYPE_NAME
    )
}

fn sum<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<T>(on, 1)?,
            slots::<T>(on, reduce_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: (size_of::<T>() * n) as f64,
        check: Box::new(move |on, after| check_sum(on, &after[1], &input, |x| x)),
    })
}

/// A sum of squares. They are scratch, in which nothing is left: they need no pass
/// of their own.
fn squares_kernel<T: Value>() -> String {
    let (e, s) = (T::MLIR, T::SLOT);
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %o: memref<1x{e}> {{qd.dtype = \"{d}\"}}, \
                              %y: memref<?x{e}> {{qd.dtype = \"{d}\", qd.scratch}}, \
                              %s: memref<?x{s}>, %n: memref<i32>) {{
           %zero = arith.constant 0 : index
           %length = memref.dim %a, %zero : memref<?x{e}>
           qd.grid.for_each \"squares\" %i to %length count(%n : memref<i32>) {{
             %x = memref.load %a[%i] : memref<?x{e}>
             %square = {times} %x, %x : {e}
             memref.store %square, %y[%i] : memref<?x{e}>
           }}
           qd.algo.reduce add ins(%y : memref<?x{e}>) outs(%o : memref<1x{e}>)
             scratch(%s : memref<?x{s}>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME,
        times = T::TIMES,
    )
}

/// The floor is that of a sum: squares need not be written.
fn squares<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<T>(on, 1)?,
            empty::<T>(on, n as u64)?,
            slots::<T>(on, reduce_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: (size_of::<T>() * n) as f64,
        check: Box::new(move |on, after| check_sum(on, &after[1], &input, |x| x.times(x))),
    })
}

/// Whether one element holds the sum of what becomes of the others.
fn check_sum<T: Value>(
    on: &Stream,
    sum: &Buffer,
    input: &[T],
    of: fn(T) -> T,
) -> anyhow::Result<()> {
    let sums = input
        .chunks(CHUNK)
        .map(|chunk| added(chunk.iter().map(|x| of(*x))));
    let expected = added(sums);
    let got = sum.to_vec::<T>(on)?[0];
    let close = got.close(expected, input.len());
    ensure!(close, "the sum is {got:?}, not {expected:?}");
    Ok(())
}
