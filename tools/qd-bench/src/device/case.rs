//! What is measured: kernels, their data, and what they have to come to.

use super::data::{Value, buffer, count, empty, made, mix, random, runs, values};
use anyhow::ensure;
use qd_frontend::Argument;
use qd_lowering::algorithms::scratch::{
    reduce_by_key_scratch_slots, reduce_scratch_slots, scan_scratch_slots, select_scratch_slots,
    sort_scratch_slots,
};
use qd_lowering::targets::tuning::Tuning;

/// The capacity of every kernel: 256^4 elements.
const DEPTH: u32 = 4;

/// A kernel that says how its tiles are to be cut.
pub fn with_tuning(kernel: &str, tuning: Tuning) -> String {
    // The last line but one is the end of the op.
    let end = "\n         }";
    kernel.replace(end, &format!(" {{qd.tuning = {{{tuning}}}}}{end}"))
}

/// A row, at any size.
pub struct Case {
    /// As CUB's program calls it.
    pub algorithm: &'static str,
    pub element: &'static str,
    pub kernel: fn() -> String,
    pub prepare: fn(usize) -> anyhow::Result<Prepared>,
    /// Whether a run destroys what the next one needs.
    pub in_place: bool,
}

/// A row at one size.
pub struct Prepared {
    pub arguments: Vec<Argument>,
    /// Bytes that must move.
    pub bytes: f64,
    pub check: Check,
}

/// Whether the results are right.
type Check = Box<dyn Fn(&[Argument]) -> anyhow::Result<()>>;

impl Case {
    /// `sort u32`.
    pub fn name(&self) -> String {
        format!("{} {}", self.algorithm, self.element)
    }
}

macro_rules! cases {
    ($($algorithm:literal $element:literal $in_place:literal: $kernel:expr, $prepare:expr;)*) => {
        &[$(Case {
            algorithm: $algorithm,
            element: $element,
            kernel: || $kernel,
            prepare: $prepare,
            in_place: $in_place,
        }),*]
    };
}

/// Every row.
pub const CASES: &[Case] = cases! {
    "reduce" "u32" false: reduce_kernel::<u32>(), reduce::<u32>;
    "reduce" "f32" false: reduce_kernel::<f32>(), reduce::<f32>;
    "reduce" "u64" false: reduce_kernel::<u64>(), reduce::<u64>;
    "exclusive_scan" "u32" false: scan_kernel::<u32>(), scan::<u32>;
    "exclusive_scan" "f32" false: scan_kernel::<f32>(), scan::<f32>;
    "exclusive_scan" "u64" false: scan_kernel::<u64>(), scan::<u64>;
    "select" "u32" false: select_kernel::<u32>(), select::<u32>;
    "select" "f32" false: select_kernel::<f32>(), select::<f32>;
    "select" "u64" false: select_kernel::<u64>(), select::<u64>;
    "reduce_by_key" "u32" false: reduce_by_key_kernel::<u32>(), reduce_by_key::<u32>;
    "reduce_by_key" "f32" false: reduce_by_key_kernel::<f32>(), reduce_by_key::<f32>;
    "reduce_by_key" "u64" false: reduce_by_key_kernel::<u64>(), reduce_by_key::<u64>;
    "sort" "u32" true: sort_kernel::<u32>(), |n| sort(random::<u32>(n));
    "sort" "f32" true: sort_kernel::<f32>(), |n| sort(random::<f32>(n));
    "sort" "u64" true: sort_kernel::<u64>(), |n| sort(random::<u64>(n));
    "sort-pairs" "u32" true: pairs_kernel(), pairs;
    "sort-few" "u32" true: sort_kernel::<u32>(), |n| sort(made(n, |i| (mix(i) & 15) as u32));
    "sort-sorted" "u32" true: sort_kernel::<u32>(), |n| sort(made(n, |i| i as u32));
};

fn reduce_kernel<T: Value>() -> String {
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
fn scratch<T: Value>(slots: u64) -> anyhow::Result<Argument> {
    match T::SLOT {
        "i64" => empty::<i64>(slots),
        _ => empty::<i32>(slots),
    }
}

fn reduce<T: Value>(n: usize) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    Ok(Prepared {
        arguments: vec![
            buffer(&input)?,
            empty::<T>(1)?,
            scratch::<T>(reduce_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(n)?,
        ],
        bytes: (size_of::<T>() * n) as f64,
        check: Box::new(move |after| {
            // In stretches: a sum of floats in order would be worse than ours.
            let sums = input.chunks(1 << 10).map(sum);
            let expected = sum(&sums.collect::<Vec<_>>());
            let got = values::<T>(&after[1])[0];
            ensure!(
                got.close(expected, n),
                "the sum is {got:?}, not {expected:?}"
            );
            Ok(())
        }),
    })
}

fn sum<T: Value>(values: &[T]) -> T {
    values.iter().fold(T::of(0), |sum, x| sum.plus(*x))
}

fn scan_kernel<T: Value>() -> String {
    let (e, s) = (T::MLIR, T::SLOT);
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %o: memref<?x{e}> {{qd.dtype = \"{d}\"}}, \
                              %s: memref<?x{s}>, %n: memref<i32>) {{
           qd.algo.exclusive_scan add ins(%a : memref<?x{e}>) outs(%o : memref<?x{e}>)
             scratch(%s : memref<?x{s}>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME
    )
}

fn scan<T: Value>(n: usize) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    Ok(Prepared {
        arguments: vec![
            buffer(&input)?,
            empty::<T>(n as u64)?,
            scratch::<T>(scan_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(n)?,
        ],
        bytes: (2 * size_of::<T>() * n) as f64,
        check: Box::new(move |after| {
            let got = values::<T>(&after[1]);
            let mut before = T::of(0);
            for (stretch, from) in input.chunks(1 << 10).zip((0..).step_by(1 << 10)) {
                let mut within = T::of(0);
                for (i, x) in (from..).zip(stretch) {
                    let expected = before.plus(within);
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

fn select_kernel<T: Value>() -> String {
    let e = T::MLIR;
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %f: memref<?xi32>, \
                              %o: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %m: memref<i32>, \
                              %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.select ins(%a, %f : memref<?x{e}>, memref<?xi32>) outs(%o, %m : memref<?x{e}>, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME
    )
}

fn select<T: Value>(n: usize) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    let flags: Vec<i32> = (0..n as u64).map(|i| (mix(i) >> 7 & 1) as i32).collect();
    let chosen = input.iter().zip(&flags).filter(|(_, flag)| **flag == 1);
    let expected: Vec<T> = chosen.map(|(x, _)| *x).collect();
    let moved = n * (size_of::<T>() + 4) + expected.len() * size_of::<T>();
    Ok(Prepared {
        arguments: vec![
            buffer(&input)?,
            buffer(&flags)?,
            empty::<T>(n as u64)?,
            count(0)?,
            empty::<i32>(select_scratch_slots(n as u64))?,
            count(n)?,
        ],
        bytes: moved as f64,
        check: Box::new(move |after| {
            let number = values::<i32>(&after[3])[0] as usize;
            ensure!(
                number == expected.len(),
                "{number} elements, not {}",
                expected.len()
            );
            ensure!(
                values::<T>(&after[2])[..number] == expected,
                "other elements"
            );
            Ok(())
        }),
    })
}

fn reduce_by_key_kernel<T: Value>() -> String {
    let e = T::MLIR;
    format!(
        "qd.grid.kernel @main(%k: memref<?xi32>, %v: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %ko: memref<?xi32>, \
                              %vo: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %m: memref<i32>, \
                              %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?x{e}>)
             outs(%ko, %vo, %m : memref<?xi32>, memref<?x{e}>, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME
    )
}

fn reduce_by_key<T: Value>(n: usize) -> anyhow::Result<Prepared> {
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
            buffer(&keys)?,
            buffer(&input)?,
            empty::<i32>(n as u64)?,
            empty::<T>(n as u64)?,
            count(0)?,
            empty::<i32>(reduce_by_key_scratch_slots(n as u64))?,
            count(n)?,
        ],
        bytes: moved as f64,
        check: Box::new(move |after| {
            let number = values::<i32>(&after[4])[0] as usize;
            ensure!(
                number == expected.len(),
                "{number} runs, not {}",
                expected.len()
            );
            let got = values::<i32>(&after[2]).iter().zip(values::<T>(&after[3]));
            for (i, (got, expected)) in got.zip(&expected).enumerate() {
                ensure!(
                    *got.0 == expected.0 && got.1.close(expected.1, 64),
                    "run {i} is {got:?}, not {expected:?}"
                );
            }
            Ok(())
        }),
    })
}

fn sort_kernel<T: Value>() -> String {
    let e = T::MLIR;
    let unsigned = if T::UNSIGNED { " unsigned" } else { "" };
    format!(
        "qd.grid.kernel @main(%k: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %t: memref<?x{e}> {{qd.dtype = \"{d}\"}}, \
                              %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.sort keys(%k, %t : memref<?x{e}>, memref<?x{e}>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}{unsigned}
         }}",
        d = T::DTYPE_NAME
    )
}

/// A histogram's read, and a read and a write for each digit.
fn sort_bytes(n: usize, key: usize, value: usize) -> f64 {
    (n * (key + key * 2 * (key + value))) as f64
}

fn sort<T: Value>(input: Vec<T>) -> anyhow::Result<Prepared> {
    let n = input.len();
    let mut expected = input.clone();
    // There are no NaNs and no zeros of both signs.
    rayon::slice::ParallelSliceMut::par_sort_unstable_by(&mut expected[..], |a, b| {
        a.partial_cmp(b).expect("numbers")
    });
    Ok(Prepared {
        arguments: vec![
            buffer(&input)?,
            empty::<T>(n as u64)?,
            empty::<i32>(sort_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(n)?,
        ],
        bytes: sort_bytes(n, size_of::<T>(), 0),
        check: Box::new(move |after| {
            ensure!(
                values::<T>(&after[0]) == expected,
                "the keys are not sorted"
            );
            Ok(())
        }),
    })
}

fn pairs_kernel() -> String {
    format!(
        "qd.grid.kernel @main(%k: memref<?xi32> {{qd.dtype = \"u32\"}}, %t: memref<?xi32> {{qd.dtype = \"u32\"}}, \
                              %v: memref<?xi32>, %tv: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>) values(%v, %tv : memref<?xi32>, memref<?xi32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH} unsigned
         }}"
    )
}

fn pairs(n: usize) -> anyhow::Result<Prepared> {
    let keys = random::<u32>(n);
    let places: Vec<i32> = (0..n as i32).collect();
    Ok(Prepared {
        arguments: vec![
            buffer(&keys)?,
            empty::<u32>(n as u64)?,
            buffer(&places)?,
            empty::<i32>(n as u64)?,
            empty::<i32>(sort_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(n)?,
        ],
        bytes: sort_bytes(n, 4, 4),
        check: Box::new(move |after| {
            let pairs = values::<u32>(&after[0])
                .iter()
                .zip(values::<i32>(&after[2]));
            let mut last = None;
            for (key, place) in pairs {
                ensure!(
                    keys.get(*place as usize) == Some(key),
                    "{key} does not come from [{place}]"
                );
                // Places differ, so that equal keys show whether it was stable.
                ensure!(
                    last < Some((key, place)),
                    "{key} from [{place}] is out of order"
                );
                last = Some((key, place));
            }
            Ok(())
        }),
    })
}
