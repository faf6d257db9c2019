//! Devices by target, as `--target=` spells targets.

use super::{Device, DeviceId};
use crate::Error;
use qd_artifact::TargetSpec;

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
            "amdgpu" => "hip",
            "vulkan" | "metal" => "vulkan",
            _ => {
                return Err(Error::NoDriver {
                    target: target.into(),
                    known: vec!["cpu", "nvptx", "amdgpu", "vulkan", "metal"],
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
    /// The target to compile for so that the code runs here.
    pub fn target(&self) -> &TargetSpec {
        &self.info().target
    }

    /// Completes a target for this device: `vulkan:1.3` becomes `vulkan:1.3,subgroup=8` where
    /// subgroups have 8 lanes. Given options stay.
    pub fn resolve(&self, target: &TargetSpec) -> TargetSpec {
        resolved(target, self.target())
    }
}

/// Whether a target is complete without a device: Vulkan's lack the number of lanes in a
/// subgroup.
pub(super) fn says_all(target: &TargetSpec) -> bool {
    let mut options = target.options();
    family(target.name()) != "vulkan" || options.any(|option| option.starts_with("subgroup="))
}

/// A target with the options of another, if both are of a family.
fn resolved(target: &TargetSpec, own: &TargetSpec) -> TargetSpec {
    fn name(option: &str) -> &str {
        option.split('=').next().unwrap_or_default()
    }
    if family(own.name()) != family(target.name()) {
        return target.clone();
    }
    let is_said = |option: &&str| target.options().any(|said| name(said) == name(option));
    let missing = own.options().filter(|option| !is_said(option));
    missing.fold(target.clone(), TargetSpec::with)
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
            ("amdgpu:gfx942,wave=64", "hip:0"),
            ("vulkan:1.3,subgroup=8", "vulkan:0"),
            ("metal", "vulkan:0"),
        ] {
            assert_eq!(id(target).expect("a device"), device);
        }
        assert_eq!(
            id("abacus").expect_err("none").to_string(),
            "no driver for target 'abacus': the targets that can be run are cpu, nvptx, amdgpu, vulkan, metal"
        );
    }

    fn spec(text: &str) -> TargetSpec {
        text.parse().expect("a target")
    }

    #[test]
    fn a_target_says_all_unless_its_device_has_lanes_to_say() {
        for target in ["cpu", "nvptx:sm_90", "vulkan:1.3,subgroup=8", "metal"] {
            let target = spec(target);
            assert!(says_all(&target), "{target}");
            // What a device would add is nothing.
            assert_eq!(resolved(&target, &spec("vulkan:1.3,subgroup=8")), target);
        }
        assert!(!says_all(&spec("vulkan:1.3")));
    }

    #[test]
    fn a_target_takes_from_its_device_what_it_does_not_say() {
        for (target, own, expected) in [
            (
                "vulkan:1.2",
                "vulkan:1.3,subgroup=8",
                "vulkan:1.2,subgroup=8",
            ),
            (
                "vulkan:1.3,subgroup=32",
                "vulkan:1.3,subgroup=8",
                "vulkan:1.3,subgroup=32",
            ),
            ("metal", "vulkan:1.3,subgroup=8", "metal"),
            ("cpu,wave=8", "cpu", "cpu,wave=8"),
        ] {
            assert_eq!(resolved(&spec(target), &spec(own)), spec(expected));
        }
    }
}
