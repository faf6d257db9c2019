//! lavapipe: a Vulkan device on the CPU, with subgroups as large as one asks for.

use std::process::Command;

use anyhow::Result;

use crate::drivers;

/// The sizes that everything is tested at.
pub const SUBGROUP_SIZES: [u32; 3] = [4, 8, 16];

/// Set to 1, it sends every SPIR-V module that is made through `spirv-val`.
pub const VALIDATE: &str = "QD_SPIRV_VAL";

/// Makes what a command runs on Vulkan run on lavapipe, with subgroups of `size`.
pub fn select(command: &mut Command, size: u32) {
    drivers::select(command, drivers::LAVAPIPE);
    // What a run of the tests finds must not depend on the one before it.
    command.env("QD_CACHE_DIR", "");
    widen(command, Some(size));
}

/// Gives lavapipe's subgroups a size, should a command run on it. No other device looks at this.
pub fn widen(command: &mut Command, size: Option<u32>) {
    // What its cache holds was compiled for the size that it had then.
    command.env("MESA_SHADER_CACHE_DISABLE", "true");
    // Most of a test's time is its optimiser's, which is not what is tested.
    command.env("GALLIVM_PERF", "nopt");
    if let Some(size) = size {
        // Lanes are 32 bits wide.
        command.env("LP_NATIVE_VECTOR_WIDTH", (32 * size).to_string());
    }
}

/// An error that says what to install, if lavapipe is not there.
pub fn is_there() -> Result<()> {
    drivers::is_there(drivers::LAVAPIPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_width_of_vectors() {
        let mut command = Command::new("true");
        select(&mut command, 8);
        let width = command
            .get_envs()
            .find(|(name, _)| *name == "LP_NATIVE_VECTOR_WIDTH");
        assert_eq!(width.and_then(|(_, value)| value), Some("256".as_ref()));
    }
}
