//! The capabilities that a module requires, and whether a device has them.

mod float_modes;
mod table;

use super::{
    features::{Feature, Features, Properties, vk_feature},
    spirv,
};
use crate::Error;
use ash::vk::SubgroupFeatureFlags as Subgroup;
use float_modes::FLOAT_MODES;
pub(super) use float_modes::{DENORM_PRESERVE, widths_with_denormals};
use qd_artifact::{Origins, Requirements};
use table::{CAPABILITIES, Need};

/// Features that a device must have to be used at all: those that every module
/// declares, and full subgroups of one size.
pub(super) const REQUIRED: &[Feature] = &[
    vk_feature!(v12.buffer_device_address, "bufferDeviceAddress"),
    vk_feature!(v12.vulkan_memory_model, "vulkanMemoryModel"),
    vk_feature!(
        v12.vulkan_memory_model_device_scope,
        "vulkanMemoryModelDeviceScope"
    ),
    vk_feature!(v12.timeline_semaphore, "timelineSemaphore"),
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

/// Features without a capability that are used where they exist: subgroup
/// operations on every width, and reconvergence.
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

/// Execution modes that need a feature: `(name, number, feature)`. They promise
/// reconvergence, the first one the most.
const MODES: &[(&str, u32, Feature)] = &[
    ("MaximallyReconvergesKHR", 6023, RECONVERGENCE),
    ("SubgroupUniformControlFlowKHR", 4421, UNIFORM_CONTROL_FLOW),
];

/// The strongest promise of reconvergence: the mode's number and its extension.
pub(super) fn convergence(features: &Features) -> Option<(u32, &'static str)> {
    const EXTENSIONS: [&str; 2] = [
        "SPV_KHR_maximal_reconvergence",
        "SPV_KHR_subgroup_uniform_control_flow",
    ];
    let mut modes = MODES.iter().zip(EXTENSIONS);
    modes
        .find(|((_, _, feature), _)| (feature.has)(features))
        .map(|((_, mode, _), extension)| (*mode, extension))
}

/// Every feature that a module may use, as far as the device has it.
pub(super) fn switched_on(offered: &Features) -> Features {
    let of_capabilities = CAPABILITIES.iter().flat_map(|row| match row.need {
        Need::Features(features) => features,
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

/// Checks that the device meets the requirements in a plan.
pub(super) fn check(
    needs: &Requirements,
    origins: Option<&Origins>,
    features: &Features,
    properties: &Properties,
) -> Result<(), Error> {
    let missing = needs.features.iter().filter_map(|name| {
        let reason = origins.and_then(|origins| origins.reasons.get(name));
        let reason = reason.map_or(String::new(), |reason| format!(" for {reason}"));
        Some(lacks(name, &lacked(name, features, properties)?) + &reason)
    });
    none_missing(missing.collect(), properties)
}

/// Checks that the device has the capabilities that a module declares.
pub(super) fn check_declared(
    module: &spirv::Module,
    features: &Features,
    properties: &Properties,
) -> Result<(), Error> {
    let numbered = |number: &u32| {
        let row = CAPABILITIES.iter().find(|row| row.number == *number);
        row.map_or_else(|| format!("capability {number}"), |row| row.name.into())
    };
    let declared = module.capabilities.iter().map(numbered);
    let missing = declared.filter_map(|name| {
        let what = lacked(&name, features, properties)?;
        Some(lacks(&name, &what))
    });
    let mut missing: Vec<_> = missing.collect();
    let entries = module.entries.values();
    for (mode, width) in entries.flat_map(|entry| &entry.modes) {
        if let Some((name, _, feature)) = MODES.iter().find(|row| row.1 == *mode)
            && !(feature.has)(features)
        {
            missing.push(lacks(name, feature.name));
        }
        if let Some(row) = FLOAT_MODES.iter().find(|row| row.number == *mode)
            && !row.is_had(*width, &properties.v12)
        {
            missing.push(lacks(row.name, &format!("{}{width}", row.property)));
        }
    }
    none_missing(missing, properties)
}

fn lacks(name: &str, what: &str) -> String {
    format!("{name} ({what}), which it needs")
}

/// The names of those that the device has.
pub(super) fn had(features: &Features, properties: &Properties) -> Vec<&'static str> {
    let names = CAPABILITIES.iter().map(|row| row.name);
    names
        .filter(|name| lacked(name, features, properties).is_none())
        .collect()
}

/// The feature that the device lacks for a capability, if any.
fn lacked(name: &str, features: &Features, properties: &Properties) -> Option<String> {
    let row = CAPABILITIES.iter().find(|row| row.name == name);
    match row.map(|row| &row.need) {
        None => Some("unknown to this driver".into()),
        Some(Need::Features(choice)) => {
            let is_had = choice.iter().any(|feature| (feature.has)(features));
            let names = || choice.iter().map(|feature| feature.name);
            (!is_had).then(|| names().collect::<Vec<_>>().join(" or "))
        }
        Some(Need::Operation(operation, flag)) => {
            let operations = properties.v11.subgroup_supported_operations;
            (!operations.contains(*flag)).then(|| format!("subgroup operations {operation}"))
        }
        Some(Need::Nothing | Need::Width) => None,
    }
}

fn none_missing(mut missing: Vec<String>, properties: &Properties) -> Result<(), Error> {
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
