//! The rows of the cpu target.

use crate::{measure, peers};
use anyhow::ensure;
use qd_frontend::{
    Dtype, Element, Program,
    objects::{Arg, Buffer, Kernel, Priority, Stream},
};
use rdst::RadixSort;
use std::time::Duration;

/// One row of the table.
pub struct Row {
    /// How it is called.
    pub name: &'static str,
    /// Measures and prints it.
    pub run: fn(&Row, log2: u32, repeats: u32, bandwidth: f64) -> anyhow::Result<()>,
}

/// All rows.
pub const ROWS: &[Row] = &[
    Row {
        name: "reduce add f32",
        run: reduce_f32,
    },
    Row {
        name: "reduce add u32",
        run: reduce_u32,
    },
    Row {
        name: "exclusive_scan add u32",
        run: scan_u32,
    },
    Row {
        name: "select u32, half set",
        run: select_u32,
    },
    Row {
        name: "sort u32 (sort_unstable)",
        run: sort_std,
    },
    Row {
        name: "sort u32 (rdst)",
        run: sort_rdst,
    },
];

/// A kernel of the cpu's, and a stream for it and its arrays.
struct Loaded {
    kernel: Kernel,
    stream: Stream,
}

impl Loaded {
    fn new(source: &str) -> anyhow::Result<Self> {
        let program = Program::compile(source, "cpu")?;
        Ok(Self {
            kernel: program.kernel("main")?,
            stream: program.device().stream(Priority::Normal)?,
        })
    }

    fn timed(&self, arguments: &[Buffer]) -> anyhow::Result<Duration> {
        let arguments: Vec<_> = arguments.iter().map(Arg::from).collect();
        let begin = self.stream.record()?;
        self.kernel.launch(&self.stream, &arguments)?;
        Ok(self.stream.record()?.since(&begin)?)
    }

    fn buffer<T: Element>(&self, values: &[T]) -> anyhow::Result<Buffer> {
        Ok(Buffer::from_slice(&self.stream, values)?)
    }

    fn empty(&self, dtype: Dtype, length: u64) -> anyhow::Result<Buffer> {
        Ok(Buffer::zeros(&self.stream, dtype, &[length])?)
    }

    fn count(&self, n: usize) -> anyhow::Result<Buffer> {
        Ok(self.buffer(&[i32::try_from(n)?])?.cast(Dtype::I32, &[])?)
    }

    fn values<T: Element + Default>(&self, buffer: &Buffer) -> anyhow::Result<Vec<T>> {
        Ok(buffer.to_vec(&self.stream)?)
    }
}

/// Numbers that look random, the same in every run (splitmix64).
pub fn random(count: usize) -> Vec<u32> {
    let mut state = 1u64;
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z ^ (z >> 31)) as u32
        })
        .collect()
}

/// Slots that suffice for every algorithm at `n` elements and D = 4.
fn scratch(n: usize) -> u64 {
    let blocks = n as u64 / 256 + 1;
    n as u64 + 2 * blocks + 1024
}

fn reduce_kernel(element: &str) -> String {
    format!(
        "qd.grid.kernel @main(%a: memref<?x{element}>, %o: memref<1x{element}>, %s: memref<?xi32>, \
         %n: memref<i32>) {{
           qd.algo.reduce add ins(%a : memref<?x{element}>) outs(%o : memref<1x{element}>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
         }}"
    )
}

fn reduce_f32(row: &Row, log2: u32, repeats: u32, bandwidth: f64) -> anyhow::Result<()> {
    let n = 1usize << log2;
    let input: Vec<f32> = random(n)
        .iter()
        .map(|x| (x >> 8) as f32 / (1 << 24) as f32)
        .collect();
    let loaded = Loaded::new(&reduce_kernel("f32"))?;
    let arguments = [
        loaded.buffer(&input)?,
        loaded.empty(Dtype::F32, 1)?,
        loaded.empty(Dtype::I32, scratch(n))?,
        loaded.count(n)?,
    ];
    loaded.timed(&arguments)?;
    let (ours, peer) = (
        loaded.values::<f32>(&arguments[1])?[0],
        peers::sum_f32(&input),
    );
    ensure!(
        (ours - peer).abs() <= peer.abs() * 1e-4,
        "the sum is {ours}, the peer's {peer}"
    );
    let (a, b) = measure::in_turn(
        repeats,
        || Ok(()),
        || loaded.timed(&arguments),
        || {
            measure::time(|| {
                std::hint::black_box(peers::sum_f32(&input));
            })
        },
    )?;
    measure::print(
        row.name,
        a,
        b,
        Some(4.0 * n as f64 / bandwidth),
        "rayon loop",
    );
    Ok(())
}

fn reduce_u32(row: &Row, log2: u32, repeats: u32, bandwidth: f64) -> anyhow::Result<()> {
    let n = 1usize << log2;
    let input = random(n);
    let loaded = Loaded::new(&reduce_kernel("i32"))?;
    let signed: Vec<i32> = input.iter().map(|x| *x as i32).collect();
    let arguments = [
        loaded.buffer(&signed)?,
        loaded.empty(Dtype::I32, 1)?,
        loaded.empty(Dtype::I32, scratch(n))?,
        loaded.count(n)?,
    ];
    loaded.timed(&arguments)?;
    let (ours, peer) = (
        loaded.values::<i32>(&arguments[1])?[0] as u32,
        peers::sum_u32(&input),
    );
    ensure!(ours == peer, "the sum is {ours}, the peer's {peer}");
    let (a, b) = measure::in_turn(
        repeats,
        || Ok(()),
        || loaded.timed(&arguments),
        || {
            measure::time(|| {
                std::hint::black_box(peers::sum_u32(&input));
            })
        },
    )?;
    measure::print(
        row.name,
        a,
        b,
        Some(4.0 * n as f64 / bandwidth),
        "rayon loop",
    );
    Ok(())
}

fn scan_u32(row: &Row, log2: u32, repeats: u32, bandwidth: f64) -> anyhow::Result<()> {
    let n = 1usize << log2;
    let input = random(n);
    let signed: Vec<i32> = input.iter().map(|x| *x as i32).collect();
    let loaded = Loaded::new(
        "qd.grid.kernel @main(%a: memref<?xi32>, %o: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
           qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%o : memref<?xi32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
         }",
    )?;
    let arguments = [
        loaded.buffer(&signed)?,
        loaded.empty(Dtype::I32, n as u64)?,
        loaded.empty(Dtype::I32, scratch(n))?,
        loaded.count(n)?,
    ];
    let mut output = vec![0; n];
    loaded.timed(&arguments)?;
    peers::scan_u32(&input, &mut output);
    ensure!(
        loaded
            .values::<i32>(&arguments[1])?
            .iter()
            .zip(&output)
            .all(|(a, b)| *a as u32 == *b),
        "the scan differs from the peer's"
    );
    let (a, b) = measure::in_turn(
        repeats,
        || Ok(()),
        || loaded.timed(&arguments),
        || measure::time(|| peers::scan_u32(&input, &mut output)),
    )?;
    measure::print(
        row.name,
        a,
        b,
        Some(8.0 * n as f64 / bandwidth),
        "rayon loop, two passes",
    );
    Ok(())
}

fn select_u32(row: &Row, log2: u32, repeats: u32, bandwidth: f64) -> anyhow::Result<()> {
    let n = 1usize << log2;
    let input = random(n);
    let flags: Vec<u32> = input.iter().map(|x| (x >> 7) & 1).collect();
    let as_signed = |v: &[u32]| v.iter().map(|x| *x as i32).collect::<Vec<_>>();
    let loaded = Loaded::new(
        "qd.grid.kernel @main(%a: memref<?xi32>, %f: memref<?xi32>, %o: memref<?xi32>, %m: memref<i32>, \
         %s: memref<?xi32>, %n: memref<i32>) {
           qd.algo.select ins(%a, %f : memref<?xi32>, memref<?xi32>)
             outs(%o, %m : memref<?xi32>, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
         }",
    )?;
    let arguments = [
        loaded.buffer(&as_signed(&input))?,
        loaded.buffer(&as_signed(&flags))?,
        loaded.empty(Dtype::I32, n as u64)?,
        loaded.count(0)?,
        loaded.empty(Dtype::I32, scratch(n))?,
        loaded.count(n)?,
    ];
    let mut output = vec![0; n];
    loaded.timed(&arguments)?;
    let total = peers::select_u32(&input, &flags, &mut output);
    ensure!(
        loaded.values::<i32>(&arguments[3])?[0] as usize == total,
        "the number of elements differs"
    );
    ensure!(
        loaded.values::<i32>(&arguments[2])?[..total]
            .iter()
            .zip(&output)
            .all(|(a, b)| *a as u32 == *b),
        "the elements differ from the peer's"
    );
    let (a, b) = measure::in_turn(
        repeats,
        || Ok(()),
        || loaded.timed(&arguments),
        || {
            measure::time(|| {
                std::hint::black_box(peers::select_u32(&input, &flags, &mut output));
            })
        },
    )?;
    let bytes = 8.0 * n as f64 + 4.0 * total as f64;
    measure::print(
        row.name,
        a,
        b,
        Some(bytes / bandwidth),
        "rayon loop, two passes",
    );
    Ok(())
}

fn sort_std(row: &Row, log2: u32, repeats: u32, bandwidth: f64) -> anyhow::Result<()> {
    sort(
        row,
        log2,
        repeats,
        bandwidth,
        "slice::sort_unstable",
        |keys| keys.sort_unstable(),
    )
}

fn sort_rdst(row: &Row, log2: u32, repeats: u32, bandwidth: f64) -> anyhow::Result<()> {
    sort(row, log2, repeats, bandwidth, "rdst", |keys| {
        keys.radix_sort_unstable()
    })
}

fn sort(
    row: &Row,
    log2: u32,
    repeats: u32,
    bandwidth: f64,
    what: &str,
    peer: impl Fn(&mut [u32]),
) -> anyhow::Result<()> {
    let n = 1usize << (log2 - 2);
    let input = random(n);
    let loaded = Loaded::new(
        "qd.grid.kernel @main(%k: memref<?xi32> {qd.dtype = \"u32\"}, %t: memref<?xi32> {qd.dtype = \"u32\"}, \
         %s: memref<?xi32>, %n: memref<i32>) {
           qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4 unsigned
         }",
    )?;
    let mut sorted = input.clone();
    sorted.sort_unstable();
    let arguments = [
        loaded.buffer(&input)?,
        loaded.empty(Dtype::U32, n as u64)?,
        loaded.empty(Dtype::I32, scratch(n))?,
        loaded.count(n)?,
    ];
    loaded.timed(&arguments)?;
    ensure!(
        loaded.values::<u32>(&arguments[0])? == sorted,
        "the keys are not sorted"
    );
    let keys = std::cell::RefCell::new(input.clone());
    let (a, b) = measure::in_turn(
        repeats,
        || {
            keys.borrow_mut().copy_from_slice(&input);
            Ok(arguments[0].write(&loaded.stream, &input)?)
        },
        || loaded.timed(&arguments),
        || measure::time(|| peer(&mut keys.borrow_mut())),
    )?;
    // Four passes and a histogram read before each.
    measure::print(row.name, a, b, Some(48.0 * n as f64 / bandwidth), what);
    Ok(())
}
