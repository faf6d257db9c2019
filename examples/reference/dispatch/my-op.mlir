// Two ways to double.
//
// A dispatch runs the first variant that is eligible; the choice by time is the host's. The
// reference shifts a float to double it, which is an addition here.
//
// Reference: perf_dispatch.txt, "Basic usage"
//
// $ qd-run my-op.mlir --entry=main --arg 'a=[1, 2.5, -3]' --arg 'b=zeros[3]' --print b
// b = [2, 5, -6]

qd.grid.kernel @my_op_v1(%a: memref<?xf32> {qd.name = "a"}, %b: memref<?xf32> {qd.name = "b"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  qd.grid.for_each "my_op_v1" %i to %n {
    %two = arith.constant 2.0 : f32
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.mulf %x, %two : f32
    memref.store %y, %b[%i] : memref<?xf32>
  }
}

// One thread does all of it, one element after another.
qd.grid.kernel @my_op_v2(%a: memref<?xf32> {qd.name = "a"}, %b: memref<?xf32> {qd.name = "b"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  qd.grid.for_each "my_op_v2" %only to %c1 {
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %a[%i] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %b[%i] : memref<?xf32>
    }
  }
}

qd.grid.kernel @main(%a: memref<?xf32> {qd.name = "a"}, %b: memref<?xf32> {qd.name = "b"}) {
  qd.grid.dispatch(%a, %b : memref<?xf32>, memref<?xf32>) {
    qd.grid.variant @my_op_v1
    qd.grid.variant @my_op_v2
  }
}
