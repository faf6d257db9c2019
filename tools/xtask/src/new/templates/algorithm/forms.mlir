// What tests run of qd.algo.the_name.
// ELEMENTS: i32 i64 f32 f64

!T = i32

qd.grid.kernel @plain(%in: memref<?x!T>, %out: memref<?x!T>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.the_name ins(%in : memref<?x!T>) outs(%out : memref<?x!T>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
