//! The subgroup size: a property of the device, which some let a pipeline choose.

use super::features::Properties;
use ash::vk;

/// The sizes that a device's subgroups have in compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    /// What the device takes by itself.
    pub usual: u32,
    min: u32,
    max: u32,
    /// Whether a pipeline may ask for another.
    choosable: bool,
    /// Subgroups of a block, at most, where the size is asked for.
    max_subgroups: u32,
}

impl Sizes {
    pub fn of(properties: &Properties) -> Self {
        let v13 = &properties.v13;
        Self {
            usual: properties.v11.subgroup_size,
            min: v13.min_subgroup_size,
            max: v13.max_subgroup_size,
            choosable: v13
                .required_subgroup_size_stages
                .contains(vk::ShaderStageFlags::COMPUTE),
            max_subgroups: v13.max_compute_workgroup_subgroups,
        }
    }

    /// Those that code may be compiled for.
    pub fn all(&self) -> Vec<u32> {
        if !self.choosable {
            return vec![self.usual];
        }
        let doubled = |size: &u32| size.checked_mul(2);
        let sizes = std::iter::successors(Some(self.min), doubled);
        sizes.take_while(|size| *size <= self.max).collect()
    }

    /// Whether every pipeline's size is known: with modules of SPIR-V 1.6 it
    /// varies wherever it can.
    pub fn are_known(&self) -> bool {
        self.min == self.max || self.choosable
    }

    /// What a pipeline has to ask for to have subgroups of `wave`: nothing, where
    /// all have one size. On such devices asking would bring a limit on blocks
    /// that they do not have otherwise.
    pub fn ask(&self, wave: u32, device: &str, target: &str) -> Result<Option<u32>, String> {
        let asked = self.choosable && self.min < self.max;
        if asked && wave.is_power_of_two() && (self.min..=self.max).contains(&wave) {
            return Ok(Some(wave));
        }
        if !asked && wave == self.usual {
            return Ok(None);
        }
        let has = match asked {
            true => format!("{} to {}", self.min, self.max),
            false => self.usual.to_string(),
        };
        // Metal-class devices have one size, which their target is: it takes no other.
        let name = match target.split(',').next().unwrap_or(target) {
            "metal" => "vulkan:1.3",
            name => name,
        };
        Err(format!(
            "the artifact was compiled for subgroups of {wave}, but those of {device} have {has} \
             lanes: --target={name},subgroup={} would be right",
            self.usual
        ))
    }

    /// Whether blocks of so many threads can have subgroups of the size that was
    /// asked for.
    pub fn check_block(&self, asked: Option<u32>, threads: u32) -> Result<(), String> {
        let most = |size| u64::from(size) * u64::from(self.max_subgroups);
        match asked {
            Some(size) if u64::from(threads) > most(size) => Err(format!(
                "the device takes at most {} threads in blocks with subgroups of {size}",
                most(size)
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(min: u32, max: u32, choosable: bool) -> Sizes {
        Sizes {
            usual: max,
            min,
            max,
            choosable,
            max_subgroups: 32,
        }
    }

    #[test]
    fn a_size_is_asked_for_where_there_is_a_choice() {
        let ask = |sizes: Sizes, wave| sizes.ask(wave, "this device", "vulkan:1.3,subgroup=99");
        assert_eq!(ask(sizes(32, 64, true), 32), Ok(Some(32)));
        assert_eq!(ask(sizes(32, 64, true), 64), Ok(Some(64)));
        assert_eq!(ask(sizes(4, 4, true), 4), Ok(None));
        assert_eq!(ask(sizes(4, 4, false), 4), Ok(None));
        assert_eq!(
            ask(sizes(8, 8, true), 32).expect_err("another size"),
            "the artifact was compiled for subgroups of 32, but those of this device have 8 \
             lanes: --target=vulkan:1.3,subgroup=8 would be right"
        );
        let metal = sizes(8, 8, true).ask(32, "this device", "metal");
        let suggested = "--target=vulkan:1.3,subgroup=8 would be right";
        assert!(metal.expect_err("another size").ends_with(suggested));
        assert!(ask(sizes(32, 64, true), 16).is_err());
        assert!(ask(sizes(32, 64, true), 48).is_err());
    }

    #[test]
    fn sizes_that_vary_are_unknown() {
        assert!(!sizes(8, 32, false).are_known());
        assert!(sizes(8, 32, true).are_known());
        assert!(sizes(8, 8, false).are_known());
    }

    #[test]
    fn blocks_are_limited_where_a_size_is_asked_for() {
        assert!(sizes(4, 4, true).check_block(None, 256).is_ok());
        assert!(sizes(4, 64, true).check_block(Some(4), 256).is_err());
        assert!(sizes(4, 64, true).check_block(Some(8), 256).is_ok());
    }
}
