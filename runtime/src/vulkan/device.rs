//! The device that is used: of those that can run what is compiled for Vulkan,
//! the one that is most of a GPU of its own.
//!
//! A process has one, however many artifacts it loads, and everything that
//! modules may ask for is switched on there: a logical device costs far more
//! than what is switched on and not used.

use super::{
    capabilities::{self, OPERATIONS, REQUIRED},
    features::{EXTENSIONS, Extensions, Features, Properties},
    instance::Instance,
    subgroup::Sizes,
    words::failed,
};
use crate::Error;
use ash::vk::{self, PhysicalDeviceType as Type};
use std::{
    ffi::CString,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
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

/// What the device's timestamps are.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// The bits that count.
    mask: u64,
    nanoseconds_per_tick: f32,
}

impl Clock {
    /// Time from one timestamp to a later one.
    pub fn between(self, begin: u64, end: u64) -> Duration {
        let ticks = end.wrapping_sub(begin) & self.mask;
        Duration::from_nanos((ticks as f64 * f64::from(self.nanoseconds_per_tick)) as u64)
    }
}

/// A device as the loader shows it.
struct Candidate {
    raw: vk::PhysicalDevice,
    properties: Properties,
    features: Features,
    extensions: Extensions,
    family: Option<(u32, u32)>,
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
        let candidate = choose(&instance)?;
        let Candidate {
            raw: physical,
            properties,
            features,
            extensions,
            family,
        } = candidate;
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
        let mask = 1u64.checked_shl(bits).map_or(u64::MAX, |above| above - 1);
        Ok(Self {
            raw,
            name,
            memory,
            subgroups: Sizes::of(&properties),
            family,
            clock: (bits > 0).then_some(Clock {
                mask,
                nanoseconds_per_tick: properties.base.limits.timestamp_period,
            }),
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

    /// Has the device do what was recorded, and waits for its end. The fence is
    /// unsignalled, before and after.
    pub fn finish(&self, commands: vk::CommandBuffer, fence: vk::Fence) -> Result<(), vk::Result> {
        let commands = [commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        {
            let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            // Safety: the queue is locked, and nobody else has the fence.
            self.noted(unsafe { self.raw.queue_submit(*queue, &submits, fence) })?;
        }
        // Safety: the fence was submitted.
        unsafe {
            self.noted(self.raw.wait_for_fences(&[fence], true, u64::MAX))?;
            self.raw.reset_fences(&[fence])
        }
    }

    /// Waits until the device does nothing, after something went wrong.
    pub fn idle(&self) {
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

/// The best of the devices that will do.
fn choose(instance: &Instance) -> Result<Candidate, Error> {
    // Safety: the instance exists.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }
        .map_err(|e| failed("listing Vulkan devices", e))?;
    let mut refusals = Vec::new();
    let mut best: Option<Candidate> = None;
    for raw in devices {
        let candidate = match Candidate::new(&instance.raw, raw) {
            Ok(candidate) => candidate,
            Err(refusal) => {
                refusals.push(refusal);
                continue;
            }
        };
        let lacks = candidate.lacks();
        if !lacks.is_empty() {
            let name = candidate.properties.name();
            refusals.push(format!("{name} lacks {}", lacks.join(", ")));
            continue;
        }
        // The first of equals: the loader's order is the user's.
        let better = best
            .as_ref()
            .is_none_or(|best| candidate.rank() < best.rank());
        if better {
            best = Some(candidate);
        }
    }
    best.ok_or_else(|| {
        Error::Device(match refusals.is_empty() {
            true => "there is no Vulkan device".into(),
            false => format!("no Vulkan device will do: {}", refusals.join("; ")),
        })
    })
}

impl Candidate {
    /// A device of Vulkan 1.3 or later: of others not even that can be asked.
    fn new(instance: &ash::Instance, raw: vk::PhysicalDevice) -> Result<Self, String> {
        // Safety, here and below: the device exists.
        let base = unsafe { instance.get_physical_device_properties(raw) };
        if base.api_version < vk::API_VERSION_1_3 {
            let name = Properties {
                base,
                ..Properties::default()
            }
            .name();
            return Err(format!(
                "{name} lacks Vulkan 1.3: it has {}",
                version(base.api_version)
            ));
        }
        let offered = unsafe { instance.enumerate_device_extension_properties(raw) };
        let extensions: Extensions = offered
            .map_err(|e| failed("listing extensions", e).to_string())?
            .iter()
            .filter_map(|extension| extension.extension_name_as_c_str().ok())
            .map(CString::from)
            .collect();
        let families = unsafe { instance.get_physical_device_queue_family_properties(raw) };
        let family = (0..)
            .zip(&families)
            .filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .map(|(index, family)| (index, family.timestamp_valid_bits))
            // The first of those that can tell the time.
            .min_by_key(|(_, bits)| *bits == 0);
        Ok(Self {
            raw,
            properties: Properties::query(instance, raw),
            features: Features::query(instance, raw, &extensions),
            extensions,
            family,
        })
    }

    /// What it would need to be taken.
    fn lacks(&self) -> Vec<String> {
        let mut lacks: Vec<String> = REQUIRED
            .iter()
            .filter(|feature| !(feature.has)(&self.features))
            .map(|feature| feature.name.into())
            .collect();
        let v11 = &self.properties.v11;
        if !v11
            .subgroup_supported_stages
            .contains(vk::ShaderStageFlags::COMPUTE)
        {
            lacks.push("subgroup operations in compute".into());
        }
        for (name, operation) in OPERATIONS {
            if !v11.subgroup_supported_operations.contains(*operation) {
                lacks.push(format!("subgroup operations {name}"));
            }
        }
        if !Sizes::of(&self.properties).are_known() {
            lacks.push("a choice of the subgroup size, which varies".into());
        }
        if self.family.is_none() {
            lacks.push("a queue that computes".into());
        }
        lacks
    }

    /// Less is better.
    fn rank(&self) -> usize {
        let order = [
            Type::DISCRETE_GPU,
            Type::INTEGRATED_GPU,
            Type::VIRTUAL_GPU,
            Type::CPU,
        ];
        let own = self.properties.base.device_type;
        order
            .iter()
            .position(|kind| *kind == own)
            .unwrap_or(order.len())
    }
}

/// `1.3`.
pub(super) fn version(packed: u32) -> String {
    format!(
        "{}.{}",
        vk::api_version_major(packed),
        vk::api_version_minor(packed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_wrap_at_the_bits_that_count() {
        let clock = Clock {
            mask: (1 << 36) - 1,
            nanoseconds_per_tick: 2.0,
        };
        let between = clock.between((1 << 36) - 10, 20);
        assert_eq!(between, Duration::from_nanos(60));
    }
}
