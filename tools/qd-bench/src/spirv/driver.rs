//! A Vulkan device that compiles and runs nothing.

use anyhow::{Context, anyhow, ensure};
use ash::{Entry, khr, vk};
use std::{collections::BTreeMap, ffi::CString};

/// Bytes of push constants of our modules: the address of a launch's kernel arguments.
const PUSHED: u32 = 8;

/// The first device that the loader finds.
pub struct Driver {
    executables: khr::pipeline_executable_properties::Device,
    device: ash::Device,
    instance: ash::Instance,
    /// Owns the library.
    _entry: Entry,
}

/// A module that was handed to the driver.
pub struct Code<'a> {
    module: vk::ShaderModule,
    layout: vk::PipelineLayout,
    driver: &'a Driver,
}

impl Driver {
    /// Opens it, with every feature that Vulkan 1.3 has and it offers.
    pub fn open() -> anyhow::Result<Self> {
        // Safety: initialisers of the library are the vendor's. What infos refer to outlives the calls.
        let entry = unsafe { Entry::load() }.context("Vulkan's loader cannot be opened")?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance =
            // Safety: `info` and what it refers to live longer than the call.
            unsafe { entry.create_instance(&info, None) }.context("Vulkan does not start")?;
        // Safety: the instance exists.
        let devices = unsafe { instance.enumerate_physical_devices() }?;
        let physical = *devices.first().context("the loader finds no device")?;
        // Safety: the device is the instance's.
        let known = unsafe { instance.enumerate_device_extension_properties(physical) }?;
        let name = khr::pipeline_executable_properties::NAME;
        ensure!(
            known
                .iter()
                .any(|one| one.extension_name_as_c_str() == Ok(name)),
            "the device has no {}",
            name.to_string_lossy()
        );
        let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut executable = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut v11)
            .push_next(&mut v12)
            .push_next(&mut v13)
            .push_next(&mut executable);
        // Safety: the device is the instance's, and the chain has each structure once.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        let extensions = [name.as_ptr()];
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut features);
        // Safety: the device has the extension; what `info` refers to lives longer than the call.
        let device = unsafe { instance.create_device(physical, &info, None) }
            .context("the device cannot be opened")?;
        Ok(Self {
            executables: khr::pipeline_executable_properties::Device::new(&instance, &device),
            device,
            instance,
            _entry: entry,
        })
    }

    /// A module of the device, and how many bytes of push constants it has if not as many as ours.
    pub fn module(&self, words: &[u32], pushed: Option<u32>) -> anyhow::Result<Code<'_>> {
        let pushed = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(pushed.unwrap_or(PUSHED))];
        let layout = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&pushed);
        let module = vk::ShaderModuleCreateInfo::default().code(words);
        // Safety: the device exists, and what infos refer to outlives the calls.
        unsafe {
            Ok(Code {
                layout: self.device.create_pipeline_layout(&layout, None)?,
                module: self.device.create_shader_module(&module, None)?,
                driver: self,
            })
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Safety: what was made of it borrows it.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

impl Code<'_> {
    /// What the compiler says of an entry point in subgroups of `lanes`: its figures by name.
    pub fn said(&self, entry: &str, lanes: u32) -> anyhow::Result<BTreeMap<String, f64>> {
        let name = CString::new(entry)?;
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
            .required_subgroup_size(lanes);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS)
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module)
            .name(&name)
            .push_next(&mut size);
        let info = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR)
            .stage(stage)
            .layout(self.layout);
        let Driver {
            device,
            executables,
            ..
        } = self.driver;
        // Safety: the module has the entry point; what infos refer to outlives the calls.
        let made =
            unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let made = made.map_err(|(_, error)| anyhow!("'{entry}' is not compiled: {error}"))?;
        let pipeline = *made.first().context("there is no pipeline")?;
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        // Safety: the pipeline was made to be asked for its statistics.
        let said = unsafe { executables.get_pipeline_executable_statistics(&info) };
        // Safety: nothing runs it.
        unsafe { device.destroy_pipeline(pipeline, None) };
        let figures = said?.into_iter().map(|figure| {
            use vk::PipelineExecutableStatisticFormatKHR as Format;
            // Safety: the format says which of them it is.
            let value = unsafe {
                match figure.format {
                    Format::INT64 => figure.value.i64 as f64,
                    Format::UINT64 => figure.value.u64 as f64,
                    Format::FLOAT64 => figure.value.f64,
                    _ => f64::from(figure.value.b32),
                }
            };
            let name = figure.name_as_c_str()?.to_string_lossy().into_owned();
            Ok((name, value))
        });
        figures.collect()
    }
}

impl Drop for Code<'_> {
    fn drop(&mut self) {
        // Safety: no pipeline is left.
        unsafe {
            let device = &self.driver.device;
            device.destroy_shader_module(self.module, None);
            device.destroy_pipeline_layout(self.layout, None);
        }
    }
}
