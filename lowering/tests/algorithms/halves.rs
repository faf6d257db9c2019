//! Sorts of 8-byte keys by half of their digits: inputs that take each path, and the
//! number of phases of each.

use crate::{
    data::{Random, buffer, count, scratch},
    support::{context, parse},
};
use qd_dialects::pass;
use qd_interp::{Argument, Element, Options, Schedule, interpret};
use qd_lowering::algorithms::scratch::sort_scratch_slots;

/// Keys of a tile, of a sweep and of what repairs.
const TILE: usize = 4096;
/// Keys of the longest run that is repaired.
const LONGEST: usize = 32;

/// What happens to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The upper half, and runs repaired.
    Upper,
    /// The lower half.
    Lower,
    /// All digits, at once.
    Whole,
    /// All digits, after a try that failed.
    Both,
}

impl Way {
    /// Phases: the single tile that it is not, the counts, sweeps and repairs.
    fn phases(self) -> u64 {
        2 + match self {
            Self::Upper => 4 + 2,
            Self::Lower => 4,
            Self::Whole => 8,
            Self::Both => 4 + 2 + 8,
        }
    }
}

struct Sort<'a> {
    keys: &'a [u64],
    /// How many more there may be.
    room: usize,
    element: Element,
    unsigned: bool,
    values: Option<Element>,
    number: usize,
    way: Way,
}

impl Sort<'_> {
    fn check(&self) {
        let (n, key, way) = (self.keys.len(), self.element, self.way);
        let label = format!(
            "{way:?}: {n} {key}, unsigned: {}, values: {:?}, number {}",
            self.unsigned, self.values, self.number
        );
        let (mut parameters, mut operands) = (String::new(), String::new());
        if let Some(value) = self.values {
            parameters = format!(", %v: memref<?x{value}>, %tv: memref<?x{value}>");
            operands = format!("values(%v, %tv : memref<?x{value}>, memref<?x{value}>)");
        }
        let unsigned = if self.unsigned { "unsigned" } else { "" };
        let text = format!(
            "qd.grid.kernel @k(%k: memref<?x{key}>, %tk: memref<?x{key}>, %s: memref<?xi32>, %n: memref<i32>{parameters}) {{
               qd.algo.sort keys(%k, %tk : memref<?x{key}>, memref<?x{key}>) {operands}
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2 {unsigned}
                 {{qd.tuning = {{threads = 512 : i64, items = 8 : i64}}}}
             }}"
        );
        let slots = sort_scratch_slots(n as u64, Some(2)).expect("a depth from 1 to 4");
        let keys = [self.keys, &vec![0; self.room]].concat();
        let mut arguments = vec![
            buffer(key, &keys),
            buffer(key, &keys),
            scratch(Element::I32, slots),
            count(n),
        ];
        // Where each key was, so that equal keys show whether it is stable.
        if let Some(value) = self.values {
            let places: Vec<u64> = (0..keys.len() as u64).collect();
            arguments.extend([buffer(value, &places), buffer(value, &places)]);
        }
        let schedule = match self.number % 2 {
            0 => Schedule::InOrder,
            _ => Schedule::Random {
                seed: self.number as u64,
            },
        };
        let options = Options {
            wave: [8, 32, 64, 16, 4][self.number % 5],
            schedule,
            ..Options::default()
        };
        let context = context();
        let mut module = parse(&context, &text);
        let mut run = |arguments: &[Argument], passes: Option<&str>| {
            if let Some(passes) = passes {
                pass::run_pipeline(&context, &mut module, passes).expect(passes);
            }
            let mut arguments = arguments.to_vec();
            let report = interpret(&module, "k", &mut arguments, &options)
                .unwrap_or_else(|fault| panic!("{label}: {fault}\n{}", module.as_operation()));
            (arguments, report.phases)
        };
        let meant = run(&arguments, None).0;
        let passes = "qd-to-grid{target=nvptx:sm_90},qd-verify-convergence";
        let (done, phases) = run(&arguments, Some(passes));
        assert_eq!(phases, way.phases(), "{label}: not the way that was meant");
        for result in [Some(0), self.values.map(|_| 4)].into_iter().flatten() {
            assert!(
                crate::data::bits(&meant[result]) == crate::data::bits(&done[result]),
                "{label}: argument {result} differs"
            );
        }
    }
}

const KEYS: [(Element, bool); 3] = [
    (Element::I64, true),
    (Element::I64, false),
    (Element::F64, false),
];
const VALUES: [Option<Element>; 3] = [None, Some(Element::I32), Some(Element::I64)];

/// Every type of keys with every type of values.
fn all(keys: &[u64], way: Way) {
    for number in 0..9 {
        let (element, unsigned) = KEYS[number / 3];
        Sort {
            keys,
            room: number % 2,
            element,
            unsigned,
            values: VALUES[number % 3],
            number,
            way,
        }
        .check();
    }
}

/// One type of each in turn.
fn one(keys: &[u64], number: usize, way: Way) {
    let (element, unsigned) = KEYS[number % 3];
    Sort {
        keys,
        room: number % 2,
        element,
        unsigned,
        values: VALUES[number / 3 % 3],
        number,
        way,
    }
    .check();
}

fn random(n: usize) -> Vec<u64> {
    let mut random = Random::new(n as u64);
    (0..n).map(|_| random.next()).collect()
}

/// Runs of equal upper halves: of as many keys as `length` says of each, mixed up.
fn runs(n: usize, length: impl Fn(&mut Random) -> usize) -> Vec<u64> {
    let mut random = Random::new(7);
    let mut keys = Vec::with_capacity(n);
    while keys.len() < n {
        let upper = random.next() << 32;
        for _ in 0..length(&mut random).min(n - keys.len()) {
            // Some of them are equal.
            keys.push(upper | random.below(40));
        }
    }
    for i in (1..n).rev() {
        keys.swap(i, random.below(i as u64 + 1) as usize);
    }
    keys
}

#[test]
fn keys_that_differ() {
    all(&random(2 * TILE + 1), Way::Upper);
    for (number, n) in [TILE + 1, 2 * TILE - 1, 2 * TILE, 3 * TILE + 2]
        .into_iter()
        .enumerate()
    {
        one(&random(n), number, Way::Upper);
    }
}

/// Where there could be several, which the host can not tell.
#[test]
fn a_single_tile() {
    for (number, n) in [1, 100, TILE].into_iter().enumerate() {
        let (element, unsigned) = KEYS[number];
        Sort {
            keys: &random(n),
            room: TILE + 1 - n + number,
            element,
            unsigned,
            values: VALUES[number],
            number,
            way: Way::Whole,
        }
        .check();
    }
}

#[test]
fn few_keys() {
    let mut random = Random::new(1);
    let n = 2 * TILE + 100;
    let few: Vec<u64> = (0..5).map(|_| random.next()).collect();
    let keys: Vec<u64> = (0..n).map(|_| few[random.below(5) as usize]).collect();
    one(&keys, 3, Way::Whole);
    // One key has another upper half.
    let mut keys: Vec<u64> = (0..n as u64).collect();
    keys[n / 2] |= 1 << 40;
    one(&keys, 5, Way::Whole);
}

#[test]
fn keys_of_one_upper_half() {
    let n = 2 * TILE + 33;
    for upper in [0, 0x8000_0001 << 32, 0xFFF7_1234 << 32] {
        let keys: Vec<u64> = (0..n)
            .map(|i| upper | (i as u64 * 2_654_435_761 % (1 << 32)))
            .collect();
        all(&keys, Way::Lower);
    }
    one(&vec![9; n], 4, Way::Lower);
    let sorted: Vec<u64> = (0..n as u64).collect();
    one(&sorted, 7, Way::Lower);
}

#[test]
fn runs_that_are_repaired() {
    let n = 2 * TILE + 77;
    all(&runs(n, |random| 1 + random.below(4) as usize), Way::Upper);
    for (number, length) in [2, 3, LONGEST - 1, LONGEST].into_iter().enumerate() {
        one(&runs(n, |_| length), number, Way::Upper);
    }
}

/// A single run, of keys that descend: within a tile, up to a seam, from one on and
/// over one.
#[test]
fn runs_at_seams() {
    for (number, length) in [2, LONGEST, LONGEST + 1].into_iter().enumerate() {
        for (place, at) in [
            0,
            TILE / 2,
            TILE - length,
            TILE - length / 2,
            TILE,
            2 * TILE - 1,
        ]
        .into_iter()
        .enumerate()
        {
            let way = if length > LONGEST {
                Way::Both
            } else {
                Way::Upper
            };
            with_run(2 * TILE + 1 + length, at, length, number + place, way);
        }
    }
}

/// Longer than a tile, and of keys enough not to be expected.
#[test]
fn a_run_over_a_tile() {
    with_run(6 * TILE, TILE - 10, TILE + 20, 1, Way::Both);
}

/// Unsigned keys, of which as many as said share an upper half, from the one of rank
/// `at` on.
fn with_run(n: usize, at: usize, length: usize, number: usize, way: Way) {
    let mut keys = random(n);
    keys.sort_unstable();
    let upper = keys[at] >> 32 << 32;
    for (i, key) in keys[at..at + length].iter_mut().enumerate() {
        *key = upper | ((length - i) as u64 / 2);
    }
    keys.rotate_left(n / 3);
    Sort {
        keys: &keys,
        room: 0,
        element: Element::I64,
        unsigned: true,
        values: VALUES[number % 3],
        number,
        way,
    }
    .check();
}

#[test]
fn runs_that_are_too_long() {
    for number in 0..3 {
        one(&runs(2 * TILE + 9, |_| LONGEST + 1), number, Way::Both);
    }
}

/// All digits of the upper half are the same, and each is as frequent as others.
#[test]
fn digits_that_depend_on_each_other() {
    let mut random = Random::new(3);
    let n = 3 * TILE;
    let key = |i: usize| ((i as u64 % 251) * 0x0101_0101) << 32 | random.next() >> 32;
    let keys: Vec<u64> = (0..n).map(key).collect();
    for number in 3..6 {
        one(&keys, number, Way::Both);
    }
}
