//! The shape of an expansion: the number of launches, and its behaviour on empty
//! inputs.

use crate::{
    data::{buffer, count, scratch},
    support::{Case, context, parse},
};
use qd_dialects::pass;
use qd_interp::{Buffer, Element, Options, interpret};

fn launches(op: &str, depth: u32, target: &str) -> usize {
    let context = context();
    let text = format!(
        "qd.grid.kernel @k(%a: memref<?xi32>, %b: memref<?xi32>, %c: memref<?xi32>, %d: memref<?xi32>,
                           %s: memref<?xi32>, %n: memref<i32>, %m: memref<i32>) {{
           qd.algo.{op} scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth}
         }}"
    );
    let mut module = parse(&context, &text);
    let passes = format!("qd-expand-algorithms{{target={target}}}");
    pass::run_pipeline(&context, &mut module, &passes).unwrap();
    let text = module.as_operation().to_string();
    ["qd.grid.phase", "qd.grid.fill"]
        .map(|step| text.matches(step).count())
        .iter()
        .sum()
}

/// A tile; or a clear, a histogram and a sweep a digit, and a copy if their number
/// is odd. Which of both the buffers' length decides, if the capacity does not.
#[test]
fn launches_of_one_sweep() {
    let launches = |depth: u32, end_bit: u32| {
        let context = context();
        let text = format!(
            "qd.grid.kernel @k(%a: {B}, %b: {B}, %s: {B}, %n: memref<i32>) {{
               qd.algo.sort keys(%a, %b : {B}, {B}) scratch(%s : {B}) count(%n : memref<i32>)
                 log256_max_n = {depth} end_bit = {end_bit} strategy = \"onesweep\"
             }}"
        );
        let mut module = parse(&context, &text);
        pass::run_pipeline(&context, &mut module, "qd-expand-algorithms").unwrap();
        let text = module.as_operation().to_string();
        text.matches("qd.grid.phase").count() + text.matches("qd.grid.fill").count()
    };
    let ends = [8, 16, 24, 32];
    assert_eq!(ends.map(|end| launches(1, end)), [1; 4]);
    for depth in 2..=4 {
        let several = [3 + 1, 4, 5 + 1, 6];
        assert_eq!(ends.map(|end| launches(depth, end)), several.map(|n| n + 1));
    }
}

/// What fits a tile is sorted in one launch, and the others have no blocks.
#[test]
fn blocks_of_one_sweep() {
    let context = context();
    let text = format!(
        "qd.grid.kernel @k(%a: {B}, %b: {B}, %s: {B}, %n: memref<i32>) {{
           qd.algo.sort keys(%a, %b : {B}, {B}) scratch(%s : {B}) count(%n : memref<i32>)
             log256_max_n = 4 end_bit = 8 strategy = \"onesweep\"
         }}"
    );
    let mut module = parse(&context, &text);
    pass::run_pipeline(&context, &mut module, "qd-to-grid{target=any}").unwrap();
    let blocks = |length: usize| {
        let keys = buffer(Element::I32, &vec![7; length]);
        let scratch = scratch(Element::I32, 256);
        let mut arguments = [keys.clone(), keys, scratch, count(2)];
        let report = interpret(&module, "k", &mut arguments, &Options::default());
        report.unwrap().blocks
    };
    assert_eq!([0, 2, 8192].map(blocks), [0, 1, 1]);
    // A histogram and a sweep of two tiles, and a copy of 33.
    assert_eq!(blocks(8193), 2 + 2 + 33);
}

const B: &str = "memref<?xi32>";

#[test]
fn launches_by_depth() {
    let one = format!("ins(%a : {B}) outs(%b : {B})");
    let compact = format!("ins(%a, %b : {B}, {B}) outs(%c, %m : {B}, memref<i32>)");
    let by_key = format!("ins(%a, %b : {B}, {B}) outs(%c, %d, %m : {B}, {B}, memref<i32>)");
    let keys = format!("keys(%a, %b : {B}, {B})");
    let ops = [
        format!("reduce add {one}"),
        format!("exclusive_scan add {one}"),
        format!("inclusive_scan add {one}"),
        format!("select {compact}"),
        format!("partition {compact}"),
        format!("reduce_by_key add {by_key}"),
        format!("sort {keys}"),
    ];
    for depth in 1..=4 {
        let d = depth as usize;
        let sweep = 2 * d - 1;
        let any = [1, sweep, sweep, sweep, sweep, sweep, 4 * (2 * d + 1)];
        // A clear and a sweep, or a pass that counts and one that moves.
        let two = sweep.min(2);
        let many = [1, two, two, two, two, two, if d == 1 { 1 } else { 7 }];
        for (target, expected) in [("any", any), ("nvptx:sm_90", many)] {
            for (op, expected) in ops.iter().zip(expected) {
                assert_eq!(
                    launches(op, depth, target),
                    expected,
                    "{op} {depth} {target}"
                );
            }
        }
    }
}

/// Blocks follow the buffers' lengths and the capacity, and never the count.
#[test]
fn a_small_count_in_a_large_buffer() {
    for (strategy, phases, blocks) in [("tiled", 1, 98), ("hierarchical", 4, 391 + 2 + 1 + 1)] {
        let context = context();
        let text = format!(
            "qd.grid.kernel @k(%a: {B}, %out: memref<1xi32>, %s: {B}, %n: memref<i32>) {{
               qd.algo.reduce add ins(%a : {B}) outs(%out : memref<1xi32>) scratch(%s : {B})
                 count(%n : memref<i32>) log256_max_n = 4 strategy = \"{strategy}\"
             }}"
        );
        let mut module = parse(&context, &text);
        pass::run_pipeline(&context, &mut module, "qd-to-grid{target=any}").unwrap();
        let mut arguments = [
            buffer(Element::I32, &vec![1; 100_000]),
            buffer(Element::I32, &[0]),
            scratch(Element::I32, 3),
            count(2),
        ];
        let report = interpret(&module, "k", &mut arguments, &Options::default()).unwrap();
        assert_eq!((report.phases, report.blocks), (phases, blocks));
        assert_eq!(arguments[1], buffer(Element::I32, &[2]));
    }
}

/// A loop repeats what its algorithms become, on data that changes, with a live
/// count that the loop itself computes: halved until nothing is left.
#[test]
fn in_a_loop() {
    let text = "qd.grid.kernel @k(%a: memref<?xi32>, %o: memref<?xi32>, %sum: memref<1xi32>,
                                  %s: memref<?xi32>, %n: memref<i32>) {
        %c1 = arith.constant 1 : index
        %c0 = arith.constant 0 : index
        %len = memref.dim %a, %c0 : memref<?xi32>
        qd.grid.do_while %n : memref<i32> {
          qd.algo.inclusive_scan add ins(%a : memref<?xi32>) outs(%o : memref<?xi32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
          qd.grid.for_each %i to %len count(%n : memref<i32>) {
            %v = memref.load %o[%i] : memref<?xi32>
            memref.store %v, %a[%i] : memref<?xi32>
          }
          qd.algo.reduce add ins(%o : memref<?xi32>) outs(%sum : memref<1xi32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
          qd.grid.phase blocks(%c1) threads(64) {
            %t = qd.simt.block.thread_id
            %first = arith.cmpi eq, %t, %c0 : index
            scf.if %first {
              %two = arith.constant 2 : i32
              %live = memref.load %n[] : memref<i32>
              %half = arith.divui %live, %two : i32
              memref.store %half, %n[] : memref<i32>
            }
          }
        }
      }";
    for (number, target) in ["any", "cpu"].into_iter().enumerate() {
        let mut case = Case::new(format!("a loop, for {target}"), text.into(), number)
            .with_result(buffer(Element::I32, &[1; 700]))
            .with_result(buffer(Element::I32, &[0; 700]))
            .with_result(buffer(Element::I32, &[0]))
            .with(scratch(Element::I32, 3))
            .with_result(Buffer::scalar(700).into());
        case.target = target;
        case.check();
    }
}
