//! Reductions and scans.

use super::{DEPTH, Prepared};
use crate::device::data::{Value, count, empty, random};
use anyhow::ensure;
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::{reduce_scratch_slots, scan_scratch_slots};

/// Elements that are summed one after the other to check a sum: all of them in a
/// row would make a sum of floats that is worse than ours.
const CHUNK: usize = 1 << 10;

pub fn reduce_kernel<T: Value>() -> String {
    let (e, s) = (T::MLIR, T::SLOT);
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %o: memref<1x{e}> {{qd.dtype = \"{d}\"}}, \
                              %s: memref<?x{s}>, %n: memref<i32>) {{
           qd.algo.reduce add ins(%a : memref<?x{e}>) outs(%o : memref<1x{e}>)
             scratch(%s : memref<?x{s}>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME
    )
}

/// Scratch for elements of this type.
fn scratch<T: Value>(on: &Stream, slots: u64) -> anyhow::Result<Buffer> {
    match T::SLOT {
        "i64" => empty::<i64>(on, slots),
        _ => empty::<i32>(on, slots),
    }
}

pub fn reduce<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<T>(on, 1)?,
            scratch::<T>(on, reduce_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: (size_of::<T>() * n) as f64,
        check: Box::new(move |on, after| check_sum(on, &after[1], &input, |x| x)),
    })
}

/// A sum of squares. They are scratch, in which nothing is left: they need no pass
/// of their own.
pub fn squares_kernel<T: Value>() -> String {
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
pub fn squares<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<T>(on, 1)?,
            empty::<T>(on, n as u64)?,
            scratch::<T>(on, reduce_scratch_slots(n as u64, Some(DEPTH))?)?,
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

fn added<T: Value>(values: impl Iterator<Item = T>) -> T {
    values.fold(T::of(0), T::plus)
}

pub fn scan_kernel<T: Value>(algorithm: &str) -> String {
    let (e, s) = (T::MLIR, T::SLOT);
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %o: memref<?x{e}> {{qd.dtype = \"{d}\"}}, \
                              %s: memref<?x{s}>, %n: memref<i32>) {{
           qd.algo.{algorithm} add ins(%a : memref<?x{e}>) outs(%o : memref<?x{e}>)
             scratch(%s : memref<?x{s}>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME
    )
}

pub fn exclusive_scan<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    scan::<T>(n, on, |before, _| before)
}

pub fn inclusive_scan<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    scan::<T>(n, on, T::plus)
}

/// `at` makes a result of the sum before an element, and of that element.
fn scan<T: Value>(n: usize, on: &Stream, at: fn(T, T) -> T) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<T>(on, n as u64)?,
            scratch::<T>(on, scan_scratch_slots(n as u64, Some(DEPTH))?)?,
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
