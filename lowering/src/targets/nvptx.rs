//! NVIDIA's GPUs, by way of PTX.

use super::{Capabilities, Conditions, ForwardProgress, Kind, Orientation, tuning};

/// One virtual architecture.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// As LLVM and PTX spell it.
    pub name: &'static str,
    /// The PTX version, as LLVM's feature. LLVM's default is the oldest that
    /// knows the architecture, which lacks instructions that it has; the newest
    /// would shut out drivers that could run the code.
    pub ptx: &'static str,
    /// Bytes of shared memory that a block may have, if its launch asks for them:
    /// a multiprocessor's, but for the KiB of each block that is the system's
    /// (CUDA C++ Programming Guide, Technical Specifications per Compute
    /// Capability).
    pub max_shared_bytes: u32,
    /// Whether it can be asked for what is to be read. PTX has `prefetch` for all;
    /// LLVM selects it from here on, and fails before.
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
        // `vote.sync`, `match.any.sync`, `redux.sync`.
        collectives: "simt.all@full,simt.any@full,simt.match_any,\
                      simt.reduce@word,simt.reduce_all@word",
        // `ex2.approx`. What else PTX has is too far off to be a function's value.
        functions: "math.exp2@f32",
        orientation: Orientation::Throughput,
        conditions: Conditions::OnDevice,
        is_measured: true,
        tunings: tuning::sm_90(),
        has_i64: true,
        has_f64: true,
    }
}
