//! Code on the device: a module, and a pipeline for each of its bodies, created when
//! a kernel first needs it.

use super::{barriers, cache::Cache, device::Device, modes, spirv, words::failed, words::reason};
use crate::Error;
use ash::vk;
use std::{
    collections::HashMap,
    ffi::CString,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

/// Bytes of push constants: the address of a launch's kernel arguments.
const PUSHED: u32 = 8;

/// A body's subgroups.
#[derive(Clone, Copy)]
pub(super) struct Size {
    /// Their lanes.
    pub wave: u32,
    /// What a pipeline asks for, where there is a choice.
    pub asked: Option<u32>,
}

/// The bodies of a module.
pub(super) struct Code {
    declared: spirv::Module,
    module: vk::ShaderModule,
    pub layout: vk::PipelineLayout,
    cache: Cache,
    sizes: HashMap<String, Size>,
    pipelines: Mutex<HashMap<String, vk::Pipeline>>,
    device: Arc<Device>,
}

impl Code {
    /// Hands a module that the device can run to its driver.
    pub fn new(
        device: &Arc<Device>,
        binary: &[u8],
        declared: spirv::Module,
        sizes: HashMap<String, Size>,
        cache: Option<&Path>,
    ) -> Result<Self, Error> {
        let words = modes::asked_for(spirv::words(binary)?, &declared, device);
        let words = barriers::suited(words, device.properties.v12.driver_id);
        let raw = &device.raw;
        let not_loaded = |e| Error::Load(reason(e));
        let pushed = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(PUSHED)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&pushed);
        let mut code = Self {
            declared,
            module: vk::ShaderModule::null(),
            layout: vk::PipelineLayout::null(),
            cache: Cache::open(device, cache, binary)
                .map_err(|e| failed("the cache of pipelines", e))?,
            sizes,
            pipelines: Mutex::default(),
            device: device.clone(),
        };
        // Safety: what the infos refer to outlives the calls; `drop` destroys
        // what was made, also when a later step fails.
        unsafe {
            code.layout = raw
                .create_pipeline_layout(&info, None)
                .map_err(not_loaded)?;
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            code.module = raw.create_shader_module(&info, None).map_err(not_loaded)?;
        }
        Ok(code)
    }

    /// The pipeline of a body of so many threads; else why there is none.
    pub fn pipeline(&self, body: &str, threads: u32) -> Result<vk::Pipeline, String> {
        let mut pipelines = self
            .pipelines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let size = self.check(body, threads)?;
        if let Some(pipeline) = pipelines.get(body) {
            return Ok(*pipeline);
        }
        let pipeline = self.compile(body, size)?;
        pipelines.insert(body.into(), pipeline);
        Ok(pipeline)
    }

    /// The body's subgroups, if the device can run a block of so many of its threads.
    fn check(&self, body: &str, threads: u32) -> Result<Size, String> {
        let (Some(entry), Some(size)) = (self.declared.entries.get(body), self.sizes.get(body))
        else {
            return Err(format!("symbol '{body}' is in no module"));
        };
        let local = entry.local_size;
        if local != [threads, 1, 1] {
            return Err(format!(
                "'{body}' was compiled for blocks of {} threads",
                local.map(|extent| extent.to_string()).join(" x ")
            ));
        }
        let limits = &self.device.properties.base.limits;
        let most = limits
            .max_compute_work_group_invocations
            .min(limits.max_compute_work_group_size[0]);
        if threads > most {
            return Err(format!(
                "{} takes at most {most} threads in a block",
                self.device.name
            ));
        }
        if threads == 0 || !threads.is_multiple_of(size.wave) {
            return Err(format!(
                "its blocks are not made of full subgroups of {}",
                size.wave
            ));
        }
        self.device.subgroups.check_block(size.asked, threads)?;
        Ok(*size)
    }

    fn compile(&self, body: &str, of: Size) -> Result<vk::Pipeline, String> {
        let _span = tracing::info_span!("driver compiles", body).entered();
        let name = CString::new(body).map_err(|_| format!("no symbol '{body}'"))?;
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module)
            .name(&name);
        if let Some(asked) = of.asked {
            size.required_subgroup_size = asked;
            stage = stage.push_next(&mut size);
        }
        let info = vk::ComputePipelineCreateInfo::default()
            // For the blocks after the last full row.
            .flags(vk::PipelineCreateFlags::DISPATCH_BASE)
            .stage(stage)
            .layout(self.layout);
        // Safety: the module has the entry point, and needs nothing that the
        // device lacks.
        let made = unsafe {
            self.device
                .raw
                .create_compute_pipelines(self.cache.raw, &[info], None)
        };
        match made.as_deref() {
            Ok([pipeline]) => Ok(*pipeline),
            Ok(_) => Err(reason(vk::Result::ERROR_UNKNOWN)),
            Err((_, error)) => Err(format!(
                "the driver does not compile '{body}': {}",
                reason(*error)
            )),
        }
    }

    /// Whether the module has a body of that name.
    pub fn has(&self, body: &str) -> bool {
        self.sizes.contains_key(body)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let pipelines = self
            .pipelines
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if !pipelines.is_empty() && !self.device.is_lost() {
            self.cache.save(&self.device);
        }
        let raw = &self.device.raw;
        // Safety: commands hold the code that they run until they have been done.
        unsafe {
            for pipeline in pipelines.values() {
                raw.destroy_pipeline(*pipeline, None);
            }
            raw.destroy_pipeline_cache(self.cache.raw, None);
            raw.destroy_shader_module(self.module, None);
            raw.destroy_pipeline_layout(self.layout, None);
        }
    }
}
