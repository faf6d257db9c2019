// Bodies that differ only in integer constants become one, with arguments for these; others are not
// shared.

// RUN: qd-opt %s --qd-share-bodies --split-input-file | FileCheck %s

// The shift differs, and where it was 0 the step was folded away. The mask is
// the same everywhere and stays.
// CHECK-LABEL: func.func private @k_pass_0
// CHECK-SAME:    (%[[A:.*]]: memref<?xi32>, %[[S:.*]]: i32)
// CHECK:         %[[MASK:.*]] = arith.constant 255 : i32
// CHECK:         %[[X:.*]] = memref.load %[[A]]
// CHECK:         %[[SHIFTED:.*]] = arith.shrui %[[X]], %[[S]] : i32
// CHECK:         arith.andi %[[SHIFTED]], %[[MASK]]
// CHECK-NOT:   func.func
// CHECK-LABEL: qd.grid.kernel @k
// CHECK:         %[[S0:.*]] = arith.constant 0 : i32
// CHECK:         launch 0 @k_pass_0 blocks(%{{.*}}) args(%[[P:.*]], %[[S0]] : memref<?xi32>, i32)
// CHECK:         %[[S8:.*]] = arith.constant 8 : i32
// CHECK:         launch 1 @k_pass_0 blocks(%{{.*}}) args(%[[Q:.*]], %[[S8]] : memref<?xi32>, i32) after [0] {qd.phase = "pass"}
// CHECK:         %[[S16:.*]] = arith.constant 16 : i32
// CHECK:         launch 2 @k_pass_0 blocks(%{{.*}}) args(%[[P]], %[[S16]] : memref<?xi32>, i32) after [1]
func.func private @k_pass_0(%a: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %c255 = arith.constant 255 : i32
  %i = qd.simt.block.thread_id
  %x = memref.load %a[%i] : memref<?xi32>
  %d = arith.andi %x, %c255 : i32
  memref.store %d, %a[%i] : memref<?xi32>
  return
}
func.func private @k_pass_1(%a: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %c8 = arith.constant 8 : i32
  %c255 = arith.constant 255 : i32
  %i = qd.simt.block.thread_id
  %x = memref.load %a[%i] : memref<?xi32>
  %s = arith.shrui %x, %c8 : i32
  %d = arith.andi %s, %c255 : i32
  memref.store %d, %a[%i] : memref<?xi32>
  return
}
func.func private @k_pass_2(%a: memref<?xi32>) attributes {qd.threads = 256 : i64} {
  %i = qd.simt.block.thread_id
  %c255 = arith.constant 255 : i32
  %x = memref.load %a[%i] : memref<?xi32>
  %c16 = arith.constant 16 : i32
  %s = arith.shrui %x, %c16 : i32
  %d = arith.andi %s, %c255 : i32
  memref.store %d, %a[%i] : memref<?xi32>
  return
}
qd.grid.kernel @k(%p: memref<?xi32>, %q: memref<?xi32>, %g: index) {
  qd.grid.launch 0 @k_pass_0 blocks(%g) args(%p : memref<?xi32>)
  qd.grid.launch 1 @k_pass_1 blocks(%g) args(%q : memref<?xi32>) after [0] {qd.phase = "pass"}
  qd.grid.launch 2 @k_pass_2 blocks(%g) args(%p : memref<?xi32>) after [1]
}

// -----

// The same in all: no arguments are added. A constant that differs in two places
// alike is one argument. What another kernel launches stays its own.
// CHECK-LABEL: func.func private @a_0(%{{.*}}: memref<?xi32>) attributes
// CHECK-LABEL: func.func private @a_1
// CHECK-SAME:    (%{{.*}}: memref<?xi32>, %[[C:.*]]: i32) attributes
// CHECK:         arith.addi %{{.*}}, %[[C]]
// CHECK:         arith.xori %{{.*}}, %[[C]]
// CHECK-NOT:   func.func
// CHECK-LABEL: qd.grid.kernel @a
// CHECK:         launch 0 @a_0 {{.*}} args(%{{.*}} : memref<?xi32>)
// CHECK:         launch 1 @a_1
// CHECK:         launch 2 @a_0 {{.*}} args(%{{.*}} : memref<?xi32>)
// CHECK:         launch 3 @a_1
// CHECK-LABEL: func.func private @c_0
// CHECK-LABEL: qd.grid.kernel @c
// CHECK:         launch 0 @c_0 {{.*}} args(%{{.*}} : memref<?xi32>)
func.func private @a_0(%a: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %i = qd.simt.block.thread_id
  %x = memref.load %a[%i] : memref<?xi32>
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
func.func private @a_1(%a: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %i = qd.simt.block.thread_id
  %c3 = arith.constant 3 : i32
  %x = memref.load %a[%i] : memref<?xi32>
  %y = arith.addi %x, %c3 : i32
  %z = arith.xori %y, %c3 : i32
  memref.store %z, %a[%i] : memref<?xi32>
  return
}
func.func private @b_0(%a: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %i = qd.simt.block.thread_id
  %x = memref.load %a[%i] : memref<?xi32>
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
func.func private @b_1(%a: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %i = qd.simt.block.thread_id
  %c5 = arith.constant 5 : i32
  %x = memref.load %a[%i] : memref<?xi32>
  %y = arith.addi %x, %c5 : i32
  %z = arith.xori %y, %c5 : i32
  memref.store %z, %a[%i] : memref<?xi32>
  return
}
qd.grid.kernel @a(%p: memref<?xi32>, %g: index) {
  qd.grid.launch 0 @a_0 blocks(%g) args(%p : memref<?xi32>)
  qd.grid.launch 1 @a_1 blocks(%g) args(%p : memref<?xi32>) after [0]
  qd.grid.launch 2 @b_0 blocks(%g) args(%p : memref<?xi32>) after [1]
  qd.grid.launch 3 @b_1 blocks(%g) args(%p : memref<?xi32>) after [2]
}
func.func private @c_0(%a: memref<?xi32>) attributes {qd.threads = 64 : i64} {
  %i = qd.simt.block.thread_id
  %x = memref.load %a[%i] : memref<?xi32>
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
qd.grid.kernel @c(%p: memref<?xi32>, %g: index) {
  qd.grid.launch 0 @c_0 blocks(%g) args(%p : memref<?xi32>)
}

// -----

// Another op, another type, another block size, a public body: not the same.
// CHECK-COUNT-5: func.func
// CHECK-NOT:     func.func
func.func private @sum(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %x = arith.addi %v, %v : i32
  %i = qd.simt.block.id
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
func.func private @product(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %x = arith.muli %v, %v : i32
  %i = qd.simt.block.id
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
func.func private @wide(%a: memref<?xi64>, %v: i64) attributes {qd.threads = 64 : i64} {
  %x = arith.addi %v, %v : i64
  %i = qd.simt.block.id
  memref.store %x, %a[%i] : memref<?xi64>
  return
}
func.func private @large(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 128 : i64} {
  %x = arith.addi %v, %v : i32
  %i = qd.simt.block.id
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
func.func @public(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %x = arith.addi %v, %v : i32
  %i = qd.simt.block.id
  memref.store %x, %a[%i] : memref<?xi32>
  return
}

// -----

// A divisor, a loop bound and an operand of a collective stay constants.
// CHECK-COUNT-6: func.func
func.func private @divisor_0(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %c3 = arith.constant 3 : i32
  %i = qd.simt.block.id
  %x = arith.divui %v, %c3 : i32
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
func.func private @divisor_1(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %c5 = arith.constant 5 : i32
  %i = qd.simt.block.id
  %x = arith.divui %v, %c5 : i32
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
func.func private @bound_0(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c1 to %c4 step %c1 {
    memref.store %v, %a[%i] : memref<?xi32>
  }
  return
}
func.func private @bound_1(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 5 : index
  scf.for %i = %c1 to %c4 step %c1 {
    memref.store %v, %a[%i] : memref<?xi32>
  }
  return
}
func.func private @lane_0(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %c1 = arith.constant 1 : i32
  %i = qd.simt.block.id
  %x = qd.simt.shuffle xor %v, %c1 : i32
  memref.store %x, %a[%i] : memref<?xi32>
  return
}
func.func private @lane_1(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %c2 = arith.constant 2 : i32
  %i = qd.simt.block.id
  %x = qd.simt.shuffle xor %v, %c2 : i32
  memref.store %x, %a[%i] : memref<?xi32>
  return
}

// -----

// What decides whether a branch around a collective is uniform stays a constant;
// around anything else it may be an argument.
// CHECK-COUNT-3: func.func private @{{barrier_0|barrier_1|store_0}}(
// CHECK-NOT:     func.func
func.func private @barrier_0(%g: memref<?xindex>) attributes {qd.threads = 256 : i64} {
  %c64 = arith.constant 64 : index
  %t = qd.simt.block.thread_id
  %p = arith.cmpi ult, %t, %c64 : index
  scf.if %p {
    qd.simt.sync
  }
  return
}
func.func private @barrier_1(%g: memref<?xindex>) attributes {qd.threads = 256 : i64} {
  %c128 = arith.constant 128 : index
  %t = qd.simt.block.thread_id
  %p = arith.cmpi ult, %t, %c128 : index
  scf.if %p {
    qd.simt.sync
  }
  return
}
func.func private @store_0(%g: memref<?xindex>) attributes {qd.threads = 256 : i64} {
  %c64 = arith.constant 64 : index
  %t = qd.simt.block.thread_id
  %p = arith.cmpi ult, %t, %c64 : index
  scf.if %p {
    memref.store %t, %g[%t] : memref<?xindex>
  }
  return
}
func.func private @store_1(%g: memref<?xindex>) attributes {qd.threads = 256 : i64} {
  %c128 = arith.constant 128 : index
  %t = qd.simt.block.thread_id
  %p = arith.cmpi ult, %t, %c128 : index
  scf.if %p {
    memref.store %t, %g[%t] : memref<?xindex>
  }
  return
}

// -----

// Six constants that differ are too many.
// CHECK-LABEL: func.func private @many_0(
// CHECK:       func.func private @many_1(
func.func private @many_0(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %i = qd.simt.block.id
  %x1 = arith.addi %v, %c1 : i32
  %x2 = arith.muli %x1, %c2 : i32
  %x3 = arith.addi %x2, %c3 : i32
  %x4 = arith.muli %x3, %c4 : i32
  %x5 = arith.addi %x4, %c5 : i32
  %x6 = arith.muli %x5, %c6 : i32
  memref.store %x6, %a[%i] : memref<?xi32>
  return
}
func.func private @many_1(%a: memref<?xi32>, %v: i32) attributes {qd.threads = 64 : i64} {
  %c1 = arith.constant 10 : i32
  %c2 = arith.constant 20 : i32
  %c3 = arith.constant 30 : i32
  %c4 = arith.constant 40 : i32
  %c5 = arith.constant 50 : i32
  %c6 = arith.constant 60 : i32
  %i = qd.simt.block.id
  %x1 = arith.addi %v, %c1 : i32
  %x2 = arith.muli %x1, %c2 : i32
  %x3 = arith.addi %x2, %c3 : i32
  %x4 = arith.muli %x3, %c4 : i32
  %x5 = arith.addi %x4, %c5 : i32
  %x6 = arith.muli %x5, %c6 : i32
  memref.store %x6, %a[%i] : memref<?xi32>
  return
}

// -----

// The attributes of the arguments stay, and those that are added have none.
// CHECK-LABEL: func.func private @noted_a(
// CHECK-SAME: %{{.*}}: memref<?xi32> {llvm.noalias}, %{{.*}}: i32)
// CHECK-NOT: @noted_b
func.func private @noted_a(%x: memref<?xi32> {llvm.noalias}) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %c = arith.constant 3 : i32
  memref.store %c, %x[%t] : memref<?xi32>
  return
}
func.func private @noted_b(%x: memref<?xi32> {llvm.noalias}) attributes {qd.threads = 64 : i64} {
  %t = qd.simt.block.thread_id
  %c = arith.constant 4 : i32
  memref.store %c, %x[%t] : memref<?xi32>
  return
}
qd.grid.kernel @noted(%p: memref<?xi32>, %g: index) {
  qd.grid.launch 0 @noted_a blocks(%g) args(%p : memref<?xi32>)
  qd.grid.launch 1 @noted_b blocks(%g) args(%p : memref<?xi32>) after [0]
}
