//! The thinnest path: an algorithm and a phase.

use crate::support::*;

#[test]
fn reduce_then_phase() {
    let text = "
      qd.grid.kernel @k(%a: memref<?xi32>, %out: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>, %b: memref<?xi32>) {
        qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
            scratch(%s : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 1
        %c2 = arith.constant 2 : index
        qd.grid.phase \"double\" blocks(%c2) threads(64) {
          %c0 = arith.constant 0 : index
          %b0 = qd.simt.block.id
          %d = qd.simt.block.dim
          %t = qd.simt.block.thread_id
          %o = arith.muli %b0, %d : index
          %i = arith.addi %o, %t : index
          %sum = memref.load %out[%c0] : memref<1xi32>
          %x = arith.index_cast %i : index to i32
          %y = arith.addi %sum, %x : i32
          memref.store %y, %b[%i] : memref<?xi32>
        }
      }";
    for wave in WAVES {
        let arguments = vec![
            buffer(&[1i32, 2, 3, 4, 5]),
            buffer(&[0i32]),
            scratch(1),
            count(4),
            buffer(&vec![0i32; 128]),
        ];
        let out = run(text, arguments, wave);
        assert_eq!(values::<i32>(&out[1]), [10]);
        assert_eq!(values::<i32>(&out[4]), (10..138).collect::<Vec<_>>());
    }
}
