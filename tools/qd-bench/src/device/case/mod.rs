//! What is measured: kernels, their data, and what they have to come to.

mod by_key;
mod combine;
mod compact;
mod sort;

use super::data::{few, random, sorted};
use qd_frontend::Argument;
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
    "reduce" "u32" false: combine::reduce_kernel::<u32>(), combine::reduce::<u32>;
    "reduce" "f32" false: combine::reduce_kernel::<f32>(), combine::reduce::<f32>;
    "reduce" "u64" false: combine::reduce_kernel::<u64>(), combine::reduce::<u64>;
    "transform-reduce" "u32" false: combine::squares_kernel::<u32>(), combine::squares::<u32>;
    "transform-reduce" "f32" false: combine::squares_kernel::<f32>(), combine::squares::<f32>;
    "exclusive_scan" "u32" false: combine::scan_kernel::<u32>("exclusive_scan"), combine::exclusive_scan::<u32>;
    "exclusive_scan" "f32" false: combine::scan_kernel::<f32>("exclusive_scan"), combine::exclusive_scan::<f32>;
    "exclusive_scan" "u64" false: combine::scan_kernel::<u64>("exclusive_scan"), combine::exclusive_scan::<u64>;
    "inclusive_scan" "u32" false: combine::scan_kernel::<u32>("inclusive_scan"), combine::inclusive_scan::<u32>;
    "inclusive_scan" "f32" false: combine::scan_kernel::<f32>("inclusive_scan"), combine::inclusive_scan::<f32>;
    "inclusive_scan" "u64" false: combine::scan_kernel::<u64>("inclusive_scan"), combine::inclusive_scan::<u64>;
    "select" "u32" false: compact::kernel::<u32>("select"), compact::select::<u32>;
    "select" "f32" false: compact::kernel::<f32>("select"), compact::select::<f32>;
    "select" "u64" false: compact::kernel::<u64>("select"), compact::select::<u64>;
    "select-if" "u32" false: compact::odd_kernel(), compact::odd;
    "partition" "u32" false: compact::kernel::<u32>("partition"), compact::partition::<u32>;
    "partition" "f32" false: compact::kernel::<f32>("partition"), compact::partition::<f32>;
    "partition" "u64" false: compact::kernel::<u64>("partition"), compact::partition::<u64>;
    "reduce_by_key" "u32" false: by_key::kernel::<u32>(), by_key::reduce::<u32>;
    "reduce_by_key" "f32" false: by_key::kernel::<f32>(), by_key::reduce::<f32>;
    "reduce_by_key" "u64" false: by_key::kernel::<u64>(), by_key::reduce::<u64>;
    "sort" "u32" true: sort::kernel::<u32>(), |n| sort::keys(random::<u32>(n));
    "sort" "f32" true: sort::kernel::<f32>(), |n| sort::keys(random::<f32>(n));
    "sort" "u64" true: sort::kernel::<u64>(), |n| sort::keys(random::<u64>(n));
    "sort-pairs" "u32" true: sort::pairs_kernel::<u32>(), sort::pairs::<u32>;
    "sort-pairs" "u64" true: sort::pairs_kernel::<u64>(), sort::pairs::<u64>;
    "sort-few" "u32" true: sort::kernel::<u32>(), |n| sort::keys(few::<u32>(n));
    "sort-few" "u64" true: sort::kernel::<u64>(), |n| sort::keys(few::<u64>(n));
    "sort-sorted" "u32" true: sort::kernel::<u32>(), |n| sort::keys(sorted::<u32>(n));
    "sort-sorted" "u64" true: sort::kernel::<u64>(), |n| sort::keys(sorted::<u64>(n));
};

#[cfg(test)]
mod tests {
    use super::*;
    use qd_frontend::Program;

    /// What every row makes of a size that is no power of 2, on the cpu.
    #[test]
    fn every_row_comes_to_what_it_should() {
        for case in CASES {
            let name = case.name();
            let program = Program::compile(&(case.kernel)(), "cpu")
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let prepared = (case.prepare)(10_007).expect("memory");
            let mut arguments = prepared.arguments.clone();
            let ran = program.run("main", &mut arguments);
            ran.unwrap_or_else(|error| panic!("{name}: {error}"));
            (prepared.check)(&arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
            for argument in &mut arguments {
                if let Argument::Buffer(buffer) = argument {
                    buffer.as_mut_bytes().fill(0xA5);
                }
            }
            let check = (prepared.check)(&arguments);
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
