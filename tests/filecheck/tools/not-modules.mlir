// A file that is no module is refused by every tool that compiles or runs one, with one error of the tool's own, and nothing is written.
// RUN: rm -rf %t && mkdir %t
// RUN: qd-opt %s --emit-bytecode -o %t/valid.mlirbc
// RUN: qd-translate %s -o %t/valid.qdart
// RUN: %python %S/Inputs/not_modules.py qd-run qd-translate %t | FileCheck %s

// CHECK:      a-folder
// CHECK-NEXT:   qd-run: a-folder: it is a folder
// CHECK-NEXT:   qd-translate: a-folder: it is a folder
// CHECK-NEXT: another-format
// CHECK-NEXT:   another-format:0:0: error: is an artifact, which has been compiled: give its module
// CHECK-NEXT:   qd-run: another-format: an artifact cannot be interpreted: give its module
// CHECK-NEXT:   qd-run: another-format: artifact of format 4 (made by qd {{.*}}); this is qd {{.*}}, which reads format {{[0-9]+}}: compile it again
// CHECK-NEXT: another-version
// CHECK-NEXT:   another-version:0:0: error: bytecode of version 99 (made by MLIR{{.*}}); this reads versions up to 6: write it again
// CHECK-NEXT: artifact
// CHECK-NEXT:   artifact:0:0: error: is an artifact, which has been compiled: give its module
// CHECK-NEXT:   qd-run: artifact: an artifact cannot be interpreted: give its module
// CHECK-NEXT: artifact-cut
// CHECK-NEXT:   artifact-cut:0:0: error: is an artifact, which has been compiled: give its module
// CHECK-NEXT:   qd-run: artifact-cut: an artifact cannot be interpreted: give its module
// CHECK-NEXT:   qd-run: artifact-cut: the artifact is damaged: it is cut short: {{.*}}
// CHECK-NEXT: bytecode-cut
// CHECK-NEXT:   bytecode-cut:0:0: error: attempting to parse {{[0-9]+}} bytes when only {{[0-9]+}} remain
// CHECK-NEXT: bytes
// CHECK-NEXT:   bytes:1:1: error: unexpected character
// CHECK-NEXT: no-utf8
// CHECK-NEXT:   no-utf8:1:18: error: unexpected character
// CHECK-NEXT: nowhere
// CHECK-NEXT:   qd-run: nowhere: there is no such file
// CHECK-NEXT:   qd-translate: nowhere: there is no such file
// CHECK-NOT:  {{.}}

qd.grid.kernel @k(%a: memref<?xi32>, %n: index) {
  qd.grid.for_each %i to %n {
    %x = arith.index_cast %i : index to i32
    memref.store %x, %a[%i] : memref<?xi32>
  }
}
