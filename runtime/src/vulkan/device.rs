//! The device that is used. A process has one, however many artifacts it loads,
//! and everything that modules may ask for is switched on there: a logical
//! device costs far more than what is switched on and not used.

use super::{
    capabilities,
    choice::{Candidate, choose},
    clock::Clock,
    features::{EXTENSIONS, Extensions, Features, Properties},
    instance::Instance,
    subgroup::Sizes,
    words::failed,
};
use crate::Error;
use ash::vk;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// A device, and the queue that everything goes through.
pub(super) struct Device {
    pub raw: ash::Device,
    pub name: String,
    pub properties: Properties,
    /// What is switched on, which is all of use that it offers.
    pub features: Features,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    pub subgroups: Sizes,
    pub family: u32,
    pub clock: Option<Clock>,
    /// One thread at a time may use it.
    queue: Mutex<vk::Queue>,
    lost: AtomicBool,
    pub instance: Arc<Instance>,
}

impl Device {
    /// The process's device; another one if it was lost.
    pub fn shared() -> Result<Arc<Self>, Error> {
        static SHARED: Mutex<Option<Arc<Device>>> = Mutex::new(None);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = shared.as_ref().filter(|device| !device.is_lost()) {
            return Ok(device.clone());
        }
        Ok(shared.insert(Arc::new(Self::open()?)).clone())
    }

    fn open() -> Result<Self, Error> {
        let instance = Instance::shared()?;
        let Candidate {
            raw: physical,
            properties,
            features,
            extensions,
            family,
        } = choose(&instance)?;
        let Some((family, bits)) = family else {
            return Err(Error::Device("no Vulkan device computes".into()));
        };
        let name = properties.name();
        tracing::debug!(device = name, "chosen");

        let mut features = capabilities::switched_on(&features);
        let extensions: Extensions = extensions
            .into_iter()
            .filter(|extension| {
                // Where it is offered, it has to be switched on.
                **extension == *ash::khr::portability_subset::NAME
                    || EXTENSIONS.contains(&extension.as_c_str())
            })
            .collect();
        let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&[1.0])];
        let mut chain = features.chain(&extensions);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut chain);
        // Safety: what `info` refers to outlives the call.
        let raw = unsafe { instance.raw.create_device(physical, &info, None) }
            .map_err(|e| failed(&name, e))?;
        // Safety: the queue was asked for.
        let queue = unsafe { raw.get_device_queue(family, 0) };
        // Safety: the device exists.
        let memory = unsafe { instance.raw.get_physical_device_memory_properties(physical) };
        Ok(Self {
            raw,
            name,
            memory,
            subgroups: Sizes::of(&properties),
            family,
            clock: Clock::new(bits, &properties),
            properties,
            features,
            queue: Mutex::new(queue),
            lost: AtomicBool::new(false),
            instance,
        })
    }

    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    fn noted<T>(&self, outcome: Result<T, vk::Result>) -> Result<T, vk::Result> {
        if matches!(outcome, Err(vk::Result::ERROR_DEVICE_LOST)) {
            self.lost.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// Has the device do what was recorded, and waits for its end: also if it
    /// fails, nothing is left to do. The fence is unsignalled, before and after.
    pub fn finish(&self, commands: vk::CommandBuffer, fence: vk::Fence) -> Result<(), vk::Result> {
        let commands = [commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        {
            let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            // Safety: the queue is locked, and nobody else has the fence.
            self.noted(unsafe { self.raw.queue_submit(*queue, &submits, fence) })?;
        }
        // Safety: the fence was submitted.
        let done = self.noted(unsafe { self.raw.wait_for_fences(&[fence], true, u64::MAX) });
        if done.is_err() {
            // What was submitted may be freed now.
            self.idle();
        }
        // Safety: nothing that was submitted is left.
        done.and(unsafe { self.raw.reset_fences(&[fence]) })
    }

    /// Waits until the device does nothing.
    fn idle(&self) {
        let _queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // Safety: the only queue is locked. Nobody is left to tell of a failure.
        let _ = self.noted(unsafe { self.raw.device_wait_idle() });
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.idle();
        // Safety: everything that is made of the device holds it.
        unsafe { self.raw.destroy_device(None) };
    }
}
