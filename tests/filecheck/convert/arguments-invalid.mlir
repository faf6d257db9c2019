// What no kernel is given is an error at the body, on every target.
// RUN: not qd-translate %s --target=vulkan:1.3,subgroup=8 --emit=asm 2>&1 | FileCheck %s
// RUN: not qd-translate %s --target=nvptx:sm_90 --emit=asm 2>&1 | FileCheck %s
// RUN: not qd-translate %s --target=amdgpu:gfx1100 --emit=asm 2>&1 | FileCheck %s
// RUN: not qd-translate %s --target=cpu --emit=asm 2>&1 | FileCheck %s
// RUN: sed -e 's/i128/memref<?xf80>/' %s > %t.mlir
// RUN: not qd-translate %t.mlir --target=vulkan:1.3,subgroup=8 --emit=asm 2>&1 | FileCheck %s

// CHECK: arguments-invalid.mlir{{.*}}:[[#]]:1: error: 'func.func' op takes an argument of {{i128|memref<\?xf80>}}, which kernels do not have
func.func private @wide(%x: i128) attributes {qd.threads = 64 : i64} {
  return
}
