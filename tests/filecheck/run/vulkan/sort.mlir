// On Vulkan, the kernels of ../sort.mlir agree with NumPy on more than the interpreter is made for.

// REQUIRES: numpy, vulkan
// RUN: %python %S/../Inputs/against_numpy.py sort %S/../sort.mlir qd-translate qd-run %t vulkan:1.3,subgroup=8 1000003 | FileCheck %s
// CHECK: sort: {{[0-9]+}} cases agree with NumPy
