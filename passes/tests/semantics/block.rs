//! Block collectives, before and after each of their expansions: every subgroup size and
//! block size, in and out of loops.

use crate::support::*;
use qd_interp::Argument;

const BLOCKS: [usize; 5] = [64, 192, 256, 320, 1024];
const FORMS: [&str; 2] = ["subgroups", "shared"];
const RANKINGS: [&str; 3] = ["match", "ballots", "atomics"];
const OPS: [&str; 4] = ["reduce", "reduce_all", "inclusive_scan", "exclusive_scan"];

/// All block collectives of one combiner over `values`, each by an expansion, in a loop of two
/// rounds. Results are stored in rows of a round and an op.
fn kernel(
    threads: usize,
    (r#type, combiner, region): (&str, &str, &str),
    values: usize,
    form: &str,
) -> String {
    let operands = vec!["%v"; values].join(", ");
    let types = vec![r#type; values].join(", ");
    let mut body = String::new();
    for (row, op) in OPS.iter().enumerate() {
        let results: Vec<_> = (0..values).map(|k| format!("%r{row}_{k}")).collect();
        let store: String = results
            .iter()
            .enumerate()
            .map(|(k, result)| {
                let place = (row * values + k) * threads;
                format!(
                    "      %o{row}_{k} = arith.constant {place} : index
      %p{row}_{k} = arith.addi %start, %o{row}_{k} : index
      %q{row}_{k} = arith.addi %p{row}_{k}, %t : index
      memref.store {result}, %out[%q{row}_{k}] : memref<?x{type}>\n"
                )
            })
            .collect();
        body += &format!(
            "      {} = qd.simt.block.{op} {combiner} {operands} {{qd.form = \"{form}\"}} : {types} {region}\n",
            results.join(", ")
        );
        body += &match *op {
            "reduce" => format!("      scf.if %first {{\n{store}      }}\n"),
            _ => store,
        };
    }
    format!(
        "qd.grid.kernel @k(%in: memref<?x{type}>, %out: memref<?x{type}>) {{
  %g = arith.constant 1 : index
  qd.grid.phase blocks(%g) threads({threads}) {{
    %t = qd.simt.block.thread_id
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %rows = arith.constant {} : index
    %n = arith.constant {threads} : index
    %first = arith.cmpi eq, %t, %zero : index
    scf.for %round = %zero to %two step %one {{
      %start = arith.muli %round, %rows : index
      %at = arith.muli %round, %n : index
      %i = arith.addi %at, %t : index
      %v = memref.load %in[%i] : memref<?x{type}>
{body}    }}
  }}
}}",
        OPS.len() * values * threads
    )
}

fn check<T: qd_interp::Native>(
    threads: usize,
    combined: (&str, &str, &str),
    values: usize,
    mut input: impl FnMut(&mut Numbers) -> T,
    fill: T,
) {
    let texts = FORMS.map(|form| kernel(threads, combined, values, form));
    for (wave, text) in WAVES.iter().flat_map(|w| texts.iter().map(|t| (*w, t))) {
        let mut numbers = Numbers::new(u64::from(wave) + threads as u64);
        let data: Vec<T> = numbers.many(2 * threads, &mut input);
        let arguments = [buffer(&data), room(2 * OPS.len() * values * threads, fill)];
        unchanged_by(&expansion(wave), text, &arguments, wave);
    }
}

#[test]
fn sums_of_every_type() {
    for threads in BLOCKS {
        check(threads, ("i32", "add", ""), 1, |n| n.next() as i32, 7);
        check(threads, ("i64", "maxui", ""), 1, |n| n.next() as i64, 7);
        check(
            threads,
            ("f32", "add", ""),
            1,
            |n| n.pick(&[-1.0f32, 0.5, 2.0]),
            7.0,
        );
        check(threads, ("f64", "minnumf", ""), 1, |n| n.next() as f64, 7.0);
    }
}

/// Zero is not quite the identity of a float sum: nothing may be added to it.
#[test]
fn sums_of_negative_zeros_stay_negative() {
    for threads in BLOCKS {
        check(threads, ("f32", "add", ""), 1, |_| -0.0f32, 7.0);
    }
}

#[test]
fn combiners_that_do_not_commute() {
    let compose = "identity [1 : i32, 0 : i32] combiner {
      ^bb0(%la: i32, %lb: i32, %ra: i32, %rb: i32):
        %a = arith.muli %la, %ra : i32
        %m = arith.muli %lb, %ra : i32
        %b = arith.addi %m, %rb : i32
        qd.yield %a, %b : i32, i32
      }";
    let last = "identity [0 : i32] combiner {
      ^bb0(%l: i32, %r: i32):
        %z = arith.constant 0 : i32
        %there = arith.cmpi ne, %r, %z : i32
        %x = scf.if %there -> i32 {
          %q = arith.divui %r, %r : i32
          %y = arith.muli %q, %r : i32
          scf.yield %y : i32
        } else {
          scf.yield %l : i32
        }
        qd.yield %x : i32
      }";
    for threads in BLOCKS {
        check(threads, ("i32", "", compose), 2, |n| n.next() as i32, 7);
        check(
            threads,
            ("i32", "", last),
            1,
            |n| n.pick(&[0, 0, 0, 5, -9]),
            7,
        );
    }
}

fn ranks(threads: usize, bits: u32, masked: bool, form: &str) -> String {
    let digits = 1 << bits;
    let shared = format!("memref<{digits}xi32, #gpu.address_space<workgroup>>");
    let valid = if masked { "where %p" } else { "" };
    let store = "memref.store %r, %out[%i] : memref<?xi32>";
    let store = match masked {
        true => format!("scf.if %p {{ {store} }}"),
        false => store.to_string(),
    };
    format!(
        "qd.grid.kernel @k(%in: memref<?xi32>, %flags: memref<?xi1>, %out: memref<?xi32>, %hist: memref<?xi32>, %pre: memref<?xi32>) {{
  %g = arith.constant 1 : index
  qd.grid.phase blocks(%g) threads({threads}) {{
    %h = qd.simt.block.shared : {shared}
    %e = qd.simt.block.shared : {shared}
    %t = qd.simt.block.thread_id
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %n = arith.constant {threads} : index
    %m = arith.constant {digits} : index
    scf.for %round = %zero to %two step %one {{
      %at = arith.muli %round, %n : index
      %i = arith.addi %at, %t : index
      %d = memref.load %in[%i] : memref<?xi32>
      %p = memref.load %flags[%i] : memref<?xi1>
      %r = qd.simt.block.radix_rank %d, %h, %e {valid} {{radix_bits = {bits} : i32, qd.form = \"{form}\"}} : {shared}, {shared}
      {store}
      %small = arith.cmpi ult, %t, %m : index
      scf.if %small {{
        %row = arith.muli %round, %m : index
        %j = arith.addi %row, %t : index
        %x = memref.load %h[%t] : {shared}
        memref.store %x, %hist[%j] : memref<?xi32>
        %y = memref.load %e[%t] : {shared}
        memref.store %y, %pre[%j] : memref<?xi32>
      }}
      qd.simt.block.sync
    }}
  }}
}}"
    )
}

#[test]
fn ranks_of_digits() {
    for (threads, bits) in [
        (64, 1),
        (64, 6),
        (192, 6),
        (256, 4),
        (256, 8),
        (512, 8),
        (1024, 10),
    ] {
        for (masked, form) in [false, true]
            .iter()
            .flat_map(|m| RANKINGS.map(|form| (*m, form)))
        {
            let text = ranks(threads, bits, masked, form);
            for wave in WAVES {
                let mut numbers = Numbers::new(u64::from(wave + bits));
                let digits = 1u64 << bits;
                let flags = numbers.many(2 * threads, |n| n.below(4) != 0);
                // Threads that take no part hold anything.
                let keys: Vec<i32> = flags
                    .iter()
                    .map(|valid| match *valid || !masked {
                        true => match numbers.below(3) {
                            0 => 0,
                            _ => numbers.below(digits) as i32,
                        },
                        false => numbers.next() as i32,
                    })
                    .collect();
                let arguments: Vec<Argument> = vec![
                    buffer(&keys),
                    buffer(&flags),
                    room(2 * threads, 7i32),
                    room(2 * digits as usize, 7i32),
                    room(2 * digits as usize, 7i32),
                ];
                unchanged_by(&expansion(wave), &text, &arguments, wave);
            }
        }
    }
}
