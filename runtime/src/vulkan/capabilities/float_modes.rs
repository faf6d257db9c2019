//! Execution modes for floats, and the device property that each requires for
//! each width.

use crate::vulkan::spirv;
use ash::vk;

type Property = fn(&vk::PhysicalDeviceVulkan12Properties) -> vk::Bool32;

/// An execution mode.
pub(super) struct Mode {
    pub name: &'static str,
    pub number: u32,
    /// The property that a device must have; the width follows.
    pub property: &'static str,
    has: [(u32, Property); 3],
}

impl Mode {
    /// Whether a device has it for a width.
    pub fn is_had(&self, width: u32, device: &vk::PhysicalDeviceVulkan12Properties) -> bool {
        let mut properties = self.has.iter();
        properties.any(|(at, has)| *at == width && has(device) == vk::TRUE)
    }
}

/// All of them.
pub(super) const FLOAT_MODES: &[Mode] = &[
    Mode {
        name: "DenormPreserve",
        number: 4459,
        property: "shaderDenormPreserveFloat",
        has: [
            (16, |p| p.shader_denorm_preserve_float16),
            (32, |p| p.shader_denorm_preserve_float32),
            (64, |p| p.shader_denorm_preserve_float64),
        ],
    },
    Mode {
        name: "DenormFlushToZero",
        number: 4460,
        property: "shaderDenormFlushToZeroFloat",
        has: [
            (16, |p| p.shader_denorm_flush_to_zero_float16),
            (32, |p| p.shader_denorm_flush_to_zero_float32),
            (64, |p| p.shader_denorm_flush_to_zero_float64),
        ],
    },
    Mode {
        name: "SignedZeroInfNanPreserve",
        number: 4461,
        property: "shaderSignedZeroInfNanPreserveFloat",
        has: [
            (16, |p| p.shader_signed_zero_inf_nan_preserve_float16),
            (32, |p| p.shader_signed_zero_inf_nan_preserve_float32),
            (64, |p| p.shader_signed_zero_inf_nan_preserve_float64),
        ],
    },
    Mode {
        name: "RoundingModeRTE",
        number: 4462,
        property: "shaderRoundingModeRTEFloat",
        has: [
            (16, |p| p.shader_rounding_mode_rte_float16),
            (32, |p| p.shader_rounding_mode_rte_float32),
            (64, |p| p.shader_rounding_mode_rte_float64),
        ],
    },
    Mode {
        name: "RoundingModeRTZ",
        number: 4463,
        property: "shaderRoundingModeRTZFloat",
        has: [
            (16, |p| p.shader_rounding_mode_rtz_float16),
            (32, |p| p.shader_rounding_mode_rtz_float32),
            (64, |p| p.shader_rounding_mode_rtz_float64),
        ],
    },
];

/// Keeping denormals, as a capability and as a mode with a width.
pub(in crate::vulkan) struct DenormPreserve {
    pub capability: u32,
    pub mode: u32,
}

pub(in crate::vulkan) const DENORM_PRESERVE: DenormPreserve = DenormPreserve {
    capability: 4464,
    mode: 4459,
};

/// The widths of a module's floats of which the device can keep denormals: all or
/// none, where it cannot tell them apart.
pub(in crate::vulkan) fn widths_with_denormals(
    module: &spirv::Module,
    device: &vk::PhysicalDeviceVulkan12Properties,
) -> Vec<u32> {
    const FLOAT16: u32 = 9;
    const FLOAT64: u32 = 10;
    let keeps = FLOAT_MODES
        .iter()
        .find(|row| row.number == DENORM_PRESERVE.mode);
    let mut widths = vec![32];
    let others = [(FLOAT16, 16), (FLOAT64, 64)];
    let has = |(capability, _): &(u32, u32)| module.capabilities.contains(capability);
    widths.extend(
        others
            .iter()
            .filter(|row| has(row))
            .map(|(_, width)| *width),
    );
    let all = widths.len();
    widths.retain(|width| keeps.is_some_and(|row| row.is_had(*width, device)));
    let independence = device.denorm_behavior_independence;
    if independence == vk::ShaderFloatControlsIndependence::NONE && widths.len() < all {
        widths.clear();
    }
    widths
}
