//! Sort: every key type and order, values and rows of them, part of the bits.

use crate::{
    data::{PATTERNS, Pattern, SMALL_SIZES, bits, buffer, count, rows, scratch, values},
    support::{Case, context, depth, parse},
};
use qd_dialects::pass;
use qd_interp::{Argument, Element, Options, interpret};
use qd_lowering::algorithms::scratch::sort_scratch_slots;

const KEYS: [(Element, bool); 6] = [
    (Element::I32, true),
    (Element::I32, false),
    (Element::F32, false),
    (Element::I64, true),
    (Element::I64, false),
    (Element::F64, false),
];

/// What a sort carries along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    None,
    Scalars(Element),
    Rows(Element, usize),
}

const VALUES: [Values; 4] = [
    Values::None,
    Values::Scalars(Element::F32),
    Values::Rows(Element::F64, 3),
    Values::Scalars(Element::I64),
];

impl Values {
    fn r#type(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Scalars(element) => format!("memref<?x{element}>"),
            Self::Rows(element, length) => format!("memref<?x{length}x{element}>"),
        }
    }

    fn make(self, n: usize) -> Option<Argument> {
        match self {
            Self::None => None,
            Self::Scalars(element) => Some(buffer(element, &values(element, Pattern::Wild, n, 5))),
            Self::Rows(element, length) => Some(rows(
                element,
                &values(element, Pattern::Wild, n * length, 5),
                length,
            )),
        }
    }
}

struct Sort {
    n: usize,
    key: (Element, bool),
    values: Values,
    pattern: Pattern,
    end_bit: Option<u32>,
    number: usize,
    target: &'static str,
    /// As the op says it; empty for the target's own.
    strategy: &'static str,
}

impl Sort {
    fn check(&self) {
        let Self {
            n,
            key: (key, unsigned),
            values: payload,
            pattern,
            end_bit,
            number,
            target,
            strategy,
        } = *self;
        let depth = depth(n, number);
        let r#type = payload.r#type();
        let (mut parameters, mut operands) = (String::new(), String::new());
        if payload != Values::None {
            parameters = format!(", %v: {type}, %tv: {type}", r#type = r#type);
            operands = format!("values(%v, %tv : {type}, {type})", r#type = r#type);
        }
        let unsigned_word = if unsigned { "unsigned" } else { "" };
        let end = end_bit
            .map(|bits| format!("end_bit = {bits}"))
            .unwrap_or_default();
        let text = format!(
            "qd.grid.kernel @k(%k: memref<?x{key}>, %tk: memref<?x{key}>, %s: memref<?xi32>, %n: memref<i32>{parameters}) {{
               qd.algo.sort keys(%k, %tk : memref<?x{key}>, memref<?x{key}>) {operands}
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth} {unsigned_word} {end} {strategy}
             }}"
        );
        let room = [0, 2][number % 2];
        let slots = sort_scratch_slots(n as u64, Some(depth)).expect("a depth from 1 to 4");
        let label = format!(
            "sort of {n} {key} {unsigned_word} {end} with {payload:?}, {pattern:?}, D = {depth}"
        );
        let keys = values(key, pattern, n + room, number as u64);
        let workspace = values(key, Pattern::Wild, n + room, 31);
        let mut case = Case::new(label, text, number)
            .with_result(buffer(key, &keys))
            .with(buffer(key, &workspace))
            .with(scratch(Element::I32, slots))
            .with(count(n));
        if let (Some(payload), Some(workspace)) = (payload.make(n + room), payload.make(n + room)) {
            case = case.with_result(payload).with(workspace);
        }
        case.target = target;
        case.check();
    }
}

fn all(sizes: &[usize], target: &'static str, strategy: &'static str) {
    let mut number = 0;
    for n in sizes.iter().copied() {
        for (i, key) in KEYS.into_iter().enumerate() {
            let width = key.0.bytes() as u32 * 8;
            let ends = [
                None,
                Some(8),
                Some(16),
                Some(24),
                Some(width),
                Some(width - 8),
            ];
            Sort {
                n,
                key,
                values: VALUES[number % 4],
                pattern: PATTERNS[number % PATTERNS.len()],
                end_bit: if n == 3000 {
                    Some(24)
                } else {
                    ends[(number / 3 + i) % 6]
                },
                number,
                target,
                strategy,
            }
            .check();
            number += 1;
        }
    }
}

#[test]
fn keys_and_values() {
    all(&SMALL_SIZES, "any", "");
}

#[test]
fn keys_and_values_where_latency_counts() {
    all(&SMALL_SIZES, "cpu", "");
}

/// Within a tile, at its end, and in several, of either size.
const ONE_SWEEP_SIZES: [usize; 10] = [0, 1, 257, 4095, 4096, 4097, 8191, 8192, 8193, 24_577];

#[test]
fn keys_and_values_in_one_sweep() {
    all(&ONE_SWEEP_SIZES, "any", "strategy = \"onesweep\"");
}

/// Keys and values in shared memory at once, where the target has room for both:
/// in tiles as large as the table has them, and in larger ones.
#[test]
fn pairs_staged_together() {
    let words = Values::Scalars(Element::F32);
    let wide = Values::Scalars(Element::I64);
    let larger = "{qd.tuning = {items = 16}}";
    let pairs = [
        (KEYS[0], words, larger),
        (KEYS[2], words, ""),
        (KEYS[1], wide, ""),
        (KEYS[3], words, ""),
        (KEYS[4], wide, ""),
        // Too many for both.
        (KEYS[0], wide, larger),
    ];
    for (number, (key, values, strategy)) in pairs.into_iter().enumerate() {
        for n in [8192, 8193, 20_001] {
            Sort {
                n,
                key,
                values,
                pattern: PATTERNS[number % PATTERNS.len()],
                end_bit: Some(16),
                number,
                target: "nvptx:sm_80",
                strategy,
            }
            .check();
        }
    }
}

/// More tiles than are looked back over at once.
#[test]
fn many_tiles_in_one_sweep() {
    for number in 0..4 {
        Sort {
            n: 65_537,
            key: (Element::I64, true),
            values: Values::None,
            pattern: PATTERNS[2 * number],
            end_bit: Some(8),
            number,
            target: "nvptx:sm_90",
            strategy: "",
        }
        .check();
    }
}

#[test]
fn beyond_a_level() {
    let key = (Element::I32, false);
    let mut sort = Sort {
        n: 65_537,
        key,
        values: Values::None,
        pattern: Pattern::Wild,
        end_bit: Some(16),
        number: 3,
        target: "any",
        strategy: "",
    };
    sort.check();
    (sort.n, sort.target) = (131_073, "cpu");
    sort.check();
}

/// The order is that of the bits, where `numpy.sort` knows no −NaN and takes
/// zeros for equal.
#[test]
fn floats_order_by_their_bits() {
    let sorted = [
        f32::from_bits(0xFFC0_0000),
        f32::NEG_INFINITY,
        -1.0,
        -1e-45,
        -0.0,
        0.0,
        1e-45,
        1.0,
        f32::INFINITY,
        f32::from_bits(0x7FC0_0000),
    ];
    let expected: Vec<_> = sorted.iter().map(|key| u64::from(key.to_bits())).collect();
    let mut keys = expected.clone();
    keys.reverse();
    keys.swap(2, 7);
    let text = "qd.grid.kernel @k(%k: memref<?xf32>, %tk: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
        qd.algo.sort keys(%k, %tk : memref<?xf32>, memref<?xf32>)
          scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
      }";
    let context = context();
    let mut module = parse(&context, text);
    pass::run_pipeline(&context, &mut module, "qd-to-grid{target=any}").unwrap();
    let mut arguments = [
        buffer(Element::F32, &keys),
        buffer(Element::F32, &keys),
        scratch(Element::I32, 256),
        count(keys.len()),
    ];
    interpret(&module, "k", &mut arguments, &Options::default()).unwrap();
    assert_eq!(bits(&arguments[0]), expected);
}

#[test]
fn the_deprecated_sort() {
    for (number, n) in [0, 1, 2, 3, 17, 255, 256, 257, 1000]
        .into_iter()
        .enumerate()
    {
        let (key, unsigned) = KEYS[number % KEYS.len()];
        let unsigned = if unsigned { "unsigned" } else { "" };
        let text = format!(
            "qd.grid.kernel @k(%k: memref<?x{key}>, %v: memref<?x{key}>) {{
               qd.algo.parallel_sort keys(%k : memref<?x{key}>) values(%v : memref<?x{key}>) {unsigned}
             }}"
        );
        // Equal keys may come in any order, so their values are the keys.
        let keys = values(key, PATTERNS[number % PATTERNS.len()], n, number as u64);
        Case::new(
            format!("parallel_sort of {n} {key} {unsigned}"),
            text,
            number,
        )
        .with_result(buffer(key, &keys))
        .with_result(buffer(key, &keys))
        .check();
    }
}
