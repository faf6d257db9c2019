//! Vulkan devices.
//!
//! Modules are SPIR-V with an entry point per body. There are no
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
    program::{self, Program},
    validate::{body_names, validate},
};
use device::Device;
use memory::Copies;
use pipeline::{Code, Size};
use qd_artifact::{Artifact, Body, Format};
use run::InMemory;
use std::{collections::HashMap, path::PathBuf, sync::Arc};
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
        let takes = |target: &str| api_version(target).is_some();
        let program = Program::new(artifact, || "a Vulkan device".into(), takes)?;
        let target = program.target();
        let _span = tracing::info_span!("load", target).entered();
        validate(program)?;
        let device = Device::shared()?;
        let has = device.properties.base.api_version;
        if Some(has) < api_version(target) {
            return Err(Error::Device(format!(
                "the artifact is for target '{target}', but {} has Vulkan {}",
                device.name,
                version(has)
            )));
        }
        // A plan of fills alone has no code.
        let code = match body_names(program).is_empty() {
            true => Vec::new(),
            false => self.code(program, &device)?,
        };
        Ok(Box::new(OnDevice {
            loaded: program.without_code(),
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
    fn code(&self, program: Program<'_>, device: &Arc<Device>) -> Result<Vec<Code>, Error> {
        let code = program
            .modules_of(Format::Spirv)?
            .into_iter()
            .map(|module| {
                let declared = spirv::Module::read(&spirv::words(module.bytes())?)?;
                for needs in program.needs() {
                    capabilities::check(needs, &declared, &device.features, &device.properties)?;
                }
                let mut sizes = HashMap::new();
                for Body { name, wave } in &module.bodies {
                    if !declared.entries.contains_key(name) {
                        return Err(Error::Load(format!("there is no symbol '{name}'")));
                    }
                    let asked = device.subgroups.ask(*wave, &device.name, program.target());
                    let asked = asked.map_err(Error::Device)?;
                    sizes.insert(name.clone(), Size { wave: *wave, asked });
                }
                let cache = self.cache.as_deref();
                Code::new(device, module.bytes(), declared, sizes, cache)
            });
        code.collect()
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
    loaded: program::Loaded,
    /// Of each module.
    code: Vec<Code>,
    copies: Copies,
    device: Arc<Device>,
}

impl Loaded for OnDevice {
    fn artifact(&self) -> &Artifact {
        &self.loaded.artifact
    }

    fn prepare<'a>(
        &'a self,
        kernel: &str,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Box<dyn Prepared + 'a>, Error> {
        let planned = self.loaded.kernel(kernel)?;
        let _span = tracing::debug_span!("prepare", kernel).entered();
        argument::check(planned.kernel, arguments)?;
        Ok(Box::new(InMemory::new(self, planned, arguments, options)?))
    }
}
