// Whether scratch is long enough, from a count that the device alone knows.
//
// Reference: algorithms.txt, "Scratch space"
//
// $ qd-run scratch-slots.mlir --arg 'n=[1048576]' --arg 'scratch=zeros[4111]' --print needed \
//     --print is_enough
// needed = [4112]
// is_enough = [0]

qd.grid.kernel @main(%n: memref<1xi32> {qd.name = "n"}, %scratch: memref<?xi32> {qd.name = "scratch"},
                     %needed: memref<1xi32> {qd.name = "needed"},
                     %is_enough: memref<1xi32> {qd.name = "is_enough"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %there = memref.dim %scratch, %c0 : memref<?xi32>
  qd.grid.for_each "check" %i to %c1 {
    %count = memref.load %n[%i] : memref<1xi32>
    %elements = arith.index_cast %count : i32 to index
    %slots = qd.algo.scratch_slots reduce %elements, 3
    %number = arith.index_cast %slots : index to i32
    memref.store %number, %needed[%i] : memref<1xi32>
    %fits = arith.cmpi ule, %slots, %there : index
    %flag = arith.extui %fits : i1 to i32
    memref.store %flag, %is_enough[%i] : memref<1xi32>
  }
}
