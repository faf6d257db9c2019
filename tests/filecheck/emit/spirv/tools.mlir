// The words are a module to Khronos' tools, the text is one to their assembler, and both are the same module.

// REQUIRES: spirv-tools

// DEFINE: %{emit} = qd-translate %s --target=vulkan:1.3,subgroup=8
// RUN: %{emit} --emit=spirv -o %t.spv && spirv-val --target-env vulkan1.3 %t.spv
// RUN: %{emit} --emit=spirv-asm -o %t.spvasm && spirv-as --target-env vulkan1.3 %t.spvasm -o %t.again
// RUN: spirv-val --target-env vulkan1.3 %t.again
// RUN: spirv-dis --no-indent --no-header %t.spv | wc -l > %t.lines
// RUN: spirv-dis --no-indent --no-header %t.again | wc -l | diff - %t.lines

// A judge that is asked for and not there is an error, not a pass.
// RUN: not env PATH=/nowhere QD_SPIRV_VAL=1 qd-translate %s --target=vulkan:1.3,subgroup=8 2>&1 | FileCheck %s
// CHECK: QD_SPIRV_VAL=1 asks for spirv-val, which is in the package spirv-tools

qd.grid.kernel @sum(%a: memref<?xi32>, %out: memref<1xi32>, %scratch: memref<?xi32>, %n: memref<i32>) {
  qd.algo.reduce add ins(%a : memref<?xi32>) outs(%out : memref<1xi32>)
      scratch(%scratch : memref<?xi32>) count(%n : memref<i32>) log256_max_n = 2
}
