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
mod kernels;
mod load;
mod memory;
mod modes;
mod pipeline;
mod plan;
mod pool;
mod recorder;
mod recording;
mod replay;
mod resident;
mod run;
mod spirv;
mod subgroup;
mod timeline;
mod words;

#[cfg(test)]
mod tests;

use crate::{
    Argument, Driver, Error, Loaded, Options, Prepared, argument,
    program::{self, Program},
    validate::validate,
};
use device::Device;
use memory::Copies;
use pipeline::Code;
use qd_artifact::Artifact;
pub(crate) use resident::device;
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
        let takes = |target: &str| load::api_version(target).is_some();
        let program = Program::new(artifact, "a Vulkan device", takes)?;
        let target = program.target();
        let _span = tracing::info_span!("load", target).entered();
        validate(program)?;
        let device = Device::shared()?;
        let has = device.properties.base.api_version;
        if Some(has) < load::api_version(target) {
            return Err(Error::Device(format!(
                "the artifact is for target '{target}', but {} has Vulkan {}",
                device.name,
                version(has)
            )));
        }
        let code = load::code(program, &device, self.cache.as_deref())?;
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
