//! Buffers of one launch that share memory, on a target against the
//! interpreter.

use qd_conformance::{Argument, Data, Expect, Subject, any_wave, report};

/// Each thread reads an element through one view, writes it through another and
/// reads it again through the first: what it wrote, not what it read before.
const READ_WRITE_READ: &str = "
qd.grid.kernel @main(%s: memref<?xi32>, %o: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  %len = memref.dim %s, %c0 : memref<?xi32>
  %less = arith.subi %len, %c1 : index
  %shifted = qd.grid.view %s[%c1] [%less] : memref<?xi32> to memref<?xi32>
  qd.grid.for_each %i to %less {
    %j = arith.addi %i, %c1 : index
    %x = memref.load %s[%j] : memref<?xi32>
    %y = arith.muli %x, %c3 : i32
    memref.store %y, %shifted[%i] : memref<?xi32>
    %z = memref.load %s[%j] : memref<?xi32>
    memref.store %z, %o[%i] : memref<?xi32>
  }
}";

#[test]
fn views_that_overlap_see_each_others_writes() {
    let numbers: Vec<i32> = (1..=1000).collect();
    let arguments = [
        Argument {
            data: Data::I32(numbers.clone()),
            expect: Expect::Same,
        },
        Argument {
            data: Data::I32(vec![0; numbers.len()]),
            expect: Expect::Same,
        },
    ];
    Subject::new(READ_WRITE_READ).check(any_wave(), &arguments, "overlapping views");
    report("overlapping views");
}
