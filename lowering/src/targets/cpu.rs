//! The machine the compiler runs on: a thread is an iteration of a loop.

use super::{Capabilities, Conditions, ForwardProgress, Kind, Orientation, tuning};

pub(super) fn capabilities() -> Capabilities {
    Capabilities {
        name: "cpu".into(),
        kind: Kind::Host,
        waves: vec![4, 8, 16, 32, 64],
        forward_progress: ForwardProgress::TicketOrdered,
        max_shared_bytes: 256 << 10,
        // Each is a loop, as everything is.
        collectives: "all",
        // libm's.
        functions: "all",
        orientation: Orientation::Latency,
        conditions: Conditions::OnDevice,
        is_measured: false,
        tunings: tuning::sm_90(),
        has_i64: true,
        has_f64: true,
    }
}
