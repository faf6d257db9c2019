//! Conversions to targets: `qd_to_<target>`, one file or folder each.

pub mod descriptor;
pub mod memory;
pub mod qd_to_cpu;
pub mod qd_to_nvvm;
pub mod qd_to_spirv;
mod shared;

/// Makes the conversions reachable by name.
pub fn register() {
    qd_dialects::pass::register::<qd_to_cpu::ConvertToCpu>();
    qd_dialects::pass::register::<qd_to_nvvm::ConvertToNvvm>();
    qd_dialects::pass::register::<qd_to_spirv::ConvertToSpirv>();
    qd_dialects::pass::register::<qd_to_spirv::FinishSpirv>();
}
