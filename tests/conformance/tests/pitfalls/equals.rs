//! Keys that compare equal and differ in bits, and keys of the same bits that do not
//! compare equal.

use crate::kernel::{Combiner, Kernel, turn};
use qd_conformance::{
    Argument, Data, Expect, Input, Subject, affordable, generate, given, output, report, scratch,
    slots,
};

const DEPTH: u32 = 2;
const SIZES: [usize; 4] = [2, 257, 4100, 20_000];

/// Numbers that look random, below `end`.
fn choices(n: usize, end: usize) -> Vec<usize> {
    match generate("i64", Input::Random, n, 9) {
        Data::I64(numbers) => numbers.iter().map(|x| (x >> 13) as usize % end).collect(),
        _ => unreachable!("numbers of this type"),
    }
}

/// Zeros of both signs and NaNs of several bits among numbers, as bits of a float type.
fn odd_floats(element: &str, n: usize) -> Vec<u64> {
    let (width, mantissa) = match element {
        "f16" => (16, 10),
        "f32" => (32, 23),
        _ => (64, 52),
    };
    let sign = 1u64 << (width - 1);
    let infinity = (sign - 1) >> mantissa << mantissa;
    // The quiet ones: a load may make others quiet.
    let quiet = infinity | 1 << (mantissa - 1);
    let least_normal = 1u64 << mantissa;
    let positive = [
        0,
        1,
        least_normal,
        infinity,
        quiet,
        quiet | 5,
        quiet | 1 << (mantissa - 3),
    ];
    let all: Vec<_> = positive
        .iter()
        .flat_map(|bits| [*bits, bits | sign])
        .collect();
    choices(n, all.len()).into_iter().map(|i| all[i]).collect()
}

fn floats(element: &str, bits: Vec<u64>) -> Data {
    match element {
        "f16" => Data::F16(bits.into_iter().map(|b| b as u16).collect()),
        "f32" => Data::F32(bits.into_iter().map(|b| f32::from_bits(b as u32)).collect()),
        _ => Data::F64(bits.into_iter().map(f64::from_bits).collect()),
    }
}

/// The same bits as integers.
fn words(element: &str, bits: Vec<u64>) -> Data {
    match element {
        "f16" => Data::I16(bits.into_iter().map(|b| b as i16).collect()),
        "f32" => Data::I32(bits.into_iter().map(|b| b as i32).collect()),
        _ => Data::I64(bits.into_iter().map(|b| b as i64).collect()),
    }
}

fn workspace(element: &str, n: usize) -> Argument {
    output(element, n, Expect::Scratch)
}

/// ±0 and NaN in sorts: −NaN, −0, +0 and NaN have each their place, NaNs of different
/// bits are different keys, and every key comes out with the bits with which it went in.
/// Keys are compared as integers here: as floats a NaN would pass for any other.
#[test]
fn sorts_of_zeros_and_nans() {
    for (nth, (element, word)) in [("f32", "i32"), ("f64", "i64")].into_iter().enumerate() {
        let subject = Subject::new(format!(
            "qd.grid.kernel @main(%k: memref<?x{element}>, %t: memref<?x{element}>, \
             %v: memref<?xi32>, %w: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, \
             %bits: memref<?x{word}>) {{
  qd.algo.sort keys(%k, %t : memref<?x{element}>, memref<?x{element}>)
    values(%v, %w : memref<?xi32>, memref<?xi32>)
    scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
  %c0 = arith.constant 0 : index
  %len = memref.dim %k, %c0 : memref<?x{element}>
  qd.grid.for_each %i to %len {{
    %x = memref.load %k[%i] : memref<?x{element}>
    %y = arith.bitcast %x : {element} to {word}
    memref.store %y, %bits[%i] : memref<?x{word}>
  }}
}}"
        ));
        for n in affordable(SIZES) {
            let wave = turn(n + nth);
            let arguments = [
                given(floats(element, odd_floats(element, n))),
                workspace(element, n),
                given(Data::I32((0..n as i32).collect())),
                workspace("i32", n),
                scratch("i32", slots("sort", n, DEPTH)),
                given(Data::Count(n as i32)),
                output(word, n, Expect::Same),
            ];
            subject.check(wave, &arguments, &format!("sort of odd {element}, n = {n}"));
        }
    }
    report("sorts of zeros and NaNs");
}

/// As `sorts_of_zeros_and_nans`, by a sort that is not stable: each key's value is its bits, so that equal keys have
/// equal values, and the values tell the order of NaNs.
#[test]
fn parallel_sorts() {
    let sizes = affordable([0, 1, 2, 257, 1000, 4100]);
    let keys = [
        ("f16", "i16", ""),
        ("f32", "i32", ""),
        ("f64", "i64", ""),
        ("i8", "i8", ""),
        ("i8", "i8", "unsigned"),
        ("i64", "i64", ""),
        ("i64", "i64", "unsigned"),
    ];
    for (nth, (key, word, order)) in keys.into_iter().enumerate() {
        let (keys, values) = (format!("memref<?x{key}>"), format!("memref<?x{word}>"));
        let pairs = Subject::new(format!(
            "qd.grid.kernel @main(%k: {keys}, %v: {values}) {{
  qd.algo.parallel_sort keys(%k : {keys}) values(%v : {values}) {order}
}}"
        ));
        let alone = Subject::new(format!(
            "qd.grid.kernel @main(%k: {keys}) {{
  qd.algo.parallel_sort keys(%k : {keys}) {order}
}}"
        ));
        for (i, n) in sizes.iter().copied().enumerate() {
            let (data, bits) = match key.starts_with('f') {
                true => {
                    let bits = odd_floats(key, n);
                    (floats(key, bits.clone()), words(key, bits))
                }
                false => {
                    let input = [Input::Random, Input::Extreme][i % 2];
                    let data = generate(key, input, n, n as u64);
                    (data.clone(), data)
                }
            };
            let about = format!("parallel_sort of {key} {order}, n = {n}");
            let wave = turn(nth);
            pairs.check(wave, &[given(data.clone()), given(bits)], &about);
            // What differs is not how many there are.
            if n == 1000 {
                alone.check(wave, &[given(data)], &format!("{about}, without values"));
            }
        }
    }
    report("parallel sorts");
}

/// ±0 and NaN in minima and maxima: −0 is less than +0, and NaNs count only where there is
/// nothing else; the same whatever combines them, also in scans and by key.
#[test]
fn minima_of_zeros_and_nans() {
    let algorithms = [
        "reduce",
        "exclusive_scan",
        "inclusive_scan",
        "reduce_by_key",
    ];
    for (nth, algorithm) in algorithms.into_iter().enumerate() {
        for kind in ["minnumf", "maxnumf"] {
            for element in ["f32", "f64"] {
                let combiner = Combiner::Kind(kind);
                let kernel = Kernel {
                    combiner,
                    ..Kernel::new(algorithm, element, DEPTH)
                };
                let subject = Subject::new(kernel.text());
                for n in affordable(SIZES) {
                    let wave = turn(n + nth);
                    // Long runs of each, for results to differ before the end.
                    let bits = odd_floats(element, n.div_ceil(50));
                    let bits = (0..n).map(|i| bits[i / 50]).collect();
                    let arguments = kernel.arguments(floats(element, bits), n);
                    let about = format!("{algorithm} {kind} of odd {element}, n = {n}");
                    subject.check(wave, &arguments, &about);
                }
            }
        }
    }
    report("minima of zeros and NaNs");
}

/// The first of equal-but-different keys: a run of zeros of both signs is one run, and
/// its key is its first element's, however many tiles it goes through. A NaN is a run of
/// its own wherever it stands.
#[test]
fn runs_of_zeros_and_nans() {
    for (nth, element) in ["f32", "f64"].into_iter().enumerate() {
        let kernel = format!(
            "qd.grid.kernel @main(%k: memref<?x{element}>, %v: memref<?xi32>, \
             %ko: memref<?x{element}>, %vo: memref<?xi32>, %m: memref<i32>, %s: memref<?xi32>, \
             %n: memref<i32>) {{
  qd.algo.reduce_by_key add ins(%k, %v : memref<?x{element}>, memref<?xi32>)
    outs(%ko, %vo, %m : memref<?x{element}>, memref<?xi32>, memref<i32>)
    scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}
}}"
        );
        let subject = Subject::new(kernel);
        for n in affordable(SIZES) {
            let wave = turn(n + nth);
            let signs = choices(n, 2);
            // A NaN now and then ends a run of zeros; some runs have more than 10,000.
            let key = |i: usize| match i {
                _ if i % 11_003 == 256 => f64::NAN,
                _ if signs[i] == 0 => 0.0,
                _ => -0.0,
            };
            let keys = match element {
                "f32" => Data::F32((0..n).map(|i| key(i) as f32).collect()),
                _ => Data::F64((0..n).map(key).collect()),
            };
            let arguments = [
                given(keys),
                given(generate("i32", Input::Random, n, 4)),
                output(element, n, Expect::Same),
                output("i32", n, Expect::Same),
                given(Data::Count(-1)),
                scratch("i32", slots("reduce_by_key", n, DEPTH)),
                given(Data::Count(n as i32)),
            ];
            subject.check(wave, &arguments, &format!("runs of odd {element}, n = {n}"));
        }
    }
    report("runs of zeros and NaNs");
}

/// First or last of equal-but-different keys: those that differ only in bits that take no
/// part in a sort stay in the order in which they stood, and so do their values.
#[test]
fn sorts_by_some_bits() {
    for (nth, (key, order, end_bit)) in [
        ("i32", "", 8),
        ("i32", "unsigned", 16),
        ("i64", "", 8),
        ("i64", "unsigned", 40),
        ("f32", "", 8),
        ("f64", "", 16),
    ]
    .into_iter()
    .enumerate()
    {
        let subject = Subject::new(format!(
            "qd.grid.kernel @main(%k: memref<?x{key}>, %t: memref<?x{key}>, %v: memref<?xi32>, \
             %w: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {{
  qd.algo.sort keys(%k, %t : memref<?x{key}>, memref<?x{key}>)
    values(%v, %w : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>)
    count(%n : memref<i32>) log256_max_n = {DEPTH} {order} end_bit = {end_bit}
}}"
        ));
        for n in affordable(SIZES) {
            let wave = turn(n + nth);
            let arguments = [
                given(generate(key, Input::Random, n, 5)),
                workspace(key, n),
                given(Data::I32((0..n as i32).collect())),
                workspace("i32", n),
                scratch("i32", slots("sort", n, DEPTH)),
                given(Data::Count(n as i32)),
            ];
            let about = format!("sort {key} {order} by {end_bit} bits, n = {n}");
            subject.check(wave, &arguments, &about);
        }
    }
    report("sorts by some bits");
}
