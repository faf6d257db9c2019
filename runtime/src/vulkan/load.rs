//! Loading of modules: the targets that a device runs, and the checks of a module.

use super::{
    capabilities,
    device::Device,
    pipeline::{Code, Size},
    spirv,
};
use crate::{Error, program::Part};
use qd_artifact::{Body, Format};
use std::{collections::HashMap, path::Path, sync::Arc};

/// A module on a device that can run it.
pub(super) fn code(
    part: &Part<'_>,
    device: &Arc<Device>,
    cache: Option<&Path>,
) -> Result<Code, Error> {
    let code = part.code(Format::Spirv)?;
    let declared = spirv::Module::read(&spirv::words(code)?)?;
    capabilities::check_declared(&declared, &device.features, &device.properties)?;
    let mut sizes = HashMap::new();
    for Body { name, wave } in &part.module.bodies {
        if !declared.entries.contains_key(name) {
            return Err(Error::Load(format!("there is no symbol '{name}'")));
        }
        let asked = device.subgroups.ask(*wave, &device.name, part.target);
        let asked = asked.map_err(Error::Device)?;
        sizes.insert(name.clone(), Size { wave: *wave, asked });
    }
    Code::new(device, code, declared, sizes, cache)
}

/// `vulkan:1.3,subgroup=8` is 1.3, as Vulkan packs it; `metal` is the part of 1.3
/// that there is on Metal.
pub(super) fn api_version(target: &str) -> Option<u32> {
    let name = target.split(',').next()?;
    if name == "metal" {
        return Some(ash::vk::API_VERSION_1_3);
    }
    let (major, minor) = name.strip_prefix("vulkan:")?.split_once('.')?;
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    Some(ash::vk::make_api_version(0, major, minor, 0))
}

/// Whether the device runs code for a target: it has the version, and subgroups of the size
/// that the target names, if it names one.
pub(super) fn takes(device: &Device, target: &str) -> bool {
    let has = device.properties.base.api_version;
    let mut sizes = target
        .split(',')
        .filter_map(|option| option.strip_prefix("subgroup="));
    let fits = |size: &str| {
        let size = size.parse().map_err(|_| String::new());
        size.and_then(|size| device.subgroups.ask(size, &device.name, target))
            .is_ok()
    };
    api_version(target).is_some_and(|wanted| wanted <= has) && sizes.all(fits)
}
