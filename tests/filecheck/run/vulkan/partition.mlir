// On Vulkan, the kernels of ../partition.mlir agree with NumPy at sizes that the interpreter does not reach,
// by the target's default strategy and by two passes, which have to be named.

// REQUIRES: numpy, vulkan
// RUN: %python %S/../Inputs/against_numpy.py partition %S/../partition.mlir qd-translate qd-run %t vulkan:1.3,subgroup=8 262147 | FileCheck %s
// RUN: sed 's/log256_max_n = [0-9]/& strategy = "reduce_then_scan"/' %S/../partition.mlir > %t.two_passes.mlir
// RUN: %python %S/../Inputs/against_numpy.py partition %t.two_passes.mlir qd-translate qd-run %t vulkan:1.3,subgroup=8 262147 | FileCheck %s
// CHECK: partition: {{[0-9]+}} cases agree with NumPy
