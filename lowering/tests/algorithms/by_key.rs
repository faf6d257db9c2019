//! Reduce by key: runs within and across tiles, NaN keys, region combiners.

use crate::{
    data::{
        CHUNKED_SIZES, LOOK_BACK_SIZES, PATTERNS, Pattern, SIZES, SMALL_SIZES, buffer, count,
        scratch, values, whole,
    },
    support::{Case, Same, context, depth, parse},
};
use qd_dialects::pass;
use qd_interp::{Buffer, Element};
use qd_lowering::algorithms::scratch::reduce_by_key_scratch_slots;

/// An associative function that does not commute: `x` unless it is 0, or else
/// `y`, so the first of them that is not 0.
const FIRST: &str = "identity [0 : i64] combiner {
     ^bb0(%x: i64, %y: i64):
       %zero = arith.constant 0 : i64
       %none = arith.cmpi eq, %x, %zero : i64
       %r = arith.select %none, %y, %x : i64
       qd.yield %r : i64
     }";

/// An op and what it is given.
struct ByKey {
    key: Element,
    value: Element,
    /// What combines: a kind, or a region.
    kind: &'static str,
    region: &'static str,
    keys: Vec<u64>,
    summands: Vec<u64>,
    /// Live elements.
    n: usize,
    /// With a strategy, if one is asked for.
    depth: String,
}

impl ByKey {
    fn text(&self) -> String {
        let Self {
            key,
            value,
            kind,
            region,
            depth,
            ..
        } = self;
        format!(
            "qd.grid.kernel @k(%k: memref<?x{key}>, %v: memref<?x{value}>, %ko: memref<?x{key}>, %vo: memref<?x{value}>,
                               %runs: memref<i32>, %s: memref<?xi32>, %n: memref<i32>) {{
               qd.algo.reduce_by_key {kind} ins(%k, %v : memref<?x{key}>, memref<?x{value}>)
                 outs(%ko, %vo, %runs : memref<?x{key}>, memref<?x{value}>, memref<i32>)
                 scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = {depth}
                 {region}
             }}"
        )
    }

    fn check(&self, data: &str, number: usize, target: &'static str) {
        let Self {
            key,
            value,
            kind,
            n,
            depth,
            ..
        } = self;
        let garbage = |element| values(element, Pattern::Wild, self.keys.len(), 55);
        let label = format!("reduce_by_key {kind} of {n} {key} and {value}, {data}, D = {depth}");
        let mut case = Case::new(label, self.text(), number)
            .with(buffer(*key, &self.keys))
            .with(buffer(*value, &self.summands))
            .with_result(buffer(*key, &garbage(*key)))
            .with_result(buffer(*value, &garbage(*value)))
            .with_result(Buffer::scalar(-5).into())
            .with(scratch(
                Element::I32,
                reduce_by_key_scratch_slots(*n as u64),
            ))
            .with(count(*n));
        case.same = Same::Numbers;
        case.target = target;
        case.check();
    }
}

/// What region combiners and kinds are given.
fn summands(value: Element, region: &str, n: usize, seed: u64) -> Vec<u64> {
    match region {
        "" => values(value, Pattern::Small, n, seed),
        // Mostly 0, so that what decides may be far away.
        _ => values(value, Pattern::Wild, n, seed)
            .into_iter()
            .map(|bits| match bits % 50 {
                0 => whole(value, (bits % 1000) as i64),
                _ => 0,
            })
            .collect(),
    }
}

fn check(n: usize, keys: Pattern, number: usize, target: &'static str) {
    let key = [Element::I32, Element::F32, Element::I64, Element::F64][number % 4];
    let (value, kind, region) = match number % 5 {
        0 => (Element::I32, "add", ""),
        1 => (Element::F64, "add", ""),
        2 => (Element::I64, "", FIRST),
        3 => (Element::F32, "maxnumf", ""),
        _ => (Element::I64, "minui", ""),
    };
    let (room, seed) = ([0, 3][number % 2], number as u64);
    let by_key = ByKey {
        key,
        value,
        kind,
        region,
        keys: values(key, keys, n + room, seed),
        summands: summands(value, region, n + room, seed),
        n,
        depth: depth(n, number).to_string(),
    };
    by_key.check(&format!("{keys:?}"), number, target);
}

fn all(large: &[usize], target: &'static str) {
    let mut number = 0;
    for n in SMALL_SIZES {
        for pattern in PATTERNS {
            check(n, pattern, number, target);
            number += 1;
        }
    }
    for n in large {
        check(*n, Pattern::Runs, number, target);
        check(*n, Pattern::AllEqual, number + 1, target);
        number += 2;
    }
}

#[test]
fn runs_of_all_kinds() {
    all(&SIZES[SMALL_SIZES.len()..], "any");
}

#[test]
fn runs_where_latency_counts() {
    all(&CHUNKED_SIZES, "cpu");
}

#[test]
fn runs_where_throughput_counts() {
    all(&LOOK_BACK_SIZES, "nvptx:sm_90");
}

/// Elements of a tile of the one-pass form: of the largest array that a block
/// shares.
fn tile(text: &str) -> usize {
    let context = context();
    let mut module = parse(&context, text);
    pass::run_pipeline(&context, &mut module, "qd-to-grid{target=nvptx:sm_90}").unwrap();
    let printed = module.as_operation().to_string();
    let arrays = printed.match_indices("#gpu.address_space<workgroup>");
    let length = |(at, _)| {
        let (_, shape) = printed[..at].rsplit_once("memref<")?;
        shape.split_once('x')?.0.parse().ok()
    };
    arrays.filter_map(length).max().expect("a shared array")
}

/// Runs that begin and end where tiles do, and about there.
#[test]
fn runs_about_tiles() {
    /// Keys by the element's number and the size of a tile.
    type Keys = fn(usize, usize) -> usize;
    let patterns: [(&str, Keys); 7] = [
        ("heads only", |i, _| i),
        ("one run", |_, _| 7),
        ("a run a tile", |i, tile| i / tile),
        ("a run to the first of a tile", |i, tile| i.div_ceil(tile)),
        ("a run to the last but one of a tile", |i, tile| {
            (i + 1) / tile
        }),
        ("three runs a tile", |i, tile| i / (tile / 3)),
        ("two elements a run, shifted", |i, _| i.div_ceil(2)),
    ];
    let elements = [
        (Element::I32, Element::I32, "add", ""),
        (Element::F32, Element::I64, "", FIRST),
        (Element::I64, Element::F32, "add", ""),
        (Element::F64, Element::I64, "", FIRST),
    ];
    let mut number = 0;
    for (key, value, kind, region) in elements {
        let mut by_key = ByKey {
            key,
            value,
            kind,
            region,
            keys: Vec::new(),
            summands: Vec::new(),
            n: 0,
            depth: "2 strategy = \"lookback\"".to_string(),
        };
        let tile = tile(&by_key.text());
        for n in [tile - 1, tile, tile + 1, 3 * tile, 3 * tile + tile / 2] {
            by_key.n = n;
            by_key.summands = summands(value, region, n, number as u64);
            for (name, keys) in patterns {
                by_key.keys = (0..n).map(|i| whole(key, keys(i, tile) as i64)).collect();
                by_key.check(name, number, "nvptx:sm_90");
                number += 1;
            }
        }
    }
}

/// A NaN is a run of its own, wherever it is in a tile, and no run follows
/// the last element.
#[test]
fn runs_of_nan_in_tiles() {
    for (number, key) in [Element::F32, Element::F64].into_iter().enumerate() {
        let nan = match key {
            Element::F32 => u64::from(f32::NAN.to_bits()),
            _ => f64::NAN.to_bits(),
        };
        for (n, every) in [(1000, 1), (9000, 1), (9000, 5), (10_001, 3)] {
            let by_key = ByKey {
                key,
                value: Element::I64,
                kind: "",
                region: FIRST,
                keys: (0..n)
                    .map(|i| if i % every == 0 { nan } else { 0 })
                    .collect(),
                summands: summands(Element::I64, FIRST, n, 3),
                n,
                depth: "3 strategy = \"lookback\"".to_string(),
            };
            let data = format!("every {every}. is a NaN");
            by_key.check(&data, number, "nvptx:sm_90");
        }
    }
}
