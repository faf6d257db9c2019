//! Reduce by key: runs within and across tiles, NaN keys, region combiners.

use crate::{
    data::{
        CHUNKED_SIZES, LOOK_BACK_SIZES, PATTERNS, Pattern, SIZES, SMALL_SIZES, buffer, count,
        scratch, values, whole,
    },
    support::{Case, Same, depth},
};
use qd_interp::{Buffer, Element};
use qd_lowering::algorithms::scratch::reduce_by_key_scratch_slots;

/// An associative function that does not commute: `x` unless it is 0, or else
/// `y`, so the first of them that is not 0.
const FIRST: &str = "identity [0 : i64] combiner {
     ^bb0(%x: i64, %y: i64):
       %zero = arith.constant 0 : i64
       %none = arith.cmpi eq, %x, %zero : i64
       %r = arith.select %none, %y, %x : i64
       qd.yield %r : i64
     }";

fn check(n: usize, keys: Pattern, number: usize, target: &'static str) {
    let key = [Element::I32, Element::F32, Element::I64, Element::F64][number % 4];
    let (value, kind, region) = match number % 5 {
        0 => (Element::I32, "add", ""),
        1 => (Element::F64, "add", ""),
        2 => (Element::I64, "", FIRST),
        3 => (Element::F32, "maxnumf", ""),
        _ => (Element::I64, "minui", ""),
    };
    let depth = depth(n, number);
    let text = format!(
        "qd.grid.kernel @k(%k: memref<?x{key}>, %v: memref<?x{value}>, %ko: memref<?x{key}>, %vo: memref<?x{value}>,
                           %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.reduce_by_key {kind} ins(%k, %v : memref<?x{key}>, memref<?x{value}>)
             outs(%ko, %vo, %runs : memref<?x{key}>, memref<?x{value}>, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth}
             {region}
         }}"
    );
    let room = [0, 3][number % 2];
    let seed = number as u64;
    let summands = match region {
        "" => values(value, Pattern::Small, n + room, seed),
        // Mostly 0, so that what decides may be far away.
        _ => values(value, Pattern::Wild, n + room, seed)
            .into_iter()
            .map(|bits| {
                whole(
                    value,
                    if bits % 50 == 0 {
                        (bits % 1000) as i64
                    } else {
                        0
                    },
                )
            })
            .collect(),
    };
    let garbage = |element| values(element, Pattern::Wild, n + room, 55);
    let label = format!("reduce_by_key {kind} of {n} {key} and {value}, {keys:?}, D = {depth}");
    let mut case = Case::new(label, text, number)
        .with(buffer(key, &values(key, keys, n + room, seed)))
        .with(buffer(value, &summands))
        .with_result(buffer(key, &garbage(key)))
        .with_result(buffer(value, &garbage(value)))
        .with_result(Buffer::scalar(-5).into())
        .with(scratch(Element::I32, reduce_by_key_scratch_slots(n as u64)))
        .with(count(n));
    case.same = Same::Numbers;
    case.target = target;
    case.check();
}

fn all(large: &[usize], target: &'static str) {
    let mut number = 0;
    for n in SMALL_SIZES {
        for pattern in PATTERNS {
            check(n, pattern, number, target);
            number += 1;
        }
    }
    for n in large {
        check(*n, Pattern::Runs, number, target);
        check(*n, Pattern::AllEqual, number + 1, target);
        number += 2;
    }
}

#[test]
fn runs_of_all_kinds() {
    all(&SIZES[SMALL_SIZES.len()..], "any");
}

#[test]
fn runs_on_few_cores() {
    all(&CHUNKED_SIZES, "cpu");
}

#[test]
fn runs_on_many_cores() {
    all(&LOOK_BACK_SIZES, "nvptx:sm_90");
}
