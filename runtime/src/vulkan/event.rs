//! Events: points in streams, with timestamps.

use super::{
    clock::Queries,
    device::Device,
    recording,
    timeline::{Point, Timeline, allocate},
};
use ash::vk::{self, PipelineStageFlags as Stage};
use std::{slice, sync::Arc};

/// A point in a stream whose time is taken.
pub(super) struct Event {
    pub point: Point,
    pub commands: vk::CommandBuffer,
    pool: vk::CommandPool,
    /// None where the device has no timestamps.
    pub queries: Option<Queries>,
    device: Arc<Device>,
}

impl Drop for Event {
    fn drop(&mut self) {
        // Safety: it is not in use.
        unsafe { self.device.raw.destroy_command_pool(self.pool, None) };
    }
}

impl Event {
    /// Of a stream, on which it is not yet.
    pub fn new(device: &Arc<Device>, on: &Arc<Timeline>) -> Result<Self, vk::Result> {
        let queries = Queries::new(device, 1)?;
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
        let mut event = Self {
            point: Point {
                timeline: on.clone(),
                value: 0,
            },
            commands: vk::CommandBuffer::null(),
            // Safety: the device exists.
            pool: unsafe { device.raw.create_command_pool(&info, None) }?,
            queries,
            device: device.clone(),
        };
        allocate(device, event.pool, slice::from_mut(&mut event.commands))?;
        recording::begin(device, event.commands)?;
        if let Some(queries) = &event.queries {
            let (raw, commands) = (&device.raw, event.commands);
            // Safety: the commands are being recorded.
            unsafe {
                raw.cmd_reset_query_pool(commands, queries.raw, 0, 1);
                raw.cmd_write_timestamp(commands, Stage::BOTTOM_OF_PIPE, queries.raw, 0);
            }
        }
        recording::end(device, event.commands)?;
        Ok(event)
    }
}
