// A module as each thing the NVIDIA targets can be given. The artifact holds PTX as text with a NUL behind it; there are no objects.

// RUN: qd-translate %s --target=nvptx:sm_80 --emit=asm | FileCheck %s --check-prefixes=PTX,SM80
// RUN: qd-translate %s --target=nvptx:sm_90 --emit=asm | FileCheck %s --check-prefixes=PTX,SM90
// RUN: qd-translate %s --target=nvptx:sm_100,wave=32 --emit=asm | FileCheck %s --check-prefixes=PTX,SM100
// SM80:  .version 8.0
// SM80:  .target sm_80
// SM90:  .version 8.0
// SM90:  .target sm_90
// SM100: .version 8.6
// SM100: .target sm_100
// PTX:   .address_size 64
// PTX:   .visible .entry add_one_{{[0-9a-f]+}}(
// The number of tiles and of elements; the buffer and its length; what is added.
// PTX-NEXT: .param .u64 add_one_{{[0-9a-f]+}}_param_0,
// PTX-NEXT: .param .u64 add_one_{{[0-9a-f]+}}_param_1,
// PTX-NEXT: .param .u64 .ptr .global .align 1 add_one_{{[0-9a-f]+}}_param_2,
// PTX-NEXT: .param .u64 add_one_{{[0-9a-f]+}}_param_3,
// PTX-NEXT: .param .u64 add_one_{{[0-9a-f]+}}_param_4
// PTX:   .reqntid 256, 1, 1
// PTX:   ld.global.b32
// PTX:   st.global.b32

// RUN: qd-translate %s --target=nvptx:sm_90 --emit=llvm-ir | FileCheck %s --check-prefix=IR
// IR: target triple = "nvptx64-nvidia-cuda"
// IR: define ptx_kernel void @add_one_{{[0-9a-f]+}}(i64 {{.*}}, i64 {{.*}}, ptr addrspace(1) noalias {{.*}}, i64 {{.*}}, i64 {{.*}})

// RUN: qd-translate %s --target=nvptx:sm_90 --emit=plan | FileCheck %s --check-prefix=PLAN
// PLAN: "targets": [
// PLAN-NEXT: "nvptx:sm_90"
// PLAN: "body": "add_one_{{[0-9a-f]+}}",
// PLAN: "format": "ptx",
// PLAN: "name": "add_one_{{[0-9a-f]+}}",
// PLAN-NEXT: "wave": 32

// RUN: qd-translate %s --target=nvptx:sm_90 --emit=artifact -o %t.qdart
// RUN: %python -c 'import sys; sys.exit(open(sys.argv[1], "rb").read()[-3:] != b"}\n\0")' %t.qdart

// RUN: qd-opt %s --to=target --target=nvptx:sm_90 | FileCheck %s --check-prefix=NVVM
// NVVM: llvm.func @add_one_{{[0-9a-f]+}}({{.*}}) attributes {nvvm.kernel,
// NVVM: nvvm.read.ptx.sreg.tid.x

// RUN: not qd-translate %s --target=nvptx:sm_90 --emit=obj -o %t.none 2>&1 | FileCheck %s --check-prefix=OBJ
// OBJ: qd-translate: target 'nvptx:sm_90' has no objects: the driver makes them of PTX, which is its assembly
// RUN: not qd-translate %s --target=nvptx:sm_75 -o %t.none 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: qd-translate: target 'nvptx' has no architecture 'sm_75': expected one of sm_80, sm_90, sm_100
// RUN: not qd-translate %s --target=nvptx -o %t.none 2>&1 | FileCheck %s --check-prefix=NO-ARCH
// NO-ARCH: qd-translate: target 'nvptx' needs an architecture, as in 'nvptx:sm_80': expected one of sm_80, sm_90, sm_100
// RUN: not qd-translate %s --target=nvptx:sm_90,wave=64 -o %t.none 2>&1 | FileCheck %s --check-prefix=WAVE
// WAVE: qd-translate: target 'nvptx:sm_90' has no wave of '64': expected one of 32
// RUN: not ls %t.none

qd.grid.kernel @add(%a: memref<?xi32> {qd.name = "a"}, %d: i32) {
  %c0 = arith.constant 0 : index
  %len = memref.dim %a, %c0 : memref<?xi32>
  qd.grid.for_each "add one" %i to %len {
    %x = memref.load %a[%i] : memref<?xi32>
    %y = arith.addi %x, %d : i32
    memref.store %y, %a[%i] : memref<?xi32>
  }
}
