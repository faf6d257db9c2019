// A buffer of a body is marked if, in every launch of the body, nothing it may share memory with is written there.
// RUN: qd-opt %s --qd-mark-noalias --split-input-file | FileCheck %s

// Different arguments do not overlap, unless both say that they may.
// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: %{{.*}}: memref<?xi32> {llvm.noalias}, %{{.*}}: memref<?xi32> {llvm.noalias}, %{{.*}}: i32)
func.func private @copy(%from: memref<?xi32>, %to: memref<?xi32>, %unused: i32) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %from[%t] : memref<?xi32>
  memref.store %x, %to[%t] : memref<?xi32>
  return
}
qd.grid.kernel @apart(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32>, %g: index, %n: i32) {
  qd.grid.launch 0 @copy blocks(%g) args(%a, %b, %n : memref<?xi32>, memref<?xi32>, i32)
}

// -----

// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xi32>)
func.func private @copy(%from: memref<?xi32>, %to: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %from[%t] : memref<?xi32>
  memref.store %x, %to[%t] : memref<?xi32>
  return
}
qd.grid.kernel @may_alias(%a: memref<?xi32> {qd.may_alias}, %b: memref<?xi32> {qd.may_alias}, %g: index) {
  qd.grid.launch 0 @copy blocks(%g) args(%a, %b : memref<?xi32>, memref<?xi32>)
}

// -----

// One buffer twice. What only reads beside it is not in the way, and what is passed for `%apart` is another buffer.
// CHECK-LABEL: func.func private @three(
// CHECK-SAME: %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xi32> {llvm.noalias})
func.func private @three(%from: memref<?xi32>, %to: memref<?xi32>, %apart: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %from[%t] : memref<?xi32>
  memref.store %x, %to[%t] : memref<?xi32>
  memref.store %x, %apart[%t] : memref<?xi32>
  return
}
qd.grid.kernel @twice(%a: memref<?xi32>, %b: memref<?xi32>, %g: index) {
  qd.grid.launch 0 @three blocks(%g) args(%a, %a, %b : memref<?xi32>, memref<?xi32>, memref<?xi32>)
}

// -----

// A buffer that is not written may be passed twice.
// CHECK-LABEL: func.func private @sum(
// CHECK-SAME: %{{.*}}: memref<?xi32> {llvm.noalias}, %{{.*}}: memref<?xi32> {llvm.noalias}, %{{.*}}: memref<?xi32> {llvm.noalias})
func.func private @sum(%x: memref<?xi32>, %y: memref<?xi32>, %to: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %u = memref.load %x[%t] : memref<?xi32>
  %v = memref.load %y[%t] : memref<?xi32>
  %s = arith.addi %u, %v : i32
  memref.store %s, %to[%t] : memref<?xi32>
  return
}
qd.grid.kernel @read_twice(%a: memref<?xi32>, %b: memref<?xi32>, %g: index) {
  qd.grid.launch 0 @sum blocks(%g) args(%a, %a, %b : memref<?xi32>, memref<?xi32>, memref<?xi32>)
}

// -----

// Parts of one buffer, one behind the other, as strategies lay out scratch.
// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: %{{.*}}: memref<?xi32> {llvm.noalias}, %{{.*}}: memref<?xf32> {llvm.noalias})
func.func private @copy(%from: memref<?xi32>, %to: memref<?xf32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %from[%t] : memref<?xi32>
  %y = arith.bitcast %x : i32 to f32
  memref.store %y, %to[%t] : memref<?xf32>
  return
}
qd.grid.kernel @behind(%s: memref<?xi32>, %n: index, %g: index) {
  %c0 = arith.constant 0 : index
  %first = qd.grid.view %s[%c0] [%n] : memref<?xi32> to memref<?xi32>
  %second = qd.grid.view %s[%n] [%n] : memref<?xi32> to memref<?xf32>
  qd.grid.launch 0 @copy blocks(%g) args(%first, %second : memref<?xi32>, memref<?xf32>)
}

// -----

// The second launch of the same body has parts that overlap by one element.
// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: %{{.*}}: memref<?xi32>, %{{.*}}: memref<?xi32>)
func.func private @copy(%from: memref<?xi32>, %to: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %from[%t] : memref<?xi32>
  memref.store %x, %to[%t] : memref<?xi32>
  return
}
qd.grid.kernel @one_of_two(%s: memref<?xi32>, %flag: memref<i32>, %n: index, %g: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %more = arith.addi %n, %c1 : index
  %first = qd.grid.view %s[%c0] [%n] : memref<?xi32> to memref<?xi32>
  %longer = qd.grid.view %s[%c0] [%more] : memref<?xi32> to memref<?xi32>
  %second = qd.grid.view %s[%n] [%n] : memref<?xi32> to memref<?xi32>
  qd.grid.launch 0 @copy blocks(%g) args(%first, %second : memref<?xi32>, memref<?xi32>)
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.launch 1 @copy blocks(%g) args(%longer, %second : memref<?xi32>, memref<?xi32>) after [0]
  }
}

// -----

// Another kernel counts as well, and what was written there by hand goes if it does not hold.
// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: %{{.*}}: memref<?xi32> {llvm.noundef}, %{{.*}}: memref<?xi32>)
func.func private @copy(%from: memref<?xi32> {llvm.noalias, llvm.noundef}, %to: memref<?xi32> {llvm.noalias}) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %x = memref.load %from[%t] : memref<?xi32>
  memref.store %x, %to[%t] : memref<?xi32>
  return
}
qd.grid.kernel @fine(%a: memref<?xi32>, %b: memref<?xi32>, %g: index) {
  qd.grid.launch 0 @copy blocks(%g) args(%a, %b : memref<?xi32>, memref<?xi32>)
}
qd.grid.kernel @not_fine(%a: memref<?xi32>, %g: index) {
  qd.grid.launch 0 @copy blocks(%g) args(%a, %a : memref<?xi32>, memref<?xi32>)
}

// -----

// A body that takes part in no launch is left as it is.
// CHECK-LABEL: func.func @alone(
// CHECK-SAME: %{{.*}}: memref<?xi32> {llvm.noalias}, %{{.*}}: memref<?xi32>)
func.func @alone(%from: memref<?xi32> {llvm.noalias}, %to: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  return
}
