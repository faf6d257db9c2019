//! Kernels that are compiled with checks: what is undefined where it goes wrong is told, with the op, its place, the
//! thread and the numbers, and touches nothing. What does not go wrong is as ever.

use qd_conformance::{Argument, Data, Expect, Subject, all, any_wave, interpret, report};
use std::sync::{Mutex, PoisonError};

/// Held by each test: the first fault of a device is told to whoever waits first, and the tests share one.
static DEVICE: Mutex<()> = Mutex::new(());

/// That a kernel is told of by all of these parts, and refused by the interpreter.
fn refused(source: &str, data: Vec<Data>, parts: &[&str]) {
    refused_with(source, &all(data), parts);
}

fn refused_with(source: &str, arguments: &[Argument], parts: &[&str]) {
    interpret(source, any_wave(), arguments).expect_err("it goes wrong");
    let subject = Subject::new(source).checked();
    let Some(said) = subject.run(any_wave(), arguments) else {
        return;
    };
    let said = said.expect_err("it goes wrong");
    for part in parts {
        assert!(said.contains(part), "{part}: {said}");
    }
}

/// That it is as ever.
fn well(source: &str, data: Vec<Data>) {
    let subject = Subject::new(source).checked();
    subject.check(any_wave(), &all(data), "with checks");
}

/// `b[to[i]] = a[from[i]]`.
const MOVE: &str = "qd.grid.kernel @main(%from: memref<?xi32>, %to: memref<?xi32>, %a: memref<?xi32>, %b: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %from, %c0 : memref<?xi32>
  qd.grid.for_each \"move\" %i to %len {
    %f32 = memref.load %from[%i] : memref<?xi32>
    %t32 = memref.load %to[%i] : memref<?xi32>
    %f = arith.index_cast %f32 : i32 to index
    %t = arith.index_cast %t32 : i32 to index
    %x = memref.load %a[%f] : memref<?xi32>
    memref.store %x, %b[%t] : memref<?xi32>
  }
}";

#[test]
fn indices() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let numbers = |n: i32| (0..n).collect::<Vec<_>>();
    let data = |from, to| {
        [from, to, numbers(300), vec![0; 300]]
            .map(Data::I32)
            .to_vec()
    };
    well(MOVE, data(numbers(300), numbers(300)));
    let mut bad = numbers(300);
    bad[260] = 300;
    let load = [
        "kernel 'main': \"index 0 of 'memref.load' is within the extent\" does not hold at ",
        ":9:10, in thread 4 of block 1 of phase 'move': 300 < 300 is false",
    ];
    refused(MOVE, data(bad.clone(), numbers(300)), &load);
    let store = ["index 0 of 'memref.store'", ":10:5, in thread 4 of block 1"];
    refused(MOVE, data(numbers(300), bad.clone()), &store);
    // Far outside, where something else is, and below.
    bad[260] = i32::MAX;
    refused(MOVE, data(numbers(300), bad.clone()), &store);
    bad[260] = -1;
    let below = [load[0], "(-1 if it is signed) < 300 is false"];
    refused(MOVE, data(bad, numbers(300)), &below);
    well(MOVE, data(numbers(300), numbers(300)));
    report("indices");
}

/// Atomics of rows of three, and shared memory.
const ATOMICS: &str = "qd.grid.kernel @main(%at: memref<?xi32>, %a: memref<?x3xi64>) {
  %blocks = arith.constant 1 : index
  qd.grid.phase \"atomics\" blocks(%blocks) threads(64) {
    %shared = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
    %t = qd.simt.block.thread_id
    %none = arith.constant 0 : i32
    memref.store %none, %shared[%t] : memref<64xi32, #gpu.address_space<workgroup>>
    qd.simt.block.sync
    %zero = arith.constant 0 : index
    %x = memref.load %at[%t] : memref<?xi32>
    %i = arith.index_cast %x : i32 to index
    memref.store %x, %shared[%i] : memref<64xi32, #gpu.address_space<workgroup>>
    qd.simt.block.sync
    %y = memref.load %shared[%t] : memref<64xi32, #gpu.address_space<workgroup>>
    %wide = arith.extsi %y : i32 to i64
    %three = arith.constant 3 : index
    %column = arith.remui %t, %three : index
    %old = qd.grid.atomic.rmw add %wide, %a[%zero, %column] device relaxed : memref<?x3xi64>
  }
}";

#[test]
fn atomics_and_shared_memory() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let at: Vec<i32> = (0..64).rev().collect();
    let data = |at: &[i32], rows: usize| {
        vec![Data::I32(at.to_vec()), Data::I64(vec![0; 3 * rows]).rows(3)]
    };
    well(ATOMICS, data(&at, 1));
    let mut bad = at.clone();
    bad[9] = 64;
    let parts = [
        "'memref.store'",
        "in thread 9 of block 0",
        "64 < 64 is false",
    ];
    refused(ATOMICS, data(&bad, 1), &parts);
    let parts = [
        "index 0 of 'qd.grid.atomic.rmw'",
        ":18:12, ",
        // A constant is on the right when it is compiled.
        "0 > 0 is false",
    ];
    refused(ATOMICS, data(&at, 0), &parts);
    refused(
        ATOMICS,
        data(&at[..63], 1),
        &["index 0 of 'memref.load'", "63 < 63"],
    );
    report("atomics and shared memory");
}

/// A quotient, of the type and by the op.
fn quotients(op: &str, r#type: &str) -> String {
    format!(
        "qd.grid.kernel @main(%a: memref<?x{type}>, %b: memref<?x{type}>) {{
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?x{type}>
  qd.grid.for_each %i to %len {{
    %x = memref.load %a[%i] : memref<?x{type}>
    %y = memref.load %b[%i] : memref<?x{type}>
    %z = {op} %x, %y : {type}
    memref.store %z, %a[%i] : memref<?x{type}>
  }}
}}"
    )
}

#[test]
fn divisions() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let i32s = |a: &[i32], b: &[i32]| vec![Data::I32(a.to_vec()), Data::I32(b.to_vec())];
    let i64s = |a: &[i64], b: &[i64]| vec![Data::I64(a.to_vec()), Data::I64(b.to_vec())];
    for op in [
        "divui",
        "divsi",
        "remui",
        "remsi",
        "ceildivui",
        "ceildivsi",
        "floordivsi",
    ] {
        let op = format!("arith.{op}");
        let (narrow, wide) = (quotients(&op, "i32"), quotients(&op, "i64"));
        well(&narrow, i32s(&[7, -7, i32::MIN], &[2, 2, 1]));
        well(&wide, i64s(&[7, -7, i64::MIN], &[-2, 2, 1]));
        let text = format!("the divisor of '{op}' is not 0");
        let parts = [&*text, ":7:10, in thread 1 of block 0", "0 ≠ 0 is false"];
        refused(&narrow, i32s(&[7, 8, 9], &[1, 0, 1]), &parts);
        refused(&wide, i64s(&[7, 8, 9], &[1, 0, 1]), &parts);
        if op.ends_with("divsi") {
            let text = format!("'{op}' does not overflow");
            refused(
                &narrow,
                i32s(&[7, i32::MIN], &[1, -1]),
                &[&text, "in thread 1 "],
            );
            refused(
                &wide,
                i64s(&[7, i64::MIN], &[1, -1]),
                &[&text, "in thread 1 "],
            );
        }
    }
    for (op, is_signed) in [
        ("index.divu", false),
        ("index.divs", true),
        ("index.remu", false),
        ("index.rems", true),
        ("index.ceildivu", false),
        ("index.ceildivs", true),
        ("index.floordivs", true),
        ("arith.divsi", true),
    ] {
        let type_of = if op.starts_with("arith") {
            " : index"
        } else {
            ""
        };
        let source = quotients("QUOTIENT", "i64").replace(
            "%z = QUOTIENT %x, %y : i64",
            &format!(
                "%p = arith.index_cast %x : i64 to index
    %q = arith.index_cast %y : i64 to index
    %r = {op} %p, %q{type_of}
    %z = arith.index_cast %r : index to i64"
            ),
        );
        well(&source, i64s(&[7, 9, 100], &[2, 3, 1]));
        let text = format!("the divisor of '{op}' is not 0");
        refused(&source, i64s(&[7, 8, 9], &[1, 0, 1]), &[&text]);
        if is_signed {
            let text = format!("'{op}' does not overflow");
            refused(&source, i64s(&[7, i64::MIN], &[1, -1]), &[&text]);
        }
    }
    report("divisions");
}

/// The rank of each thread's digit, of 8.
const RANKS: &str = "qd.grid.kernel @main(%a: memref<64xi32>, %o: memref<64xi32>) {
  %c1 = arith.constant 1 : index
  qd.grid.phase \"rank\" blocks(%c1) threads(64) {
    %histogram = qd.simt.block.shared : memref<8xi32, #gpu.address_space<workgroup>>
    %prefix = qd.simt.block.shared : memref<8xi32, #gpu.address_space<workgroup>>
    %t = qd.simt.block.thread_id
    %digit = memref.load %a[%t] : memref<64xi32>
    %rank = qd.simt.block.radix_rank %digit, %histogram, %prefix {radix_bits = 3 : i32}
        : memref<8xi32, #gpu.address_space<workgroup>>, memref<8xi32, #gpu.address_space<workgroup>>
    memref.store %rank, %o[%t] : memref<64xi32>
  }
}";

#[test]
fn digits() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = |most: i32| {
        let digits = (0..64).map(|i| if i == 40 { most } else { i * 5 % 8 });
        vec![Data::I32(digits.collect()), Data::I32(vec![0; 64])]
    };
    well(RANKS, data(7));
    let text = "the digit of 'qd.simt.block.radix_rank' is below 2^radix_bits";
    for most in [8, 70_000_000, -1] {
        refused(RANKS, data(most), &[text, "in thread 40 of block 0"]);
    }
    report("digits");
}

/// A sum, and the elements below a live count.
const COUNTED: &str = "qd.grid.kernel @main(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32> {qd.scratch}, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}";

const PROMISED: &str = "qd.grid.kernel @main(%a: memref<?xi32>, %n: memref<i32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each \"sums\" %i to %len count(%n : memref<i32>) subgroups(full) {
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x tile(2) : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}";

#[test]
fn counts_capacities_and_promises() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = |n, len| {
        vec![
            Data::I32(vec![1; len]),
            Data::I32(vec![0]),
            Data::I32(vec![0; 1000]),
            Data::Count(n),
        ]
    };
    let scratch_apart = |source: &str, n, len| {
        let mut arguments = all(data(n, len));
        arguments[2].expect = Expect::Ignored;
        Subject::new(source)
            .checked()
            .check(any_wave(), &arguments, "counted");
    };
    scratch_apart(COUNTED, 300, 300);
    scratch_apart(COUNTED, 0, 300);
    let within = "the count of 'qd.algo.reduce' is within its capacity and its buffers";
    refused(
        COUNTED,
        data(301, 300),
        &[within, ":2:3, ", "301 ≤ 300 is false"],
    );
    refused(
        COUNTED,
        data(65_537, 70_000),
        &[within, "65537 ≤ 65536 is false"],
    );
    let negative = "the count of 'qd.algo.reduce' is not negative";
    refused(COUNTED, data(-5, 300), &[negative, "-5 ≥ 0 is false"]);
    let promised = |n| vec![Data::I32(vec![1; 256]), Data::Count(n)];
    well(PROMISED, promised(128));
    let fills = "the elements of 'qd.grid.for_each' fill subgroups";
    refused(PROMISED, promised(63), &[fills]);
    // Lanes beyond the elements are beyond the buffer, too.
    let whole = PROMISED.replace(" count(%n : memref<i32>)", "");
    let odd = vec![Data::I32(vec![1; 33]), Data::Count(0)];
    refused(&whole, odd, &[fills]);
    refused(
        PROMISED,
        promised(-64),
        &["the count of 'qd.grid.for_each' is not negative", "-64 ≥ 0"],
    );
    report("counts, capacities and promises");
}

/// Rows of a table that the host picks, of which each thread takes two columns.
const VIEWS: &str = "qd.grid.kernel @main(%a: memref<?x4xi64>, %from: i32, %n: i32, %column: i32, %o: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = arith.index_cast %from : i32 to index
  %size = arith.index_cast %n : i32 to index
  %rows = memref.subview %a[%first, 0] [%size, 4] [2, 1]
      : memref<?x4xi64> to memref<?x4xi64, strided<[8, 1], offset: ?>>
  qd.grid.for_each \"part\" %i to %size {
    %at = arith.index_cast %column : i32 to index
    %own = memref.subview %rows[%i, %at] [1, 2] [1, 1]
        : memref<?x4xi64, strided<[8, 1], offset: ?>> to memref<2xi64, strided<[1], offset: ?>>
    %x = memref.load %own[%c0] : memref<2xi64, strided<[1], offset: ?>>
    %y = memref.load %own[%c1] : memref<2xi64, strided<[1], offset: ?>>
    %z = arith.subi %x, %y : i64
    memref.store %z, %o[%i] : memref<?xi64>
    memref.store %z, %own[%c1] : memref<2xi64, strided<[1], offset: ?>>
  }
}";

/// A buffer as a triangle of rows: each begins where that before it does, and one further.
const RESHAPED: &str = "qd.grid.kernel @main(%a: memref<?xi32>, %n: i32, %o: memref<?xi32>) {
  %c1 = arith.constant 1 : index
  %rows = arith.index_cast %n : i32 to index
  %rest = memref.reinterpret_cast %a to offset: [3], sizes: [%rows, 5], strides: [%c1, 1]
      : memref<?xi32> to memref<?x5xi32, strided<[?, 1], offset: 3>>
  qd.grid.for_each %i to %rows {
    %x = memref.load %rest[%i, %c1] : memref<?x5xi32, strided<[?, 1], offset: 3>>
    memref.store %x, %o[%i] : memref<?xi32>
  }
}";

#[test]
fn views() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = |rows: i64, from, n: i32, column| {
        vec![
            Data::I64((0..4 * rows).map(|i| i * i).collect()).rows(4),
            Data::Number(from),
            Data::Number(n),
            Data::Number(column),
            Data::I64(vec![0; n.max(0) as usize]),
        ]
    };
    well(VIEWS, data(100, 3, 49, 2));
    well(VIEWS, data(100, 100, 0, 0));
    let is_part = "'memref.subview' is within the buffer that it is a part of";
    let of_host = [
        is_part,
        ":6:11, in thread 0 of block 0 of phase 'view checked+part checked'",
        ": 100 < 100 is false",
    ];
    for (from, n) in [(4, 49), (100, 1)] {
        refused(VIEWS, data(100, from, n, 0), &of_host);
    }
    // What is not even there is refused before a launch, with checks and without.
    for from in [-2, 1 << 20] {
        refused(
            VIEWS,
            data(100, from, 3, 0),
            &["has a negative ", " of a view", ", at <source>:8:3"],
        );
    }
    for (column, numbers) in [
        (3, ": 4 < 4 is false"),
        (-1, "(-1 if it is signed) < 4 is false"),
        (4, ": 5 < 4 is false"),
    ] {
        let of_body = [is_part, ":10:12, in thread ", " of phase 'part'", numbers];
        refused(VIEWS, data(100, 0, 50, column), &of_body);
    }
    let data = |length, n| {
        vec![
            Data::I32((0..length).collect()),
            Data::Number(n),
            Data::I32(vec![0; n as usize]),
        ]
    };
    well(RESHAPED, data(40, 33));
    let is_of = "'memref.reinterpret_cast' is within the buffer that it is of";
    let of_host = [is_of, ":4:11, ", ": 40 < 40 is false"];
    refused(RESHAPED, data(40, 34), &of_host);
    refused(RESHAPED, data(4, 1), &[is_of, ": 7 < 4 is false"]);
    report("views");
}

/// Prefix sums of a part of a buffer, to another part of it.
const PARTS: &str = "qd.grid.kernel @main(%a: memref<?xi32>, %n: i32, %first: i32, %s: memref<?xi32>, %live: memref<i32>) {
  %c0 = arith.constant 0 : index
  %rows = arith.index_cast %n : i32 to index
  %at = arith.index_cast %first : i32 to index
  %from = qd.grid.view %a[%c0] [%rows] : memref<?xi32> to memref<?xi32>
  %to = qd.grid.view %a[%at] [%rows] : memref<?xi32> to memref<?xi32>
  qd.algo.inclusive_scan add ins(%from : memref<?xi32>) outs(%to : memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%live : memref<i32>) log256_max_n = 2
}";

/// A scan from one argument to another, of which the call says whether they share memory.
const SHARED: &str = "qd.grid.kernel @main(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32> {qd.may_alias}, %s: memref<?xi32>, %live: memref<i32>) {
  qd.algo.inclusive_scan add ins(%b : memref<?xi32>) outs(%a : memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%live : memref<i32>) log256_max_n = 2
}";

/// Two parts of a buffer, exchanged.
const SWAPPED: &str =
    "qd.grid.kernel @main(%a: memref<?xi32>, %n: i32, %first: i32, %m: i32, %left: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.index_cast %n : i32 to index
  %others = arith.index_cast %m : i32 to index
  %at = arith.index_cast %first : i32 to index
  %x = qd.grid.view %a[%c0] [%rows] : memref<?xi32> to memref<?xi32>
  %y = qd.grid.view %a[%at] [%others] : memref<?xi32> to memref<?xi32>
  qd.grid.do_while %left : memref<i32> swap(%p = %x, %q = %y : memref<?xi32>, memref<?xi32>) {
    qd.grid.for_each %i to %c1 {
      %one = arith.constant 1 : i32
      %l = memref.load %left[] : memref<i32>
      %less = arith.subi %l, %one : i32
      memref.store %less, %left[] : memref<i32>
    }
  }
}";

#[test]
fn parts_of_a_buffer_that_overlap() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = |n: i32, first| {
        vec![
            Data::I32((0..100).collect()),
            Data::Number(n),
            Data::Number(first),
            Data::I32(vec![0; 1000]),
            Data::Count(n),
        ]
    };
    let overlap = "the buffers of 'qd.algo.inclusive_scan' do not overlap";
    refused(PARTS, data(50, 49), &[overlap, ":7:3, "]);
    refused(PARTS, data(50, 0), &[overlap]);
    let with = |data: Vec<i32>, part: Option<usize>| {
        let b = Argument {
            data: Data::I32(data),
            expect: part.map_or(Expect::Same, |first| Expect::Part { of: 0, first }),
        };
        let rest = all([Data::I32(vec![0; 1000]), Data::Count(50)]);
        let a = all([Data::I32((0..100).collect())]);
        a.into_iter().chain([b]).chain(rest).collect::<Vec<_>>()
    };
    for first in [0, 1, 49] {
        let part = (first..first + 50).collect();
        let arguments = with(part, Some(first as usize));
        refused_with(SHARED, &arguments, &[overlap, ":2:3, "]);
    }
    let subject = Subject::new(SHARED).checked();
    subject.check(any_wave(), &with(vec![0; 100], None), "apart, with checks");
    let data = |n: i32, first, m| {
        vec![
            Data::I32((0..100).collect()),
            Data::Number(n),
            Data::Number(first),
            Data::Number(m),
            Data::Count(3),
        ]
    };
    well(SWAPPED, data(50, 50, 50));
    let overlap = "what 'qd.grid.do_while' swaps does not overlap";
    refused(SWAPPED, data(50, 49, 50), &[overlap, ":9:3, "]);
    let extent = "what 'qd.grid.do_while' swaps has the same extent 0";
    refused(SWAPPED, data(50, 50, 49), &[extent]);
    report("parts that overlap");
}

/// Keys and what belongs to them, both parts of one buffer: the keys are its first elements.
const SORTED: &str = "qd.grid.kernel @main(%a: memref<?xi32>, %n: i32, %first: i32, %m: i32) {
  %c0 = arith.constant 0 : index
  %rows = arith.index_cast %n : i32 to index
  %others = arith.index_cast %m : i32 to index
  %at = arith.index_cast %first : i32 to index
  %k = qd.grid.view %a[%c0] [%rows] : memref<?xi32> to memref<?xi32>
  %v = qd.grid.view %a[%at] [%others] : memref<?xi32> to memref<?xi32>
  qd.algo.parallel_sort keys(%k : memref<?xi32>) values(%v : memref<?xi32>)
}";

#[test]
fn sorts_without_a_count() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    let data = |n, first, m| {
        vec![
            Data::I32((0..100).rev().collect()),
            Data::Number(n),
            Data::Number(first),
            Data::Number(m),
        ]
    };
    well(SORTED, data(50, 50, 50));
    well(SORTED, data(40, 41, 59));
    let overlap = "the buffers of 'qd.algo.parallel_sort' do not overlap";
    refused(SORTED, data(50, 49, 50), &[overlap, ":8:3, "]);
    let few = "the values of 'qd.algo.parallel_sort' are as many as its keys";
    refused(SORTED, data(50, 97, 3), &[few, ":8:3, ", "3 ≥ 50 is false"]);
    refused(SORTED, data(50, 100, 0), &[few, "0 ≥ 50 is false"]);
    report("sorts without a count");
}

/// Sums of what is not negative, by a combiner that divides as well: of an algorithm, and of each four lanes.
fn divided(op: &str) -> String {
    let combiner = format!(
        "identity [0 : i32] combiner {{
  ^bb0(%l: i32, %r: i32):
    %none = arith.constant 0 : i32
    %quotient = {op} %l, %r : i32
    %is_less = arith.cmpi slt, %quotient, %none : i32
    %sum = arith.addi %l, %r : i32
    %x = arith.select %is_less, %none, %sum : i32
    qd.yield %x : i32
  }}"
    );
    format!(
        "qd.grid.kernel @main(%a: memref<64xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>, %lanes: memref<64xi32>) {{
  qd.algo.reduce ins(%a : memref<64xi32>) outs(%out : memref<1xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>)
      log256_max_n = 1 {combiner}
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {{
    %t = qd.simt.block.thread_id
    %own = memref.load %a[%t] : memref<64xi32>
    %all = qd.simt.reduce_all %own tile(2) : i32 {combiner}
    memref.store %all, %lanes[%t] : memref<64xi32>
  }}
}}"
    )
}

/// A combiner tells nothing, as which elements meet depends on the lowering; it stops no process either.
#[test]
fn divisions_in_combiners() {
    let _one = DEVICE.lock().unwrap_or_else(PoisonError::into_inner);
    for op in ["arith.divsi", "arith.divui", "arith.remsi"] {
        let source = divided(op);
        let numbers: Vec<i32> = (0..64).map(|i| if i % 5 == 0 { 0 } else { i }).collect();
        let arguments = all([
            Data::I32(numbers.clone()),
            Data::I32(vec![0]),
            Data::I32(vec![0; 100]),
            Data::Count(64),
            Data::I32(vec![0; 64]),
        ]);
        interpret(&source, any_wave(), &arguments).expect_err("it divides by 0");
        let subject = Subject::new(source).checked();
        let Some(ran) = subject.run(any_wave(), &arguments) else {
            continue;
        };
        let ran = ran.unwrap_or_else(|why| panic!("{op}: {why}"));
        let sum = |numbers: &[i32]| numbers.iter().sum::<i32>();
        assert_eq!(ran[1].bytes, sum(&numbers).to_ne_bytes(), "{op}");
        let fours = numbers.chunks(4).flat_map(|four| [sum(four); 4]);
        let fours: Vec<u8> = fours.flat_map(i32::to_ne_bytes).collect();
        assert_eq!(ran[4].bytes, fours, "{op}");
    }
    report("divisions in combiners");
}
