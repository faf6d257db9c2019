//! The cases: kernels, their data, and their expected results.
//!
//! They are in `bench.rs` of the algorithms' folders, and how the peer does the
//! same in `bench.cu` beside it: `build.rs` finds them.

use qd_frontend::objects::{Arg, Buffer, Stream};
use std::fmt::Display;

/// The capacity of every kernel: 256^4 elements.
const DEPTH: u32 = 4;

/// A kernel that says how its tiles are to be cut: entries of `qd.tuning`.
pub fn with_tuning(kernel: &str, tuning: impl Display) -> String {
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

    /// What its tunings are found by: the subject that is this case, or one of its folder, with
    /// elements of its width if there is one.
    pub fn subject(&self) -> Option<&'static Subject> {
        let is_this = |case: &Case| case.name() == self.name();
        let bench = BENCHES.iter().find(|bench| bench.cases.iter().any(is_this));
        let subjects = bench.map_or(&[][..], |bench| bench.subjects);
        let width = self.element.trim_start_matches(char::is_alphabetic);
        let exact = subjects.iter().find(|one| one.case == self.name());
        let alike = || subjects.iter().find(|one| one.case.ends_with(width));
        exact.or_else(alike).or(subjects.first())
    }
}

/// What a row of a table of tunings is measured by.
pub struct Subject {
    /// As the table calls it.
    pub algorithm: &'static str,
    pub bytes: i64,
    /// Of the cases.
    pub case: &'static str,
    /// The most blocks, where each takes as many tiles as its share; none where each takes one.
    pub blocks: &'static [i64],
    /// Threads, items and occupancy (blocks per SM or CU).
    pub shapes: &'static [(i64, i64, i64)],
}

/// What a folder has.
pub struct Bench {
    cases: &'static [Case],
    subjects: &'static [Subject],
}

macro_rules! cases {
    ($($algorithm:literal $element:literal: $kernel:expr, $prepare:expr;)*) => {
        &[$($crate::device::case::Case {
            algorithm: $algorithm,
            element: $element,
            kernel: || $kernel,
            prepare: $prepare,
        }),*]
    };
}

include!(concat!(env!("OUT_DIR"), "/benches.rs"));

/// Every row.
pub fn all() -> impl Iterator<Item = &'static Case> {
    BENCHES.iter().flat_map(|bench| bench.cases)
}

/// Of every tuning that is measured.
pub fn subjects() -> impl Iterator<Item = &'static Subject> {
    BENCHES.iter().flat_map(|bench| bench.subjects)
}

/// What `cargo xtask new algorithm` makes, as it is made.
#[cfg(test)]
#[path = "../../../xtask/src/new/templates/algorithm/bench.rs"]
mod template;

#[cfg(test)]
mod tests {
    use super::*;
    use qd_frontend::{Program, objects::Priority};

    /// What every row makes of a size that is no power of 2, on the cpu.
    #[test]
    fn every_row_comes_to_what_it_should() {
        for case in all() {
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
        let mut names: Vec<_> = all().map(Case::name).collect();
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
    #[test]
    fn the_template_of_a_row_is_one() {
        let [case, ..] = template::BENCH.cases else {
            panic!("it has rows");
        };
        assert!((case.kernel)().contains("qd.algo.the_name"));
        let device = qd_frontend::open("cpu").expect("it is here");
        let stream = device.stream(Priority::Normal).expect("a stream");
        let error = (case.prepare)(1, &stream).err().expect("it is not written");
        assert!(error.to_string().ends_with("yet to be written"), "{error}");
    }
}
