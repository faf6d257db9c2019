//! The type of the count.

use crate::kernel::{ALGORITHMS, Kernel, turn};
use qd_conformance::{
    Data, Expect, Input, Subject, affordable, difference, generate, interpret, report, slots,
};

/// Counts of both types, of the same algorithm.
fn of_both_types(algorithm: &'static str) -> [Kernel; 2] {
    ["i32", "i64"].map(|count| Kernel {
        count,
        ..Kernel::new(algorithm, "i64", 3)
    })
}

/// Scratch that does not depend on the type of n: as many slots do for either, one less is
/// an error that says how many there must be, and results are the same.
#[test]
fn scratch_for_either_type() {
    for (nth, algorithm) in ALGORITHMS.into_iter().enumerate() {
        let wave = turn(nth);
        for n in affordable([1, 257, 5000, 20_000]) {
            let elements = || generate("i64", Input::Random, n, 1);
            let needed = slots(algorithm, n, 3);
            for kernel in of_both_types(algorithm) {
                let about = format!("{algorithm} of {n} by {}", kernel.count);
                let subject = Subject::new(kernel.text());
                let mut arguments = kernel.arguments(elements(), n);
                // As many as are needed, which is the least there can be.
                subject.check(wave, &arguments, &about);
                if needed == 1 {
                    continue;
                }
                let scratch = arguments.len() - 2;
                match &mut arguments[scratch].data {
                    Data::I32(slots) => drop(slots.pop()),
                    Data::I64(slots) => drop(slots.pop()),
                    other => unreachable!("scratch is of words, not {other:?}"),
                }
                let Some(ran) = subject.run(wave, &arguments) else {
                    continue;
                };
                let said = ran
                    .err()
                    .unwrap_or_else(|| panic!("{about}: too little scratch"));
                assert!(said.contains(&needed.to_string()), "{about}: {said}");
            }
        }
    }
    report("scratch for either type");
}

/// Counts of 64 bits are not read as 32: one whose lower half alone would do is more than
/// there is, and counts as all there is; a negative one counts as none.
#[test]
fn wide_counts_out_of_range() {
    const N: usize = 1000;
    for (nth, algorithm) in ALGORITHMS.into_iter().enumerate() {
        let wave = turn(nth);
        let [_, kernel] = of_both_types(algorithm);
        let text = kernel.text();
        let arguments = |count: i64| {
            let mut arguments = kernel.arguments(generate("i64", Input::Random, N, 1), N);
            let last = arguments.last_mut().expect("a count");
            last.data = Data::LongCount(count);
            last.expect = Expect::Ignored;
            arguments
        };
        for (given, meant) in [
            ((1 << 32) + 5, N),
            (1 << 62 | 5, N),
            (1 << 31, N),
            (-1 << 32 | 5, 0),
            (i64::MIN, 0),
        ] {
            let about = format!("{algorithm} of {given}");
            let reference = interpret(&text, wave, &arguments(meant as i64));
            let reference = reference.unwrap_or_else(|fault| panic!("{about}: {fault}"));
            let Some(ran) = Subject::new(&text).run(wave, &arguments(given)) else {
                continue;
            };
            let actual = ran.unwrap_or_else(|error| panic!("{about}: {error}"));
            let same = difference(&arguments(given), &reference, &actual);
            same.unwrap_or_else(|what| panic!("{about}: {what}\n{text}"));
        }
    }
    report("wide counts out of range");
}
