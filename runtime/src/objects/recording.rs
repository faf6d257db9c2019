//! Kernels and copies that one call puts onto a stream: recorded once, launched often, on other
//! arrays each time.

use super::{
    allocation::{Allocation, Touch, in_order, overlap},
    arguments::{self, Arg, Input},
    buffer::Buffer,
    capture,
    device::Device,
    driver::{OpKind, Replay, Shape},
    evaluate::{Evaluated, changed},
    executable::Kernel,
    fork::Here,
    reclaim, scratch,
    stream::{Queue, Stream},
};
use crate::{Error, Scalar, control};
use qd_artifact::{Access, ArgumentKind};
use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Launches and copies of a [`Graph`]. Those that use the same memory run in the order in which
/// they were recorded; others are concurrent. A slot's memory is not known yet: it may be any.
pub struct Recording {
    device: Device,
    /// Which of the process's recordings.
    id: u64,
    slots: Vec<ArgumentKind>,
    steps: Vec<Step>,
}

/// An argument that is bound before a graph is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    recording: u64,
    place: usize,
}

impl Slot {
    /// It as a number, for interfaces that hand numbers out.
    pub fn to_bits(self) -> u64 {
        (self.recording << 32) | self.place as u64
    }

    /// The slot that [`to_bits`](Self::to_bits) made this number of. Of any other it is a slot of no recording, or
    /// one that there is.
    pub fn from_bits(bits: u64) -> Self {
        Self {
            recording: bits >> 32,
            place: (bits & u64::from(u32::MAX)) as usize,
        }
    }
}

/// A recording that can be launched. It keeps alive the buffers that it was recorded with and those
/// that are bound, and earlier bound ones until the launches that use them have ended.
pub struct Graph {
    /// Prepared launches, least recently used first. Dropped before the kernels.
    kept: Vec<Prepared>,
    recording: Recording,
    bound: Vec<Option<Held>>,
    scratch: Scratch,
    /// Control words of all launches, of that many bytes.
    control: Option<Arc<Allocation>>,
    control_bytes: u64,
    is_clear: bool,
    /// What a launch touches, if the last of `kept` is for what is bound.
    touches: Option<Vec<Touch>>,
    /// The last launch: the next one, maybe of another stream, is ordered after it.
    last: Option<(Arc<Queue>, u64)>,
}

static RECORDINGS: AtomicU64 = AtomicU64::new(1);

/// Shapes of a graph that are kept.
const MOST_KEPT: usize = 8;

/// What replays a graph that evaluates to a shape.
struct Prepared {
    shape: Shape,
    words: Vec<u64>,
    replay: Here<Box<dyn Replay>>,
}

/// An argument that is kept.
#[derive(Clone)]
enum Held {
    Buffer(Buffer),
    Scalar(Scalar),
    Slot(usize),
    /// Left out: the graph makes it.
    Scratch,
}

/// What launches leave out, by the step and the argument.
type Scratch = HashMap<(usize, usize), Buffer>;

struct Step {
    work: Work,
    arguments: Vec<Held>,
    /// Steps that must have finished.
    after: Vec<usize>,
}

enum Work {
    /// Its control begins so many bytes after that of the first.
    Launch { kernel: Kernel, control: u64 },
    /// Of the first argument to the second.
    Copy,
}

impl Recording {
    /// One without anything yet.
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            id: RECORDINGS.fetch_add(1, Ordering::Relaxed),
            slots: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// An argument that is bound to the graph before it is launched, and may be bound again. The
    /// kind is that of a kernel's argument: `kernel.argument("x")?.kind`.
    pub fn slot(&mut self, kind: &ArgumentKind) -> Slot {
        self.slots.push(kind.clone());
        Slot {
            recording: self.id,
            place: self.slots.len() - 1,
        }
    }

    /// Adds a launch. The graph allocates omitted scratch when it is launched, separately for each
    /// launch, and again when it has to be longer.
    ///
    /// # Errors
    ///
    /// The arguments are not the kernel's, or a slot is another recording's.
    pub fn launch(&mut self, kernel: &Kernel, given: &[Arg<'_>]) -> Result<(), Error> {
        let (name, device) = (kernel.name(), &kernel.0.loaded.device);
        if *device != self.device {
            return Err(Error::WrongDevice {
                what: format!("kernel '{name}'"),
                is: format!("{device:?}"),
                wanted: format!("{:?}", self.device),
            });
        }
        let signature = kernel.signature();
        if given.len() != signature.len() {
            return Err(Error::ArgumentCount {
                kernel: name.into(),
                expected: signature.len(),
                given: given.len(),
            });
        }
        for (expected, given) in signature.iter().zip(given) {
            let Arg::Slot(slot) = given else {
                if !scratch::is_made(expected, given) {
                    arguments::check_one(name, expected, &self.device, given)?;
                }
                continue;
            };
            let kind = self.kind(*slot)?;
            if !may_be(kind, &expected.kind) {
                return Err(Error::ArgumentType {
                    kernel: name.into(),
                    argument: expected.name.clone(),
                    expected: expected.kind.to_string(),
                    given: format!("a slot of {kind}"),
                });
            }
        }
        let control = self.control_bytes()?;
        let kernel = kernel.clone();
        self.add(Work::Launch { kernel, control }, given)
    }

    /// Adds a copy of a buffer's elements to another one, of the same type and size, that shares no
    /// memory with it.
    ///
    /// # Errors
    ///
    /// Their types differ, they are not buffers, or a slot is another recording's.
    pub fn copy<'a>(
        &mut self,
        from: impl Into<Arg<'a>>,
        to: impl Into<Arg<'a>>,
    ) -> Result<(), Error> {
        let given = [from.into(), to.into()];
        for one in &given {
            let is_buffer = match one {
                Arg::Buffer(_) => true,
                Arg::Slot(slot) => matches!(self.kind(*slot)?, ArgumentKind::Buffer { .. }),
                Arg::Scalar(_) | Arg::Shape(_) | Arg::Missing => false,
            };
            if !is_buffer {
                let what = match one {
                    Arg::Slot(_) => "a slot of a scalar".into(),
                    one => arguments::describe(one),
                };
                return Err(Error::Recording(format!(
                    "a copy takes two buffers, but was given {what}"
                )));
            }
        }
        if let [Arg::Buffer(from), Arg::Buffer(to)] = given {
            from.check_copy(&self.device, to)?;
        }
        self.add(Work::Copy, &given)
    }

    /// Finishes the recording.
    ///
    /// # Errors
    ///
    /// The device is lost.
    pub fn finish(self) -> Result<Graph, Error> {
        self.device.0.check()?;
        Ok(Graph {
            bound: vec![None; self.slots.len()],
            control: None,
            control_bytes: self.control_bytes()?,
            is_clear: false,
            kept: Vec::new(),
            scratch: Scratch::new(),
            touches: None,
            last: None,
            recording: self,
        })
    }

    fn kind(&self, slot: Slot) -> Result<&ArgumentKind, Error> {
        let found = self.slots.get(slot.place);
        found
            .filter(|_| slot.recording == self.id)
            .ok_or_else(|| Error::Recording("the slot is another recording's".into()))
    }

    fn add(&mut self, work: Work, given: &[Arg<'_>]) -> Result<(), Error> {
        let arguments = given.iter().map(|one| match one {
            Arg::Buffer(buffer) => Held::Buffer((*buffer).clone()),
            Arg::Scalar(scalar) => Held::Scalar(*scalar),
            Arg::Slot(slot) => Held::Slot(slot.place),
            // Of all that is not there scratch alone has been taken.
            Arg::Shape(_) | Arg::Missing => Held::Scratch,
        });
        let mut step = Step {
            work,
            arguments: arguments.collect(),
            after: Vec::new(),
        };
        // The nearest first: what it waits for need not be waited for again.
        let mut is_behind = vec![false; self.steps.len()];
        for (i, earlier) in self.steps.iter().enumerate().rev() {
            if !is_behind[i] && self.conflict(earlier, &step) {
                step.after.push(i);
                is_behind[i] = true;
            }
            if is_behind[i] {
                for before in &earlier.after {
                    is_behind[*before] = true;
                }
            }
        }
        self.steps.push(step);
        Ok(())
    }

    /// Whether one writes what the other uses, or may.
    fn conflict(&self, a: &Step, b: &Step) -> bool {
        let pairs = a.memory().flat_map(|a| b.memory().map(move |b| (a, b)));
        pairs
            .filter(|((_, a_writes), (_, b_writes))| *a_writes || *b_writes)
            .any(|((a, _), (b, _))| match (a, b) {
                (Held::Buffer(a), Held::Buffer(b)) => overlap(&a.addresses(), &b.addresses()),
                (Held::Scalar(_) | Held::Scratch, _) | (_, Held::Scalar(_) | Held::Scratch) => {
                    false
                }
                (Held::Slot(slot), _) | (_, Held::Slot(slot)) => {
                    matches!(self.slots[*slot], ArgumentKind::Buffer { .. })
                }
            })
    }

    /// Of all launches so far.
    fn control_bytes(&self) -> Result<u64, Error> {
        let last = self.steps.iter().rev().find_map(|step| match &step.work {
            Work::Launch { kernel, control } => Some((kernel, control)),
            Work::Copy => None,
        });
        last.map_or(Ok(0), |(kernel, control)| {
            let callable = &kernel.0;
            let bytes = control::bytes(callable.loaded.program(), callable.planned()?);
            Ok(control + bytes as u64)
        })
    }
}

impl Step {
    /// The arguments, and whether each is written.
    fn memory(&self) -> impl Iterator<Item = (&Held, bool)> {
        self.arguments
            .iter()
            .enumerate()
            .map(|(i, argument)| match &self.work {
                Work::Launch { kernel, .. } => {
                    (argument, kernel.signature()[i].access != Access::Read)
                }
                Work::Copy => (argument, i == 1),
            })
    }

    /// What one of its arguments is called.
    fn argument(&self, place: usize) -> String {
        match &self.work {
            Work::Launch { kernel, .. } => format!(
                "kernel '{}': argument '{}'",
                kernel.name(),
                kernel.signature()[place].name
            ),
            Work::Copy => ["a copy's source", "a copy's destination"][place].into(),
        }
    }
}

/// Whether all of a kind may be of another: the same but for extents that the other leaves open.
fn may_be(kind: &ArgumentKind, wanted: &ArgumentKind) -> bool {
    match (kind, wanted) {
        (
            ArgumentKind::Buffer { dtype, shape },
            ArgumentKind::Buffer {
                dtype: wanted,
                shape: extents,
            },
        ) => {
            dtype == wanted
                && shape.len() == extents.len()
                && shape
                    .iter()
                    .zip(extents)
                    .all(|(extent, wanted)| wanted.is_none() || extent == wanted)
        }
        (kind, wanted) => kind == wanted,
    }
}

impl Graph {
    /// Binds a slot for later launches.
    ///
    /// # Errors
    ///
    /// It is of another kind or device, or the slot is another recording's.
    pub fn bind<'a>(&mut self, slot: Slot, to: impl Into<Arg<'a>>) -> Result<(), Error> {
        let (to, kind) = (to.into(), self.recording.kind(slot)?);
        let held = match &to {
            Arg::Buffer(buffer) if arguments::fits(kind, &to) => {
                if buffer.device() != &self.recording.device {
                    return Err(Error::WrongDevice {
                        what: "what is bound".into(),
                        is: format!("{:?}", buffer.device()),
                        wanted: format!("{:?}", self.recording.device),
                    });
                }
                Held::Buffer((*buffer).clone())
            }
            Arg::Scalar(scalar) if arguments::fits(kind, &to) => Held::Scalar(*scalar),
            _ => {
                return Err(Error::Recording(format!(
                    "a slot of {kind} cannot be bound to {}",
                    arguments::describe(&to)
                )));
            }
        };
        self.bound[slot.place] = Some(held);
        self.touches = None;
        Ok(())
    }

    /// Puts it onto a stream, after all uses of the same buffers and after its last launch.
    ///
    /// # Errors
    ///
    /// A slot is not bound, or a bound value is not a kernel's argument: nothing has been done
    /// then. The effects of a loop that goes on too long remain.
    pub fn launch(&mut self, on: &Stream) -> Result<(), Error> {
        let device = self.recording.device.clone();
        device.0.check()?;
        if on.device() != &device {
            return Err(Error::WrongDevice {
                what: "the stream of a graph".into(),
                is: format!("{:?}", on.device()),
                wanted: format!("{device:?}"),
            });
        }
        reclaim::now();
        if on.0.is_captured() {
            return self.splice(on);
        }
        if self.touches.is_none() {
            self.prepare(on)?;
        }
        let (Some(touches), Some(kept)) = (&self.touches, self.kept.last_mut()) else {
            return Ok(());
        };
        if let Some((queue, number)) = &self.last {
            on.0.follow(queue, *number)?;
        }
        let shared = &device.0;
        let (control, is_clear, last) = (&self.control, &mut self.is_clear, &mut self.last);
        let waits = on.0.waits_for(&*kept.replay);
        in_order(&on.0, touches, waits, |number| {
            // Also if it fails: part of it may be on the stream.
            *last = Some((on.0.clone(), number));
            for step in &self.recording.steps {
                if let Work::Launch { kernel, .. } = &step.work {
                    shared.launched(&kernel.0.name);
                }
            }
            if let Some(memory) = control.as_ref().filter(|_| !*is_clear) {
                let cleared = shared
                    .driver
                    .set(on.0.raw, memory.raw.address, memory.raw.bytes, 0);
                cleared.map_err(|fault| shared.failed("clearing a graph's control", fault))?;
            }
            // What a launch that fails leaves may be anything.
            *is_clear = false;
            let (call, replay) = ((&kept.shape, &kept.words[..]), &mut *kept.replay);
            let replayed =
                on.0.replay(|| names(&self.recording.steps), call, replay, None);
            replayed.map_err(|fault| shared.failed("launching a graph", fault))?;
            *is_clear = true;
            Ok(())
        })
    }

    /// Makes the last of `kept` one for what is bound.
    fn prepare(&mut self, on: &Stream) -> Result<(), Error> {
        let device = self.recording.device.clone();
        if self.control.is_none() && self.control_bytes > 0 {
            let what = || "a graph's control".into();
            self.control = Some(Allocation::new(on, self.control_bytes, what)?);
        }
        self.scratch = self.scratch(on, &self.scratch)?;
        let at = self.control.as_ref().map_or(0, |memory| memory.raw.address);
        let mut evaluated = Evaluated::default();
        self.evaluate(&self.scratch, &mut evaluated, at, &[])?;
        let mut touches = self.touched(&self.scratch)?;
        touches.extend(self.control.iter().map(|memory| Touch {
            allocation: memory.clone(),
            bytes: 0..memory.raw.bytes,
            is_write: true,
        }));
        let failed = |fault| device.0.failed("preparing a graph", fault);
        let Evaluated { shape, words, .. } = evaluated;
        let alike = self.kept.iter().position(|kept| kept.shape == shape);
        let kept = match alike.map(|place| self.kept.remove(place)) {
            Some(mut kept) => {
                let changed = changed(&kept.words, &words);
                kept.replay.patch(&words, &changed).map_err(failed)?;
                Prepared { words, ..kept }
            }
            None => {
                let replay = device.0.driver.build(&shape, &words);
                let replay = Here::new(replay.map_err(failed)?);
                Prepared {
                    shape,
                    words,
                    replay,
                }
            }
        };
        if self.kept.len() >= MOST_KEPT {
            self.kept.remove(0);
        }
        self.kept.push(kept);
        self.touches = Some(touches);
        Ok(())
    }

    /// Makes it part of the graph that the stream is being captured into.
    fn splice(&self, on: &Stream) -> Result<(), Error> {
        let kernels = self
            .recording
            .steps
            .iter()
            .filter_map(|step| match &step.work {
                Work::Launch { kernel, .. } => Some(kernel.0.loaded.clone()),
                Work::Copy => None,
            });
        // Its own: the owner's graph may run beside this one.
        let scratch = self.scratch(on, &Scratch::new())?;
        let call = capture::Call {
            what: "a recording".into(),
            touches: self.touched(&scratch)?,
            control_bytes: self.control_bytes,
            code: kernels.collect(),
            max_iterations: None,
            evaluate: Box::new(|evaluated, control, entry| {
                self.evaluate(&scratch, evaluated, control, entry)
            }),
        };
        call.splice(on)
    }

    /// Scratch for what is bound: what there is, where that is long enough.
    fn scratch(&self, on: &Stream, there_is: &Scratch) -> Result<Scratch, Error> {
        let mut all = Scratch::new();
        for (at, step) in self.recording.steps.iter().enumerate() {
            let Work::Launch { kernel, .. } = &step.work else {
                continue;
            };
            let given = self.given(at, &all)?;
            if !scratch::is_left_out(&given) {
                continue;
            }
            let kernel = kernel.0.planned()?.kernel;
            arguments::check(kernel, &self.recording.device, &given, scratch::is_made)?;
            for left_out in scratch::left_out(kernel, &given)? {
                let place = (at, left_out.place);
                let known = there_is.get(&place).filter(|made| left_out.may_be(made));
                let made = known.map_or_else(|| left_out.make(on), |made| Ok(made.clone()))?;
                all.insert(place, made);
            }
        }
        Ok(all)
    }

    /// What the steps use, and which of it is written.
    fn touched(&self, scratch: &Scratch) -> Result<Vec<Touch>, Error> {
        let mut touches = Vec::new();
        for (at, step) in self.recording.steps.iter().enumerate() {
            let given = self.given(at, scratch)?;
            let uses = given.iter().zip(step.memory());
            touches.extend(uses.filter_map(|(given, (_, is_write))| match given {
                Arg::Buffer(buffer) => Some(buffer.touch(is_write)),
                _ => None,
            }));
        }
        Ok(touches)
    }

    /// Adds all steps on what is bound, with their control from `control` on, after `begin`.
    fn evaluate(
        &self,
        scratch: &Scratch,
        evaluated: &mut Evaluated,
        control: u64,
        begin: &[u32],
    ) -> Result<(), Error> {
        // What has finished when a step has.
        let mut ends: Vec<Vec<u32>> = Vec::new();
        for (at, step) in self.recording.steps.iter().enumerate() {
            let given = self.given(at, scratch)?;
            let mut entry: Vec<u32> = step.after.iter().flat_map(|i| ends[*i].clone()).collect();
            entry.sort_unstable();
            entry.dedup();
            if entry.is_empty() {
                entry.extend(begin);
            }
            ends.push(match (&step.work, &given[..]) {
                (Work::Copy, [Arg::Buffer(from), Arg::Buffer(to)]) => {
                    from.check_copy(&self.recording.device, to)?;
                    let words = evaluated.words([from.address(), to.address(), from.bytes()]);
                    vec![evaluated.push("copy", entry, OpKind::Copy { words })]
                }
                (Work::Copy, _) => entry,
                (
                    Work::Launch {
                        kernel,
                        control: behind,
                    },
                    given,
                ) => {
                    let callable = &kernel.0;
                    let planned = callable.planned()?;
                    let device = &self.recording.device;
                    arguments::check(planned.kernel, device, given, arguments::all)?;
                    let inputs: Vec<_> = given.iter().map(Input::of).collect();
                    arguments::check_together(planned.kernel, &inputs)?;
                    evaluated.add(&callable.loaded, planned, &inputs, control + behind, &entry)?
                }
            });
        }
        Ok(())
    }

    /// A step's arguments, with what is bound for slots and what was made for what is left out.
    fn given<'a>(&'a self, at: usize, scratch: &'a Scratch) -> Result<Vec<Arg<'a>>, Error> {
        let step = &self.recording.steps[at];
        let given = step.arguments.iter().enumerate();
        given
            .map(|(place, argument)| {
                let argument = match argument {
                    Held::Slot(slot) => self.bound[*slot].as_ref(),
                    held => Some(held),
                };
                match argument {
                    Some(Held::Buffer(buffer)) => Ok(Arg::Buffer(buffer)),
                    Some(Held::Scalar(scalar)) => Ok(Arg::Scalar(*scalar)),
                    Some(Held::Scratch) => {
                        let made = scratch.get(&(at, place));
                        Ok(made.map_or(Arg::Missing, Arg::Buffer))
                    }
                    Some(Held::Slot(_)) | None => Err(Error::Recording(format!(
                        "{} is a slot that nothing is bound to",
                        step.argument(place)
                    ))),
                }
            })
            .collect()
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (steps, device) = (self.recording.steps.len(), &self.recording.device);
        write!(f, "a graph of {steps} steps on {device:?}")
    }
}

/// What a graph is called in traces: its kernels, each once.
fn names(steps: &[Step]) -> Arc<str> {
    let mut names: Vec<&str> = Vec::new();
    for step in steps {
        if let Work::Launch { kernel, .. } = &step.work
            && !names.contains(&kernel.name())
        {
            names.push(kernel.name());
        }
    }
    names.join(" + ").into()
}

#[cfg(test)]
mod tests;
