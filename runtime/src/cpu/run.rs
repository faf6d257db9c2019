//! The actions of a plan, done by this machine.

use super::{jit::Body, pool::Pool};
use crate::{
    Error,
    actions::{Action, If, Kind, Loop, Times},
};
use std::{collections::HashMap, time::Instant};

/// One run of a kernel.
pub(super) struct Run<'a> {
    pub bodies: &'a HashMap<String, Body>,
    pub pool: &'a mut Pool,
    pub max_iterations: Option<u64>,
    pub times: Times,
}

impl Run<'_> {
    /// Does all of them, in their order, which is one that they allow.
    pub fn all(&mut self, actions: &[Action<'_>]) -> Result<(), Error> {
        for action in actions {
            let begin = Instant::now();
            match &action.kind {
                // Safety: the compiler made the body for these operands, and
                // every block of the grid may run beside the others.
                Kind::Launch(launch) => unsafe {
                    self.pool
                        .launch(self.bodies[launch.body], launch.blocks, &launch.words);
                },
                // Safety: the range is within an argument's buffer, and no launch
                // is running.
                Kind::Fill(range) => unsafe {
                    fill(range.address, range.count, range.value, range.size);
                },
                Kind::Loop(repeat) => self.repeat(repeat)?,
                // Safety: a word of an argument or of control, and no launch is
                // running.
                Kind::If(If { condition, actions }) => unsafe {
                    if (*condition as *const i32).read_unaligned() != 0 {
                        self.all(actions)?;
                    }
                },
                Kind::Nothing => {}
            }
            self.times.add(action, begin.elapsed());
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &Loop<'_>) -> Result<(), Error> {
        let mut iterations = 0;
        loop {
            self.all(&repeat.actions)?;
            iterations += 1;
            // Safety: within an argument's buffer, and no launch is running.
            let go_on = unsafe { (repeat.flag as *const i32).read_unaligned() } != 0;
            if !go_on {
                return Ok(());
            }
            if let Some(limit) = self.max_iterations.filter(|limit| iterations >= *limit) {
                return Err(Error::TooManyIterations {
                    kernel: repeat.kernel.into(),
                    limit,
                });
            }
        }
    }
}

/// Sets `count` elements of `size` bytes each to the low bytes of `value`.
///
/// # Safety
///
/// The range must be memory of this process that nobody else uses.
pub(super) unsafe fn fill(address: u64, count: u64, value: u64, size: usize) {
    let element = &value.to_le_bytes()[..size];
    // Safety: by contract.
    let range =
        unsafe { std::slice::from_raw_parts_mut(address as *mut u8, count as usize * size) };
    // A cache-resident stretch of the pattern, and copies of it.
    let stretch = range.len().min(4096);
    for chunk in range[..stretch].chunks_exact_mut(size) {
        chunk.copy_from_slice(element);
    }
    let (pattern, rest) = range.split_at_mut(stretch);
    for chunk in rest.chunks_mut(stretch.max(1)) {
        chunk.copy_from_slice(&pattern[..chunk.len()]);
    }
}
