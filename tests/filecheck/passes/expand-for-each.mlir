// An elementwise phase becomes a grid-stride loop over tiles of 256 with a
// predicate per element. One with a collective in it is an error already.

// RUN: qd-opt %s --qd-expand-for-each --split-input-file --verify-diagnostics | FileCheck %s

// The extent is the host's; the live count is read on the device and bounds the
// tiles that are visited, both as the count's type. One below 0 is 0.
// CHECK-LABEL: qd.grid.kernel @with_count
// CHECK-SAME:    %[[A:.*]]: memref<?xf32>, %[[N:.*]]: memref<i32>
// CHECK:         %[[LEN:.*]] = memref.dim %[[A]]
// CHECK:         %[[MOST:.*]] = arith.constant 2147483647 : index
// CHECK:         %[[LESS:.*]] = arith.minui %[[LEN]], %[[MOST]]
// CHECK:         %[[LIMIT:.*]] = arith.index_castui %[[LESS]] : index to i32
// CHECK:         %[[TILES:.*]] = arith.ceildivui %[[LEN]], %{{.*}}
// CHECK:         %[[MAX:.*]] = arith.constant 65535 : index
// CHECK:         %[[BLOCKS:.*]] = arith.minui %[[TILES]], %[[MAX]]
// CHECK:         qd.grid.phase "scale" blocks(%[[BLOCKS]]) threads(256) {
// CHECK:           %[[COUNT:.*]] = memref.load %[[N]][]
// CHECK-DAG:       %[[NEGATIVE:.*]] = arith.cmpi slt, %[[COUNT]]
// CHECK-DAG:       %[[LESSER:.*]] = arith.minui %[[COUNT]], %[[LIMIT]]
// CHECK:           %[[NUMBER:.*]] = arith.select %[[NEGATIVE]], %{{.*}}, %[[LESSER]]
// CHECK:           %[[LIVE:.*]] = arith.index_castui %[[NUMBER]]
// CHECK:           %[[THREAD:.*]] = qd.simt.block.thread_id
// CHECK:           %[[BLOCK:.*]] = qd.simt.block.id
// CHECK:           %[[LAST:.*]] = arith.ceildivui %[[LIVE]]
// CHECK:           %[[STEP:.*]] = qd.simt.grid.dim
// CHECK:           scf.for %[[TILE:.*]] = %[[BLOCK]] to %[[LAST]] step %[[STEP]] {
// CHECK:             %[[BASE:.*]] = arith.muli %[[TILE]]
// CHECK:             %[[I:.*]] = arith.addi %[[BASE]], %[[THREAD]]
// CHECK:             %[[IN:.*]] = arith.cmpi ult, %[[I]], %[[LIVE]]
// CHECK:             scf.if %[[IN]] {
// CHECK-NEXT:          %[[X:.*]] = memref.load %[[A]][%[[I]]]
// CHECK-NEXT:          %[[Y:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT:          memref.store %[[Y]], %[[A]][%[[I]]]
qd.grid.kernel @with_count(%a: memref<?xf32>, %n: memref<i32>) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xf32>
  qd.grid.for_each "scale" %i to %len count(%n : memref<i32>) {
    %x = memref.load %a[%i] : memref<?xf32>
    %y = arith.mulf %x, %x : f32
    memref.store %y, %a[%i] : memref<?xf32>
  }
}

// -----

// Without a count the extent alone bounds it, which is 0 if it is negative; names and attributes are optional
// and are kept.
// CHECK-LABEL: qd.grid.kernel @without_count
// CHECK-SAME:    %[[GIVEN:.*]]: index,
// CHECK:         %[[LEN:.*]] = arith.maxsi %[[GIVEN]], %{{.*}} : index
// CHECK:         qd.grid.phase blocks(%{{.*}}) threads(256) attributes {user.hint} {
// CHECK-NOT:       memref.load
// CHECK:           arith.cmpi ult, %{{.*}}, %[[LEN]]
qd.grid.kernel @without_count(%len: index, %a: memref<?xindex>) {
  qd.grid.for_each %i to %len attributes {user.hint} {
    memref.store %i, %a[%i] : memref<?xindex>
  }
}

// -----

// A phase is left alone, also in a loop; an elementwise phase there is not.
// CHECK-LABEL: qd.grid.kernel @in_a_loop
// CHECK:         qd.grid.do_while
// CHECK:           qd.grid.phase "plain" blocks(%{{.*}}) threads(64) {
// CHECK-NEXT:        qd.simt.block.sync
// CHECK-NEXT:      }
// CHECK:           qd.grid.phase "each"
// CHECK:             scf.for
qd.grid.kernel @in_a_loop(%len: index, %flag: memref<i32>) {
  qd.grid.do_while %flag : memref<i32> {
    qd.grid.phase "plain" blocks(%len) threads(64) {
      qd.simt.block.sync
    }
    qd.grid.for_each "each" %i to %len {
    }
  }
}

// -----

qd.grid.kernel @subgroup_op(%len: index, %a: memref<?xi32>) {
  qd.grid.for_each %i to %len {
    %x = memref.load %a[%i] : memref<?xi32>
    // expected-error @+1 {{'qd.simt.reduce_all' op is not legal in a 'qd.grid.for_each'}}
    %s = qd.simt.reduce_all add %x : i32
    memref.store %s, %a[%i] : memref<?xi32>
  }
}

// -----

qd.grid.kernel @barrier(%len: index) {
  qd.grid.for_each %i to %len {
    // expected-error @+1 {{'qd.simt.block.sync' op is not legal in a 'qd.grid.for_each'}}
    qd.simt.block.sync
  }
}

// -----

// Elements that fill subgroups: whether a subgroup enters is decided by its first element.
// CHECK-LABEL: qd.grid.kernel @full(
// CHECK:         %[[LEN:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK:           scf.for %[[TILE:.*]] =
// CHECK-DAG:         %[[NUMBER:.*]] = qd.simt.subgroup_id
// CHECK-DAG:         %[[SIZE:.*]] = qd.simt.subgroup_size
// CHECK:             %[[OF:.*]] = arith.muli %[[NUMBER]], %[[SIZE]] : i32
// CHECK:             %[[FIRST:.*]] = arith.addi
// CHECK:             %[[IN:.*]] = arith.cmpi ult, %[[FIRST]], %[[LEN]]
// CHECK:             scf.if %[[IN]] {
// CHECK:               %[[LANE:.*]] = qd.simt.lane_id
// CHECK:               %[[X:.*]] = memref.load
// CHECK-NEXT:          qd.simt.reduce_all add %[[X]]
qd.grid.kernel @full(%len: index, %a: memref<?xi32>) {
  qd.grid.for_each %i to %len subgroups(full) {
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}

// -----

// Lanes beyond the elements bring what changes nothing, and store nothing.
// CHECK-LABEL: qd.grid.kernel @partial(
// CHECK:         %[[LEN:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK:             scf.if
// CHECK:               %[[THERE:.*]] = arith.cmpi ult, %{{.*}}, %[[LEN]]
// CHECK:               %[[X:.*]] = scf.if %[[THERE]]
// CHECK:                 memref.load
// CHECK:               %[[GIVEN:.*]] = arith.select %[[THERE]], %[[X]]
// CHECK:               %[[SUM:.*]] = qd.simt.reduce_all add %[[GIVEN]]
// CHECK:               scf.if %[[THERE]] {
// CHECK-NEXT:            memref.store %[[SUM]]
qd.grid.kernel @partial(%len: index, %a: memref<?xi32>) {
  qd.grid.for_each %i to %len subgroups(partial) {
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}

// -----

// Blocks of as many threads as elements, whose last subgroup is filled in part.
// CHECK-LABEL: qd.grid.kernel @blocks(
// CHECK:         %[[LEN:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK-DAG:       %[[C33:.*]] = arith.constant 33 : index
// CHECK:           %[[TILES:.*]] = arith.ceildivui %[[LEN]], %[[C33]]
// CHECK:           qd.grid.phase blocks(%{{.*}}) threads(33) {
// CHECK:             scf.for %[[TILE:.*]] =
// CHECK:               %[[BEGIN:.*]] = arith.muli %[[TILE]],
// CHECK:               %[[FIRST:.*]] = arith.addi %[[BEGIN]],
// CHECK:               arith.cmpi ult, %[[FIRST]], %[[LEN]]
qd.grid.kernel @blocks(%len: index, %a: memref<?xi32>) {
  qd.grid.for_each %i to %len threads(33) subgroups(partial) {
    %x = memref.load %a[%i] : memref<?xi32>
    %sum = qd.simt.reduce_all add %x : i32
    memref.store %sum, %a[%i] : memref<?xi32>
  }
}

// -----

// By how many lanes values rotate is loaded by the lanes that are there, and so known to all of them.
// CHECK-LABEL: qd.grid.kernel @rotated(
// CHECK:             %[[LOADED:.*]]:2 = scf.if
// CHECK:             %[[DELTA:.*]] = qd.simt.broadcast_first %[[LOADED]]#0 : i32
// CHECK:             qd.simt.rotate %[[LOADED]]#1, %[[DELTA]] : i32
qd.grid.kernel @rotated(%len: index, %by: memref<?xi32>, %a: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  qd.grid.for_each %i to %len subgroups(partial) {
    %delta = memref.load %by[%c0] : memref<?xi32>
    %x = memref.load %a[%i] : memref<?xi32>
    %y = qd.simt.rotate %x, %delta : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}

// -----

// Absent lanes follow the others, which must agree before they do.
qd.grid.kernel @divergent(%len: index, %a: memref<?xi32>) {
  // expected-note @+3 {{this 'arith.addi' is not the same in all lanes}}
  // expected-note @+2 {{this 'arith.index_castui' is not the same in all lanes}}
  // expected-note @+1 {{'qd.simt.lane_id' varies across the lanes}}
  qd.grid.for_each %i to %len subgroups(partial) {
    %zero = arith.constant 0 : i32
    // expected-note @+1 {{this 'memref.load' is not the same in all lanes}}
    %x = memref.load %a[%i] : memref<?xi32>
    // expected-note @+1 {{it is computed by this 'arith.cmpi'}}
    %p = arith.cmpi sgt, %x, %zero : i32
    // expected-note @+1 {{the condition of this 'scf.if' is not the same in all lanes}}
    scf.if %p {
      // expected-error @+1 {{'qd.simt.reduce_all' op stands under control flow that is not uniform in its subgroup}}
      %sum = qd.simt.reduce_all add %x : i32
      memref.store %sum, %a[%i] : memref<?xi32>
    }
  }
}
