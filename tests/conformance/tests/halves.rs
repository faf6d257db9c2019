//! Sorts of 8-byte keys by half of their digits, on a target, compared with the
//! interpreter: inputs that take each path.

use qd_conformance::{
    Argument, Data, Expect, Input, Subject, affordable, any_wave, generate, report,
};
use qd_lowering::algorithms::scratch::sort_scratch_slots;

/// Keys of a tile.
const TILE: usize = 4096;

/// Numbers that look random, the same in every run.
fn random(n: usize, seed: u64) -> Vec<u64> {
    match generate("i64", Input::Random, n, seed) {
        Data::I64(numbers) => numbers.into_iter().map(|x| x as u64).collect(),
        _ => unreachable!("numbers of this type"),
    }
}

/// `length` keys of each upper half, mixed, some of which are equal.
fn runs(n: usize, length: usize) -> Vec<u64> {
    let uppers = random(n.div_ceil(length), 1);
    let lowers = random(n, 2).into_iter().enumerate();
    let key = |(i, lower)| uppers[i % uppers.len()] >> 32 << 32 | (lower % 50);
    lowers.map(key).collect()
}

/// What keys are called, and what makes so many.
type Keys = (&'static str, fn(usize) -> Vec<u64>);

const KEYS: &[Keys] = &[
    ("keys that differ", |n| random(n, 1)),
    ("pairs", |n| runs(n, 2)),
    ("runs of 32", |n| runs(n, 32)),
    ("runs of 33", |n| runs(n, 33)),
    ("digits that are the same", |n| {
        let key = |x| ((x % 251) * 0x0101_0101) << 32 | x >> 32;
        random(n, 1).into_iter().map(key).collect()
    }),
    ("few keys", |n| {
        random(7, 1).into_iter().cycle().take(n).collect()
    }),
    ("keys in order", |n| (0..n as u64).collect()),
];

fn data(element: &str, bits: &[u64]) -> Data {
    match element {
        "f64" => Data::F64(bits.iter().map(|b| f64::from_bits(*b)).collect()),
        "i64" => Data::I64(bits.iter().map(|b| *b as i64).collect()),
        _ => Data::I32(bits.iter().map(|b| *b as i32).collect()),
    }
}

/// Each input with the values that make it plain whether equal keys keep their order.
fn sorting(key: &str, order: &str) {
    let sizes = affordable([TILE, TILE + 1, 3 * TILE, 70_001]);
    for (number, value) in [None, Some("i32"), Some("i64")].into_iter().enumerate() {
        let (mut parameters, mut operands) = (String::new(), String::new());
        if let Some(value) = value {
            parameters = format!(", %v: memref<?x{value}>, %w: memref<?x{value}>");
            operands = format!("values(%v, %w : memref<?x{value}>, memref<?x{value}>)");
        }
        let subject = Subject::new(format!(
            "qd.grid.kernel @main(%k: memref<?x{key}>, %t: memref<?x{key}>, \
             %s: memref<?xi32>, %n: memref<i32>{parameters}) {{
               qd.algo.sort keys(%k, %t : memref<?x{key}>, memref<?x{key}>) {operands} \
             scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 {order} \
             {{qd.tuning = {{threads = 512 : i64, items = 8 : i64}}}}
             }}"
        ));
        for (i, (name, keys)) in KEYS.iter().enumerate() {
            let n = sizes[(i + number) % sizes.len()];
            let argument = |data, expect| Argument { data, expect };
            // More room than keys, so that the host does not know of a single tile.
            let room = n + 5;
            let slots = sort_scratch_slots(room as u64, Some(3)).expect("a depth from 1 to 4");
            let nothing = vec![0; room];
            let mut arguments = vec![
                argument(data(key, &keys(room)), Expect::Same),
                argument(data(key, &nothing), Expect::Scratch),
                argument(Data::I32(vec![0; slots as usize]), Expect::Scratch),
                argument(Data::Count(n as i32), Expect::Same),
            ];
            if let Some(value) = value {
                let places: Vec<u64> = (0..room as u64).collect();
                arguments.push(argument(data(value, &places), Expect::Same));
                arguments.push(argument(data(value, &nothing), Expect::Scratch));
            }
            let about = format!("sort {key} {order} {value:?}, n = {n}, {name}");
            subject.check(any_wave(), &arguments, &about);
        }
    }
    report(&format!("sort {key} {order} by halves"));
}

#[test]
fn unsigned_keys() {
    sorting("i64", "unsigned");
}

#[test]
fn signed_keys() {
    sorting("i64", "");
}

#[test]
fn floats() {
    sorting("f64", "");
}
