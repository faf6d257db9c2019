//! Memory of a device and its last uses: work of several streams on the same bytes is ordered as
//! the calls were, without explicit events.

use super::{
    device::Device,
    driver::RawMemory,
    fork, reclaim,
    stream::{Event, Queue, Stream},
};
use crate::Error;
use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A foreign object that is kept alive while its memory or stream is in use.
pub type Keep = Option<Box<dyn Send + Sync>>;

pub(super) struct Allocation {
    pub device: Device,
    pub raw: RawMemory,
    /// Which of the device's: the order in which several are locked.
    pub id: u64,
    /// The queue on which it is freed; none for foreign memory.
    owner: Option<Arc<Queue>>,
    pub is_read_only: bool,
    uses: Mutex<Uses>,
    /// For foreign memory. Dropped when its last use has ended.
    keep: Keep,
}

/// A call that used some of the bytes.
struct Use {
    bytes: Range<u64>,
    queue: Arc<Queue>,
    number: u64,
    is_write: bool,
}

impl Use {
    /// Whether the host is still doing it. Its allocation is locked.
    fn is_hosted(&self) -> bool {
        self.queue.is_hosted(self.number)
    }
}

/// The number of uses of parts that are remembered separately.
const MOST_USES: usize = 32;

/// Calls that a later one may have to wait for.
#[derive(Default)]
pub(super) struct Uses(Vec<Use>);

impl Allocation {
    pub fn new(on: &Stream, bytes: u64, what: impl FnOnce() -> String) -> Result<Arc<Self>, Error> {
        let shared = on.0.shared();
        shared.check()?;
        on.0.check_not_captured("memory")?;
        let raw = shared.allocate(bytes, on.0.raw, what)?;
        Ok(Arc::new(Self {
            device: on.device().clone(),
            raw,
            id: shared.next_allocation(),
            owner: Some(on.0.clone()),
            is_read_only: false,
            // It is there for what comes onto this stream; others wait for that.
            uses: Mutex::new(Uses(vec![Use {
                bytes: 0..bytes,
                queue: on.0.clone(),
                number: on.0.count(),
                is_write: true,
            }])),
            keep: None,
        }))
    }

    /// Foreign memory. What comes onto other streams is ordered after the stream if it is ready in
    /// order with that.
    pub fn foreign(
        on: &Stream,
        address: u64,
        bytes: u64,
        is_read_only: bool,
        is_in_order: bool,
        keep: Keep,
    ) -> Result<Arc<Self>, Error> {
        let mut uses = Vec::new();
        if is_in_order {
            uses.push(Use {
                bytes: 0..bytes,
                queue: on.0.clone(),
                number: on.0.count(),
                is_write: true,
            });
        }
        Ok(Arc::new(Self {
            device: on.device().clone(),
            raw: RawMemory {
                address,
                bytes,
                handle: 0,
            },
            id: on.0.shared().next_allocation(),
            owner: None,
            is_read_only,
            uses: Mutex::new(Uses(uses)),
            keep,
        }))
    }

    pub fn lock(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if fork::is_copy() {
            std::mem::forget(self.keep.take());
            return;
        }
        let uses = self.uses.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut release = Release {
            raw: self.raw,
            owner: self.owner.take(),
            uses: std::mem::take(&mut uses.0),
            keep: self.keep.take(),
            events: None,
        };
        if !release.now() {
            reclaim::later(Box::new(move || release.now()));
        }
    }
}

/// An allocation without handles, to be freed.
struct Release {
    raw: RawMemory,
    owner: Option<Arc<Queue>>,
    uses: Vec<Use>,
    keep: Keep,
    /// Events after the last uses, for foreign memory.
    events: Option<Vec<Event>>,
}

impl Release {
    /// Gives the memory back, unless that has to wait; says whether it did.
    fn now(&mut self) -> bool {
        if self.owner.is_none() && self.keep.is_none() {
            return true;
        }
        // A release on a stream under capture would become part of its owner's graph.
        let queues = self.uses.iter().map(|used| &used.queue);
        if queues.chain(&self.owner).any(|queue| queue.is_captured()) {
            return false;
        }
        match &self.owner {
            Some(owner) => {
                let mut uses = self.uses.iter();
                let behind = uses.try_for_each(|used| owner.follow(&used.queue, used.number));
                if !is_over(behind.map(|()| true)) {
                    return false;
                }
                owner.shared().free(self.raw, owner.raw);
                true
            }
            None => {
                let has_ended = is_over(self.has_ended());
                if has_ended {
                    self.keep = None;
                }
                has_ended
            }
        }
    }

    /// Whether the last use of foreign memory has ended.
    fn has_ended(&mut self) -> Result<bool, Error> {
        let events = match &self.events {
            Some(events) => events,
            None => {
                let events = self.uses.iter().map(|used| used.queue.record());
                self.events.insert(events.collect::<Result<_, _>>()?)
            }
        };
        let mut events = events.iter();
        events.try_fold(true, |so_far, event| Ok(so_far && event.is_done()?))
    }
}

/// Whether memory need not be kept any more: of a lost device nothing is done. What fails otherwise is
/// tried again later.
fn is_over(has_ended: Result<bool, Error>) -> bool {
    has_ended.unwrap_or_else(|error| matches!(error, Error::Lost { .. }))
}

impl Uses {
    /// The uses that conflict with such a call.
    fn conflicts(&self, bytes: &Range<u64>, is_write: bool) -> impl Iterator<Item = &Use> {
        let used = self.0.iter();
        used.filter(move |used| (is_write || used.is_write) && overlap(&used.bytes, bytes))
    }

    /// Makes later work on a queue wait for the uses that conflict with it. Yields a call in
    /// progress that it cannot be ordered after yet.
    fn wait(&self, on: &Queue, touch: &Touch) -> Result<Option<Doing>, Error> {
        for used in self.conflicts(&touch.bytes, touch.is_write) {
            if used.is_hosted() {
                return Ok(Some(Doing {
                    queue: used.queue.clone(),
                    number: used.number,
                }));
            }
            on.follow(&used.queue, used.number)?;
        }
        Ok(None)
    }

    /// The stream, if there is one, of a use that such a call would have to wait for: one whose end
    /// the queue does not know of.
    pub fn unsettled(&self, on: &Queue, bytes: &Range<u64>, is_write: bool) -> Option<u64> {
        let mut others = self.conflicts(bytes, is_write);
        let unseen = others.find(|used| !on.has_seen(&used.queue, used.number));
        unseen.map(|used| used.queue.id)
    }

    /// Remembers a call that comes after all that [`wait`](Self::wait) names.
    fn add(&mut self, queue: &Arc<Queue>, touch: &Touch, number: u64) {
        // A call like the last one, which is the common case.
        if let [used] = &mut self.0[..]
            && (&used.bytes, used.is_write) == (&touch.bytes, touch.is_write)
            && used.queue.id == queue.id
            && !used.is_hosted()
        {
            used.number = number;
            return;
        }
        // Uses that it is ordered after need not be waited for again.
        self.0.retain(|used| {
            let is_behind = touch.is_write
                || (used.queue.id == queue.id && !used.is_write && !used.is_hosted());
            !(is_behind && contains(&touch.bytes, &used.bytes))
        });
        self.push(queue, touch, number);
    }

    fn push(&mut self, queue: &Arc<Queue>, touch: &Touch, number: u64) {
        if self.0.len() >= MOST_USES {
            self.merge();
        }
        self.0.push(Use {
            bytes: touch.bytes.clone(),
            queue: queue.clone(),
            number,
            is_write: touch.is_write,
        });
    }

    /// Merges a stream's reads into one use, and its writes into another, of a larger range, so
    /// that later calls may wait for more than they have to. Hosted ones stay as they are: they are
    /// waited for by their numbers.
    fn merge(&mut self) {
        let (mut merged, used): (Vec<_>, Vec<_>) = self.0.drain(..).partition(Use::is_hosted);
        let hosted = merged.len();
        for used in used {
            let same = |m: &&mut Use| m.queue.id == used.queue.id && m.is_write == used.is_write;
            match merged[hosted..].iter_mut().find(same) {
                Some(found) => {
                    found.bytes.start = found.bytes.start.min(used.bytes.start);
                    found.bytes.end = found.bytes.end.max(used.bytes.end);
                    found.number = found.number.max(used.number);
                }
                None => merged.push(used),
            }
        }
        self.0 = merged;
    }
}

pub(super) fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

fn contains(outer: &Range<u64>, inner: &Range<u64>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// A part of an allocation that a call uses.
#[derive(Clone)]
pub(super) struct Touch {
    pub allocation: Arc<Allocation>,
    pub bytes: Range<u64>,
    pub is_write: bool,
}

impl Touch {
    /// Notes that what foreign code has put onto a stream uses it. Nothing is asked of the stream,
    /// which may be being captured, so that nothing is ordered after other uses.
    pub fn note(&self, queue: &Arc<Queue>) {
        self.allocation.lock().push(queue, self, queue.count());
    }
}

/// A call that the host is still doing.
pub(super) struct Doing {
    queue: Arc<Queue>,
    number: u64,
}

impl Doing {
    /// Waits until it has been done. The caller holds no lock.
    pub fn wait(self) {
        self.queue.wait_for_host(self.number);
    }
}

/// What a call touches, locked in an order that is the same for all.
struct Locked<'a>(Vec<(&'a Allocation, Option<MutexGuard<'a, Uses>>)>);

impl<'a> Locked<'a> {
    fn new(touches: &'a [Touch]) -> Self {
        let allocations = touches.iter().map(|touch| (&*touch.allocation, None));
        let mut locked: Vec<_> = allocations.collect();
        locked.sort_unstable_by_key(|(allocation, _)| allocation.id);
        locked.dedup_by_key(|(allocation, _)| allocation.id);
        for (allocation, uses) in &mut locked {
            *uses = Some(allocation.lock());
        }
        Self(locked)
    }

    fn uses(&mut self, of: &Touch) -> Option<&mut Uses> {
        let id = of.allocation.id;
        let place = self
            .0
            .binary_search_by_key(&id, |(allocation, _)| allocation.id);
        self.0[place.ok()?].1.as_deref_mut()
    }

    /// It, if what comes onto the queue is ordered after all that it must not overlap.
    fn behind(queue: &Queue, touches: &'a [Touch]) -> Result<Result<Self, Doing>, Error> {
        let mut locked = Self::new(touches);
        for touch in touches {
            let Some(uses) = locked.uses(touch) else {
                continue;
            };
            if let Some(doing) = uses.wait(queue, touch)? {
                return Ok(Err(doing));
            }
        }
        Ok(Ok(locked))
    }

    fn submit(
        mut self,
        queue: &Arc<Queue>,
        touches: &[Touch],
        waits: bool,
        submit: impl FnOnce(u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if waits {
            let hosted = queue.host();
            self.note(queue, touches, hosted.number);
            drop(self);
            return submit(hosted.number);
        }
        let (number, done) = queue.submit(submit);
        self.note(queue, touches, number);
        done
    }

    fn note(&mut self, queue: &Arc<Queue>, touches: &[Touch], number: u64) {
        for touch in touches {
            if let Some(uses) = self.uses(touch) {
                uses.add(queue, touch, number);
            }
        }
    }
}

/// Runs a call after all uses that conflict with it. `submit` is given its number.
///
/// A call that is only put onto its stream locks its allocations meanwhile, so that another stream
/// that uses them sees it submitted; also if that fails, as part of it may be on the stream.
///
/// A call that `waits` for the device before it is all on the stream, or that the host does, holds
/// no locks meanwhile. A conflicting call waits until it has been done; a call that uses other
/// memory, or only reads the same, does not, on any stream.
pub(super) fn in_order(
    queue: &Arc<Queue>,
    touches: &[Touch],
    waits: bool,
    submit: impl FnOnce(u64) -> Result<(), Error>,
) -> Result<(), Error> {
    loop {
        match Locked::behind(queue, touches)? {
            Ok(locked) => return locked.submit(queue, touches, waits, submit),
            Err(doing) => doing.wait(),
        }
    }
}

/// As [`in_order`], for a caller that holds locks: yields the call to wait for, without locks, if
/// there is one. Nothing has been done then.
pub(super) fn try_in_order(
    queue: &Arc<Queue>,
    touches: &[Touch],
    waits: bool,
    submit: impl FnOnce(u64) -> Result<(), Error>,
) -> Result<Option<Doing>, Error> {
    match Locked::behind(queue, touches)? {
        Ok(locked) => locked.submit(queue, touches, waits, submit).map(|()| None),
        Err(doing) => Ok(Some(doing)),
    }
}

#[cfg(test)]
mod tests;
