//! Every expansion of a collective, on inputs that stand for all others.
//!
//! An expansion moves values between lanes and combines them, and looks at none of them. So what it yields in a lane is a
//! product of lanes' values, the same product whatever these are. Where lane `i` brings the run `[i, i]` and two runs
//! combine to a run if one follows the other, a result of `[a, b]` is the product of the lanes `a` to `b`, each once and in
//! order: for every associative function. Of a kind, which commutes, sums of one lane's 1 tell as much. Votes, matches and ranks do look at their values: of these all are tried, in
//! subgroups of 4 and 8 lanes. A network that sorts all sequences of 0 and 1 sorts everything.

use crate::support::*;
use qd_interp::Argument;
use qd_passes::expand_collectives::expansions_of;
use std::ops::Range;

/// `%product` of `%a` and `%b`, all with `of` behind their names. A run is the number of its first lane and, in the lower
/// 16 bits, that of its last; no lanes are −1, and what is no run is −2.
fn product(of: &str) -> String {
    format!(
        "%zero{of} = arith.constant 0 : i64
        %none{of} = arith.constant -1 : i64
        %wrong{of} = arith.constant -2 : i64
        %c16{of} = arith.constant 16 : i64
        %one{of} = arith.constant 1 : i64
        %low{of} = arith.constant 65535 : i64
        %last_a{of} = arith.andi %a{of}, %low{of} : i64
        %next{of} = arith.addi %last_a{of}, %one{of} : i64
        %first_b{of} = arith.shrui %b{of}, %c16{of} : i64
        %last_b{of} = arith.andi %b{of}, %low{of} : i64
        %first_a{of} = arith.subi %a{of}, %last_a{of} : i64
        %joined{of} = arith.addi %first_a{of}, %last_b{of} : i64
        %follows{of} = arith.cmpi eq, %next{of}, %first_b{of} : i64
        %is_a{of} = arith.cmpi sge, %a{of}, %zero{of} : i64
        %is_b{of} = arith.cmpi sge, %b{of}, %zero{of} : i64
        %both{of} = arith.andi %is_a{of}, %is_b{of} : i1
        %is_run{of} = arith.andi %follows{of}, %both{of} : i1
        %run{of} = arith.select %is_run{of}, %joined{of}, %wrong{of} : i64
        %no_a{of} = arith.cmpi eq, %a{of}, %none{of} : i64
        %no_b{of} = arith.cmpi eq, %b{of}, %none{of} : i64
        %or_a{of} = arith.select %no_b{of}, %a{of}, %run{of} : i64
        %product{of} = arith.select %no_a{of}, %b{of}, %or_a{of} : i64\n    "
    )
}

/// What combines runs.
fn runs() -> String {
    format!(
        "identity [{NONE} : i64] combiner {{
      ^bb0(%a: i64, %b: i64):
        {}qd.yield %product : i64
      }}",
        product("")
    )
}

const NONE: i64 = -1;
const WRONG: i64 = -2;

fn run_of(first: usize, last: usize) -> i64 {
    (first << 16 | last) as i64
}

/// Executes `body`, which makes results of `%x`, before and after the expansion; the results of each thread.
fn results(
    [threads, blocks]: [usize; 2],
    wave: u32,
    body: &str,
    results: &[String],
    input: &[i64],
) -> Vec<Vec<i64>> {
    let columns = results.len();
    let store = results.iter().enumerate().map(|(column, result)| {
        format!(
            "    %column{column} = arith.constant {column} : index
    %at{column} = arith.addi %row, %column{column} : index
    memref.store {result}, %out[%at{column}] : memref<?xi64>\n"
        )
    });
    let text = format!(
        "qd.grid.kernel @k(%in: memref<?xi64>, %out: memref<?xi64>) {{
  %g = arith.constant {blocks} : index
  qd.grid.phase blocks(%g) threads({threads}) {{
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %t = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %t : index
    %columns = arith.constant {columns} : index
    %row = arith.muli %i, %columns : index
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %x = memref.load %in[%i] : memref<?xi64>
    %word = arith.trunci %x : i64 to i32
    %p = arith.trunci %x : i64 to i1
    {body}
{}  }}
}}",
        store.collect::<String>()
    );
    assert_eq!(input.len(), threads * blocks);
    let arguments = [buffer(input), room(input.len() * columns, 7i64)];
    let after = unchanged_by(&expansion(wave), &text, &arguments, wave);
    let Argument::Buffer(out) = &after[1] else {
        panic!("a buffer");
    };
    let words = out.data.chunks(8);
    let words: Vec<i64> = words
        .map(|word| i64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect();
    words.chunks(columns).map(<[i64]>::to_vec).collect()
}

/// Each expansion of an op, as an attribute.
fn forms(op: &str) -> Vec<String> {
    let forms: Vec<_> = expansions_of(op)
        .map(|form| format!("{{qd.form = \"{form}\"}}"))
        .collect();
    assert!(!forms.is_empty(), "{op} has no expansion");
    forms
}

/// The ops that combine: the lanes whose product a lane has, of a group's first lane and the one behind its last; none
/// where the result is undefined.
type Product = fn(Range<usize>, lane: usize) -> Option<Range<usize>>;
const COMBINING: [(&str, Product); 4] = [
    ("reduce", |group, lane| {
        (lane == group.start).then_some(group)
    }),
    ("reduce_all", |group, _| Some(group)),
    ("inclusive_scan", |group, lane| Some(group.start..lane + 1)),
    ("exclusive_scan", |group, lane| Some(group.start..lane)),
];

/// Every expansion of these, in groups of `size` threads of a block: of runs, and of sums of one lane's 1.
fn combines(prefix: &str, tile: &str, threads: usize, size: usize, wave: u32) {
    let mut ways = Vec::new();
    for (op, product) in COMBINING {
        let op = format!("{prefix}{op}");
        ways.extend(
            forms(&op)
                .into_iter()
                .map(|form| (op.clone(), form, product)),
        );
    }
    let of_all = |combiner: &str, input: &[i64], expected: &dyn Fn(usize, Range<usize>) -> i64| {
        let mut body = format!(
            "%size = arith.constant {size} : index
    %within = arith.remui %t, %size : index
    %i0 = arith.constant 0 : index
    %is_first = arith.cmpi eq, %within, %i0 : index\n"
        );
        let mut names = Vec::new();
        for (at, (op, form, product)) in ways.iter().enumerate() {
            let (kind, region) = match combiner {
                "add" => ("add", ""),
                region => ("", region),
            };
            body += &format!("    %r{at} = {op} {kind} %x {tile} {form} : i64 {region}\n");
            names.push(format!("%r{at}"));
            if product(0..2, 1).is_none() {
                // What is undefined is not stored.
                body += &format!("    %own{at} = arith.select %is_first, %r{at}, %c0 : i64\n");
                names[at] = format!("%own{at}");
            }
        }
        let blocks = input.len() / threads;
        let rows = results([threads, blocks], wave, &body, &names, input);
        for (at, row) in rows.into_iter().enumerate() {
            let (block, lane) = (at / threads, at % threads);
            let first = lane - lane % size;
            let has = ways
                .iter()
                .map(|(.., product)| product(first..first + size, lane));
            let has: Vec<i64> = has
                .map(|lanes| lanes.map_or(0, |lanes| expected(block, lanes)))
                .collect();
            assert_eq!(
                row, has,
                "thread {lane} of {threads} in groups of {size} at wave {wave}"
            );
        }
    };
    let lanes: Vec<i64> = (0..threads).map(|t| run_of(t, t)).collect();
    of_all(&runs(), &lanes, &|_, lanes| match lanes.is_empty() {
        true => NONE,
        false => run_of(lanes.start, lanes.end - 1),
    });
    // Kinds commute, and are combined without a look at which lane is the lower one.
    if threads < 200 {
        let one = |block| (0..threads).map(move |t| i64::from(t == block));
        let marks: Vec<i64> = (0..threads).flat_map(one).collect();
        of_all("add", &marks, &|marked, lanes| {
            lanes.contains(&marked).into()
        });
    }
}

#[test]
fn subgroups_combine_their_lanes() {
    for wave in WAVES {
        let size = wave as usize;
        for log in 0..=wave.ilog2() {
            combines("qd.simt.", &format!("tile({log})"), size, 1 << log, wave);
        }
        combines("qd.simt.", "", size, size, wave);
        combines("qd.simt.", "", 2 * size, size, wave);
    }
}

#[test]
fn blocks_combine_their_threads() {
    for wave in WAVES {
        let size = wave as usize;
        for threads in [size, 3 * size, 1024] {
            combines("qd.simt.block.", "", threads, threads, wave);
        }
    }
}

/// Runs of the lanes since the last head: with every set of heads in four and eight lanes, and every single head.
#[test]
fn segments_combine_their_lanes_in_order() {
    for wave in WAVES {
        let size = wave as usize;
        let heads: Vec<u64> = match wave {
            4 | 8 => (0..1 << wave).collect(),
            _ => (0..wave)
                .map(|lane| 1 << lane)
                .chain([0, u64::MAX])
                .collect(),
        };
        let logs = (0..=wave.ilog2()).map(Some).chain([None]);
        for log in logs {
            let tile = log.map(|log| format!("tile({log})")).unwrap_or_default();
            let group = log.map_or(size, |log| 1 << log);
            // The head in bit 32, and the run of the lane.
            let body = format!(
                "%c32 = arith.constant 32 : i64
    %above = arith.shrui %x, %c32 : i64
    %head = arith.trunci %above : i64 to i1
    %mask = arith.constant 4294967295 : i64
    %own = arith.andi %x, %mask : i64
    %r = qd.simt.segmented_reduce %own heads %head {tile} : i64 {}",
                runs()
            );
            let input = heads.iter().flat_map(|heads| {
                (0..size).map(move |lane| run_of(lane, lane) | ((heads >> lane & 1) as i64) << 32)
            });
            let input: Vec<i64> = input.collect();
            let rows = results([size, heads.len()], wave, &body, &["%r".into()], &input);
            for (at, row) in rows.into_iter().enumerate() {
                let (heads, lane) = (heads[at / size], at % size);
                let base = lane - lane % group;
                let first = (base..=lane).rev().find(|at| heads >> at & 1 != 0);
                let first = first.unwrap_or(base);
                assert_eq!(
                    row,
                    [run_of(first, lane)],
                    "heads {heads:b} at wave {wave}, {tile}"
                );
            }
        }
    }
}

/// Votes and masks of every set of predicates.
#[test]
fn votes_of_every_set_of_lanes() {
    for wave in [4u32, 8] {
        let size = wave as usize;
        for log in (0..=wave.ilog2()).map(Some).chain([None]) {
            let tile = log.map(|log| format!("tile({log})")).unwrap_or_default();
            let group = log.map_or(size, |log| 1 << log);
            let mut body = String::new();
            for (number, op) in [
                format!("qd.simt.all %p {tile}"),
                format!("qd.simt.any %p {tile}"),
                format!("qd.simt.all_equal %word {tile} : i32"),
                format!("qd.simt.all_equal %p {tile} : i1"),
            ]
            .iter()
            .enumerate()
            {
                body += &format!(
                    "%v{number} = {op}\n    %r{number} = arith.extui %v{number} : i1 to i64\n    "
                );
            }
            body += &format!(
                "%n = qd.simt.count_true %p {tile}
    %r4 = arith.extui %n : i32 to i64
    %three = qd.simt.ballot_first_n 3 %p
    %r5 = arith.extui %three : i32 to i64
    %r6 = qd.simt.match_any %x : i64
    %r7 = qd.simt.match_all %x : i64"
            );
            let names: Vec<String> = (0..8).map(|number| format!("%r{number}")).collect();
            let sets: Vec<u64> = (0..1 << wave).collect();
            let input = sets
                .iter()
                .flat_map(|set| (0..size).map(move |lane| (set >> lane & 1) as i64));
            let input: Vec<i64> = input.collect();
            let rows = results([size, sets.len()], wave, &body, &names, &input);
            for (at, row) in rows.into_iter().enumerate() {
                let (set, lane) = (sets[at / size], at % size);
                let lanes = ((1u64 << group) - 1) << (lane - lane % group);
                let (all, of) = ((1u64 << wave) - 1, set & lanes);
                let equal = of == 0 || of == lanes;
                let peers = if set >> lane & 1 != 0 {
                    set
                } else {
                    !set & all
                };
                let is_same = set == 0 || set == all;
                let expected = [
                    u64::from(of == lanes),
                    u64::from(of != 0),
                    u64::from(equal),
                    u64::from(equal),
                    u64::from(of.count_ones()),
                    set & 7,
                    peers,
                    if is_same { all } else { 0 },
                ];
                assert_eq!(
                    row,
                    expected.map(|x| x as i64),
                    "{set:b} in lane {lane} at wave {wave}, {tile}"
                );
            }
        }
    }
}

/// Four lanes with every number of two bits each.
fn every_quartet() -> Vec<i64> {
    let all = 0..256i64;
    all.flat_map(|numbers| (0..4).map(move |lane| numbers >> (2 * lane) & 3))
        .collect()
}

#[test]
fn matches_of_every_quartet() {
    let input = every_quartet();
    let body = "%r0 = qd.simt.match_any %word bits(2) : i32
    %r1 = qd.simt.match_any %word bits(1) : i32
    %r2 = qd.simt.match_all %word : i32";
    let names = ["%r0".into(), "%r1".into(), "%r2".into()];
    let rows = results([4, 256], 4, body, &names, &input);
    for (at, row) in rows.into_iter().enumerate() {
        let numbers = &input[at / 4 * 4..][..4];
        let peers = |mask: i64| {
            let is_peer = |other: usize| (numbers[other] ^ input[at]) & mask == 0;
            (0..4).fold(0, |peers, other| peers | i64::from(is_peer(other)) << other)
        };
        let all = if peers(3) == 15 { 15 } else { 0 };
        assert_eq!(row, [peers(3), peers(1), all], "{numbers:?}");
    }
}

/// Each way to rank, of every four digits of two bits, and of every eight of one.
#[test]
fn ranks_of_every_block() {
    let octets = (0..256i64).flat_map(|bits| (0..8).map(move |lane| bits >> lane & 1));
    for (threads, bits, input) in [(4, 2, every_quartet()), (8, 1, octets.collect())] {
        let shared = format!("memref<{}xi32, #gpu.address_space<workgroup>>", 1 << bits);
        for form in expansions_of("qd.simt.block.radix_rank") {
            let body = format!(
                "%hist = qd.simt.block.shared : {shared}
    %prefix = qd.simt.block.shared : {shared}
    %rank = qd.simt.block.radix_rank %word, %hist, %prefix {{radix_bits = {bits} : i32, qd.form = \"{form}\"}} : {shared}, {shared}
    %r = arith.extui %rank : i32 to i64"
            );
            let blocks = input.len() / threads;
            let rows = results([threads, blocks], 4, &body, &["%r".into()], &input);
            for (at, row) in rows.into_iter().enumerate() {
                let digits = &input[at / threads * threads..][..threads];
                let own = at % threads;
                let before = |other: usize| {
                    digits[other] < digits[own] || digits[other] == digits[own] && other < own
                };
                let rank = (0..threads).filter(|other| before(*other)).count();
                assert_eq!(row, [rank as i64], "{digits:?} by {form}");
            }
        }
    }
}

/// By the principle of 0 and 1, for networks of up to 16 lanes.
#[test]
fn sorts_of_every_sequence_of_0_and_1() {
    for (wave, log) in [(4, 2), (8, 3), (16, 4), (64, 2), (32, 3)] {
        let (size, group) = (wave as usize, 1usize << log);
        let body = format!(
            "%k, %v = qd.simt.bitonic_sort_kv %word, %x tile({log}) : i32, i64
    %r = arith.extui %k : i32 to i64"
        );
        let sequences = 0..1u64 << group;
        let input = sequences.flat_map(|set| (0..group).map(move |lane| (set >> lane & 1) as i64));
        let mut input: Vec<i64> = input.collect();
        input.resize(input.len().next_multiple_of(size), 0);
        let blocks = input.len() / size;
        let names = ["%r".into(), "%v".into()];
        let rows = results([size, blocks], wave, &body, &names, &input);
        for (rows, numbers) in rows.chunks(group).zip(input.chunks(group)) {
            let ones = numbers.iter().filter(|x| **x == 1).count();
            for (lane, row) in rows.iter().enumerate() {
                let expected = i64::from(lane >= group - ones);
                assert_eq!(row[..], [expected; 2], "{numbers:?} at wave {wave}");
            }
        }
    }
}

/// Moves by every distance there is, of the lanes' numbers.
#[test]
fn rotations_by_every_distance() {
    for wave in WAVES {
        let size = wave as usize;
        let input: Vec<i64> = (0..size as i64).collect();
        for log in 0..=wave.ilog2() {
            let group = 1usize << log;
            let (mut body, mut names) = (String::new(), Vec::new());
            for by in 0..size {
                body += &format!(
                    "%d{by} = arith.constant {by} : i32\n    %r{by} = qd.simt.rotate %x, %d{by} tile({log}) : i64\n    "
                );
                names.push(format!("%r{by}"));
            }
            body += "%first = qd.simt.broadcast_first %x : i64";
            names.push("%first".into());
            let rows = results([size, 1], wave, &body, &names, &input);
            for (lane, row) in rows.into_iter().enumerate() {
                let base = lane - lane % group;
                let from = |by: usize| (base + (lane - base + by) % group) as i64;
                let expected: Vec<i64> = (0..size).map(from).chain([0]).collect();
                assert_eq!(
                    row, expected,
                    "lane {lane} in groups of {group} at wave {wave}"
                );
            }
        }
    }
}

/// Trees that leave a lane out, take one twice, or in another order are no runs.
#[test]
fn wrong_trees_are_caught() {
    let step = |of: usize, from: &str, distance: usize, is_swapped: bool| {
        let [near, far] = if is_swapped { ["b", "a"] } else { ["a", "b"] };
        format!(
            "%distance{of} = arith.constant {distance} : i32
    %{near}{of} = arith.addi {from}, %c0 : i64
    %{far}{of} = qd.simt.shuffle down {from}, %distance{of} : i64
    {}",
            product(&of.to_string())
        )
    };
    let input: Vec<i64> = (0..4).map(|t| run_of(t, t)).collect();
    for (distances, swapped, expected) in [
        ([1, 2], false, run_of(0, 3)),
        ([1, 1], false, WRONG),
        ([2, 1], false, WRONG),
        ([1, 2], true, WRONG),
    ] {
        let body =
            step(0, "%x", distances[0], swapped) + &step(1, "%product0", distances[1], swapped);
        let rows = results([4, 1], 4, &body, &["%product1".into()], &input);
        assert_eq!(rows[0], [expected], "{distances:?}, {swapped}");
    }
}
