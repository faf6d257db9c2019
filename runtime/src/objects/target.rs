//! Which device is for a target, as `--target=` spells targets.

use super::{Device, DeviceId};
use crate::Error;

/// What `vulkan:1.3,subgroup=8` begins with.
fn family(target: &str) -> &str {
    target.split([',', ':']).next().unwrap_or_default()
}

impl DeviceId {
    /// The first of the devices that run what is compiled for a target.
    ///
    /// # Errors
    ///
    /// No device does: the message lists the targets that can be run.
    pub fn for_target(target: &str) -> Result<Self, Error> {
        let driver = match family(target) {
            "cpu" => "cpu",
            "nvptx" => "cuda",
            "vulkan" | "metal" => "vulkan",
            _ => {
                return Err(Error::NoDriver {
                    target: target.into(),
                    known: vec!["cpu", "nvptx", "vulkan"],
                });
            }
        };
        Ok(Self {
            driver: driver.into(),
            ordinal: 0,
        })
    }
}

impl Device {
    /// A target with what the compiler has to know of this device: `vulkan:1.3` is
    /// `vulkan:1.3,subgroup=8` where subgroups have 8 lanes. What it says itself stays.
    pub fn resolve(&self, target: &str) -> String {
        resolved(target, &self.info().target)
    }
}

/// Whether no device has to be asked what to compile for a target: Vulkan's say how many lanes
/// their subgroups have.
pub(super) fn says_all(target: &str) -> bool {
    let says_lanes = || {
        target
            .split(',')
            .any(|part| part.trim().starts_with("subgroup="))
    };
    family(target) != "vulkan" || says_lanes()
}

/// A target with the options of another, if both are of a family.
fn resolved(target: &str, own: &str) -> String {
    fn options(target: &str) -> impl Iterator<Item = &str> {
        target.split(',').skip(1)
    }
    fn name(option: &str) -> &str {
        option.split('=').next().unwrap_or_default()
    }
    let mut resolved = target.to_string();
    if family(own) == family(target) {
        let is_said = |option: &&str| options(target).any(|said| name(said) == name(option));
        for option in options(own).filter(|option| !is_said(option)) {
            resolved += ",";
            resolved += option;
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_a_device_or_is_answered_by_those_that_have_one() {
        let id = |target| DeviceId::for_target(target).map(|id| id.to_string());
        for (target, device) in [
            ("cpu,wave=32", "cpu"),
            ("nvptx:sm_90", "cuda:0"),
            ("vulkan:1.3,subgroup=8", "vulkan:0"),
            ("metal", "vulkan:0"),
        ] {
            assert_eq!(id(target).expect("a device"), device);
        }
        assert_eq!(
            id("abacus").expect_err("none").to_string(),
            "no driver for target 'abacus': the targets that can be run are cpu, nvptx, vulkan"
        );
    }

    #[test]
    fn a_target_says_all_unless_its_device_has_lanes_to_say() {
        for target in ["cpu", "nvptx:sm_90", "vulkan:1.3,subgroup=8", "metal"] {
            assert!(says_all(target), "{target}");
            // What a device would add is nothing.
            assert_eq!(resolved(target, "vulkan:1.3,subgroup=8"), target);
        }
        assert!(!says_all("vulkan:1.3"));
    }

    #[test]
    fn a_target_takes_from_its_device_what_it_does_not_say() {
        let own = "vulkan:1.3,subgroup=8";
        assert_eq!(resolved("vulkan:1.2", own), "vulkan:1.2,subgroup=8");
        assert_eq!(
            resolved("vulkan:1.3,subgroup=32", own),
            "vulkan:1.3,subgroup=32"
        );
        assert_eq!(resolved("metal", own), "metal");
        assert_eq!(resolved("cpu,wave=8", "cpu"), "cpu,wave=8");
    }
}
