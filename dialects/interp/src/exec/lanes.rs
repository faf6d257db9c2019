//! The registers of threads that run together, and which of them are active.

use crate::{
    fault::{Outcome, Trap},
    program::{Reg, Target},
};

/// A structured region that is being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Lanes that are active again after it.
    pub saved: u64,
    /// Lanes that are to take the other branch.
    pub other: u64,
    /// Turns a loop has taken.
    pub turns: u64,
}

/// Up to 64 threads in lockstep: a subgroup, or one lane for what the host or a
/// combiner computes.
///
/// An instruction computes its result in every lane, active or not: a result is
/// only ever read by lanes that were active when it was made. What must keep
/// its value in inactive lanes (loop-carried values, results of regions) is
/// written by `Copy`, which looks at `active`.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub width: usize,
    /// The lanes that are there: the first ones.
    pub full: u64,
    pub active: u64,
    /// The next instruction.
    pub at: Target,
    pub frames: Vec<Frame>,
    values: Vec<u64>,
    poison: Vec<u64>,
}

impl Lanes {
    pub fn new(width: usize, registers: u32) -> Self {
        Self::partly(width, width, registers)
    }

    /// Of which only the first `present` are there.
    pub fn partly(width: usize, present: usize, registers: u32) -> Self {
        let full = u64::MAX >> (64 - present);
        Self {
            width,
            full,
            active: full,
            at: 0,
            frames: Vec::new(),
            values: vec![0; width * registers as usize],
            poison: vec![0; registers as usize],
        }
    }

    /// How many lanes are there.
    pub fn present(&self) -> usize {
        self.full.count_ones() as usize
    }

    /// The register's value in every lane.
    pub fn values(&self, reg: Reg) -> &[u64] {
        &self.values[reg as usize * self.width..][..self.width]
    }

    pub fn values_mut(&mut self, reg: Reg) -> &mut [u64] {
        &mut self.values[reg as usize * self.width..][..self.width]
    }

    /// The result register's lanes, and those of all registers before it: an
    /// operand's number is lower than its result's.
    pub fn split(&mut self, dst: Reg) -> (&[u64], &mut [u64]) {
        let (before, rest) = self.values.split_at_mut(dst as usize * self.width);
        (before, &mut rest[..self.width])
    }

    pub fn get(&self, reg: Reg, lane: usize) -> u64 {
        self.values[reg as usize * self.width + lane]
    }

    pub fn set(&mut self, reg: Reg, lane: usize, bits: u64) {
        self.values[reg as usize * self.width + lane] = bits;
        self.poison[reg as usize] &= !(1 << lane);
    }

    pub fn set_poison_lane(&mut self, reg: Reg, lane: usize) {
        self.poison[reg as usize] |= 1 << lane;
    }

    /// The same value in every lane.
    pub fn set_all(&mut self, reg: Reg, bits: u64) {
        self.values_mut(reg).fill(bits);
        self.poison[reg as usize] = 0;
    }

    /// The lanes in which the register is poison.
    pub fn poison(&self, reg: Reg) -> u64 {
        self.poison[reg as usize]
    }

    pub fn is_poison(&self, reg: Reg, lane: usize) -> bool {
        self.poison(reg) >> lane & 1 != 0
    }

    pub fn set_poison(&mut self, reg: Reg, lanes: u64) {
        self.poison[reg as usize] = lanes;
    }

    /// Fails if an active lane's value is poison.
    pub fn need(&self, reg: Reg, what: &str) -> Outcome {
        match self.poison(reg) & self.active {
            0 => Ok(()),
            lanes => Err(Trap::new(format!(
                "uses poison as {what} (in lane {})",
                lanes.trailing_zeros()
            ))),
        }
    }

    /// The value that all active lanes share; none if they differ or none is
    /// active.
    pub fn uniform(&self, reg: Reg) -> Option<u64> {
        let mut lanes = bits(self.active);
        let first = self.get(reg, lanes.next()?);
        lanes
            .all(|lane| self.get(reg, lane) == first)
            .then_some(first)
    }

    /// The active lanes in which an `i1` register holds.
    pub fn holding(&self, reg: Reg) -> u64 {
        let mut mask = 0;
        for (lane, &value) in self.values(reg).iter().enumerate() {
            mask |= (value & 1) << lane;
        }
        mask & self.active
    }

    /// Copies in active lanes, as if all at once.
    pub fn copy(&mut self, pairs: &[(Reg, Reg)]) {
        if let [(to, from)] = *pairs {
            let poison = self.poison(from);
            self.write_active(to, from as usize * self.width, poison);
            return;
        }
        let start = self.values.len();
        for &(_, from) in pairs {
            let from = from as usize * self.width;
            self.values.extend_from_within(from..from + self.width);
            self.poison.push(self.poison[from / self.width]);
        }
        let poisons = self.poison.len() - pairs.len();
        for (index, &(to, _)) in pairs.iter().enumerate() {
            let poison = self.poison[poisons + index];
            self.write_active(to, start + index * self.width, poison);
        }
        self.values.truncate(start);
        self.poison.truncate(poisons);
    }

    fn write_active(&mut self, to: Reg, from: usize, poison: u64) {
        let start = to as usize * self.width;
        if self.active == self.full {
            self.values.copy_within(from..from + self.width, start);
        } else {
            for lane in bits(self.active) {
                self.values[start + lane] = self.values[from + lane];
            }
        }
        let old = &mut self.poison[to as usize];
        *old = *old & !self.active | poison & self.active;
    }
}

/// The positions of the set bits, ascending.
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}
