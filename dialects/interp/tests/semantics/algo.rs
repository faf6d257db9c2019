//! Device-wide algorithms.

use crate::support::*;
use qd_interp::{Argument, Buffer, Element, Fault};

/// Runs one algorithm op in a kernel with these parameters.
fn kernel(parameters: &str, op: &str) -> String {
    format!("qd.grid.kernel @k({parameters}) {{ {op} }}")
}

fn sample(n: usize) -> Vec<i32> {
    noise(21, n)
        .into_iter()
        .map(|x| (x % 100) as i32 - 50)
        .collect()
}

fn wide_scratch(slots: usize) -> Argument {
    Buffer::uninitialised(Element::I64, &[slots]).into()
}

const SIZES: [usize; 7] = [0, 1, 2, 255, 256, 257, 1000];

#[test]
fn reduces() {
    let text = |kind: &str| {
        kernel(
            "%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>",
            &format!(
                "qd.algo.reduce {kind} ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2"
            ),
        )
    };
    for n in SIZES {
        let x = sample(n);
        let of = |kind: &str| {
            let slots = n.div_ceil(256).max(1);
            let out = run(
                &text(kind),
                vec![buffer(&x), buffer(&[7i32]), scratch(slots), count(n)],
                32,
            );
            assert!((0..slots).all(|slot| !out[2].buffer().expect("scratch").is_initialised(slot)));
            values::<i32>(&out[1])[0]
        };
        assert_eq!(of("add"), x.iter().sum::<i32>());
        assert_eq!(of("minsi"), x.iter().copied().min().unwrap_or(i32::MAX));
        assert_eq!(
            of("maxui"),
            x.iter().map(|&x| x as u32).max().unwrap_or(0) as i32
        );
        assert_eq!(of("xor"), x.iter().fold(0, |a, b| a ^ b));
    }
}

/// Only the first n take part, and n may be i64.
#[test]
fn live_counts() {
    let text = kernel(
        "%a: memref<?xf64>, %out: memref<1xf64>, %s: memref<?xi64>, %n: memref<i64>",
        "qd.algo.reduce minnumf ins(%a : memref<?xf64>) outs(%out : memref<1xf64>)
         scratch(%s : memref<?xi64>) count(%n : memref<i64>) log256_max_n = 1",
    );
    let run = |n: i64| {
        let a = buffer(&[3.0, 2.0, 1.0, 0.0]);
        let arguments = vec![a, buffer(&[9.0]), wide_scratch(1), Buffer::scalar(n).into()];
        values::<f64>(&run(&text, arguments, 32)[1])[0]
    };
    assert_eq!(
        (run(0), run(1), run(3), run(4)),
        (f64::INFINITY, 3.0, 1.0, 0.0)
    );
}

fn scan_text(op: &str, kind: &str) -> String {
    kernel(
        "%a: memref<?xi32>, %out: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>",
        &format!(
            "qd.algo.{op} {kind} ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2"
        ),
    )
}

#[test]
fn scans() {
    for n in SIZES {
        let x = sample(n);
        let of = |op: &str, kind: &str| -> Vec<i32> {
            let arguments = vec![
                buffer(&x),
                buffer(&vec![-77i32; n + 1]),
                scratch(n.div_ceil(256).max(1)),
                count(n),
            ];
            let mut out = values(&run(&scan_text(op, kind), arguments, 32)[1]);
            assert_eq!(out.pop(), Some(-77), "beyond n nothing is written");
            out
        };
        let prefix = |end: usize| x[..end].iter().sum::<i32>();
        assert_eq!(
            of("exclusive_scan", "add"),
            (0..n).map(prefix).collect::<Vec<_>>()
        );
        assert_eq!(
            of("inclusive_scan", "add"),
            (0..n).map(|i| prefix(i + 1)).collect::<Vec<_>>()
        );
        let most = |i: usize| x[..i].iter().copied().max().unwrap_or(i32::MIN);
        assert_eq!(
            of("exclusive_scan", "maxsi"),
            (0..n).map(most).collect::<Vec<_>>()
        );
    }
}

/// Composition of affine functions: two buffers, associative, not commutative.
#[test]
fn scans_by_a_region() {
    let text = kernel(
        "%a: memref<?xi32>, %b: memref<?xi32>, %oa: memref<?xi32>, %ob: memref<?xi32>, \
         %s: memref<?xi32>, %s2: memref<?xi32>, %n: memref<i32>",
        "qd.algo.exclusive_scan ins(%a, %b : memref<?xi32>, memref<?xi32>)
             outs(%oa, %ob : memref<?xi32>, memref<?xi32>)
             scratch(%s, %s2 : memref<?xi32>, memref<?xi32>) count(%n : memref<i32>)
             log256_max_n = 1 identity [1 : i32, 0 : i32] combiner {
         ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
           %na = arith.muli %la, %ra : i32
           %m = arith.muli %lb, %ra : i32
           %nb = arith.addi %m, %rb : i32
           qd.yield %na, %nb : i32, i32
         }",
    );
    let n = 200;
    let (a, b) = (sample(n), sample(2 * n)[n..].to_vec());
    let clear = || buffer(&vec![0i32; n]);
    let arguments = vec![
        buffer(&a),
        buffer(&b),
        clear(),
        clear(),
        scratch(1),
        scratch(1),
        count(n),
    ];
    let out = run(&text, arguments, 32);
    let (mut pa, mut pb) = (1i32, 0i32);
    for i in 0..n {
        let got = (values::<i32>(&out[2])[i], values::<i32>(&out[3])[i]);
        assert_eq!(got, (pa, pb), "at {i}");
        (pa, pb) = (
            pa.wrapping_mul(a[i]),
            pb.wrapping_mul(a[i]).wrapping_add(b[i]),
        );
    }
}

fn compact_text(op: &str, row: &str) -> String {
    kernel(
        &format!("%a: memref<?x{row}>, %f: memref<?xi32>, %out: memref<?x{row}>, %num: memref<i32>, %s: memref<?xi32>, %n: memref<i32>"),
        &format!(
            "{op} ins(%a, %f : memref<?x{row}>, memref<?xi32>) outs(%out, %num : memref<?x{row}>, memref<i32>)
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2"
        ),
    )
}

#[test]
fn selects_and_partitions() {
    for n in SIZES {
        let x = sample(n);
        // Whatever is not 0 is a flag.
        const SET: [i32; 5] = [1, 2, -1, 256, i32::MIN];
        let noise = noise(5, n).into_iter().enumerate();
        let flags: Vec<i32> = noise.map(|(i, x)| (x & 1) as i32 * SET[i % 5]).collect();
        let slots = if n == 0 { 1 } else { n + n.div_ceil(256) };
        // Levels above the first count from 2 up; up to 65,536 there is none.
        let slots = slots
            + if n.div_ceil(256) > 256 {
                n.div_ceil(65_536)
            } else {
                0
            };
        let of = |op: &str| {
            let arguments = vec![
                buffer(&x),
                buffer(&flags),
                buffer(&vec![-99i32; n]),
                Buffer::scalar(-1i32).into(),
                scratch(slots),
                count(n),
            ];
            let out = run(&compact_text(op, "i32"), arguments, 16);
            (values::<i32>(&out[2]), values::<i32>(&out[3])[0] as usize)
        };
        let side = |set| -> Vec<i32> {
            (0..n)
                .filter(|&i| (flags[i] != 0) == set)
                .map(|i| x[i])
                .collect()
        };
        let (kept, others) = (side(true), side(false));
        let mut expected = kept.clone();
        expected.resize(n, -99);
        assert_eq!(of("qd.algo.select"), (expected, kept.len()));
        assert_eq!(
            of("qd.algo.partition"),
            ([kept.clone(), others].concat(), kept.len())
        );
    }
}

#[test]
fn rows_are_moved_whole() {
    let rows: Vec<f32> = (0..15).map(|i| i as f32).collect();
    let shaped = |v: &[f32]| {
        Argument::from(
            Buffer::from_slice(v)
                .reshaped(&[5, 3])
                .expect("15 elements"),
        )
    };
    let arguments = vec![
        shaped(&rows),
        buffer(&[0, 1, 0, 1, 1]),
        shaped(&[-1.0; 15]),
        Buffer::scalar(0i32).into(),
        scratch(6),
        count(5),
    ];
    let out = run(&compact_text("qd.algo.select", "3xf32"), arguments, 16);
    assert_eq!(
        values::<f32>(&out[2]),
        [
            3., 4., 5., 9., 10., 11., 12., 13., 14., -1., -1., -1., -1., -1., -1.
        ]
    );
}

fn sort_text(key: &str, value: Option<&str>, options: &str) -> String {
    let (parameters, values) = match value {
        Some(v) => (
            format!(", %v: memref<?x{v}>, %tv: memref<?x{v}>"),
            format!("values(%v, %tv : memref<?x{v}>, memref<?x{v}>)"),
        ),
        None => Default::default(),
    };
    kernel(
        &format!(
            "%k: memref<?x{key}>, %tk: memref<?x{key}>, %s: memref<?xi32>, %n: memref<i32>{parameters}"
        ),
        &format!(
            "qd.algo.sort keys(%k, %tk : memref<?x{key}>, memref<?x{key}>) {values}
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 {options}"
        ),
    )
}

fn sort_slots(n: usize) -> usize {
    let h = 256 * n.div_ceil(256);
    (h + h.div_ceil(256)).max(1)
}

#[test]
fn sorts_keys_with_values() {
    for n in SIZES {
        let keys: Vec<i32> = sample(n).into_iter().map(|x| x % 10).collect();
        let places: Vec<i64> = (0..n as i64).collect();
        for unsigned in [false, true] {
            let arguments = vec![
                buffer(&keys),
                buffer(&vec![0i32; n]),
                scratch(sort_slots(n)),
                count(n),
                buffer(&places),
                buffer(&vec![0i64; n]),
            ];
            let options = if unsigned { "unsigned" } else { "" };
            let out = run(&sort_text("i32", Some("i64"), options), arguments, 32);
            let mut expected: Vec<(i32, i64)> = keys.iter().copied().zip(places.clone()).collect();
            // A stable sort by key alone.
            expected.sort_by_key(|&(k, _)| if unsigned { k as u32 as i64 } else { k as i64 });
            assert_eq!(
                values::<i32>(&out[0]),
                expected.iter().map(|e| e.0).collect::<Vec<_>>()
            );
            assert_eq!(
                values::<i64>(&out[4]),
                expected.iter().map(|e| e.1).collect::<Vec<_>>()
            );
            if n > 0 {
                assert!(
                    !out[1].buffer().expect("tmp").is_initialised(0),
                    "workspaces are garbage"
                );
                assert!(!out[5].buffer().expect("tmp").is_initialised(n - 1));
            }
        }
    }
}

/// By bits: −NaN first, −0 before +0, NaN last.
#[test]
fn sorts_floats_by_bits() {
    let keys = [
        1.0,
        f32::NAN,
        -0.0,
        0.0,
        f32::NEG_INFINITY,
        -1.0,
        -f32::NAN,
        f32::INFINITY,
        1e-42,
    ];
    let arguments = vec![
        buffer(&keys),
        buffer(&[0f32; 9]),
        scratch(sort_slots(9)),
        count(9),
    ];
    let out = run(&sort_text("f32", None, ""), arguments, 32);
    let mut expected = keys;
    expected.sort_by(f32::total_cmp);
    let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&values(&out[0])), bits(&expected));
}

/// Only the low bits of the mapped key count: signed keys by 8 bits order as
/// their low bytes.
#[test]
fn sorts_by_low_bits() {
    let keys: Vec<i32> = noise(9, 300).into_iter().map(|x| x as i32).collect();
    let arguments = vec![
        buffer(&keys),
        buffer(&[0i32; 300]),
        scratch(sort_slots(300)),
        count(300),
    ];
    let out = run(&sort_text("i32", None, "end_bit = 16"), arguments, 32);
    let mut expected = keys;
    expected.sort_by_key(|&x| x as u32 & 0xFFFF);
    assert_eq!(values::<i32>(&out[0]), expected);
}

#[test]
fn reduces_by_key() {
    let text = kernel(
        "%k: memref<?xf32>, %v: memref<?xi64>, %ko: memref<?xf32>, %vo: memref<?xi64>, %r: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>",
        "qd.algo.reduce_by_key add ins(%k, %v : memref<?xf32>, memref<?xi64>)
         outs(%ko, %vo, %r : memref<?xf32>, memref<?xi64>, memref<1xi32>)
         scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1",
    );
    let of = |keys: &[f32]| {
        let n = keys.len();
        let numbers: Vec<i64> = (0..n as i64).map(|i| 1 << i).collect();
        let arguments = vec![
            buffer(keys),
            buffer(&numbers),
            buffer(&vec![-7f32; n]),
            buffer(&vec![-7i64; n]),
            buffer(&[-1i32]),
            scratch(n.max(1)),
            count(n),
        ];
        let out = run(&text, arguments, 32);
        let runs = values::<i32>(&out[4])[0] as usize;
        let (keys, sums) = (values::<f32>(&out[2]), values::<i64>(&out[3]));
        assert!(
            keys[runs..].iter().all(|&k| k == -7.0),
            "beyond the runs nothing is written"
        );
        assert!(sums[runs..].iter().all(|&s| s == -7));
        (keys[..runs].to_vec(), sums[..runs].to_vec())
    };
    assert_eq!(of(&[]), (vec![], vec![]));
    assert_eq!(
        of(&[1.0, 1.0, 2.0, 1.0, 1.0, 1.0]),
        (vec![1.0, 2.0, 1.0], vec![3, 4, 56])
    );
    // The zeros are one key, a NaN is a run of its own.
    let (keys, sums) = of(&[0.0, -0.0, f32::NAN, f32::NAN]);
    assert_eq!(keys[0].to_bits(), 0);
    assert!(keys[1].is_nan() && keys[2].is_nan());
    assert_eq!(sums, [3, 4, 8]);
}

/// Firsts and lengths of runs, straight from what the page says.
#[test]
fn runs_of_equal_elements() {
    let text = |element: &str, counts: &str| {
        kernel(
            &format!(
                "%a: memref<?x{element}>, %o: memref<?x{element}>, %c: memref<?xi32>, %m: memref<i32>, \
                 %s: memref<?xi32>, %n: memref<i32>"
            ),
            &format!(
                "qd.algo.unique ins(%a : memref<?x{element}>) outs(%o, %m : memref<?x{element}>, memref<i32>)
                 {counts} scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2"
            ),
        )
    };
    let with_counts = "counts(%c : memref<?xi32>)";
    let slots = |n: usize| scratch(if n == 0 { 1 } else { n + n.div_ceil(256) });
    // The keys of the reference's example of reduce_by_key, and one more that is not live.
    let keys = [1, 1, 1, 2, 2, 3, 3, 3, 3];
    let given = |n: usize| {
        let clear = || buffer(&[-7i32; 9]);
        let number = Buffer::scalar(-1).into();
        vec![buffer(&keys), clear(), clear(), number, slots(n), count(n)]
    };
    let after = run(&text("i32", with_counts), given(8), 32);
    assert_eq!(values::<i32>(&after[3]), [3]);
    assert_eq!(values::<i32>(&after[1]), [1, 2, 3, -7, -7, -7, -7, -7, -7]);
    assert_eq!(values::<i32>(&after[2]), [3, 2, 3, -7, -7, -7, -7, -7, -7]);
    let after = run(&text("i32", ""), given(4), 4);
    assert_eq!(values::<i32>(&after[1])[..3], [1, 2, -7]);
    assert_eq!(values::<i32>(&after[2]), [-7; 9], "nobody asked");
    let after = run(&text("i32", with_counts), given(0), 32);
    assert_eq!(values::<i32>(&after[3]), [0]);
    assert_eq!(values::<i32>(&after[1]), [-7; 9]);

    let floats = [
        f32::NAN,
        f32::NAN,
        0.0,
        -0.0,
        -0.0,
        0.0,
        f32::INFINITY,
        f32::INFINITY,
    ];
    let clear = |length: usize| buffer(&vec![-7f32; length]);
    let arguments = vec![
        buffer(&floats),
        clear(8),
        buffer(&[-7i32; 8]),
        Buffer::scalar(-1).into(),
        slots(8),
        count(8),
    ];
    let after = run(&text("f32", with_counts), arguments, 32);
    assert_eq!(values::<i32>(&after[3]), [4]);
    assert_eq!(values::<i32>(&after[2])[..5], [1, 1, 4, 2, -7]);
    let firsts = values::<f32>(&after[1]);
    assert!(firsts[0].is_nan() && firsts[1].is_nan());
    assert_eq!((firsts[2].to_bits(), firsts[3]), (0, f32::INFINITY));
}

#[test]
fn the_deprecated_sort() {
    let text = kernel(
        "%k: memref<?xi32>, %v: memref<?xf32>",
        "qd.algo.parallel_sort keys(%k : memref<?xi32>) values(%v : memref<?xf32>)",
    );
    let keys = sample(100);
    // Values tell their key, whatever the order of equal ones.
    let told: Vec<f32> = keys.iter().map(|&k| k as f32).collect();
    let out = run(&text, vec![buffer(&keys), buffer(&told)], 32);
    let mut expected = keys;
    expected.sort();
    assert_eq!(values::<i32>(&out[0]), expected);
    assert_eq!(
        values::<f32>(&out[1]),
        expected.iter().map(|&k| k as f32).collect::<Vec<_>>()
    );
}

fn select_fault(flags: &[i32], out: usize, slots: usize, n: i32, words: &[&str]) -> Fault {
    let arguments = vec![
        buffer(&[1i32, 2, 3, 4]),
        buffer(flags),
        buffer(&vec![0i32; out]),
        Buffer::scalar(0i32).into(),
        scratch(slots),
        Buffer::scalar(n).into(),
    ];
    faults(&compact_text("qd.algo.select", "i32"), arguments, 32, words)
}

#[test]
fn contracts_are_checked() {
    let ones = [1, 0, 1, 1];
    select_fault(
        &ones,
        4,
        4,
        4,
        &["qd.algo.select", "4 slots of scratch", "needs 5"],
    );
    select_fault(&ones, 3, 5, 4, &["'output' holds 3"]);
    select_fault(&ones, 4, 99, 5, &["5 elements", "'input' holds 4"]);
    select_fault(&ones, 4, 5, -1, &["negative count"]);

    let arguments = |n: usize| {
        vec![
            buffer(&vec![1i32; n]),
            buffer(&[0i32]),
            scratch(999),
            count(n),
        ]
    };
    let text = kernel(
        "%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>",
        "qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
         scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1",
    );
    run(&text, arguments(256), 32);
    faults(&text, arguments(257), 32, &["257 elements", "256^1 = 256"]);
}

#[test]
fn overlapping_parts_of_a_buffer() {
    let text = |at: usize| {
        format!(
            "qd.grid.kernel @k(%a: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {{
               %c0 = arith.constant 0 : index
               %o = arith.constant {at} : index
               %c4 = arith.constant 4 : index
               %x = qd.grid.view %a[%c0] [%c4] : memref<?xi32> to memref<?xi32>
               %y = qd.grid.view %a[%o] [%c4] : memref<?xi32> to memref<?xi32>
               qd.algo.inclusive_scan add ins(%x : memref<?xi32>) outs(%y : memref<?xi32>)
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
             }}"
        )
    };
    let arguments = || vec![buffer(&[1i32; 8]), scratch(1), count(4)];
    let out = run(&text(4), arguments(), 32);
    assert_eq!(values::<i32>(&out[0]), [1, 1, 1, 1, 1, 2, 3, 4]);
    faults(
        &text(3),
        arguments(),
        32,
        &["overlapping", "'output'", "'input'"],
    );
}

#[test]
fn uninitialised_input() {
    let text = kernel(
        "%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>",
        "qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
         scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1",
    );
    let arguments = vec![scratch(3), buffer(&[0i32]), scratch(1), count(3)];
    faults(
        &text,
        arguments,
        32,
        &["qd.algo.reduce", "input[0]", "never written"],
    );
}
