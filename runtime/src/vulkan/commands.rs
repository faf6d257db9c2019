//! Command buffers: copies, and a kernel's actions, recorded once and replayed
//! by every run.

use super::{
    device::Device,
    fill::Piece,
    hazards::Hazards,
    memory::Memory,
    pipeline::Code,
    plan::{Op, Work},
    words::failed,
};
use crate::{
    Error,
    actions::{Action, Kind, Launch},
};
use ash::vk::{self, AccessFlags as Access, PipelineStageFlags as Stage};
use std::sync::Arc;

/// Workgroups that every device has in a dimension; blocks beyond are rows.
const ROW: u64 = 65_535;

/// Where command buffers come from, and what says that one has been done.
pub(super) struct Recorder {
    pool: vk::CommandPool,
    fence: vk::Fence,
    device: Arc<Device>,
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
    fn begin(&self) -> Result<vk::CommandBuffer, vk::Result> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // Safety: the pool is this thread's.
        let buffers = unsafe { self.device.raw.allocate_command_buffers(&info) }?;
        let [raw] = buffers[..] else {
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        // Safety: it is new.
        unsafe {
            self.device
                .raw
                .begin_command_buffer(raw, &Default::default())
        }?;
        self.barrier(raw);
        Ok(raw)
    }

    /// What follows sees what was done before.
    fn barrier(&self, raw: vk::CommandBuffer) {
        self.barrier_to(
            raw,
            Stage::COMPUTE_SHADER | Stage::TRANSFER,
            Access::SHADER_READ
                | Access::SHADER_WRITE
                | Access::TRANSFER_READ
                | Access::TRANSFER_WRITE,
        );
    }

    fn barrier_to(&self, raw: vk::CommandBuffer, stage: Stage, access: Access) {
        let barriers = [vk::MemoryBarrier::default()
            .src_access_mask(Access::SHADER_WRITE | Access::TRANSFER_WRITE)
            .dst_access_mask(access)];
        let from = Stage::COMPUTE_SHADER | Stage::TRANSFER;
        let flags = vk::DependencyFlags::empty();
        // Safety: the buffer is being recorded.
        unsafe {
            let device = &self.device.raw;
            device.cmd_pipeline_barrier(raw, from, stage, flags, &barriers, &[], &[]);
        }
    }

    /// The host sees what was done.
    fn end(&self, raw: vk::CommandBuffer) -> Result<(), vk::Result> {
        self.barrier_to(raw, Stage::HOST, Access::HOST_READ);
        // Safety: the buffer is being recorded.
        unsafe { self.device.raw.end_command_buffer(raw) }
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

/// What is replayed between two looks of the host at a loop's flag.
pub(super) enum Segment<'a> {
    Commands(Commands<'a>),
    /// Goes round while the flag's copy is not 0: the last commands of the body
    /// make it.
    Loop {
        kernel: &'a str,
        body: Vec<Segment<'a>>,
    },
}

/// A command buffer.
pub(super) struct Commands<'a> {
    pub raw: vk::CommandBuffer,
    /// What is done in it.
    pub actions: Vec<Action<'a>>,
    /// The first of two timestamps: before and behind it all.
    pub query: u32,
}

/// Records a plan.
pub(super) struct Maker<'m> {
    pub recorder: &'m Recorder,
    pub code: Option<&'m Code>,
    /// The arguments'.
    pub memory: &'m [Memory],
    pub constants: &'m Memory,
    /// Where flags are copied to, for the host to see: one is looked at before
    /// the next is copied.
    pub flag: &'m Memory,
    /// If the device can tell the time.
    pub queries: Option<vk::QueryPool>,
    /// A command buffer for each action, to time it.
    pub one_by_one: bool,
    /// Timestamps that are taken.
    pub taken: u32,
}

impl Maker<'_> {
    /// Command buffers for actions. If they are a loop's, its flag is copied at
    /// their end.
    pub fn segments<'a>(
        &mut self,
        ops: Vec<Op<'a>>,
        flag: Option<(usize, u64)>,
    ) -> Result<Vec<Segment<'a>>, Error> {
        let mut segments = Vec::new();
        let mut open: Option<Commands<'a>> = None;
        let mut hazards = Hazards::default();
        for (number, Op { action, work }) in ops.into_iter().enumerate() {
            match work {
                Work::Nothing => {
                    hazards.join(number, &action.after);
                    // A launch of no blocks counts.
                    if let (Kind::Launch(_), Some(open)) = (&action.kind, &mut open) {
                        open.actions.push(action);
                    }
                    continue;
                }
                Work::Loop { kernel, flag, body } => {
                    self.close(open.take(), &mut segments)?;
                    hazards = Hazards::default();
                    let body = self.segments(body, Some(flag))?;
                    segments.push(Segment::Loop { kernel, body });
                    continue;
                }
                Work::Launch { .. } | Work::Fill { .. } => {}
            }
            let commands = match &mut open {
                Some(commands) => {
                    if hazards.add(number, &action.after) {
                        self.recorder.barrier(commands.raw);
                    }
                    commands
                }
                None => {
                    hazards = Hazards::default();
                    hazards.add(number, &[]);
                    open.insert(self.open()?)
                }
            };
            match (&work, &action.kind) {
                (Work::Launch { words }, Kind::Launch(launch)) => {
                    self.launch(commands.raw, launch, self.constants.address + words)?;
                }
                (Work::Fill { buffer, pieces }, _) => self.fill(commands.raw, *buffer, pieces),
                _ => {}
            }
            commands.actions.push(action);
            if self.one_by_one {
                self.close(open.take(), &mut segments)?;
            }
        }
        if let Some((buffer, at)) = flag {
            let commands = match open.take() {
                Some(commands) => {
                    self.recorder.barrier(commands.raw);
                    commands
                }
                None => self.open()?,
            };
            self.copy(commands.raw, &self.memory[buffer], &[(at, 0, 4)], self.flag);
            open = Some(commands);
        }
        self.close(open, &mut segments)?;
        Ok(segments)
    }

    fn open<'a>(&mut self) -> Result<Commands<'a>, Error> {
        let raw = self
            .recorder
            .begin()
            .map_err(|e| failed("recording commands", e))?;
        let query = self.taken;
        self.taken += 2;
        if let Some(pool) = self.queries {
            // Safety: the pool has two timestamps for every buffer.
            unsafe {
                let device = &self.recorder.device.raw;
                device.cmd_reset_query_pool(raw, pool, query, 2);
                device.cmd_write_timestamp(raw, Stage::TOP_OF_PIPE, pool, query);
            }
        }
        Ok(Commands {
            raw,
            actions: Vec::new(),
            query,
        })
    }

    fn close<'a>(
        &self,
        commands: Option<Commands<'a>>,
        segments: &mut Vec<Segment<'a>>,
    ) -> Result<(), Error> {
        let Some(commands) = commands else {
            return Ok(());
        };
        if let Some(pool) = self.queries {
            // Safety: as above.
            unsafe {
                self.recorder.device.raw.cmd_write_timestamp(
                    commands.raw,
                    Stage::BOTTOM_OF_PIPE,
                    pool,
                    commands.query + 1,
                );
            }
        }
        self.recorder
            .end(commands.raw)
            .map_err(|e| failed("recording commands", e))?;
        segments.push(Segment::Commands(commands));
        Ok(())
    }

    fn launch(&self, raw: vk::CommandBuffer, launch: &Launch<'_>, words: u64) -> Result<(), Error> {
        let device = &self.recorder.device;
        let (rows, rest) = rows(launch.blocks).ok_or_else(|| {
            launch.failed(&format!(
                "{} takes at most {} blocks",
                device.name,
                ROW * ROW
            ))
        })?;
        let code = self
            .code
            .ok_or_else(|| Error::InvalidPlan("a launch without a binary".into()))?;
        let pipeline = code
            .pipeline(launch.body, launch.threads)
            .map_err(|reason| launch.failed(&reason))?;
        let stage = vk::ShaderStageFlags::COMPUTE;
        // Safety: the body was compiled for these words; what they point to
        // lives until the run ends.
        unsafe {
            let device = &device.raw;
            device.cmd_bind_pipeline(raw, vk::PipelineBindPoint::COMPUTE, pipeline);
            device.cmd_push_constants(raw, code.layout, stage, 0, &words.to_le_bytes());
            if rows > 0 {
                device.cmd_dispatch(raw, ROW as u32, rows, 1);
            }
            if rest > 0 {
                device.cmd_dispatch_base(raw, 0, rows, 0, rest, 1, 1);
            }
        }
        Ok(())
    }

    fn fill(&self, raw: vk::CommandBuffer, buffer: usize, pieces: &[Piece]) {
        let memory = &self.memory[buffer];
        let mut copies = Vec::new();
        for piece in pieces {
            match *piece {
                // Safety: the range is within the buffer.
                Piece::Word { at, bytes, word } => unsafe {
                    let device = &self.recorder.device.raw;
                    device.cmd_fill_buffer(raw, memory.buffer(), at, bytes, word);
                },
                Piece::Copy { at, bytes, from } => copies.push((from, at, bytes)),
            }
        }
        if !copies.is_empty() {
            self.copy(raw, self.constants, &copies, memory);
        }
    }

    /// Copies ranges: from, to, bytes.
    fn copy(&self, raw: vk::CommandBuffer, from: &Memory, ranges: &[(u64, u64, u64)], to: &Memory) {
        let regions: Vec<_> = ranges
            .iter()
            .map(|(from, to, bytes)| {
                vk::BufferCopy::default()
                    .src_offset(*from)
                    .dst_offset(*to)
                    .size(*bytes)
            })
            .collect();
        // Safety: the ranges are within the buffers.
        unsafe {
            let device = &self.recorder.device.raw;
            device.cmd_copy_buffer(raw, from.buffer(), to.buffer(), &regions);
        }
    }
}

/// Full rows of blocks, and the blocks of the last one; no more rows than a
/// dimension has.
fn rows(blocks: u64) -> Option<(u32, u32)> {
    let (rows, rest) = (blocks / ROW, blocks % ROW);
    (blocks.div_ceil(ROW) <= ROW).then_some((rows as u32, rest as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_rows() {
        assert_eq!(rows(1), Some((0, 1)));
        assert_eq!(rows(65_535), Some((1, 0)));
        assert_eq!(rows(65_536), Some((1, 1)));
        assert_eq!(rows(65_535 * 65_535), Some((65_535, 0)));
        assert_eq!(rows(65_535 * 65_535 + 1), None);
        assert_eq!(rows(u64::MAX), None);
    }
}
