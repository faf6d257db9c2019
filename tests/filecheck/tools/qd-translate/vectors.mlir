// What the cpu target makes of reductions and scans works on vectors: in the
// chunked strategies the sweep over the elements, in the portable ones the
// collectives of a block. The last pass of a chunked scan adds in order, as a
// loop would; it is a chain of scalars.

// REQUIRES: x86
// RUN: qd-translate %s --emit=asm | FileCheck %s
// RUN: qd-translate %s --emit=asm --kernel=scan_hierarchical | FileCheck %s --check-prefix=HIERARCHICAL

// CHECK-LABEL: reduce_chunks_{{.*}}.blocks:
// CHECK: addps {{.*}}(%r{{.*}}),{{.*}}%{{[xyz]}}mm
// CHECK-LABEL: .size reduce_chunks_
qd.grid.kernel @reduce_f32(%a: memref<?xf32>, %o: memref<1xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xf32>) outs(%o : memref<1xf32>) scratch(%s : memref<?xi32>)
    count(%n : memref<i32>) log256_max_n = 4
}

// CHECK-LABEL: reduce_chunks_{{.*}}.blocks:
// CHECK: pminsd {{.*}}(%r{{.*}}),{{.*}}%{{[xyz]}}mm
// CHECK-LABEL: .size reduce_chunks_
qd.grid.kernel @reduce_i32(%a: memref<?xi32>, %o: memref<1xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce minsi ins(%a : memref<?xi32>) outs(%o : memref<1xi32>) scratch(%s : memref<?xi32>)
    count(%n : memref<i32>) log256_max_n = 4
}

// CHECK-LABEL: inclusive_scan_up_{{.*}}.blocks:
// CHECK: paddd {{.*}}(%r{{.*}}),{{.*}}%{{[xyz]}}mm
// CHECK-LABEL: .size inclusive_scan_up_
qd.grid.kernel @scan_chunked(%a: memref<?xi32>, %o: memref<?xi32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.inclusive_scan add ins(%a : memref<?xi32>) outs(%o : memref<?xi32>) scratch(%s : memref<?xi32>)
    count(%n : memref<i32>) log256_max_n = 4
}

// HIERARCHICAL-LABEL: inclusive_scan_last_{{.*}}.blocks:
// HIERARCHICAL: addps {{.*}},{{.*}}%{{[xyz]}}mm
// HIERARCHICAL-LABEL: .size inclusive_scan_last_
qd.grid.kernel @scan_hierarchical(%a: memref<?xf32>, %o: memref<?xf32>, %s: memref<?xi32>, %n: memref<i32>) {
  qd.algo.inclusive_scan add ins(%a : memref<?xf32>) outs(%o : memref<?xf32>) scratch(%s : memref<?xi32>)
    count(%n : memref<i32>) log256_max_n = 4 strategy = "hierarchical"
}
