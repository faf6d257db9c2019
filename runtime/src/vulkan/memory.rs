//! Memory of the device, for pools.

use super::{device::Device, words::reason};
use crate::Error;
use ash::vk::{self, MemoryPropertyFlags as Flags};
use std::{ptr, sync::Arc};

/// How data is copied to and from the device's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Copies {
    /// By the processor where it sees that memory through its caches, as on
    /// devices that share the host's; staged elsewhere.
    #[default]
    Direct,
    /// By the device, from and to memory that both see.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests take this way on any device")
    )]
    Staged,
}

/// Bytes of a buffer at least, so that an empty one has an address, too.
const LEAST: usize = 16;

/// A buffer on the device, and its memory.
pub(super) struct Memory {
    device: Arc<Device>,
    raw: vk::Buffer,
    memory: vk::DeviceMemory,
    pub address: u64,
    bytes: usize,
    /// Where the host sees it, or null.
    mapped: *mut u8,
}

/// Why there is no memory.
pub(super) enum Refusal {
    /// More than any buffer has on this device, which is that much.
    TooLarge(u64),
    Failed(vk::Result),
}

impl From<vk::Result> for Refusal {
    fn from(error: vk::Result) -> Self {
        Refusal::Failed(error)
    }
}

// Safety: the host's view of memory is of no thread; who uses it keeps the order.
unsafe impl Send for Memory {}
// Safety: as above.
unsafe impl Sync for Memory {}

impl Refusal {
    /// An error about `what` there was no memory for.
    pub fn into_error(self, what: &str, device: &Device) -> Error {
        match self {
            Refusal::TooLarge(limit) => Error::no_memory(format!(
                "{what}: a buffer of {} has at most {limit} bytes",
                device.name
            )),
            Refusal::Failed(
                error @ (vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
                | vk::Result::ERROR_OUT_OF_HOST_MEMORY
                | vk::Result::ERROR_TOO_MANY_OBJECTS),
            ) => Error::no_memory(format!("{what}: {}", reason(error))),
            Refusal::Failed(error) => Error::Device(format!("{what}: {}", reason(error))),
        }
    }
}

impl Memory {
    /// What kernels see, or is copied from and to.
    pub fn new(device: &Arc<Device>, bytes: usize, copies: Copies) -> Result<Self, Refusal> {
        let seen =
            Flags::DEVICE_LOCAL | Flags::HOST_VISIBLE | Flags::HOST_COHERENT | Flags::HOST_CACHED;
        let wanted: &[Flags] = match copies {
            Copies::Direct => &[seen, Flags::DEVICE_LOCAL, Flags::empty()],
            Copies::Staged => &[Flags::DEVICE_LOCAL, Flags::empty()],
        };
        Self::with(device, bytes, wanted, copies == Copies::Direct)
    }

    /// What the host writes and kernels read.
    pub fn words(device: &Arc<Device>, bytes: usize) -> Result<Self, Refusal> {
        let seen = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        Self::with(device, bytes, &[seen | Flags::DEVICE_LOCAL, seen], true)
    }

    /// What the host sees, to copy from and to.
    pub fn staging(device: &Arc<Device>, bytes: usize) -> Result<Self, Refusal> {
        let seen = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        Self::with(device, bytes, &[seen | Flags::HOST_CACHED, seen], true)
    }

    /// Memory of the first of these kinds that there is.
    fn with(
        device: &Arc<Device>,
        bytes: usize,
        wanted: &[Flags],
        map: bool,
    ) -> Result<Self, Refusal> {
        use vk::BufferUsageFlags as Usage;
        let usage = Usage::STORAGE_BUFFER
            | Usage::SHADER_DEVICE_ADDRESS
            | Usage::TRANSFER_SRC
            | Usage::TRANSFER_DST;
        let properties = &device.properties;
        let limit = (properties.v13.max_buffer_size).min(properties.v11.max_memory_allocation_size);
        // Of whole words: atomics of 8 and 16 bits compare and swap the word around.
        let bytes = bytes.max(LEAST).next_multiple_of(4);
        if bytes as u64 > limit {
            return Err(Refusal::TooLarge(limit));
        }
        let info = vk::BufferCreateInfo::default()
            .size(bytes as u64)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // Freed by `drop`, also when a later step fails.
        let mut memory = Self {
            device: device.clone(),
            // Safety: the size is within the device's limit.
            raw: unsafe { device.raw.create_buffer(&info, None) }?,
            memory: vk::DeviceMemory::null(),
            address: 0,
            bytes,
            mapped: ptr::null_mut(),
        };
        // Safety: the buffer exists.
        let needs = unsafe { device.raw.get_buffer_memory_requirements(memory.raw) };
        let (index, flags) = kind(&device.memory, needs.memory_type_bits, wanted)
            .ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)?;
        if needs.size > properties.v11.max_memory_allocation_size {
            return Err(Refusal::TooLarge(limit));
        }
        let mut addressed =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut addressed);
        // Safety: the memory is of a type that the buffer takes, and belongs to
        // it alone.
        unsafe {
            memory.memory = device.raw.allocate_memory(&info, None)?;
            device
                .raw
                .bind_buffer_memory(memory.raw, memory.memory, 0)?;
            if map && flags.contains(Flags::HOST_VISIBLE | Flags::HOST_COHERENT) {
                let whole = vk::WHOLE_SIZE;
                let at =
                    device
                        .raw
                        .map_memory(memory.memory, 0, whole, vk::MemoryMapFlags::empty())?;
                memory.mapped = at.cast();
            }
            let info = vk::BufferDeviceAddressInfo::default().buffer(memory.raw);
            memory.address = device.raw.get_buffer_device_address(&info);
        }
        Ok(memory)
    }

    /// The buffer, for commands.
    pub fn buffer(&self) -> vk::Buffer {
        self.raw
    }

    /// Where the host sees it, or null.
    pub fn mapped(&self) -> *mut u8 {
        self.mapped
    }

    pub fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// How far into the buffer an address is, if it is one of its.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.address)?;
        (offset < self.bytes as u64).then_some(offset)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // Safety: pools give back what is not in use any more. Freeing unmaps.
        unsafe {
            self.device.raw.destroy_buffer(self.raw, None);
            self.device.raw.free_memory(self.memory, None);
        }
    }
}

/// The first type that has all of the flags that are wanted most.
fn kind(
    memory: &vk::PhysicalDeviceMemoryProperties,
    allowed: u32,
    wanted: &[Flags],
) -> Option<(u32, Flags)> {
    let types = memory.memory_types_as_slice();
    wanted.iter().find_map(|flags| {
        let found = (0u32..)
            .zip(types)
            .find(|(i, kind)| allowed >> i & 1 == 1 && kind.property_flags.contains(*flags));
        found.map(|(i, kind)| (i, kind.property_flags))
    })
}
