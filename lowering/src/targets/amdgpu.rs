//! AMD's GPUs, by way of code objects.

use std::sync::LazyLock;

use crate::convert::qd_to_rocdl;

use super::{
    Capabilities, Conditions, ForwardProgress, Kind, Orientation,
    tuning::{self, Row},
};

/// One architecture.
#[derive(Debug, PartialEq, Eq)]
pub struct Architecture {
    /// As LLVM spells it.
    pub name: &'static str,
    /// Lanes in a wave, ascending.
    pub waves: &'static [u32],
    /// Whether DPP can exchange lanes by a mask and `v_permlanex16` rows of 16 ("RDNA3"
    /// Instruction Set Architecture, Data Parallel Primitives); CDNA shifts whole waves instead.
    pub is_rdna: bool,
    /// SIMDs of a compute unit.
    pub simds: u32,
    /// The most waves of a SIMD.
    pub waves_per_simd: u32,
    /// Whether `ds_bpermute_b32` reads from a lane's own half of a wave of 64 alone, so that
    /// the halves have to be exchanged by `v_permlane64_b32`.
    pub permutes_halves: bool,
}

/// CDNA2 (MI210, MI250).
pub const GFX90A: Architecture = Architecture {
    name: "gfx90a",
    waves: &[64],
    is_rdna: false,
    simds: 4,
    waves_per_simd: 8,
    permutes_halves: false,
};
/// CDNA3 (MI300).
pub const GFX942: Architecture = Architecture {
    name: "gfx942",
    ..GFX90A
};
/// RDNA3 (RX 7900).
pub const GFX1100: Architecture = Architecture {
    name: "gfx1100",
    waves: &[32, 64],
    is_rdna: true,
    simds: 2,
    waves_per_simd: 16,
    permutes_halves: true,
};
/// RDNA4 (RX 9070).
pub const GFX1201: Architecture = Architecture {
    name: "gfx1201",
    permutes_halves: false,
    ..GFX1100
};

/// A workgroup's on each of them.
pub const MAX_SHARED_BYTES: u32 = 64 << 10;

// Not measured: from documented limits, see `docs/rationale/amdgpu.md`.
static CDNA: Tunings = LazyLock::new(|| tunings(include_str!("cdna.tuning.json")));
static RDNA: Tunings = LazyLock::new(|| tunings(include_str!("rdna.tuning.json")));

type Tunings = LazyLock<Vec<Row>>;

fn tunings(text: &str) -> Vec<Row> {
    tuning::table(text).expect("rows, read by tests")
}

pub(super) fn capabilities(architecture: &'static Architecture) -> Capabilities {
    Capabilities {
        name: format!("amdgpu:{}", architecture.name),
        kind: Kind::Amdgpu(architecture),
        waves: architecture.waves.to_vec(),
        // Blocks that have started go on. Their numbers promise nothing, but no strategy waits
        // for what has not taken a ticket.
        forward_progress: ForwardProgress::Full,
        max_shared_bytes: MAX_SHARED_BYTES,
        forms: qd_to_rocdl::forms().collect(),
        has_math_library: false,
        orientation: Orientation::Throughput,
        conditions: Conditions::OnHost,
        is_measured: false,
        tunings: match architecture.is_rdna {
            true => &RDNA,
            false => &CDNA,
        },
        has_f64: true,
    }
}
