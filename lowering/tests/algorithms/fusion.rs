//! A map in front of every strategy of the algorithms, with and without fusion.
//!
//! The map's input has room for the live elements and for no more, while the scratch
//! between is longer: computing an element that does not exist is a fault.

use crate::{
    data::{Pattern, buffer, count, scratch, values},
    support::{Case, context, depth, parse},
};
use qd_dialects::pass;
use qd_interp::{Buffer, Element};
use qd_lowering::algorithms::scratch as sizing;

const SIZES: [usize; 10] = [0, 1, 255, 256, 257, 4095, 4096, 4097, 20_000, 66_000];

const STRATEGIES: [&str; 5] = [
    "chunked",
    "lookback",
    "reduce_then_scan",
    "tiled",
    "hierarchical",
];

/// An algorithm that reads `%y`, which a map makes of `%x`.
struct Fused {
    name: &'static str,
    map: &'static str,
    algorithm: &'static str,
    slots: fn(u64, u32) -> u64,
}

const SQUARE: &str = "arith.muli %v, %v";
const IS_ODD: &str = "arith.andi %v, %one";

const ALL: [Fused; 5] = [
    Fused {
        name: "reduce",
        map: SQUARE,
        algorithm: "qd.algo.reduce add ins(%y : memref<?xi32>) outs(%o : memref<?xi32>)",
        slots: |n, depth| sizing::reduce_scratch_slots(n, Some(depth)).expect("a depth"),
    },
    Fused {
        name: "scan",
        map: SQUARE,
        algorithm: "qd.algo.inclusive_scan add ins(%y : memref<?xi32>) outs(%o : memref<?xi32>)",
        slots: |n, depth| sizing::scan_scratch_slots(n, Some(depth)).expect("a depth"),
    },
    Fused {
        name: "select",
        map: IS_ODD,
        algorithm: "qd.algo.select ins(%x, %y : memref<?xi32>, memref<?xi32>)
                      outs(%o, %num : memref<?xi32>, memref<i32>)",
        slots: |n, _| sizing::select_scratch_slots(n),
    },
    Fused {
        name: "partition",
        map: IS_ODD,
        algorithm: "qd.algo.partition ins(%x, %y : memref<?xi32>, memref<?xi32>)
                      outs(%o, %num : memref<?xi32>, memref<i32>)",
        slots: |n, _| sizing::select_scratch_slots(n),
    },
    Fused {
        name: "reduce_by_key",
        map: SQUARE,
        algorithm: "qd.algo.reduce_by_key add ins(%k, %y : memref<?xi32>, memref<?xi32>)
                      outs(%p, %o, %num : memref<?xi32>, memref<?xi32>, memref<i32>)",
        slots: |n, _| sizing::reduce_by_key_scratch_slots(n),
    },
];

impl Fused {
    fn text(&self, strategy: &str, depth: u32) -> String {
        format!(
            "qd.grid.kernel @k(%x: memref<?xi32>, %k: memref<?xi32>, %y: memref<?xi32> {{qd.scratch}},
                               %o: memref<?xi32>, %p: memref<?xi32>, %num: memref<i32>, %s: memref<?xi32>,
                               %n: memref<i32>) {{
               %c0 = arith.constant 0 : index
               %one = arith.constant 1 : i32
               %len = memref.dim %x, %c0 : memref<?xi32>
               qd.grid.for_each \"map\" %i to %len count(%n : memref<i32>) {{
                 %v = memref.load %x[%i] : memref<?xi32>
                 %w = {} : i32
                 memref.store %w, %y[%i] : memref<?xi32>
               }}
               {} scratch(%s : memref<?xi32>) count(%n : memref<i32>)
                 log256_max_n = {depth} strategy = \"{strategy}\"
             }}",
            self.map, self.algorithm
        )
    }

    fn has(&self, strategy: &str) -> bool {
        match strategy {
            "tiled" => self.name == "reduce",
            "lookback" => !["reduce", "partition"].contains(&self.name),
            "reduce_then_scan" => ["select", "partition"].contains(&self.name),
            _ => true,
        }
    }

    fn case(&self, strategy: &str, n: usize, number: usize) -> Case {
        let depth = depth(n, number);
        let longer = n + [0, 700][number % 2];
        let i32s =
            |pattern, length| buffer(Element::I32, &values(Element::I32, pattern, length, 7));
        Case::new(
            format!("{} {strategy} of {n}, {depth} deep", self.name),
            self.text(strategy, depth),
            number,
        )
        .with(i32s(Pattern::Wild, n))
        .with(i32s(Pattern::Runs, n))
        .with(scratch(Element::I32, longer as u64))
        .with_result(i32s(Pattern::AllEqual, longer.max(1)))
        .with_result(i32s(Pattern::AllEqual, longer))
        .with_result(Buffer::scalar(-5).into())
        .with(scratch(Element::I32, (self.slots)(n as u64, depth)))
        .with(count(n))
    }
}

fn check(algorithm: &str) {
    let fused = ALL.iter().find(|fused| fused.name == algorithm);
    let fused = fused.expect("in the table");
    let mut number = 0;
    for strategy in STRATEGIES.into_iter().filter(|s| fused.has(s)) {
        for n in SIZES {
            fused.case(strategy, n, number).check();
            number += 1;
        }
    }
}

#[test]
fn into_reduce() {
    check("reduce");
}

#[test]
fn into_scan() {
    check("scan");
}

#[test]
fn into_select() {
    check("select");
}

#[test]
fn into_partition() {
    check("partition");
}

#[test]
fn into_reduce_by_key() {
    check("reduce_by_key");
}

#[test]
fn there_is_no_map_left() {
    let context = context();
    for fused in &ALL {
        for strategy in STRATEGIES.into_iter().filter(|s| fused.has(s)) {
            for depth in 1..=4 {
                let text = fused.text(strategy, depth);
                let grid = |text: &str| {
                    let mut module = parse(&context, text);
                    pass::run_pipeline(&context, &mut module, "qd-to-grid").expect("a strategy");
                    module.as_operation().to_string()
                };
                assert!(!grid(&text).contains("\"map\""), "{text}");
                assert!(
                    grid(&text.replace("{qd.scratch}", "")).contains("\"map\""),
                    "{text}"
                );
            }
        }
    }
}
