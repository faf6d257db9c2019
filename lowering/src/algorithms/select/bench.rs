//! Selections, beside CUB: rows of `qd-bench`, which compiles this file.

use super::{Bench, DEPTH, Prepared, Subject};
use crate::device::data::{Value, count, empty, mix, random};
use anyhow::ensure;
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::select_scratch_slots;

/// The rows, and what tunings are found by.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "select" "u32": kernel::<u32>("select"), select::<u32>;
        "select" "f32": kernel::<f32>("select"), select::<f32>;
        "select" "u64": kernel::<u64>("select"), select::<u64>;
        "select-if" "u32": odd_kernel(), odd;
    },
    subjects: &[Subject {
        algorithm: "select",
        bytes: 4,
        case: "select-if u32",
        blocks: &[],
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
    }],
};

pub(super) fn kernel<T: Value>(algorithm: &str) -> String {
    let e = T::MLIR;
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %f: memref<?xi32>, \
                              %o: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %m: memref<i32>, \
                              %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.{algorithm} ins(%a, %f : memref<?x{e}>, memref<?xi32>) outs(%o, %m : memref<?x{e}>, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME
    )
}

/// Half of them, at random.
fn flags(n: usize) -> Vec<i32> {
    (0..n as u64).map(|i| (mix(i) >> 7 & 1) as i32).collect()
}

fn select<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    flagged::<T>(n, on, false)
}

/// With the others after the flagged ones, or without them.
pub(super) fn flagged<T: Value>(
    n: usize,
    on: &Stream,
    with_others: bool,
) -> anyhow::Result<Prepared> {
    let (input, flags) = (random::<T>(n), flags(n));
    let of = |kind: i32| {
        let pairs = input.iter().zip(&flags);
        pairs.filter(move |(_, flag)| **flag == kind)
    };
    let mut expected: Vec<T> = of(1).map(|(x, _)| *x).collect();
    let number = expected.len();
    if with_others {
        expected.extend(of(0).map(|(x, _)| *x));
    }
    let moved = n * (size_of::<T>() + 4) + expected.len() * size_of::<T>();
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            Buffer::from_slice(on, &flags)?,
            empty::<T>(on, n as u64)?,
            count(on, 0)?,
            empty::<i32>(on, select_scratch_slots(n as u64))?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: moved as f64,
        check: Box::new(move |on, after| check(on, &after[3], number, &after[2], &expected)),
    })
}

/// Keeps what is odd. The flags are scratch, in which nothing is left: they need no
/// pass of their own.
fn odd_kernel() -> String {
    format!(
        "qd.grid.kernel @main(%a: memref<?xi32> {{qd.dtype = \"u32\"}}, %f: memref<?xi32> {{qd.scratch}}, \
                              %o: memref<?xi32> {{qd.dtype = \"u32\"}}, %m: memref<i32>, \
                              %s: memref<?xi32>, %n: memref<i32>) {{
           %zero = arith.constant 0 : index
           %one = arith.constant 1 : i32
           %length = memref.dim %a, %zero : memref<?xi32>
           qd.grid.for_each \"odd\" %i to %length count(%n : memref<i32>) {{
             %x = memref.load %a[%i] : memref<?xi32>
             %odd = arith.andi %x, %one : i32
             memref.store %odd, %f[%i] : memref<?xi32>
           }}
           qd.algo.select ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%o, %m : memref<?xi32>, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}"
    )
}

/// The floor is without flags, which need not be written.
fn odd(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<u32>(n);
    let odd = input.iter().filter(|x| **x % 2 == 1);
    let expected: Vec<u32> = odd.copied().collect();
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<i32>(on, n as u64)?,
            empty::<u32>(on, n as u64)?,
            count(on, 0)?,
            empty::<i32>(on, select_scratch_slots(n as u64))?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: (4 * (n + expected.len())) as f64,
        check: Box::new(move |on, after| {
            check(on, &after[3], expected.len(), &after[2], &expected)
        }),
    })
}

/// Whether so many are kept, and what there is begins as it should.
fn check<T: Value>(
    on: &Stream,
    num_out: &Buffer,
    number: usize,
    output: &Buffer,
    expected: &[T],
) -> anyhow::Result<()> {
    let got = num_out.to_vec::<i32>(on)?[0];
    ensure!(
        i64::from(got) == number as i64,
        "{got} elements, not {number}"
    );
    let same = output.to_vec::<T>(on)?[..expected.len()] == *expected;
    ensure!(same, "other elements");
    Ok(())
}
