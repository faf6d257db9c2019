// A module for Vulkan in each form: words that spirv-val takes, text that spirv-as takes, and what is declared.

// DEFINE: %{emit} = qd-translate %s --target=vulkan:1.3,subgroup=8
// RUN: %{emit} --emit=spirv-asm | FileCheck %s --check-prefix=ASM
// ASM: ; SPIR-V
// ASM-NEXT: ; Version: 1.6
// ASM: OpCapability PhysicalStorageBufferAddresses
// ASM: OpMemoryModel PhysicalStorageBuffer64 Vulkan
// ASM: OpEntryPoint GLCompute %[[ADD:.*]] "[[ADD]]" %
// ASM: OpExecutionMode %[[ADD]] LocalSize 256 1 1
// ASM: %uint = OpTypeInt 32 0
// ASM: %[[ADD]] = OpFunction %void None
// ASM: = OpIAdd %uint %{{[0-9]+}} %uint_1

// The same text is the target's assembly.
// RUN: %{emit} --emit=asm -o %t.asm && %{emit} --emit=spirv-asm | cmp - %t.asm

// RUN: %{emit} --emit=reflection | FileCheck %s --check-prefix=DECLARED
//      DECLARED: "version": "1.6",
// DECLARED-NEXT: "memory_model": "PhysicalStorageBuffer64 Vulkan",
//      DECLARED: "capabilities": [
//      DECLARED: "PhysicalStorageBufferAddresses",
//      DECLARED: "bindings": [],
// DECLARED-NEXT: "entry_points": [
//      DECLARED: "model": "GLCompute",
// DECLARED-NEXT: "local_size": [
// DECLARED-NEXT:   256,
// DECLARED-NEXT:   1,
// DECLARED-NEXT:   1
// DECLARED-NEXT: ],
// DECLARED-NEXT: "push_constant_bytes": 8,
// DECLARED-NEXT: "workgroup_bytes": 0

// The plan names what the device must have.
// RUN: %{emit} --emit=plan | FileCheck %s --check-prefix=PLAN
// PLAN: "targets": [
// PLAN-NEXT: "vulkan:1.3,subgroup=8"
// PLAN: "PhysicalStorageBufferAddresses",
// PLAN: "format": "spirv",
// PLAN: "wave": 8

// What Vulkan does not have, and what has no SPIR-V.
// RUN: not %{emit} --emit=obj 2>&1 | FileCheck %s --check-prefix=OBJ
// OBJ: qd-translate: target 'vulkan:1.3' has no objects: the driver makes them of the SPIR-V module (--emit=spirv)
// RUN: not %{emit} --emit=llvm-ir 2>&1 | FileCheck %s --check-prefix=IR
// IR: qd-translate: target 'vulkan:1.3' has no LLVM IR: its bodies are SPIR-V (--emit=spirv-asm)
// RUN: not qd-translate %s --emit=spirv 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: qd-translate: target 'cpu' has no SPIR-V: its bodies are LLVM IR (--emit=llvm-ir) and machine code (--emit=asm)
// RUN: not qd-translate %s --target=nvptx:sm_90 --emit=reflection 2>&1 | FileCheck %s --check-prefix=PTX
// PTX: qd-translate: target 'nvptx:sm_90' has no SPIR-V: its bodies are PTX (--emit=asm)
// RUN: not qd-translate %s --target=vulkan:1.3,subgroup=5 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: qd-translate: target 'vulkan:1.3' has no subgroup of '5': expected one of 4, 8, 16, 32, 64

qd.grid.kernel @add(%a: memref<?xi32> {qd.name = "a"}) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "add one" %i to %len {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %one : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
