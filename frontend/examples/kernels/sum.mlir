// Two strategies of one algorithm, which take the same arguments: the one that suits the target best,
// as the compiler knows it, and the one that every target has.
qd.grid.kernel @sum(%x: memref<?xi32> {qd.name = "x"}, %out: memref<1xi32> {qd.name = "out"},
                    %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%x : memref<?xi32>) outs(%out : memref<1xi32>)
    scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3
}

qd.grid.kernel @sum_by_levels(%x: memref<?xi32> {qd.name = "x"}, %out: memref<1xi32> {qd.name = "out"},
                              %scratch: memref<?xi32> {qd.name = "scratch"}, %n: memref<i32> {qd.name = "n"}) {
  qd.algo.reduce add ins(%x : memref<?xi32>) outs(%out : memref<1xi32>)
    scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 3 strategy = "hierarchical"
}
