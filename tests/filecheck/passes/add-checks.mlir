// Indices, divisors, counts and promises are asserted, and what goes wrong is defined.
// RUN: qd-opt %s --qd-add-checks --split-input-file | FileCheck %s

// CHECK-LABEL: qd.grid.kernel @gather(
// CHECK:         qd.grid.for_each "gather" %[[I:.*]] to
// What is within its extent whatever the data is not checked.
// CHECK-NEXT:      %[[AT:.*]] = memref.load %arg0[%[[I]]]
// CHECK-NEXT:      %[[INDEX:.*]] = arith.index_cast %[[AT]]
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %[[EXTENT:.*]] = memref.dim %arg1, %[[ZERO]]
// CHECK-NEXT:      %[[INSIDE:.*]] = arith.cmpi ult, %[[INDEX]], %[[EXTENT]] : index
// CHECK-NEXT:      cf.assert %[[INSIDE]], "index 0 of 'memref.load' is within the extent"
// CHECK-NEXT:      %[[X:.*]] = scf.if %[[INSIDE]] -> (f32) {
// CHECK-NEXT:        %[[LOADED:.*]] = memref.load %arg1[%[[INDEX]]]
// CHECK-NEXT:        scf.yield %[[LOADED]] : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %[[NONE:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:        scf.yield %[[NONE]] : f32
// CHECK-NEXT:      }
// What has been checked in the block is not asserted again.
// CHECK-NEXT:      scf.if %[[INSIDE]] {
// CHECK-NEXT:        memref.store %[[X]], %arg1[%[[INDEX]]]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
qd.grid.kernel @gather(%at: memref<?xi32>, %a: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %at, %c0 : memref<?xi32>
  qd.grid.for_each "gather" %i to %len {
    %at32 = memref.load %at[%i] : memref<?xi32>
    %index = arith.index_cast %at32 : i32 to index
    %x = memref.load %a[%index] : memref<?xf32>
    memref.store %x, %a[%index] : memref<?xf32>
  }
}

// -----

// Each dimension has its own assertion; a constant one within a constant extent needs none, nor does a thread's own.
// CHECK-LABEL: qd.grid.kernel @dimensions(
// CHECK:         qd.grid.phase
// CHECK:           cf.assert %{{.*}}, "index 0 of 'memref.store' is within the extent"
// CHECK-NOT:       cf.assert
// CHECK:           scf.if
// CHECK-NEXT:        memref.store %{{.*}}, %arg0
// CHECK-NOT:       cf.assert
// CHECK:           memref.store %{{.*}}, %{{.*}} : memref<64xi32, #gpu.address_space<workgroup>>
// CHECK:           cf.assert %{{.*}}, "index 0 of 'qd.grid.atomic.rmw' is within the extent"
qd.grid.kernel @dimensions(%a: memref<?x3xi32>, %b: memref<4xi32>, %n: index) {
  %c1 = arith.constant 1 : index
  qd.grid.phase blocks(%c1) threads(64) {
    %shared = qd.simt.block.shared : memref<64xi32, #gpu.address_space<workgroup>>
    %t = qd.simt.block.thread_id
    %two = arith.constant 2 : index
    %one = arith.constant 1 : i32
    memref.store %one, %a[%t, %two] : memref<?x3xi32>
    memref.store %one, %shared[%t] : memref<64xi32, #gpu.address_space<workgroup>>
    %old = qd.grid.atomic.rmw add %one, %b[%t] device relaxed : memref<4xi32>
  }
}

// -----

// CHECK-LABEL: qd.grid.kernel @divisions(
// CHECK:           %[[NOT_0:.*]] = arith.cmpi ne, %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:      cf.assert %[[NOT_0]], "the divisor of 'arith.divui' is not 0"
// CHECK:           %[[SAFE:.*]] = arith.select %[[NOT_0]]
// CHECK-NEXT:      arith.divui %{{.*}}, %[[SAFE]] : i32
// CHECK:           cf.assert %{{.*}}, "the divisor of 'arith.remsi' is not 0"
// CHECK:           cf.assert %{{.*}}, "'arith.remsi' does not overflow"
// CHECK:           arith.remsi
// CHECK-NOT:       cf.assert
qd.grid.kernel @divisions(%a: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each %i to %len {
    %x = memref.load %a[%i] : memref<?xi32>
    %five = arith.constant 5 : i32
    %y = arith.divui %five, %x : i32
    %z = arith.remsi %y, %x : i32
    %w = arith.divsi %z, %five : i32
    memref.store %w, %a[%i] : memref<?xi32>
  }
}

// -----

// CHECK-LABEL: qd.grid.kernel @promises(
// CHECK:         qd.grid.phase "sums checked" blocks(%{{.*}}) threads(1) {
// CHECK:           cf.assert %{{.*}}, "the count of 'qd.grid.for_each' is not negative"
// CHECK:           qd.simt.subgroup_size
// CHECK:           cf.assert %{{.*}}, "the elements of 'qd.grid.for_each' fill subgroups"
// CHECK-NEXT:    }
// CHECK-NEXT:    qd.grid.for_each "sums" %[[I:.*]] to
// Lanes that break the promise come here.
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[I]],
// CHECK:           scf.if %[[INSIDE]]
// CHECK-NEXT:        memref.load %arg0[%[[I]]]
qd.grid.kernel @promises(%a: memref<?xi32>, %n: memref<i32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "sums" %i to %len count(%n : memref<i32>) subgroups(full) {
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}
