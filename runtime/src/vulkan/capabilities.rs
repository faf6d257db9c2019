//! What of a device each capability of SPIR-V needs, as the Vulkan
//! specification's environment for SPIR-V has it.

use super::{
    features::{Feature, Features, Properties, vk_feature},
    spirv,
};
use crate::Error;
use ash::vk::{self, SubgroupFeatureFlags as Subgroup};
use qd_artifact::Requirements;
use std::collections::BTreeSet;

/// What a capability needs.
enum Need {
    /// Nothing: every device that is taken has it.
    Nothing,
    /// One of these features; which, depends on what it is used on.
    Features(&'static [Feature]),
    /// A subgroup operation.
    Operation(&'static str, Subgroup),
    /// An execution mode for floats, which names the width.
    FloatControl,
}

/// `(name, number, need)`, in the order of the numbers.
const CAPABILITIES: &[(&str, u32, Need)] = &[
    ("Matrix", 0, Need::Nothing),
    ("Shader", 1, Need::Nothing),
    (
        "Float16",
        9,
        Need::Features(&[vk_feature!(v12.shader_float16, "shaderFloat16")]),
    ),
    (
        "Float64",
        10,
        Need::Features(&[vk_feature!(base.shader_float64, "shaderFloat64")]),
    ),
    (
        "Int64",
        11,
        Need::Features(&[vk_feature!(base.shader_int64, "shaderInt64")]),
    ),
    (
        "Int64Atomics",
        12,
        Need::Features(&[
            vk_feature!(v12.shader_buffer_int64_atomics, "shaderBufferInt64Atomics"),
            vk_feature!(v12.shader_shared_int64_atomics, "shaderSharedInt64Atomics"),
        ]),
    ),
    (
        "Int16",
        22,
        Need::Features(&[vk_feature!(base.shader_int16, "shaderInt16")]),
    ),
    (
        "Int8",
        39,
        Need::Features(&[vk_feature!(v12.shader_int8, "shaderInt8")]),
    ),
    ("GroupNonUniform", 61, Need::Nothing),
    ("GroupNonUniformVote", 62, Need::Nothing),
    ("GroupNonUniformArithmetic", 63, Need::Nothing),
    ("GroupNonUniformBallot", 64, Need::Nothing),
    ("GroupNonUniformShuffle", 65, Need::Nothing),
    ("GroupNonUniformShuffleRelative", 66, Need::Nothing),
    (
        "GroupNonUniformClustered",
        67,
        Need::Operation("CLUSTERED", Subgroup::CLUSTERED),
    ),
    (
        "GroupNonUniformQuad",
        68,
        Need::Operation("QUAD", Subgroup::QUAD),
    ),
    (
        "WorkgroupMemoryExplicitLayoutKHR",
        4428,
        Need::Features(&[vk_feature!(
            workgroup_layout.workgroup_memory_explicit_layout,
            "workgroupMemoryExplicitLayout"
        )]),
    ),
    (
        "WorkgroupMemoryExplicitLayout8BitAccessKHR",
        4429,
        Need::Features(&[vk_feature!(
            workgroup_layout.workgroup_memory_explicit_layout8_bit_access,
            "workgroupMemoryExplicitLayout8BitAccess"
        )]),
    ),
    (
        "WorkgroupMemoryExplicitLayout16BitAccessKHR",
        4430,
        Need::Features(&[vk_feature!(
            workgroup_layout.workgroup_memory_explicit_layout16_bit_access,
            "workgroupMemoryExplicitLayout16BitAccess"
        )]),
    ),
    (
        "StorageBuffer16BitAccess",
        4433,
        Need::Features(&[vk_feature!(
            v11.storage_buffer16_bit_access,
            "storageBuffer16BitAccess"
        )]),
    ),
    (
        "UniformAndStorageBuffer16BitAccess",
        4434,
        Need::Features(&[vk_feature!(
            v11.uniform_and_storage_buffer16_bit_access,
            "uniformAndStorageBuffer16BitAccess"
        )]),
    ),
    (
        "StoragePushConstant16",
        4435,
        Need::Features(&[vk_feature!(
            v11.storage_push_constant16,
            "storagePushConstant16"
        )]),
    ),
    ("DeviceGroup", 4437, Need::Nothing),
    (
        "VariablePointersStorageBuffer",
        4441,
        Need::Features(&[vk_feature!(
            v11.variable_pointers_storage_buffer,
            "variablePointersStorageBuffer"
        )]),
    ),
    (
        "VariablePointers",
        4442,
        Need::Features(&[vk_feature!(v11.variable_pointers, "variablePointers")]),
    ),
    (
        "StorageBuffer8BitAccess",
        4448,
        Need::Features(&[vk_feature!(
            v12.storage_buffer8_bit_access,
            "storageBuffer8BitAccess"
        )]),
    ),
    (
        "UniformAndStorageBuffer8BitAccess",
        4449,
        Need::Features(&[vk_feature!(
            v12.uniform_and_storage_buffer8_bit_access,
            "uniformAndStorageBuffer8BitAccess"
        )]),
    ),
    (
        "StoragePushConstant8",
        4450,
        Need::Features(&[vk_feature!(
            v12.storage_push_constant8,
            "storagePushConstant8"
        )]),
    ),
    ("DenormPreserve", 4464, Need::FloatControl),
    ("DenormFlushToZero", 4465, Need::FloatControl),
    ("SignedZeroInfNanPreserve", 4466, Need::FloatControl),
    ("RoundingModeRTE", 4467, Need::FloatControl),
    ("RoundingModeRTZ", 4468, Need::FloatControl),
    (
        "ShaderClockKHR",
        5055,
        Need::Features(&[
            vk_feature!(clock.shader_subgroup_clock, "shaderSubgroupClock"),
            vk_feature!(clock.shader_device_clock, "shaderDeviceClock"),
        ]),
    ),
    (
        "VulkanMemoryModel",
        5345,
        Need::Features(&[vk_feature!(v12.vulkan_memory_model, "vulkanMemoryModel")]),
    ),
    (
        "VulkanMemoryModelDeviceScope",
        5346,
        Need::Features(&[vk_feature!(
            v12.vulkan_memory_model_device_scope,
            "vulkanMemoryModelDeviceScope"
        )]),
    ),
    (
        "PhysicalStorageBufferAddresses",
        5347,
        Need::Features(&[vk_feature!(
            v12.buffer_device_address,
            "bufferDeviceAddress"
        )]),
    ),
    (
        "AtomicFloat32MinMaxEXT",
        5612,
        Need::Features(&[
            vk_feature!(
                atomic_float2.shader_buffer_float32_atomic_min_max,
                "shaderBufferFloat32AtomicMinMax"
            ),
            vk_feature!(
                atomic_float2.shader_shared_float32_atomic_min_max,
                "shaderSharedFloat32AtomicMinMax"
            ),
        ]),
    ),
    (
        "AtomicFloat64MinMaxEXT",
        5613,
        Need::Features(&[
            vk_feature!(
                atomic_float2.shader_buffer_float64_atomic_min_max,
                "shaderBufferFloat64AtomicMinMax"
            ),
            vk_feature!(
                atomic_float2.shader_shared_float64_atomic_min_max,
                "shaderSharedFloat64AtomicMinMax"
            ),
        ]),
    ),
    (
        "ExpectAssumeKHR",
        5629,
        Need::Features(&[vk_feature!(
            expect_assume.shader_expect_assume,
            "shaderExpectAssume"
        )]),
    ),
    (
        "GroupNonUniformRotateKHR",
        6026,
        Need::Features(&[vk_feature!(
            rotate.shader_subgroup_rotate,
            "shaderSubgroupRotate"
        )]),
    ),
    (
        "FloatControls2",
        6029,
        Need::Features(&[vk_feature!(
            float_controls2.shader_float_controls2,
            "shaderFloatControls2"
        )]),
    ),
    (
        "AtomicFloat32AddEXT",
        6033,
        Need::Features(&[
            vk_feature!(
                atomic_float.shader_buffer_float32_atomic_add,
                "shaderBufferFloat32AtomicAdd"
            ),
            vk_feature!(
                atomic_float.shader_shared_float32_atomic_add,
                "shaderSharedFloat32AtomicAdd"
            ),
        ]),
    ),
    (
        "AtomicFloat64AddEXT",
        6034,
        Need::Features(&[
            vk_feature!(
                atomic_float.shader_buffer_float64_atomic_add,
                "shaderBufferFloat64AtomicAdd"
            ),
            vk_feature!(
                atomic_float.shader_shared_float64_atomic_add,
                "shaderSharedFloat64AtomicAdd"
            ),
        ]),
    ),
];

/// What a device must have to be taken at all: what every module declares, and
/// that subgroups are full and of one size.
pub(super) const REQUIRED: &[Feature] = &[
    vk_feature!(v12.buffer_device_address, "bufferDeviceAddress"),
    vk_feature!(v12.vulkan_memory_model, "vulkanMemoryModel"),
    vk_feature!(
        v12.vulkan_memory_model_device_scope,
        "vulkanMemoryModelDeviceScope"
    ),
    vk_feature!(v13.subgroup_size_control, "subgroupSizeControl"),
    vk_feature!(v13.compute_full_subgroups, "computeFullSubgroups"),
];

/// The subgroup operations that a device must have in compute.
pub(super) const OPERATIONS: &[(&str, Subgroup)] = &[
    ("BASIC", Subgroup::BASIC),
    ("VOTE", Subgroup::VOTE),
    ("ARITHMETIC", Subgroup::ARITHMETIC),
    ("BALLOT", Subgroup::BALLOT),
    ("SHUFFLE", Subgroup::SHUFFLE),
    ("SHUFFLE_RELATIVE", Subgroup::SHUFFLE_RELATIVE),
];

/// What no capability stands for and is of use where it is there: subgroup
/// operations on every width, and lanes that come back together.
const OTHERS: &[Feature] = &[
    vk_feature!(
        v12.shader_subgroup_extended_types,
        "shaderSubgroupExtendedTypes"
    ),
    vk_feature!(v12.scalar_block_layout, "scalarBlockLayout"),
    vk_feature!(
        v12.vulkan_memory_model_availability_visibility_chains,
        "vulkanMemoryModelAvailabilityVisibilityChains"
    ),
    vk_feature!(v13.maintenance4, "maintenance4"),
    vk_feature!(
        v13.shader_zero_initialize_workgroup_memory,
        "shaderZeroInitializeWorkgroupMemory"
    ),
    vk_feature!(
        atomic_float.shader_buffer_float32_atomics,
        "shaderBufferFloat32Atomics"
    ),
    vk_feature!(
        atomic_float.shader_shared_float32_atomics,
        "shaderSharedFloat32Atomics"
    ),
    vk_feature!(
        atomic_float.shader_buffer_float64_atomics,
        "shaderBufferFloat64Atomics"
    ),
    vk_feature!(
        atomic_float.shader_shared_float64_atomics,
        "shaderSharedFloat64Atomics"
    ),
    UNIFORM_CONTROL_FLOW,
    RECONVERGENCE,
];

const UNIFORM_CONTROL_FLOW: Feature = vk_feature!(
    uniform_control_flow.shader_subgroup_uniform_control_flow,
    "shaderSubgroupUniformControlFlow"
);
const RECONVERGENCE: Feature = vk_feature!(
    reconvergence.shader_maximal_reconvergence,
    "shaderMaximalReconvergence"
);

/// Execution modes that need a feature: `(name, number, feature)`.
const MODES: &[(&str, u32, Feature)] = &[
    ("SubgroupUniformControlFlowKHR", 4421, UNIFORM_CONTROL_FLOW),
    ("MaximallyReconvergesKHR", 6023, RECONVERGENCE),
];

type Property = fn(&vk::PhysicalDeviceVulkan12Properties) -> vk::Bool32;

/// Execution modes about floats: `(name, number, property, by width)`.
const FLOAT_MODES: &[(&str, u32, &str, [(u32, Property); 3])] = &[
    (
        "DenormPreserve",
        4459,
        "shaderDenormPreserveFloat",
        [
            (16, |p| p.shader_denorm_preserve_float16),
            (32, |p| p.shader_denorm_preserve_float32),
            (64, |p| p.shader_denorm_preserve_float64),
        ],
    ),
    (
        "DenormFlushToZero",
        4460,
        "shaderDenormFlushToZeroFloat",
        [
            (16, |p| p.shader_denorm_flush_to_zero_float16),
            (32, |p| p.shader_denorm_flush_to_zero_float32),
            (64, |p| p.shader_denorm_flush_to_zero_float64),
        ],
    ),
    (
        "SignedZeroInfNanPreserve",
        4461,
        "shaderSignedZeroInfNanPreserveFloat",
        [
            (16, |p| p.shader_signed_zero_inf_nan_preserve_float16),
            (32, |p| p.shader_signed_zero_inf_nan_preserve_float32),
            (64, |p| p.shader_signed_zero_inf_nan_preserve_float64),
        ],
    ),
    (
        "RoundingModeRTE",
        4462,
        "shaderRoundingModeRTEFloat",
        [
            (16, |p| p.shader_rounding_mode_rte_float16),
            (32, |p| p.shader_rounding_mode_rte_float32),
            (64, |p| p.shader_rounding_mode_rte_float64),
        ],
    ),
    (
        "RoundingModeRTZ",
        4463,
        "shaderRoundingModeRTZFloat",
        [
            (16, |p| p.shader_rounding_mode_rtz_float16),
            (32, |p| p.shader_rounding_mode_rtz_float32),
            (64, |p| p.shader_rounding_mode_rtz_float64),
        ],
    ),
];

/// Everything that a module may ask for, as far as the device has it.
pub(super) fn switched_on(offered: &Features) -> Features {
    let of_capabilities = CAPABILITIES.iter().flat_map(|(.., need)| match need {
        Need::Features(features) => *features,
        _ => &[],
    });
    let mut features = Features::default();
    for feature in of_capabilities.chain(REQUIRED).chain(OTHERS) {
        if (feature.has)(offered) {
            (feature.switch_on)(&mut features);
        }
    }
    features
}

/// Checks that the device has what the module needs.
pub(super) fn check(
    requirements: &Requirements,
    module: &spirv::Module,
    features: &Features,
    properties: &Properties,
) -> Result<(), Error> {
    let mut missing = Vec::new();
    let mut lacks = |name: &str, what: &str| {
        let reason = requirements.reasons.get(name);
        let reason = reason.map_or(String::new(), |reason| format!(" for {reason}"));
        missing.push(format!("{name} ({what}), which it needs{reason}"));
    };

    let numbered = |number: &u32| {
        let row = CAPABILITIES.iter().find(|row| row.1 == *number);
        row.map_or_else(|| format!("capability {number}"), |row| row.0.into())
    };
    let declared: BTreeSet<String> = module.capabilities.iter().map(numbered).collect();
    for name in declared.iter().chain(&requirements.features) {
        match CAPABILITIES.iter().find(|row| row.0 == name) {
            None => lacks(name, "unknown to this driver"),
            Some((_, _, Need::Features(choice))) => {
                if !choice.iter().any(|feature| (feature.has)(features)) {
                    let names: Vec<_> = choice.iter().map(|feature| feature.name).collect();
                    lacks(name, &names.join(" or "));
                }
            }
            Some((_, _, Need::Operation(operation, flag))) => {
                if !properties.v11.subgroup_supported_operations.contains(*flag) {
                    lacks(name, &format!("subgroup operations {operation}"));
                }
            }
            Some((_, _, Need::Nothing | Need::FloatControl)) => {}
        }
    }

    let modes: BTreeSet<_> = module
        .entries
        .values()
        .flat_map(|entry| &entry.modes)
        .collect();
    for (mode, width) in modes {
        if let Some((name, _, feature)) = MODES.iter().find(|row| row.1 == *mode)
            && !(feature.has)(features)
        {
            lacks(name, feature.name);
        }
        if let Some((name, _, property, widths)) = FLOAT_MODES.iter().find(|row| row.1 == *mode)
            && !widths
                .iter()
                .any(|(at, has)| at == width && has(&properties.v12) == vk::TRUE)
        {
            lacks(name, &format!("{property}{width}"));
        }
    }

    missing.sort();
    missing.dedup();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::MissingCapabilities {
            device: properties.name(),
            missing,
        }),
    }
}
