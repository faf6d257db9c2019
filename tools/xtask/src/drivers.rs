//! Drivers of Mesa's, as the Vulkan loader lists them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

/// Where drivers are listed for the Vulkan loader.
const FOLDERS: &[&str] = &["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// What the list's entry for lavapipe begins with: Vulkan on the CPU.
pub const LAVAPIPE: &str = "lvp_icd";

/// What the entry for RADV begins with, which compiles for AMD's chips without one.
pub const RADEON: &str = "radeon_icd";

/// Makes a driver the only one that a command finds, if it is there.
pub fn select(command: &mut Command, name: &str) {
    if let Some(driver) = entry(name) {
        command.env("VK_DRIVER_FILES", driver);
    }
    // What its cache holds was compiled for what there was then.
    command.env("MESA_SHADER_CACHE_DISABLE", "true");
}

/// An error that says what to install, if a driver is not there.
pub fn is_there(name: &str) -> Result<()> {
    ensure!(
        entry(name).is_some(),
        "there is no {name}*.json in {}: it comes with Mesa's Vulkan drivers, which `cargo xtask \
         setup` installs",
        FOLDERS.join(" or ")
    );
    Ok(())
}

/// A driver's entry in the loader's list, whatever architecture its name has.
fn entry(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().find_map(|folder| {
        let entries = Path::new(folder).read_dir().ok()?;
        entries.flatten().map(|entry| entry.path()).find(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(name) && file.ends_with(".json")
        })
    })
}
