// On Vulkan, the kernels of ../reduce.mlir agree with NumPy at sizes that the interpreter does not reach.

// REQUIRES: numpy, vulkan
// RUN: %python %S/../Inputs/against_numpy.py reduce %S/../reduce.mlir qd-translate qd-run %t vulkan:1.3,subgroup=8 262147 | FileCheck %s
// CHECK: reduce: {{[0-9]+}} cases agree with NumPy
