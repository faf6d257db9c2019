//! A plan with everything evaluated: what is done to run a kernel on these
//! arguments, and in which order it has to be.

use crate::{
    Error, StepTime,
    control::WORD,
    program::{Planned, Program},
};
use qd_artifact::{BufferRef, Dtype, Expr, Operand, Step, StepKind, Values, Variant};
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
    program: Program<'a>,
    planned: Planned<'a>,
    slots: Vec<Slot>,
    control: u64,
) -> Result<Vec<Action<'a>>, Error> {
    let mut list = List {
        program,
        actions: Vec::new(),
    };
    let frame = Frame {
        planned,
        slots,
        control,
    };
    list.steps(&frame, &planned.plan.steps, &[])?;
    Ok(list.actions)
}

/// A kernel and what its arguments are.
struct Frame<'a> {
    planned: Planned<'a>,
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
            .map_err(|e| Error::evaluate(self.planned.kernel, what, e))
    }

    /// The memory behind a reference; `step` is who asks, for messages.
    fn memory(&self, buffer: &BufferRef, step: &str) -> Result<Memory, Error> {
        let Slot::Memory(whole) = &self.slots[buffer.argument] else {
            return Err(Error::InvalidPlan(format!(
                "kernel '{}': argument {} is no buffer",
                self.planned.kernel.name, buffer.argument
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
            kernel: self.planned.kernel.name.clone(),
            step: step.into(),
            argument: self.planned.kernel.arguments[buffer.argument].name.clone(),
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
                self.planned.kernel.name
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
    program: Program<'a>,
    actions: Vec<Action<'a>>,
}

impl<'a> List<'a> {
    fn push(&mut self, step: &'a Step, after: Vec<usize>, kind: Kind<'a>) {
        self.actions.push(Action { step, after, kind });
    }

    /// Adds steps of one list, behind the actions of `entry`.
    fn steps(
        &mut self,
        frame: &Frame<'a>,
        steps: &'a [Step],
        entry: &[usize],
    ) -> Result<(), Error> {
        // What has finished when a step has.
        let mut ends: HashMap<u64, Vec<usize>> = HashMap::new();
        for step in steps {
            let mut after: Vec<usize> = step
                .after
                .iter()
                .flat_map(|id| ends.get(id).into_iter().flatten().copied())
                .collect();
            after.sort_unstable();
            after.dedup();
            if after.is_empty() {
                after.extend(entry);
            }
            let (after, kind) = match &step.kind {
                StepKind::Dispatch {
                    variants,
                    arguments,
                } => {
                    let ends = self.dispatch(frame, step, (variants, arguments), after)?;
                    (ends, Some(Kind::Nothing))
                }
                kind => (after, self.kind(frame, kind)?),
            };
            match kind {
                Some(kind) => {
                    ends.insert(step.id, vec![self.actions.len()]);
                    self.push(step, after, kind);
                }
                // Who waits for a step without an action waits for what it waits for.
                None => _ = ends.insert(step.id, after),
            }
        }
        Ok(())
    }

    /// What is done for a step that is no dispatch, if anything is.
    fn kind(&self, frame: &Frame<'a>, kind: &'a StepKind) -> Result<Option<Kind<'a>>, Error> {
        Ok(Some(match kind {
            StepKind::Launch {
                body,
                name,
                blocks,
                threads,
                dynamic_shared_bytes,
                arguments,
            } => Kind::Launch(Launch {
                kernel: &frame.planned.kernel.name,
                body,
                name,
                blocks: frame.evaluate(blocks, name)?,
                threads: *threads,
                dynamic_shared_bytes: *dynamic_shared_bytes,
                words: frame.words(arguments, name)?,
            }),
            StepKind::Fill {
                buffer,
                lower,
                upper,
                value,
            } => return Ok(frame.fill(buffer, [lower, upper, value])?.map(Kind::Fill)),
            StepKind::DoWhile { flag, steps } => Kind::Loop(Loop {
                kernel: &frame.planned.kernel.name,
                flag: frame.word(flag, "do_while")?,
                actions: self.inner(frame, steps)?,
            }),
            StepKind::If { condition, steps } => {
                let actions = self.inner(frame, steps)?;
                // Nobody has to look whether nothing is to be done.
                match actions.iter().any(|action| action.kind.does_something()) {
                    true => Kind::If(If {
                        condition: frame.condition(condition)?,
                        actions,
                    }),
                    false => Kind::Nothing,
                }
            }
            StepKind::Dispatch { .. } => return Ok(None),
        }))
    }

    /// The actions of steps in another one.
    fn inner(&self, frame: &Frame<'a>, steps: &'a [Step]) -> Result<Vec<Action<'a>>, Error> {
        let mut inner = List {
            program: self.program,
            actions: Vec::new(),
        };
        inner.steps(frame, steps, &[])?;
        Ok(inner.actions)
    }

    /// Adds the actions of the variant that is chosen, behind those of `after`. Yields
    /// those that have to finish for it to have.
    fn dispatch(
        &mut self,
        frame: &Frame<'a>,
        step: &'a Step,
        (variants, arguments): (&'a [Variant], &'a [Operand]),
        after: Vec<usize>,
    ) -> Result<Vec<usize>, Error> {
        for variant in variants {
            let predicate = variant.predicate.as_ref();
            let eligible =
                predicate.map_or(Ok(1), |p| frame.evaluate(p, &variant.kernel))? & 1 == 1;
            let Some(planned) = self.program.kernel(&variant.kernel).filter(|_| eligible) else {
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
                        frame.planned.kernel.name
                    ))),
                })
                .collect::<Result<_, _>>()?;
            let frame = Frame {
                planned,
                slots,
                control: frame.control + frame.planned.plan.control * WORD,
            };
            let begin = self.actions.len();
            self.push(step, after, Kind::Nothing);
            self.steps(&frame, &planned.plan.steps, &[begin])?;
            let waited: HashSet<usize> = self.actions[begin..]
                .iter()
                .flat_map(|action| &action.after)
                .copied()
                .collect();
            let ends = (begin..self.actions.len()).filter(|i| !waited.contains(i));
            return Ok(ends.collect());
        }
        Err(Error::NoVariant {
            kernel: frame.planned.kernel.name.clone(),
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
        let (name, is_launch, blocks) = match &action.kind {
            Kind::Launch(launch) => (launch.name, true, launch.blocks),
            Kind::Fill(_) => ("fill", false, 1),
            Kind::Loop(_) | Kind::If(_) | Kind::Nothing => return,
        };
        let place = *self
            .places
            .entry(std::ptr::from_ref(action.step) as usize)
            .or_insert_with(|| {
                self.steps.push(StepTime {
                    name: name.into(),
                    id: action.step.id,
                    is_launch,
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
        let launches = self.steps.iter().filter(|step| step.is_launch);
        launches.map(|step| step.runs).sum()
    }

    /// The steps that ran, in order of their first run.
    pub fn into_steps(self) -> Vec<StepTime> {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::step;
    use qd_artifact::{Argument, ArgumentKind, Artifact, Kernel, Plan};

    fn fill(from: Expr) -> StepKind {
        StepKind::Fill {
            buffer: BufferRef {
                argument: 0,
                view: None,
            },
            lower: from,
            upper: Expr::constant(1),
            value: Expr::constant(0),
        }
    }

    fn numbered(id: u64, after: &[u64], kind: StepKind) -> Step {
        Step {
            id,
            after: after.to_vec(),
            ..step(kind)
        }
    }

    fn kernel(name: &str, steps: Vec<Step>) -> Kernel {
        let plan = Plan {
            steps,
            ..Plan::default()
        };
        Kernel {
            name: name.into(),
            arguments: vec![Argument::new(
                "a",
                ArgumentKind::Buffer {
                    dtype: Dtype::I32,
                    shape: vec![None],
                },
            )],
            plans: vec![Some(plan)],
        }
    }

    /// What each action of a kernel `k` waits for, on a buffer of one element.
    fn waits(kernels: Vec<Kernel>) -> Vec<Vec<usize>> {
        let artifact = Artifact {
            targets: vec!["any".into()],
            kernels,
            modules: Vec::new(),
        };
        let program = Program::new(&artifact, || "any".into(), |_| true).expect("a target");
        crate::validate::validate(program).expect("valid");
        let memory = Slot::Memory(Memory {
            address: 64,
            bytes: 4,
            dtype: Dtype::I32,
            shape: vec![1],
        });
        let planned = program.kernel("k").expect("a kernel");
        let actions = actions(program, planned, vec![memory], 0).expect("evaluated");
        actions.into_iter().map(|action| action.after).collect()
    }

    fn one() -> StepKind {
        fill(Expr::constant(0))
    }

    /// Of no elements: there is no action for it.
    fn none() -> StepKind {
        fill(Expr::Length(0, 0))
    }

    #[test]
    fn actions_wait_for_what_the_plan_says() {
        let steps = vec![
            numbered(9, &[], one()),
            numbered(2, &[], one()),
            numbered(5, &[9, 2], one()),
            numbered(4, &[2], one()),
        ];
        assert_eq!(
            waits(vec![kernel("k", steps)]),
            [vec![], vec![], vec![0, 1], vec![1]]
        );
    }

    #[test]
    fn who_waits_for_nothing_done_waits_for_what_that_waits_for() {
        let steps = vec![
            numbered(0, &[], one()),
            numbered(1, &[], one()),
            numbered(2, &[0], none()),
            numbered(3, &[1, 2], none()),
            numbered(4, &[3], one()),
            numbered(5, &[2, 4], one()),
            numbered(6, &[], none()),
            numbered(7, &[6], one()),
        ];
        let expected = [vec![], vec![], vec![0, 1], vec![0, 2], vec![]];
        assert_eq!(waits(vec![kernel("k", steps)]), expected);
    }

    #[test]
    fn a_dispatched_kernel_is_between_what_is_before_and_behind_it() {
        let dispatch = |kernel: &str| StepKind::Dispatch {
            variants: vec![Variant {
                kernel: kernel.into(),
                predicate: None,
            }],
            arguments: vec![Operand::Buffer(BufferRef {
                argument: 0,
                view: None,
            })],
        };
        let outer = kernel(
            "k",
            vec![
                numbered(0, &[], one()),
                numbered(1, &[0], dispatch("inner")),
                numbered(2, &[1], one()),
            ],
        );
        // Its own numbers, two beginnings and two ends.
        let inner = kernel(
            "inner",
            vec![
                numbered(0, &[], one()),
                numbered(1, &[], none()),
                numbered(2, &[1], one()),
            ],
        );
        let expected = [vec![], vec![0], vec![1], vec![1], vec![2, 3], vec![4]];
        assert_eq!(waits(vec![outer.clone(), inner]), expected);
        let expected = [vec![], vec![0], vec![1], vec![2]];
        assert_eq!(waits(vec![outer, kernel("inner", Vec::new())]), expected);
    }
}
