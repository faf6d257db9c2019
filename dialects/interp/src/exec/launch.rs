//! One launch: blocks that start, take turns, wait for one another and end.
//!
//! The unit of scheduling is the subgroup, in lockstep; every subgroup can be
//! preempted after any instruction. There are two schedules. In the ordered
//! one, a block runs until it ends or its time slice is over, so that a block
//! may wait for a later one. In the adversarial one, the blocks of a small resident
//! set take turns at random, and a block starts only when another one ends, in
//! random order: as on a device that is nearly full, code may only wait for
//! blocks that have started.

use super::{
    Engine,
    access::Reach,
    block::Meeting,
    control::{Flow, step},
    lanes::{Lanes, bits},
    random::Random,
    subgroup::subgroup_op,
};
use crate::{
    fault::{Fault, Outcome, SiteId, Trap},
    memory::{Allocation, Memref, Space},
    program::{Code, Id, Instruction, Reg},
    race::BlockClock,
    value::Element,
};
use qd_artifact::printing;
use std::collections::VecDeque;

/// Instructions a subgroup executes before others get a turn, in order.
const TURN: u64 = 4096;

/// A body to launch.
pub(crate) struct Launch<'l> {
    pub code: &'l Code,
    pub blocks: u64,
    pub threads: usize,
    /// Lanes per subgroup.
    pub lanes: usize,
    /// For a `for_each`: its blocks have this many elements in all.
    pub elements: Option<u64>,
    /// What the host hands over: register, bits, whether poison.
    pub captures: Vec<(Reg, u64, bool)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// At an operation of the whole block.
    Waiting,
    Done,
}

struct Subgroup {
    lanes: Lanes,
    private: Vec<Allocation>,
    state: State,
}

struct Block {
    id: u64,
    subgroups: Vec<Subgroup>,
    shared: Vec<Allocation>,
    clock: BlockClock,
    /// Whether the adversary seldom gives it a turn.
    sluggish: bool,
}

impl Engine<'_> {
    /// Runs all blocks of a launch. The window has been told.
    pub fn launch(&mut self, launch: &Launch) -> Result<(), Fault> {
        let known = self.memrefs.len();
        self.report.phases += 1;
        self.report.blocks += launch.blocks;
        match self.random.as_mut().map(Random::next) {
            Some(seed) => self.run_hostile(launch, Random::new(seed))?,
            None => self.run_in_order(launch)?,
        }
        self.memrefs.truncate(known);
        Ok(())
    }

    fn run_in_order(&mut self, launch: &Launch) -> Result<(), Fault> {
        let mut resident = VecDeque::new();
        let mut next = 0;
        while next < launch.blocks || !resident.is_empty() {
            let mut waiting = VecDeque::new();
            for mut block in resident.drain(..) {
                if !self.turn(launch, &mut block)? {
                    waiting.push_back(block);
                }
            }
            resident = waiting;
            // Those that are left have not ended in their turn: they may wait
            // for a block that has not started.
            while next < launch.blocks {
                let mut block = self.start(launch, next);
                next += 1;
                if !self.turn(launch, &mut block)? {
                    resident.push_back(block);
                    break;
                }
            }
        }
        Ok(())
    }

    /// Lets every subgroup run until it ends or has used up its turn; whether
    /// the block has ended.
    fn turn(&mut self, launch: &Launch, block: &mut Block) -> Result<bool, Fault> {
        loop {
            let mut exhausted = false;
            for index in 0..block.subgroups.len() {
                if block.subgroups[index].state == State::Running {
                    self.run_subgroup(launch, block, index, TURN)?;
                    exhausted |= block.subgroups[index].state == State::Running;
                }
            }
            if exhausted {
                return Ok(false);
            }
            if self.meet(launch, block)? {
                return Ok(true);
            }
        }
    }

    fn run_hostile(&mut self, launch: &Launch, mut random: Random) -> Result<(), Fault> {
        let room = 1 + random.below(8);
        let mut waiting = Vec::new();
        let mut next = 0;
        let mut resident: Vec<Block> = Vec::new();
        loop {
            while resident.len() < room {
                if waiting.is_empty() {
                    // A shuffled batch at a time: grids can be large.
                    let end = launch.blocks.min(next + 1024);
                    waiting.extend(next..end);
                    random.shuffle(&mut waiting);
                    next = end;
                }
                let Some(id) = waiting.pop() else { break };
                let mut block = self.start(launch, id);
                block.sluggish = random.below(4) == 0;
                resident.push(block);
            }
            if resident.is_empty() {
                return Ok(());
            }
            let which = random.below(resident.len());
            let block = &mut resident[which];
            if block.sluggish && random.below(16) != 0 {
                continue;
            }
            let mut able: Vec<usize> = (0..block.subgroups.len())
                .filter(|&index| block.subgroups[index].state == State::Running)
                .collect();
            random.shuffle(&mut able);
            if let Some(&index) = able.first() {
                // Mostly short turns, now and then a long one.
                let turn = 1 << random.below(10);
                self.run_subgroup(launch, block, index, turn)?;
            }
            let idle = block
                .subgroups
                .iter()
                .all(|subgroup| subgroup.state != State::Running);
            if idle && self.meet(launch, block)? {
                resident.swap_remove(which);
            }
        }
    }

    fn start(&self, launch: &Launch, id: u64) -> Block {
        let count = launch.threads.div_ceil(launch.lanes);
        let left = (launch.elements).map(|elements| elements - id * launch.threads as u64);
        let threads = left.map_or(launch.threads, |left| launch.threads.min(left as usize));
        let subgroups = (0..threads.div_ceil(launch.lanes))
            .map(|subgroup| {
                let present = launch.lanes.min(threads - subgroup * launch.lanes);
                let mut lanes = Lanes::partly(launch.lanes, present, launch.code.registers);
                for &(reg, value, poison) in &launch.captures {
                    lanes.set_all(reg, value);
                    lanes.set_poison(reg, if poison { u64::MAX } else { 0 });
                }
                let private = |&(element, length)| Allocation::new(element, length * launch.lanes);
                let private = launch.code.private.iter().map(private).collect();
                Subgroup {
                    lanes,
                    private,
                    state: State::Running,
                }
            })
            .collect();
        let shared = |&(element, length)| Allocation::new(element, length);
        Block {
            id,
            subgroups,
            shared: launch.code.shared.iter().map(shared).collect(),
            clock: BlockClock::new(
                self.window.base() + id as u32 * count as u32,
                count,
                launch.lanes,
            ),
            sluggish: false,
        }
    }

    /// Runs a subgroup until it waits, ends, or has executed `turn`
    /// instructions.
    fn run_subgroup(
        &mut self,
        launch: &Launch,
        block: &mut Block,
        index: usize,
        turn: u64,
    ) -> Result<(), Fault> {
        let code = launch.code;
        for _ in 0..turn {
            let at = block.subgroups[index].lanes.at as usize;
            let site = code.sites[at];
            self.spend(site)?;
            match self.execute(launch, block, index, &code.instructions[at], site) {
                Ok(Flow::Next) => block.subgroups[index].lanes.at += 1,
                Ok(Flow::Jump(target)) => block.subgroups[index].lanes.at = target,
                Ok(Flow::End) => {
                    block.subgroups[index].state = State::Done;
                    return Ok(());
                }
                Ok(Flow::Elsewhere) => {
                    block.subgroups[index].state = State::Waiting;
                    return Ok(());
                }
                Err(trap) => return Err(trap.located(&self.program.sites, site)),
            }
        }
        Ok(())
    }

    /// Executes one instruction of a subgroup; `Elsewhere` if it is one of the
    /// whole block.
    fn execute(
        &mut self,
        launch: &Launch,
        block: &mut Block,
        index: usize,
        instruction: &Instruction,
        site: SiteId,
    ) -> Outcome<Flow> {
        use Instruction as I;
        let backwards = self
            .random
            .as_mut()
            .is_some_and(|random| random.next() & 1 != 0);
        let Block {
            id,
            subgroups,
            shared,
            clock,
            ..
        } = block;
        let count = subgroups.len();
        let Subgroup { lanes, private, .. } = &mut subgroups[index];
        let mut reach = Reach {
            device: &mut self.device,
            shared,
            private,
            memrefs: &self.memrefs,
            clock,
            window: &self.window,
            subgroup: index,
            site,
            backwards,
        };
        match instruction {
            I::Load {
                dst,
                memref,
                indices,
            } => reach.load(lanes, *dst, *memref, indices)?,
            I::Store {
                value,
                memref,
                indices,
            } => reach.store(lanes, *value, *memref, indices)?,
            I::Atomic(op) => reach.atomic(lanes, op)?,
            I::Fence { scope } => reach.fence(lanes, *scope),
            I::Id { dst, what } => {
                let (width, first) = (lanes.width, index * lanes.width);
                let element = *id * launch.threads as u64 + first as u64;
                let of = |lane: usize| match what {
                    Id::Lane => lane as u64,
                    Id::SubgroupSize => width as u64,
                    Id::Log2SubgroupSize => width.trailing_zeros() as u64,
                    Id::Subgroup => index as u64,
                    Id::NumSubgroups => count as u64,
                    Id::Elect => (lane == 0) as u64,
                    Id::Block => *id,
                    Id::BlockDim => launch.threads as u64,
                    Id::Thread => (first + lane) as u64,
                    Id::GridDim => launch.blocks,
                    Id::Element => element + lane as u64,
                };
                for (lane, value) in lanes.values_mut(*dst).iter_mut().enumerate() {
                    *value = of(lane);
                }
            }
            I::Shared { dst, slot, shape } => {
                let (element, _) = launch.code.shared[*slot as usize];
                let whole = Memref::whole(Space::Shared, *slot, element, shape);
                lanes.set_all(*dst, self.memrefs.add(whole));
            }
            I::Alloca { dst, slot, shape } => {
                // A fresh array each time, for the lanes that are active.
                let allocation = &mut private[*slot as usize];
                let share = (allocation.len() / lanes.width) as i64;
                for lane in bits(lanes.active) {
                    allocation.scramble(lane as i64 * share..(lane as i64 + 1) * share);
                }
                let (element, _) = launch.code.private[*slot as usize];
                let whole = Memref::whole(Space::Private, *slot, element, shape);
                lanes.set_all(*dst, self.memrefs.add(whole));
            }
            I::Subgroup(op) => {
                converged(lanes, index)?;
                subgroup_op(op, lanes, clock, index)?;
            }
            I::Block(_) => {
                converged(lanes, index)?;
                return Ok(Flow::Elsewhere);
            }
            I::Print { format, values } => {
                for (register, _) in values {
                    lanes.need(*register, "what is printed")?;
                }
                for lane in bits(lanes.active) {
                    let value = |(register, element): &(Reg, Element)| {
                        element.as_printed(lanes.get(*register, lane))
                    };
                    let values: Vec<_> = values.iter().map(value).collect();
                    (self.print)(&printing::text(format, &values));
                }
            }
            other => return step(other, lanes, &mut self.memrefs),
        }
        Ok(Flow::Next)
    }

    /// No subgroup can go on by itself: either all have ended (true), or all
    /// have reached one operation of the block, which is executed.
    fn meet(&mut self, launch: &Launch, block: &mut Block) -> Result<bool, Fault> {
        let waits = |subgroup: &Subgroup| subgroup.state == State::Waiting;
        let Some(first) = block.subgroups.iter().position(waits) else {
            return Ok(true);
        };
        let leader = &block.subgroups[first].lanes;
        let at = leader.at as usize;
        let site = launch.code.sites[at];
        for (index, subgroup) in block.subgroups.iter().enumerate() {
            let theirs = &subgroup.lanes;
            let turns = |lanes: &Lanes| {
                lanes
                    .frames
                    .iter()
                    .map(|frame| frame.turns)
                    .collect::<Vec<_>>()
            };
            let what = if !waits(subgroup) {
                "has ended"
            } else if theirs.at != leader.at {
                "waits at another one"
            } else if turns(theirs) != turns(leader) {
                "waits in another turn of a loop"
            } else {
                continue;
            };
            let mut trap = Trap::new(format!(
                "divergent collective: subgroup {first} of block {} waits here for the whole block, but subgroup {index} {what}",
                block.id
            ));
            let other = launch.code.sites[theirs.at as usize];
            trap.other = Some((other, format!("is where subgroup {index} is")));
            return Err(trap.located(&self.program.sites, site));
        }
        if let Instruction::Block(op) = &launch.code.instructions[at] {
            let mut meeting = Meeting {
                subgroups: block
                    .subgroups
                    .iter_mut()
                    .map(|subgroup| &mut subgroup.lanes)
                    .collect(),
                shared: &mut block.shared,
                clock: &mut block.clock,
                memrefs: &self.memrefs,
                window: &self.window,
                site,
            };
            meeting
                .run(op)
                .map_err(|trap| trap.located(&self.program.sites, site))?;
        }
        for subgroup in &mut block.subgroups {
            subgroup.lanes.at += 1;
            subgroup.state = State::Running;
        }
        Ok(false)
    }
}

/// A collective needs all lanes of its subgroup.
fn converged(lanes: &Lanes, subgroup: usize) -> Outcome {
    if lanes.active == lanes.full {
        return Ok(());
    }
    let missing = bits(lanes.full & !lanes.active).next().unwrap_or(0);
    Err(Trap::new(format!(
        "divergent collective: {} of the {} lanes of subgroup {subgroup} execute it (lane {missing} does not)",
        lanes.active.count_ones(),
        lanes.present()
    )))
}
