//! Calls of kernels: a call that is the same as before is replayed, one whose words differ is
//! patched, and one whose shape differs is built anew.

use super::{
    allocation::{Allocation, Doing, Touch, try_in_order},
    arguments::{self, Arg, Input},
    capture,
    driver::{Fault, Replay, Shape},
    evaluate::{Evaluated, changed},
    executable::{Callable, LaunchOptions},
    fork::Here,
    reclaim, scratch,
    stream::Stream,
};
use crate::{Error, control};
use qd_artifact::Access;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// Calls of one kernel that are cached.
const MOST_KEPT: usize = 8;

/// Prepared calls of a kernel, least recently used first.
#[derive(Default)]
pub(super) struct Calls(Mutex<Vec<Kept>>);

/// A call that is kept: what it was for, and what replays it.
struct Kept {
    /// Its stream. A graph runs once at a time, so that streams do not share them.
    queue: u64,
    inputs: Vec<Input>,
    choices: Vec<usize>,
    shape: Shape,
    words: Vec<u64>,
    control: Arc<Control>,
    replay: Here<Box<dyn Replay>>,
}

/// A kernel's control words on a stream, which are 0 between calls.
struct Control {
    /// None for a kernel without.
    memory: Option<Arc<Allocation>>,
    is_clear: AtomicBool,
    /// Whether a call that uses them is in progress without locks.
    is_busy: AtomicBool,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Whether it may be put onto a stream.
    fn is_for(&self, on: &Stream) -> bool {
        self.queue == on.0.id && !self.control.is_busy.load(Ordering::Relaxed)
    }
}

/// Caches a call, as the last used. An evicted call is dropped without the lock: a driver may
/// wait for work in progress.
fn keep(mut calls: MutexGuard<'_, Vec<Kept>>, kept: Kept) {
    let oldest = (calls.len() >= MOST_KEPT).then(|| calls.remove(0));
    calls.push(kept);
    drop(calls);
    drop(oldest);
}

impl Callable {
    /// See [`Kernel::launch_with`](super::Kernel::launch_with).
    pub fn launch(
        &self,
        on: &Stream,
        given: &[Arg<'_>],
        options: &LaunchOptions,
    ) -> Result<(), Error> {
        self.check(on, given)?;
        if !scratch::is_left_out(given) {
            return self.put(on, given, options);
        }
        let made = scratch::make(self.planned()?.kernel, on, given)?;
        self.put(on, &scratch::complete(given, &made), options)
    }

    /// Puts a call onto its stream, or makes it part of the graph that is being captured.
    fn put(&self, on: &Stream, given: &[Arg<'_>], options: &LaunchOptions) -> Result<(), Error> {
        if on.0.is_captured() {
            return self.splice(on, given, options);
        }
        while let Some(doing) = self.try_launch(on, given, options)? {
            doing.wait();
        }
        Ok(())
    }

    /// Yields the call that it has to wait for first, if there is one.
    fn try_launch(
        &self,
        on: &Stream,
        given: &[Arg<'_>],
        options: &LaunchOptions,
    ) -> Result<Option<Doing>, Error> {
        let mut calls = self.calls.lock();
        let mut kept = self.take(&mut calls, on, given)?;
        let launched;
        if on.0.waits_for(&*kept.replay) {
            // Nothing is locked while it waits. Another launch of the kernel on this stream
            // meanwhile makes a call with control words of its own.
            kept.control.is_busy.store(true, Ordering::Relaxed);
            drop(calls);
            launched = self.replay(&mut kept, true, on, given, options);
            calls = self.calls.lock();
            kept.control.is_busy.store(false, Ordering::Relaxed);
        } else {
            launched = self.replay(&mut kept, false, on, given, options);
        }
        keep(calls, kept);
        launched
    }

    /// See [`Kernel::prepare`](super::Kernel::prepare).
    pub fn prepare(&self, on: &Stream, given: &[Arg<'_>]) -> Result<(), Error> {
        self.check(on, given)?;
        // What is captured is another's to keep.
        if on.0.is_captured() {
            return Ok(());
        }
        let made = scratch::make(self.planned()?.kernel, on, given)?;
        let mut calls = self.calls.lock();
        let kept = self.take(&mut calls, on, &scratch::complete(given, &made))?;
        keep(calls, kept);
        Ok(())
    }

    fn check(&self, on: &Stream, given: &[Arg<'_>]) -> Result<(), Error> {
        let device = &self.loaded.device;
        device.0.check()?;
        reclaim::now();
        if on.device() != device {
            return Err(Error::WrongDevice {
                what: format!("kernel '{}': the stream", self.name),
                is: format!("{:?}", on.device()),
                wanted: format!("{device:?}"),
            });
        }
        arguments::check(self.planned()?.kernel, device, given, scratch::is_made)
    }

    /// Takes the call with these arguments out of those that are kept, or makes it.
    fn take(&self, calls: &mut Vec<Kept>, on: &Stream, given: &[Arg<'_>]) -> Result<Kept, Error> {
        let is_same = |kept: &Kept| {
            kept.is_for(on)
                && kept
                    .inputs
                    .iter()
                    .zip(given)
                    .all(|(input, given)| input.is(given))
        };
        match calls.iter().rposition(is_same) {
            Some(place) => Ok(calls.remove(place)),
            None => self.make(calls, on, given),
        }
    }

    /// Takes a call of the same shape with these words, or makes a new one.
    fn make(&self, calls: &mut Vec<Kept>, on: &Stream, given: &[Arg<'_>]) -> Result<Kept, Error> {
        let planned = self.planned()?;
        let inputs: Vec<_> = given.iter().map(Input::of).collect();
        arguments::check_together(planned.kernel, &inputs)?;
        let failed = |fault| self.failed("preparing a launch", fault);
        // A call of this stream has control words, which are part of the words.
        let place = calls.iter().rposition(|kept| kept.is_for(on));
        let control = match place {
            Some(place) => calls[place].control.clone(),
            None => self.control(on)?,
        };
        let at = control
            .memory
            .as_ref()
            .map_or(0, |memory| memory.raw.address);
        let evaluated = Evaluated::without_shape(&self.loaded, planned, &inputs, at)?;
        let is_alike = |kept: &Kept| kept.is_for(on) && kept.choices == evaluated.choices;
        if let Some(place) = calls.iter().rposition(is_alike) {
            let mut kept = calls.remove(place);
            let changed = changed(&kept.words, &evaluated.words);
            kept.replay
                .patch(&evaluated.words, &changed)
                .map_err(failed)?;
            kept.words = evaluated.words;
            kept.inputs = inputs;
            return Ok(kept);
        }
        let evaluated = Evaluated::of(&self.loaded, planned, &inputs, at)?;
        let driver = &self.loaded.device.0.driver;
        let replay = driver.build(&evaluated.shape, &evaluated.words);
        Ok(Kept {
            queue: on.0.id,
            inputs,
            choices: evaluated.choices,
            shape: evaluated.shape,
            words: evaluated.words,
            control,
            replay: Here::new(replay.map_err(failed)?),
        })
    }

    fn control(&self, on: &Stream) -> Result<Arc<Control>, Error> {
        let bytes = control::bytes(self.loaded.program(), self.planned()?) as u64;
        let what = || format!("kernel '{}': its control", self.name);
        Ok(Arc::new(Control {
            memory: match bytes {
                0 => None,
                bytes => Some(Allocation::new(on, bytes, what)?),
            },
            is_clear: AtomicBool::new(false),
            is_busy: AtomicBool::new(false),
        }))
    }

    /// Puts a call onto its stream, unless it has to wait for another before.
    fn replay(
        &self,
        kept: &mut Kept,
        waits: bool,
        on: &Stream,
        given: &[Arg<'_>],
        options: &LaunchOptions,
    ) -> Result<Option<Doing>, Error> {
        let _span = tracing::debug_span!("launch", kernel = &*self.name).entered();
        let driver = &self.loaded.device.0.driver;
        let touches = self.touches(given)?;
        try_in_order(&on.0, &touches, waits, |_| {
            self.loaded.device.0.launched(&self.name);
            // A call that fails may leave any values.
            let is_clear = kept.control.is_clear.swap(false, Ordering::Relaxed);
            if let Some(memory) = kept.control.memory.as_ref().filter(|_| !is_clear) {
                driver
                    .set(on.0.raw, memory.raw.address, memory.raw.bytes, 0)
                    .map_err(|fault| self.failed("clearing its control", fault))?;
            }
            let (call, replay) = ((&kept.shape, &kept.words[..]), &mut *kept.replay);
            let name = || self.name.clone();
            let replayed = on.0.replay(name, call, replay, options.max_iterations);
            replayed.map_err(|fault| self.failed_at(&kept.shape, fault))?;
            kept.control.is_clear.store(true, Ordering::Relaxed);
            Ok(())
        })
    }

    /// What a call uses, and which of it is written.
    fn touches(&self, given: &[Arg<'_>]) -> Result<Vec<Touch>, Error> {
        let declared = &self.planned()?.kernel.arguments;
        let touches = given.iter().zip(declared);
        Ok(touches
            .filter_map(|(argument, declared)| match argument {
                Arg::Buffer(buffer) => Some(buffer.touch(declared.access != Access::Read)),
                Arg::Scalar(_) | Arg::Shape(_) | Arg::Slot(_) | Arg::Missing => None,
            })
            .collect())
    }

    /// Makes a call part of the graph that its stream is being captured into.
    fn splice(&self, on: &Stream, given: &[Arg<'_>], options: &LaunchOptions) -> Result<(), Error> {
        let planned = self.planned()?;
        let inputs: Vec<_> = given.iter().map(Input::of).collect();
        arguments::check_together(planned.kernel, &inputs)?;
        let call = capture::Call {
            what: format!("kernel '{}'", self.name),
            touches: self.touches(given)?,
            control_bytes: control::bytes(self.loaded.program(), planned) as u64,
            code: vec![self.loaded.clone()],
            max_iterations: options.max_iterations,
            evaluate: Box::new(|evaluated, control, entry| {
                evaluated.add(&self.loaded, planned, &inputs, control, entry)?;
                Ok(())
            }),
        };
        call.splice(on)
    }

    fn failed(&self, what: &str, fault: Fault) -> Error {
        let what = format!("kernel '{}': {what}", self.name);
        self.loaded.device.0.failed(&what, fault)
    }

    /// As [`failed`](Self::failed), of a call of this shape.
    fn failed_at(&self, shape: &Shape, fault: Fault) -> Error {
        match fault {
            Fault::TooManyIterations { label, limit } => Error::TooManyIterations {
                kernel: shape.labels[label].kernel.to_string(),
                limit,
            },
            fault => self.failed("launching it", fault),
        }
    }
}
