//! The Vulkan devices that can run compiled modules, in order of preference: discrete
//! GPUs first.

use super::{
    capabilities::{OPERATIONS, REQUIRED},
    features::{Extensions, Features, Properties},
    instance::Instance,
    subgroup::Sizes,
    words::{failed, version},
};
use crate::Error;
use ash::vk::{self, PhysicalDeviceType as Type};
use std::ffi::CString;

/// A device as the loader shows it.
pub(super) struct Candidate {
    pub raw: vk::PhysicalDevice,
    pub properties: Properties,
    pub features: Features,
    pub extensions: Extensions,
    /// The queue family that is used.
    pub family: Option<Family>,
}

/// A family of queues that compute.
#[derive(Clone, Copy)]
pub(super) struct Family {
    pub index: u32,
    /// The bits of its timestamps that count.
    pub clock_bits: u32,
    pub queues: u32,
}

/// The devices that will do, the best first.
pub(super) fn candidates(instance: &Instance) -> Result<Vec<Candidate>, Error> {
    // Safety: the instance exists.
    let devices = unsafe { instance.raw.enumerate_physical_devices() }
        .map_err(|e| failed("listing Vulkan devices", e))?;
    let mut refusals = Vec::new();
    let mut found: Vec<Candidate> = Vec::new();
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
        found.push(candidate);
    }
    if found.is_empty() {
        return Err(Error::Device(match refusals.is_empty() {
            true => "there is no Vulkan device".into(),
            false => format!("no Vulkan device is suitable: {}", refusals.join("; ")),
        }));
    }
    // Equals stay as they are: the loader's order is the user's.
    found.sort_by_key(Candidate::rank);
    Ok(found)
}

impl Candidate {
    /// A device of Vulkan 1.3 or later: of others not even that can be asked.
    fn new(instance: &ash::Instance, raw: vk::PhysicalDevice) -> Result<Self, String> {
        // Safety: the device exists.
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
        // Safety: the device exists.
        let offered = unsafe { instance.enumerate_device_extension_properties(raw) };
        let extensions: Extensions = offered
            .map_err(|e| failed("listing extensions", e).to_string())?
            .iter()
            .filter_map(|extension| extension.extension_name_as_c_str().ok())
            .map(CString::from)
            .collect();
        // Safety: the device exists.
        let families = unsafe { instance.get_physical_device_queue_family_properties(raw) };
        let family = (0..)
            .zip(&families)
            .filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .map(|(index, family)| Family {
                index,
                clock_bits: family.timestamp_valid_bits,
                queues: family.queue_count,
            })
            // The first of those that can tell the time.
            .min_by_key(|family| family.clock_bits == 0);
        Ok(Self {
            raw,
            properties: Properties::query(instance, raw),
            features: Features::query(instance, raw, &extensions),
            extensions,
            family,
        })
    }

    /// The features it lacks.
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
            lacks.push("control of the subgroup size, which varies".into());
        }
        if self.family.is_none() {
            lacks.push("a compute queue".into());
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
