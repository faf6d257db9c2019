//! The cases: kernels, their data, and their expected results.

mod by_key;
mod combine;
mod compact;
mod sort;
mod unique;

use super::data::{few, random, sorted};
use qd_frontend::objects::{Arg, Buffer, Stream};
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
    pub prepare: fn(usize, &Stream) -> anyhow::Result<Prepared>,
}

/// A row at one size.
pub struct Prepared {
    pub arguments: Vec<Buffer>,
    /// What a run destroys and the next one needs, by its place among the arguments.
    pub given: Vec<(usize, Buffer)>,
    /// Bytes that must move.
    pub bytes: f64,
    pub check: Check,
}

/// Whether the results are right.
type Check = Box<dyn Fn(&Stream, &[Buffer]) -> anyhow::Result<()>>;

impl Prepared {
    /// What a kernel is launched with.
    pub fn arguments(&self) -> Vec<Arg<'_>> {
        self.arguments.iter().map(Arg::from).collect()
    }

    /// Makes the next run like the first, by copies on the device.
    pub fn restore(&self, on: &Stream) -> anyhow::Result<()> {
        for (place, given) in &self.given {
            given.copy_to(on, &self.arguments[*place])?;
        }
        Ok(on.synchronize()?)
    }
}

impl Case {
    /// `sort u32`.
    pub fn name(&self) -> String {
        format!("{} {}", self.algorithm, self.element)
    }
}

macro_rules! cases {
    ($($algorithm:literal $element:literal: $kernel:expr, $prepare:expr;)*) => {
        &[$(Case {
            algorithm: $algorithm,
            element: $element,
            kernel: || $kernel,
            prepare: $prepare,
        }),*]
    };
}

/// Every row.
pub const CASES: &[Case] = cases! {
    "reduce" "u32": combine::reduce_kernel::<u32>(), combine::reduce::<u32>;
    "reduce" "f32": combine::reduce_kernel::<f32>(), combine::reduce::<f32>;
    "reduce" "u64": combine::reduce_kernel::<u64>(), combine::reduce::<u64>;
    "transform-reduce" "u32": combine::squares_kernel::<u32>(), combine::squares::<u32>;
    "transform-reduce" "f32": combine::squares_kernel::<f32>(), combine::squares::<f32>;
    "exclusive_scan" "u32": combine::scan_kernel::<u32>("exclusive_scan"), combine::exclusive_scan::<u32>;
    "exclusive_scan" "f32": combine::scan_kernel::<f32>("exclusive_scan"), combine::exclusive_scan::<f32>;
    "exclusive_scan" "u64": combine::scan_kernel::<u64>("exclusive_scan"), combine::exclusive_scan::<u64>;
    "inclusive_scan" "u32": combine::scan_kernel::<u32>("inclusive_scan"), combine::inclusive_scan::<u32>;
    "inclusive_scan" "f32": combine::scan_kernel::<f32>("inclusive_scan"), combine::inclusive_scan::<f32>;
    "inclusive_scan" "u64": combine::scan_kernel::<u64>("inclusive_scan"), combine::inclusive_scan::<u64>;
    "select" "u32": compact::kernel::<u32>("select"), compact::select::<u32>;
    "select" "f32": compact::kernel::<f32>("select"), compact::select::<f32>;
    "select" "u64": compact::kernel::<u64>("select"), compact::select::<u64>;
    "select-if" "u32": compact::odd_kernel(), compact::odd;
    "partition" "u32": compact::kernel::<u32>("partition"), compact::partition::<u32>;
    "partition" "f32": compact::kernel::<f32>("partition"), compact::partition::<f32>;
    "partition" "u64": compact::kernel::<u64>("partition"), compact::partition::<u64>;
    "reduce_by_key" "u32": by_key::kernel::<u32>(), by_key::reduce::<u32>;
    "reduce_by_key" "f32": by_key::kernel::<f32>(), by_key::reduce::<f32>;
    "reduce_by_key" "u64": by_key::kernel::<u64>(), by_key::reduce::<u64>;
    "unique" "u32": unique::kernel::<u32>(false), unique::firsts::<u32>;
    "unique" "u64": unique::kernel::<u64>(false), unique::firsts::<u64>;
    "run_lengths" "u32": unique::kernel::<u32>(true), unique::lengths::<u32>;
    "run_lengths" "u64": unique::kernel::<u64>(true), unique::lengths::<u64>;
    "sort" "u32": sort::kernel::<u32>(), |n, on| sort::keys(random::<u32>(n), on);
    "sort" "f32": sort::kernel::<f32>(), |n, on| sort::keys(random::<f32>(n), on);
    "sort" "u64": sort::kernel::<u64>(), |n, on| sort::keys(random::<u64>(n), on);
    "sort-pairs" "u32": sort::pairs_kernel::<u32>(), sort::pairs::<u32>;
    "sort-pairs" "u64": sort::pairs_kernel::<u64>(), sort::pairs::<u64>;
    "sort-few" "u32": sort::kernel::<u32>(), |n, on| sort::keys(few::<u32>(n), on);
    "sort-few" "u64": sort::kernel::<u64>(), |n, on| sort::keys(few::<u64>(n), on);
    "sort-sorted" "u32": sort::kernel::<u32>(), |n, on| sort::keys(sorted::<u32>(n), on);
    "sort-sorted" "u64": sort::kernel::<u64>(), |n, on| sort::keys(sorted::<u64>(n), on);
};

#[cfg(test)]
mod tests {
    use super::*;
    use qd_frontend::{Program, objects::Priority};

    /// What every row makes of a size that is no power of 2, on the cpu.
    #[test]
    fn every_row_comes_to_what_it_should() {
        for case in CASES {
            let name = case.name();
            let program = Program::compile(&(case.kernel)(), "cpu")
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let stream = program.device().stream(Priority::Normal);
            let stream = stream.expect("a stream");
            let prepared = (case.prepare)(10_007, &stream).expect("memory");
            let kernel = program.kernel("main").expect("there");
            for run in ["the first", "the next"] {
                prepared.restore(&stream).expect("copied");
                let ran = kernel.launch(&stream, &prepared.arguments());
                ran.unwrap_or_else(|error| panic!("{name}: {error}"));
                let check = (prepared.check)(&stream, &prepared.arguments);
                check.unwrap_or_else(|error| panic!("{name}, {run} run: {error}"));
            }
            let garbage = |buffer: &Buffer| {
                let filled = Buffer::filled(&stream, buffer.dtype(), buffer.shape(), 0xA5);
                filled.expect("memory")
            };
            let garbage: Vec<_> = prepared.arguments.iter().map(garbage).collect();
            let check = (prepared.check)(&stream, &garbage);
            assert!(check.is_err(), "{name}: nothing is checked");
        }
    }

    #[test]
    fn names_differ() {
        let mut names: Vec<_> = CASES.iter().map(Case::name).collect();
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
