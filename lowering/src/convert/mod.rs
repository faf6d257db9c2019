//! Conversions to targets: `qd_to_<target>`, one file or folder each.

pub mod descriptor;
pub mod qd_to_cpu;

/// Makes the conversions reachable by name.
pub fn register() {
    qd_dialects::pass::register::<qd_to_cpu::ConvertToCpu>();
}
