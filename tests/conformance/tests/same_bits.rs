//! `deterministic` combinations of floats have the same bits on every target, at every subgroup size.
//! The interpreter has the order from the definition; its own bits are those of a stored digest, and so are the target's.

use qd_conformance::{
    Argument, Data, Expect, Subject, affordable, given, interpret, is_vulkan, output, report,
    scratch, slots, takes_turns, waves,
};

const ALGORITHMS: [&str; 3] = ["reduce", "exclusive_scan", "inclusive_scan"];

/// Elements of which digests are stored: several tiles of each type, which are up to 7,936, and few enough for every target.
const STORED_N: usize = 16_000;

/// More than a band of the widest.
const MORE_THAN_A_BAND: usize = 45_000;

/// How elements are combined: the scalars' type, how many there are, and the op's text.
struct Combiner<'t> {
    name: &'static str,
    element: &'static str,
    scalars: usize,
    /// A kind, or nothing.
    kind: &'static str,
    /// Identities and region, or nothing.
    region: &'t str,
}

const COMBINERS: [Combiner; 5] = [
    Combiner {
        name: "sums",
        element: "f32",
        scalars: 1,
        kind: "add",
        region: "",
    },
    Combiner {
        name: "sums of doubles",
        element: "f64",
        scalars: 1,
        kind: "add",
        region: "",
    },
    Combiner {
        name: "products",
        element: "f32",
        scalars: 1,
        kind: "mul",
        region: "",
    },
    // A product that is added to must not be contracted.
    Combiner {
        name: "affine maps",
        element: "f32",
        scalars: 2,
        kind: "",
        region: "identity [1.0 : f32, 0.0 : f32] combiner {
          ^bb0(%la: f32, %lb: f32, %ra: f32, %rb: f32):
            %factor = arith.mulf %la, %ra : f32
            %scaled = arith.mulf %lb, %ra : f32
            %term = arith.addf %scaled, %rb : f32
            qd.yield %factor, %term : f32, f32
          }",
    },
    // Tiles are small, so that there are many of few elements.
    Combiner {
        name: "wide",
        element: "f64",
        scalars: 4,
        kind: "",
        region: "identity [0.0 : f64, 1.0 : f64, 0.0 : f64, 1.0 : f64] combiner {
          ^bb0(%la: f64, %lb: f64, %lc: f64, %ld: f64, %ra: f64, %rb: f64, %rc: f64, %rd: f64):
            %a = arith.addf %la, %ra : f64
            %b = arith.mulf %lb, %rb : f64
            %c = arith.addf %lc, %rc : f64
            %d = arith.mulf %ld, %rd : f64
            qd.yield %a, %b, %c, %d : f64, f64, f64, f64
          }",
    },
];

/// Combiners and algorithms, by their places. Of runs that take turns each has half of them: they take long to compile.
fn kernels() -> impl Iterator<Item = (usize, usize)> {
    let all = (0..COMBINERS.len()).flat_map(|c| (0..ALGORITHMS.len()).map(move |a| (c, a)));
    all.filter(|(c, a)| !takes_turns() || (c + a).is_multiple_of(2))
}

/// Numbers about 1, of all signs where sums cancel.
fn numbers(element: &str, n: usize, salt: u64, signed: bool) -> Data {
    let number = |i: usize| {
        let word = (i as u64 + 1 + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let sign = if signed && word & 1 == 1 { -1.0 } else { 1.0 };
        sign * (1.0 + (word as f64 - f64::from(1 << 23)) / f64::from(1 << 28))
    };
    match element {
        "f32" => Data::F32((0..n).map(|i| number(i) as f32).collect()),
        _ => Data::F64((0..n).map(number).collect()),
    }
}

/// Sizes of subgroups turn with kernels and with numbers of elements: but where each is another run's,
/// with kernels alone, which are compiled once then.
fn wave(kernel: usize, size: usize) -> u32 {
    let turn = if is_vulkan() { kernel } else { kernel + size };
    waves()[turn % waves().len()]
}

/// Of these those that the target can afford, and in any case the one of which digests are stored.
fn sizes(all: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let (stored, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|n| *n == STORED_N);
    affordable(others).into_iter().chain(stored).collect()
}

fn list(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).map(each).collect::<Vec<_>>().join(", ")
}

fn source(algorithm: &str, combiner: &Combiner, depth: u32) -> String {
    let Combiner {
        element: e,
        scalars: k,
        kind,
        region,
        ..
    } = combiner;
    let slot = e.replace('f', "i");
    let (buffers, slots) = (
        list(*k, |_| format!("memref<?x{e}>")),
        list(*k, |_| format!("memref<?x{slot}>")),
    );
    format!(
        "qd.grid.kernel @main({}, {}, {}, %n: memref<i32>) {{
           qd.algo.{algorithm} {kind} ins({} : {buffers}) outs({} : {buffers}) scratch({} : {slots})
             count(%n : memref<i32>) log256_max_n = {depth} deterministic {region}
         }}",
        list(*k, |i| format!("%a{i}: memref<?x{e}>")),
        list(*k, |i| format!("%o{i}: memref<?x{e}>")),
        list(*k, |i| format!("%s{i}: memref<?x{slot}>")),
        list(*k, |i| format!("%a{i}")),
        list(*k, |i| format!("%o{i}")),
        list(*k, |i| format!("%s{i}")),
    )
}

fn arguments(
    algorithm: &str,
    combiner: &Combiner,
    n: usize,
    depth: u32,
) -> Vec<qd_conformance::Argument> {
    let Combiner {
        element,
        scalars,
        kind,
        ..
    } = combiner;
    let results = if algorithm == "reduce" { 1 } else { n };
    let signed = *kind == "add";
    let mut arguments: Vec<_> = (0..*scalars)
        .map(|salt| given(numbers(element, n, 1000 * salt as u64, signed)))
        .collect();
    arguments.extend((0..*scalars).map(|_| output(element, results, Expect::Same)));
    arguments.extend((0..*scalars).map(|_| scratch(element, slots(algorithm, n, depth))));
    arguments.push(given(Data::Count(n as i32)));
    arguments
}

#[test]
fn reductions_and_scans() {
    for (c, a) in kernels() {
        let (combiner, algorithm) = (&COMBINERS[c], ALGORITHMS[a]);
        let sizes = sizes([0, 1, 30, 2815, 5000, STORED_N, MORE_THAN_A_BAND]);
        for (s, n) in sizes.into_iter().enumerate() {
            let wave = wave(c + a, s);
            let about = format!("{algorithm} of {}, n = {n}", combiner.name);
            let arguments = arguments(algorithm, combiner, n, 2);
            Subject::new(source(algorithm, combiner, 2)).check(wave, &arguments, &about);
        }
    }
    report("same bits");
}

/// Runs are shorter the larger an element is. Drivers of Vulkan take long to compile bodies of many scalars, and
/// the lengths are those of any target.
#[test]
fn elements_of_each_size() {
    if is_vulkan() {
        return;
    }
    for scalars in 1..=9 {
        let each = |text: &str| list(scalars, |i| text.replace('#', &i.to_string()));
        let sums: String = (0..scalars)
            .map(|i| format!("%x{i} = arith.addf %l{i}, %r{i} : f32\n"))
            .collect();
        let region = format!(
            "identity [{}] combiner {{
               ^bb0({}, {}):
                 {sums} qd.yield {} : {}
             }}",
            each("0.0 : f32"),
            each("%l#: f32"),
            each("%r#: f32"),
            each("%x#"),
            each("f32"),
        );
        let sums = Combiner {
            name: "sums",
            element: "f32",
            scalars,
            kind: "",
            region: &region,
        };
        for n in affordable([1000, 9000]) {
            let arguments = arguments("reduce", &sums, n, 2);
            let about = format!("sums of {scalars} scalars, n = {n}");
            let wave = wave(scalars, 0);
            Subject::new(source("reduce", &sums, 2)).check(wave, &arguments, &about);
        }
    }
    report("elements of each size");
}

/// The order is the tiles', whichever block takes them.
#[test]
fn blocks_may_share_tiles() {
    let sums = &COMBINERS[0];
    let text = source("reduce", sums, 2).replace(
        "deterministic",
        "deterministic {qd.tuning = {blocks = 2, ahead = 1}}",
    );
    for n in affordable([0, 5000, 20_000, 45_000]) {
        let arguments = arguments("reduce", sums, n, 2);
        let about = format!("shared tiles, n = {n}");
        Subject::new(text.clone()).check(waves()[0], &arguments, &about);
    }
    report("shared tiles");
}

/// A sum of −0 alone is 0, and one of nothing is the identity.
#[test]
fn signs_of_zeros() {
    for algorithm in ["reduce", "exclusive_scan", "inclusive_scan"] {
        for n in affordable([1, 5000, 30_000]) {
            let results = if algorithm == "reduce" { 1 } else { n };
            let arguments = [
                given(Data::F32(vec![-0.0; n])),
                output("f32", results, Expect::Same),
                scratch("f32", slots(algorithm, n, 2)),
                given(Data::Count(n as i32)),
            ];
            let text = source(algorithm, &COMBINERS[0], 2);
            let expected = interpret(&text, waves()[0], &arguments).expect("it runs");
            let bits = &expected[1].buffer().expect("a buffer").data;
            assert!(bits.iter().all(|byte| *byte == 0), "{algorithm}, n = {n}");
            Subject::new(text).check(
                waves()[0],
                &arguments,
                &format!("{algorithm} of −0, n = {n}"),
            );
        }
    }
    report("signs of zeros");
}

/// Sums by key, of `n` elements.
fn sums_by_key(key: &str, value: &str, n: usize) -> (String, Vec<Argument>) {
    let source = format!(
        "qd.grid.kernel @main(%k: memref<?x{key}>, %v: memref<?x{value}>, %ko: memref<?x{key}>,
                                      %vo: memref<?x{value}>, %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {{
                   qd.algo.reduce_by_key add ins(%k, %v : memref<?x{key}>, memref<?x{value}>)
                     outs(%ko, %vo, %m : memref<?x{key}>, memref<?x{value}>, memref<i32>)
                     scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 deterministic
                 }}"
    );
    // Runs of many lengths: shorter than a thread's share, and longer than a tile.
    let run = |i: usize| if i < n / 3 { i / 7 } else { i / 9000 + n };
    let keys = match key {
        "i32" => Data::I32((0..n).map(|i| run(i) as i32).collect()),
        "i64" => Data::I64((0..n).map(|i| run(i) as i64).collect()),
        _ => Data::F64((0..n).map(|i| run(i) as f64).collect()),
    };
    let arguments = vec![
        given(keys),
        given(numbers(value, n, 0, true)),
        output(key, n, Expect::Prefix(4)),
        output(value, n, Expect::Prefix(4)),
        given(Data::Count(-1)),
        scratch("i32", slots("reduce_by_key", n, 2)),
        given(Data::Count(n as i32)),
    ];
    (source, arguments)
}

#[test]
fn by_key() {
    let types = [
        ("i32", "f32"),
        ("i32", "f64"),
        ("i64", "f32"),
        ("f64", "f64"),
    ];
    for (t, (key, value)) in types.into_iter().enumerate() {
        let sizes = sizes([0, 1, 2815, 5000, STORED_N]);
        for (s, n) in sizes.into_iter().enumerate() {
            let (source, arguments) = sums_by_key(key, value, n);
            Subject::new(source).check(
                wave(t, s),
                &arguments,
                &format!("reduce_by_key {key} {value}, n = {n}"),
            );
        }
    }
    report("same bits by key");
}

/// A digest of bytes (FNV-1a).
fn digest(results: &[Vec<u8>]) -> u64 {
    let bytes = results.iter().flatten();
    bytes.fold(0xCBF2_9CE4_8422_2325, |digest, byte| {
        (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}

/// What the interpreter makes of `n` elements.
fn defined(algorithm: &str, combiner: &Combiner, n: usize) -> Vec<Vec<u8>> {
    let arguments = arguments(algorithm, combiner, n, 2);
    let results = interpret(&source(algorithm, combiner, 2), 4, &arguments).expect("it runs");
    let results = &results[combiner.scalars..2 * combiner.scalars];
    let bytes = |result: &qd_interp::Argument| result.buffer().expect("a buffer").data.clone();
    results.iter().map(bytes).collect()
}

/// The definition does not change: the bits of all results, as a digest for each algorithm. What a target makes
/// of these inputs is compared with the interpreter above, bit by bit, where it can afford them.
#[test]
fn stored_bits() {
    const STORED: [(usize, [u64; 3]); 2] = [
        (
            STORED_N,
            [
                0x178c_eec9_199f_7788,
                0x2114_f6f7_fed9_c738,
                0xc188_9345_f4ef_05f3,
            ],
        ),
        (
            MORE_THAN_A_BAND,
            [
                0xec52_fb7c_b437_e9c8,
                0x84f1_2a88_7867_cfba,
                0x2010_0583_eb28_accb,
            ],
        ),
    ];
    for (n, stored) in STORED {
        let found = ALGORITHMS.map(|algorithm| {
            let results = COMBINERS.iter().flat_map(|of| defined(algorithm, of, n));
            digest(&results.collect::<Vec<_>>())
        });
        assert_eq!(found, stored, "n = {n}: {found:#x?}");
    }
}

/// The same of sums by key.
#[test]
fn stored_bits_by_key() {
    const STORED: [u64; 2] = [0x547e_7c2c_5c9c_e805, 0xdf0f_d2b2_96ee_0132];
    for (value, stored) in ["f32", "f64"].into_iter().zip(STORED) {
        let (source, arguments) = sums_by_key("i32", value, STORED_N);
        let defined = interpret(&source, 4, &arguments).expect("it runs");
        let [sums, found] = [3, 4].map(|at| &defined[at].buffer().expect("a buffer").data);
        let found = i32::from_ne_bytes(found[..].try_into().expect("a number"));
        let bytes = sums.len() / STORED_N * found as usize;
        let own = digest(&[sums[..bytes].to_vec()]);
        assert_eq!(own, stored, "{value}: {own:#x}");
    }
}
