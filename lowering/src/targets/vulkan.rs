//! The targets that run SPIR-V: Vulkan 1.3, and `metal`, the subset of it that
//! Metal-class devices support.

use crate::convert::qd_to_spirv;

use super::{Capabilities, Conditions, ForwardProgress, Kind, Orientation};

/// One kind of device.
#[derive(Debug, PartialEq, Eq)]
pub struct Environment {
    /// The row's name.
    pub name: &'static str,
    /// Bits of an `index`, which can be no wider than the device's integers.
    pub index_bits: u32,
    /// The capabilities a module may declare, as SPIR-V spells them, besides
    /// those that every module needs.
    pub capabilities: &'static [&'static str],
}

/// Vulkan 1.3 with 64-bit numbers; the runtime refuses a device that lacks what
/// a module turns out to need.
pub const VULKAN_1_3: Environment = Environment {
    name: "vulkan:1.3",
    index_bits: 64,
    capabilities: &[
        "Int8",
        "Int16",
        "Int64",
        "Int64Atomics",
        "Float16",
        "Float64",
        "GroupNonUniformClustered",
        "StorageBuffer8BitAccess",
        "StorageBuffer16BitAccess",
    ],
};

/// Vulkan on top of Metal: no 64-bit floats. 64-bit integers are in Metal's language since 2.3, with which MoltenVK has
/// `shaderInt64`; atomics of them are not, nor in MoltenVK.
pub const METAL: Environment = Environment {
    name: "metal",
    index_bits: 32,
    capabilities: &[
        "Int8",
        "Int16",
        "Int64",
        "Float16",
        "StorageBuffer8BitAccess",
        "StorageBuffer16BitAccess",
    ],
};

pub(super) fn vulkan() -> Capabilities {
    Capabilities {
        name: VULKAN_1_3.name.into(),
        kind: Kind::Spirv(&VULKAN_1_3),
        // A property of the device: see docs/rationale/vulkan.md.
        waves: vec![4, 8, 16, 32, 64],
        // The API promises nothing.
        forward_progress: ForwardProgress::None,
        // What every device has at least.
        max_shared_bytes: 16 << 10,
        forms: qd_to_spirv::forms(&VULKAN_1_3).collect(),
        has_math_library: false,
        orientation: Orientation::Throughput,
        conditions: Conditions::OnHost,
        is_measured: false,
        tunings: &[],
        has_f64: true,
    }
}

pub(super) fn metal() -> Capabilities {
    Capabilities {
        name: METAL.name.into(),
        kind: Kind::Spirv(&METAL),
        waves: vec![32],
        forms: qd_to_spirv::forms(&METAL).collect(),
        has_f64: false,
        ..vulkan()
    }
}
