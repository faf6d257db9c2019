//! Streams and events: work of one stream is in order, and work of several streams is concurrent.

use super::{
    allocation::{Keep, in_order},
    arguments::Arg,
    device::{Device, Shared},
    driver::{Fault, RawEvent, RawStream},
    fork::{self, Here},
    numbers::Numbers,
    profiler::{Profile, SpanKind},
    reclaim,
};
use crate::Error;
use std::{fmt, sync::Arc, time::Duration};

/// The priority of a stream's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// As any.
    #[default]
    Normal,
    /// Before others, where the device can.
    High,
}

/// Work of a device, in order. On the cpu the calling thread does it before the call returns.
#[derive(Clone)]
pub struct Stream(pub(super) Arc<Queue>);

/// What all handles of a stream share.
pub(super) struct Queue {
    pub device: Device,
    pub raw: RawStream,
    /// Which of the device's streams.
    pub id: u64,
    /// Whether it is foreign, and what is kept alive for that.
    is_wrapped: bool,
    _keep: Here<Keep>,
    numbers: Numbers,
    pub profile: Profile,
}

impl Stream {
    pub(super) fn open(device: &Device, priority: Priority) -> Result<Self, Error> {
        device.0.check()?;
        let raw = device.0.driver.open_stream(priority == Priority::High);
        let raw = raw.map_err(|fault| device.0.failed("a stream", fault))?;
        Ok(Self::of(device, raw, false, None))
    }

    pub(super) fn wrap(device: &Device, raw: u64, keep: Keep) -> Result<Self, Error> {
        device.0.check()?;
        let raw = RawStream(raw);
        let adopted = device.0.driver.adopt(raw);
        adopted.map_err(|fault| device.0.failed("a foreign stream", fault))?;
        Ok(Self::of(device, raw, true, keep))
    }

    fn of(device: &Device, raw: RawStream, is_wrapped: bool, keep: Keep) -> Self {
        Self(Arc::new(Queue {
            device: device.clone(),
            raw,
            id: device.0.next_stream(),
            is_wrapped,
            _keep: Here::new(keep),
            numbers: Numbers::default(),
            profile: Profile::default(),
        }))
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Whether its owner captures it, so that calls become part of the owner's graph: true of
    /// [wrapped](Device::wrap_stream) streams only.
    pub fn is_captured(&self) -> bool {
        self.0.is_captured()
    }

    /// Waits until all that is on it has been done.
    ///
    /// # Errors
    ///
    /// Something on it failed, or the device is lost; or an assertion of a kernel has failed, on
    /// whichever stream of the device, and nobody was told yet: the first one.
    pub fn synchronize(&self) -> Result<(), Error> {
        let shared = self.0.shared();
        shared.check()?;
        self.0.check_not_captured("waiting for it")?;
        let _span = tracing::debug_span!("wait", stream = self.0.id).entered();
        let number = self.0.numbers.between(|number| number);
        let done = shared.driver.synchronize(self.0.raw);
        reclaim::now();
        done.map_err(|fault| shared.failed("waiting for a stream", fault))?;
        self.0.numbers.end(number);
        shared.read_notes(self.0.raw)
    }

    /// Waits until all that is on it has been done, and all that other streams do with these arrays.
    pub(crate) fn settle(&self, arguments: &[Arg<'_>]) -> Result<(), Error> {
        let buffers = arguments.iter().filter_map(|argument| match argument {
            Arg::Buffer(buffer) => Some(buffer.touch(true)),
            Arg::Scalar(_) | Arg::Slot(_) | Arg::Shape(_) | Arg::Missing => None,
        });
        let touches: Vec<_> = buffers.collect();
        self.0.check_not_captured("waiting for arrays")?;
        in_order(&self.0, &touches, false, |_| Ok(()))?;
        self.synchronize()
    }

    /// Records an event after all its work.
    ///
    /// # Errors
    ///
    /// The device is lost or cannot create one.
    pub fn record(&self) -> Result<Event, Error> {
        self.0.record()
    }

    /// Makes later work on it wait for the event.
    ///
    /// # Errors
    ///
    /// The event is another device's, or the device is lost.
    pub fn wait_for(&self, event: &Event) -> Result<(), Error> {
        let shared = self.0.shared();
        shared.check()?;
        if event.0.device != self.0.device {
            return Err(Error::WrongDevice {
                what: "an event".into(),
                is: format!("{:?}", event.0.device),
                wanted: format!("{:?}", self.0.device),
            });
        }
        self.0.check_not_captured("waiting for an event")?;
        let done = self.0.wait(event);
        done.map_err(|fault| shared.failed("waiting for an event", fault))?;
        self.0.numbers.note(event.0.queue, event.0.number);
        Ok(())
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {} of {:?}", self.0.id, self.0.device)
    }
}

impl Queue {
    pub fn shared(&self) -> &Shared {
        &self.device.0
    }

    /// Counts what has been put onto the stream as its next call, and returns its number.
    pub fn count(&self) -> u64 {
        self.numbers.count()
    }

    /// Puts the stream's next call onto it, and returns its number. A call that fails has a number,
    /// too: part of it may be on the stream.
    pub fn submit(&self, what: impl FnOnce(u64) -> Result<(), Error>) -> (u64, Result<(), Error>) {
        self.numbers.submit(what)
    }

    /// The stream's next call, if it waits for the device before it is all on the stream, or if the
    /// host does it: no lock is held meanwhile.
    pub fn host(self: &Arc<Self>) -> Hosted {
        Hosted {
            number: self.numbers.host(),
            queue: self.clone(),
        }
    }

    /// See [`Numbers::is_hosted`].
    pub fn is_hosted(&self, number: u64) -> bool {
        self.numbers.is_hosted(number)
    }

    /// See [`Numbers::wait_for_host`].
    pub fn wait_for_host(&self, number: u64) {
        self.numbers.wait_for_host(number);
    }

    /// An event after all calls so far, and the number of the last that it follows with all before
    /// it: a hosted one may not be on the stream yet.
    fn mark(&self) -> Result<(Event, u64), Error> {
        let shared = self.shared();
        shared.check()?;
        self.check_not_captured("an event")?;
        let record = |number| (number, shared.driver.record(self.raw));
        let (number, raw) = self.numbers.between(record);
        let raw = raw.map_err(|fault| shared.failed("an event", fault))?;
        let event = Event(Arc::new(Moment {
            device: self.device.clone(),
            raw,
            queue: self.id,
            number,
        }));
        Ok((event, number))
    }

    /// See [`Stream::record`].
    pub fn record(&self) -> Result<Event, Error> {
        Ok(self.mark()?.0)
    }

    /// Whether calls on it become part of its owner's graph now.
    pub fn is_captured(&self) -> bool {
        self.is_wrapped && self.shared().driver.is_captured(self.raw)
    }

    /// An error for a call that cannot be captured.
    pub fn check_not_captured(&self, what: &str) -> Result<(), Error> {
        match self.is_captured() {
            false => Ok(()),
            true => Err(Error::Capture(format!(
                "{what}: stream {} of {:?} is being captured",
                self.id, self.device
            ))),
        }
    }

    /// Whether a call of a stream has ended before whatever comes onto this one from now on.
    pub fn has_seen(&self, other: &Queue, number: u64) -> bool {
        other.id == self.id
            || other.numbers.has_ended(number)
            || self.numbers.has_seen(other.id, number)
    }

    fn wait(&self, event: &Event) -> Result<(), Fault> {
        let wait = || self.shared().driver.wait(self.raw, event.0.raw);
        self.timed(|| SpanKind::Wait, wait)
    }

    /// What comes from now on is ordered after that call of another stream.
    pub fn follow(&self, other: &Queue, number: u64) -> Result<(), Error> {
        if self.has_seen(other, number) {
            return Ok(());
        }
        let (event, last) = other.mark()?;
        let shared = self.shared();
        let done = self.wait(&event);
        done.map_err(|fault| shared.failed("waiting for another stream", fault))?;
        self.numbers.note(other.id, last);
        Ok(())
    }
}

/// A call that a host is doing, until this is dropped.
pub(super) struct Hosted {
    queue: Arc<Queue>,
    pub number: u64,
}

impl Drop for Hosted {
    fn drop(&mut self) {
        self.queue.numbers.unhost(self.number);
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if !self.is_wrapped && !fork::is_copy() {
            self.shared().driver.close_stream(self.raw);
        }
    }
}

/// A point in a stream's work.
#[derive(Clone)]
pub struct Event(pub(super) Arc<Moment>);

pub(super) struct Moment {
    device: Device,
    raw: RawEvent,
    /// After which call of which stream.
    queue: u64,
    number: u64,
}

impl Event {
    /// Whether all before it has been done.
    ///
    /// # Errors
    ///
    /// The device is lost.
    pub fn is_done(&self) -> Result<bool, Error> {
        let shared = &self.0.device.0;
        shared.check()?;
        let done = shared.driver.is_done(self.0.raw);
        done.map_err(|fault| shared.failed("an event", fault))
    }

    /// Waits until all before it has been done.
    ///
    /// # Errors
    ///
    /// The device is lost.
    pub fn wait(&self) -> Result<(), Error> {
        let shared = &self.0.device.0;
        shared.check()?;
        let _span = tracing::debug_span!("wait", stream = self.0.queue).entered();
        let done = shared.driver.block(self.0.raw);
        done.map_err(|fault| shared.failed("waiting for an event", fault))
    }

    /// Time on the device from an earlier event to this one, and none from a later one. Waits for
    /// both.
    ///
    /// # Errors
    ///
    /// They are of two devices, or the device is lost.
    pub fn since(&self, then: &Event) -> Result<Duration, Error> {
        then.wait()?;
        self.wait()?;
        let shared = &self.0.device.0;
        if then.0.device != self.0.device {
            return Err(Error::WrongDevice {
                what: "an event".into(),
                is: format!("{:?}", then.0.device),
                wanted: format!("{:?}", self.0.device),
            });
        }
        let elapsed = shared.driver.elapsed(then.0.raw, self.0.raw);
        elapsed.map_err(|fault| shared.failed("the time between events", fault))
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, queue) = (self.0.number, self.0.queue);
        write!(f, "behind call {number} of stream {queue}")
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        if !fork::is_copy() {
            self.device.0.driver.drop_event(self.raw);
        }
    }
}
