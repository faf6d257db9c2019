//! Every subgroup and block operation on a target against the
//! interpreter, at every wave and tile, over the element types; of what combines but
//! by sums, each op at every second wave.

use qd_conformance::{Argument, Data, Expect, Input, Subject, generate, report, waves};

const THREADS: usize = 128;
const BLOCKS: usize = 3;

/// A kernel whose every thread loads `%x` and `%y` of its own, runs `body`,
/// which defines `%r`, and stores it. `types`: of `%x`, `%y` and `%r`.
fn kernel(types: [&str; 3], body: &str) -> Subject {
    let [x, y, r] = types;
    // Buffers hold no i1.
    let (stored, widen) = if r == "i1" {
        ("i32", "%w = arith.extui %r : i1 to i32")
    } else {
        (r, "")
    };
    let value = if r == "i1" { "%w" } else { "%r" };
    Subject::new(format!(
        "qd.grid.kernel @main(%a: memref<?x{x}>, %b: memref<?x{y}>, %o: memref<?x{stored}>) {{
  %blocks = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%blocks) threads({THREADS}) {{
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %x = memref.load %a[%i] : memref<?x{x}>
    %y = memref.load %b[%i] : memref<?x{y}>
    {body}
    {widen}
    memref.store {value}, %o[%i] : memref<?x{stored}>
  }}
}}"
    ))
}

fn check(types: [&str; 3], wave: u32, x: Data, y: Data, expect: Expect, body: &str) {
    let stored = if types[2] == "i1" { "i32" } else { types[2] };
    kernel(types, body).check(
        wave,
        &[
            Argument {
                data: x,
                expect: Expect::Same,
            },
            Argument {
                data: y,
                expect: Expect::Same,
            },
            Argument {
                data: generate(stored, Input::AllEqual, THREADS * BLOCKS, 0),
                expect,
            },
        ],
        body,
    );
}

fn values(element: &str, input: Input, seed: u64) -> Data {
    generate(element, input, THREADS * BLOCKS, seed)
}

/// Small numbers from 0 up, for lanes, distances and predicates.
fn below(limit: i32, seed: u64) -> Data {
    let Data::I32(words) = values("i32", Input::Random, seed) else {
        unreachable!("integers were asked for")
    };
    Data::I32(words.into_iter().map(|w| w.rem_euclid(limit)).collect())
}

const TYPES: [&str; 4] = ["i32", "i64", "f32", "f64"];

fn tiles(wave: u32) -> impl Iterator<Item = u32> {
    0..=wave.trailing_zeros()
}

#[test]
fn data_movement() {
    for &wave in waves() {
        for element in TYPES {
            let x = || values(element, Input::Random, 1);
            let lane = || below(wave as i32, 2);
            let types = [element, "i32", element];
            let run = |body: &str| {
                check(types, wave, x(), lane(), Expect::Same, body);
            };
            run(&format!("%r = qd.simt.shuffle idx %x, %y : {element}"));
            run(&format!("%r = qd.simt.shuffle xor %x, %y : {element}"));
            run(&format!("%r = qd.simt.broadcast_first %x : {element}"));
            // Where there is no such lane, it is the own value.
            for mode in ["up", "down"] {
                run(&format!("%r = qd.simt.shuffle {mode} %x, %y : {element}"));
                for distance in [3, wave as i32, 67, -1] {
                    run(&format!(
                        "%d = arith.constant {distance} : i32
    %r = qd.simt.shuffle {mode} %x, %d : {element}"
                    ));
                }
                run(&format!(
                    "%three = arith.constant 3 : i32
    %d = arith.muli %y, %three : i32
    %r = qd.simt.shuffle {mode} %x, %d : {element}"
                ));
            }
            let last = wave - 1;
            run(&format!(
                "%l = arith.constant {last} : i32
    %r = qd.simt.broadcast %x, %l : {element}"
            ));
            for tile in tiles(wave) {
                run(&format!(
                    "%d = arith.constant 5 : i32
    %r = qd.simt.rotate %x, %d tile({tile}) : {element}"
                ));
            }
        }
    }
    report("data movement");
}

#[test]
fn votes_and_masks() {
    for &wave in waves() {
        let predicate = "%zero = arith.constant 0 : i32
    %p = arith.cmpi ne, %y, %zero : i32";
        for (seed, limit) in [(1, 2), (2, 40), (3, 1)] {
            let run = |result: &str, body: &str| {
                check(
                    ["i32", "i32", result],
                    wave,
                    values("i32", Input::Grouped, 4),
                    below(limit, seed),
                    Expect::Same,
                    &format!("{predicate}\n    {body}"),
                );
            };
            for tile in tiles(wave) {
                run("i1", &format!("%r = qd.simt.all %p tile({tile})"));
                run("i1", &format!("%r = qd.simt.any %p tile({tile})"));
                run("i32", &format!("%r = qd.simt.count_true %p tile({tile})"));
                run(
                    "i1",
                    &format!("%r = qd.simt.all_equal %x tile({tile}) : i32"),
                );
            }
            run("i64", "%r = qd.simt.ballot %p");
            run("i64", "%r = qd.simt.match_any %x : i32");
            // By ballots where there are few, and by what compares words.
            for bits in [1, 2, 3, 8, 16, 17, 32] {
                run(
                    "i64",
                    &format!("%r = qd.simt.match_any %x bits({bits}) : i32"),
                );
                let wide = format!(
                    "%w = arith.extsi %x : i32 to i64\n    %r = qd.simt.match_any %w bits({bits}) : i64"
                );
                run("i64", &wide);
            }
            // Of what a driver knows while it compiles.
            for constant in ["0", "4", "-1"] {
                for bits in [1, 3, 8, 16, 32] {
                    run(
                        "i64",
                        &format!(
                            "%c = arith.constant {constant} : i32\n    %r = qd.simt.match_any %c bits({bits}) : i32"
                        ),
                    );
                }
            }
            for constant in ["true", "false"] {
                let of =
                    |op: &str| format!("%c = arith.constant {constant}\n    %r = qd.simt.{op} %c");
                run("i64", &of("ballot"));
                run("i1", &of("any"));
                run("i1", &of("all"));
            }
            run("i1", "%r = qd.simt.elect");
            run("i64", "%r = qd.simt.active_mask");
            run(
                "i64",
                "%c = arith.constant 7 : i32\n    %r = qd.simt.match_all %c : i32",
            );
            for n in [1, 7, 32] {
                run("i32", &format!("%r = qd.simt.ballot_first_n {n} %p"));
            }
            for relation in ["lt", "le", "eq", "gt", "ge"] {
                run(
                    "i64",
                    &format!("%l = qd.simt.lane_id\n    %r = qd.simt.lanemask {relation} %l : i64"),
                );
            }
        }
        // NaN differs from itself, +0 equals −0.
        for input in [Input::Extreme, Input::AllEqual] {
            check(
                ["f32", "i32", "i1"],
                wave,
                values("f32", input, 5),
                below(2, 6),
                Expect::Same,
                "%r = qd.simt.all_equal %x tile(1) : f32",
            );
        }
    }
    report("votes and masks");
}

fn kinds(element: &str) -> &'static [&'static str] {
    match element {
        "i32" => &[
            "add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor",
        ],
        "i64" => &["add", "minsi", "maxui", "xor"],
        _ => &["add", "minnumf", "maxnumf"],
    }
}

/// Tiles and kinds so that every pair of a wave, a type and either meets: all
/// kinds on the whole subgroup, one on each smaller tile.
fn tiles_and_kinds(wave: u32, element: &str) -> Vec<(u32, &'static str)> {
    let kinds = kinds(element);
    let whole = wave.trailing_zeros();
    let smaller = (0..whole).map(|tile| (tile, kinds[(tile + whole) as usize % kinds.len()]));
    smaller
        .chain(kinds.iter().map(|kind| (whole, *kind)))
        .collect()
}

#[test]
fn reductions_and_scans() {
    for &wave in waves() {
        for element in TYPES {
            let run = |kind: &str, body: String| {
                // At most 128 multiples of 1/4096 below 4,096 in magnitude are
                // summed: an f64 holds every sum of them.
                let expect = match (element, kind) {
                    ("f32", "add") => Expect::Close(1.0),
                    _ => Expect::Same,
                };
                // Zeros of both signs among NaNs, and NaNs alone.
                let inputs: &[_] = match kind.ends_with("numf") {
                    true => &[
                        (Input::Random, 7),
                        (Input::Degenerate, 8),
                        (Input::Degenerate, 7),
                    ],
                    false => &[(Input::Random, 7)],
                };
                for (input, seed) in inputs {
                    check(
                        [element, "i32", element],
                        wave,
                        values(element, *input, *seed),
                        below(5, 8),
                        expect,
                        &body,
                    );
                }
            };
            for (nth, (tile, kind)) in tiles_and_kinds(wave, element).into_iter().enumerate() {
                let tiled =
                    |op: &str| format!("%r = qd.simt.{op} {kind} %x tile({tile}) : {element}");
                let ops = [
                    tiled("reduce_all"),
                    tiled("inclusive_scan"),
                    tiled("exclusive_scan"),
                    format!(
                        "%zero = arith.constant 0 : i32
    %h = arith.cmpi eq, %y, %zero : i32
    %r = qd.simt.segmented_reduce {kind} %x heads %h tile({tile}) : {element}"
                    ),
                ];
                // Each is a compilation: of all but sums two at one size, and the others at the next.
                let turn = nth + wave.trailing_zeros() as usize;
                for (op, body) in ops.into_iter().enumerate() {
                    if kind == "add" || (turn + op).is_multiple_of(2) {
                        run(kind, body);
                    }
                }
            }
            for (i, op) in ["reduce_all", "inclusive_scan", "exclusive_scan"]
                .iter()
                .enumerate()
            {
                let kinds = kinds(element);
                let kind = kinds[(i + wave as usize) % kinds.len()];
                run(
                    kind,
                    format!("%r = qd.simt.block.{op} {kind} %x : {element}"),
                );
            }
        }
    }
    report("reductions and scans");
}

#[test]
fn combiner_regions_keep_the_order() {
    let combiner = "identity [1 : i32, 0 : i32] combiner {
    ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
      %factor = arith.muli %la, %ra : i32
      %scaled = arith.muli %lb, %ra : i32
      %term = arith.addi %scaled, %rb : i32
      qd.yield %factor, %term : i32, i32
    }";
    for &wave in waves() {
        let ops = ["reduce_all", "inclusive_scan", "exclusive_scan"];
        for op in ops
            .iter()
            .flat_map(|op| [op.to_string(), format!("block.{op}")])
        {
            check(
                ["i32", "i32", "i32"],
                wave,
                values("i32", Input::Random, 9),
                values("i32", Input::Random, 10),
                Expect::Same,
                &format!("%q, %r = qd.simt.{op} %x, %y : i32, i32 {combiner}"),
            );
        }
    }
    report("combiner regions");
}

#[test]
fn bitonic_sort() {
    for &wave in waves() {
        let types = [
            ("i32", "i32"),
            ("f32", "i64"),
            ("i64", "f64"),
            ("f64", "i32"),
            ("f32", "f32"),
        ];
        for (of, (key, value)) in types.into_iter().enumerate() {
            // NaNs of both signs among the last.
            let input = match (key, value) {
                ("f32", "f32") => Input::Extreme,
                _ => Input::FewDistinct,
            };
            // Each is a compilation: of one size the keys are seen, and of the next the values.
            for (nth, tile) in tiles(wave).enumerate() {
                let turn = nth + of + wave.trailing_zeros() as usize;
                let (names, element) = match turn.is_multiple_of(2) {
                    true => ("%r, %v", key),
                    false => ("%k, %r", value),
                };
                check(
                    [key, value, element],
                    wave,
                    values(key, input, 11),
                    values(value, Input::Random, 12),
                    Expect::Same,
                    &format!(
                        "{names} = qd.simt.bitonic_sort_kv %x, %y tile({tile}) : {key}, {value}"
                    ),
                );
            }
        }
    }
    report("bitonic sort");
}

#[test]
fn radix_rank() {
    let shared = "#gpu.address_space<workgroup>";
    for &wave in waves() {
        check(
            ["i32", "i32", "i32"],
            wave,
            below(64, 13),
            below(4, 14),
            Expect::Same,
            &format!(
                "%hist = qd.simt.block.shared : memref<64xi32, {shared}>
    %prefix = qd.simt.block.shared : memref<64xi32, {shared}>
    %zero = arith.constant 0 : i32
    %valid = arith.cmpi ne, %y, %zero : i32
    %rank = qd.simt.block.radix_rank %x, %hist, %prefix where %valid {{radix_bits = 6 : i32}}
        : memref<64xi32, {shared}>, memref<64xi32, {shared}>
    %d = arith.index_cast %x : i32 to index
    %before = memref.load %prefix[%d] : memref<64xi32, {shared}>
    %all = memref.load %hist[%d] : memref<64xi32, {shared}>
    %sum = arith.addi %before, %all : i32
    %r = arith.select %valid, %rank, %sum : i32"
            ),
        );
    }
    report("radix rank");
}

#[test]
fn bit_operations() {
    for &wave in waves() {
        for element in ["i32", "i64"] {
            for op in ["popcnt", "clz", "ffs"] {
                for input in [Input::Extreme, Input::Random, Input::FewDistinct] {
                    check(
                        [element, "i32", "i32"],
                        wave,
                        values(element, input, 15),
                        below(32, 16),
                        Expect::Same,
                        &format!("%r = qd.math.{op} %x : {element}"),
                    );
                }
            }
        }
        for offset in [-33, -5, -1, 0, 1, 4, 33] {
            check(
                ["i32", "i32", "i32"],
                wave,
                values("i32", Input::Random, 17),
                below(32, 18),
                Expect::Same,
                &format!("%n = arith.constant {offset} : i32\n    %r = qd.math.fns %x, %y, %n"),
            );
        }
    }
    report("bit operations");
}
