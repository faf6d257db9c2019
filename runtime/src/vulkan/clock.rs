//! Timestamps of the device.

use super::{device::Device, features::Properties};
use ash::vk;
use std::{sync::Arc, time::Duration};

/// What the device's timestamps are.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// The bits that count.
    mask: u64,
    nanoseconds_per_tick: f32,
}

impl Clock {
    /// None where none of a timestamp's bits count.
    pub fn new(bits: u32, properties: &Properties) -> Option<Self> {
        (bits > 0).then_some(Self {
            mask: 1u64.checked_shl(bits).map_or(u64::MAX, |above| above - 1),
            nanoseconds_per_tick: properties.base.limits.timestamp_period,
        })
    }

    /// Time from one timestamp to a later one.
    pub fn between(self, begin: u64, end: u64) -> Duration {
        let ticks = end.wrapping_sub(begin) & self.mask;
        // More than half of the way round is back.
        let ticks = if ticks > self.mask / 2 { 0 } else { ticks };
        Duration::from_nanos((ticks as f64 * f64::from(self.nanoseconds_per_tick)) as u64)
    }
}

/// Timestamps.
pub(super) struct Queries {
    pub raw: vk::QueryPool,
    device: Arc<Device>,
}

impl Queries {
    /// None where the device has no timestamps.
    pub fn new(device: &Arc<Device>, count: u32) -> Result<Option<Self>, vk::Result> {
        if device.clock.is_none() {
            return Ok(None);
        }
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(count);
        // Safety: the device exists.
        let raw = unsafe { device.raw.create_query_pool(&info, None) }?;
        Ok(Some(Self {
            raw,
            device: device.clone(),
        }))
    }

    /// Timestamps from the first on, of commands that have been done.
    pub fn read<const N: usize>(&self, first: u32) -> Result<[u64; N], vk::Result> {
        let mut found = [0u64; N];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // Safety: the commands that write them have been done.
        unsafe {
            let device = &self.device.raw;
            device.get_query_pool_results(self.raw, first, &mut found, flags)
        }?;
        Ok(found)
    }
}

impl Drop for Queries {
    fn drop(&mut self) {
        // Safety: its event goes when the commands that write it have been done.
        unsafe { self.device.raw.destroy_query_pool(self.raw, None) };
    }
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
        assert_eq!(clock.between(20, 10), Duration::ZERO);
    }
}
