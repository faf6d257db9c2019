//! Blocks of any size: every collective in blocks whose last subgroup is filled in part, on a target,
//! compared with the interpreter. One kernel has many collectives, so that sizes are cheap.

use qd_conformance::{Argument, Data, Expect, Subject, given, output, report, waves};

const BLOCKS: usize = 2;
/// The largest block, all but a lane of it, and one whose last subgroup has 8 lanes of 16 and of 32, and 40 of 64.
const LARGE: [u32; 3] = [1000, 1023, 1024];
/// Words that a thread stores.
const COLUMNS: usize = I32.len() + I1.len() + 2 * I64.len();

/// Collectives of `%v : i32` and its `%p : i1`, each of which defines `%r` of the given type.
const I32: &[&str] = &[
    "shuffle idx %v, %any : i32",
    "shuffle up %v, %one : i32",
    "shuffle down %v, %three : i32",
    "shuffle xor %v, %one : i32",
    "broadcast %v, %three : i32",
    "broadcast_first %v : i32",
    "rotate %v, %three : i32",
    "rotate %v, %one tile(1) : i32",
    "ballot_first_n 32 %p",
    "count_true %p",
    "count_true %p tile(2)",
    "reduce_all minsi %v : i32",
    "reduce_all mul %v tile(1) : i32",
    "inclusive_scan maxui %v : i32",
    "exclusive_scan add %v tile(2) : i32",
    "segmented_reduce add %v heads %p : i32",
    "block.reduce_all and %v : i32",
    "block.inclusive_scan xor %v : i32",
    "block.exclusive_scan maxsi %v : i32",
];
const I1: &[&str] = &[
    "all %other",
    "all %p tile(1)",
    "any %p",
    "any %p tile(2)",
    "all_equal %half : i32",
    "all_equal %half tile(1) : i32",
];
const I64: &[&str] = &[
    "ballot %p",
    "match_any %half : i32",
    "match_all %half : i32",
    "match_all %three : i32",
    "active_mask",
];

/// Sizes that leave few lanes, many, and all of the last subgroup; and large ones, which take turns with the subgroup's
/// sizes where there are several.
fn sizes(nth: usize, wave: u32) -> Vec<u32> {
    let mut sizes = vec![1, 3, wave - 1, wave + 1, 2 * wave + wave / 2 + 1, 3 * wave];
    match waves() {
        [_] => sizes.extend(LARGE),
        _ => sizes.push(LARGE[nth % LARGE.len()]),
    }
    sizes
}

fn kernel(threads: u32) -> Subject {
    let mut body = String::new();
    let mut stored = 0;
    let mut store = |body: &mut String, value: &str| {
        *body += &format!(
            "    %place{stored} = arith.constant {stored} : index
    %own{stored} = arith.addi %row, %place{stored} : index
    memref.store {value}, %o[%own{stored}] : memref<?xi32>\n"
        );
        stored += 1;
    };
    for (number, op) in I32.iter().enumerate() {
        body += &format!("    %a{number} = qd.simt.{op}\n");
        store(&mut body, &format!("%a{number}"));
    }
    for (number, op) in I1.iter().enumerate() {
        body += &format!(
            "    %b{number} = qd.simt.{op}\n    %c{number} = arith.extui %b{number} : i1 to i32\n"
        );
        store(&mut body, &format!("%c{number}"));
    }
    for (number, op) in I64.iter().enumerate() {
        body += &format!(
            "    %d{number} = qd.simt.{op}
    %e{number} = arith.trunci %d{number} : i64 to i32
    %f{number} = arith.shrui %d{number}, %high : i64
    %g{number} = arith.trunci %f{number} : i64 to i32\n"
        );
        store(&mut body, &format!("%e{number}"));
        store(&mut body, &format!("%g{number}"));
    }
    Subject::new(format!(
        "qd.grid.kernel @main(%x: memref<?xi32>, %o: memref<?xi32>, %s: memref<?xi32>, %sorted: memref<?xi32>) {{
  %blocks = arith.constant {BLOCKS} : index
  qd.grid.phase blocks(%blocks) threads({threads}) {{
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i3 = arith.constant 3 : index
    %i4 = arith.constant 4 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %three = arith.constant 3 : i32
    %high = arith.constant 32 : i64
    %block = qd.simt.block.id
    %dim = qd.simt.block.dim
    %thread = qd.simt.block.thread_id
    %base = arith.muli %block, %dim : index
    %i = arith.addi %base, %thread : index
    %columns = arith.constant {COLUMNS} : index
    %row = arith.muli %i, %columns : index
    %pair = arith.muli %i, %i2 : index
    %second = arith.addi %pair, %i1 : index
    %v = memref.load %x[%i] : memref<?xi32>
    // Holds in lanes that are added, whose number is known; what is loaded is 0 in them, and fails.
    %number = arith.index_cast %thread : index to i32
    %odd = arith.andi %number, %one : i32
    %p = arith.cmpi eq, %odd, %zero : i32
    %other = arith.cmpi ne, %v, %zero : i32
    %half = arith.shrui %v, %three : i32
    %size = qd.simt.subgroup_size
    %lane = qd.simt.lane_id
    %far = arith.muli %lane, %three : i32
    %any = arith.remui %far, %size : i32
{body}
    %k, %w = qd.simt.bitonic_sort_kv %v, %lane : i32, i32
    memref.store %k, %sorted[%pair] : memref<?xi32>
    memref.store %w, %sorted[%second] : memref<?xi32>
    %subgroup = qd.simt.subgroup_id
    %first = qd.simt.elect
    %sum = qd.simt.reduce add %v : i32
    %whole = qd.simt.block.reduce minui %v : i32
    scf.if %first {{
      %row_of = arith.index_cast %subgroup : i32 to index
      %subgroups = qd.simt.num_subgroups
      %all = arith.index_cast %subgroups : i32 to index
      %before = arith.muli %block, %all : index
      %which = arith.addi %before, %row_of : index
      %at0 = arith.muli %which, %i4 : index
      %at1 = arith.addi %at0, %i1 : index
      %at2 = arith.addi %at0, %i2 : index
      memref.store %sum, %s[%at0] : memref<?xi32>
      memref.store %subgroups, %s[%at1] : memref<?xi32>
      memref.store %size, %s[%at2] : memref<?xi32>
      %is_first = arith.cmpi eq, %thread, %i0 : index
      scf.if %is_first {{
        %at3 = arith.addi %at0, %i3 : index
        memref.store %whole, %s[%at3] : memref<?xi32>
      }}
    }}
  }}
}}"
    ))
}

#[test]
fn collectives() {
    for (nth, &wave) in waves().iter().enumerate() {
        for threads in sizes(nth, wave) {
            let all = threads as usize * BLOCKS;
            let subgroups = threads.div_ceil(wave) as usize * BLOCKS;
            let numbers = (0..all as i32).map(|i| (i * 7919 + 13) % 101 - 20);
            let argument = |data| Argument {
                data: Data::I32(data),
                expect: Expect::Same,
            };
            let arguments = [
                argument(numbers.collect()),
                argument(vec![0; all * COLUMNS]),
                argument(vec![0; subgroups * 4]),
                argument(vec![0; all * 2]),
            ];
            let about = format!("wave {wave}, {threads} threads");
            kernel(threads).check(wave, &arguments, &about);
        }
    }
    report("blocks of any size");
}

/// The lowest bit of a thread's number as an index of private memory, beside a function in `f64`. NVIDIA's driver of Vulkan takes the
/// bit for 1 there unless it is extracted.
#[test]
fn lowest_bit_beside_a_function() {
    for (nth, threads) in [31, 33, 34].into_iter().enumerate() {
        let text = format!(
            "qd.grid.kernel @main(%r: memref<?xbf16>) {{
               %one = arith.constant 1 : index
               qd.grid.phase blocks(%one) threads({threads}) {{
                 %c0 = arith.constant 0 : index
                 %c1 = arith.constant 1 : index
                 %thread = qd.simt.block.thread_id
                 %block = qd.simt.block.id
                 %threads = arith.constant {threads} : index
                 %before = arith.muli %block, %threads : index
                 %i = arith.addi %before, %thread : index
                 %word = arith.index_castui %i : index to i32
                 %two = arith.constant 2 : i32
                 %some = arith.constant 3.0 : bf16
                 %none = arith.constant 0.0 : bf16
                 %own = memref.alloca() : memref<2xbf16>
                 memref.store %some, %own[%c0] : memref<2xbf16>
                 memref.store %none, %own[%c1] : memref<2xbf16>
                 %bit = arith.remui %word, %two : i32
                 %odd = arith.index_castui %bit : i32 to index
                 %mine = memref.load %own[%odd] : memref<2xbf16>
                 %eighth = arith.constant 0.125 : bf16
                 %less = arith.mulf %mine, %eighth : bf16
                 %result = math.asinh %less : bf16
                 memref.store %result, %r[%i] : memref<?xbf16>
                 memref.store %mine, %own[%c0] : memref<2xbf16>
               }}
             }}"
        );
        let wave = waves()[nth % waves().len()];
        let about = format!("a lowest bit beside a function, blocks of {threads}");
        Subject::new(text).check(wave, &[output("bf16", threads, Expect::Same)], &about);
    }
    report("a lowest bit beside a function");
}

/// The lowest bit of a thread's number, as an index of a buffer and of private memory, in blocks of odd and even sizes.
#[test]
fn lowest_bits() {
    const N: usize = 100;
    for (nth, threads) in [31, 33, 34, 63, 64].into_iter().enumerate() {
        let text = format!(
            "qd.grid.kernel @main(%a: memref<?x2xi32>, %h: memref<?xf16>, %s: memref<?xi32>, %n: memref<i32>) {{
               %all = arith.constant {N} : index
               qd.grid.for_each %i to %all count(%n : memref<i32>) threads({threads}) {{
                 %c0 = arith.constant 0 : index
                 %c1 = arith.constant 1 : index
                 %c2 = arith.constant 2 : index
                 %one = arith.constant 1 : i32
                 %half = arith.constant 0.5 : f16
                 %two = arith.constant 2.0 : f16
                 %word = arith.index_cast %i : index to i32
                 %bit = arith.andi %word, %one : i32
                 %odd = arith.index_castui %bit : i32 to index
                 memref.store %word, %a[%i, %odd] : memref<?x2xi32>
                 %own = memref.alloca() : memref<2xf16>
                 memref.store %half, %own[%c0] : memref<2xf16>
                 memref.store %two, %own[%c1] : memref<2xf16>
                 %rest = arith.remui %i, %c2 : index
                 %mine = memref.load %own[%rest] : memref<2xf16>
                 memref.store %mine, %h[%i] : memref<?xf16>
                 %c31 = arith.constant 31 : i32
                 %up = arith.shli %word, %c31 : i32
                 %last = arith.shrui %up, %c31 : i32
                 memref.store %last, %s[%i] : memref<?xi32>
               }}
             }}"
        );
        let arguments = [
            Argument {
                data: Data::I32(vec![-1; 2 * N]).rows(2),
                expect: Expect::Same,
            },
            output("f16", N, Expect::Same),
            output("i32", N, Expect::Same),
            given(Data::Count(N as i32)),
        ];
        let wave = waves()[nth % waves().len()];
        let about = format!("lowest bits, blocks of {threads}");
        Subject::new(text).check(wave, &arguments, &about);
    }
    report("lowest bits");
}

/// Set bits of narrow numbers, and of what they are widened to in memory, beside a function of doubles: what a driver kept
/// of a number's sign was counted with it.
#[test]
fn set_bits_of_narrow_numbers() {
    const N: usize = 66;
    for (nth, narrow) in ["i8", "i16"].into_iter().enumerate() {
        let text = format!(
            "qd.grid.kernel @main(%a: memref<?x{narrow}>, %o: memref<?xi32>, %w: memref<?xi64>, %v: memref<?xi64>, %d: memref<?xf64>) {{
               %all = arith.constant {N} : index
               qd.grid.for_each %i to %all threads(33) {{
                 %c0 = arith.constant 0 : index
                 %x = memref.load %a[%c0] : memref<?x{narrow}>
                 %own = memref.alloca() : memref<1xf64>
                 %two = arith.constant 2.0 : f64
                 memref.store %two, %own[%c0] : memref<1xf64>
                 %y = memref.load %own[%c0] : memref<1xf64>
                 %wide = arith.extui %x : {narrow} to i64
                 memref.store %wide, %w[%i] : memref<?xi64>
                 %again = memref.load %w[%i] : memref<?xi64>
                 %few = math.ctpop %x : {narrow}
                 %eighth = arith.constant 0.125 : f64
                 %zero = arith.constant 0.0 : f64
                 %z = arith.mulf %y, %eighth : f64
                 %angle = math.atan2 %z, %zero : f64
                 memref.store %angle, %d[%i] : memref<?xf64>
                 %count = arith.extui %few : {narrow} to i32
                 memref.store %count, %o[%i] : memref<?xi32>
                 %many = math.ctpop %again : i64
                 memref.store %many, %v[%i] : memref<?xi64>
               }}
             }}"
        );
        let negative = match narrow {
            "i8" => Data::I8(vec![-5; N]),
            _ => Data::I16(vec![-5; N]),
        };
        let arguments = [
            given(negative),
            output("i32", N, Expect::Same),
            output("i64", N, Expect::Same),
            output("i64", N, Expect::Same),
            output("f64", N, Expect::Same),
        ];
        let wave = waves()[nth % waves().len()];
        Subject::new(text).check(wave, &arguments, &format!("set bits of {narrow}"));
    }
    report("set bits of narrow numbers");
}
