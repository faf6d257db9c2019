// What pytorch.py runs: a sort, a scan, and a loop whose end the device finds out.

qd.grid.kernel @sort(%keys: memref<?xi32> {qd.name = "keys"}, %tmp: memref<?xi32> {qd.name = "tmp"},
                     %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.sort keys(%keys, %tmp : memref<?xi32>, memref<?xi32>) scratch(%scratch : memref<?xi32>)
    count(%n : memref<i32>) log256_max_n = 4
}

qd.grid.kernel @scan(%a: memref<?xi32> {qd.name = "a"}, %out: memref<?xi32> {qd.name = "out"},
                     %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.inclusive_scan add ins(%a : memref<?xi32>) outs(%out : memref<?xi32>)
    scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 4
}

// Halves n until it is 0, and counts the rounds; goes on at once if it is 1 at first.
qd.grid.kernel @halve(%n: memref<i32> {qd.name = "n"}, %rounds: memref<i32> {qd.name = "rounds"},
                      %goes_on: memref<i32> {qd.name = "goes_on"}) {
  %one = arith.constant 1 : index
  qd.grid.do_while %goes_on : memref<i32> {
    qd.grid.phase blocks(%one) threads(64) {
      %i = qd.simt.block.thread_id
      %zero = arith.constant 0 : index
      %is_first = arith.cmpi eq, %i, %zero : index
      scf.if %is_first {
        %unit = arith.constant 1 : i32
        %none = arith.constant 0 : i32
        %x = memref.load %n[] : memref<i32>
        %half = arith.shrui %x, %unit : i32
        memref.store %half, %n[] : memref<i32>
        %r = memref.load %rounds[] : memref<i32>
        %s = arith.addi %r, %unit : i32
        memref.store %s, %rounds[] : memref<i32>
        %more = arith.cmpi ne, %half, %none : i32
        %flag = arith.extui %more : i1 to i32
        memref.store %flag, %goes_on[] : memref<i32>
      }
    }
  }
}
