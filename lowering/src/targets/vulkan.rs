//! Vulkan devices, by way of SPIR-V.

use super::{Capabilities, Cores, ForwardProgress, Kind};

pub(super) fn capabilities() -> Capabilities {
    Capabilities {
        name: "vulkan:1.3".into(),
        kind: Kind::Spirv,
        waves: vec![4, 8, 16, 32, 64],
        forward_progress: ForwardProgress::None,
        max_shared_bytes: 16 << 10,
        // Integers alone, whose order does not matter: that of floats is the
        // driver's, and so are NaNs and the sign of a zero.
        collectives: "simt.all@full,simt.any@full,\
                      simt.reduce@word,simt.reduce_all@word,\
                      simt.inclusive_scan@word,simt.exclusive_scan@word",
        // What SPIR-V has is too far off to be a function's value.
        functions: "",
        cores: Cores::Many,
        has_i64: true,
        has_f64: true,
    }
}
