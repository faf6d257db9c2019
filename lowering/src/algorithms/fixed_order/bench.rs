//! Sums of several floats at once, in any order and in the fixed one: rows of `qd-bench`, which compiles
//! this file. They show what `deterministic` costs for larger elements.

use super::{Bench, DEPTH, Prepared};
use crate::device::data::{CHUNK, Value, added, count, empty, random, runs, slots};
use anyhow::ensure;
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::{
    reduce_by_key_scratch_slots, reduce_scratch_slots, scan_scratch_slots,
};

/// The rows. No tuning is found by them.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "reduce" "f64x2": kernel::<f64>(2, "reduce", ""), reduce::<f64, 2>;
        "reduce" "f64x3": kernel::<f64>(3, "reduce", ""), reduce::<f64, 3>;
        "reduce_in_order" "f64x2": kernel::<f64>(2, "reduce", ORDER), reduce::<f64, 2>;
        "reduce_in_order" "f64x3": kernel::<f64>(3, "reduce", ORDER), reduce::<f64, 3>;
        "inclusive_scan" "f64x2": kernel::<f64>(2, "inclusive_scan", ""), scan::<f64, 2>;
        "inclusive_scan" "f64x3": kernel::<f64>(3, "inclusive_scan", ""), scan::<f64, 3>;
        "scan_in_order" "f64x2": kernel::<f64>(2, "inclusive_scan", ORDER), scan::<f64, 2>;
        "scan_in_order" "f64x3": kernel::<f64>(3, "inclusive_scan", ORDER), scan::<f64, 3>;
        "reduce_by_key" "f32x3": kernel_by_key::<f32>(3, ""), by_key::<f32, 3>;
        "reduce_by_key" "f32x7": kernel_by_key::<f32>(7, ""), by_key::<f32, 7>;
        "reduce_by_key" "f64x2": kernel_by_key::<f64>(2, ""), by_key::<f64, 2>;
        "reduce_by_key" "f64x3": kernel_by_key::<f64>(3, ""), by_key::<f64, 3>;
        "by_key_in_order" "f32x3": kernel_by_key::<f32>(3, ORDER), by_key::<f32, 3>;
        "by_key_in_order" "f32x7": kernel_by_key::<f32>(7, ORDER), by_key::<f32, 7>;
        "by_key_in_order" "f64x2": kernel_by_key::<f64>(2, ORDER), by_key::<f64, 2>;
        "by_key_in_order" "f64x3": kernel_by_key::<f64>(3, ORDER), by_key::<f64, 3>;
    },
    subjects: &[],
};

const ORDER: &str = "deterministic";

/// A list of a text for each value, with its number for `#`.
fn each(values: usize, text: &str) -> String {
    let each = (0..values).map(|i| text.replace('#', &i.to_string()));
    each.collect::<Vec<_>>().join(", ")
}

/// The end of an op: each value is added to its like.
fn sums<T: Value>(values: usize) -> String {
    let e = T::MLIR;
    let list = |text: &str| each(values, &text.replace('T', e));
    let adds = list("%s# = arith.addf %l#, %r# : T").replace(", %s", "\n%s");
    format!(
        "identity [{}] combiner {{
           ^bb0({}, {}):
             {adds}
             qd.yield {} : {}
         }}",
        list("0.0 : T"),
        list("%l#: T"),
        list("%r#: T"),
        list("%s#"),
        list("T")
    )
}

fn kernel<T: Value>(values: usize, algorithm: &str, order: &str) -> String {
    let (e, s) = (T::MLIR, T::SLOT);
    let out = match algorithm {
        "reduce" => format!("memref<1x{e}>"),
        _ => format!("memref<?x{e}>"),
    };
    let list = |text: &str| each(values, text);
    format!(
        "qd.grid.kernel @main({arguments}, %n: memref<i32>) {{
           qd.algo.{algorithm} ins({ins} : {in_types}) outs({outs} : {out_types})
             scratch({scratch} : {slots}) count(%n : memref<i32>) log256_max_n = {DEPTH} {order}
             {sums}
         }}",
        arguments = list(&format!(
            "%a#: memref<?x{e}>, %o#: {out}, %t#: memref<?x{s}>"
        )),
        ins = list("%a#"),
        in_types = list(&format!("memref<?x{e}>")),
        outs = list("%o#"),
        out_types = list(&out),
        scratch = list("%t#"),
        slots = list(&format!("memref<?x{s}>")),
        sums = sums::<T>(values),
    )
}

fn kernel_by_key<T: Value>(values: usize, order: &str) -> String {
    let e = T::MLIR;
    let list = |text: &str| each(values, text);
    let types = list(&format!("memref<?x{e}>"));
    format!(
        "qd.grid.kernel @main({arguments}, %k: memref<?xi32>, %ko: memref<?xi32>, %m: memref<i32>, \
                              %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.reduce_by_key ins(%k, {ins} : memref<?xi32>, {types})
             outs(%ko, {outs}, %m : memref<?xi32>, {types}, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH} {order}
             {sums}
         }}",
        arguments = list(&format!("%a#: memref<?x{e}>, %o#: memref<?x{e}>")),
        ins = list("%a#"),
        outs = list("%o#"),
        sums = sums::<T>(values),
    )
}

/// For each value its elements, room for `outs` results, and scratch; then the count.
fn arguments<T: Value>(
    on: &Stream,
    values: usize,
    input: &[T],
    outs: usize,
    scratch: u64,
) -> anyhow::Result<Vec<Buffer>> {
    let mut arguments = Vec::new();
    for _ in 0..values {
        arguments.extend([
            Buffer::from_slice(on, input)?,
            empty::<T>(on, outs as u64)?,
            slots::<T>(on, scratch)?,
        ]);
    }
    arguments.push(count(on, input.len())?);
    Ok(arguments)
}

fn reduce<T: Value, const VALUES: usize>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    let scratch = reduce_scratch_slots(n as u64, Some(DEPTH))?;
    let arguments = arguments(on, VALUES, &input, 1, scratch)?;
    let chunks = input.chunks(CHUNK);
    let expected = added(chunks.map(|chunk| added(chunk.iter().copied())));
    Ok(Prepared {
        arguments,
        given: Vec::new(),
        bytes: (VALUES * size_of::<T>() * n) as f64,
        check: Box::new(move |on, after| {
            let outs = (0..VALUES).map(|i| &after[3 * i + 1]);
            check(on, outs, &[expected], n)
        }),
    })
}

fn scan<T: Value, const VALUES: usize>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    let scratch = scan_scratch_slots(n as u64, Some(DEPTH))?;
    let arguments = arguments(on, VALUES, &input, n, scratch)?;
    Ok(Prepared {
        arguments,
        given: Vec::new(),
        bytes: (2 * VALUES * size_of::<T>() * n) as f64,
        check: Box::new(move |on, after| {
            let (mut expected, mut before) = (Vec::with_capacity(n), T::of(0));
            for chunk in input.chunks(CHUNK) {
                let mut within = T::of(0);
                for x in chunk {
                    within = within.plus(*x);
                    expected.push(before.plus(within));
                }
                before = before.plus(within);
            }
            let outs = (0..VALUES).map(|i| &after[3 * i + 1]);
            check(on, outs, &expected, n)
        }),
    })
}

fn by_key<T: Value, const VALUES: usize>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    let keys: Vec<i32> = runs(n).into_iter().map(|key| key as i32).collect();
    let pairs: Vec<_> = keys.iter().zip(&input).collect();
    let expected: Vec<T> = pairs
        .chunk_by(|left, right| left.0 == right.0)
        .map(|run| added(run.iter().map(|(_, x)| **x)))
        .collect();
    let mut arguments = Vec::new();
    for _ in 0..VALUES {
        let out = empty::<T>(on, n as u64)?;
        arguments.extend([Buffer::from_slice(on, &input)?, out]);
    }
    arguments.extend([
        Buffer::from_slice(on, &keys)?,
        empty::<i32>(on, n as u64)?,
        count(on, 0)?,
        empty::<i32>(on, reduce_by_key_scratch_slots(n as u64))?,
        count(on, n)?,
    ]);
    Ok(Prepared {
        arguments,
        given: Vec::new(),
        bytes: ((n + expected.len()) * (VALUES * size_of::<T>() + 4)) as f64,
        check: Box::new(move |on, after| {
            let number = after[2 * VALUES + 2].to_vec::<i32>(on)?[0] as usize;
            let known = expected.len();
            ensure!(number == known, "{number} runs, not {known}");
            let outs = (0..VALUES).map(|i| &after[2 * i + 1]);
            check(on, outs, &expected, 64)
        }),
    })
}

/// Whether buffers begin with values that are as good as those expected, sums of at most `count`.
fn check<'a, T: Value>(
    on: &Stream,
    buffers: impl Iterator<Item = &'a Buffer>,
    expected: &[T],
    count: usize,
) -> anyhow::Result<()> {
    for buffer in buffers {
        let got = buffer.to_vec::<T>(on)?;
        for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
            let close = got.close(*expected, count);
            ensure!(close, "[{i}] is {got:?}, not {expected:?}");
        }
    }
    Ok(())
}
