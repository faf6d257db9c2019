// Two ways to double: the whole program.
//
// A dispatch runs the first variant that is eligible; the choice by time is the host's. The
// reference shifts a float to double it, which is an addition here.
//
// Reference: perf_dispatch.txt, "Complete example"
//
// $ qd-run transform.mlir --entry=main --arg 'data=iota[1024]' --arg 'out=zeros[1024]' \
//     --print 'out[:4]'
// out[:4] = [0, 2, 4, 6]

qd.grid.kernel @transform_v1(%data: memref<?xf32> {qd.name = "data"}, %out: memref<?xf32> {qd.name = "out"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %data, %c0 : memref<?xf32>
  qd.grid.for_each "transform_v1" %i to %n {
    %two = arith.constant 2.0 : f32
    %x = memref.load %data[%i] : memref<?xf32>
    %y = arith.mulf %x, %two : f32
    memref.store %y, %out[%i] : memref<?xf32>
  }
}

// One thread does all of it, one element after another.
qd.grid.kernel @transform_v2(%data: memref<?xf32> {qd.name = "data"}, %out: memref<?xf32> {qd.name = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %data, %c0 : memref<?xf32>
  qd.grid.for_each "transform_v2" %only to %c1 {
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.load %data[%i] : memref<?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %out[%i] : memref<?xf32>
    }
  }
}

qd.grid.kernel @main(%data: memref<?xf32> {qd.name = "data"}, %out: memref<?xf32> {qd.name = "out"}) {
  qd.grid.dispatch(%data, %out : memref<?xf32>, memref<?xf32>) {
    qd.grid.variant @transform_v2
    qd.grid.variant @transform_v1
  }
}
