//! Sorts of keys, and of keys with values, beside CUB: rows of `qd-bench`, which compiles this file.

use super::{Bench, DEPTH, Prepared, Subject};
use crate::device::data::{Value, copy, count, empty, few, random, sorted};
use anyhow::ensure;
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::sort_scratch_slots;

/// The rows, and what tunings are found by.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "sort" "u32": kernel::<u32>(), |n, on| keys(random::<u32>(n), on);
        "sort" "f32": kernel::<f32>(), |n, on| keys(random::<f32>(n), on);
        "sort" "u64": kernel::<u64>(), |n, on| keys(random::<u64>(n), on);
        "sort-pairs" "u32": pairs_kernel::<u32>(), pairs::<u32>;
        "sort-pairs" "u64": pairs_kernel::<u64>(), pairs::<u64>;
        "sort-few" "u32": kernel::<u32>(), |n, on| keys(few::<u32>(n), on);
        "sort-few" "u64": kernel::<u64>(), |n, on| keys(few::<u64>(n), on);
        "sort-sorted" "u32": kernel::<u32>(), |n, on| keys(sorted::<u32>(n), on);
        "sort-sorted" "u64": kernel::<u64>(), |n, on| keys(sorted::<u64>(n), on);
    },
    subjects: &[
        Subject {
            algorithm: "sort",
            bytes: 4,
            case: "sort u32",
            blocks: &[],
            shapes: &[
                (512, 16, 2),
                (512, 18, 2),
                (512, 20, 2),
                (512, 24, 2),
                (512, 24, 1),
                (512, 28, 1),
                (512, 32, 1),
            ],
        },
        Subject {
            algorithm: "sort",
            bytes: 8,
            case: "sort-pairs u32",
            blocks: &[],
            shapes: &[
                (512, 14, 2),
                (512, 16, 2),
                (512, 18, 2),
                (512, 20, 1),
                (512, 22, 1),
                (512, 24, 1),
                (512, 26, 1),
                (512, 28, 1),
            ],
        },
        Subject {
            algorithm: "sort_wide",
            bytes: 8,
            case: "sort u64",
            blocks: &[],
            shapes: &[
                (512, 8, 2),
                (512, 8, 3),
                (512, 10, 2),
                (512, 12, 2),
                (512, 14, 2),
                (512, 16, 2),
                (512, 16, 1),
                (512, 20, 1),
                (512, 24, 1),
            ],
        },
        Subject {
            algorithm: "sort_wide",
            bytes: 12,
            case: "sort-pairs u64",
            blocks: &[],
            shapes: &[
                (512, 8, 2),
                (512, 9, 2),
                (512, 10, 2),
                (512, 12, 2),
                (512, 14, 2),
                (512, 14, 1),
                (512, 16, 1),
                (512, 18, 1),
            ],
        },
    ],
};

fn kernel<T: Value>() -> String {
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

fn keys<T: Value>(input: Vec<T>, on: &Stream) -> anyhow::Result<Prepared> {
    let n = input.len();
    let mut expected = input.clone();
    // There are no NaNs and no zeros of both signs.
    rayon::slice::ParallelSliceMut::par_sort_unstable_by(&mut expected[..], |a, b| {
        a.partial_cmp(b).expect("numbers")
    });
    let given = Buffer::from_slice(on, &input)?;
    Ok(Prepared {
        arguments: vec![
            copy(on, &given)?,
            empty::<T>(on, n as u64)?,
            empty::<i32>(on, sort_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(on, n)?,
        ],
        given: vec![(0, given)],
        bytes: sort_bytes(n, size_of::<T>(), 0),
        check: Box::new(move |on, after| {
            ensure!(
                after[0].to_vec::<T>(on)? == expected,
                "the keys are not sorted"
            );
            Ok(())
        }),
    })
}

fn pairs_kernel<T: Value>() -> String {
    let e = T::MLIR;
    let unsigned = if T::UNSIGNED { " unsigned" } else { "" };
    format!(
        "qd.grid.kernel @main(%k: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %t: memref<?x{e}> {{qd.dtype = \"{d}\"}}, \
                              %v: memref<?xi32>, %tv: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.sort keys(%k, %t : memref<?x{e}>, memref<?x{e}>) values(%v, %tv : memref<?xi32>, memref<?xi32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}{unsigned}
         }}",
        d = T::DTYPE_NAME
    )
}

/// Values of 4 bytes: where each key was.
fn pairs<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let keys = random::<T>(n);
    let places: Vec<i32> = (0..n as i32).collect();
    let given_keys = Buffer::from_slice(on, &keys)?;
    let given_places = Buffer::from_slice(on, &places)?;
    Ok(Prepared {
        arguments: vec![
            copy(on, &given_keys)?,
            empty::<T>(on, n as u64)?,
            copy(on, &given_places)?,
            empty::<i32>(on, n as u64)?,
            empty::<i32>(on, sort_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(on, n)?,
        ],
        given: vec![(0, given_keys), (2, given_places)],
        bytes: sort_bytes(n, size_of::<T>(), 4),
        check: Box::new(move |on, after| {
            let (sorted, from) = (after[0].to_vec::<T>(on)?, after[2].to_vec::<i32>(on)?);
            let pairs = sorted.iter().zip(&from);
            let mut last = None;
            for (key, place) in pairs {
                ensure!(
                    keys.get(*place as usize) == Some(key),
                    "{key:?} does not come from [{place}]"
                );
                // Places differ, so that equal keys show whether it was stable.
                ensure!(
                    last < Some((key, place)),
                    "{key:?} from [{place}] is out of order"
                );
                last = Some((key, place));
            }
            Ok(())
        }),
    })
}
