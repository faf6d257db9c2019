//! The steps of a plan, done.

use super::{jit::Body, pool::Pool};
use crate::{Argument, Error, StepTime};
use qd_artifact::{Artifact, BufferRef, Dtype, Expr, Kernel, Operand, Step, Values};
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// One run of a kernel. The plan has been validated: what it refers to is
/// there.
pub(super) struct Run<'a> {
    pub artifact: &'a Artifact,
    pub bodies: &'a HashMap<String, Body>,
    pub pool: &'a mut Pool,
    pub max_iterations: Option<u64>,
    pub times: Times,
}

/// An argument in this process's memory.
enum Slot {
    Memory(Memory),
    Scalar(u64),
}

/// A buffer or a view of one.
#[derive(Clone)]
struct Memory {
    address: *mut u8,
    bytes: usize,
    dtype: Dtype,
    shape: Vec<u64>,
}

/// A kernel and what its arguments are.
struct Frame<'a> {
    kernel: &'a Kernel,
    slots: Vec<Slot>,
}

impl Values for Frame<'_> {
    fn scalar(&self, argument: usize) -> u64 {
        match &self.slots[argument] {
            Slot::Scalar(bits) => *bits,
            Slot::Memory(_) => 0,
        }
    }

    fn length(&self, argument: usize, dimension: usize) -> u64 {
        match &self.slots[argument] {
            Slot::Memory(memory) => memory.shape.get(dimension).copied().unwrap_or(1),
            Slot::Scalar(_) => 0,
        }
    }
}

impl Frame<'_> {
    fn evaluate(&self, expr: &Expr, what: &str) -> Result<u64, Error> {
        expr.evaluate(self)
            .map_err(|e| Error::evaluate(self.kernel, what, e))
    }

    /// The memory behind a reference; `step` is who asks, for messages.
    fn memory(&self, buffer: &BufferRef, step: &str) -> Result<Memory, Error> {
        let Slot::Memory(whole) = &self.slots[buffer.argument] else {
            return Err(Error::InvalidPlan(format!(
                "kernel '{}': argument {} is no buffer",
                self.kernel.name, buffer.argument
            )));
        };
        let Some(view) = &buffer.view else {
            return Ok(whole.clone());
        };
        let offset = self.evaluate(&view.offset_bytes, step)?;
        let length = self.evaluate(&view.length, step)?;
        let bytes = u128::from(length) * view.dtype.size() as u128;
        let needed = u128::from(offset) + bytes;
        if needed > whole.bytes as u128 {
            return Err(self.out_of_bounds(buffer, step, needed));
        }
        Ok(Memory {
            // The sum is within the buffer, so the offset is.
            address: whole.address.wrapping_add(offset as usize),
            bytes: bytes as usize,
            dtype: view.dtype,
            shape: vec![length],
        })
    }

    fn out_of_bounds(&self, buffer: &BufferRef, step: &str, needed: u128) -> Error {
        let given = match &self.slots[buffer.argument] {
            Slot::Memory(memory) => memory.bytes,
            Slot::Scalar(_) => 0,
        };
        Error::OutOfBounds {
            kernel: self.kernel.name.clone(),
            step: step.into(),
            argument: self.kernel.arguments[buffer.argument].name.clone(),
            needed,
            given,
        }
    }
}

impl<'a> Run<'a> {
    /// Runs a kernel on arguments that have been checked.
    pub fn kernel(&mut self, kernel: &'a Kernel, arguments: &mut [Argument]) -> Result<(), Error> {
        let slots = arguments
            .iter_mut()
            .map(|argument| match argument {
                Argument::Buffer(buffer) => Slot::Memory(Memory {
                    address: buffer.as_mut_ptr(),
                    bytes: buffer.as_bytes().len(),
                    dtype: buffer.dtype(),
                    shape: buffer.shape().to_vec(),
                }),
                Argument::Scalar(scalar) => Slot::Scalar(scalar.bits),
            })
            .collect();
        self.steps(&Frame { kernel, slots }, &kernel.steps)
    }

    fn steps(&mut self, frame: &Frame<'a>, steps: &'a [Step]) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Launch {
                    id,
                    body,
                    name,
                    blocks,
                    arguments,
                    ..
                } => {
                    let blocks = frame.evaluate(blocks, name)?;
                    let words = words(frame, arguments, name)?;
                    let begin = Instant::now();
                    // Safety: the compiler made the body for these operands, and
                    // every block of the grid may run beside the others.
                    unsafe { self.pool.launch(self.bodies[body], blocks, &words) };
                    self.times
                        .add(step, name, Some(*id), blocks, begin.elapsed());
                }
                Step::Fill {
                    buffer,
                    lower,
                    upper,
                    value,
                } => {
                    let begin = Instant::now();
                    fill(frame, buffer, [lower, upper, value])?;
                    self.times.add(step, "fill", None, 1, begin.elapsed());
                }
                Step::DoWhile { flag, steps } => self.do_while(frame, flag, steps)?,
                Step::Dispatch { .. } => self.dispatch(frame, step)?,
            }
        }
        Ok(())
    }

    fn do_while(
        &mut self,
        frame: &Frame<'a>,
        flag: &BufferRef,
        steps: &'a [Step],
    ) -> Result<(), Error> {
        let flag_memory = frame.memory(flag, "do_while")?;
        if flag_memory.bytes < 4 {
            return Err(frame.out_of_bounds(flag, "do_while", 4));
        }
        let mut iterations = 0;
        loop {
            self.steps(frame, steps)?;
            iterations += 1;
            // Safety: in bounds, and no launch is running.
            let go_on = unsafe { flag_memory.address.cast::<i32>().read_unaligned() } != 0;
            if !go_on {
                return Ok(());
            }
            if let Some(limit) = self.max_iterations.filter(|limit| iterations >= *limit) {
                return Err(Error::TooManyIterations {
                    kernel: frame.kernel.name.clone(),
                    limit,
                });
            }
        }
    }

    fn dispatch(&mut self, frame: &Frame<'a>, step: &'a Step) -> Result<(), Error> {
        let Step::Dispatch {
            variants,
            arguments,
        } = step
        else {
            return Ok(());
        };
        for variant in variants {
            let predicate = variant.predicate.as_ref();
            let eligible =
                predicate.map_or(Ok(1), |p| frame.evaluate(p, &variant.kernel))? & 1 == 1;
            let Some(kernel) = self.artifact.kernel(&variant.kernel).filter(|_| eligible) else {
                continue;
            };
            let slots = arguments
                .iter()
                .map(|operand| match operand {
                    Operand::Buffer(buffer) => {
                        frame.memory(buffer, &variant.kernel).map(Slot::Memory)
                    }
                    Operand::Scalar(value) => {
                        frame.evaluate(value, &variant.kernel).map(Slot::Scalar)
                    }
                })
                .collect::<Result<_, _>>()?;
            return self.steps(&Frame { kernel, slots }, &kernel.steps);
        }
        Err(Error::NoVariant {
            kernel: frame.kernel.name.clone(),
            variants: variants.iter().map(|v| v.kernel.clone()).collect(),
        })
    }
}

/// The flat words a body takes.
fn words(frame: &Frame, operands: &[Operand], step: &str) -> Result<Vec<u64>, Error> {
    let mut words = Vec::with_capacity(2 * operands.len());
    for operand in operands {
        match operand {
            Operand::Buffer(buffer) => {
                let memory = frame.memory(buffer, step)?;
                words.push(memory.address as u64);
                words.extend(memory.shape.first());
            }
            Operand::Scalar(value) => words.push(frame.evaluate(value, step)?),
        }
    }
    Ok(words)
}

fn fill(frame: &Frame, buffer: &BufferRef, [lower, upper, value]: [&Expr; 3]) -> Result<(), Error> {
    let memory = frame.memory(buffer, "fill")?;
    let [lower, upper, value] = [
        frame.evaluate(lower, "fill")?,
        frame.evaluate(upper, "fill")?,
        frame.evaluate(value, "fill")?,
    ];
    if lower >= upper {
        return Ok(());
    }
    let size = memory.dtype.size();
    let end = u128::from(upper) * size as u128;
    if end > memory.bytes as u128 {
        return Err(frame.out_of_bounds(buffer, "fill", end));
    }
    let element = &value.to_le_bytes()[..size];
    // Safety: in bounds, and no launch is running.
    let range = unsafe {
        std::slice::from_raw_parts_mut(
            memory.address.add(lower as usize * size),
            (upper - lower) as usize * size,
        )
    };
    // A cache-resident stretch of the pattern, and copies of it.
    let stretch = range.len().min(4096);
    for chunk in range[..stretch].chunks_exact_mut(size) {
        chunk.copy_from_slice(element);
    }
    let (pattern, rest) = range.split_at_mut(stretch);
    for chunk in rest.chunks_mut(stretch.max(1)) {
        chunk.copy_from_slice(&pattern[..chunk.len()]);
    }
    Ok(())
}

/// Times per step of the plan.
#[derive(Default)]
pub(super) struct Times {
    steps: Vec<StepTime>,
    /// Where in `steps` a step of the plan is, by its address.
    places: HashMap<usize, usize>,
}

impl Times {
    fn add(&mut self, step: &Step, name: &str, id: Option<u64>, blocks: u64, time: Duration) {
        let place = *self
            .places
            .entry(std::ptr::from_ref(step) as usize)
            .or_insert_with(|| {
                self.steps.push(StepTime {
                    name: name.into(),
                    id,
                    blocks,
                    runs: 0,
                    total: Duration::ZERO,
                });
                self.steps.len() - 1
            });
        let entry = &mut self.steps[place];
        entry.blocks = blocks;
        entry.runs += 1;
        entry.total += time;
    }

    /// The steps that ran, in order of their first run.
    pub fn into_steps(self) -> Vec<StepTime> {
        self.steps
    }
}
