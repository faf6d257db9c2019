//! Views that the host makes, and buffers of several dynamic extents, on a target, compared with the interpreter.

use qd_conformance::{Data, Expect, Subject, affordable, all, any_wave, report, slots};

/// A part of a buffer that is summed, scanned in place as a view, and read in a phase by all kinds of views.
const VIEWS: &str = "
qd.grid.kernel @main(%a: memref<?xi32>, %from: i32, %n: i32, %sum: memref<i32>, %o: memref<?xi32>, %s: memref<?xi32>,
                     %count: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %first = arith.index_cast %from : i32 to index
  %size = arith.index_cast %n : i32 to index
  %part = memref.subview %a[%first] [%size] [1] : memref<?xi32> to memref<?xi32, strided<[1], offset: ?>>
  qd.algo.reduce add ins(%part : memref<?xi32, strided<[1], offset: ?>>) outs(%sum : memref<i32>)
      scratch(%s : memref<?xi32>) count(%count : memref<i32>) log256_max_n = 2
  // Rows of four, of which every other is seen from its second column on.
  %rows = arith.divui %size, %c4 : index
  %table = memref.reinterpret_cast %a to offset: [%first], sizes: [%rows, 4], strides: [4, 1]
      : memref<?xi32> to memref<?x4xi32, strided<[4, 1], offset: ?>>
  %half = arith.divui %rows, %c2 : index
  %some = memref.subview %table[0, 1] [%half, 2] [2, 1]
      : memref<?x4xi32, strided<[4, 1], offset: ?>> to memref<?x2xi32, strided<[8, 1], offset: ?>>
  %row = memref.subview %table[1, 0] [1, 4] [1, 1]
      : memref<?x4xi32, strided<[4, 1], offset: ?>> to memref<4xi32, strided<[1], offset: ?>>
  %flat = memref.collapse_shape %table [[0, 1]]
      : memref<?x4xi32, strided<[4, 1], offset: ?>> into memref<?xi32, strided<[1], offset: ?>>
  %seven = arith.constant 7 : i32
  qd.grid.for_each %i to %half {
    %x = memref.load %some[%i, %c0] : memref<?x2xi32, strided<[8, 1], offset: ?>>
    %y = memref.load %some[%i, %c1] : memref<?x2xi32, strided<[8, 1], offset: ?>>
    %own = memref.subview %some[%i, 0] [1, 2] [1, 1]
        : memref<?x2xi32, strided<[8, 1], offset: ?>> to memref<2xi32, strided<[1], offset: ?>>
    %z = memref.load %own[%c1] : memref<2xi32, strided<[1], offset: ?>>
    %at = arith.muli %i, %c2 : index
    %w = memref.load %flat[%at] : memref<?xi32, strided<[1], offset: ?>>
    %r = memref.load %row[%c1] : memref<4xi32, strided<[1], offset: ?>>
    %p = arith.addi %x, %y : i32
    %q = arith.muli %p, %z : i32
    %t = arith.xori %q, %w : i32
    %u = arith.addi %t, %r : i32
    %extent = memref.dim %some, %c0 : memref<?x2xi32, strided<[8, 1], offset: ?>>
    %e = arith.index_cast %extent : index to i32
    %v = arith.addi %u, %e : i32
    memref.store %v, %o[%i] : memref<?xi32>
    %was = qd.grid.atomic.exchange %v, %some[%i, %c0] device relaxed : memref<?x2xi32, strided<[8, 1], offset: ?>>
    %old = qd.grid.atomic.rmw add %seven, %some[%i, %c0] device relaxed : memref<?x2xi32, strided<[8, 1], offset: ?>>
  }
}";

#[test]
fn views_that_the_host_makes() {
    for (length, from, n) in [(100, 8, 64), (1000, 3, 996), (64, 0, 16)] {
        let mut arguments = all([
            Data::I32((0..length).map(|i| i * i + 3).collect()),
            Data::Number(from),
            Data::Number(n),
            Data::Count(0),
            Data::I32(vec![0; n as usize]),
            Data::I32(vec![0; 1024]),
            Data::Count(n),
        ]);
        arguments[5].expect = Expect::Scratch;
        let about = format!("views of {n} from {from} of {length}");
        Subject::new(VIEWS).check(any_wave(), &arguments, &about);
    }
    report("views");
}

/// Three extents of which none is known: a transposed copy, the sum of a column, and the extents themselves.
const EXTENTS: &str = "
qd.grid.kernel @main(%a: memref<?x?xi64>, %b: memref<?x?xi64>, %column: memref<?xi64>, %extents: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %a, %c0 : memref<?x?xi64>
  %columns = memref.dim %a, %c1 : memref<?x?xi64>
  %all = arith.muli %rows, %columns : index
  %last = arith.subi %columns, %c1 : index
  %of_last = memref.subview %a[0, %last] [%rows, 1] [1, 1]
      : memref<?x?xi64> to memref<?xi64, strided<[?], offset: ?>>
  qd.grid.for_each %i to %all {
    %row = arith.divui %i, %columns : index
    %at = arith.remui %i, %columns : index
    %x = memref.load %a[%row, %at] : memref<?x?xi64>
    memref.store %x, %b[%at, %row] : memref<?x?xi64>
  }
  qd.grid.for_each %i to %rows {
    %x = memref.load %of_last[%i] : memref<?xi64, strided<[?], offset: ?>>
    memref.store %x, %column[%i] : memref<?xi64>
  }
  qd.grid.for_each %i to %c1 {
    %of_b = memref.dim %b, %c1 : memref<?x?xi64>
    %x = arith.index_cast %of_b : index to i64
    memref.store %x, %extents[%c0] : memref<?xi64>
  }
}";

#[test]
fn several_dynamic_extents() {
    for (rows, columns) in [(1, 1), (3, 5), (70, 33)] {
        let all_of = rows * columns;
        let arguments = all([
            Data::I64((0..all_of as i64).collect()).rows(columns),
            Data::I64(vec![-1; all_of]).rows(rows),
            Data::I64(vec![0; rows]),
            Data::I64(vec![0; 4]),
        ]);
        let about = format!("{rows} rows of {columns}");
        Subject::new(EXTENTS).check(any_wave(), &arguments, &about);
    }
    report("several dynamic extents");
}

/// Some rows of one buffer, as an input, as a result, and as values and their workspace; and a buffer of scalars as rows.
const ROWS: &str = "
!rows = memref<?x3xi32, strided<[3, 1], offset: ?>>
qd.grid.kernel @main(%a: memref<?x3xi32>, %flags: memref<?xi32>, %o: memref<?x3xi32>, %m: memref<i32>, %keys: memref<?xi32>,
                     %cells: memref<?xi32>, %from: i32, %n: i32, %other: memref<?xi32>, %w: memref<?xi32>,
                     %s: memref<?xi32>, %count: memref<i32>) {
  %c3 = arith.constant 3 : index
  %first = arith.index_cast %from : i32 to index
  %size = arith.index_cast %n : i32 to index
  %part = memref.subview %a[%first, 0] [%size, 3] [1, 1] : memref<?x3xi32> to !rows
  %to = memref.subview %o[%first, 0] [%size, 3] [1, 1] : memref<?x3xi32> to !rows
  qd.algo.select ins(%part, %flags : !rows, memref<?xi32>) outs(%to, %m : !rows, memref<i32>)
      scratch(%s : memref<?xi32>) count(%count : memref<i32>) log256_max_n = 2
  %start = arith.muli %first, %c3 : index
  %as_rows = memref.reinterpret_cast %cells to offset: [%start], sizes: [%size, 3], strides: [3, 1]
      : memref<?xi32> to !rows
  %workspace = memref.reinterpret_cast %w to offset: [%start], sizes: [%size, 3], strides: [3, 1]
      : memref<?xi32> to !rows
  qd.algo.sort keys(%keys, %other : memref<?xi32>, memref<?xi32>) values(%as_rows, %workspace : !rows, !rows)
      scratch(%s : memref<?xi32>) count(%count : memref<i32>) log256_max_n = 2
}";

#[test]
fn views_of_rows() {
    for n in affordable([1, 64, 1000, 5000]) {
        let (from, rows) = (3, n + 7);
        let numbers = |of: usize| Data::I32((0..of as i32).map(|i| i * i % 10_007).collect());
        let slots = slots("sort", n, 2).max(slots("select", n, 2));
        let mut arguments = all([
            numbers(3 * rows).rows(3),
            Data::I32((0..n).map(|i| i32::from(i % 3 != 1)).collect()),
            Data::I32(vec![-1; 3 * rows]).rows(3),
            Data::Count(0),
            Data::I32((0..n as i32).map(|i| i * 7919 % 101).collect()),
            numbers(3 * rows),
            Data::Number(from),
            Data::Number(n as i32),
            Data::I32(vec![0; n]),
            Data::I32(vec![0; 3 * rows]),
            Data::I32(vec![0; slots]),
            Data::Count(n as i32),
        ]);
        for workspace in &mut arguments[8..11] {
            workspace.expect = Expect::Scratch;
        }
        let about = format!("{n} of {rows} rows");
        Subject::new(ROWS).check(any_wave(), &arguments, &about);
    }
    report("views of rows");
}
