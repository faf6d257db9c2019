//! Elements of less than 32 bits, on a target against the interpreter: in memory, in
//! arithmetic, in collectives and in algorithms; and atomics on elements of all widths.

mod atomics;

use qd_conformance::{
    Argument, Data, Expect, Input, Subject, any_wave, generate, given, output, report, scratch,
    slots, waves,
};
use std::fmt::Write;

const THREADS: usize = 64;
const BLOCKS: usize = 3;
const N: usize = THREADS * BLOCKS;

const NARROW: [&str; 5] = ["i1", "i8", "i16", "f16", "bf16"];

fn is_float(element: &str) -> bool {
    element.contains('f')
}

/// A kernel whose every thread loads `%x` and `%y`, and stores what each of `results` makes
/// of them: ops that define `%r`, and its type.
fn kernel(x: &str, y: &str, results: &[(String, &str)]) -> Subject {
    let (mut outputs, mut body) = (String::new(), String::new());
    for (k, (ops, r)) in results.iter().enumerate() {
        write!(outputs, ", %o{k}: memref<?x{r}>").expect("a string");
        // Names of one result do not meet those of another.
        let ops = ops.replace("%r", &format!("%r{k}_"));
        let ops = ops.replace("%t", &format!("%t{k}_"));
        write!(
            body,
            "{ops}\n    memref.store %r{k}_, %o{k}[%i] : memref<?x{r}>\n    "
        )
        .expect("a string");
    }
    Subject::new(format!(
        "qd.grid.kernel @main(%a: memref<?x{x}>, %b: memref<?x{y}>{outputs}) {{
  %blocks = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %x = memref.load %a[%i] : memref<?x{x}>
    %y = memref.load %b[%i] : memref<?x{y}>
    {body}
  }}
}}"
    ))
}

fn check(wave: u32, x: (&str, Data), y: (&str, Data), results: &[(String, &str)], about: &str) {
    let mut arguments = vec![given(x.1), given(y.1)];
    for (_, r) in results {
        arguments.push(output(r, N, Expect::Written));
    }
    kernel(x.0, y.0, results).check(wave, &arguments, about);
}

#[test]
fn integers() {
    let wave = any_wave();
    for element in ["i1", "i8", "i16"] {
        let two = |name: &str| (format!("%r = arith.{name} %x, %y : {element}"), element);
        let names = [
            "addi", "subi", "muli", "andi", "ori", "xori", "minsi", "minui", "maxsi", "maxui",
        ];
        let mut results: Vec<_> = names.into_iter().map(two).collect();
        let cast = |op: &str, to| (format!("%r = arith.{op} %x : {element} to {to}"), to);
        for to in ["i32", "i64"] {
            results.extend([cast("extsi", to), cast("extui", to)]);
        }
        for to in ["f16", "bf16", "f32"] {
            results.extend([cast("sitofp", to), cast("uitofp", to)]);
        }
        let compare = format!("%r = arith.cmpi slt, %x, %y : {element}");
        results.push((compare, "i1"));
        let of = |seed| (element, generate(element, Input::Random, N, seed));
        check(wave, of(1), of(2), &results, element);
    }
    report("narrow integers");
}

#[test]
fn floats() {
    let wave = any_wave();
    for element in ["f16", "bf16"] {
        let one = |op: &str| (format!("%r = {op} %x : {element}"), element);
        let two = |op: &str| (format!("%r = {op} %x, %y : {element}"), element);
        let mut results = vec![
            one("arith.negf"),
            one("math.absf"),
            one("math.sqrt"),
            one("math.floor"),
            two("arith.addf"),
            two("arith.subf"),
            two("arith.mulf"),
            two("arith.divf"),
            two("arith.minnumf"),
            two("arith.maximumf"),
            two("math.copysign"),
        ];
        results.extend([
            (format!("%r = math.fma %x, %y, %y : {element}"), element),
            (format!("%r = arith.extf %x : {element} to f32"), "f32"),
            (format!("%r = arith.extf %x : {element} to f64"), "f64"),
            (format!("%r = arith.cmpf olt, %x, %y : {element}"), "i1"),
            (format!("%r = arith.cmpf une, %x, %y : {element}"), "i1"),
            (format!("%r = math.isnan %x : {element}"), "i1"),
            (format!("%r = math.isnormal %x : {element}"), "i1"),
            (format!("%r = arith.bitcast %x : {element} to i16"), "i16"),
            (
                format!(
                    "%t = arith.constant 1.0009765625 : {element}
    %r = arith.mulf %x, %t : {element}"
                ),
                element,
            ),
        ]);
        let (few, rest) = results.split_at(10);
        for (salt, results) in [few, rest].into_iter().enumerate() {
            let of = |seed| (element, generate(element, Input::Random, N, seed));
            check(wave, of(1 + salt as u64), of(8), results, element);
            // Numbers next to each other, whose sums and quotients are halfway between two.
            let of = |seed| (element, near_one(element, N, seed));
            check(wave, of(3), of(4), results, element);
        }
    }
    report("narrow floats");
}

/// `n` numbers about 1, and about the smallest.
fn near_one(element: &str, n: usize, seed: u64) -> Data {
    let Data::I32(random) = generate("i32", Input::Random, n, seed) else {
        unreachable!("integers were asked for")
    };
    let one: i32 = if element == "f16" { 0x3C00 } else { 0x3F80 };
    let bits = random
        .into_iter()
        .map(|r| (if r & 0x100 == 0 { one } else { 0 }) + (r & 0x3F) + (r >> 16 & 0x8000))
        .map(|bits| bits as u16)
        .collect();
    if element == "f16" {
        Data::F16(bits)
    } else {
        Data::BF16(bits)
    }
}

/// What is rounded to 16 bits: floats and integers on both sides of what is halfway.
#[test]
fn roundings() {
    let wave = any_wave();
    let step = |i: usize| [0, 1, -1, 0x1000, 0x0FFF, 0x1001, 0x8000, 0x7FFF][i % 8];
    let exponent = |i: usize| (i * 7 % 48) as i64 - 28;
    let double = |i: usize| {
        // Of the last digits of `f64`, too, which `f32` has not.
        let digits = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 12;
        let digits = [digits, 1 << 41, (1 << 41) + 1, (1 << 44) - 1, (3 << 41) | 1][i % 5];
        let biased = (1023 + exponent(i)) as u64;
        f64::from_bits((i as u64 & 1) << 63 | biased << 52 | digits)
    };
    let doubles: Vec<f64> = (0..N).map(double).collect();
    let singles: Vec<f32> = (0..N)
        .map(|i| {
            f32::from_bits((doubles[i] as f32).to_bits() & !0x1FFF | (step(i) as u32 & 0x1FFF))
        })
        .collect();
    let long: Vec<i64> = (0..N)
        .map(|i| (1_i64 << (i % 62)) + (1 << (i % 62) >> 8) + i64::from(step(i) % 2))
        .collect();
    let words: Vec<i32> = long.iter().map(|x| (*x >> 20) as i32).collect();
    let to = |op: &str, value: &str, from: &str| {
        ["f16", "bf16"].map(|half| (format!("%r = arith.{op} %{value} : {from} to {half}"), half))
    };
    let results = [to("truncf", "x", "f64"), to("truncf", "y", "f32")].concat();
    let (x, y) = (Data::F64(doubles), Data::F32(singles));
    check(wave, ("f64", x), ("f32", y), &results, "from floats");
    let mut results = [to("sitofp", "x", "i64"), to("uitofp", "x", "i64")].concat();
    results.extend([to("sitofp", "y", "i32"), to("uitofp", "y", "i32")].concat());
    let (x, y) = (Data::I64(long), Data::I32(words));
    check(wave, ("i64", x), ("i32", y), &results, "from integers");
    report("roundings");
}

/// Numbers of which sums of a subgroup's lanes are exact in every order.
fn small(element: &str, seed: u64) -> Data {
    let Data::I32(random) = generate("i32", Input::Random, N, seed) else {
        unreachable!("integers were asked for")
    };
    let pick = |of: [u16; 4]| random.iter().map(|r| of[(r & 3) as usize]).collect();
    match element {
        "f16" => Data::F16(pick([0, 0x3C00, 0xBC00, 0x4000])),
        "bf16" => Data::BF16(pick([0, 0x3F80, 0xBF80, 0x4000])),
        _ => generate(element, Input::Random, N, seed),
    }
}

fn kinds(element: &str) -> &'static [&'static str] {
    match is_float(element) {
        true => &["add", "minnumf", "maxnumf"],
        false => &[
            "add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor",
        ],
    }
}

#[test]
fn subgroups() {
    for (t, element) in NARROW.into_iter().enumerate() {
        let wave = waves()[t % waves().len()];
        let lane = generate("i32", Input::Random, N, 7);
        let Data::I32(lane) = lane else {
            unreachable!()
        };
        let lane = Data::I32(lane.into_iter().map(|l| l & (wave as i32 - 1)).collect());
        let mut results = Vec::new();
        for mode in ["idx", "xor", "up"] {
            let op = format!("%r = qd.simt.shuffle {mode} %x, %y : {element}");
            results.push((op, element));
        }
        let constant = "%t = arith.constant 3 : i32\n    %r = qd.simt";
        results.push((format!("{constant}.broadcast %x, %t : {element}"), element));
        results.push((
            format!("{constant}.rotate %x, %t tile(2) : {element}"),
            element,
        ));
        results.push((
            format!("%r = qd.simt.broadcast_first %x : {element}"),
            element,
        ));
        results.push((
            format!("%r = qd.simt.all_equal %x tile(1) : {element}"),
            "i1",
        ));
        if !is_float(element) {
            results.push((format!("%r = qd.simt.match_any %x : {element}"), "i64"));
            results.push((format!("%r = qd.simt.match_all %x : {element}"), "i64"));
        }
        results.push((
            format!("%r, %t = qd.simt.bitonic_sort_kv %y, %x : i32, {element}"),
            "i32",
        ));
        let given = small(element, 5);
        let x = || (element, given.clone());
        check(wave, x(), ("i32", lane.clone()), &results, element);
        let mut results = Vec::new();
        for kind in kinds(element) {
            for op in ["reduce_all", "inclusive_scan", "exclusive_scan"] {
                results.push((format!("%r = qd.simt.{op} {kind} %x : {element}"), element));
            }
        }
        results.push((
            format!(
                "%t = qd.simt.elect
    %r = qd.simt.segmented_reduce {} %x heads %t tile(2) : {element}",
                kinds(element)[1]
            ),
            element,
        ));
        check(wave, x(), ("i32", lane.clone()), &results, element);
        let mut results = Vec::new();
        for kind in kinds(element) {
            for op in ["reduce_all", "exclusive_scan"] {
                let op = format!("%r = qd.simt.block.{op} {kind} %x : {element}");
                results.push((op, element));
            }
        }
        check(wave, x(), ("i32", lane), &results, element);
    }
    report("narrow collectives");
}

/// The lower of two, and what goes with it: a float of 16 bits, a byte and a word.
const LOWER: &str = "identity [0x7C00 : f16, 0 : i8, 0 : i32] combiner {
  ^bb0(%la: f16, %lb: i8, %lc: i32, %ra: f16, %rb: i8, %rc: i32):
    %left = arith.cmpf ole, %la, %ra : f16
    %key = arith.select %left, %la, %ra : f16
    %byte = arith.select %left, %lb, %rb : i8
    %word = arith.select %left, %lc, %rc : i32
    qd.yield %key, %byte, %word : f16, i8, i32
  }";

/// Values of different widths in one collective, by a region.
#[test]
fn mixed() {
    let wave = any_wave();
    let body = |scope: &str| {
        format!("%r, %t, %t_ = qd.simt.{scope}reduce_all %x, %tb, %y : f16, i8, i32 {LOWER}")
    };
    let results = ["", "block."].map(|scope| {
        let byte = "%tb = arith.trunci %y : i32 to i8\n    ";
        (format!("{byte}{}", body(scope)), "f16")
    });
    let y = generate("i32", Input::Random, N, 3);
    check(
        wave,
        ("f16", small("f16", 4)),
        ("i32", y),
        &results,
        "mixed",
    );
    report("mixed");
}

fn sizes() -> [usize; 4] {
    [0, 1, 257, 3000]
}

/// `n` elements that an algorithm combines: floats among which no sum is rounded, or whose sums
/// are, in a fixed order.
fn summands(element: &str, kind: &str, order: &str, n: usize) -> Data {
    if kind != "add" || !is_float(element) {
        return generate(element, Input::Random, n, 1);
    }
    if !order.is_empty() {
        return near_one(element, n, 1);
    }
    // One in 64 is not 0.
    let Data::I32(random) = generate("i32", Input::Random, n, 1) else {
        unreachable!("integers were asked for")
    };
    let one = if element == "f16" { 0x3C00 } else { 0x3F80 };
    let bits = random.iter().map(|r| if r & 63 == 0 { one } else { 0 });
    match element {
        "f16" => Data::F16(bits.collect()),
        _ => Data::BF16(bits.collect()),
    }
}

fn combining(algorithm: &str) {
    for (t, element) in NARROW.into_iter().enumerate() {
        let kinds = kinds(element);
        // Each type has some of its kinds here.
        for kind in [
            kinds[0],
            kinds[(t + 1) % kinds.len()],
            kinds[kinds.len() - 1],
        ] {
            for order in ["", "deterministic"] {
                let is_ordered = order.is_empty() || (is_float(element) && kind == "add");
                if !is_ordered {
                    continue;
                }
                let source = format!(
                    "qd.grid.kernel @main(%a: memref<?x{element}>, %o: memref<?x{element}>, \
                     %s: memref<?xi32>, %n: memref<i32>) {{
                       qd.algo.{algorithm} {kind} ins(%a : memref<?x{element}>) \
                     outs(%o : memref<?x{element}>) scratch(%s : memref<?xi32>) \
                     count(%n : memref<i32>) log256_max_n = 2 {order}
                     }}"
                );
                let wave = waves()[t % waves().len()];
                for n in sizes() {
                    let out = if algorithm == "reduce" { 1 } else { n };
                    Subject::new(&source).check(
                        wave,
                        &[
                            given(summands(element, kind, order, n)),
                            output(element, out, Expect::Same),
                            scratch("i32", slots(algorithm, n, 2)),
                            given(Data::Count(n as i32)),
                        ],
                        &format!("{algorithm} {kind} {element} {order}, n = {n}"),
                    );
                }
            }
        }
    }
    report(algorithm);
}

#[test]
fn reduce() {
    combining("reduce");
}

#[test]
fn scans() {
    combining("exclusive_scan");
    combining("inclusive_scan");
}

#[test]
fn a_reduction_of_mixed_scalars() {
    let source = format!(
        "qd.grid.kernel @main(%a: memref<?xf16>, %b: memref<?xi8>, %c: memref<?xi32>, \
         %x: memref<1xf16>, %y: memref<1xi8>, %z: memref<1xi32>, \
         %s: memref<?xi32>, %t: memref<?xi32>, %u: memref<?xi32>, %n: memref<i32>) {{
           qd.algo.reduce ins(%a, %b, %c : memref<?xf16>, memref<?xi8>, memref<?xi32>) \
         outs(%x, %y, %z : memref<1xf16>, memref<1xi8>, memref<1xi32>) \
         scratch(%s, %t, %u : memref<?xi32>, memref<?xi32>, memref<?xi32>) \
         count(%n : memref<i32>) log256_max_n = 2 {LOWER}
         }}"
    );
    for n in sizes() {
        let Data::F16(keys) = generate("f16", Input::Random, n, 1) else {
            unreachable!("halves were asked for")
        };
        // No NaN: it is below nothing.
        let keys = keys.into_iter().map(|bits| bits & 0xBBFF).collect();
        let scratch = || scratch("i32", slots("reduce", n, 2));
        let result = |element| output(element, 1, Expect::Same);
        Subject::new(&source).check(
            any_wave(),
            &[
                given(Data::F16(keys)),
                given(generate("i8", Input::Random, n, 2)),
                given(generate("i32", Input::Random, n, 3)),
                result("f16"),
                result("i8"),
                result("i32"),
                scratch(),
                scratch(),
                scratch(),
                given(Data::Count(n as i32)),
            ],
            &format!("mixed, n = {n}"),
        );
    }
    report("mixed reductions");
}

#[test]
fn sort() {
    for (t, (key, unsigned)) in [
        ("i1", ""),
        ("i8", ""),
        ("i8", "unsigned"),
        ("i16", ""),
        ("i16", "unsigned"),
        ("f16", ""),
        ("bf16", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let value = ["i32", "f16", "i8", "i64", "bf16", "i1", "i16"][t];
        let source = format!(
            "qd.grid.kernel @main(%k: memref<?x{key}>, %v: memref<?x{value}>, \
             %tk: memref<?x{key}>, %tv: memref<?x{value}>, %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.sort keys(%k, %tk : memref<?x{key}>, memref<?x{key}>) \
             values(%v, %tv : memref<?x{value}>, memref<?x{value}>) scratch(%s : memref<?xi32>) \
             count(%n : memref<i32>) log256_max_n = 2 {unsigned}
             }}"
        );
        for n in sizes() {
            Subject::new(&source).check(
                waves()[t % waves().len()],
                &[
                    given(generate(key, Input::Random, n, 1)),
                    given(generate(value, Input::Random, n, 2)),
                    output(key, n, Expect::Ignored),
                    output(value, n, Expect::Ignored),
                    scratch("i32", slots("sort", n, 2)),
                    given(Data::Count(n as i32)),
                ],
                &format!("sort {key} {unsigned} with {value}, n = {n}"),
            );
        }
    }
    report("sort");
}

#[test]
fn reduce_by_key() {
    let cases = [
        ("i8", "i16", "add", ""),
        ("f16", "i32", "minsi", ""),
        ("i32", "f16", "add", ""),
        ("bf16", "bf16", "maxnumf", ""),
        ("i1", "i8", "maxsi", ""),
        ("i8", "f16", "add", "deterministic"),
    ];
    for (t, (key, value, kind, order)) in cases.into_iter().enumerate() {
        let source = format!(
            "qd.grid.kernel @main(%k: memref<?x{key}>, %v: memref<?x{value}>, \
             %ko: memref<?x{key}>, %vo: memref<?x{value}>, %runs: memref<i32>, \
             %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.reduce_by_key {kind} ins(%k, %v : memref<?x{key}>, memref<?x{value}>) \
             outs(%ko, %vo, %runs : memref<?x{key}>, memref<?x{value}>, memref<i32>) \
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 {order}
             }}"
        );
        for n in sizes() {
            Subject::new(&source).check(
                waves()[t % waves().len()],
                &[
                    given(grouped(key, n)),
                    given(summands(value, kind, order, n)),
                    output(key, n, Expect::Prefix(4)),
                    output(value, n, Expect::Prefix(4)),
                    Argument {
                        data: Data::Count(0),
                        expect: Expect::Same,
                    },
                    scratch("i32", slots("reduce_by_key", n, 2)),
                    given(Data::Count(n as i32)),
                ],
                &format!("reduce_by_key {kind} {key} {value}, n = {n}"),
            );
        }
    }
    report("reduce_by_key");
}

/// Keys in runs; zeros of both signs and NaNs among floats.
fn grouped(element: &str, n: usize) -> Data {
    let halves = |values: [u16; 5]| (0..n).map(|i| values[i / 37 % 5]).collect();
    match element {
        "f16" => Data::F16(halves([0x3C00, 0, 0x8000, 0x7E00, 0x0001])),
        "bf16" => Data::BF16(halves([0x3F80, 0, 0x8000, 0x7FC0, 0x0001])),
        "i1" => Data::Bool((0..n).map(|i| i / 37 % 2 == 1).collect()),
        _ => generate(element, Input::Grouped, n, 1),
    }
}

/// Structs of mixed types, as rows of what they are made of: bytes, halves of words, and floats of two bytes.
#[test]
fn rows_of_narrow_elements() {
    for (t, (element, row)) in [("i8", 7), ("i16", 3), ("f16", 2), ("bf16", 5)]
        .into_iter()
        .enumerate()
    {
        let wave = waves()[t % waves().len()];
        let rows = format!("memref<?x{row}x{element}>");
        let op = ["select", "partition"][t % 2];
        let source = format!(
            "qd.grid.kernel @main(%a: {rows}, %f: memref<?xi32>, %o: {rows}, %runs: memref<i32>, \
             %k: memref<?xi16>, %tk: memref<?xi16>, %v: {rows}, %tv: {rows}, %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.{op} ins(%a, %f : {rows}, memref<?xi32>) outs(%o, %runs : {rows}, memref<i32>) \
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
               qd.algo.sort keys(%k, %tk : memref<?xi16>, memref<?xi16>) values(%v, %tv : {rows}, {rows}) \
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
             }}"
        );
        for n in sizes() {
            let flags = (0..n).map(|i| i32::from(i % 3 == 0 || i % 7 == 2));
            let structs = |salt| generate(element, Input::Random, n * row, salt).rows(row);
            let made = |expect| Argument {
                data: structs(3),
                expect,
            };
            Subject::new(&source).check(
                wave,
                &[
                    given(structs(1)),
                    given(Data::I32(flags.collect())),
                    made(Expect::Written),
                    given(Data::Count(0)),
                    given(generate("i16", Input::Random, n, 1)),
                    output("i16", n, Expect::Ignored),
                    given(structs(2)),
                    made(Expect::Ignored),
                    scratch("i32", slots("sort", n, 2).max(slots("select", n, 2))),
                    given(Data::Count(n as i32)),
                ],
                &format!("{op} and sort of {row} x {element}, n = {n}"),
            );
        }
    }
    report("rows of narrow elements");
}

/// Of `select`, `partition` and `unique`.
#[test]
fn compactions() {
    for (t, element) in NARROW.into_iter().enumerate() {
        let wave = waves()[t % waves().len()];
        let buffer = format!("memref<?x{element}>");
        let op = ["select", "partition"][t % 2];
        let select = format!(
            "qd.grid.kernel @main(%a: {buffer}, %f: memref<?xi32>, %o: {buffer}, \
             %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.{op} ins(%a, %f : {buffer}, memref<?xi32>) \
             outs(%o, %runs : {buffer}, memref<i32>) scratch(%s : memref<?xi32>) \
             count(%n : memref<i32>) log256_max_n = 2
             }}"
        );
        let unique = format!(
            "qd.grid.kernel @main(%a: {buffer}, %o: {buffer}, %runs: memref<i32>, \
             %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.unique ins(%a : {buffer}) outs(%o, %runs : {buffer}, memref<i32>) \
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
             }}"
        );
        for n in sizes() {
            let flags = (0..n)
                .map(|i| i32::from(i % 3 == 0 || i % 7 == 2))
                .collect();
            let scratch = || scratch("i32", slots("select", n, 2));
            let counted = || given(Data::Count(n as i32));
            Subject::new(&select).check(
                wave,
                &[
                    given(generate(element, Input::Random, n, 1)),
                    given(Data::I32(flags)),
                    output(element, n, Expect::Prefix(3)),
                    given(Data::Count(0)),
                    scratch(),
                    counted(),
                ],
                &format!("{op} {element}, n = {n}"),
            );
            Subject::new(&unique).check(
                wave,
                &[
                    given(grouped(element, n)),
                    output(element, n, Expect::Prefix(2)),
                    given(Data::Count(0)),
                    scratch(),
                    counted(),
                ],
                &format!("unique {element}, n = {n}"),
            );
        }
    }
    report("compactions");
}
