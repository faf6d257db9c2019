//! lavapipe: a Vulkan device on the CPU, with subgroups as large as one asks for.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

/// The sizes that everything is tested at.
pub const SUBGROUP_SIZES: [u32; 3] = [4, 8, 16];

/// Where drivers are listed for the Vulkan loader.
const FOLDERS: &[&str] = &["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// Set to 1, it sends every SPIR-V module that is made through `spirv-val`.
pub const VALIDATE: &str = "QD_SPIRV_VAL";

/// Makes what a command runs on Vulkan run on lavapipe, with subgroups of `size`.
pub fn select(command: &mut Command, size: u32) {
    if let Some(driver) = driver() {
        command.env("VK_DRIVER_FILES", driver);
    }
    // What a run of the tests finds must not depend on the one before it.
    command.env("QD_CACHE_DIR", "");
    widen(command, Some(size));
}

/// Gives lavapipe's subgroups a size, should a command run on it. No other device looks at this.
pub fn widen(command: &mut Command, size: Option<u32>) {
    // What its cache holds was compiled for the size that it had then.
    command.env("MESA_SHADER_CACHE_DISABLE", "true");
    if let Some(size) = size {
        // Lanes are 32 bits wide.
        command.env("LP_NATIVE_VECTOR_WIDTH", (32 * size).to_string());
    }
}

/// An error that says what to install, if lavapipe is not there.
pub fn is_there() -> Result<()> {
    ensure!(
        driver().is_some(),
        "there is no lvp_icd*.json in {}: it comes with Mesa's Vulkan drivers, which `cargo xtask \
         setup` installs",
        FOLDERS.join(" or ")
    );
    Ok(())
}

/// lavapipe's entry in the loader's list, whatever architecture its name has.
fn driver() -> Option<PathBuf> {
    FOLDERS.iter().find_map(|folder| {
        let entries = Path::new(folder).read_dir().ok()?;
        entries.flatten().map(|entry| entry.path()).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("lvp_icd") && name.ends_with(".json")
        })
    })
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
