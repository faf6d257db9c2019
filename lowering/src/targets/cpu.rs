//! The machine the compiler runs on: a thread is an iteration of a loop.

use super::{Capabilities, Conditions, Cores, ForwardProgress, Kind, tuning};

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
        cores: Cores::Few,
        conditions: Conditions::OnDevice,
        is_measured: false,
        tunings: tuning::sm_90(),
        has_i64: true,
        has_f64: true,
    }
}
