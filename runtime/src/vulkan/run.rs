//! A kernel with its arguments on the device: recorded, and replayed.

use super::{
    OnDevice,
    clock::{Queries, Span},
    commands::{Commands, Maker, Segment},
    memory::{Memory, Refusal},
    plan::Plan,
    recorder::Recorder,
    words::{failed, reason},
};
use crate::{
    Argument, Error, Options, Prepared, Timing,
    actions::{self, Kind, Slot, Times},
    argument::{self, Shapes},
    control::Control,
    program::Planned,
};
use qd_artifact::Kernel;
use std::time::{Duration, Instant};

pub(super) struct InMemory<'a> {
    loaded: &'a OnDevice,
    kernel: &'a Kernel,
    /// What the plan was evaluated for.
    shapes: Shapes,
    segments: Vec<Segment<'a>>,
    options: Options,
    queries: Option<Queries>,
    recorder: Recorder,
    /// Every buffer's, in the order of the arguments.
    memory: Vec<Memory>,
    control: Control<Memory>,
    flag: Memory,
    _constants: Memory,
}

impl<'a> InMemory<'a> {
    pub fn new(
        loaded: &'a OnDevice,
        planned: Planned<'a>,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Self, Error> {
        let (program, kernel) = (loaded.loaded.program(), planned.kernel);
        let device = &loaded.device;
        let what = |what: &str| format!("kernel '{}': {what}", kernel.name);
        let recorder =
            Recorder::new(device).map_err(|e| failed(&what("making a command pool"), e))?;
        let memory = allocate(loaded, kernel, arguments)?;
        let own = |refusal: Refusal| refusal.into_error(&what("its launches"), device);
        let control = Control::new(program, planned, |bytes| {
            Memory::new(device, bytes, loaded.copies)
        });
        let control =
            control.map_err(|refusal| refusal.into_error(&what("its control"), device))?;
        let words = control.memory().map_or(0, |memory| memory.address);
        let slots = slots(arguments, &memory);
        let actions = actions::actions(program, planned, slots, words)?;
        let buffers: Vec<_> = memory.iter().chain(control.memory()).collect();
        let plan = Plan::new(actions, &buffers)?;
        let constants = Memory::new(device, plan.constants.len(), loaded.copies).map_err(own)?;
        constants.write(&plan.constants, &recorder).map_err(own)?;
        let flag = Memory::staging(device, size_of::<i32>()).map_err(own)?;
        // Every action and the end of every loop may need one.
        let queries = Queries::new(device, 4 * plan.count + 2)
            .map_err(|e| failed(&what("making timestamps"), e))?;
        let mut maker = Maker {
            recorder: &recorder,
            code: &loaded.code,
            memory: &buffers,
            constants: &constants,
            flag: &flag,
            queries: queries.as_ref().map(|queries| queries.raw),
            one_by_one: options.time_steps,
            taken: 0,
        };
        let segments = maker.segments(plan.ops, None)?;
        let mut prepared = Self {
            loaded,
            kernel,
            shapes: Shapes::of(arguments),
            segments,
            options: options.clone(),
            queries,
            recorder,
            memory,
            control,
            flag,
            _constants: constants,
        };
        prepared.write(arguments)?;
        Ok(prepared)
    }

    fn copying_failed(&self, refusal: Refusal, whither: &str) -> Error {
        let what = format!(
            "kernel '{}': copying {whither} the device",
            self.kernel.name
        );
        refusal.into_error(&what, &self.loaded.device)
    }
}

impl Prepared for InMemory<'_> {
    fn run(&mut self) -> Result<Timing, Error> {
        let _span = tracing::debug_span!("run", kernel = self.kernel.name).entered();
        let clear = |memory: &Memory, bytes| memory.write(&vec![0; bytes], &self.recorder);
        let cleared = self.control.begin(clear);
        cleared.map_err(|refusal| self.copying_failed(refusal, "to"))?;
        let mut run = Run {
            prepared: self,
            times: Times::default(),
            launches: 0,
            span: None,
        };
        let outcome = run.segments(&self.segments);
        let Run {
            times,
            launches,
            span,
            ..
        } = run;
        if let Err(error) = outcome {
            return Err(match error {
                Error::Device(reason) => {
                    Error::Device(format!("kernel '{}': {reason}", self.kernel.name))
                }
                other => other,
            });
        }
        self.control.end();
        self.loaded.device.instance.check_validation()?;
        Ok(Timing {
            total: span.map_or(Duration::ZERO, |span| span.length(&self.loaded.device)),
            launches,
            steps: times.into_steps(),
        })
    }

    fn write(&mut self, arguments: &[Argument]) -> Result<(), Error> {
        self.shapes.check(self.kernel, arguments)?;
        let buffers = arguments.iter().filter_map(Argument::as_buffer);
        let outcome = buffers
            .zip(&self.memory)
            .try_for_each(|(buffer, memory)| memory.write(buffer.as_bytes(), &self.recorder));
        outcome.map_err(|refusal| self.copying_failed(refusal, "to"))
    }

    fn read(&mut self, arguments: &mut [Argument]) -> Result<(), Error> {
        self.shapes.check(self.kernel, arguments)?;
        let buffers = arguments.iter_mut().filter_map(|argument| match argument {
            Argument::Buffer(buffer) => Some(buffer),
            Argument::Scalar(_) => None,
        });
        let outcome = buffers
            .zip(&self.memory)
            .try_for_each(|(buffer, memory)| memory.read(buffer.as_mut_bytes(), &self.recorder));
        outcome.map_err(|refusal| self.copying_failed(refusal, "from"))
    }
}

/// Memory for every buffer.
fn allocate(
    loaded: &OnDevice,
    kernel: &Kernel,
    arguments: &[Argument],
) -> Result<Vec<Memory>, Error> {
    let mut memory = Vec::new();
    for (argument, declared) in arguments.iter().zip(&kernel.arguments) {
        let Some(buffer) = argument.as_buffer() else {
            continue;
        };
        let made = Memory::new(&loaded.device, buffer.as_bytes().len(), loaded.copies);
        memory.push(made.map_err(|refusal| {
            let what = format!(
                "kernel '{}': argument '{}', {} on the device",
                kernel.name,
                declared.name,
                argument::describe_buffer(buffer.dtype(), buffer.shape()),
            );
            refusal.into_error(&what, &loaded.device)
        })?);
    }
    Ok(memory)
}

/// Arguments as the plan sees them.
fn slots(arguments: &[Argument], memory: &[Memory]) -> Vec<Slot> {
    let mut addresses = memory.iter().map(|memory| memory.address);
    arguments
        .iter()
        .map(|argument| match argument {
            Argument::Buffer(buffer) => Slot::Memory(actions::Memory {
                // Every buffer has one, in this order.
                address: addresses.next().unwrap_or(0),
                bytes: buffer.as_bytes().len(),
                dtype: buffer.dtype(),
                shape: buffer.shape().to_vec(),
            }),
            Argument::Scalar(scalar) => Slot::Scalar(scalar.bits),
        })
        .collect()
}

/// One run of a kernel.
struct Run<'r, 'a> {
    prepared: &'r InMemory<'a>,
    times: Times,
    launches: u64,
    /// What has run so far.
    span: Option<Span>,
}

impl<'a> Run<'_, 'a> {
    fn segments(&mut self, segments: &[Segment<'a>]) -> Result<(), Error> {
        for segment in segments {
            match segment {
                Segment::Commands(commands) => self.commands(commands)?,
                Segment::Loop { kernel, body } => self.repeat(kernel, body)?,
                Segment::If { body } => {
                    if self.prepared.flag.first_word() != Some(0) {
                        self.segments(body)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn commands(&mut self, commands: &Commands<'a>) -> Result<(), Error> {
        let begin = Instant::now();
        self.prepared
            .recorder
            .finish(commands.raw)
            .map_err(|e| self.launching_failed(commands, &reason(e)))?;
        let span = match &self.prepared.queries {
            Some(queries) => {
                let read = queries.read(commands.query);
                let [begin, end] = read.map_err(|e| failed("reading timestamps", e))?;
                Span::Device(begin, end)
            }
            None => Span::Host(begin, Instant::now()),
        };
        self.span = Some(self.span.map_or(span, |first| first.until(span)));
        for action in &commands.actions {
            if let Kind::Launch(_) = action.kind {
                self.launches += 1;
            }
            if self.prepared.options.time_steps {
                self.times
                    .add(action, span.length(&self.prepared.loaded.device));
            }
        }
        Ok(())
    }

    /// Where each launch runs by itself, a fault is known to be its.
    fn launching_failed(&self, commands: &Commands<'a>, reason: &str) -> Error {
        match &commands.actions[..] {
            [action] if let Kind::Launch(launch) = &action.kind => launch.failed(reason),
            _ if self.prepared.options.time_steps => Error::Device(reason.into()),
            _ => Error::Device(format!(
                "a launch failed: {reason} (timing each step would tell which)"
            )),
        }
    }

    fn repeat(&mut self, kernel: &str, body: &[Segment<'a>]) -> Result<(), Error> {
        let mut iterations = 0;
        loop {
            self.segments(body)?;
            iterations += 1;
            if self.prepared.flag.first_word() == Some(0) {
                return Ok(());
            }
            let limit = self.prepared.options.max_iterations;
            if let Some(limit) = limit.filter(|limit| iterations >= *limit) {
                return Err(Error::TooManyIterations {
                    kernel: kernel.into(),
                    limit,
                });
            }
        }
    }
}
