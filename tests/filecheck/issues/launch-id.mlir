// A launch's number may be any that its attribute holds, the largest and the smallest included; so may one that it waits for.
// RUN: split-file %s %t
// RUN: qd-opt %t/valid.mlir | FileCheck %s
// RUN: qd-opt %t/valid.mlir --to=target
// RUN: not qd-opt %t/unknown.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown.mlir:3:3: error: 'qd.grid.launch' op waits for launch -9223372036854775808, which does not come before it

//--- valid.mlir
// CHECK: qd.grid.launch 9223372036854775807 @b
// CHECK: qd.grid.launch -9223372036854775808 @b
// CHECK: qd.grid.launch 9223372036854775806 @b {{.*}} after [9223372036854775807, -9223372036854775808]
func.func private @b() attributes {qd.threads = 64 : i64} { return }
qd.grid.kernel @k(%g: index) {
  qd.grid.launch 9223372036854775807 @b blocks(%g)
  qd.grid.launch -9223372036854775808 @b blocks(%g)
  qd.grid.launch 9223372036854775806 @b blocks(%g) after [9223372036854775807, -9223372036854775808]
}
//--- unknown.mlir
func.func private @c() attributes {qd.threads = 64 : i64} { return }
qd.grid.kernel @l(%g: index) {
  qd.grid.launch 9223372036854775807 @c blocks(%g) after [-9223372036854775808] // expected-error
}
