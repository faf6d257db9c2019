//! A plan with everything evaluated: what is done to run a kernel on these
//! arguments, and in which order it has to be.

use crate::{Error, StepTime, control::WORD};
use qd_artifact::{Artifact, BufferRef, Dtype, Expr, Kernel, Operand, Step, Values};
use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

/// An argument where the device sees it.
pub(crate) enum Slot {
    Memory(Memory),
    Scalar(u64),
}

/// A buffer or a view of one.
#[derive(Clone)]
pub(crate) struct Memory {
    pub address: u64,
    pub bytes: usize,
    pub dtype: Dtype,
    pub shape: Vec<u64>,
}

/// One thing to do.
pub(crate) struct Action<'a> {
    /// The step of the plan that it comes from.
    pub step: &'a Step,
    /// Which actions of the same list, all before this one, must have finished.
    pub after: Vec<usize>,
    pub kind: Kind<'a>,
}

pub(crate) enum Kind<'a> {
    Launch(Launch<'a>),
    Fill(Fill),
    /// Where others wait, and nothing is done.
    Nothing,
    Loop(Loop<'a>),
    If(If<'a>),
}

pub(crate) struct Launch<'a> {
    pub kernel: &'a str,
    pub id: u64,
    pub body: &'a str,
    /// The phase's.
    pub name: &'a str,
    pub blocks: u64,
    pub threads: u32,
    /// Shared memory of a block besides what its body declares.
    pub dynamic_shared_bytes: u32,
    /// For each operand in order, a buffer is its address and, unless it is of
    /// rank 0, its leading extent; a view and words of control are address and
    /// length; a scalar is its bits, zero-extended.
    pub words: Vec<u64>,
}

impl Launch<'_> {
    /// An error of this launch.
    pub fn failed(&self, reason: &str) -> Error {
        Error::Launch {
            kernel: self.kernel.into(),
            step: self.name.into(),
            blocks: self.blocks,
            threads: self.threads,
            reason: reason.into(),
        }
    }
}

/// Does the actions, and again while the `i32` at `flag` is not 0.
pub(crate) struct Loop<'a> {
    pub kernel: &'a str,
    pub flag: u64,
    pub actions: Vec<Action<'a>>,
}

/// Does the actions if the `i32` at `condition` is not 0 before them.
pub(crate) struct If<'a> {
    pub condition: u64,
    pub actions: Vec<Action<'a>>,
}

impl Kind<'_> {
    /// Whether there is something to do, or to wait for.
    fn does_something(&self) -> bool {
        match self {
            Kind::Launch(launch) => launch.blocks > 0,
            Kind::Fill(_) | Kind::Loop(_) | Kind::If(_) => true,
            Kind::Nothing => false,
        }
    }
}

/// Sets `count` elements of `size` bytes each to the low bytes of `value`.
pub(crate) struct Fill {
    pub address: u64,
    pub size: usize,
    pub count: u64,
    pub value: u64,
}

/// Evaluates the plan of a kernel whose control begins at `control`. The artifact
/// has been validated and the arguments have been checked.
pub(crate) fn actions<'a>(
    artifact: &'a Artifact,
    kernel: &'a Kernel,
    slots: Vec<Slot>,
    control: u64,
) -> Result<Vec<Action<'a>>, Error> {
    let mut list = List {
        artifact,
        actions: Vec::new(),
        launches: HashMap::new(),
        barrier: None,
    };
    let frame = Frame {
        kernel,
        slots,
        control,
    };
    list.steps(&frame, &kernel.steps)?;
    Ok(list.actions)
}

/// A kernel and what its arguments are.
struct Frame<'a> {
    kernel: &'a Kernel,
    slots: Vec<Slot>,
    /// Where its words of control begin.
    control: u64,
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
            address: whole.address.wrapping_add(offset),
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

    /// Where the word is that an `if` looks at.
    fn condition(&self, operand: &Operand) -> Result<u64, Error> {
        match operand {
            Operand::Buffer(buffer) => self.word(buffer, "if"),
            Operand::Control { first, .. } => Ok(self.control + first * WORD),
            Operand::Scalar(_) => Err(Error::InvalidPlan(format!(
                "kernel '{}': a condition that is on no device",
                self.kernel.name
            ))),
        }
    }

    /// The address of a buffer of at least a word.
    fn word(&self, buffer: &BufferRef, step: &str) -> Result<u64, Error> {
        let memory = self.memory(buffer, step)?;
        match memory.bytes as u64 {
            ..WORD => Err(self.out_of_bounds(buffer, step, WORD.into())),
            _ => Ok(memory.address),
        }
    }

    fn words(&self, operands: &[Operand], step: &str) -> Result<Vec<u64>, Error> {
        let mut words = Vec::with_capacity(2 * operands.len());
        for operand in operands {
            match operand {
                Operand::Buffer(buffer) => {
                    let memory = self.memory(buffer, step)?;
                    words.push(memory.address);
                    words.extend(memory.shape.first());
                }
                Operand::Scalar(value) => words.push(self.evaluate(value, step)?),
                Operand::Control {
                    first,
                    words: length,
                } => words.extend([self.control + first * WORD, *length]),
            }
        }
        Ok(words)
    }

    fn fill(
        &self,
        buffer: &BufferRef,
        [lower, upper, value]: [&Expr; 3],
    ) -> Result<Option<Fill>, Error> {
        let memory = self.memory(buffer, "fill")?;
        let [lower, upper, value] = [
            self.evaluate(lower, "fill")?,
            self.evaluate(upper, "fill")?,
            self.evaluate(value, "fill")?,
        ];
        if lower >= upper {
            return Ok(None);
        }
        let size = memory.dtype.size();
        let end = u128::from(upper) * size as u128;
        if end > memory.bytes as u128 {
            return Err(self.out_of_bounds(buffer, "fill", end));
        }
        Ok(Some(Fill {
            address: memory.address + lower * size as u64,
            size,
            count: upper - lower,
            value,
        }))
    }
}

/// Actions that follow each other.
struct List<'a> {
    artifact: &'a Artifact,
    actions: Vec<Action<'a>>,
    /// Launches since the barrier, by what the plan calls them.
    launches: HashMap<u64, usize>,
    /// The last action that everything after it waits for.
    barrier: Option<usize>,
}

impl<'a> List<'a> {
    fn push(&mut self, step: &'a Step, after: Vec<usize>, kind: Kind<'a>) {
        self.actions.push(Action { step, after, kind });
    }

    /// What waits for all before it, and is waited for by all behind it: the
    /// plan says of launches alone what they depend on.
    fn push_barrier(&mut self, step: &'a Step, kind: Kind<'a>) {
        let waited: HashSet<usize> = self.actions[self.barrier.unwrap_or(0)..]
            .iter()
            .flat_map(|action| &action.after)
            .copied()
            .collect();
        let after = (self.barrier.unwrap_or(0)..self.actions.len())
            .filter(|i| !waited.contains(i))
            .collect();
        self.barrier = Some(self.actions.len());
        self.launches.clear();
        self.push(step, after, kind);
    }

    fn steps(&mut self, frame: &Frame<'a>, steps: &'a [Step]) -> Result<(), Error> {
        for step in steps {
            match step {
                Step::Launch {
                    id,
                    body,
                    name,
                    blocks,
                    threads,
                    dynamic_shared_bytes,
                    arguments,
                    after,
                } => {
                    let launch = Launch {
                        kernel: &frame.kernel.name,
                        id: *id,
                        body,
                        name,
                        blocks: frame.evaluate(blocks, name)?,
                        threads: *threads,
                        dynamic_shared_bytes: *dynamic_shared_bytes,
                        words: frame.words(arguments, name)?,
                    };
                    let mut after: Vec<_> = after
                        .iter()
                        .filter_map(|id| self.launches.get(id).copied())
                        .collect();
                    if after.is_empty() {
                        after.extend(self.barrier);
                    }
                    self.launches.insert(*id, self.actions.len());
                    self.push(step, after, Kind::Launch(launch));
                }
                Step::Fill {
                    buffer,
                    lower,
                    upper,
                    value,
                } => {
                    if let Some(fill) = frame.fill(buffer, [lower, upper, value])? {
                        self.push_barrier(step, Kind::Fill(fill));
                    }
                }
                Step::DoWhile { flag, steps } => {
                    let repeat = Loop {
                        kernel: &frame.kernel.name,
                        flag: frame.word(flag, "do_while")?,
                        actions: self.inner(frame, steps)?,
                    };
                    self.push_barrier(step, Kind::Loop(repeat));
                }
                Step::If { condition, steps } => {
                    let actions = self.inner(frame, steps)?;
                    // Nobody has to look whether nothing is to be done.
                    let kind = match actions.iter().any(|action| action.kind.does_something()) {
                        true => Kind::If(If {
                            condition: frame.condition(condition)?,
                            actions,
                        }),
                        false => Kind::Nothing,
                    };
                    self.push_barrier(step, kind);
                }
                Step::Dispatch { .. } => self.dispatch(frame, step)?,
            }
        }
        Ok(())
    }

    /// The actions of steps in another one.
    fn inner(&self, frame: &Frame<'a>, steps: &'a [Step]) -> Result<Vec<Action<'a>>, Error> {
        let mut inner = List {
            artifact: self.artifact,
            actions: Vec::new(),
            launches: HashMap::new(),
            barrier: None,
        };
        inner.steps(frame, steps)?;
        Ok(inner.actions)
    }

    /// The steps of the variant that is chosen, after all before them and before
    /// all behind them.
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
                    Operand::Control { .. } => Err(Error::InvalidPlan(format!(
                        "kernel '{}' passes its control on",
                        frame.kernel.name
                    ))),
                })
                .collect::<Result<_, _>>()?;
            let steps = &kernel.steps;
            self.push_barrier(step, Kind::Nothing);
            let frame = Frame {
                kernel,
                slots,
                control: frame.control + frame.kernel.control * WORD,
            };
            self.steps(&frame, steps)?;
            self.push_barrier(step, Kind::Nothing);
            return Ok(());
        }
        Err(Error::NoVariant {
            kernel: frame.kernel.name.clone(),
            variants: variants.iter().map(|v| v.kernel.clone()).collect(),
        })
    }
}

/// Times per step of the plan.
#[derive(Default)]
pub(crate) struct Times {
    steps: Vec<StepTime>,
    /// Where in `steps` a step of the plan is, by its address.
    places: HashMap<usize, usize>,
}

impl Times {
    /// Adds a run of a launch or of a fill.
    pub fn add(&mut self, action: &Action<'_>, time: Duration) {
        let (name, id, blocks) = match &action.kind {
            Kind::Launch(launch) => (launch.name, Some(launch.id), launch.blocks),
            Kind::Fill(_) => ("fill", None, 1),
            Kind::Loop(_) | Kind::If(_) | Kind::Nothing => return,
        };
        let place = *self
            .places
            .entry(std::ptr::from_ref(action.step) as usize)
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

    /// Runs of launches.
    pub fn launches(&self) -> u64 {
        let launches = self.steps.iter().filter(|step| step.id.is_some());
        launches.map(|step| step.runs).sum()
    }

    /// The steps that ran, in order of their first run.
    pub fn into_steps(self) -> Vec<StepTime> {
        self.steps
    }
}
