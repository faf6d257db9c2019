// On Vulkan, the kernels of ../sort.mlir agree with NumPy at sizes that the interpreter does not reach.

// REQUIRES: numpy, vulkan
// RUN: %python %S/../Inputs/against_numpy.py sort %S/../sort.mlir qd-translate qd-run %t vulkan:1.3,subgroup=8 262147 | FileCheck %s
// CHECK: sort: {{[0-9]+}} cases agree with NumPy
