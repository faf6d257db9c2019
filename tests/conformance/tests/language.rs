//! What a kernel may say of its buffers and its elements, on a target, compared with the interpreter: loops that
//! swap buffers, collectives in elementwise phases, scratch that nobody passes, results that are counts and conditions,
//! scratch slots by the device's arithmetic, random numbers.

use qd_conformance::{Data, Expect, Subject, all, any_wave, interpret, report, waves};

/// As often as `%n` says, each element of `%to` becomes that of `%from` and its place, times three.
const SWAPPED: &str = "
qd.grid.kernel @main(%a: memref<?xi32>, %b: memref<?xi32>, %n: memref<i32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.do_while %n : memref<i32> swap(%from = %a, %to = %b : memref<?xi32>, memref<?xi32>) {
    qd.grid.for_each %i to %len {
      %three = arith.constant 3 : i32
      %x = memref.load %from[%i] : memref<?xi32>
      %i32 = arith.index_cast %i : index to i32
      %y = arith.addi %x, %i32 : i32
      %z = arith.muli %y, %three : i32
      memref.store %z, %to[%i] : memref<?xi32>
      %first = arith.cmpi eq, %i, %c0 : index
      scf.if %first {
        %one = arith.constant 1 : i32
        %left = memref.load %n[] : memref<i32>
        %less = arith.subi %left, %one : i32
        memref.store %less, %n[] : memref<i32>
      }
    }
  }
}";

#[test]
fn loops_that_swap_buffers() {
    for n in [1, 2, 3, 4, 7] {
        let data = [
            Data::I32((0..1000).collect()),
            Data::I32(vec![-1; 1000]),
            Data::Count(n),
        ];
        let about = format!("{n} iterations that swap");
        let arguments = all(data);
        // The result is in the first buffer, however often the two were exchanged.
        let reference = interpret(SWAPPED, 32, &arguments).expect("no fault");
        let first = (0..n).fold(5_i32, |x, _| (x + 5) * 3);
        let result = reference[0].buffer().expect("a buffer");
        assert_eq!(result.to_vec::<i32>()[5], first);
        Subject::new(SWAPPED).check(any_wave(), &arguments, &about);
    }
    report("loops that swap");
}

/// A launch that would exchange what only one of the two has is refused.
#[test]
fn swaps_of_unequal_lengths() {
    for (a, b) in [(1000, 999), (7, 8)] {
        let data = [Data::I32(vec![0; a]), Data::I32(vec![0; b]), Data::Count(1)];
        let arguments = all(data);
        interpret(SWAPPED, any_wave(), &arguments).expect_err("their extents differ");
        let Some(said) = Subject::new(SWAPPED).run(any_wave(), &arguments) else {
            continue;
        };
        let said = said.expect_err("their lengths differ");
        let shorter = if a < b { "'arg0'" } else { "'arg1'" };
        let parts = [shorter.to_string(), format!("at least {} rows", a.max(b))];
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    }
    report("swaps of unequal lengths");
}

/// Two pairs, of which one has rows, in a loop in a loop that swaps as well.
const NESTED: &str = "
qd.grid.kernel @main(%a: memref<?x3xi64>, %b: memref<?x3xi64>, %x: memref<i32>, %y: memref<i32>, %n: memref<i32>,
                     %m: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %len = memref.dim %a, %c0 : memref<?x3xi64>
  qd.grid.do_while %n : memref<i32>
      swap(%p = %a, %q = %b, %u = %x, %v = %y : memref<?x3xi64>, memref<?x3xi64>, memref<i32>, memref<i32>) {
    qd.grid.for_each %i to %c1 {
      %left = memref.load %n[] : memref<i32>
      memref.store %left, %m[] : memref<i32>
    }
    qd.grid.do_while %m : memref<i32> swap(%from = %p, %to = %q : memref<?x3xi64>, memref<?x3xi64>) {
      qd.grid.for_each %i to %len {
        scf.for %j = %c0 to %c3 step %c1 {
          %e = memref.load %from[%i, %j] : memref<?x3xi64>
          %j64 = arith.index_cast %j : index to i64
          %two = arith.constant 2 : i64
          %d = arith.muli %e, %two : i64
          %f = arith.addi %d, %j64 : i64
          memref.store %f, %to[%i, %j] : memref<?x3xi64>
        }
      }
      qd.grid.for_each %i to %c1 {
        %one = arith.constant 1 : i32
        %left = memref.load %m[] : memref<i32>
        %less = arith.subi %left, %one : i32
        memref.store %less, %m[] : memref<i32>
        %s = memref.load %u[] : memref<i32>
        %t = memref.load %v[] : memref<i32>
        %sum = arith.addi %s, %t : i32
        memref.store %sum, %v[] : memref<i32>
      }
    }
    qd.grid.for_each %i to %c1 {
      %one = arith.constant 1 : i32
      %left = memref.load %n[] : memref<i32>
      %less = arith.subi %left, %one : i32
      memref.store %less, %n[] : memref<i32>
    }
  }
}";

#[test]
fn swaps_in_swaps() {
    for n in [1, 2, 3, 4] {
        let data = [
            Data::I64((0..300).collect()).rows(3),
            Data::I64(vec![0; 300]).rows(3),
            Data::Count(1),
            Data::Count(2),
            Data::Count(n),
            Data::Count(0),
        ];
        Subject::new(NESTED).check(any_wave(), &all(data), &format!("swaps in swaps, n = {n}"));
    }
    report("swaps in swaps");
}

/// Each subgroup has an element, as long as there are any, and its lanes add that element's multiples up: as many
/// blocks as subgroups need, rounded up by a shift.
const BY_SUBGROUP: &str = "
qd.grid.kernel @main(%a: memref<?xi32>, %o: memref<?xi32>, %grid: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  %size = qd.simt.subgroup_size
  %log2 = qd.simt.log2_subgroup_size
  %lanes = arith.index_cast %size : i32 to index
  %shift = arith.index_cast %log2 : i32 to index
  %threads = arith.shli %n, %shift : index
  %blocks = arith.ceildivui %threads, %c128 : index
  qd.grid.phase \"sums\" blocks(%blocks) threads(128) {
    %t = qd.simt.block.thread_id
    %block = qd.simt.block.id
    %first = arith.muli %block, %c128 : index
    %at = arith.addi %first, %t : index
    %i = arith.divui %at, %lanes : index
    %there = arith.cmpi ult, %i, %n : index
    %zero = arith.constant 0 : i32
    %x = scf.if %there -> i32 {
      %own = memref.load %a[%i] : memref<?xi32>
      scf.yield %own : i32
    } else {
      scf.yield %zero : i32
    }
    %lane = qd.simt.lane_id
    %times = arith.muli %x, %lane : i32
    %sum = qd.simt.reduce_all add %times : i32
    %is_first = arith.cmpi eq, %lane, %zero : i32
    %stores = arith.andi %is_first, %there : i1
    scf.if %stores {
      memref.store %sum, %o[%i] : memref<?xi32>
    }
    %last = arith.cmpi eq, %at, %c0 : index
    scf.if %last {
      %dim = qd.simt.grid.dim
      %d32 = arith.index_cast %dim : index to i32
      memref.store %d32, %grid[%c0] : memref<?xi32>
      memref.store %size, %grid[%c1] : memref<?xi32>
    }
  }
}";

#[test]
fn grids_that_follow_the_subgroup_size() {
    for &wave in waves() {
        for n in [1, 3, 100, 1000] {
            let arguments = all([
                Data::I32((0..n).map(|i| i * 7 - 3).collect()),
                Data::I32(vec![0; n as usize]),
                Data::I32(vec![0; 2]),
            ]);
            let reference = interpret(BY_SUBGROUP, wave, &arguments).expect("no fault");
            let grid = reference[2].buffer().expect("a buffer").to_vec::<i32>();
            assert_eq!(grid, [(n * wave as i32 + 127) / 128, wave as i32]);
            let about = format!("{n} elements by subgroups of {wave}");
            Subject::new(BY_SUBGROUP).check(wave, &arguments, &about);
        }
    }
    report("grids that follow the subgroup size");
}

/// Collectives of `%x : i32`, and of the number that it is of, in an elementwise phase whose elements fill subgroups as said.
fn collectives(of: &str) -> String {
    format!(
        "qd.grid.kernel @main(%a: memref<?xi32>, %o: memref<?xi32>, %n: memref<i32>) {{
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %len count(%n : memref<i32>) {of} {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c8 = arith.constant 8 : index
    %x = memref.load %a[%i] : memref<?xi32>
    %lane = qd.simt.lane_id
    %size = qd.simt.subgroup_size
    %p = arith.cmpi sgt, %x, %zero : i32
    %sum = qd.simt.reduce_all add %x : i32
    %scan = qd.simt.inclusive_scan add %x : i32
    %down = qd.simt.shuffle down %x, %one : i32
    %turned = qd.simt.rotate %x, %one : i32
    %few = qd.simt.rotate %x, %one tile(1) : i32
    %positive = qd.simt.count_true %p
    %ballot = qd.simt.ballot %p
    %bits = arith.trunci %ballot : i64 to i32
    %same = qd.simt.all_equal %x tile(2) : i32
    %every = qd.simt.all %p
    // All lanes go round as often, and together.
    %loop = scf.if %every -> (i32) {{
      %most = qd.simt.reduce_all maxsi %x : i32
      scf.yield %most : i32
    }} else {{
      %least = qd.simt.reduce_all minsi %x : i32
      scf.yield %least : i32
    }}
    %s32 = arith.extui %same : i1 to i32
    %base = arith.muli %i, %c8 : index
    %v0 = arith.addi %sum, %lane : i32
    memref.store %v0, %o[%base] : memref<?xi32>
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c7 = arith.constant 7 : index
    %p1 = arith.addi %base, %c1 : index
    memref.store %scan, %o[%p1] : memref<?xi32>
    %p2 = arith.addi %base, %c2 : index
    memref.store %down, %o[%p2] : memref<?xi32>
    %p3 = arith.addi %base, %c3 : index
    memref.store %turned, %o[%p3] : memref<?xi32>
    %p4 = arith.addi %base, %c4 : index
    %v4 = arith.addi %positive, %size : i32
    memref.store %v4, %o[%p4] : memref<?xi32>
    %p5 = arith.addi %base, %c5 : index
    memref.store %bits, %o[%p5] : memref<?xi32>
    %p6 = arith.addi %base, %c6 : index
    %v6 = arith.xori %s32, %few : i32
    memref.store %v6, %o[%p6] : memref<?xi32>
    %p7 = arith.addi %base, %c7 : index
    memref.store %loop, %o[%p7] : memref<?xi32>
  }}
}}"
    )
}

#[test]
fn collectives_of_elements() {
    let data = |n: usize, count: usize| {
        let value = |i: usize| (i as i32 * 7919) % 23 - 3;
        all([
            Data::I32((0..n).map(value).collect()),
            Data::I32(vec![0; 8 * n]),
            Data::Count(count as i32),
        ])
    };
    for &wave in waves() {
        for count in [64, 640, 0] {
            let about = format!("collectives of {count} elements that fill subgroups of {wave}");
            Subject::new(collectives("subgroups(full)")).check(wave, &data(700, count), &about);
        }
        for count in [1, 3, 64, 257, 699] {
            let about = format!("collectives of {count} elements in subgroups of {wave}");
            Subject::new(collectives("subgroups(partial)")).check(wave, &data(700, count), &about);
        }
        for threads in [1, 16, 33, 96, 1024] {
            let about = format!("collectives in blocks of {threads} in subgroups of {wave}");
            let of = format!("threads({threads}) subgroups(partial)");
            Subject::new(collectives(&of)).check(wave, &data(700, 333), &about);
        }
    }
    report("collectives of elements");
}

/// By how many lanes values rotate, and whose is broadcast, are loaded: absent lanes have not loaded them.
#[test]
fn lanes_that_are_loaded() {
    const LOADED: &str =
        "qd.grid.kernel @main(%by: memref<?xi32>, %a: memref<?xi32>, %o: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %n subgroups(partial) {
    %lane = memref.load %by[%c0] : memref<?xi32>
    %x = memref.load %a[%i] : memref<?xi32>
    %turned = qd.simt.rotate %x, %lane : i32
    %same = qd.simt.broadcast %x, %lane : i32
    %y = arith.subi %turned, %same : i32
    memref.store %y, %o[%i] : memref<?xi32>
  }
}";
    let subject = Subject::new(LOADED);
    for &wave in waves() {
        for (lane, n) in [(0, 1), (2, 3), (3, 70), (1, 257)] {
            let values = (0..n).map(|i| i * i - 7).collect();
            let zeros = vec![0; n as usize];
            let data = all([vec![lane], values, zeros].map(Data::I32));
            let about = format!("lane {lane} of {n} elements in subgroups of {wave}");
            subject.check(wave, &data, &about);
        }
    }
    report("lanes that are loaded");
}

/// A mean that one phase leaves to the next, a total that an algorithm leaves, and a flag.
const SCRATCH: &str = "
qd.grid.kernel @main(%a: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, %o: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  %odd = qd.grid.scratch : memref<1xi32>
  %total = qd.grid.scratch : memref<1xi32>
  %mean = qd.grid.scratch : memref<2xf64>
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%total : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
  qd.grid.for_each %i to %c1 {
    %x = memref.load %total[%c0] : memref<1xi32>
    %f = arith.sitofp %x : i32 to f64
    %half = arith.constant 0.5 : f64
    %y = arith.mulf %f, %half : f64
    memref.store %y, %mean[%c1] : memref<2xf64>
    %three = arith.constant 3 : i32
    memref.store %three, %odd[%c0] : memref<1xi32>
  }
  qd.grid.do_while %odd : memref<1xi32> {
    qd.grid.for_each %i to %len {
      %m = memref.load %mean[%c1] : memref<2xf64>
      %before = memref.load %o[%i] : memref<?xf64>
      %x = memref.load %a[%i] : memref<?xi32>
      %f = arith.sitofp %x : i32 to f64
      %d = arith.subf %f, %m : f64
      %after = arith.addf %before, %d : f64
      memref.store %after, %o[%i] : memref<?xf64>
    }
    qd.grid.for_each %i to %c1 {
      %one = arith.constant 1 : i32
      %x = memref.load %odd[%c0] : memref<1xi32>
      %y = arith.subi %x, %one : i32
      memref.store %y, %odd[%c0] : memref<1xi32>
    }
  }
}";

#[test]
fn scratch_that_nobody_passes() {
    for n in [1, 500] {
        let mut arguments = all([
            Data::I32((0..n).map(|i| i % 11).collect()),
            Data::I32(vec![0; 1024]),
            Data::Count(n),
            Data::F64(vec![0.0; n as usize]),
        ]);
        arguments[1].expect = Expect::Scratch;
        // Twice: a run finds no trace of the one before.
        for _ in 0..2 {
            Subject::new(SCRATCH).check(any_wave(), &arguments, "scratch that nobody passes");
        }
    }
    report("scratch that nobody passes");
}

/// Scratch of types that are smaller than a word.
const NARROW_SCRATCH: &str = "
qd.grid.kernel @main(%a: memref<?xi32>, %o: memref<?xf32>) {
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %flags = qd.grid.scratch : memref<3xi1>
  %sum = qd.grid.scratch : memref<1xf64>
  %bytes = qd.grid.scratch : memref<3xi8>
  %halves = qd.grid.scratch : memref<3xi16>
  %reals = qd.grid.scratch : memref<3xf16>
  qd.grid.for_each %i to %c3 {
    %zero = arith.constant 0 : i32
    %x = memref.load %a[%i] : memref<?xi32>
    %flag = arith.cmpi sgt, %x, %zero : i32
    memref.store %flag, %flags[%i] : memref<3xi1>
    %byte = arith.trunci %x : i32 to i8
    memref.store %byte, %bytes[%i] : memref<3xi8>
    %half = arith.trunci %x : i32 to i16
    memref.store %half, %halves[%i] : memref<3xi16>
    %real = arith.sitofp %byte : i8 to f16
    memref.store %real, %reals[%i] : memref<3xf16>
  }
  qd.grid.for_each %i to %c3 {
    %j = arith.subi %c2, %i : index
    %flag = memref.load %flags[%j] : memref<3xi1>
    %byte = memref.load %bytes[%j] : memref<3xi8>
    %half = memref.load %halves[%j] : memref<3xi16>
    %real = memref.load %reals[%j] : memref<3xf16>
    %f = arith.uitofp %flag : i1 to f32
    %b = arith.sitofp %byte : i8 to f32
    %h = arith.sitofp %half : i16 to f32
    %r = arith.extf %real : f16 to f32
    %fb = arith.addf %f, %b : f32
    %hr = arith.addf %h, %r : f32
    %all = arith.addf %fb, %hr : f32
    memref.store %all, %o[%i] : memref<?xf32>
  }
}";

#[test]
fn scratch_of_less_than_a_word() {
    let arguments = all([Data::I32(vec![300, -5, 77]), Data::F32(vec![0.0; 3])]);
    for _ in 0..2 {
        Subject::new(NARROW_SCRATCH).check(any_wave(), &arguments, "scratch of narrow types");
    }
    report("scratch of less than a word");
}

/// One element of `i32` or `i64` in each way in which a kernel may have it: its type, the parameter, and what makes it.
const ONE_ELEMENT: [(&str, &str, &str); 7] = [
    ("memref<i32>", "%k: memref<i32>", ""),
    ("memref<1xi32>", "%k: memref<1xi32>", ""),
    (
        "memref<i32>",
        "%all: memref<?xi32>",
        "%k = qd.grid.view %all[%c2] : memref<?xi32> to memref<i32>",
    ),
    (
        "memref<1xi32>",
        "%all: memref<?xi32>",
        "%k = qd.grid.view %all[%c2] [%c1] : memref<?xi32> to memref<1xi32>",
    ),
    (
        "memref<1xi32>",
        "%all: memref<?xi32>",
        "%k = qd.grid.scratch : memref<1xi32>",
    ),
    ("memref<1xi64>", "%k: memref<1xi64>", ""),
    (
        "memref<i64>",
        "%all: memref<?xi64>",
        "%k = qd.grid.view %all[%c2] : memref<?xi64> to memref<i64>",
    ),
];

/// A reduction's result counts what is scanned next, and what is added to in a phase; and is, if it is of 32 bits, the
/// condition of others.
#[test]
fn results_that_are_counts() {
    const N: usize = 700;
    for (memory, parameter, made) in ONE_ELEMENT {
        let element = if memory.contains("i64") { "i64" } else { "i32" };
        let (open, close) = match element {
            "i32" => (format!("qd.grid.if %k : {memory} {{"), "}"),
            _ => (String::new(), ""),
        };
        let subject = Subject::new(format!(
            "qd.grid.kernel @main(%a: memref<?x{element}>, %b: memref<?xi32>, %o: memref<?xi32>, %p: memref<?xi32>,
                     %s: memref<?x{element}>, %t: memref<?xi32>, %n: memref<i32>, {parameter}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  {made}
  %len = memref.dim %b, %c0 : memref<?xi32>
  qd.algo.reduce add ins(%a : memref<?x{element}>) outs(%k : {memory}) scratch(%s : memref<?x{element}>)
      count(%n : memref<i32>) log256_max_n = 2
  qd.algo.inclusive_scan add ins(%b : memref<?xi32>) outs(%o : memref<?xi32>) scratch(%t : memref<?xi32>)
      count(%k : {memory}) log256_max_n = 2
  qd.grid.for_each %i to %len count(%k : {memory}) {{
    %i32 = arith.index_cast %i : index to i32
    %x = memref.load %o[%i] : memref<?xi32>
    %y = arith.xori %x, %i32 : i32
    memref.store %y, %p[%i] : memref<?xi32>
  }}
  {open}
    qd.grid.for_each %i to %c1 {{
      %last = arith.subi %len, %c1 : index
      %thousand = arith.constant 1000 : i32
      memref.store %thousand, %p[%last] : memref<?xi32>
    }}
  {close}
}}"
        ));
        // As many as are counted, which are some of those there are.
        for (live, count) in [(N, 0), (N, 1), (N, 300), (300, 300), (N, N), (1, 0)] {
            let flag = |i: usize| i32::from((i * count) % live < count);
            let flags: Vec<_> = (0..N).map(flag).collect();
            let one = match (parameter.starts_with("%k"), element) {
                (true, "i64") => Data::I64(vec![-1]),
                (true, _) if memory == "memref<i32>" => Data::Count(-1),
                (true, _) => Data::I32(vec![-1]),
                (_, "i64") => Data::I64(vec![-1; 4]),
                _ => Data::I32(vec![-1; 4]),
            };
            let mut arguments = all([
                match element {
                    "i64" => Data::I64(flags.into_iter().map(i64::from).collect()),
                    _ => Data::I32(flags),
                },
                Data::I32((0..N as i32).map(|i| i * 7 - 1000).collect()),
                Data::I32(vec![-1; N]),
                Data::I32(vec![-2; N]),
                match element {
                    "i64" => Data::I64(vec![0; 64]),
                    _ => Data::I32(vec![0; 64]),
                },
                Data::I32(vec![0; 64]),
                Data::Count(live as i32),
                one,
            ]);
            arguments[4].expect = Expect::Scratch;
            arguments[5].expect = Expect::Scratch;
            let reference = interpret(subject.source(), any_wave(), &arguments).expect("no fault");
            let phase = reference[3].buffer().expect("a buffer").to_vec::<i32>();
            let scanned = phase[..N - 1].iter().filter(|x| **x != -2).count();
            assert_eq!(scanned, count.min(N - 1), "{memory}, {made}");
            let about = format!("{count} of {live}, in {memory}, {made}");
            subject.check(any_wave(), &arguments, &about);
        }
    }
    report("results that are counts");
}

/// Slots for counts that are loaded, and for one that the host knows, of each algorithm; without a capacity and with one.
#[test]
fn slots_of_loaded_counts() {
    let algorithms = [
        "reduce",
        "exclusive_scan",
        "inclusive_scan",
        "sort",
        "select",
        "partition",
        "unique",
        "reduce_by_key",
    ];
    let forms: Vec<_> = algorithms
        .iter()
        .flat_map(|algorithm| {
            [("", ""), ("2", ", 2")].map(|(name, depth)| (algorithm, name, depth))
        })
        .collect();
    let columns = forms.len();
    let (mut of_host, mut of_device) = (String::new(), String::new());
    for (at, (algorithm, name, depth)) in forms.iter().enumerate() {
        of_host +=
            &format!("  %h{algorithm}{name} = qd.algo.scratch_slots {algorithm} %known{depth}\n");
        of_device += &format!(
            "    %s{at} = qd.algo.scratch_slots {algorithm} %n{depth}
    %both{at} = arith.subi %s{at}, %h{algorithm}{name} : index
    %word{at} = arith.index_cast %both{at} : index to i64
    %place{at} = arith.constant {at} : index
    %own{at} = arith.addi %row, %place{at} : index
    memref.store %word{at}, %o[%own{at}] : memref<?xi64>\n"
        );
    }
    let subject = Subject::new(format!(
        "qd.grid.kernel @main(%counts: memref<?xi32>, %o: memref<?xi64>, %number: i32) {{
  %c0 = arith.constant 0 : index
  %len = memref.dim %counts, %c0 : memref<?xi32>
  %known = arith.index_cast %number : i32 to index
{of_host}  qd.grid.for_each %i to %len {{
    %columns = arith.constant {columns} : index
    %row = arith.muli %i, %columns : index
    %count = memref.load %counts[%i] : memref<?xi32>
    %n = arith.index_cast %count : i32 to index
{of_device}  }}
}}"
    ));
    let counts = [
        0,
        1,
        2,
        255,
        256,
        257,
        65_535,
        65_536,
        65_537,
        1_000_000,
        16_777_216,
        16_777_217,
        1 << 30,
    ];
    for known in [0, 300, 70_000] {
        let arguments = all([
            Data::I32(counts.to_vec()),
            Data::I64(vec![0; counts.len() * columns]),
            Data::Number(known),
        ]);
        subject.check(
            any_wave(),
            &arguments,
            &format!("slots less those of {known}"),
        );
    }
    report("slots of loaded counts");
}

/// Four numbers for each element, of its index, and of what is stored.
const RANDOM: &str = "
qd.grid.kernel @main(%counters: memref<?xi32>, %keys: memref<?xi32>, %o: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %len = memref.dim %keys, %c0 : memref<?xi32>
  qd.grid.for_each %i to %len {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %base = arith.muli %i, %c4 : index
    %p1 = arith.addi %base, %c1 : index
    %p2 = arith.addi %base, %c2 : index
    %p3 = arith.addi %base, %c3 : index
    %x0 = memref.load %counters[%base] : memref<?xi32>
    %x1 = memref.load %counters[%p1] : memref<?xi32>
    %x2 = memref.load %counters[%p2] : memref<?xi32>
    %x3 = memref.load %counters[%p3] : memref<?xi32>
    %k0 = memref.load %keys[%i] : memref<?xi32>
    %k1 = arith.xori %k0, %x2 : i32
    %r:4 = qd.math.philox %x0, %x1, %x2, %x3 key %k0, %k1
    memref.store %r#0, %o[%base] : memref<?xi32>
    memref.store %r#1, %o[%p1] : memref<?xi32>
    memref.store %r#2, %o[%p2] : memref<?xi32>
    memref.store %r#3, %o[%p3] : memref<?xi32>
  }
}";

/// The known answers of the generator's authors: counter, key, result.
const KNOWN: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
    (
        [0; 4],
        [0; 2],
        [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
    ),
    (
        [u32::MAX; 4],
        [u32::MAX; 2],
        [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
    ),
    (
        [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
        [0xa409_3822, 0x299f_31d0],
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
    ),
];

#[test]
fn random_numbers() {
    // The kernel's second key is of the first and the third word of the counter.
    let mut counters: Vec<i32> = Vec::new();
    let mut keys = Vec::new();
    for i in 0..1000_u32 {
        counters.extend([i, i / 7, i.wrapping_mul(0x9E37_79B9), !i].map(|word| word as i32));
        keys.push((i * i) as i32);
    }
    let arguments = all([
        Data::I32(counters),
        Data::I32(keys),
        Data::I32(vec![0; 4000]),
    ]);
    Subject::new(RANDOM).check(any_wave(), &arguments, "random numbers");
    for (counter, key, result) in KNOWN {
        let source = RANDOM.replace(
            "%k1 = arith.xori %k0, %x2 : i32",
            &format!("%k1 = arith.constant {} : i32", key[1] as i32),
        );
        let arguments = all([
            Data::I32(counter.map(|word| word as i32).to_vec()),
            Data::I32(vec![key[0] as i32]),
            Data::I32(vec![0; 4]),
        ]);
        let reference = interpret(&source, 32, &arguments).expect("no fault");
        let made = reference[2].buffer().expect("a buffer").to_vec::<i32>();
        assert_eq!(made, result.map(|word| word as i32));
        Subject::new(source).check(any_wave(), &arguments, "known random numbers");
    }
    report("random numbers");
}
