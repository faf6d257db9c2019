// Subgroup-size selection makes constants of the ops that depend on it, and gives every
// collective a cluster size.

// RUN: qd-opt %s --qd-select-subgroup-size=wave=32 | FileCheck %s
// RUN: qd-opt %s --qd-select-subgroup-size=wave=8 | FileCheck %s --check-prefix=WAVE8
// RUN: qd-opt %s --qd-select-subgroup-size=wave=64 | FileCheck %s --check-prefix=WAVE64
// RUN: qd-opt %s --qd-select-subgroup-size=wave=64 --qd-select-subgroup-size=wave=64 | FileCheck %s --check-prefix=WAVE64
// RUN: not qd-opt %s --qd-select-subgroup-size=wave=48 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not qd-opt %s --qd-select-subgroup-size=wave=128 2>&1 | FileCheck %s --check-prefix=LARGE

// BAD: error: 'builtin.module' op cannot have subgroups of 48: expected 4, 8, 16, 32 or 64
// LARGE: error: 'builtin.module' op cannot have subgroups of 128

// In an outlined body: the block's size is `qd.threads`.
// CHECK-LABEL: func.func private @sizes
// CHECK-SAME:    attributes {qd.threads = 256 : i64, qd.wave = 32 : i64}
// CHECK-DAG:     %[[DIM:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 32 : i32
// CHECK-DAG:     %[[LOG:.*]] = arith.constant 5 : i32
// CHECK-DAG:     %[[COUNT:.*]] = arith.constant 8 : i32
// CHECK:         return %[[DIM]], %[[SIZE]], %[[LOG]], %[[COUNT]]
//
// WAVE8-LABEL: @sizes
// WAVE8-DAG:     arith.constant 8 : i32
// WAVE8-DAG:     arith.constant 3 : i32
// WAVE8-DAG:     arith.constant 32 : i32
//
// WAVE64-LABEL: @sizes
// WAVE64-DAG:     arith.constant 64 : i32
// WAVE64-DAG:     arith.constant 6 : i32
// WAVE64-DAG:     arith.constant 4 : i32
func.func private @sizes() -> (index, i32, i32, i32) attributes {qd.threads = 256 : i64} {
  %dim = qd.simt.block.dim
  %size = qd.simt.subgroup_size
  %log = qd.simt.log2_subgroup_size
  %count = qd.simt.num_subgroups
  return %dim, %size, %log, %count : index, i32, i32, i32
}

// Absent tiles become the whole subgroup; tiles that are there stay. What has no
// tiles is left alone.
// CHECK-LABEL: qd.grid.kernel @tiles
// CHECK:         qd.simt.reduce_all add %{{.*}} tile(5) : i32
// CHECK:         qd.simt.reduce add %{{.*}} tile(3) : i32
// CHECK:         qd.simt.inclusive_scan add %{{.*}} tile(5) : i32
// CHECK:         qd.simt.exclusive_scan add %{{.*}} tile(0) : i32
// CHECK:         qd.simt.segmented_reduce add %{{.*}} heads %{{.*}} tile(5) : i32
// CHECK:         qd.simt.bitonic_sort_kv %{{.*}}, %{{.*}} tile(5) : i32, i32
// CHECK:         qd.simt.rotate %{{.*}}, %{{.*}} tile(5) : i32
// CHECK:         qd.simt.all %{{.*}} tile(5)
// CHECK:         qd.simt.any %{{.*}} tile(5)
// CHECK:         qd.simt.all_equal %{{.*}} tile(5) : i32
// CHECK:         qd.simt.ballot %{{[a-z0-9_]+$}}
// CHECK:         qd.simt.shuffle xor %{{.*}}, %{{.*}} : i32
// CHECK:         qd.simt.block.reduce add %{{.*}} : i32
qd.grid.kernel @tiles(%g: index, %v: i32, %p: i1) {
  qd.grid.phase blocks(%g) threads(64) {
    %0 = qd.simt.reduce_all add %v : i32
    %1 = qd.simt.reduce add %v tile(3) : i32
    %2 = qd.simt.inclusive_scan add %v : i32
    %3 = qd.simt.exclusive_scan add %v tile(0) : i32
    %4 = qd.simt.segmented_reduce add %v heads %p : i32
    %5, %6 = qd.simt.bitonic_sort_kv %v, %v : i32, i32
    %7 = qd.simt.rotate %v, %v : i32
    %8 = qd.simt.all %p
    %9 = qd.simt.any %p
    %10 = qd.simt.all_equal %v : i32
    %11 = qd.simt.ballot %p
    %12 = qd.simt.shuffle xor %v, %v : i32
    %13 = qd.simt.block.reduce add %v : i32
  }
}
