//! Times of a stream's work on the device, by an event before and one after it.
//!
//! With [`Detail::Steps`] a call is replayed step by step, and the host decides whether a loop
//! goes on, so that each step is between two events on every device alike. The call then takes
//! longer; the times of its steps are right.

mod pieces;
mod totals;

use super::{
    device::Device,
    driver::{Fault, RawEvent, Replay, Shape},
    fork,
    stream::{Priority, Queue, Stream},
};
use crate::Error;
use pieces::Pieces;
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

pub use totals::{StepTotal, step_totals};

/// The detail of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Calls as they are: two events each.
    Calls,
    /// Each step of a call by itself, too.
    Steps,
}

/// Something that a stream did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Which of its device's streams.
    pub stream: u64,
    /// What it was.
    pub kind: SpanKind,
    /// When it began on the device, from the profiler's making.
    pub start: Duration,
    /// How long it took.
    pub duration: Duration,
}

/// What a stream did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpanKind {
    /// A call of a kernel, or of a recorded graph.
    Call {
        /// The kernel's name; of a graph those of its kernels.
        name: Arc<str>,
    },
    /// A step of a call; it lies in the call's span.
    Step(Step),
    /// A copy.
    Copy {
        /// From where to where.
        kind: CopyKind,
        /// How much.
        bytes: u64,
    },
    /// It waited for another stream.
    Wait,
}

/// A step of a call, once: in a loop it has a span each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The kernel that it is of.
    pub kernel: Arc<str>,
    /// The phase's name, or what the step is.
    pub name: Arc<str>,
    /// Its number in the plan.
    pub id: u64,
    /// Whether it runs a body, and is no fill or copy.
    pub is_launch: bool,
    /// Blocks of a launch.
    pub blocks: u64,
    /// Bytes that a fill or a copy writes.
    pub bytes: u64,
    /// How often the call has done it, with this time.
    pub run: u64,
}

/// From where to where a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// From the host.
    Upload,
    /// To the host.
    Download,
    /// From one buffer to another.
    Within,
    /// One value for all bytes.
    Clear,
}

/// Records times of streams while it is attached to them. It keeps them until they are taken.
#[derive(Clone)]
pub struct Profiler(Arc<Log>);

struct Log {
    device: Device,
    detail: Detail,
    /// What times are counted from, on the device and here.
    origin: Mark,
    made: Instant,
    next: AtomicU64,
    taken: Mutex<Taken>,
}

/// What has not been taken yet, by attachments, each in the order of its stream.
#[derive(Default)]
struct Taken(Vec<Track>);

struct Track {
    id: u64,
    stream: u64,
    timed: Vec<Timed>,
    is_attached: bool,
    /// An event, and when it was.
    anchor: Option<(Arc<Mark>, Duration)>,
}

/// A span that may not have ended.
struct Timed {
    kind: SpanKind,
    begin: Arc<Mark>,
    end: Arc<Mark>,
}

/// An event of a driver.
struct Mark {
    device: Device,
    raw: RawEvent,
}

impl Drop for Mark {
    fn drop(&mut self) {
        if !fork::is_copy() {
            self.device.0.driver.drop_event(self.raw);
        }
    }
}

/// How long after an anchor times may be measured from it: drivers report them with few digits.
const FAR: Duration = Duration::from_secs(1);

impl Profiler {
    /// One that is attached to nothing yet.
    ///
    /// # Errors
    ///
    /// The device is lost or makes no events.
    pub fn new(device: &Device, detail: Detail) -> Result<Self, Error> {
        let stream = device.stream(Priority::Normal)?;
        let driver = &device.0.driver;
        let failed = |fault| device.0.failed("a profiler", fault);
        let origin = stream.0.point().map_err(failed)?;
        driver.block(origin.raw).map_err(failed)?;
        Ok(Self(Arc::new(Log {
            device: device.clone(),
            detail,
            origin,
            made: Instant::now(),
            next: AtomicU64::new(0),
            taken: Mutex::default(),
        })))
    }

    /// When it was made, which is what spans are counted from.
    pub fn made(&self) -> Instant {
        self.0.made
    }

    /// Times later work on a stream, until the returned value is dropped. Captured calls are not
    /// timed: they run when their graph does.
    ///
    /// # Errors
    ///
    /// The stream is another device's.
    pub fn attach(&self, on: &Stream) -> Result<Attached, Error> {
        if on.device() != &self.0.device {
            return Err(Error::WrongDevice {
                what: "a profiler's stream".into(),
                is: format!("{:?}", on.device()),
                wanted: format!("{:?}", self.0.device),
            });
        }
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        self.0.lock().0.push(Track {
            id,
            stream: on.0.id,
            timed: Vec::new(),
            is_attached: true,
            anchor: None,
        });
        on.0.profile.change(|logs| logs.push((id, self.0.clone())));
        Ok(Attached {
            log: self.0.clone(),
            queue: on.0.clone(),
            id,
        })
    }

    /// The spans that have ended since the last time, by the time they began. Waits for nothing.
    ///
    /// # Errors
    ///
    /// The device is lost.
    pub fn take(&self) -> Result<Vec<Span>, Error> {
        let log = &self.0;
        log.device.0.check()?;
        let mut spans = Vec::new();
        let mut tracks = log.lock();
        for track in &mut tracks.0 {
            let taken = log.take(track, &mut spans);
            taken.map_err(|fault| log.device.0.failed("a profiler", fault))?;
        }
        let goes_on = |track: &Track| track.is_attached || !track.timed.is_empty();
        tracks.0.retain(goes_on);
        // Of two that begin together the longer one has the other in it.
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.duration)));
        Ok(spans)
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, track: &mut Track, spans: &mut Vec<Span>) -> Result<(), Fault> {
        let driver = &self.device.0.driver;
        let mut ended = 0;
        for timed in &track.timed {
            if !driver.is_done(timed.end.raw)? {
                break;
            }
            ended += 1;
        }
        for timed in track.timed.drain(..ended) {
            let start = self.time(&mut track.anchor, &timed.begin)?;
            let duration = driver.elapsed(timed.begin.raw, timed.end.raw)?;
            spans.push(Span {
                stream: track.stream,
                kind: timed.kind,
                start,
                duration,
            });
        }
        Ok(())
    }

    /// When something began, by what began before it on the same stream, if anything did: what
    /// is noted later began no earlier.
    fn time(
        &self,
        anchor: &mut Option<(Arc<Mark>, Duration)>,
        event: &Arc<Mark>,
    ) -> Result<Duration, Fault> {
        let driver = &self.device.0.driver;
        let (from, at) = match anchor {
            Some((mark, at)) => (mark.raw, *at),
            None => (self.origin.raw, Duration::ZERO),
        };
        let since = driver.elapsed(from, event.raw)?;
        if anchor.is_none() || since > FAR {
            *anchor = Some((event.clone(), at + since));
        }
        Ok(at + since)
    }
}

/// A profiler that looks at a stream, until this is dropped.
#[must_use = "it is attached until this is dropped"]
pub struct Attached {
    log: Arc<Log>,
    queue: Arc<Queue>,
    id: u64,
}

impl Drop for Attached {
    fn drop(&mut self) {
        // Other owners of these locks do not exist here.
        if fork::is_copy() {
            return;
        }
        let is_other = |(id, log): &(u64, Arc<Log>)| *id != self.id || !Arc::ptr_eq(log, &self.log);
        self.queue.profile.change(|logs| logs.retain(is_other));
        let mut tracks = self.log.lock();
        let mine = tracks.0.iter_mut().find(|track| track.id == self.id);
        mine.into_iter().for_each(|track| track.is_attached = false);
    }
}

/// Profilers, and which of its attachments each is.
type Logs = Vec<(u64, Arc<Log>)>;

/// The profilers of a stream.
#[derive(Default)]
pub(super) struct Profile {
    /// Whether there is one: all that a call looks at when there is none.
    is_on: AtomicBool,
    logs: Mutex<Logs>,
}

impl Profile {
    fn change(&self, change: impl FnOnce(&mut Logs)) {
        let mut logs = self.lock();
        change(&mut logs);
        self.is_on.store(!logs.is_empty(), Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Logs> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The profilers, locked so that no other span of this stream begins meanwhile.
    fn on(&self) -> Option<MutexGuard<'_, Logs>> {
        match self.is_on.load(Ordering::Acquire) {
            true => Some(self.lock()).filter(|logs| !logs.is_empty()),
            false => None,
        }
    }
}

impl Queue {
    fn point(&self) -> Result<Mark, Fault> {
        Ok(Mark {
            raw: self.shared().driver.record(self.raw)?,
            device: self.device.clone(),
        })
    }

    /// Does something on the stream that is no call.
    pub fn timed(
        &self,
        kind: impl FnOnce() -> SpanKind,
        what: impl FnOnce() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Some(logs) = self.profile.on() else {
            return what();
        };
        let begin = self.point()?.into();
        what()?;
        let end = self.point()?.into();
        let kind = kind();
        note(&logs, vec![Timed { kind, begin, end }]);
        Ok(())
    }

    /// Whether a replay waits for the device, or is done by the host. With a profiler it may: if one
    /// comes only now, locks are held longer than they would be.
    pub fn waits_for(&self, replay: &dyn Replay) -> bool {
        self.profile.is_on.load(Ordering::Relaxed)
            || replay.waits()
            || self.shared().driver.is_host()
    }

    /// Replays a call.
    pub fn replay(
        &self,
        name: impl FnOnce() -> Arc<str>,
        (shape, words): (&Shape, &[u64]),
        whole: &mut dyn Replay,
        max_iterations: Option<u64>,
    ) -> Result<(), Fault> {
        let Some(logs) = self.profile.on() else {
            return whole.replay(self.raw, max_iterations);
        };
        let mut steps = Vec::new();
        let wants_steps = logs.iter().any(|(_, log)| log.detail == Detail::Steps);
        let mut pieces = match wants_steps {
            true => Some(Pieces::new(self, shape, words)?),
            false => None,
        };
        let begin = Arc::new(self.point()?);
        let done = match &mut pieces {
            Some(pieces) => pieces.run(max_iterations, &mut steps),
            None => whole.replay(self.raw, max_iterations),
        };
        let end = Arc::new(self.point()?);
        let kind = SpanKind::Call { name: name() };
        steps.insert(0, Timed { kind, begin, end });
        // The steps that were done have been done, whatever became of the call.
        note(&logs, steps);
        done
    }
}

/// Gives each profiler what it looks at, in the order in which it began.
fn note(logs: &[(u64, Arc<Log>)], timed: Vec<Timed>) {
    for (id, log) in logs {
        let mut taken = log.lock();
        let Some(track) = taken.0.iter_mut().find(|track| track.id == *id) else {
            continue;
        };
        let is_wanted = |timed: &&Timed| {
            log.detail == Detail::Steps || !matches!(timed.kind, SpanKind::Step(_))
        };
        track
            .timed
            .extend(timed.iter().filter(is_wanted).map(|timed| Timed {
                kind: timed.kind.clone(),
                begin: timed.begin.clone(),
                end: timed.end.clone(),
            }));
    }
}

#[cfg(test)]
mod tests;
