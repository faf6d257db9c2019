//! A block's collectives by each of their expansions, as `qd.form` asks for them, on a target: compared with the
//! interpreter. Which of them the search takes depends on the target; that each is right does not.
//!
//! And a subgroup's by what the target has, on inputs that stand for all. A form combines lanes' values without a look at them,
//! so that what a lane has is told by which lanes' values are in it: one lane has another value than the rest, each lane in turn.
//! Votes are tried with every set of lanes where there are eight at most.

use qd_conformance::{Argument, Data, Expect, Subject, is_vulkan, report, takes_turns, waves};

const FORMS: [&str; 2] = ["subgroups", "shared"];
const RANKINGS: [&str; 3] = ["match", "ballots", "atomics"];

/// A kernel of one block that stores `%r` of its thread, made of `%v`, twice in a loop.
fn kernel(threads: usize, r#type: &str, body: &str) -> Subject {
    Subject::new(format!(
        "qd.grid.kernel @main(%x: memref<?x{type}>, %o: memref<?x{type}>) {{
  %g = arith.constant 1 : index
  qd.grid.phase blocks(%g) threads({threads}) {{
    %hist = qd.simt.block.shared : memref<16xi32, #gpu.address_space<workgroup>>
    %prefix = qd.simt.block.shared : memref<16xi32, #gpu.address_space<workgroup>>
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %t = qd.simt.block.thread_id
    %n = qd.simt.block.dim
    scf.for %round = %i0 to %i2 step %i1 {{
      %start = arith.muli %round, %n : index
      %i = arith.addi %start, %t : index
      %v = memref.load %x[%i] : memref<?x{type}>
      {body}
      memref.store %r, %o[%i] : memref<?x{type}>
      qd.simt.block.sync
    }}
  }}
}}"
    ))
}

fn check(wave: u32, threads: usize, r#type: &str, body: &str, input: Data) {
    let arguments = [
        Argument {
            data: input.clone(),
            expect: Expect::Same,
        },
        Argument {
            data: input,
            expect: Expect::Same,
        },
    ];
    let about = format!("{threads} threads, wave {wave}");
    kernel(threads, r#type, body).check(wave, &arguments, &about);
}

/// As many subgroups as there are lanes at most, and more, if that is not left to runs at fewer lanes: lavapipe takes long
/// to compile large blocks.
fn blocks(wave: u32) -> Vec<usize> {
    let wave = wave as usize;
    let is_left = is_vulkan() && takes_turns();
    let most = if is_left { 128 } else { 512 };
    vec![
        wave,
        3 * wave,
        (4 * wave).max(64),
        (wave * wave * 2).min(most),
    ]
}

#[test]
fn reductions_and_scans() {
    for &wave in waves() {
        for threads in blocks(wave) {
            let numbers = |at: usize| (at as i64 * 2_654_435_761 % 1009) - 500;
            let all = (0..2 * threads).map(numbers);
            for form in FORMS {
                let op = |op: &str, r#type: &str| {
                    format!("%r = qd.simt.block.{op} %v {{qd.form = \"{form}\"}} : {type}")
                };
                let words = Data::I32(all.clone().map(|x| x as i32).collect());
                let longs = Data::I64(all.clone().map(|x| x << 33).collect());
                // Sums of small whole numbers are exact in any order.
                let floats = Data::F32(all.clone().map(|x| x as f32).collect());
                check(
                    wave,
                    threads,
                    "i32",
                    &op("reduce_all add", "i32"),
                    words.clone(),
                );
                check(
                    wave,
                    threads,
                    "i32",
                    &op("exclusive_scan maxsi", "i32"),
                    words,
                );
                check(
                    wave,
                    threads,
                    "i64",
                    &op("inclusive_scan xor", "i64"),
                    longs,
                );
                check(
                    wave,
                    threads,
                    "f32",
                    &op("inclusive_scan add", "f32"),
                    floats.clone(),
                );
                let reduce = op("reduce add", "f32").replace("%r =", "%s =");
                let first = "%is_first = arith.cmpi eq, %t, %i0 : index";
                let body = format!("{reduce}\n{first}\n%r = arith.select %is_first, %s, %v : f32");
                check(wave, threads, "f32", &body, floats);
            }
        }
    }
    report("block forms");
}

#[test]
fn ranks() {
    const SHARED: &str = "memref<16xi32, #gpu.address_space<workgroup>>";
    for &wave in waves() {
        for threads in blocks(wave).into_iter().filter(|t| t % 16 == 0) {
            for (form, valid) in RANKINGS.iter().flat_map(|f| [(f, ""), (f, "where %valid")]) {
                let body = format!(
                    "%two = arith.constant 2 : i32
                     %fifteen = arith.constant 15 : i32
                     %none = arith.constant -1 : i32
                     %d = arith.andi %v, %fifteen : i32
                     %valid = arith.cmpi ne, %d, %two : i32
                     %s = qd.simt.block.radix_rank %d, %hist, %prefix {valid} {{radix_bits = 4 : i32, qd.form = \"{form}\"}} : {SHARED}, {SHARED}
                     %r = arith.select %valid, %s, %none : i32"
                );
                // Runs of one digit, and digits in turns.
                let digit = |at: usize| if at % 7 < 3 { 5 } else { (at * 13 % 31) as i32 };
                let input = Data::I32((0..2 * threads).map(digit).collect());
                check(wave, threads, "i32", &body, input);
            }
        }
    }
    report("rank forms");
}

/// Kinds, with the value of a lane that is told from the others, which bring what changes nothing.
const MARKS: [(&str, i32, i32); 9] = [
    ("add", 1, 0),
    // How often it is in a product is told by the power.
    ("mul", 3, 1),
    ("minsi", -3, i32::MAX),
    ("maxsi", 3, i32::MIN),
    ("minui", 3, -1),
    ("maxui", 9, 0),
    ("and", 5, -1),
    ("or", 5, 0),
    ("xor", 5, 0),
];

/// Results of `body`, each an `i64` by name, of each thread of so many blocks of a subgroup.
fn in_subgroups(wave: u32, sets: &[u64], body: &str, results: &[String], about: &str) {
    let columns = results.len();
    let store = results.iter().enumerate().map(|(column, result)| {
        format!(
            "    %column{column} = arith.constant {column} : index
    %at{column} = arith.addi %row, %column{column} : index
    memref.store {result}, %o[%at{column}] : memref<?xi64>\n"
        )
    });
    let subject = Subject::new(format!(
        "qd.grid.kernel @main(%sets: memref<?xi64>, %o: memref<?xi64>) {{
  %g = arith.constant {} : index
  qd.grid.phase blocks(%g) threads({wave}) {{
    %block = qd.simt.block.id
    %n = qd.simt.block.dim
    %t = qd.simt.block.thread_id
    %start = arith.muli %block, %n : index
    %i = arith.addi %start, %t : index
    %columns = arith.constant {columns} : index
    %row = arith.muli %i, %columns : index
    %set = memref.load %sets[%block] : memref<?xi64>
    %lane = qd.simt.lane_id
    %by = arith.extui %lane : i32 to i64
    %bit = arith.shrui %set, %by : i64
    %p = arith.trunci %bit : i64 to i1
{body}{}  }}
}}",
        sets.len(),
        store.collect::<String>()
    ));
    let argument = |data: Vec<i64>| Argument {
        data: Data::I64(data),
        expect: Expect::Same,
    };
    let room = vec![7; sets.len() * wave as usize * columns];
    let given = sets.iter().map(|set| *set as i64).collect();
    subject.check(wave, &[argument(given), argument(room)], about);
}

#[test]
fn each_lane_is_combined_once() {
    for &wave in waves() {
        let each: Vec<u64> = (0..wave).map(|lane| 1 << lane).collect();
        for tile in ["", "tile(2)"] {
            let (mut body, mut names) = (String::new(), Vec::new());
            let size = if tile.is_empty() { wave } else { 4 };
            body += &format!(
                "    %size = arith.constant {size} : i32
    %within = arith.remui %lane, %size : i32
    %c0 = arith.constant 0 : i32
    %is_first = arith.cmpi eq, %within, %c0 : i32\n"
            );
            for (kind, mark, neutral) in MARKS {
                // What a target has for one kind it has for others alike.
                let is_one = ["add", "minsi", "xor"].contains(&kind);
                let types: &[&str] = match (tile, is_one) {
                    ("", true) => &["i32", "i64"],
                    ("", false) | (_, true) => &["i32"],
                    _ => &[],
                };
                for r#type in types {
                    // The least and largest of the wider type, too.
                    let neutral = match (neutral, *r#type) {
                        (i32::MIN, "i64") => i64::MIN,
                        (i32::MAX, "i64") => i64::MAX,
                        (neutral, _) => neutral.into(),
                    };
                    body += &format!(
                        "    %mark_{kind}_{type} = arith.constant {mark} : {type}
    %rest_{kind}_{type} = arith.constant {neutral} : {type}
    %x_{kind}_{type} = arith.select %p, %mark_{kind}_{type}, %rest_{kind}_{type} : {type}\n"
                    );
                    for op in ["reduce", "reduce_all", "inclusive_scan", "exclusive_scan"] {
                        let name = format!("{op}_{kind}_{type}");
                        body += &format!(
                            "    %{name} = qd.simt.{op} {kind} %x_{kind}_{type} {tile} : {type}\n"
                        );
                        let mut result = format!("%{name}");
                        if op == "reduce" {
                            // What other lanes have is undefined.
                            body += &format!(
                                "    %own_{name} = arith.select %is_first, {result}, %x_{kind}_{type} : {type}\n"
                            );
                            result = format!("%own_{name}");
                        }
                        if *r#type == "i32" {
                            body +=
                                &format!("    %wide_{name} = arith.extsi {result} : i32 to i64\n");
                            result = format!("%wide_{name}");
                        }
                        names.push(result);
                    }
                }
            }
            in_subgroups(
                wave,
                &each,
                &body,
                &names,
                &format!("marks, wave {wave}, {tile}"),
            );
        }
    }
    report("marks");
}

#[test]
fn votes_of_every_set_of_lanes() {
    for &wave in waves() {
        let sets: Vec<u64> = match wave {
            4 | 8 => (0..1 << wave).collect(),
            // One lane alone, and all others.
            _ => {
                let each = (0..wave).flat_map(|lane| [1 << lane, !(1 << lane)]);
                each.chain([0, u64::MAX]).collect()
            }
        };
        for tile in ["", "tile(1)"] {
            let mut body = String::from(
                "    %word = arith.trunci %bit : i64 to i32\n    %one = arith.constant 1 : i32\n",
            );
            body += "    %own = arith.andi %word, %one : i32\n    %long = arith.extui %own : i32 to i64\n";
            let ops = [
                ("i1", format!("all %p {tile}")),
                ("i1", format!("any %p {tile}")),
                ("i1", format!("all_equal %own {tile} : i32")),
                ("i1", format!("all_equal %long {tile} : i64")),
                ("i32", format!("count_true %p {tile}")),
                ("i32", "ballot_first_n 7 %p".into()),
                ("i64", "ballot %p".into()),
                ("i64", "match_any %own bits(1) : i32".into()),
                ("i64", "match_any %own : i32".into()),
                ("i64", "match_any %long : i64".into()),
                ("i64", "match_all %own : i32".into()),
            ];
            let mut names = Vec::new();
            for (at, (r#type, op)) in ops.iter().enumerate() {
                body += &format!("    %r{at} = qd.simt.{op}\n");
                names.push(match *r#type {
                    "i64" => format!("%r{at}"),
                    narrow => {
                        body += &format!("    %w{at} = arith.extui %r{at} : {narrow} to i64\n");
                        format!("%w{at}")
                    }
                });
            }
            in_subgroups(
                wave,
                &sets,
                &body,
                &names,
                &format!("votes, wave {wave}, {tile}"),
            );
        }
    }
    report("votes of sets");
}
