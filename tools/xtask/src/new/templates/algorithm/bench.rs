//! The row of `qd-bench`, which compiles this file.

use super::{Bench, DEPTH, Prepared};
use crate::device::data::{Value, count, empty, random};
use anyhow::{bail, ensure};
use qd_frontend::objects::{Buffer, Stream};
use qd_lowering::algorithms::scratch::scan_scratch_slots;

/// The rows, and what tunings are found by.
pub const BENCH: Bench = Bench {
    cases: cases! {
        "the_name" "u32": kernel::<u32>(), the_name::<u32>;
        "the_name" "u64": kernel::<u64>(), the_name::<u64>;
    },
    subjects: &[],
};

fn kernel<T: Value>() -> String {
    let e = T::MLIR;
    format!(
        "qd.grid.kernel @main(%a: memref<?x{e}> {{qd.dtype = \"{d}\"}}, %o: memref<?x{e}> {{qd.dtype = \"{d}\"}}, \
                              %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.the_name ins(%a : memref<?x{e}>) outs(%o : memref<?x{e}>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
         }}",
        d = T::DTYPE_NAME
    )
}

/// What comes of the elements.
fn expected<T: Value>(_: &[T]) -> anyhow::Result<Vec<T>> {
    bail!("{}: the expected result is yet to be written", file!())
}

fn the_name<T: Value>(n: usize, on: &Stream) -> anyhow::Result<Prepared> {
    let input = random::<T>(n);
    let expected = expected(&input)?;
    Ok(Prepared {
        arguments: vec![
            Buffer::from_slice(on, &input)?,
            empty::<T>(on, n as u64)?,
            empty::<i32>(on, scan_scratch_slots(n as u64, Some(DEPTH))?)?,
            count(on, n)?,
        ],
        given: Vec::new(),
        bytes: (2 * size_of::<T>() * n) as f64,
        check: Box::new(move |on, after| {
            ensure!(after[1].to_vec::<T>(on)? == expected, "other elements");
            Ok(())
        }),
    })
}
