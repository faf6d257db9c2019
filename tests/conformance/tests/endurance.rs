//! Results of blocks that wait for each other are the same in a thousand runs,
//! whatever the contents of scratch, and whatever else runs on the device.

use qd_conformance::{Data, Repeated, Role, affordable, is_simulated, looks_back, repeats, report};
use qd_lowering::algorithms::{self, scratch as sizing};
use std::{sync::Barrier, thread};

/// The capacity: 256^3 elements.
const DEPTH: u32 = 3;

/// Elements after the live ones.
const ROOM: usize = 3;

/// Sizes about those of a tile, of two, and of more than a subgroup looks back over;
/// primes, and one more than a power of 2. Those that take long are left out where
/// runs are few, for time is short there.
fn sizes(tile: usize) -> Vec<usize> {
    let sizes = [
        tile - 1,
        tile,
        tile + 1,
        2 * tile + 1,
        33 * tile - 1,
        65_537,
        100_003,
        1_000_003,
        LARGE,
    ];
    let most = if runs_are_few() { 70_000 } else { LARGE };
    affordable(sizes.into_iter().filter(|n| *n <= most))
}

/// More than a device has room for at a time, if several threads have as much.
const LARGE: usize = (1 << 20) + 1;

fn runs_are_few() -> bool {
    repeats() < 100
}

/// An algorithm at any size.
struct Algorithm {
    name: String,
    /// Elements of a tile, where there are tiles.
    tile: usize,
    /// At so many live elements.
    at: Box<dyn Fn(usize) -> Repeated + Send + Sync>,
}

/// What the algorithm's table says of elements of so many bytes.
fn tile(algorithm: &str, bytes: i64) -> usize {
    let rows = algorithms::tunings().iter();
    let row = rows
        .filter(|row| row.algorithm == algorithm)
        .find(|row| bytes <= row.bytes)
        .expect("the table has it");
    (row.tuning.threads * row.tuning.items) as usize
}

/// Small tiles, and so many of them.
const SMALL: &str = "{qd.tuning = {threads = 64, items = 20}}";
const SMALL_TILE: usize = 64 * 20;

/// Of selections: the same, and blocks that wait for each other, where any do.
fn small_look_back() -> &'static str {
    match looks_back() {
        true => "strategy = \"lookback\" {qd.tuning = {threads = 64, items = 20}}",
        false => SMALL,
    }
}

fn named(algorithm: &str, e: Element, tuning: &str) -> String {
    let tiles = if tuning.is_empty() {
        ""
    } else {
        ", small tiles"
    };
    format!("{algorithm} {}{tiles}", e.mlir())
}

/// Of an algorithm's elements of so many bytes, as the op says or else the table.
fn tile_of(algorithm: &str, bytes: i64, tuning: &str) -> usize {
    match tuning {
        "" => tile(algorithm, bytes),
        _ => SMALL_TILE,
    }
}

/// Numbers that look random (splitmix64).
fn word(seed: u64, i: usize) -> u64 {
    let mut z = (seed << 32).wrapping_add((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Elements of a type, in which they are computed with as well: sums of floats are
/// exact, and so the same in any order.
#[derive(Clone, Copy, PartialEq)]
enum Element {
    I32,
    I64,
    F32,
}

impl Element {
    fn mlir(self) -> &'static str {
        match self {
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::F32 => "f32",
        }
    }

    fn bytes(self) -> i64 {
        match self {
            Element::I64 => 8,
            Element::I32 | Element::F32 => 4,
        }
    }

    fn numbers(self, n: usize, seed: u64) -> Vec<i64> {
        let number = |i| match self {
            Element::F32 => (word(seed, i) & 7) as i64,
            _ => self.wrapped(word(seed, i) as i64),
        };
        (0..n).map(number).collect()
    }

    /// As far as there is room for it.
    fn wrapped(self, number: i64) -> i64 {
        match self {
            Element::I32 => i64::from(number as i32),
            Element::I64 | Element::F32 => number,
        }
    }

    fn sum(self, a: i64, b: i64) -> i64 {
        self.wrapped(a.wrapping_add(b))
    }

    fn data(self, numbers: &[i64]) -> Data {
        let numbers = numbers.iter();
        match self {
            Element::I32 => Data::I32(numbers.map(|x| *x as i32).collect()),
            Element::I64 => Data::I64(numbers.copied().collect()),
            Element::F32 => Data::F32(numbers.map(|x| *x as f32).collect()),
        }
    }

    /// Scratch of a reduction or a scan of these.
    fn slots(self, slots: u64) -> Role {
        let slots = vec![0; slots as usize];
        Role::Scratch(match self {
            Element::I64 => Data::I64(slots),
            _ => Element::I32.data(&slots),
        })
    }
}

fn given(element: Element, numbers: &[i64]) -> Role {
    Role::Given(element.data(numbers))
}

/// A result that is longer than what is written.
fn result(element: Element, mut live: Vec<i64>, length: usize) -> Role {
    let written = live.len();
    live.resize(length, 77);
    Role::Result {
        expected: element.data(&live),
        live: written,
    }
}

fn count(n: usize) -> Role {
    Role::Given(Data::Count(n as i32))
}

/// The number of elements that came out.
fn number(n: usize) -> Role {
    result(Element::I32, vec![n as i64], 1)
}

fn reduce(e: Element) -> Algorithm {
    Algorithm {
        name: format!("reduce {}", e.mlir()),
        tile: tile("reduce", e.bytes()),
        at: Box::new(move |n| {
            let input = e.numbers(n + ROOM, 1);
            let sum = input[..n].iter().fold(0, |a, b| e.sum(a, *b));
            let slots =
                sizing::reduce_scratch_slots((n + ROOM) as u64, Some(DEPTH)).expect("a depth");
            let (t, s) = (e.mlir(), if e == Element::I64 { "i64" } else { "i32" });
            Repeated {
                op: format!(
                    "qd.algo.reduce add ins(%a : memref<?x{t}>) outs(%o : memref<?x{t}>) \
                     scratch(%s : memref<?x{s}>) count(%n : memref<i32>) log256_max_n = {DEPTH}"
                ),
                buffers: vec![
                    ("a", given(e, &input)),
                    ("o", result(e, vec![sum], 1)),
                    ("s", e.slots(slots)),
                    ("n", count(n)),
                ],
            }
        }),
    }
}

fn scan(algorithm: &'static str, e: Element, tuning: &'static str) -> Algorithm {
    Algorithm {
        name: named(algorithm, e, tuning),
        tile: tile_of("scan", e.bytes(), tuning),
        at: Box::new(move |n| {
            let input = e.numbers(n + ROOM, 2);
            let mut sum = 0;
            let mut sums = Vec::new();
            for x in &input[..n] {
                let before = sum;
                sum = e.sum(sum, *x);
                sums.push(if algorithm == "exclusive_scan" {
                    before
                } else {
                    sum
                });
            }
            let slots =
                sizing::scan_scratch_slots((n + ROOM) as u64, Some(DEPTH)).expect("a depth");
            let (t, s) = (e.mlir(), if e == Element::I64 { "i64" } else { "i32" });
            Repeated {
                op: format!(
                    "qd.algo.{algorithm} add ins(%a : memref<?x{t}>) outs(%o : memref<?x{t}>) \
                     scratch(%s : memref<?x{s}>) count(%n : memref<i32>) log256_max_n = {DEPTH} {tuning}"
                ),
                buffers: vec![
                    ("a", given(e, &input)),
                    ("o", result(e, sums, n + ROOM)),
                    ("s", e.slots(slots)),
                    ("n", count(n)),
                ],
            }
        }),
    }
}

fn compact(algorithm: &'static str, e: Element, tuning: &'static str) -> Algorithm {
    Algorithm {
        name: named(algorithm, e, tuning),
        tile: tile_of("compact", e.bytes(), tuning),
        at: Box::new(move |n| {
            let input = e.numbers(n + ROOM, 3);
            let flags: Vec<_> = (0..n + ROOM)
                .map(|i| (word(4, i) >> 9 & 1) as i64)
                .collect();
            let of = |kind| {
                let pairs = input[..n].iter().zip(&flags);
                pairs
                    .filter(move |pair| *pair.1 == kind)
                    .map(|pair| *pair.0)
            };
            let mut out: Vec<_> = of(1).collect();
            let num_out = out.len();
            if algorithm == "partition" {
                out.extend(of(0));
            }
            let slots = sizing::select_scratch_slots((n + ROOM) as u64);
            let t = e.mlir();
            Repeated {
                op: format!(
                    "qd.algo.{algorithm} ins(%a, %f : memref<?x{t}>, memref<?xi32>) \
                     outs(%o, %m : memref<?x{t}>, memref<?xi32>) scratch(%s : memref<?xi32>) \
                     count(%n : memref<i32>) log256_max_n = {DEPTH} {tuning}"
                ),
                buffers: vec![
                    ("a", given(e, &input)),
                    ("f", given(Element::I32, &flags)),
                    ("o", result(e, out, n + ROOM)),
                    ("m", number(num_out)),
                    ("s", Element::I32.slots(slots)),
                    ("n", count(n)),
                ],
            }
        }),
    }
}

fn reduce_by_key(e: Element, tuning: &'static str) -> Algorithm {
    Algorithm {
        name: named("reduce_by_key", e, tuning),
        tile: tile_of("reduce_by_key", 2 * e.bytes(), tuning),
        at: Box::new(move |n| {
            let values = e.numbers(n + ROOM, 5);
            let mut key = 0;
            // Runs of eight on average, and a long one now and then.
            let keys: Vec<_> = (0..n + ROOM)
                .map(|i| {
                    let ends = word(6, i) & 7 == 0 && i / 5000 % 3 != 1;
                    key += i64::from(ends);
                    key
                })
                .collect();
            let mut runs: Vec<(i64, i64)> = Vec::new();
            for (key, x) in keys.iter().zip(&values).take(n) {
                match runs.last_mut() {
                    Some((last, sum)) if last == key => *sum = e.sum(*sum, *x),
                    _ => runs.push((*key, *x)),
                }
            }
            let number_of_runs = runs.len();
            let (heads, sums) = runs.into_iter().unzip();
            let slots = sizing::reduce_by_key_scratch_slots((n + ROOM) as u64);
            let t = e.mlir();
            Repeated {
                op: format!(
                    "qd.algo.reduce_by_key add ins(%k, %v : memref<?x{t}>, memref<?x{t}>) \
                     outs(%ko, %vo, %m : memref<?x{t}>, memref<?x{t}>, memref<?xi32>) \
                     scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH} {tuning}"
                ),
                buffers: vec![
                    ("k", given(e, &keys)),
                    ("v", given(e, &values)),
                    ("ko", result(e, heads, n + ROOM)),
                    ("vo", result(e, sums, n + ROOM)),
                    ("m", number(number_of_runs)),
                    ("s", Element::I32.slots(slots)),
                    ("n", count(n)),
                ],
            }
        }),
    }
}

/// Keys of few values in every byte, so that there are equal ones.
fn sort(e: Element, with_values: bool) -> Algorithm {
    let (bytes, row) = match (e, with_values) {
        (Element::I64, true) => (12, "sort"),
        (Element::I64, false) => (8, "sort"),
        (_, true) => (8, "sort"),
        (_, false) => (4, "sort"),
    };
    Algorithm {
        name: format!(
            "sort {}{}",
            e.mlir(),
            if with_values { " with values" } else { "" }
        ),
        tile: tile(row, bytes),
        at: Box::new(move |n| {
            let few = |x: i64| e.wrapped(x & 0x0303_0303_0303_0303);
            let keys: Vec<_> = e.numbers(n + ROOM, 7).into_iter().map(few).collect();
            let places: Vec<_> = (0..(n + ROOM) as i64).collect();
            let mut order = places.clone();
            order[..n].sort_by_key(|place| keys[*place as usize]);
            let sorted: Vec<_> = order.iter().map(|place| keys[*place as usize]).collect();
            let slots =
                sizing::sort_scratch_slots((n + ROOM) as u64, Some(DEPTH)).expect("a depth");
            let workspace = |e: Element| Role::Scratch(e.data(&vec![0; n + ROOM]));
            let t = e.mlir();
            let mut buffers = vec![
                (
                    "k",
                    Role::InPlace {
                        given: e.data(&keys),
                        expected: e.data(&sorted),
                    },
                ),
                ("t", workspace(e)),
                ("s", Element::I32.slots(slots)),
                ("n", count(n)),
            ];
            let mut values = "";
            if with_values {
                values = "values(%v, %w : memref<?xi32>, memref<?xi32>) ";
                let in_place = Role::InPlace {
                    given: Element::I32.data(&places),
                    expected: Element::I32.data(&order),
                };
                buffers.extend([("v", in_place), ("w", workspace(Element::I32))]);
            }
            Repeated {
                op: format!(
                    "qd.algo.sort keys(%k, %t : memref<?x{t}>, memref<?x{t}>) {values}\
                     scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {DEPTH}"
                ),
                buffers,
            }
        }),
    }
}

/// All sizes of some algorithms, one after the other.
fn endure(name: &str, algorithms: &[Algorithm]) {
    let mut runs = 0;
    for algorithm in algorithms {
        for n in sizes(algorithm.tile) {
            let ran = (algorithm.at)(n).run(repeats());
            ran.unwrap_or_else(|wrong| panic!("{}, n = {n}: {wrong}", algorithm.name));
            runs += u64::from(repeats());
        }
    }
    println!("{name}: {runs} runs");
    report(&format!("{name} again and again"));
}

#[test]
fn reduces() {
    endure("reduce", &[reduce(Element::I32), reduce(Element::I64)]);
}

#[test]
fn exclusive_scans() {
    let scan = |e, tuning| scan("exclusive_scan", e, tuning);
    let kinds = [
        scan(Element::I32, ""),
        scan(Element::I32, SMALL),
        scan(Element::I64, ""),
        scan(Element::F32, ""),
    ];
    endure("exclusive_scan", &kinds);
}

#[test]
fn inclusive_scans() {
    let scan = |e, tuning| scan("inclusive_scan", e, tuning);
    let kinds = [
        scan(Element::I32, ""),
        scan(Element::I64, SMALL),
        scan(Element::F32, ""),
    ];
    endure("inclusive_scan", &kinds);
}

#[test]
fn selects() {
    let select = |e, tuning| compact("select", e, tuning);
    let kinds = [
        select(Element::I32, ""),
        select(Element::I32, SMALL),
        select(Element::I32, small_look_back()),
        select(Element::I64, ""),
    ];
    endure("select", &kinds);
}

#[test]
fn partitions() {
    let partition = |e, tuning| compact("partition", e, tuning);
    let kinds = [
        partition(Element::I32, ""),
        partition(Element::I32, SMALL),
        partition(Element::I64, ""),
    ];
    endure("partition", &kinds);
}

#[test]
fn reductions_by_key() {
    let kinds = [
        reduce_by_key(Element::I32, ""),
        reduce_by_key(Element::I32, SMALL),
        reduce_by_key(Element::I64, ""),
    ];
    endure("reduce_by_key", &kinds);
}

#[test]
fn sorts() {
    let kinds = [
        sort(Element::I32, false),
        sort(Element::I32, true),
        sort(Element::I64, false),
        sort(Element::I64, true),
    ];
    endure("sort", &kinds);
}

/// Threads with a stream each, on one device: blocks of one kernel wait for each
/// other while those of others take their places. Half of the threads run the same
/// algorithm, the others each another one.
#[test]
fn kernels_that_compete() {
    const THREADS: usize = 8;
    let algorithms = [
        reduce(Element::I32),
        scan("exclusive_scan", Element::I32, SMALL),
        scan("inclusive_scan", Element::I64, ""),
        compact("select", Element::I32, small_look_back()),
        compact("partition", Element::I32, ""),
        reduce_by_key(Element::I32, ""),
        sort(Element::I32, false),
        sort(Element::I32, true),
    ];
    let n = match (is_simulated(), runs_are_few()) {
        (true, _) => 5001,
        (false, true) => 65_537,
        (false, false) => LARGE,
    };
    let all = algorithms.map(|algorithm| (algorithm.name, (algorithm.at)(n)));
    let count = repeats().div_ceil(THREADS as u32);
    let together = Barrier::new(THREADS);
    let run = |thread: usize| {
        let mut wrong = Vec::new();
        for round in 0..all.len() {
            let shift = if thread.is_multiple_of(2) { 0 } else { thread };
            let (name, repeated) = &all[(round + shift) % all.len()];
            together.wait();
            if let Err(what) = repeated.run(count) {
                wrong.push(format!("{name}: {what}"));
            }
        }
        wrong
    };
    let wrong: Vec<String> = thread::scope(|scope| {
        let start = |thread| {
            let run = &run;
            scope.spawn(move || run(thread))
        };
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.flat_map(|wrong| wrong.expect("no panic")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    println!(
        "side by side on {THREADS} threads: {} cases, {} runs",
        THREADS * all.len(),
        THREADS * all.len() * count as usize
    );
}

/// An element that is wrong is counted in each run, and so are one that is not
/// written and one that is written after the last.
#[test]
fn what_is_wrong_is_seen() {
    let n = 5000;
    let right = || (scan("exclusive_scan", Element::I32, "").at)(n);
    right().run_always(2).expect("all is right");
    let said = |wrong: Repeated| wrong.run_always(2).expect_err("an element is wrong");
    let seen = "%o were wrong 2 times in 2 runs, in the last";
    for live in [n - 1, n + 1] {
        let mut other = right();
        other.buffers[3].1 = count(live);
        let said = said(other);
        assert!(said.contains(seen), "{live} elements: {said}");
    }
    let mut other = right();
    if let Role::Result {
        expected: Data::I32(expected),
        ..
    } = &mut other.buffers[1].1
    {
        expected[4711] ^= 1;
    }
    let said = said(other);
    assert!(said.contains(seen), "one bit: {said}");
}
