//! Results that are wider than the inputs, and wide elements.

use crate::kernel::turn;
use qd_conformance::{
    Argument, Data, Expect, Input, Subject, affordable, generate, given, report, scratch, slots,
};

const DEPTH: u32 = 2;
const SIZES: [usize; 4] = [1, 255, 4097, 20_000];
const SCANS: [&str; 3] = ["reduce", "exclusive_scan", "inclusive_scan"];

/// Elements of one algorithm that are made of narrower ones in front of it: `%w` of `%v`.
fn widened(narrow: &str, wide: &str, extend: &str, parameters: &str, algorithm: &str) -> Subject {
    Subject::new(format!(
        "qd.grid.kernel @main(%x: memref<?x{narrow}>, %y: memref<?x{wide}> {{qd.scratch}}, \
         %n: memref<i32>, {parameters}) {{
  %c0 = arith.constant 0 : index
  %len = memref.dim %x, %c0 : memref<?x{narrow}>
  qd.grid.for_each %i to %len count(%n : memref<i32>) {{
    %v = memref.load %x[%i] : memref<?x{narrow}>
    %w = {extend} %v : {narrow} to {wide}
    memref.store %w, %y[%i] : memref<?x{wide}>
  }}
  {algorithm} count(%n : memref<i32>) log256_max_n = {DEPTH}
}}"
    ))
}

/// Elements of the narrow type, as large as they come.
fn large(narrow: &str, n: usize) -> Data {
    let sign = |i: usize| if i % 5 == 3 { -1 } else { 1 };
    match narrow {
        "i8" => Data::I8((0..n).map(|i| sign(i) * (127 - (i % 3) as i8)).collect()),
        "i32" => {
            let number = |i: usize| i32::MAX - (i % 1000) as i32;
            Data::I32((0..n).map(|i| sign(i) as i32 * number(i)).collect())
        }
        // All multiples of 2^97, so that sums are exact in the wider type alone.
        _ => Data::F32(
            (0..n)
                .map(|i| f32::from(sign(i)) * 2f32.powi(97 + (i % 31) as i32))
                .collect(),
        ),
    }
}

fn unused(wide: &str, n: usize) -> Argument {
    let data = generate(wide, Input::AllEqual, n, 0);
    Argument {
        data,
        expect: Expect::Unused,
    }
}

fn result(wide: &str, n: usize) -> Argument {
    given(generate(wide, Input::AllEqual, n, 0))
}

/// Outputs wider than inputs: sums that no input's type holds are of the output's type
/// from the first partial result on. Types that differ without a conversion are an
/// error (`tests/filecheck/dialects/algo/invalid.mlir`); this is how it is written, and
/// nothing of the wider type is in memory in front of the algorithm.
#[test]
fn results_wider_than_elements() {
    for (narrow, wide, extend) in [
        ("i8", "i32", "arith.extsi"),
        ("i32", "i64", "arith.extsi"),
        ("f32", "f64", "arith.extf"),
    ] {
        let slot = if wide == "i32" { "i32" } else { "i64" };
        for (nth, algorithm) in SCANS.into_iter().enumerate() {
            let wave = turn(nth);
            let subject = widened(
                narrow,
                wide,
                extend,
                &format!("%o: memref<?x{wide}>, %s: memref<?x{slot}>"),
                &format!(
                    "qd.algo.{algorithm} add ins(%y : memref<?x{wide}>) \
                     outs(%o : memref<?x{wide}>) scratch(%s : memref<?x{slot}>)"
                ),
            );
            for n in affordable(SIZES) {
                let arguments = [
                    given(large(narrow, n + 3)),
                    unused(wide, n + 3),
                    given(Data::Count(n as i32)),
                    result(wide, n + 3),
                    scratch(slot, slots(algorithm, n + 3, DEPTH)),
                ];
                let about = format!("{algorithm} of {narrow} as {wide}, n = {n}");
                subject.check(wave, &arguments, &about);
            }
        }
        let wave = turn(SCANS.len());
        let subject = widened(
            narrow,
            wide,
            extend,
            &format!(
                "%k: memref<?xi32>, %ko: memref<?xi32>, %o: memref<?x{wide}>, %m: memref<i32>, \
                 %s: memref<?xi32>"
            ),
            &format!(
                "qd.algo.reduce_by_key add ins(%k, %y : memref<?xi32>, memref<?x{wide}>) \
                 outs(%ko, %o, %m : memref<?xi32>, memref<?x{wide}>, memref<i32>) \
                 scratch(%s : memref<?xi32>)"
            ),
        );
        for n in affordable(SIZES) {
            let arguments = [
                given(large(narrow, n + 3)),
                unused(wide, n + 3),
                given(Data::Count(n as i32)),
                given(generate("i32", Input::Grouped, n + 3, 0)),
                result("i32", n + 3),
                result(wide, n + 3),
                given(Data::Count(-1)),
                scratch("i32", slots("reduce_by_key", n + 3, DEPTH)),
            ];
            let about = format!("reduce_by_key of {narrow} as {wide}, n = {n}");
            subject.check(wave, &arguments, &about);
        }
    }
    report("results wider than elements");
}

/// Numbers of a row.
const ROW: usize = 8;

fn rows(n: usize) -> Data {
    generate("i64", Input::Random, n * ROW, 3).rows(ROW)
}

/// Elements of 64 bytes that are moved: rows of 8 `i64`, which are what an element may
/// be that is wider than 8 bytes.
#[test]
fn rows_of_64_bytes() {
    const ROWS: &str = "memref<?x8xi64>";
    let unwritten = |n: usize| given(Data::I64(vec![7; n * ROW]).rows(ROW));
    for (nth, algorithm) in ["select", "partition"].into_iter().enumerate() {
        let wave = turn(nth);
        let subject = Subject::new(format!(
            "qd.grid.kernel @main(%a: {ROWS}, %f: memref<?xi32>, %o: {ROWS}, %m: memref<i32>, \
             %s: memref<?xi32>, %n: memref<i32>) {{
  qd.algo.{algorithm} ins(%a, %f : {ROWS}, memref<?xi32>) outs(%o, %m : {ROWS}, memref<i32>)
    scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
}}"
        ));
        for n in affordable(SIZES) {
            let arguments = [
                given(rows(n + 3)),
                given(generate("i32", Input::FewDistinct, n + 3, 1)),
                unwritten(n + 3),
                given(Data::Count(-1)),
                scratch("i32", slots(algorithm, n + 3, DEPTH)),
                given(Data::Count(n as i32)),
            ];
            subject.check(wave, &arguments, &format!("{algorithm} of {n} rows"));
        }
    }
    for (nth, key) in ["i32", "i64"].into_iter().enumerate() {
        let wave = turn(nth + 1);
        let subject = Subject::new(format!(
            "qd.grid.kernel @main(%k: memref<?x{key}>, %t: memref<?x{key}>, %v: {ROWS}, \
             %w: {ROWS}, %s: memref<?xi32>, %n: memref<i32>) {{
  qd.algo.sort keys(%k, %t : memref<?x{key}>, memref<?x{key}>) values(%v, %w : {ROWS}, {ROWS})
    scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
}}"
        ));
        for n in affordable(SIZES) {
            let workspace = |data| Argument {
                data,
                expect: Expect::Scratch,
            };
            let arguments = [
                given(generate(key, Input::Random, n + 3, 2)),
                workspace(generate(key, Input::AllEqual, n + 3, 0)),
                given(rows(n + 3)),
                workspace(rows(n + 3)),
                scratch("i32", slots("sort", n + 3, DEPTH)),
                given(Data::Count(n as i32)),
            ];
            subject.check(wave, &arguments, &format!("sort {key} with {n} rows"));
        }
    }
    report("rows of 64 bytes");
}

/// Elements of 64 bytes that are combined: 8 `i64` side by side, by a region. They are
/// four affine maps, each composed with its like: associative, not commutative. No
/// tile of such fits shared memory as tiles of scalars do.
#[test]
fn combined_elements_of_64_bytes() {
    let each = |one: &dyn Fn(usize) -> String| (0..ROW).map(one).collect::<Vec<_>>().join(", ");
    let named = |name: &str| each(&|i| format!("%{name}{i}"));
    let arrays = each(&|_| "memref<?xi64>".into());
    let declared = |name: &str| each(&|i| format!("%{name}{i}: memref<?xi64>"));
    let numbers = |name: &str| each(&|i| format!("%{name}{i}: i64"));
    let composed: String = (0..ROW)
        .step_by(2)
        .map(|i| {
            let j = i + 1;
            format!(
                "%x{i} = arith.muli %l{i}, %r{i} : i64
    %y{i} = arith.muli %l{j}, %r{i} : i64
    %x{j} = arith.addi %y{i}, %r{j} : i64\n"
            )
        })
        .collect();
    for (nth, algorithm) in SCANS.into_iter().enumerate() {
        let wave = turn(nth);
        let subject = Subject::new(format!(
            "qd.grid.kernel @main({}, {}, {}, %n: memref<i32>) {{
  qd.algo.{algorithm} ins({} : {arrays}) outs({} : {arrays}) scratch({} : {arrays})
    count(%n : memref<i32>) log256_max_n = {DEPTH} identity [{}] combiner {{
  ^bb0({}, {}):
    {composed}
    qd.yield {} : {}
  }}
}}",
            declared("a"),
            declared("o"),
            declared("s"),
            named("a"),
            named("o"),
            named("s"),
            each(&|i| format!("{} : i64", (i + 1) % 2)),
            numbers("l"),
            numbers("r"),
            named("x"),
            each(&|_| "i64".into()),
        ));
        for n in affordable(SIZES) {
            let length = n + 3;
            let of = |one: &dyn Fn(u64) -> Argument| (0..ROW as u64).map(one).collect::<Vec<_>>();
            let mut arguments = of(&|i| given(generate("i64", Input::Random, length, i)));
            arguments.extend(of(&|_| result("i64", length)));
            let slots = slots(algorithm, length, DEPTH);
            arguments.extend(of(&|_| scratch("i64", slots)));
            arguments.push(given(Data::Count(n as i32)));
            let about = format!("{algorithm} of {n} elements of 64 bytes");
            subject.check(wave, &arguments, &about);
        }
    }
    report("combined elements of 64 bytes");
}
