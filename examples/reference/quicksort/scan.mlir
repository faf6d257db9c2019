// One step of a prefix sum: each element and the one a stride before it.
//
// Reference: quicksort.txt, "Prefix sum": scan
//
// $ qd-run scan.mlir --arg 'y=[3, 1, 4, 1, 5, 9, 2, 6]' --arg step=2 --arg 'next_y=zeros[8]' \
//     --print next_y
// next_y = [3, 1, 7, 2, 9, 10, 7, 15]

qd.grid.kernel @main(%y: memref<?xi32> {qd.name = "y"}, %next_y: memref<?xi32> {qd.name = "next_y"},
                     %step: i32 {qd.name = "step"}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?xi32>
  %stride = arith.index_cast %step : i32 to index
  qd.grid.for_each "scan" %i to %n {
    %x = memref.load %y[%i] : memref<?xi32>
    %has_partner = arith.cmpi uge, %i, %stride : index
    %sum = scf.if %has_partner -> (i32) {
      %j = arith.subi %i, %stride : index
      %before = memref.load %y[%j] : memref<?xi32>
      %both = arith.addi %x, %before : i32
      scf.yield %both : i32
    } else {
      scf.yield %x : i32
    }
    memref.store %sum, %next_y[%i] : memref<?xi32>
  }
}
