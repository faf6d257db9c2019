// What `cargo xtask amd-costs` counts the instructions of: each algorithm on 4-byte elements.

qd.grid.kernel @reduce(%a: memref<?xf32> {qd.name = "a"}, %o: memref<1xf32>, %s: memref<?xi32>,
                       %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%o : memref<1xf32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @exclusive_scan(%a: memref<?xi32> {qd.name = "a"}, %o: memref<?xi32>, %s: memref<?xi32>,
                               %n: memref<i32> {qd.name = "n"}) {
  qd.algo.exclusive_scan add ins(%a : memref<?xi32>) outs(%o : memref<?xi32>) scratch(%s : memref<?xi32>)
      count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @select(%a: memref<?xi32> {qd.name = "a"}, %f: memref<?xi32> {qd.name = "flags"}, %o: memref<?xi32>,
                       %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.select ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%o, %m : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @partition(%a: memref<?xi32> {qd.name = "a"}, %f: memref<?xi32> {qd.name = "flags"}, %o: memref<?xi32>,
                          %m: memref<i32>, %s: memref<?xi32>, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.partition ins(%a, %f : memref<?xi32>, memref<?xi32>) outs(%o, %m : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @unique(%a: memref<?xi32> {qd.name = "keys"}, %o: memref<?xi32>, %m: memref<i32>, %s: memref<?xi32>,
                       %n: memref<i32> {qd.name = "n"}) {
  qd.algo.unique ins(%a : memref<?xi32>) outs(%o, %m : memref<?xi32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @reduce_by_key(%k: memref<?xi32> {qd.name = "keys"}, %v: memref<?xf32> {qd.name = "a"}, %ko: memref<?xi32>,
                              %vo: memref<?xf32>, %m: memref<i32>, %s: memref<?xi32>,
                              %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce_by_key add ins(%k, %v : memref<?xi32>, memref<?xf32>)
      outs(%ko, %vo, %m : memref<?xi32>, memref<?xf32>, memref<i32>)
      scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @sort(%k: memref<?xi32> {qd.name = "a"}, %t: memref<?xi32>, %s: memref<?xi32>,
                     %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%k, %t : memref<?xi32>, memref<?xi32>) scratch(%s : memref<?xi32>) count(%n : memref<i32>)
      log256_max_n = 3 unsigned
}
