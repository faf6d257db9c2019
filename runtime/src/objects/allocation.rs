//! Memory of a device, and who used it last: work of several streams on the same bytes is
//! done in the order of the calls, without anybody saying so.

use super::{
    device::Device,
    driver::RawMemory,
    reclaim,
    stream::{Event, Queue, Stream},
};
use crate::Error;
use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Something that is held as long as somebody else's memory or stream is used.
pub type Keep = Option<Box<dyn Send + Sync>>;

pub(super) struct Allocation {
    pub device: Device,
    pub raw: RawMemory,
    /// Which of the device's: the order in which several are locked.
    pub id: u64,
    /// Where it is given back; none: it is somebody else's.
    owner: Option<Arc<Queue>>,
    pub is_read_only: bool,
    uses: Mutex<Uses>,
    /// Of somebody else's memory. Dropped when its last use has ended.
    keep: Keep,
}

/// A call that used some of the bytes.
struct Use {
    bytes: Range<u64>,
    queue: Arc<Queue>,
    number: u64,
    is_write: bool,
}

/// Uses of parts that are remembered one by one.
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
                number: on.0.submit(|| Ok(()))?,
                is_write: true,
            }])),
            keep: None,
        }))
    }

    /// Somebody else's memory. What comes onto other streams is behind the stream if it is ready in
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
                number: on.0.submit(|| Ok(()))?,
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

/// What is left of an allocation that nobody has any more.
struct Release {
    raw: RawMemory,
    owner: Option<Arc<Queue>>,
    uses: Vec<Use>,
    keep: Keep,
    /// Behind the uses of somebody else's memory.
    events: Option<Vec<Event>>,
}

impl Release {
    /// Gives the memory back, unless that has to wait; says whether it did.
    fn now(&mut self) -> bool {
        if self.owner.is_none() && self.keep.is_none() {
            return true;
        }
        // What is put onto a stream while it is captured would be part of somebody's graph.
        let queues = self.uses.iter().map(|used| &used.queue);
        if queues.chain(&self.owner).any(|queue| queue.is_captured()) {
            return false;
        }
        match &self.owner {
            Some(owner) => {
                for used in &self.uses {
                    // Of a lost device nothing is left to be kept in order.
                    let _ = owner.follow(&used.queue, used.number);
                }
                owner.shared().free(self.raw, owner.raw);
                true
            }
            None => {
                let uses = &self.uses;
                let record = || uses.iter().filter_map(|used| used.queue.record().ok());
                let events = self.events.get_or_insert_with(|| record().collect());
                // An event of a lost device never happens.
                let is_over = events.iter().all(|event| event.is_done().unwrap_or(true));
                if is_over {
                    self.keep = None;
                }
                is_over
            }
        }
    }
}

impl Uses {
    /// Has what comes onto a queue wait for whoever it must not be beside of.
    pub fn wait(&self, on: &Queue, bytes: &Range<u64>, is_write: bool) -> Result<(), Error> {
        let others = self.0.iter().filter(|used| used.queue.id != on.id);
        others
            .filter(|used| (is_write || used.is_write) && overlap(&used.bytes, bytes))
            .try_for_each(|used| on.follow(&used.queue, used.number))
    }

    /// The stream, if there is one, of a use that such a call would have to wait for: one whose end
    /// the queue does not know of.
    pub fn unsettled(&self, on: &Queue, bytes: &Range<u64>, is_write: bool) -> Option<u64> {
        let mut others = self.0.iter().filter(|used| {
            (is_write || used.is_write)
                && overlap(&used.bytes, bytes)
                && !on.has_seen(&used.queue, used.number)
        });
        others.next().map(|used| used.queue.id)
    }

    /// Remembers a call that has been submitted.
    pub fn add(&mut self, queue: &Arc<Queue>, bytes: Range<u64>, is_write: bool, number: u64) {
        // What it waited for, or is in order with, need not be waited for again.
        self.0.retain(|used| {
            let is_behind = is_write || (used.queue.id == queue.id && !used.is_write);
            !(is_behind && contains(&bytes, &used.bytes))
        });
        if self.0.len() >= MOST_USES {
            self.merge();
        }
        self.0.push(Use {
            bytes,
            queue: queue.clone(),
            number,
            is_write,
        });
    }
}

impl Uses {
    /// One use for all of a stream's reads, and one for its writes: of more bytes than they
    /// were, so that more is waited for than has to be.
    fn merge(&mut self) {
        let mut merged: Vec<Use> = Vec::new();
        for used in self.0.drain(..) {
            let same = |m: &&mut Use| m.queue.id == used.queue.id && m.is_write == used.is_write;
            match merged.iter_mut().find(same) {
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

/// Submits a call behind all that it must not be beside of.
///
/// What it touches is locked meanwhile, in an order that is the same for all, so that
/// another stream that touches the same sees it when it has been submitted. Yields its number.
pub(super) fn in_order(
    queue: &Arc<Queue>,
    touches: &[Touch],
    submit: impl FnOnce() -> Result<(), Error>,
) -> Result<u64, Error> {
    let mut allocations: Vec<&Arc<Allocation>> = touches.iter().map(|t| &t.allocation).collect();
    allocations.sort_by_key(|allocation| allocation.id);
    allocations.dedup_by_key(|allocation| allocation.id);
    let mut locked: Vec<_> = allocations
        .iter()
        .map(|allocation| (allocation.id, allocation.lock()))
        .collect();
    let place = |id: u64| allocations.binary_search_by_key(&id, |a| a.id);
    for touch in touches {
        if let Ok(i) = place(touch.allocation.id) {
            locked[i].1.wait(queue, &touch.bytes, touch.is_write)?;
        }
    }
    let number = queue.submit(submit)?;
    for touch in touches {
        if let Ok(i) = place(touch.allocation.id) {
            let uses = &mut locked[i].1;
            uses.add(queue, touch.bytes.clone(), touch.is_write, number);
        }
    }
    Ok(number)
}
