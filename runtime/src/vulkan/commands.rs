//! A kernel's actions as command buffers, recorded once and replayed by every
//! run.

use super::{
    fill::Piece,
    hazards::Hazards,
    memory::Memory,
    pipeline::Code,
    plan::{Op, Work},
    recorder::Recorder,
    recording,
    words::failed,
};
use crate::{
    Error,
    actions::{Action, Kind, Launch},
};
use ash::vk::{self, PipelineStageFlags as Stage};

/// What is replayed between two looks of the host at a flag or a condition.
pub(super) enum Segment<'a> {
    Commands(Commands<'a>),
    /// Goes round while the flag's copy is not 0: the last commands of the body
    /// make it.
    Loop {
        kernel: &'a str,
        body: Vec<Segment<'a>>,
    },
    /// Runs if the condition's copy is not 0: the last commands before it make it.
    If {
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
    pub code: &'m [Code],
    /// The arguments', and the control's if there is some.
    pub memory: &'m [&'m Memory],
    pub constants: &'m Memory,
    /// Where flags and conditions are copied to, for the host to see: one is looked
    /// at before the next is copied.
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
                    hazards.join(number, action.after.iter().copied());
                    continue;
                }
                Work::Loop { kernel, flag, body } => {
                    self.close(open.take(), &mut segments)?;
                    hazards = Hazards::default();
                    let body = self.segments(body, Some(flag))?;
                    segments.push(Segment::Loop { kernel, body });
                    continue;
                }
                Work::If { condition, body } => {
                    self.show(&mut open, condition)?;
                    self.close(open.take(), &mut segments)?;
                    hazards = Hazards::default();
                    let body = self.segments(body, None)?;
                    segments.push(Segment::If { body });
                    continue;
                }
                Work::Launch { .. } | Work::Fill { .. } => {}
            }
            let commands = match &mut open {
                Some(commands) => {
                    if hazards.add(number, action.after.iter().copied()) {
                        self.recorder.barrier(commands.raw);
                    }
                    commands
                }
                None => {
                    hazards = Hazards::default();
                    hazards.add(number, []);
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
        if let Some(flag) = flag {
            self.show(&mut open, flag)?;
        }
        self.close(open, &mut segments)?;
        Ok(segments)
    }

    /// Copies a word to where the host sees it, behind all that is open.
    fn show<'a>(
        &mut self,
        open: &mut Option<Commands<'a>>,
        (buffer, at): (usize, u64),
    ) -> Result<(), Error> {
        let commands = match open {
            Some(commands) => {
                self.recorder.barrier(commands.raw);
                commands
            }
            None => open.insert(self.open()?),
        };
        self.copy(commands.raw, self.memory[buffer], &[(at, 0, 4)], self.flag);
        Ok(())
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
        if launch.blocks > recording::MOST_BLOCKS {
            return Err(launch.failed(&format!(
                "{} takes at most {} blocks",
                device.name,
                recording::MOST_BLOCKS
            )));
        }
        let code = self.code.iter().find(|code| code.has(launch.body));
        let code = code.ok_or_else(|| launch.failed("its body is in no module"))?;
        let pipeline = code
            .pipeline(launch.body, launch.threads)
            .map_err(|reason| launch.failed(&reason))?;
        // Safety: the body was compiled for these words; what they point to
        // lives until the run ends.
        unsafe {
            recording::dispatch(device, raw, (pipeline, code.layout), words, launch.blocks);
        }
        Ok(())
    }

    fn fill(&self, raw: vk::CommandBuffer, buffer: usize, pieces: &[Piece]) {
        let memory = self.memory[buffer];
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
