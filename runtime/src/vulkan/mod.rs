//! Vulkan devices.
//!
//! The binary is a SPIR-V module with an entry point per body. There are no
//! descriptors: a body is pushed the address of its words, which are the number
//! of blocks and [`Launch::words`](crate::actions::Launch::words). Preparing a
//! kernel copies its arguments to the device and records its actions, which runs
//! replay; the host goes round loops. Where each action is to be timed, each is
//! recorded and waited for by itself.

mod barriers;
mod cache;
mod capabilities;
mod choice;
mod clock;
mod commands;
mod device;
mod features;
mod fill;
mod hazards;
mod instance;
mod memory;
mod modes;
mod pipeline;
mod plan;
mod recorder;
mod run;
mod spirv;
mod subgroup;
mod words;

#[cfg(test)]
mod tests;

use crate::{
    Argument, Driver, Error, Loaded, Options, Prepared, argument,
    validate::{body_names, validate},
};
use device::Device;
use memory::Copies;
use pipeline::Code;
use qd_artifact::Artifact;
use run::InMemory;
use std::{path::PathBuf, sync::Arc};
use words::version;

/// Drives the best Vulkan device.
pub(crate) struct Vulkan {
    copies: Copies,
    /// Where what its driver compiles is kept, if anywhere.
    cache: Option<PathBuf>,
}

impl Default for Vulkan {
    fn default() -> Self {
        Self {
            copies: Copies::Direct,
            cache: cache::directory(),
        }
    }
}

impl Driver for Vulkan {
    fn load(&self, artifact: &Artifact) -> Result<Box<dyn Loaded>, Error> {
        let _span = tracing::info_span!("load", target = artifact.target).entered();
        let wanted = api_version(&artifact.target).ok_or_else(|| Error::OtherTarget {
            artifact: artifact.target.clone(),
            driver: "a Vulkan device",
        })?;
        validate(artifact)?;
        let device = Device::shared()?;
        let has = device.properties.base.api_version;
        if has < wanted {
            return Err(Error::Device(format!(
                "the artifact is for target '{}', but {} has Vulkan {}",
                artifact.target,
                device.name,
                version(has)
            )));
        }
        // A plan of fills alone has no code.
        let code = match body_names(artifact).is_empty() {
            true => None,
            false => Some(self.code(artifact, &device)?),
        };
        Ok(Box::new(OnDevice {
            artifact: Artifact {
                binary: Vec::new(),
                ..artifact.clone()
            },
            code,
            copies: self.copies,
            device,
        }))
    }

    /// With the subgroup size that the device has, or takes by itself.
    fn resolve(&self, target: &str) -> Result<String, Error> {
        let has_size = |option: &str| option.starts_with("subgroup=");
        // Metal-class devices have one size.
        if target.starts_with("metal") || target.split(',').any(has_size) {
            return Ok(target.into());
        }
        let device = Device::shared()?;
        Ok(format!("{target},subgroup={}", device.subgroups.usual))
    }
}

impl Vulkan {
    fn code(&self, artifact: &Artifact, device: &Arc<Device>) -> Result<Code, Error> {
        let declared = spirv::Module::read(&spirv::words(&artifact.binary)?)?;
        let (features, properties) = (&device.features, &device.properties);
        capabilities::check(&artifact.requirements, &declared, features, properties)?;
        let asked = device
            .subgroups
            .ask(artifact.wave, &device.name, &artifact.target)
            .map_err(Error::Device)?;
        let sizes = (artifact.wave, asked);
        let cache = self.cache.as_deref();
        let code = Code::new(device, &artifact.binary, declared, sizes, cache)?;
        match body_names(artifact)
            .into_iter()
            .find(|name| !code.has(name))
        {
            Some(name) => Err(Error::Load(format!("there is no symbol '{name}'"))),
            None => Ok(code),
        }
    }
}

/// `vulkan:1.3,subgroup=8` is 1.3, as Vulkan packs it; `metal` is the part of 1.3
/// that there is on Metal.
fn api_version(target: &str) -> Option<u32> {
    let name = target.split(',').next()?;
    if name == "metal" {
        return Some(ash::vk::API_VERSION_1_3);
    }
    let (major, minor) = name.strip_prefix("vulkan:")?.split_once('.')?;
    let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
    Some(ash::vk::make_api_version(0, major, minor, 0))
}

/// An artifact on a device.
struct OnDevice {
    artifact: Artifact,
    code: Option<Code>,
    copies: Copies,
    device: Arc<Device>,
}

impl Loaded for OnDevice {
    fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    fn prepare<'a>(
        &'a self,
        kernel: &str,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Box<dyn Prepared + 'a>, Error> {
        let kernel = self.kernel(kernel)?;
        let _span = tracing::debug_span!("prepare", kernel = kernel.name).entered();
        argument::check(kernel, arguments)?;
        Ok(Box::new(InMemory::new(self, kernel, arguments, options)?))
    }
}
