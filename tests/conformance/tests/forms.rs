//! A block's collectives by each of their expansions, as `qd.form` asks for them, on a target: compared with the
//! interpreter. Which of them the search takes depends on the target; that each is right does not.

use qd_conformance::{Argument, Data, Expect, Subject, report, waves};

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

/// As many subgroups as there are lanes at most, and more.
fn blocks(wave: u32) -> Vec<usize> {
    let wave = wave as usize;
    vec![
        wave,
        3 * wave,
        (4 * wave).max(64),
        (wave * wave * 2).min(512),
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
