//! The machine the compiler runs on: a thread is an iteration of a loop.

use crate::convert::qd_to_cpu;

use super::{Capabilities, Conditions, ForwardProgress, Kind, Orientation};

pub(super) fn capabilities() -> Capabilities {
    Capabilities {
        name: "cpu".into(),
        kind: Kind::Host,
        waves: vec![4, 8, 16, 32, 64],
        forward_progress: ForwardProgress::TicketOrdered,
        max_shared_bytes: 256 << 10,
        forms: qd_to_cpu::forms().collect(),
        // libm.
        has_math_library: true,
        orientation: Orientation::Latency,
        conditions: Conditions::OnDevice,
        is_measured: false,
        tunings: &[],
        has_f64: true,
    }
}
