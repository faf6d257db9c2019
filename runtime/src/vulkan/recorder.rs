//! Where command buffers come from, and copies that are done at once.

use super::{device::Device, memory::Memory, recording};
use ash::vk;
use std::sync::Arc;

/// Where command buffers come from, and what says that one has been done.
pub(super) struct Recorder {
    pool: vk::CommandPool,
    fence: vk::Fence,
    pub device: Arc<Device>,
}

impl Recorder {
    pub fn new(device: &Arc<Device>) -> Result<Self, vk::Result> {
        let mut recorder = Self {
            pool: vk::CommandPool::null(),
            fence: vk::Fence::null(),
            device: device.clone(),
        };
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
        // Safety: `drop` destroys what was made, also when the second fails.
        unsafe {
            recorder.pool = device.raw.create_command_pool(&info, None)?;
            recorder.fence = device.raw.create_fence(&Default::default(), None)?;
        }
        Ok(recorder)
    }

    /// A command buffer that waits for all that was done before it.
    pub fn begin(&self) -> Result<vk::CommandBuffer, vk::Result> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // Safety: the pool is this thread's.
        let buffers = unsafe { self.device.raw.allocate_command_buffers(&info) }?;
        let [raw] = buffers[..] else {
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        recording::begin(&self.device, raw)?;
        Ok(raw)
    }

    /// What follows sees what was done before.
    pub fn barrier(&self, raw: vk::CommandBuffer) {
        recording::barrier(&self.device, raw);
    }

    /// The host sees what was done.
    pub fn end(&self, raw: vk::CommandBuffer) -> Result<(), vk::Result> {
        recording::end(&self.device, raw)
    }

    /// Has the device do what was recorded, and waits for its end.
    pub fn finish(&self, raw: vk::CommandBuffer) -> Result<(), vk::Result> {
        self.device.finish(raw, self.fence)
    }

    /// Copies bytes between buffers, now.
    pub fn copy(
        &self,
        (from, from_at): (&Memory, u64),
        (to, to_at): (&Memory, u64),
        bytes: u64,
    ) -> Result<(), vk::Result> {
        let raw = self.begin()?;
        let region = [vk::BufferCopy::default()
            .src_offset(from_at)
            .dst_offset(to_at)
            .size(bytes)];
        // Safety: the ranges are within the buffers; the commands have been done
        // when they are freed.
        unsafe {
            let device = &self.device.raw;
            device.cmd_copy_buffer(raw, from.buffer(), to.buffer(), &region);
            self.end(raw)?;
            self.finish(raw)?;
            device.free_command_buffers(self.pool, &[raw]);
        }
        Ok(())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // Safety: runs end before they return. Buffers go with their pool.
        unsafe {
            self.device.raw.destroy_fence(self.fence, None);
            self.device.raw.destroy_command_pool(self.pool, None);
        }
    }
}
