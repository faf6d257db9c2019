// Functions become arithmetic in f64; what the target has is kept. That the values are right is tested by interpretation
// (passes/tests/semantics).

// RUN: qd-opt %s --qd-expand-math | FileCheck %s
// RUN: qd-opt %s --qd-expand-math=target=nvptx:sm_90 | FileCheck %s --check-prefix=KEEP
// RUN: qd-opt %s --qd-expand-math=target=cpu | FileCheck %s --check-prefix=ALL
// RUN: not qd-opt %s --qd-expand-math=target=gpu 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: 'builtin.module' op unknown target 'gpu': expected one of any, cpu,

// A number of doublings, the rest to a series, and the doublings in two steps.
// CHECK-LABEL: func.func private @exp
// CHECK:         %[[WIDE:.*]] = arith.extf %{{.*}} : f32 to f64
// CHECK:         %[[N:.*]] = math.roundeven
// CHECK:         math.fma %[[N]]
// CHECK-COUNT-2: arith.shli
// CHECK:         %[[R:.*]] = arith.select %{{.*}}, %[[WIDE]], %{{.*}} : f64
// CHECK-NEXT:    arith.truncf %[[R]] : f64 to f32
//
// ALL-LABEL:  func.func private @exp
// ALL:          math.exp %
func.func private @exp(%o: memref<1xf32>) attributes {qd.threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %x = memref.load %o[%c0] : memref<1xf32>
  %r = math.exp %x : f32
  memref.store %r, %o[%c0] : memref<1xf32>
  return
}

// KEEP-LABEL: func.func private @exp2
// KEEP:         math.exp2 %{{.*}} : f32
// KEEP-NOT:     math.exp2
// KEEP:         math.roundeven %{{.*}} : f64
// KEEP-NOT:     math.exp2
// KEEP:         return
func.func private @exp2(%o: memref<1xf32>, %p: memref<1xf64>) attributes {qd.threads = 64 : i64} {
  %c0 = arith.constant 0 : index
  %x = memref.load %o[%c0] : memref<1xf32>
  %y = memref.load %p[%c0] : memref<1xf64>
  %r = math.exp2 %x : f32
  %s = math.exp2 %y : f64
  memref.store %r, %o[%c0] : memref<1xf32>
  memref.store %s, %p[%c0] : memref<1xf64>
  return
}

// Not other types, nor what has no expansion: it must not fire.
// CHECK-LABEL: func.func private @others
// CHECK-NEXT:    math.exp %{{.*}} : f16
// CHECK-NEXT:    math.sqrt %{{.*}} : f32
// CHECK-NEXT:    math.sin %{{.*}} : vector<4xf32>
// CHECK-NEXT:    return
func.func private @others(%h: f16, %x: f32, %v: vector<4xf32>) -> (f16, f32, vector<4xf32>) {
  %0 = math.exp %h : f16
  %1 = math.sqrt %x : f32
  %2 = math.sin %v : vector<4xf32>
  return %0, %1, %2 : f16, f32, vector<4xf32>
}
