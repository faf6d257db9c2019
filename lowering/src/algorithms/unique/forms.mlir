// What tests run of qd.algo.unique.
// ELEMENTS: i8 i16 i32 i64 f32 f64

!T = i32

qd.grid.kernel @firsts(%in: memref<?x!T>, %out: memref<?x!T>, %runs: memref<i32>,
                       %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.unique ins(%in : memref<?x!T>) outs(%out, %runs : memref<?x!T>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @run_lengths(%in: memref<?x!T>, %out: memref<?x!T>, %lengths: memref<?xi32>,
                            %runs: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.unique ins(%in : memref<?x!T>) outs(%out, %runs : memref<?x!T>, memref<?xi32>)
      counts(%lengths : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

// Of what a map yields, which is computed where it is read.
qd.grid.kernel @mapped(%x: memref<?x!T>, %in: memref<?x!T> {qd.scratch}, %out: memref<?x!T>,
                       %lengths: memref<?xi32>, %runs: memref<i32>, %s: memref<?xi32>,
                       %n: memref<i32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %x, %c0 : memref<?x!T>
  qd.grid.for_each "map" %i to %len count(%n : memref<i32>) {
    %v = memref.load %x[%i] : memref<?x!T>
    memref.store %v, %in[%i] : memref<?x!T>
  }
  qd.algo.unique ins(%in : memref<?x!T>) outs(%out, %runs : memref<?x!T>, memref<i32>)
      counts(%lengths : memref<?xi32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}
