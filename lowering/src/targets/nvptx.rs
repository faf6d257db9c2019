//! NVIDIA's GPUs, by way of PTX.

use crate::convert::qd_to_nvvm;

use super::{Capabilities, Conditions, ForwardProgress, Kind, Orientation};

/// One virtual architecture.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// As LLVM and PTX spell it.
    pub name: &'static str,
    /// The PTX version, as LLVM's feature. LLVM's default is the oldest that
    /// knows the architecture, which lacks instructions that it has; the newest
    /// would shut out drivers that could run the code.
    pub ptx: &'static str,
    /// The most shared memory of a block, in bytes, if its launch requests it: a
    /// multiprocessor's, less the KiB of each block that the system reserves (CUDA
    /// C++ Programming Guide, Technical Specifications per Compute Capability).
    pub max_shared_bytes: u32,
    /// Whether there are prefetches. PTX has `prefetch` for all architectures;
    /// LLVM selects it from this one on, and fails before.
    pub has_prefetch: bool,
}

/// Ampere (A100).
pub const SM_80: Architecture = Architecture {
    name: "sm_80",
    ptx: "+ptx80",
    max_shared_bytes: 163 << 10,
    has_prefetch: false,
};
/// Hopper (H100, H200).
pub const SM_90: Architecture = Architecture {
    name: "sm_90",
    ptx: "+ptx80",
    max_shared_bytes: 227 << 10,
    has_prefetch: true,
};
/// Blackwell (B200).
pub const SM_100: Architecture = Architecture {
    name: "sm_100",
    ptx: "+ptx86",
    max_shared_bytes: 227 << 10,
    has_prefetch: true,
};

pub(super) fn capabilities(architecture: &'static Architecture) -> Capabilities {
    Capabilities {
        name: format!("nvptx:{}", architecture.name),
        kind: Kind::Nvptx(architecture),
        waves: vec![32],
        forward_progress: ForwardProgress::Full,
        max_shared_bytes: architecture.max_shared_bytes,
        forms: qd_to_nvvm::forms().collect(),
        has_math_library: false,
        orientation: Orientation::Throughput,
        conditions: Conditions::OnDevice,
        is_measured: true,
        tunings: &[],
        has_f64: true,
    }
}
