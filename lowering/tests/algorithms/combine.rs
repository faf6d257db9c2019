//! Reduce and the scans: kinds, region combiners, all element types.

use crate::{
    data::{
        CHUNKED_SIZES, LOOK_BACK_SIZES, Pattern, SIZES, SMALL_SIZES, buffer, count, scratch,
        values, whole,
    },
    support::{Case, Same, depth},
};
use qd_interp::{Buffer, Element};
use qd_lowering::algorithms::scratch::{reduce_scratch_slots, scan_scratch_slots};

const OPS: [&str; 3] = ["reduce", "exclusive_scan", "inclusive_scan"];

const INT_KINDS: [&str; 9] = [
    "add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor",
];
const FLOAT_KINDS: [&str; 4] = ["add", "mul", "minnumf", "maxnumf"];
const ELEMENTS: [Element; 4] = [Element::I32, Element::I64, Element::F32, Element::F64];

/// Scratch as wide as the element.
fn slot(element: Element) -> Element {
    if element.bytes() == 4 {
        Element::I32
    } else {
        Element::I64
    }
}

fn slots(op: &str, n: usize, depth: u32) -> u64 {
    let slots = match op {
        "reduce" => reduce_scratch_slots(n as u64, Some(depth)),
        _ => scan_scratch_slots(n as u64, Some(depth)),
    };
    slots.expect("a depth from 1 to 4")
}

fn length(op: &str, n: usize) -> usize {
    if op == "reduce" { 1 } else { n }
}

struct Kind<'a> {
    op: &'a str,
    kind: &'a str,
    element: Element,
    n: usize,
    pattern: Pattern,
    number: usize,
    target: &'static str,
}

impl Kind<'_> {
    fn check(&self) {
        let Self {
            op,
            kind,
            element,
            n,
            pattern,
            number,
            target,
        } = *self;
        let depth = depth(n, number);
        let slot = slot(element);
        let counted = [Element::I32, Element::I64][number / 3 % 2];
        let text = format!(
            "qd.grid.kernel @k(%a: memref<?x{element}>, %out: memref<?x{element}>, %s: memref<?x{slot}>, %n: memref<{counted}>) {{
               qd.algo.{op} {kind} ins(%a : memref<?x{element}>) outs(%out : memref<?x{element}>)
                 scratch(%s : memref<?x{slot}>) count(%n : memref<{counted}>) log256_max_n = {depth}
             }}"
        );
        // Room after the live elements, which must not be touched.
        let room = [0, 1, 300][number % 3];
        let input = values(element, pattern, n + room, number as u64);
        let output = values(element, Pattern::Wild, length(op, n + room), 99);
        let mut case = Case::new(
            format!("{op} {kind} of {n} {element}, {pattern:?}, D = {depth}"),
            text,
            number,
        )
        .with(buffer(element, &input))
        .with_result(buffer(element, &output))
        .with(scratch(slot, slots(op, n, depth)))
        .with(match counted {
            Element::I64 => Buffer::scalar(n as i64).into(),
            _ => count(n),
        });
        case.same = Same::Numbers;
        case.target = target;
        case.check();
    }
}

/// Patterns of which a kind gives the same result in any order.
fn patterns(kind: &str, element: Element) -> &'static [Pattern] {
    match (kind, element) {
        ("mul", Element::F32 | Element::F64) => &[Pattern::Outlier],
        ("add", Element::F32) => &[Pattern::Small, Pattern::AllEqual, Pattern::Outlier],
        ("add", Element::F64) => &[Pattern::Small, Pattern::Sorted, Pattern::Reversed],
        (_, Element::F32 | Element::F64) => &[
            Pattern::Wild,
            Pattern::Extreme,
            Pattern::Sorted,
            Pattern::FewDistinct,
            Pattern::Nans,
            Pattern::Zeros,
        ],
        _ => &[
            Pattern::Wild,
            Pattern::Extreme,
            Pattern::Sorted,
            Pattern::FewDistinct,
        ],
    }
}

/// Minima and maxima of floats, where a tile is full and where it is not.
fn extremes(sizes: &[usize], target: &'static str) {
    let mut number = 0;
    for n in sizes {
        for (kind, element) in [("minnumf", Element::F32), ("maxnumf", Element::F64)] {
            for pattern in [Pattern::Nans, Pattern::Zeros, Pattern::Extreme] {
                for op in OPS {
                    Kind {
                        op,
                        kind,
                        element,
                        n: *n,
                        pattern,
                        number,
                        target,
                    }
                    .check();
                    number += 1;
                }
            }
        }
    }
}

#[test]
fn extremes_of_nans_and_zeros() {
    extremes(&[0, 1, 2, 255, 257, 3000], "any");
    extremes(&[0, 1, 257, 3000, 131_073], "cpu");
    extremes(&[0, 1, 257, 3841, 30_000], "nvptx:sm_90");
}

fn kinds(sizes: &[usize], target: &'static str) {
    let mut number = 0;
    for n in sizes {
        for element in ELEMENTS {
            let is_float = matches!(element, Element::F32 | Element::F64);
            let kinds = if is_float {
                &FLOAT_KINDS[..]
            } else {
                &INT_KINDS
            };
            // Every kind at some size of each kind of size; every op at all.
            let taken = if *n < 10_000 { kinds.len() } else { 1 };
            for offset in 0..taken {
                let kind = kinds[(number / 3 + offset) % kinds.len()];
                // A product of sevens overflows a float soon.
                let n = if kind == "mul" && is_float {
                    *n % 32
                } else {
                    *n
                };
                let patterns = patterns(kind, element);
                let pattern = patterns[number % patterns.len()];
                let op = OPS[number % 3];
                Kind {
                    op,
                    kind,
                    element,
                    n,
                    pattern,
                    number,
                    target,
                }
                .check();
                number += 1;
            }
        }
    }
}

#[test]
fn kinds_at_all_sizes() {
    kinds(&SIZES, "any");
}

#[test]
fn kinds_where_latency_counts() {
    kinds(&[&SIZES[..], &CHUNKED_SIZES].concat(), "cpu");
}

/// Where blocks may wait for each other.
#[test]
fn kinds_where_throughput_counts() {
    kinds(&LOOK_BACK_SIZES, "nvptx:sm_90");
}

/// Several tiles a block.
#[test]
fn several_tiles_a_block() {
    Kind {
        op: "reduce",
        kind: "add",
        element: Element::F64,
        n: 2_000_000,
        pattern: Pattern::Small,
        number: 3,
        target: "nvptx:sm_90",
    }
    .check();
    affine("reduce", 1_500_000, 3, "nvptx:sm_90");
}

/// `x ↦ a·x + b`, composed: associative, and the order matters.
fn affine(op: &str, n: usize, number: usize, target: &'static str) {
    let depth = depth(n, number);
    let text = format!(
        "qd.grid.kernel @k(%a: memref<?xi32>, %b: memref<?xi64>, %ao: memref<?xi32>, %bo: memref<?xi64>,
                           %sa: memref<?xi32>, %sb: memref<?xi64>, %n: memref<i32>) {{
           qd.algo.{op} ins(%a, %b : memref<?xi32>, memref<?xi64>) outs(%ao, %bo : memref<?xi32>, memref<?xi64>)
             scratch(%sa, %sb : memref<?xi32>, memref<?xi64>) count(%n : memref<i32>) log256_max_n = {depth}
             identity [1 : i32, 0 : i64] combiner {{
             ^bb0(%la: i32, %lb: i64, %ra: i32, %rb: i64):
               %m = arith.muli %la, %ra : i32
               %w = arith.extsi %ra : i32 to i64
               %x = arith.muli %lb, %w : i64
               %y = arith.addi %x, %rb : i64
               qd.yield %m, %y : i32, i64
             }}
         }}"
    );
    // Odd factors of ±1 and ±3 never die out.
    let factors: Vec<_> = values(Element::I32, Pattern::Wild, n, number as u64)
        .into_iter()
        .map(|bits| {
            whole(
                Element::I32,
                [1, -1, 1, -1, 1, 1, -1, -1][bits as usize % 8],
            )
        })
        .collect();
    let offsets = values(Element::I64, Pattern::Small, n, number as u64 + 1);
    let garbage = |element| values(element, Pattern::Wild, length(op, n), 7);
    let slots = slots(op, n, depth);
    let mut case = Case::new(
        format!("{op} of {n} affine maps, D = {depth}"),
        text,
        number,
    )
    .with(buffer(Element::I32, &factors))
    .with(buffer(Element::I64, &offsets))
    .with_result(buffer(Element::I32, &garbage(Element::I32)))
    .with_result(buffer(Element::I64, &garbage(Element::I64)))
    .with(scratch(Element::I32, slots))
    .with(scratch(Element::I64, slots))
    .with(count(n));
    case.target = target;
    case.check();
}

#[test]
fn a_combiner_that_does_not_commute() {
    for target in ["any", "cpu"] {
        let mut number = 0;
        for n in SMALL_SIZES {
            for op in OPS {
                affine(op, n, number, target);
                number += 1;
            }
        }
        affine("exclusive_scan", 65_537, 1, target);
        affine("inclusive_scan", 65_536, 2, target);
        affine("reduce", 131_073, 0, target);
    }
    for (number, n) in LOOK_BACK_SIZES.into_iter().enumerate() {
        affine(OPS[number % 3], n, number, "nvptx:sm_90");
    }
}
