//! Subgroup operations, at every subgroup size.

use crate::support::*;

fn sample(seed: u64) -> Vec<i32> {
    noise(seed, 64)
        .into_iter()
        .map(|x| (x % 1000) as i32 - 500)
        .collect()
}

/// What each lane gets: a function of its subgroup's (or tile's) values and its
/// place among them.
fn check(
    body: &str,
    input: &[i32],
    group: impl Fn(u32) -> usize,
    f: impl Fn(&[i32], usize) -> i32,
) {
    for wave in WAVES {
        let size = group(wave);
        if size > wave as usize {
            continue;
        }
        let expected: Vec<i32> = input
            .chunks(size)
            .flat_map(|lanes| (0..size).map(|lane| f(lanes, lane)).collect::<Vec<_>>())
            .collect();
        assert_eq!(
            map64::<i32, i32>("i32", "i32", body, input, wave),
            expected,
            "wave {wave}: {body}"
        );
    }
}

fn whole(wave: u32) -> usize {
    wave as usize
}

#[test]
fn identities() {
    let wave_of = |body: &str, wave| map64::<i32, i32>("i32", "i32", body, &[0; 64], wave);
    for wave in WAVES {
        let w = wave as i32;
        let lanes: Vec<i32> = (0..64).map(|t| t % w).collect();
        let ids: Vec<i32> = (0..64).map(|t| t / w).collect();
        assert_eq!(wave_of("%r = qd.simt.lane_id", wave), lanes);
        assert_eq!(wave_of("%r = qd.simt.subgroup_id", wave), ids);
        assert_eq!(wave_of("%r = qd.simt.subgroup_size", wave), [w; 64]);
        assert_eq!(wave_of("%r = qd.simt.num_subgroups", wave), [64 / w; 64]);
        assert_eq!(
            wave_of("%r = qd.simt.log2_subgroup_size", wave),
            [w.trailing_zeros() as i32; 64]
        );
        assert_eq!(
            wave_of("%e = qd.simt.elect\n %r = arith.extui %e : i1 to i32", wave),
            lanes
                .iter()
                .map(|&lane| (lane == 0) as i32)
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn shuffles() {
    let x = sample(1);
    let lane = "%lane = qd.simt.lane_id
      %size = qd.simt.subgroup_size
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %c0 = arith.constant 0 : i32
      %last = arith.subi %size, %c1 : i32";
    check(
        &format!(
            "{lane}\n %m = arith.subi %last, %lane : i32\n %r = qd.simt.shuffle idx %x, %m : i32"
        ),
        &x,
        whole,
        |v, lane| v[v.len() - 1 - lane],
    );
    check(
        &format!("{lane}\n %r = qd.simt.shuffle xor %x, %c3 : i32"),
        &x,
        whole,
        |v, lane| v[lane ^ 3],
    );
    // Where there is no such lane, up and down keep the lane's own.
    check(
        &format!("{lane}\n %r = qd.simt.shuffle up %x, %c3 : i32"),
        &x,
        whole,
        |v, lane| v[lane.checked_sub(3).unwrap_or(lane)],
    );
    check(
        &format!("{lane}\n %r = qd.simt.shuffle down %x, %c3 : i32"),
        &x,
        whole,
        |v, lane| v.get(lane + 3).copied().unwrap_or(v[lane]),
    );
    // Distances are unsigned.
    check(
        "%m = arith.constant -1 : i32\n %r = qd.simt.shuffle down %x, %m : i32",
        &x,
        whole,
        |v, lane| v[lane],
    );
    check(
        &format!("{lane}\n %r = qd.simt.broadcast %x, %last : i32"),
        &x,
        whole,
        |v, _| v[v.len() - 1],
    );
    check(
        "%r = qd.simt.broadcast_first %x : i32",
        &x,
        whole,
        |v, _| v[0],
    );
    for distance in [0, 1, 5, -1] {
        let body =
            format!("%d = arith.constant {distance} : i32\n %r = qd.simt.rotate %x, %d : i32");
        let from =
            |lane: usize, size: usize| (lane as i64 + distance).rem_euclid(size as i64) as usize;
        check(&body, &x, whole, |v, lane| v[from(lane, v.len())]);
        let body = format!(
            "%d = arith.constant {distance} : i32\n %r = qd.simt.rotate %x, %d tile(2) : i32"
        );
        check(&body, &x, |_| 4, |v, lane| v[from(lane, 4)]);
    }
}

#[test]
fn shuffles_move_64_bits() {
    let input: Vec<f64> = (0..64).map(|i| i as f64 + 1e-9).collect();
    let body = "%c1 = arith.constant 1 : i32\n %r = qd.simt.shuffle xor %x, %c1 : f64";
    let expected: Vec<f64> = (0..64).map(|i| input[i ^ 1]).collect();
    assert_eq!(map64::<f64, f64>("f64", "f64", body, &input, 32), expected);
}

#[test]
fn votes() {
    let mut x = vec![1; 64];
    (x[5], x[40]) = (0, 0);
    let vote = |op: &str| {
        format!(
            "%c0 = arith.constant 0 : i32
             %p = arith.cmpi ne, %x, %c0 : i32
             %v = {op}
             %r = arith.extui %v : i1 to i32"
        )
    };
    let all = |v: &[i32], _| v.iter().all(|&x| x != 0) as i32;
    let any = |v: &[i32], _| v.iter().any(|&x| x != 0) as i32;
    check(&vote("qd.simt.all %p"), &x, whole, all);
    check(&vote("qd.simt.all %p tile(3)"), &x, |_| 8, all);
    check(&vote("qd.simt.all %p tile(0)"), &x, |_| 1, all);
    let inverted: Vec<i32> = x.iter().map(|x| 1 - x).collect();
    check(&vote("qd.simt.any %p"), &inverted, whole, any);
    check(&vote("qd.simt.any %p tile(2)"), &inverted, |_| 4, any);
    let count = |op: &str| {
        format!(
            "%c0 = arith.constant 0 : i32
             %p = arith.cmpi ne, %x, %c0 : i32
             %r = {op}"
        )
    };
    let number = |v: &[i32], _| v.iter().sum();
    check(&count("qd.simt.count_true %p"), &x, whole, number);
    check(&count("qd.simt.count_true %p tile(3)"), &x, |_| 8, number);
    check(
        &count("qd.simt.count_true %p tile(0)"),
        &inverted,
        |_| 1,
        number,
    );
    let equal = |v: &[i32], _| v.iter().all(|x| *x == v[0]) as i32;
    check(&vote("qd.simt.all_equal %x : i32"), &x, whole, equal);
    check(
        &vote("qd.simt.all_equal %x tile(4) : i32"),
        &x,
        |_| 16,
        equal,
    );
}

/// NaN is unlike itself, the zeros are alike.
#[test]
fn equality_of_floats() {
    let body = "%v = qd.simt.all_equal %x : f32\n %r = arith.extui %v : i1 to i32";
    let of = |input: &[f32]| map64::<f32, i32>("f32", "i32", body, input, 16);
    let mut input = vec![0.0; 64];
    input[3] = -0.0;
    input[16..32].fill(f32::NAN);
    input[40] = 1.0;
    let expected: Vec<i32> = (0..64).map(|t| [1, 0, 0, 1][t / 16]).collect();
    assert_eq!(of(&input), expected);
}

#[test]
fn masks() {
    let x = sample(2);
    let negative = "%c0 = arith.constant 0 : i32\n %p = arith.cmpi slt, %x, %c0 : i32";
    for wave in WAVES {
        let mask = |v: &[i32]| {
            v.iter()
                .enumerate()
                .fold(0u64, |m, (i, &x)| m | ((x < 0) as u64) << i)
        };
        let each = |f: &dyn Fn(&[i32]) -> u64| -> Vec<u64> {
            x.chunks(wave as usize)
                .flat_map(|v| vec![f(v); v.len()])
                .collect()
        };
        let body = format!("{negative}\n %r = qd.simt.ballot %p");
        assert_eq!(
            map64::<i32, u64>("i32", "i64", &body, &x, wave),
            each(&mask)
        );
        for n in [1, 7, 32] {
            let body = format!("{negative}\n %r = qd.simt.ballot_first_n {n} %p");
            let first = |v: &[i32]| mask(v) & ((1u64 << n) - 1);
            let expected: Vec<u32> = each(&first).into_iter().map(|m| m as u32).collect();
            assert_eq!(map64::<i32, u32>("i32", "i32", &body, &x, wave), expected);
        }
        let few: Vec<i32> = x.iter().map(|x| x.rem_euclid(3)).collect();
        let expected: Vec<u64> = few
            .chunks(wave as usize)
            .flat_map(|v| {
                v.iter()
                    .map(|x| {
                        v.iter()
                            .enumerate()
                            .fold(0, |m, (i, y)| m | ((x == y) as u64) << i)
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(
            map64::<i32, u64>("i32", "i64", "%r = qd.simt.match_any %x : i32", &few, wave),
            expected
        );
        // All lanes or none: one value in all, one other in the last lane of the block, and few.
        let all = u64::MAX >> (64 - wave);
        let mut last = vec![-5; x.len()];
        last[x.len() - 1] = 5;
        for values in [&vec![-5; x.len()], &last, &few] {
            let same = values.chunks(wave as usize).flat_map(|v| {
                let mask = if v.iter().all(|x| *x == v[0]) { all } else { 0 };
                vec![mask; v.len()]
            });
            assert_eq!(
                map64::<i32, u64>(
                    "i32",
                    "i64",
                    "%r = qd.simt.match_all %x : i32",
                    values,
                    wave
                ),
                same.collect::<Vec<_>>()
            );
        }
        assert_eq!(
            map64::<i32, u64>("i32", "i64", "%r = qd.simt.active_mask", &few, wave),
            vec![all; x.len()]
        );
        // What differs above the bits that are compared does not count.
        let more: Vec<i32> = (0..).zip(&few).map(|(i, x)| x | (i << 2)).collect();
        let lowest = "%r = qd.simt.match_any %x bits(2) : i32";
        assert_eq!(
            map64::<i32, u64>("i32", "i64", lowest, &more, wave),
            expected
        );
    }
}

#[test]
fn lane_masks() {
    let lanes: Vec<i32> = (0..64).collect();
    for (relation, f) in [
        ("lt", (|i, lane| i < lane) as fn(u32, u32) -> bool),
        ("le", |i, lane| i <= lane),
        ("eq", |i, lane| i == lane),
        ("gt", |i, lane| i > lane),
        ("ge", |i, lane| i >= lane),
    ] {
        let mask =
            |lane: u32, width: u32| (0..width).fold(0u64, |m, i| m | (f(i, lane) as u64) << i);
        let body = format!("%r = qd.simt.lanemask {relation} %x : i64");
        let expected: Vec<u64> = (0..64).map(|lane| mask(lane, 64)).collect();
        assert_eq!(map64::<i32, u64>("i32", "i64", &body, &lanes, 8), expected);
        let narrow: Vec<i32> = lanes.iter().map(|x| x % 32).collect();
        let body = format!("%r = qd.simt.lanemask {relation} %x : i32");
        let expected: Vec<u32> = (0..64).map(|lane| mask(lane % 32, 32) as u32).collect();
        assert_eq!(map64::<i32, u32>("i32", "i32", &body, &narrow, 8), expected);
    }
}

type Kind = (&'static str, fn(i32, i32) -> i32, i32);

const KINDS: [Kind; 9] = [
    ("add", |x, y| x.wrapping_add(y), 0),
    ("mul", |x, y| x.wrapping_mul(y), 1),
    ("minsi", |x, y| if x < y { x } else { y }, i32::MAX),
    ("maxsi", |x, y| if x > y { x } else { y }, i32::MIN),
    (
        "minui",
        |x, y| if (x as u32) < y as u32 { x } else { y },
        -1,
    ),
    ("maxui", |x, y| if x as u32 > y as u32 { x } else { y }, 0),
    ("and", |x, y| x & y, -1),
    ("or", |x, y| x | y, 0),
    ("xor", |x, y| x ^ y, 0),
];

#[test]
fn reductions_and_scans() {
    let x = sample(3);
    for (kind, f, identity) in KINDS {
        let fold = |v: &[i32]| v[1..].iter().fold(v[0], |a, &b| f(a, b));
        for (tile, group) in [
            ("", None),
            (" tile(2)", Some(4)),
            (" tile(3)", Some(8)),
            (" tile(0)", Some(1)),
        ] {
            let group = |wave: u32| group.unwrap_or(wave as usize);
            check(
                &format!("%r = qd.simt.reduce_all {kind} %x{tile} : i32"),
                &x,
                group,
                |v, _| fold(v),
            );
            check(
                &format!("%r = qd.simt.inclusive_scan {kind} %x{tile} : i32"),
                &x,
                group,
                |v, lane| fold(&v[..=lane]),
            );
            check(
                &format!("%r = qd.simt.exclusive_scan {kind} %x{tile} : i32"),
                &x,
                group,
                |v, lane| {
                    if lane == 0 {
                        identity
                    } else {
                        fold(&v[..lane])
                    }
                },
            );
        }
        // The result is in lane 0 alone: only it is looked at.
        let body = format!(
            "%s = qd.simt.reduce {kind} %x : i32
             %e = qd.simt.elect
             %c0 = arith.constant 0 : i32
             %r = arith.select %e, %s, %c0 : i32"
        );
        check(
            &body,
            &x,
            whole,
            |v, lane| if lane == 0 { fold(v) } else { 0 },
        );
    }
}

#[test]
fn segments() {
    let x = sample(4);
    let body = |tile: &str| {
        format!(
            "%c0 = arith.constant 0 : i32
             %c4 = arith.constant 4 : i32
             %m = arith.remui %x, %c4 : i32
             %h = arith.cmpi eq, %m, %c0 : i32
             %r = qd.simt.segmented_reduce add %x heads %h{tile} : i32"
        )
    };
    let f = |v: &[i32], lane: usize| {
        let start = (0..=lane).rev().find(|&i| v[i] & 3 == 0).unwrap_or(0);
        v[start..=lane].iter().sum()
    };
    check(&body(""), &x, whole, f);
    check(&body(" tile(3)"), &x, |_| 8, f);
}

/// Function composition `x -> a·x + b` is associative and not commutative.
#[test]
fn regions_combine_in_lane_order() {
    let body = |op: &str| {
        format!(
            "%lane = qd.simt.lane_id
             %p, %q = {op} %x, %lane : i32, i32 identity [1 : i32, 0 : i32] combiner {{
             ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
               %na = arith.muli %la, %ra : i32
               %m = arith.muli %lb, %ra : i32
               %nb = arith.addi %m, %rb : i32
               qd.yield %na, %nb : i32, i32
             }}
             %r = arith.xori %p, %q : i32"
        )
    };
    let x = sample(5);
    let fold = |v: &[i32]| {
        let (mut a, mut b) = (v[0], 0i32);
        for (lane, &x) in v.iter().enumerate().skip(1) {
            (a, b) = (
                a.wrapping_mul(x),
                b.wrapping_mul(x).wrapping_add(lane as i32),
            );
        }
        a ^ b
    };
    check(&body("qd.simt.reduce_all"), &x, whole, |v, _| fold(v));
    check(&body("qd.simt.inclusive_scan"), &x, whole, |v, lane| {
        fold(&v[..=lane])
    });
    check(&body("qd.simt.exclusive_scan"), &x, whole, |v, lane| {
        if lane == 0 { 1 } else { fold(&v[..lane]) }
    });
}

#[test]
fn minimum_of_floats_ignores_nan() {
    let mut input: Vec<f32> = (0..64).map(|i| i as f32 - 20.0).collect();
    (input[0], input[21]) = (f32::NAN, f32::NAN);
    let body = "%r = qd.simt.reduce_all minnumf %x : f32";
    let result: Vec<f32> = map64("f32", "f32", body, &input, 32);
    assert_eq!((result[0], result[63]), (-19.0, 12.0));
    let body = "%r = qd.simt.exclusive_scan maxnumf %x : f32";
    let result: Vec<f32> = map64("f32", "f32", body, &input, 32);
    assert_eq!(
        (result[0], result[2], result[31]),
        (f32::NEG_INFINITY, -19.0, 10.0)
    );
    assert!(result[1].is_nan(), "NaN alone stays NaN");
}

#[test]
fn float_sums_go_from_the_lowest_lane_up() {
    let input: Vec<f32> = noise(6, 64)
        .into_iter()
        .map(|x| (x >> 40) as f32 * 1e-3)
        .collect();
    let expected: Vec<f32> = input
        .chunks(16)
        .flat_map(|v| [v[1..].iter().fold(v[0], |a, b| a + b); 16])
        .collect();
    assert_eq!(
        map64::<f32, f32>(
            "f32",
            "f32",
            "%r = qd.simt.reduce_all add %x : f32",
            &input,
            16
        ),
        expected
    );
}

#[test]
fn sorts_pairs() {
    let x: Vec<i32> = sample(7).into_iter().map(|x| x % 7).collect();
    for (options, key) in [("", 0u32), ("unsigned_key ", 1)] {
        for (tile, group) in [("", None), ("tile(3) ", Some(8))] {
            // Keys repeat; values are their lanes reversed, so that they decide.
            let sorted = |v: &[i32]| {
                let mut pairs: Vec<(i64, i32, i32)> = v
                    .iter()
                    .enumerate()
                    .map(|(i, &k)| {
                        (
                            if key == 1 { k as u32 as i64 } else { k as i64 },
                            100 - i as i32,
                            k,
                        )
                    })
                    .collect();
                pairs.sort();
                pairs
            };
            let body = |which: &str| {
                format!(
                    "%lane = qd.simt.lane_id
                     %mod = arith.constant {} : i32
                     %place = arith.remsi %lane, %mod : i32
                     %c100 = arith.constant 100 : i32
                     %v = arith.subi %c100, %place : i32
                     %sk, %sv = qd.simt.bitonic_sort_kv %x, %v {tile}{options}: i32, i32
                     %zero = arith.constant 0 : i32
                     %r = arith.addi {which}, %zero : i32",
                    group.unwrap_or(64)
                )
            };
            let group = |wave: u32| group.unwrap_or(wave as usize);
            check(&body("%sk"), &x, group, |v, lane| sorted(v)[lane].2);
            check(&body("%sv"), &x, group, |v, lane| sorted(v)[lane].1);
        }
    }
}

#[test]
fn sorts_floats_with_wide_values() {
    let input: Vec<f32> = noise(8, 64)
        .into_iter()
        .map(|x| (x % 100) as f32 - 50.5)
        .collect();
    let body = "%w = arith.extf %x : f32 to f64
      %k, %v = qd.simt.bitonic_sort_kv %x, %w : f32, f64
      %r = arith.truncf %v : f64 to f32";
    let mut expected = input.clone();
    expected
        .chunks_mut(32)
        .for_each(|v| v.sort_by(f32::total_cmp));
    assert_eq!(map64::<f32, f32>("f32", "f32", body, &input, 32), expected);
}

/// By their bits: −0 before +0, NaNs first or last by their sign.
#[test]
fn sorts_nans_and_zeros() {
    let some = [
        0.0,
        f32::NAN,
        -0.0,
        -f32::INFINITY,
        -f32::NAN,
        1.5,
        f32::INFINITY,
        -1.5,
    ];
    let input: Vec<f32> = (0..64).map(|i| some[i * 5 % some.len()]).collect();
    let body = "%r, %v = qd.simt.bitonic_sort_kv %x, %x tile(4) : f32, f32";
    let mut expected = input.clone();
    expected
        .chunks_mut(16)
        .for_each(|v| v.sort_by(f32::total_cmp));
    let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let got = map64::<f32, f32>("f32", "f32", body, &input, 16);
    assert_eq!(bits(&got), bits(&expected));
}
