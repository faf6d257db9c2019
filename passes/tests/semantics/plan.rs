//! Kernels before and after planning: elementwise phases, fusion, outlining,
//! shared bodies.

use crate::support::*;
use qd_dialects::{melior::ir::Module, pass::run_pipeline};

const KERNEL: &str = "
qd.grid.kernel @k(%x: memref<?xi32>, %y: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>, %flag: memref<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c16 = arith.constant 16 : i32
  %c255 = arith.constant 255 : i32
  %zero = arith.constant 0 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>
  qd.grid.for_each \"square\" %i to %len count(%n : memref<i32>) {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.muli %v, %v : i32
    memref.store %w, %y[%i] : memref<?xi32>
  }
  qd.grid.for_each \"increment\" %i to %len {
    %v = memref.load %y[%i] : memref<?xi32>
    %w = arith.addi %v, %c1 : i32
    memref.store %w, %y[%i] : memref<?xi32>
  }
  qd.grid.for_each \"low\" %i to %len {
    %v = memref.load %y[%i] : memref<?xi32>
    %d = arith.andi %v, %c255 : i32
    memref.store %d, %x[%i] : memref<?xi32>
  }
  qd.grid.fill %s[%c0 to %len] = %c8 : memref<?xi32>
  qd.grid.for_each \"middle\" %i to %len {
    %v = memref.load %y[%i] : memref<?xi32>
    %t = arith.shrui %v, %c8 : i32
    %d = arith.andi %t, %c255 : i32
    memref.store %d, %s[%i] : memref<?xi32>
  }
  qd.grid.for_each \"high\" %i to %len {
    %v = memref.load %y[%i] : memref<?xi32>
    %t = arith.shrui %v, %c16 : i32
    %d = arith.andi %t, %c255 : i32
    memref.store %d, %x[%i] : memref<?xi32>
  }
  qd.grid.do_while %flag : memref<i32> {
    %one = arith.constant 1 : index
    qd.grid.phase \"count\" blocks(%one) threads(64) {
      %leader = qd.simt.elect
      %sg = qd.simt.subgroup_id
      %first = arith.cmpi eq, %sg, %zero : i32
      %both = arith.andi %leader, %first : i1
      scf.if %both {
        %f = memref.load %flag[] : memref<i32>
        %d = arith.subi %f, %c1 : i32
        memref.store %d, %flag[] : memref<i32>
      }
    }
    qd.grid.for_each \"reverse\" %i to %len {
      %last = arith.constant 1 : index
      %m = arith.subi %len, %last : index
      %j = arith.subi %m, %i : index
      %v = memref.load %y[%j] : memref<?xi32>
      memref.store %v, %s[%i] : memref<?xi32>
    }
    qd.grid.for_each \"back\" %i to %len {
      %v = memref.load %s[%i] : memref<?xi32>
      %w = arith.addi %v, %c1 : i32
      memref.store %w, %y[%i] : memref<?xi32>
    }
  }
}";

#[test]
fn a_plan_computes_what_its_phases_do() {
    for length in [0, 1, 255, 256, 257, 1000] {
        let mut numbers = Numbers::new(length as u64);
        let x = numbers.many(length, |n| n.next() as i32);
        let arguments = [
            buffer(&x),
            room(length, 3i32),
            room(length, 5i32),
            qd_interp::Buffer::scalar((length / 2) as i32).into(),
            qd_interp::Buffer::scalar(3i32).into(),
        ];
        for pipeline in [
            "qd-expand-for-each",
            "qd-expand-for-each,canonicalize,cse,qd-fuse-phases",
            "qd-expand-for-each,canonicalize,cse,qd-outline-phases,qd-share-bodies",
            "qd-expand-for-each,canonicalize,cse,qd-plan-launches",
        ] {
            unchanged_by(pipeline, KERNEL, &arguments, 32);
        }
    }
}

/// More phases than may be one become a few, and still run one after the other.
#[test]
fn many_phases_become_a_few() {
    let step = "
  qd.grid.for_each %i to %len {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.muli %v, %c3 : i32
    %u = arith.addi %w, %c1 : i32
    memref.store %u, %x[%i] : memref<?xi32>
  }";
    let text = format!(
        "qd.grid.kernel @k(%x: memref<?xi32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %len = memref.dim %x, %c0 : memref<?xi32>{}
}}",
        step.repeat(100)
    );
    let pipeline = "qd-expand-for-each,canonicalize,cse,qd-fuse-phases";
    let before = unchanged_by(pipeline, &text, &[buffer(&[1, -7, 0, 5])], 4);
    let expected = (0..100).fold(0i32, |x, _| x.wrapping_mul(3).wrapping_add(1));
    assert_eq!(
        before[0].buffer().expect("a buffer").to_vec::<i32>()[2],
        expected
    );

    let context = context();
    let mut module = Module::parse(&context, &text).expect("it is valid");
    run_pipeline(&context, &mut module, pipeline).expect("it fuses");
    let count = module
        .as_operation()
        .to_string()
        .matches("qd.grid.phase")
        .count();
    assert_eq!(count, 100_usize.div_ceil(32));
}
