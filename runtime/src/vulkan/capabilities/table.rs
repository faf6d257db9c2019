//! Each capability of SPIR-V and the features it requires, as in the Vulkan
//! specification's environment for SPIR-V.

use crate::vulkan::features::{Feature, vk_feature};
use ash::vk::SubgroupFeatureFlags as Subgroup;

/// What a capability needs.
pub(super) enum Need {
    /// Nothing: every device that is taken has it.
    Nothing,
    /// One of these features; which, depends on what it is used on.
    Features(&'static [Feature]),
    /// A subgroup operation.
    Operation(&'static str, Subgroup),
    /// A property for each width; execution modes say which are meant.
    Width,
}

/// A capability.
pub(super) struct Row {
    pub name: &'static str,
    pub number: u32,
    pub need: Need,
}

/// What follows a row's colon: features are their field in
/// [`Features`](crate::vulkan::features::Features) and their name.
macro_rules! need {
    (of every device) => {
        Need::Nothing
    };
    (of a width) => {
        Need::Width
    };
    (operation $operation:ident) => {
        Need::Operation(stringify!($operation), Subgroup::$operation)
    };
    ($($group:ident . $field:ident $name:literal),+) => {
        Need::Features(&[$(vk_feature!($group.$field, $name)),+])
    };
}

macro_rules! capabilities {
    ($($name:ident = $number:literal { $($need:tt)+ })*) => {
        &[$(Row {
            name: stringify!($name),
            number: $number,
            need: need!($($need)+),
        }),*]
    };
}

/// In the order of the numbers.
pub(super) const CAPABILITIES: &[Row] = capabilities! {
    Matrix = 0 { of every device }
    Shader = 1 { of every device }
    Float16 = 9 { v12.shader_float16 "shaderFloat16" }
    Float64 = 10 { base.shader_float64 "shaderFloat64" }
    Int64 = 11 { base.shader_int64 "shaderInt64" }
    Int64Atomics = 12 {
        v12.shader_buffer_int64_atomics "shaderBufferInt64Atomics",
        v12.shader_shared_int64_atomics "shaderSharedInt64Atomics"
    }
    Int16 = 22 { base.shader_int16 "shaderInt16" }
    Int8 = 39 { v12.shader_int8 "shaderInt8" }
    GroupNonUniform = 61 { of every device }
    GroupNonUniformVote = 62 { of every device }
    GroupNonUniformArithmetic = 63 { of every device }
    GroupNonUniformBallot = 64 { of every device }
    GroupNonUniformShuffle = 65 { of every device }
    GroupNonUniformShuffleRelative = 66 { of every device }
    GroupNonUniformClustered = 67 { operation CLUSTERED }
    GroupNonUniformQuad = 68 { operation QUAD }
    WorkgroupMemoryExplicitLayoutKHR = 4428 {
        workgroup_layout.workgroup_memory_explicit_layout "workgroupMemoryExplicitLayout"
    }
    WorkgroupMemoryExplicitLayout8BitAccessKHR = 4429 {
        workgroup_layout.workgroup_memory_explicit_layout8_bit_access "workgroupMemoryExplicitLayout8BitAccess"
    }
    WorkgroupMemoryExplicitLayout16BitAccessKHR = 4430 {
        workgroup_layout.workgroup_memory_explicit_layout16_bit_access "workgroupMemoryExplicitLayout16BitAccess"
    }
    StorageBuffer16BitAccess = 4433 { v11.storage_buffer16_bit_access "storageBuffer16BitAccess" }
    UniformAndStorageBuffer16BitAccess = 4434 {
        v11.uniform_and_storage_buffer16_bit_access "uniformAndStorageBuffer16BitAccess"
    }
    StoragePushConstant16 = 4435 { v11.storage_push_constant16 "storagePushConstant16" }
    DeviceGroup = 4437 { of every device }
    VariablePointersStorageBuffer = 4441 {
        v11.variable_pointers_storage_buffer "variablePointersStorageBuffer"
    }
    VariablePointers = 4442 { v11.variable_pointers "variablePointers" }
    StorageBuffer8BitAccess = 4448 { v12.storage_buffer8_bit_access "storageBuffer8BitAccess" }
    UniformAndStorageBuffer8BitAccess = 4449 {
        v12.uniform_and_storage_buffer8_bit_access "uniformAndStorageBuffer8BitAccess"
    }
    StoragePushConstant8 = 4450 { v12.storage_push_constant8 "storagePushConstant8" }
    DenormPreserve = 4464 { of a width }
    DenormFlushToZero = 4465 { of a width }
    SignedZeroInfNanPreserve = 4466 { of a width }
    RoundingModeRTE = 4467 { of a width }
    RoundingModeRTZ = 4468 { of a width }
    ShaderClockKHR = 5055 {
        clock.shader_subgroup_clock "shaderSubgroupClock",
        clock.shader_device_clock "shaderDeviceClock"
    }
    VulkanMemoryModel = 5345 { v12.vulkan_memory_model "vulkanMemoryModel" }
    VulkanMemoryModelDeviceScope = 5346 {
        v12.vulkan_memory_model_device_scope "vulkanMemoryModelDeviceScope"
    }
    PhysicalStorageBufferAddresses = 5347 { v12.buffer_device_address "bufferDeviceAddress" }
    AtomicFloat32MinMaxEXT = 5612 {
        atomic_float2.shader_buffer_float32_atomic_min_max "shaderBufferFloat32AtomicMinMax",
        atomic_float2.shader_shared_float32_atomic_min_max "shaderSharedFloat32AtomicMinMax"
    }
    AtomicFloat64MinMaxEXT = 5613 {
        atomic_float2.shader_buffer_float64_atomic_min_max "shaderBufferFloat64AtomicMinMax",
        atomic_float2.shader_shared_float64_atomic_min_max "shaderSharedFloat64AtomicMinMax"
    }
    ExpectAssumeKHR = 5629 { expect_assume.shader_expect_assume "shaderExpectAssume" }
    GroupNonUniformRotateKHR = 6026 { rotate.shader_subgroup_rotate "shaderSubgroupRotate" }
    FloatControls2 = 6029 { float_controls2.shader_float_controls2 "shaderFloatControls2" }
    AtomicFloat32AddEXT = 6033 {
        atomic_float.shader_buffer_float32_atomic_add "shaderBufferFloat32AtomicAdd",
        atomic_float.shader_shared_float32_atomic_add "shaderSharedFloat32AtomicAdd"
    }
    AtomicFloat64AddEXT = 6034 {
        atomic_float.shader_buffer_float64_atomic_add "shaderBufferFloat64AtomicAdd",
        atomic_float.shader_shared_float64_atomic_add "shaderSharedFloat64AtomicAdd"
    }
};
