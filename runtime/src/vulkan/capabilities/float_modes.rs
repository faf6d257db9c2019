//! Execution modes about floats, and what of a device each needs for each width.

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
