//! What threads print, on a target and in the interpreter: the same lines, in whatever order.

use qd_conformance::{Data, Subject, all, any_wave, report};

/// Values of each type, behind a condition, and a second print in the same thread.
const TYPES: &str = "qd.grid.kernel @main(%a: memref<?xi32>, %b: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each \"types\" %i to %len {
    %x = memref.load %a[%i] : memref<?xi32>
    %f = memref.load %b[%i] : memref<?xf32>
    %c3 = arith.constant 3 : i32
    %r = arith.remsi %x, %c3 : i32
    %zero = arith.constant 0 : i32
    %some = arith.cmpi eq, %r, %zero : i32
    scf.if %some {
      %byte = arith.trunci %x : i32 to i8
      %half = arith.truncf %f : f32 to f16
      gpu.printf \"%d|%u|%x|%d|%hhd\\0A\", %x, %x, %x, %some, %byte : i32, i32, i32, i1, i8
      gpu.printf \"[%6.2f|%e|%g]\\0A\", %f, %f, %half : f32, f32, f16
    }
    gpu.printf \"all of %d\\0A\", %i : index
  }
}";

/// Of 64 bits.
const WIDE: &str = "qd.grid.kernel @main(%a: memref<?xi64>, %b: memref<?xf64>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi64>
  qd.grid.for_each \"wide\" %i to %len {
    %x = memref.load %a[%i] : memref<?xi64>
    %f = memref.load %b[%i] : memref<?xf64>
    gpu.printf \"%lld %llu %.17g\\0A\", %x, %x, %f : i64, i64, f64
  }
}";

/// From several blocks, in front of a barrier and behind it, with what is in shared memory.
const BLOCKS: &str = "qd.grid.kernel @main(%a: memref<?xi32>) {
  %blocks = arith.constant 3 : index
  qd.grid.phase \"blocks\" blocks(%blocks) threads(96) {
    %shared = qd.simt.block.shared : memref<96xi32, #gpu.address_space<workgroup>>
    %c0 = arith.constant 0 : index
    %t = qd.simt.block.thread_id
    %b = qd.simt.block.id
    %t32 = arith.index_cast %t : index to i32
    %first = arith.cmpi eq, %t, %c0 : index
    scf.if %first {
      gpu.printf \"block %d begins\\0A\", %b : index
    }
    memref.store %t32, %shared[%t] : memref<96xi32, #gpu.address_space<workgroup>>
    qd.simt.block.sync
    %last = arith.constant 95 : index
    %other = arith.subi %last, %t : index
    %x = memref.load %shared[%other] : memref<96xi32, #gpu.address_space<workgroup>>
    gpu.printf \"block %d, thread %d: %d\\0A\", %b, %t, %x : index, index, i32
  }
}";

/// That both print the same lines, in any order.
fn same(source: &str, data: Vec<Data>, lines: usize) {
    let Some([mut ours, mut theirs]) = Subject::new(source).prints(any_wave(), &all(data)) else {
        return;
    };
    assert_eq!(theirs.len(), lines, "{theirs:?}");
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs, "{source}");
}

// One test: a device has one printer, and tests of a program share the device.
#[test]
fn prints() {
    let n = 100;
    let x: Vec<i32> = (0..n).map(|i| i * 7 - 300).collect();
    let f: Vec<f32> = (0..n).map(|i| i as f32 / 8.0 - 2.0).collect();
    let some = x.iter().filter(|x| *x % 3 == 0).count();
    let lines = n as usize + 2 * some;
    same(TYPES, vec![Data::I32(x), Data::F32(f)], lines);
    let x = vec![i64::MIN, -1, 0, i64::MAX];
    let f = vec![f64::MAX, -0.1, f64::INFINITY, 5e-324];
    same(WIDE, vec![Data::I64(x), Data::F64(f)], 4);
    same(BLOCKS, vec![Data::I32(vec![0; 3])], 3 * 97);
    // A kernel may print again and again; what was read makes room.
    for _ in 0..8 {
        same(BLOCKS, vec![Data::I32(vec![0; 3])], 3 * 97);
    }
    // More than fits is dropped, and counted.
    let x = Data::I32(vec![1; 3000]);
    let f = Data::F32(vec![0.0; 3000]);
    if let Some([ours, theirs]) = Subject::new(TYPES).prints(any_wave(), &all([x, f])) {
        assert_eq!((ours.len(), theirs.len()), (3000, 2049));
        let (said, kept) = theirs.split_last().expect("some");
        assert!(kept.iter().all(|line| ours.contains(line)));
        assert_eq!(
            said,
            "[952 more prints did not fit: a device keeps 2048 until somebody waits for it]\n"
        );
    }
    report("prints");
}
