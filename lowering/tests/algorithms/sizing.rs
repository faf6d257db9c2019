//! The sizing functions, compared with the op: its folder, and its expansion.

use crate::{
    data::Random,
    support::{context, parse},
};
use qd_dialects::pass;
use qd_lowering::algorithms::scratch::*;

fn function(algorithm: &str, n: u64, depth: Option<u32>) -> u64 {
    match algorithm {
        "reduce" => reduce_scratch_slots(n, depth).unwrap(),
        "sort" => sort_scratch_slots(n, depth).unwrap(),
        "select" | "partition" | "unique" => select_scratch_slots(n),
        "reduce_by_key" => reduce_by_key_scratch_slots(n),
        _ => scan_scratch_slots(n, depth).unwrap(),
    }
}

fn counts() -> Vec<u64> {
    let mut counts = vec![0, 1, 2, 1_000_000, 1_000_003];
    for depth in 1..=4 {
        let n = 256u64.pow(depth);
        counts.extend([n - 1, n]);
        counts.extend((depth < 4).then_some(n + 1));
    }
    let mut random = Random::new(1);
    counts.extend((0..20).map(|_| random.below(1 << 32)));
    counts
}

const ALGORITHMS: [&str; 8] = [
    "reduce",
    "exclusive_scan",
    "inclusive_scan",
    "sort",
    "select",
    "partition",
    "unique",
    "reduce_by_key",
];

fn check(passes: &str) {
    let mut text = String::new();
    let mut expected = Vec::new();
    for algorithm in ALGORITHMS {
        for n in counts() {
            for depth in [None, Some(1), Some(2), Some(3), Some(4)] {
                // The op without a capacity has to do for each: for the largest.
                expected.push(function(algorithm, n, depth.or(Some(4))));
                let capacity = depth.map_or(String::new(), |depth| format!(", {depth}"));
                text += &format!(
                    "func.func @f{}() -> index {{
                       %n = arith.constant {n} : index
                       %s = qd.algo.scratch_slots {algorithm} %n{capacity}
                       return %s : index
                     }}\n",
                    expected.len()
                );
            }
        }
    }
    let context = context();
    let mut module = parse(&context, &text);
    pass::run_pipeline(&context, &mut module, passes).unwrap();
    let printed = module.as_operation().to_string();
    let constants = printed.lines().filter_map(|line| {
        let (_, constant) = line.split_once("arith.constant ")?;
        constant.split_once(" :")?.0.parse::<u64>().ok()
    });
    assert_eq!(constants.collect::<Vec<_>>(), expected);
}

#[test]
fn as_the_op_folds() {
    check("canonicalize");
}

#[test]
fn as_the_op_expands() {
    check("qd-expand-algorithms,canonicalize");
}

/// The functions without a capacity take the smallest that there is room in, and the op the largest: what the op says
/// suffices for them.
#[test]
fn without_a_capacity() {
    for n in counts() {
        let smallest = log256_max_n(n).unwrap();
        assert!(n <= 256_u64.pow(smallest));
        assert!(smallest == 1 || n > 256_u64.pow(smallest - 1), "{n}");
        for algorithm in ALGORITHMS {
            let slots = function(algorithm, n, None);
            assert_eq!(
                slots,
                function(algorithm, n, Some(smallest)),
                "{algorithm} {n}"
            );
            assert!(slots <= function(algorithm, n, Some(4)), "{algorithm} {n}");
        }
    }
}
