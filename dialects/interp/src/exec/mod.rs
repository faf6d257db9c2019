//! Running a decoded program.

mod access;
mod algo;
mod arithmetic;
mod block;
mod combine;
mod control;
mod host;
mod lanes;
mod launch;
mod random;
mod subgroup;

pub(crate) use algo::Call;
pub(crate) use combine::{Folder, Tuples, identity};
pub(crate) use lanes::bits;

use crate::{
    Report, Schedule,
    decode::Program,
    fault::{Fault, SiteId},
    memory::{Allocation, Memrefs},
    race::Window,
};
use random::Random;

/// A run of a program: device memory, and what has been done so far.
pub(crate) struct Engine<'p> {
    pub program: &'p Program,
    pub device: Vec<Allocation>,
    pub memrefs: Memrefs,
    pub window: Window,
    pub wave: usize,
    /// Instructions that may still be executed.
    pub fuel: u64,
    /// The adversary, if there is one.
    pub random: Option<Random>,
    pub report: Report,
    /// Takes what threads print.
    pub print: &'p mut dyn FnMut(&str),
}

impl Engine<'_> {
    pub fn fault(&self, site: SiteId, message: impl Into<String>) -> Fault {
        self.program.sites[site as usize].fault(message)
    }

    /// Uses up one instruction.
    fn spend(&mut self, site: SiteId) -> Result<(), Fault> {
        if self.fuel == 0 {
            return Err(self.fault(
                site,
                "was about to run when the step limit was reached: a thread waits for what never \
                 happens, or the program is too long",
            ));
        }
        self.fuel -= 1;
        self.report.operations += 1;
        Ok(())
    }
}

/// The scheduler, unless blocks run in order.
pub(crate) fn adversary(schedule: Schedule) -> Option<Random> {
    match schedule {
        Schedule::InOrder => None,
        Schedule::Random { seed } => Some(Random::new(seed)),
    }
}
