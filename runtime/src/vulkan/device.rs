//! Logical devices. A process has one of each, however many artifacts it loads, with every
//! feature enabled that modules may use: a logical device costs far more than unused features.

use super::{
    capabilities,
    choice::{Candidate, candidates},
    clock::Clock,
    features::{EXTENSIONS, Extensions, Features, Properties},
    instance::Instance,
    subgroup::Sizes,
    words::failed,
};
use crate::Error;
use ash::vk;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// Queues that are used, if the device has as many: streams on one of them wait for one
/// another.
const QUEUES: u32 = 4;

/// A device, and its queues.
pub(super) struct Device {
    pub raw: ash::Device,
    pub name: String,
    pub properties: Properties,
    /// The enabled features: all that are useful and available.
    pub features: Features,
    pub memory: vk::PhysicalDeviceMemoryProperties,
    pub subgroups: Sizes,
    pub family: u32,
    pub clock: Option<Clock>,
    /// One thread at a time may use each.
    queues: Vec<Mutex<vk::Queue>>,
    lost: AtomicBool,
    pub instance: Arc<Instance>,
}

/// How many devices there are, at least one.
pub(crate) fn count() -> Result<u32, Error> {
    Ok(candidates(&*Instance::shared()?)?.len() as u32)
}

impl Device {
    /// Bytes of its own memory.
    pub fn local_bytes(&self) -> u64 {
        let heaps = self.memory.memory_heaps_as_slice().iter();
        let local = heaps.filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
        local.map(|heap| heap.size).sum()
    }

    /// The process's device of that number, the best being the first; another one if it was
    /// lost.
    pub fn at(ordinal: u32) -> Result<Arc<Self>, Error> {
        static OPEN: Mutex<Option<HashMap<u32, Arc<Device>>>> = Mutex::new(None);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_default();
        if let Some(device) = open.get(&ordinal).filter(|device| !device.is_lost()) {
            return Ok(device.clone());
        }
        let device = Arc::new(Self::open(ordinal)?);
        open.insert(ordinal, device.clone());
        Ok(device)
    }

    fn open(ordinal: u32) -> Result<Self, Error> {
        let instance = Instance::shared()?;
        let mut found = candidates(&instance)?;
        if ordinal as usize >= found.len() {
            let names: Vec<_> = found.iter().map(|one| one.properties.name()).collect();
            return Err(Error::Device(format!(
                "there is no Vulkan device {ordinal}: the suitable ones are, from 0 on, {}",
                names.join(", ")
            )));
        }
        let Candidate {
            raw: physical,
            properties,
            features,
            extensions,
            family,
        } = found.swap_remove(ordinal as usize);
        let Some(family) = family else {
            return Err(Error::Device("no Vulkan device supports compute".into()));
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
        let count = family.queues.clamp(1, QUEUES);
        let priorities = vec![1.0; count as usize];
        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family.index)
            .queue_priorities(&priorities)];
        let mut chain = features.chain(&extensions);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut chain);
        // Safety: what `info` refers to outlives the call.
        let raw = unsafe { instance.raw.create_device(physical, &info, None) }
            .map_err(|e| failed(&name, e))?;
        // Safety: as many were asked for.
        let queue = |i| Mutex::new(unsafe { raw.get_device_queue(family.index, i) });
        let queues = (0..count).map(queue).collect();
        // Safety: the device exists.
        let memory = unsafe { instance.raw.get_physical_device_memory_properties(physical) };
        Ok(Self {
            raw,
            name,
            memory,
            subgroups: Sizes::of(&properties),
            family: family.index,
            clock: Clock::new(family.clock_bits, &properties),
            properties,
            features,
            queues,
            lost: AtomicBool::new(false),
            instance,
        })
    }

    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Remembers that the device was lost, if that is why something failed.
    pub fn noted<T>(&self, outcome: Result<T, vk::Result>) -> Result<T, vk::Result> {
        if matches!(outcome, Err(vk::Result::ERROR_DEVICE_LOST)) {
            self.lost.store(true, Ordering::Relaxed);
        }
        outcome
    }

    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    fn queue(&self, number: usize) -> MutexGuard<'_, vk::Queue> {
        self.queues[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was recorded onto a queue.
    ///
    /// # Safety
    ///
    /// What the submission refers to lives until it has been done.
    pub unsafe fn submit(
        &self,
        queue: usize,
        submit: vk::SubmitInfo<'_>,
        fence: vk::Fence,
    ) -> Result<(), vk::Result> {
        let queue = self.queue(queue);
        // Safety: the queue is locked; else by contract.
        self.noted(unsafe { self.raw.queue_submit(*queue, &[submit], fence) })
    }

    /// Waits until the device does nothing.
    pub fn idle(&self) {
        let _queues: Vec<_> = (0..self.queues()).map(|i| self.queue(i)).collect();
        // Safety: all queues are locked. A failure cannot be reported.
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
