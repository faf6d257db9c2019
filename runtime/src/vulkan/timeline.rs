//! Streams and points in them: a semaphore whose value goes up by one with every submission.

use super::{device::Device, recording, words::fault};
use crate::objects::driver::Fault;
use ash::vk;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// A stream.
pub(super) struct Timeline {
    raw: vk::Semaphore,
    /// The number of its queue.
    queue: usize,
    /// Up to here it is known to have come.
    done: AtomicU64,
    state: Mutex<State>,
    device: Arc<Device>,
}

struct State {
    /// What the last submission signals.
    last: u64,
    /// What the next submission waits for.
    waits: Vec<Point>,
    pool: vk::CommandPool,
    /// Command buffers that are used once at a time, and what their last submission signals.
    buffers: Vec<(u64, vk::CommandBuffer)>,
}

/// A point in a stream: what it has done when the semaphore has that value.
#[derive(Clone)]
pub(super) struct Point {
    pub timeline: Arc<Timeline>,
    pub value: u64,
}

impl Point {
    pub fn is_done(&self) -> Result<bool, vk::Result> {
        self.timeline.has_come_to(self.value)
    }

    /// Comes to it, by the host's hand.
    #[cfg(test)]
    pub fn open(&self) {
        let info = vk::SemaphoreSignalInfo::default()
            .semaphore(self.timeline.raw)
            .value(self.value);
        // Safety: no submission signals it.
        let opened = unsafe { self.timeline.device.raw.signal_semaphore(&info) };
        opened.expect("signalled");
    }

    /// Waits for it on the host.
    pub fn wait(&self) -> Result<(), Fault> {
        let device = &self.timeline.device;
        if !self.is_done().map_err(fault)? {
            let (semaphores, values) = ([self.timeline.raw], [self.value]);
            let info = vk::SemaphoreWaitInfo::default()
                .semaphores(&semaphores)
                .values(&values);
            // Safety: the semaphore exists.
            let done = unsafe { device.raw.wait_semaphores(&info, u64::MAX) };
            device.noted(done).map_err(fault)?;
            self.timeline.came_to(self.value);
        }
        let checked = device.instance.check_validation();
        checked.map_err(|error| Fault::Failed(error.to_string()))
    }
}

impl Timeline {
    pub fn new(device: &Arc<Device>, queue: usize) -> Result<Self, vk::Result> {
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let of_pool = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(device.family);
        let mut timeline = Self {
            raw: vk::Semaphore::null(),
            queue,
            done: AtomicU64::new(0),
            state: Mutex::new(State {
                last: 0,
                waits: Vec::new(),
                pool: vk::CommandPool::null(),
                buffers: Vec::new(),
            }),
            device: device.clone(),
        };
        // Safety: `drop` destroys what was made, also when the second fails.
        unsafe {
            timeline.raw = device.raw.create_semaphore(&info, None)?;
            let pool = device.raw.create_command_pool(&of_pool, None)?;
            timeline.lock().pool = pool;
        }
        Ok(timeline)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn came_to(&self, value: u64) {
        self.done.fetch_max(value, Ordering::Relaxed);
    }

    fn has_come_to(&self, value: u64) -> Result<bool, vk::Result> {
        if self.done.load(Ordering::Relaxed) >= value {
            return Ok(true);
        }
        let device = &self.device;
        // Safety: the semaphore exists.
        let now = device.noted(unsafe { device.raw.get_semaphore_counter_value(self.raw) })?;
        self.came_to(now);
        Ok(now >= value)
    }

    /// What has to be done before all that is on it has been: the last submission, and what
    /// the next one waits for.
    pub fn end(self: &Arc<Self>) -> Vec<Point> {
        let state = self.lock();
        let mut points = state.waits.clone();
        points.push(Point {
            timeline: self.clone(),
            value: state.last,
        });
        points
    }

    /// Waits on the host until all that is on it has been done.
    pub fn finish(self: &Arc<Self>) -> Result<(), Fault> {
        self.end().iter().try_for_each(Point::wait)
    }

    /// What comes from now on waits for the point.
    pub fn wait_for(&self, point: &Point) {
        if std::ptr::eq(self, &*point.timeline) {
            return;
        }
        let mut state = self.lock();
        let mut waits = state.waits.iter_mut();
        match waits.find(|wait| Arc::ptr_eq(&wait.timeline, &point.timeline)) {
            Some(wait) => wait.value = wait.value.max(point.value),
            None => state.waits.push(point.clone()),
        }
    }

    /// It waits for nothing any more.
    pub fn forget(&self) {
        self.lock().waits.clear();
    }

    /// Puts commands onto the stream.
    ///
    /// # Safety
    ///
    /// They were recorded by [`recording`], and what they refer to lives until they have
    /// been done.
    pub unsafe fn submit(
        self: &Arc<Self>,
        commands: &[vk::CommandBuffer],
    ) -> Result<Point, vk::Result> {
        // Safety: by contract.
        let value = unsafe { self.put(&mut self.lock(), commands) }?;
        Ok(Point {
            timeline: self.clone(),
            value,
        })
    }

    unsafe fn put(
        &self,
        state: &mut State,
        commands: &[vk::CommandBuffer],
    ) -> Result<u64, vk::Result> {
        let value = state.last + 1;
        let waits = &state.waits;
        let semaphores: Vec<_> = waits.iter().map(|wait| wait.timeline.raw).collect();
        let values: Vec<_> = waits.iter().map(|wait| wait.value).collect();
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let (signals, signalled) = ([self.raw], [value]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&values)
            .signal_semaphore_values(&signalled);
        let info = vk::SubmitInfo::default()
            .command_buffers(commands)
            .wait_semaphores(&semaphores)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signals)
            .push_next(&mut timeline);
        // Safety: by contract; semaphores live until the device is idle.
        unsafe { self.device.submit(self.queue, info, vk::Fence::null()) }?;
        state.last = value;
        state.waits.clear();
        Ok(value)
    }

    /// Records commands that are done once, and puts them onto the stream.
    ///
    /// # Safety
    ///
    /// What they refer to lives until they have been done.
    pub unsafe fn once(
        self: &Arc<Self>,
        record: impl FnOnce(vk::CommandBuffer),
    ) -> Result<Point, vk::Result> {
        let mut state = self.lock();
        let raw = self.buffer(&mut state)?;
        let device = &self.device;
        let put = recording::begin(device, raw).and_then(|()| {
            record(raw);
            recording::end(device, raw)?;
            // Safety: by contract.
            unsafe { self.put(&mut state, &[raw]) }
        });
        state.buffers.push((*put.as_ref().unwrap_or(&0), raw));
        Ok(Point {
            timeline: self.clone(),
            value: put?,
        })
    }

    /// A command buffer that is not in use.
    fn buffer(&self, state: &mut State) -> Result<vk::CommandBuffer, vk::Result> {
        // They are in the order of their submissions.
        if let Some((value, _)) = state.buffers.first()
            && self.has_come_to(*value)?
        {
            return Ok(state.buffers.remove(0).1);
        }
        let mut made = [vk::CommandBuffer::null()];
        allocate(&self.device, state.pool, &mut made)?;
        Ok(made[0])
    }
}

/// Takes command buffers from a pool.
pub(super) fn allocate(
    device: &Device,
    pool: vk::CommandPool,
    to: &mut [vk::CommandBuffer],
) -> Result<(), vk::Result> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::PRIMARY)
        .command_buffer_count(to.len() as u32);
    // Safety: nothing else uses the pool meanwhile.
    let made = unsafe { device.raw.allocate_command_buffers(&info) }?;
    to.copy_from_slice(&made);
    Ok(())
}

impl Drop for Timeline {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Safety: the device has been idle since the last submission.
        unsafe {
            self.device.raw.destroy_command_pool(state.pool, None);
            self.device.raw.destroy_semaphore(self.raw, None);
        }
    }
}
