//! A shape as command buffers, which are recorded once and put onto a stream by every call.
//!
//! Kernel arguments are in memory, and a command buffer contains only their addresses. So changed
//! arguments go into the next of a few blocks of memory, each with command buffers of its own, and
//! only a changed number of thread blocks, which is in the commands, takes a new recording. The host
//! reads flags and conditions: a kernel of the driver's copies each next to the arguments.

use super::{
    hazards::Hazards,
    kernels::{Bound, fill_blocks},
    pipeline::Code,
    recording,
    resident::{Body, Shared},
    timeline::{Point, Timeline, allocate},
    words::fault,
};
use crate::objects::{
    driver::{Fault, Op, OpKind, RawStream, Replay, Shape},
    parts::{self, Host, Look, Part, Parts},
};
use ash::vk;
use std::{ops::Range, sync::Arc};

/// Blocks of words at most: as many calls may be under way with words of their own.
const MOST_SLOTS: usize = 3;
/// Words begin at multiples of so many bytes.
const ALIGNMENT: u64 = 16;

pub(super) struct Graph {
    shared: Arc<Shared>,
    parts: Parts,
    launches: Vec<Launch>,
    looks: Vec<LookAt>,
    /// Bytes of a block of words.
    bytes: u64,
    pool: vk::CommandPool,
    slots: Vec<Slot>,
    /// The slot that has the words as they are.
    current: usize,
    look: Option<Bound>,
    /// Hold the pipelines.
    code: Vec<Arc<Code>>,
}

/// A dispatch, or a copy.
struct Launch {
    what: What,
    /// Where its words are in a block of words.
    at: u64,
}

enum What {
    /// The number of blocks, and the body's words.
    Body(Bound, Range<usize>),
    /// The first of a fill's three words.
    Fill(Bound, usize),
    /// The size of an element of less than a word, and the first of a fill's three words. All of
    /// them are recorded, as commands do it.
    Small(usize, usize),
    /// The first of a copy's three words. All of them are recorded.
    Copy(usize),
}

impl What {
    fn words(&self) -> Range<usize> {
        match self {
            What::Body(_, words) => words.clone(),
            What::Fill(_, first) | What::Small(_, first) | What::Copy(first) => *first..*first + 3,
        }
    }

    /// What commands have of it: the number of blocks, or from where, to where and how much.
    fn recorded(&self, words: &[u64]) -> [u64; 3] {
        match self {
            What::Body(_, range) => [words[range.start], 0, 0],
            What::Fill(_, first) => [fill_blocks(words[first + 1]), 0, 0],
            What::Small(_, first) | What::Copy(first) => [0, 1, 2].map(|i| words[first + i]),
        }
    }
}

/// A look at a flag or a condition.
struct LookAt {
    word: usize,
    /// Where the kernel's words are, and after them what it copies.
    at: u64,
}

/// What commands have.
#[derive(PartialEq)]
struct Recorded {
    launches: Vec<[u64; 3]>,
    /// How many blocks of memory had been given back, if buffers are named: others may be at the
    /// same addresses since.
    trimmed: Option<u64>,
}

/// A block of words, and commands that read it.
struct Slot {
    address: u64,
    mapped: *mut u8,
    /// Of each list of ops, and then of each look.
    commands: Vec<vk::CommandBuffer>,
    /// What was recorded of each launch; none before that.
    recorded: Option<Recorded>,
    /// Its last use.
    used: Option<Point>,
}

// Safety: the host's view of memory is of no thread.
unsafe impl Send for Slot {}

impl Slot {
    fn is_idle(&self) -> Result<bool, Fault> {
        let idle = self.used.as_ref().map_or(Ok(true), Point::is_done);
        idle.map_err(fault)
    }

    /// Copies words into memory that is not in use.
    fn write(&self, at: u64, words: &[u64]) {
        // Safety: within the block of words.
        unsafe {
            let to = self.mapped.add(at as usize).cast::<u64>();
            to.copy_from_nonoverlapping(words.as_ptr(), words.len());
        }
    }

    /// What a look has copied.
    fn read(&self, at: u64) -> i32 {
        // Safety: as above; the device has written it.
        unsafe { self.mapped.add(at as usize).cast::<i32>().read_volatile() }
    }
}

impl Graph {
    pub fn new(shared: &Arc<Shared>, shape: &Shape, words: &[u64]) -> Result<Self, Fault> {
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(shared.device.family);
        // Safety: the device exists.
        let pool = unsafe { shared.device.raw.create_command_pool(&info, None) };
        let parts = Parts::of(&shape.ops);
        let mut graph = Self {
            shared: shared.clone(),
            launches: Vec::new(),
            looks: Vec::new(),
            bytes: 0,
            pool: pool.map_err(fault)?,
            slots: Vec::new(),
            current: 0,
            look: None,
            code: Vec::new(),
            parts: Parts::default(),
        };
        graph.lay_out(&parts.parts)?;
        graph.parts = parts;
        graph.set(words)?;
        Ok(graph)
    }

    /// Gives launches and looks places in a block of words, in the order of the parts.
    fn lay_out(&mut self, parts: &[Part]) -> Result<(), Fault> {
        for part in parts {
            match part {
                Part::Ops { ops, .. } => ops.iter().try_for_each(|op| self.lay_out_op(op))?,
                Part::While { flag, parts, .. } => {
                    self.lay_out_look(*flag)?;
                    self.lay_out(parts)?;
                }
                Part::If { condition, parts } => {
                    self.lay_out_look(*condition)?;
                    self.lay_out(parts)?;
                }
            }
        }
        Ok(())
    }

    fn lay_out_op(&mut self, op: &Op) -> Result<(), Fault> {
        let what = match &op.kind {
            OpKind::Launch { body, words, .. } => {
                // Safety: what `Code::body` gave, whose code is held by who asks.
                let body = unsafe { &*(body.0 as *const Body) };
                let bound = body.bound().map_err(Fault::Failed)?;
                self.code.push(body.code.clone());
                What::Body(bound, words.clone())
            }
            OpKind::Fill {
                size: size @ 1..=2,
                words,
            } => What::Small(*size, *words),
            OpKind::Fill { size, words } => What::Fill(self.shared.kernels.fill(*size)?, *words),
            OpKind::Copy { words } => What::Copy(*words),
            OpKind::Join | OpKind::While { .. } | OpKind::If { .. } => return Ok(()),
        };
        let at = self.reserve(8 * what.words().len() as u64);
        self.launches.push(Launch { what, at });
        Ok(())
    }

    /// Looks are numbered in this order, too.
    fn lay_out_look(&mut self, look: Look) -> Result<(), Fault> {
        self.look = Some(self.shared.kernels.look()?);
        let at = self.reserve(3 * 8);
        let word = look.word;
        self.looks.push(LookAt { word, at });
        Ok(())
    }

    fn reserve(&mut self, bytes: u64) -> u64 {
        let at = self.bytes.next_multiple_of(ALIGNMENT);
        self.bytes = at + bytes;
        at
    }

    /// Makes an unused slot the current one, with these words.
    fn set(&mut self, words: &[u64]) -> Result<(), Fault> {
        self.current = self.idle_slot()?;
        let slot = &mut self.slots[self.current];
        for launch in &self.launches {
            slot.write(launch.at, &words[launch.what.words()]);
        }
        for look in &self.looks {
            slot.write(look.at, &[words[look.word], slot.address + look.at + 16]);
        }
        let launches = self.launches.iter();
        let recorded = Recorded {
            launches: launches.map(|launch| launch.what.recorded(words)).collect(),
            trimmed: self.trimmed(),
        };
        self.record_if_other(recorded)
    }

    fn record_if_other(&mut self, recorded: Recorded) -> Result<(), Fault> {
        let slot = &mut self.slots[self.current];
        if slot.recorded.as_ref() != Some(&recorded) {
            slot.recorded = None;
            self.record(&recorded.launches)?;
            self.slots[self.current].recorded = Some(recorded);
        }
        Ok(())
    }

    fn trimmed(&self) -> Option<u64> {
        let names_buffers =
            |launch: &Launch| matches!(launch.what, What::Small(..) | What::Copy(_));
        let is_any = self.launches.iter().any(names_buffers);
        is_any.then(|| self.shared.trimmed())
    }

    /// Records again what names buffers that may be others now.
    fn renew(&mut self) -> Result<(), Fault> {
        let trimmed = self.trimmed();
        let slot = &mut self.slots[self.current];
        let is_old = |recorded: &mut Recorded| recorded.trimmed != trimmed;
        let Some(old) = slot.recorded.take_if(is_old) else {
            return Ok(());
        };
        if let Some(used) = &slot.used {
            used.wait()?;
        }
        let launches = old.launches;
        self.record_if_other(Recorded { launches, trimmed })
    }

    /// The current slot if it is idle, else another, else a new one, else the next.
    fn idle_slot(&mut self) -> Result<usize, Fault> {
        let count = self.slots.len();
        for slot in (0..count).map(|i| (self.current + i) % count) {
            if self.slots[slot].is_idle()? {
                return Ok(slot);
            }
        }
        if count == MOST_SLOTS {
            let next = (self.current + 1) % count;
            if let Some(used) = &self.slots[next].used {
                used.wait()?;
            }
            return Ok(next);
        }
        let (address, mapped) = self.shared.allocate_words(self.bytes)?;
        let mut commands = vec![vk::CommandBuffer::null(); self.parts.lists + self.parts.looks];
        if !commands.is_empty() {
            let allocated = allocate(&self.shared.device, self.pool, &mut commands);
            allocated.map_err(|error| {
                self.shared.words.free(address, self.bytes, Vec::new());
                fault(error)
            })?;
        }
        self.slots.push(Slot {
            address,
            mapped,
            commands,
            recorded: None,
            used: None,
        });
        Ok(count)
    }

    fn record(&self, words: &[[u64; 3]]) -> Result<(), Fault> {
        let mut launches = self.launches.iter().zip(words);
        self.record_parts(&self.parts.parts, &mut launches)?;
        let (device, slot) = (&self.shared.device, &self.slots[self.current]);
        let commands = &slot.commands[self.parts.lists..];
        for (look, raw) in self.looks.iter().zip(commands) {
            recording::begin(device, *raw).map_err(fault)?;
            if let Some(bound) = self.look {
                // Safety: the words are the kernel's.
                unsafe { recording::dispatch(device, *raw, bound, slot.address + look.at, 1) };
            }
            recording::end(device, *raw).map_err(fault)?;
        }
        Ok(())
    }

    fn record_parts<'a>(
        &self,
        parts: &[Part],
        launches: &mut impl Iterator<Item = (&'a Launch, &'a [u64; 3])>,
    ) -> Result<(), Fault> {
        for part in parts {
            match part {
                Part::Ops { number, first, ops } => {
                    self.record_ops(*number, *first, ops, launches)?;
                }
                Part::While { parts, .. } | Part::If { parts, .. } => {
                    self.record_parts(parts, launches)?;
                }
            }
        }
        Ok(())
    }

    fn record_ops<'a>(
        &self,
        number: usize,
        first: usize,
        ops: &[Op],
        launches: &mut impl Iterator<Item = (&'a Launch, &'a [u64; 3])>,
    ) -> Result<(), Fault> {
        let (device, slot) = (&self.shared.device, &self.slots[self.current]);
        let raw = slot.commands[number];
        let mut hazards = Hazards::default();
        recording::begin(device, raw).map_err(fault)?;
        for (place, op) in (first..).zip(ops) {
            let after = op.after.iter().map(|op| *op as usize);
            if let OpKind::Join = op.kind {
                hazards.join(place, after);
                continue;
            }
            if hazards.add(place, after) {
                recording::barrier(device, raw);
            }
            // There is one for every such op, in the same order.
            if let Some((launch, words)) = launches.next() {
                self.record_launch(raw, launch, words)?;
            }
        }
        recording::end(device, raw).map_err(fault)
    }

    fn record_launch(
        &self,
        raw: vk::CommandBuffer,
        launch: &Launch,
        words: &[u64; 3],
    ) -> Result<(), Fault> {
        let device = &self.shared.device;
        let blocks = words[0];
        match &launch.what {
            What::Body(..) if blocks > recording::MOST_BLOCKS => Err(Fault::Failed(format!(
                "{} takes at most {} blocks",
                device.name,
                recording::MOST_BLOCKS
            ))),
            What::Body(bound, _) | What::Fill(bound, _) => {
                let at = self.slots[self.current].address + launch.at;
                // Safety: the words are the body's, and live as long as the slot.
                unsafe { recording::dispatch(device, raw, *bound, at, blocks) };
                Ok(())
            }
            What::Small(size, _) => {
                // The last of the fill's words.
                let value = self.slots[self.current].address + launch.at + 16;
                // Safety: what a fill's words are; they live as long as the slot.
                unsafe { self.shared.record_fill(raw, *size as u64, *words, value) }
            }
            What::Copy(_) => {
                let [from, to, bytes] = *words;
                // Safety: what a copy's words are.
                unsafe { self.shared.record_copy(raw, from, to, bytes) }
            }
        }
    }
}

impl Replay for Graph {
    fn waits(&self) -> bool {
        !self.looks.is_empty()
    }

    fn patch(&mut self, words: &[u64], _: &[usize]) -> Result<(), Fault> {
        self.set(words)
    }

    fn replay(&mut self, on: RawStream, max_iterations: Option<u64>) -> Result<(), Fault> {
        self.renew()?;
        let timeline = self.shared.timeline(on);
        let mut run = Run {
            timeline: &timeline,
            slot: &mut self.slots[self.current],
            lists: self.parts.lists,
            looks: &self.looks,
            waiting: Vec::new(),
        };
        let done = parts::run(&mut run, &self.parts.parts, max_iterations);
        done.and_then(|()| run.submit())
    }
}

/// One replay.
struct Run<'a> {
    timeline: &'a Arc<Timeline>,
    slot: &'a mut Slot,
    lists: usize,
    looks: &'a [LookAt],
    /// Commands that are not on the stream yet.
    waiting: Vec<vk::CommandBuffer>,
}

impl Run<'_> {
    fn submit(&mut self) -> Result<(), Fault> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        // Safety: the slot and what its words point to live until they have been done.
        let point = unsafe { self.timeline.submit(&self.waiting) };
        self.slot.used = Some(point.map_err(fault)?);
        self.waiting.clear();
        Ok(())
    }
}

impl Host for Run<'_> {
    fn ops(&mut self, number: usize, _: &[Op]) -> Result<(), Fault> {
        self.waiting.push(self.slot.commands[number]);
        Ok(())
    }

    fn is_set(&mut self, look: Look) -> Result<bool, Fault> {
        self.waiting
            .push(self.slot.commands[self.lists + look.number]);
        self.submit()?;
        if let Some(used) = &self.slot.used {
            used.wait()?;
        }
        Ok(self.slot.read(self.looks[look.number].at + 16) != 0)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let mut until = Vec::new();
        for slot in &self.slots {
            let used: Vec<_> = slot.used.iter().cloned().collect();
            until.extend(used.iter().cloned());
            self.shared.words.free(slot.address, self.bytes, used);
        }
        let code = std::mem::take(&mut self.code);
        self.shared.retire(self.pool, code, until);
    }
}
