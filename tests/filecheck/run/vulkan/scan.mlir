// On Vulkan, the kernels of ../scan.mlir agree with NumPy at sizes that the interpreter does not reach.

// REQUIRES: numpy, vulkan
// RUN: %python %S/../Inputs/against_numpy.py scan %S/../scan.mlir qd-translate qd-run %t vulkan:1.3,subgroup=8 262147 | FileCheck %s
// CHECK: scan: {{[0-9]+}} cases agree with NumPy
