// On Vulkan, the kernels of ../unique.mlir agree with NumPy on more than the interpreter is made for.

// REQUIRES: numpy, vulkan
// RUN: %python %S/../Inputs/against_numpy.py unique %S/../unique.mlir qd-translate qd-run %t vulkan:1.3,subgroup=8 262147 | FileCheck %s
// CHECK: unique: {{[0-9]+}} cases agree with NumPy
