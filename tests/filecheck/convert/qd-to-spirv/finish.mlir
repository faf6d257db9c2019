// One module of all bodies: an entry point each, with its variables, floats without contraction, and only the
// capabilities that it needs.

// RUN: qd-opt %s --qd-finish-spirv | FileCheck %s

// CHECK:      spirv.module PhysicalStorageBuffer64 Vulkan requires #spirv.vce<v1.6, [Float64, GroupNonUniform, GroupNonUniformShuffle,
// CHECK-SAME:   PhysicalStorageBufferAddresses, RoundingModeRTE, Shader, SignedZeroInfNanPreserve, VulkanMemoryModel, VulkanMemoryModelDeviceScope], []>
// What needs it is kept for messages.
// CHECK-SAME: qd.reasons = {Float64 = "spirv.FConvert at {{.*}}finish.mlir:[[# @LINE + 21]]:8"
// CHECK:        spirv.GlobalVariable @lane
// CHECK:        spirv.func @k
// CHECK-NOT:      qd.threads
// CHECK:          spirv.FAdd %{{.*}}, %{{.*}} {no_contraction} : f32
// CHECK:          spirv.FMul %{{.*}}, %{{.*}} {no_contraction} : f64
// CHECK:        spirv.func @plain
// CHECK:        spirv.EntryPoint "GLCompute" @k, @lane{{$}}
// CHECK-NEXT:   spirv.ExecutionMode @k "LocalSize", 64, 1, 1
// CHECK-NEXT:   spirv.ExecutionMode @k "SignedZeroInfNanPreserve", 32
// CHECK-NEXT:   spirv.ExecutionMode @k "RoundingModeRTE", 32
// CHECK-NEXT:   spirv.ExecutionMode @k "SignedZeroInfNanPreserve", 64
// CHECK-NEXT:   spirv.ExecutionMode @k "RoundingModeRTE", 64
// CHECK:        spirv.EntryPoint "GLCompute" @plain{{$}}
spirv.GlobalVariable @lane built_in("SubgroupLocalInvocationId") : !spirv.ptr<i32, Input>
spirv.func @k() "None" attributes {qd.threads = 64 : i64} {
  %at = spirv.mlir.addressof @lane : !spirv.ptr<i32, Input>
  %lane = spirv.Load "Input" %at : i32
  %x = spirv.ConvertUToF %lane : i32 to f32
  %y = spirv.GroupNonUniformShuffle <Subgroup> %x, %lane : f32, i32
  %z = spirv.FAdd %x, %y : f32
  %w = spirv.FConvert %z : f32 to f64
  %v = spirv.FMul %w, %w : f64
  spirv.Return
}
spirv.func @plain() "None" attributes {qd.threads = 128 : i64} {
  spirv.Return
}
