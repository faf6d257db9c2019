// What threads print, on the cpu and in the interpreter, at each level. A format that does not fit its values is an
// error where it stands.
// RUN: qd-run %s --entry=table | FileCheck %s
// RUN: qd-run %s --entry=table --interpret | FileCheck %s
// RUN: qd-opt %s --to=plan | qd-run - --entry=table --interpret | FileCheck %s
// RUN: qd-opt %s --to=plan | qd-opt --qd-expand-prints | qd-run - --entry=table --interpret | FileCheck %s
// RUN: sed 's/: %5.2f/: %5d/' %s > %t.mlir
// RUN: not qd-run %t.mlir --entry=table 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not qd-run %t.mlir --entry=table --interpret 2>&1 | FileCheck %s --check-prefix=TYPE

// CHECK:      half of 0:  0.00 (100 %)
// CHECK-NEXT: half of 1:  0.50 (100 %)
// CHECK-NEXT: half of 2:  1.00 (100 %)
// CHECK-NOT:  half
// TYPE: .mlir:[[# @LINE + 9]]:5: error: 'gpu.printf'{{( op)?}} '%d' takes an integer, but value 1 is of type f32
qd.grid.kernel @table() {
  %c3 = arith.constant 3 : index
  qd.grid.for_each "table" %i to %c3 {
    %half = arith.constant 5.0e-1 : f32
    %number = arith.index_cast %i : index to i32
    %x = arith.sitofp %number : i32 to f32
    %y = arith.mulf %x, %half : f32
    // The line below is what TYPE counts to.
    gpu.printf "half of %d: %5.2f (100 %%)\0A", %i, %y : index, f32
  }
}
