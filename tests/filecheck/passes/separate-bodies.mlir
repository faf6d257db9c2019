// Each body is in a module of its own, and kernels are removed; bodies that may share ops stay together.
// RUN: qd-opt %s --qd-separate-bodies --split-input-file | FileCheck %s

// CHECK:      module attributes {llvm.target_triple = "x"} {
// CHECK-NEXT:   module attributes {llvm.target_triple = "x"} {
// CHECK-NEXT:     func.func @f() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
// CHECK-NEXT:       return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   module attributes {llvm.target_triple = "x"} {
// CHECK-NEXT:     func.func @g() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
// CHECK-NEXT:       return
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
module attributes {llvm.target_triple = "x"} {
  func.func private @f() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    return
  }
  func.func private @g() attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
    return
  }
  qd.grid.kernel @k(%blocks: index) {
    qd.grid.launch 0 @f blocks(%blocks)
    qd.grid.launch 1 @g blocks(%blocks)
  }
}

// -----

// CHECK:      module {
// CHECK-NEXT:   module {
// CHECK-NEXT:     func.func private @common()
// CHECK-NEXT:     func.func private @f() attributes {qd.threads = 64 : i64} {
// CHECK:          }
// CHECK-NOT:    module
// CHECK:          func.func private @g()
func.func private @common()
func.func private @f() attributes {qd.threads = 64 : i64} {
  func.call @common() : () -> ()
  return
}
func.func private @g() attributes {qd.threads = 64 : i64} {
  func.call @common() : () -> ()
  return
}

// -----

// CHECK:      module {
// CHECK-NEXT: }
qd.grid.kernel @nothing() {
}
