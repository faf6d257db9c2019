//! Subgroup collectives and bit operations, before and after their expansion:
//! every op, type, kind, tile and subgroup size.

use crate::support::*;
use qd_interp::Argument;
use std::fmt::Write;

const THREADS: usize = 128;

/// A kernel of one phase whose ops store one result per thread each.
struct Kernel {
    r#type: &'static str,
    body: String,
    results: usize,
}

impl Kernel {
    fn new(r#type: &'static str) -> Self {
        Self {
            r#type,
            body: String::new(),
            results: 0,
        }
    }

    /// Adds an op that yields `%r`, and stores it; where `guard` says.
    fn op(&mut self, code: &str, r#type: &str, guard: Option<&str>) {
        let n = self.results;
        let mut code = code.replace("%r", &format!("%r{n}"));
        let mut value = format!("%r{n}");
        if r#type != self.r#type {
            let to = self.r#type;
            let cast = match (r#type, to) {
                ("i1", _) | ("i32", "i64") => "arith.extui",
                ("i64", "i32") => "arith.trunci",
                _ => "arith.bitcast",
            };
            code += &format!("\n    %c{n} = {cast} {value} : {type} to {to}");
            value = format!("%c{n}");
        }
        let store = format!(
            "%o{n} = arith.constant {} : index\n    %i{n} = arith.addi %t, %o{n} : index\n    \
             memref.store {value}, %out[%i{n}] : memref<?x{}>",
            n * THREADS,
            self.r#type
        );
        match guard {
            None => writeln!(self.body, "    {code}\n    {store}").unwrap(),
            Some(guard) => {
                writeln!(
                    self.body,
                    "    {code}\n    scf.if {guard} {{\n    {store}\n    }}"
                )
                .unwrap();
            }
        }
        self.results += 1;
    }

    fn check(&self, input: Argument, room: Argument, heads: &[bool], wave: u32, tile: Option<u32>) {
        let size = tile.map_or(wave, |t| 1 << t);
        let text = format!(
            "qd.grid.kernel @k(%in: memref<?x{0}>, %flags: memref<?xi1>, %out: memref<?x{0}>) {{
  %g = arith.constant 1 : index
  qd.grid.phase blocks(%g) threads({THREADS}) {{
    %t = qd.simt.block.thread_id
    %lane = qd.simt.lane_id
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %size = arith.constant {size} : i32
    %within = arith.remui %lane, %size : i32
    %first = arith.cmpi eq, %within, %zero : i32
    %v = memref.load %in[%t] : memref<?x{0}>
    %p = memref.load %flags[%t] : memref<?xi1>
{1}  }}
}}",
            self.r#type, self.body
        );
        unchanged_by(&expansion(wave), &text, &[input, buffer(heads), room], wave);
    }
}

fn tiles(wave: u32) -> impl Iterator<Item = Option<u32>> {
    (0..=wave.trailing_zeros()).map(Some).chain([None])
}

fn tile_text(tile: Option<u32>) -> String {
    tile.map(|t| format!("tile({t})")).unwrap_or_default()
}

/// All combining ops of a type, in one kernel.
fn combining(r#type: &'static str, kinds: &[&str], tile: Option<u32>) -> Kernel {
    let mut kernel = Kernel::new(r#type);
    let tile = tile_text(tile);
    for kind in kinds {
        kernel.op(
            &format!("%r = qd.simt.reduce {kind} %v {tile} : {type}"),
            r#type,
            Some("%first"),
        );
        kernel.op(
            &format!("%r = qd.simt.reduce {kind} %v {tile} {{qd.form = \"butterfly\"}} : {type}"),
            r#type,
            Some("%first"),
        );
        for op in ["reduce_all", "inclusive_scan", "exclusive_scan"] {
            kernel.op(
                &format!("%r = qd.simt.{op} {kind} %v {tile} : {type}"),
                r#type,
                None,
            );
        }
        kernel.op(
            &format!("%r = qd.simt.segmented_reduce {kind} %v heads %p {tile} : {type}"),
            r#type,
            None,
        );
    }
    kernel
}

const INT_KINDS: &[&str] = &[
    "add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor",
];
const FLOAT_KINDS: &[&str] = &["add", "mul", "minnumf", "maxnumf"];
/// Sums and products of these are exact in any order.
const EXACT: [f64; 6] = [-2.0, -1.0, -0.5, 0.5, 1.0, 2.0];

/// Runs `each` for every wave and tile with input of every type.
fn inputs(kernel: impl Fn(&'static str, u32, Option<u32>) -> Kernel, heads: usize) {
    for wave in WAVES {
        for tile in tiles(wave) {
            let mut numbers = Numbers::new(u64::from(wave) * 100 + u64::from(tile.unwrap_or(9)));
            let heads = numbers.many(THREADS, |n| n.below(heads as u64) == 0);
            let k = kernel("i32", wave, tile);
            let input = buffer(&numbers.many(THREADS, |n| n.next() as i32));
            k.check(input, room(THREADS * k.results, 7i32), &heads, wave, tile);
            let k = kernel("i64", wave, tile);
            let input = buffer(&numbers.many(THREADS, Numbers::next));
            k.check(input, room(THREADS * k.results, 7i64), &heads, wave, tile);
            let k = kernel("f32", wave, tile);
            let input = buffer(&numbers.many(THREADS, |n| n.pick(&EXACT) as f32));
            k.check(input, room(THREADS * k.results, 7f32), &heads, wave, tile);
            let k = kernel("f64", wave, tile);
            let input = buffer(&numbers.many(THREADS, |n| n.pick(&EXACT)));
            k.check(input, room(THREADS * k.results, 7f64), &heads, wave, tile);
        }
    }
}

#[test]
fn reductions_and_scans_by_a_kind() {
    let kernel = |r#type: &'static str, _, tile| {
        let kinds = match r#type.starts_with('f') {
            true => FLOAT_KINDS,
            false => INT_KINDS,
        };
        combining(r#type, kinds, tile)
    };
    // Few heads, many heads.
    for heads in [20, 2] {
        inputs(kernel, heads);
    }
}

/// Composition of `x ↦ a·x + b`: associative, not commutative, two scalars.
const COMPOSE: &str = "identity [1 : i32, 0 : i32] combiner {
    ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
      %a = arith.muli %la, %ra : i32
      %m = arith.muli %lb, %ra : i32
      %b = arith.addi %m, %rb : i32
      qd.yield %a, %b : i32, i32
    }";
/// The last that is not 0, in a way that is undefined for what is not there.
const LAST: &str = "identity [0 : i32, 0 : i32] combiner {
    ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
      %z = arith.constant 0 : i32
      %there = arith.cmpi ne, %ra, %z : i32
      %x = scf.if %there -> i32 {
        %q = arith.divui %ra, %ra : i32
        %y = arith.muli %q, %ra : i32
        scf.yield %y : i32
      } else {
        scf.yield %la : i32
      }
      %b = arith.xori %lb, %rb : i32
      qd.yield %x, %b : i32, i32
    }";

#[test]
fn reductions_and_scans_by_a_region() {
    for wave in WAVES {
        for tile in tiles(wave) {
            for region in [COMPOSE, LAST] {
                let mut kernel = Kernel::new("i32");
                let text = tile_text(tile);
                for (number, op) in [
                    "reduce",
                    "reduce",
                    "reduce_all",
                    "inclusive_scan",
                    "exclusive_scan",
                    "segmented_reduce",
                ]
                .into_iter()
                .enumerate()
                {
                    let form = if number == 0 {
                        "{qd.form = \"butterfly\"}"
                    } else {
                        ""
                    };
                    let heads = match op {
                        "segmented_reduce" => "heads %p",
                        _ => "",
                    };
                    let code = format!(
                        "%w{number} = arith.addi %v, %lane : i32
    %r, %s{number} = qd.simt.{op} %v, %w{number} {heads} {text} {form} : i32, i32 {region}"
                    );
                    let guard = (op == "reduce").then_some("%first");
                    kernel.op(&code, "i32", guard);
                    kernel.op(
                        &format!("%r = arith.addi %s{number}, %zero : i32"),
                        "i32",
                        guard,
                    );
                }
                let mut numbers = Numbers::new(wave.into());
                let input = numbers.many(THREADS, |n| n.pick(&[0, 0, 1, 3, -5, 77, i32::MAX]));
                let heads = numbers.many(THREADS, |n| n.below(5) == 0);
                let room = room(THREADS * kernel.results, 7i32);
                kernel.check(buffer(&input), room, &heads, wave, tile);
            }
        }
    }
}

#[test]
fn votes_and_masks() {
    let kernel = |r#type: &'static str, _: u32, tile: Option<u32>| {
        let mut kernel = Kernel::new(r#type);
        let tile = tile_text(tile);
        kernel.op(&format!("%r = qd.simt.all %p {tile}"), "i1", None);
        kernel.op(&format!("%r = qd.simt.any %p {tile}"), "i1", None);
        kernel.op(&format!("%r = qd.simt.count_true %p {tile}"), "i32", None);
        kernel.op(
            &format!("%r = qd.simt.all_equal %v {tile} : {type}"),
            "i1",
            None,
        );
        kernel.op(
            &format!(
                "%same = qd.simt.rotate %v, %zero {tile} : {type}
    %f = qd.simt.reduce_all add %one {tile} : i32
    %r = qd.simt.all_equal %f {tile} : i32"
            ),
            "i1",
            None,
        );
        let halves = "%rw = arith.constant 32 : i64
    %rh = arith.shrui %rm, %rw : i64
    %rb = arith.xori %rm, %rh : i64
    %r = arith.trunci %rb : i64 to i32";
        kernel.op(
            &format!("%rm = qd.simt.match_all %v : {type}\n {halves}"),
            "i32",
            None,
        );
        kernel.op(
            &format!("%rm = qd.simt.active_mask\n {halves}"),
            "i32",
            None,
        );
        for n in [1, 2, 31, 32] {
            kernel.op(&format!("%r = qd.simt.ballot_first_n {n} %p"), "i32", None);
        }
        kernel
    };
    for heads in [1, 2, 20, 200] {
        // Stores of integers alone: masks have no float form.
        for wave in WAVES {
            for tile in tiles(wave) {
                for few in [1, 2, 1000] {
                    let mut numbers = Numbers::new(heads + few);
                    let flags = numbers.many(THREADS, |n| n.below(heads) == 0);
                    let k = kernel("i32", wave, tile);
                    let input = buffer(&numbers.many(THREADS, |n| n.below(few) as i32));
                    k.check(input, room(THREADS * k.results, 7i32), &flags, wave, tile);
                    let k = kernel("i64", wave, tile);
                    let input = buffer(&numbers.many(THREADS, |n| n.below(few)));
                    k.check(input, room(THREADS * k.results, 7i64), &flags, wave, tile);
                }
            }
        }
    }
}

#[test]
fn all_equal_on_floats_is_ieee_equality() {
    for wave in WAVES {
        for tile in tiles(wave) {
            for values in [
                [1.0, 1.0],
                [0.0, -0.0],
                [f32::NAN, f32::NAN],
                [1.0, f32::NAN],
                [1.0, 2.0],
            ] {
                let text = tile_text(tile);
                let mut kernel = Kernel::new("f32");
                kernel.op(
                    &format!(
                        "%e = qd.simt.all_equal %v {text} : f32
    %a = arith.constant 1.0 : f32
    %b = arith.constant 0.0 : f32
    %r = arith.select %e, %a, %b : f32"
                    ),
                    "f32",
                    None,
                );
                let mut numbers = Numbers::new(1);
                let mut input = vec![values[0]; THREADS];
                input[numbers.below(THREADS as u64) as usize] = values[1];
                kernel.check(
                    buffer(&input),
                    room(THREADS, 7f32),
                    &[true; THREADS],
                    wave,
                    tile,
                );
            }
        }
    }
}

#[test]
fn moves() {
    let kernel = |r#type: &'static str, _: u32, tile: Option<u32>| {
        let mut kernel = Kernel::new(r#type);
        let tile = tile_text(tile);
        kernel.op(
            &format!("%r = qd.simt.broadcast_first %v : {type}"),
            r#type,
            None,
        );
        for delta in [0, 1, 3, -1, 100] {
            let id = format!("{delta}").replace('-', "m");
            kernel.op(
                &format!(
                    "%d{id} = arith.constant {delta} : i32
    %r = qd.simt.rotate %v, %d{id} {tile} : {type}"
                ),
                r#type,
                None,
            );
        }
        kernel
    };
    inputs(kernel, 2);
}

#[test]
fn masks_of_peers_and_of_lanes() {
    for wave in WAVES {
        for few in [1, 3, 1 << 40] {
            let mut kernel = Kernel::new("i64");
            kernel.op("%r = qd.simt.match_any %v : i64", "i64", None);
            kernel.op(
                "%n = arith.trunci %v : i64 to i32\n    %r = qd.simt.match_any %n : i32",
                "i64",
                None,
            );
            kernel.op("%r = qd.simt.match_any %v bits(2) : i64", "i64", None);
            kernel.op("%r = qd.simt.elect", "i1", None);
            for relation in ["lt", "le", "eq", "gt", "ge"] {
                kernel.op(
                    &format!("%r = qd.simt.lanemask {relation} %lane : i64"),
                    "i64",
                    None,
                );
                let code = format!(
                    "%c31{relation} = arith.constant 31 : i32
    %l{relation} = arith.andi %lane, %c31{relation} : i32
    %r = qd.simt.lanemask {relation} %l{relation} : i32"
                );
                kernel.op(&code, "i32", None);
            }
            let mut numbers = Numbers::new(few);
            let input = numbers.many(THREADS, |n| {
                n.below(few).wrapping_mul(0x8000_0001_8000_0001)
            });
            kernel.check(
                buffer(&input),
                room(THREADS * kernel.results, 7i64),
                &[true; THREADS],
                wave,
                None,
            );
        }
    }
}

#[test]
fn sorted_pairs() {
    let types = ["i32", "i64", "f32", "f64"];
    for wave in WAVES {
        for tile in tiles(wave) {
            for key in types {
                for value in types {
                    let unsigned = [
                        if key.starts_with('i') {
                            vec!["", "unsigned_key"]
                        } else {
                            vec![""]
                        },
                        if value.starts_with('i') {
                            vec!["", "unsigned_value"]
                        } else {
                            vec![""]
                        },
                    ];
                    // One signedness each, by turns.
                    let turn = (wave + tile.unwrap_or(0)) as usize;
                    let uk = unsigned[0][turn % unsigned[0].len()];
                    let uv = unsigned[1][(turn / 2) % unsigned[1].len()];
                    sort_case(wave, tile, key, value, uk, uv);
                }
            }
        }
    }
}

fn sort_case(wave: u32, tile: Option<u32>, key: &str, value: &str, uk: &str, uv: &str) {
    let tile = tile_text(tile);
    let text = format!(
        "qd.grid.kernel @k(%keys: memref<?x{key}>, %values: memref<?x{value}>) {{
  %g = arith.constant 1 : index
  qd.grid.phase blocks(%g) threads({THREADS}) {{
    %t = qd.simt.block.thread_id
    %k = memref.load %keys[%t] : memref<?x{key}>
    %v = memref.load %values[%t] : memref<?x{value}>
    %a, %b = qd.simt.bitonic_sort_kv %k, %v {tile} {uk} {uv} : {key}, {value}
    memref.store %a, %keys[%t] : memref<?x{key}>
    memref.store %b, %values[%t] : memref<?x{value}>
  }}
}}"
    );
    let mut numbers = Numbers::new(17);
    let mut data = |r#type: &str| match r#type {
        "i32" => buffer(&numbers.many(THREADS, |n| n.pick(&[0, 1, -1, 5, i32::MIN, i32::MAX]))),
        "i64" => buffer(&numbers.many(THREADS, |n| n.pick(&[0, 1, -1, 5, i64::MIN, i64::MAX]))),
        "f32" => buffer(&numbers.many(THREADS, |n| {
            n.pick(&[0.5, 1.0, -1.0, f32::INFINITY, f32::MIN])
        })),
        _ => buffer(&numbers.many(THREADS, |n| {
            n.pick(&[0.5, 1.0, -1.0, f64::INFINITY, f64::MIN])
        })),
    };
    let arguments = [data(key), data(value)];
    unchanged_by(&expansion(wave), &text, &arguments, wave);
}

#[test]
fn bit_operations() {
    let mut kernel = Kernel::new("i32");
    for op in ["popcnt", "clz", "ffs"] {
        kernel.op(&format!("%r = qd.math.{op} %v : i32"), "i32", None);
        let code = format!(
            "%x{op} = arith.extsi %v : i32 to i64
    %c{op}x = arith.constant 13 : i64
    %y{op} = arith.shli %x{op}, %c{op}x : i64
    %r = qd.math.{op} %y{op} : i64"
        );
        kernel.op(&code, "i32", None);
    }
    let edges = [
        0,
        1,
        -1,
        i32::MIN,
        i32::MAX,
        0x8000_0001u32 as i32,
        0x0F0F_1000,
        6,
    ];
    let mut numbers = Numbers::new(3);
    let input = numbers.many(THREADS, |n| match n.below(2) {
        0 => n.pick(&edges),
        _ => n.next() as i32,
    });
    let room = room(THREADS * kernel.results, 7i32);
    kernel.check(buffer(&input), room, &[true; THREADS], 32, None);
}

#[test]
fn the_nth_set_bit() {
    let text = format!(
        "qd.grid.kernel @k(%masks: memref<?xi32>, %bases: memref<?xi32>, %offsets: memref<?xi32>, %out: memref<?xi32>) {{
  %g = arith.constant 8 : index
  qd.grid.phase blocks(%g) threads({THREADS}) {{
    %b = qd.simt.block.id
    %d = qd.simt.block.dim
    %t = qd.simt.block.thread_id
    %s = arith.muli %b, %d : index
    %i = arith.addi %s, %t : index
    %m = memref.load %masks[%i] : memref<?xi32>
    %x = memref.load %bases[%i] : memref<?xi32>
    %o = memref.load %offsets[%i] : memref<?xi32>
    %r = qd.math.fns %m, %x, %o
    memref.store %r, %out[%i] : memref<?xi32>
  }}
}}"
    );
    let count = 8 * THREADS;
    let mut numbers = Numbers::new(4);
    let masks = numbers.many(count, |n| match n.below(3) {
        0 => n.pick(&[0, -1, 1, i32::MIN, 0x5555_5555]),
        _ => n.next() as i32,
    });
    let bases = numbers.many(count, |n| n.below(32) as i32);
    let offsets = numbers.many(count, |n| match n.below(8) {
        0 => n.pick(&[0, 33, -33, i32::MIN, i32::MAX]),
        _ => n.below(41) as i32 - 20,
    });
    let arguments = [
        buffer(&masks),
        buffer(&bases),
        buffer(&offsets),
        room(count, 7i32),
    ];
    unchanged_by(&expansion(32), &text, &arguments, 32);
}
