//! Private memory (`memref.alloca`) on a target, against the interpreter.

use qd_conformance::{Argument, Data, Expect, Subject, affordable, any_wave, report};

fn check(source: &str, about: &str, n: i32) {
    let numbers: Vec<i32> = (0..n).map(|i| i.wrapping_mul(0x9E37) ^ 5).collect();
    let argument = Argument {
        data: Data::I32(numbers),
        expect: Expect::Same,
    };
    Subject::new(source).check(any_wave(), &[argument], about);
    report(about);
}

/// What a thread keeps across a barrier is its own afterwards.
#[test]
fn across_a_barrier() {
    let source = "
qd.grid.kernel @main(%a: memref<?xi32>) {
  %blocks = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  qd.grid.phase blocks(%blocks) threads(64) {
    %own = memref.alloca() : memref<3x2xi32>
    %c1 = arith.constant 1 : index
    %t = qd.simt.block.thread_id
    %x = memref.load %a[%t] : memref<?xi32>
    memref.store %x, %own[%c1, %c1] : memref<3x2xi32>
    qd.simt.block.sync
    %y = memref.load %own[%c1, %c1] : memref<3x2xi32>
    %u = arith.subi %c63, %t : index
    memref.store %y, %a[%u] : memref<?xi32>
  }
}";
    check(source, "across a barrier", 64);
}

/// A piece for each element, at an index that is not known.
#[test]
fn once_for_each_element() {
    let source = "
qd.grid.kernel @main(%a: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : i32
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %len {
    %own = memref.alloca() : memref<4xi32>
    %x = memref.load %a[%i] : memref<?xi32>
    %low = arith.andi %x, %c3 : i32
    %at = arith.index_cast %low : i32 to index
    memref.store %c3, %own[%c0] : memref<4xi32>
    memref.store %x, %own[%at] : memref<4xi32>
    %y = memref.load %own[%c0] : memref<4xi32>
    memref.store %y, %a[%i] : memref<?xi32>
  }
}";
    let sizes = affordable([3001, 60_000]);
    check(
        source,
        "once for each element",
        *sizes.last().expect("the first") as i32,
    );
}
