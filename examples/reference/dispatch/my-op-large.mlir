// A way to double that is for large inputs alone.
//
// Reference: perf_dispatch.txt, "Compatibility filtering"
//
// $ qd-run my-op-large.mlir --entry=main --arg 'a=iota[1024]' --arg 'b=zeros[1024]' \
//     --arg 'used=[0]' --print 'b[:4]' --print used
// b[:4] = [0, 2, 4, 6]
// used = [1]

qd.grid.kernel @my_op_large(%a: memref<?xf32>, %b: memref<?xf32>, %used: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %n = memref.dim %a, %c0 : memref<?xf32>
  qd.grid.for_each "my_op_large" %i to %n {
    %two = arith.constant 2.0 : f32
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.mulf %x, %two : f32
    memref.store %y, %b[%i] : memref<?xf32>
  }
  qd.grid.fill %used[%c0 to %c1] = %one : memref<1xi32>
}

qd.grid.kernel @my_op(%a: memref<?xf32>, %b: memref<?xf32>, %used: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  qd.grid.for_each "my_op" %i to %n {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %b[%i] : memref<?xf32>
  }
}

qd.grid.kernel @main(%a: memref<?xf32> {qd.name = "a"}, %b: memref<?xf32> {qd.name = "b"},
                     %used: memref<1xi32> {qd.name = "used"}) {
  qd.grid.dispatch(%a, %b, %used : memref<?xf32>, memref<?xf32>, memref<1xi32>) {
    qd.grid.variant @my_op_large when {
      %c0 = arith.constant 0 : index
      %c1024 = arith.constant 1024 : index
      %n = memref.dim %a, %c0 : memref<?xf32>
      %is_large = arith.cmpi uge, %n, %c1024 : index
      qd.yield %is_large : i1
    }
    qd.grid.variant @my_op
  }
}
