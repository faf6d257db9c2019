//! A pool of device memory: parts of few large blocks, and large arrays in blocks of their own,
//! because a part that stays in a large block would be in the way of the next large array. Freed
//! memory is reused when its stream has reached the point of the free; by the same stream at once,
//! since it is in order.

use super::{
    memory::{Memory, Refusal},
    timeline::{Point, Timeline},
};
use ash::vk;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// Parts begin at multiples of so many bytes, and are as long.
const GRAIN: u64 = 256;
/// A block of an array's own is used again for one that leaves at most this part of it unused.
const UNUSED: u64 = 8;

type Make = Box<dyn Fn(usize) -> Result<Memory, Refusal> + Send + Sync>;

pub(super) struct Pool {
    make: Make,
    /// Bytes of a block at least.
    block: u64,
    /// Bytes from which on there is a block for each.
    own: u64,
    state: Mutex<State>,
    /// Blocks that were given back.
    trimmed: AtomicU64,
}

#[derive(Default)]
struct State {
    /// By their addresses.
    blocks: BTreeMap<u64, Memory>,
    /// Bytes of these, of what is in use in them, and of what was at most.
    reserved: u64,
    used: u64,
    most: u64,
    /// Blocks of a single array each, and the unused ones of these: bytes and addresses.
    own: BTreeSet<u64>,
    own_free: BTreeSet<(u64, u64)>,
    /// Parts of the others that are unused: their bytes by their addresses, and both the other way
    /// round.
    free: BTreeMap<u64, u64>,
    sizes: BTreeSet<(u64, u64)>,
    /// Parts that were freed and may be in use yet.
    pending: Vec<Pending>,
}

struct Pending {
    at: u64,
    bytes: u64,
    /// Where it was freed: on the stream of the last.
    until: Vec<Point>,
}

impl Pending {
    fn is_done(&self) -> bool {
        let mut points = self.until.iter();
        points.all(|point| point.is_done().unwrap_or(false))
    }
}

/// Where a part is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub buffer: vk::Buffer,
    /// Bytes from its beginning.
    pub offset: u64,
    /// As the host sees it, or null.
    pub mapped: *mut u8,
}

/// Bytes that a part of so many has.
fn rounded(bytes: u64) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(GRAIN)
}

impl Pool {
    pub fn new(
        block: u64,
        own: u64,
        make: impl Fn(usize) -> Result<Memory, Refusal> + Send + Sync + 'static,
    ) -> Self {
        Self {
            make: Box::new(make),
            block,
            own,
            state: Mutex::default(),
            trimmed: AtomicU64::new(0),
        }
    }

    /// How many blocks were given back so far: commands that name a buffer may name one of these.
    pub fn trimmed(&self) -> u64 {
        self.trimmed.load(Ordering::Acquire)
    }

    /// Gives blocks of which nothing is in use back, until there are no more than so many bytes.
    pub fn give_back(&self, keep: u64) {
        let mut state = self.lock();
        state.sweep();
        self.trim(&mut state, keep);
    }

    fn trim(&self, state: &mut State, keep: u64) {
        let given = state.unused(keep);
        self.trimmed
            .fetch_add(given.len() as u64, Ordering::Release);
        for at in given {
            state.give(at);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates memory and yields its address: for use on a stream, or at once on any.
    pub fn allocate(&self, bytes: u64, on: Option<&Arc<Timeline>>) -> Result<u64, Refusal> {
        let bytes = rounded(bytes).ok_or(Refusal::TooLarge(u64::MAX))?;
        let mut state = self.lock();
        if let Some(found) = on.and_then(|on| state.freed_on(on, bytes)) {
            return Ok(found);
        }
        state.sweep();
        let is_own = bytes >= self.own;
        if let Some(found) = state.take(bytes, is_own) {
            return Ok(found);
        }
        let wanted = if is_own { bytes } else { bytes.max(self.block) };
        // No more than was in use at a time, if it can be.
        let keep = state.most.saturating_sub(wanted);
        self.trim(&mut state, keep);
        let block = match self.make(wanted) {
            Ok(block) => block,
            Err(refusal @ Refusal::TooLarge(_)) => return Err(refusal),
            Err(Refusal::Failed(_)) => {
                state.wait();
                if let Some(found) = state.take(bytes, is_own) {
                    return Ok(found);
                }
                self.trim(&mut state, 0);
                self.make(bytes)?
            }
        };
        state.add(block, is_own);
        state
            .take(bytes, is_own)
            .ok_or(Refusal::Failed(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY))
    }

    fn make(&self, bytes: u64) -> Result<Memory, Refusal> {
        (self.make)(usize::try_from(bytes).map_err(|_| Refusal::TooLarge(u64::MAX))?)
    }

    /// Takes memory of so many bytes back. It is in use until then.
    pub fn free(&self, at: u64, bytes: u64, until: Vec<Point>) {
        let Some(bytes) = rounded(bytes) else { return };
        self.lock().pending.push(Pending { at, bytes, until });
    }

    /// Where an address is, if it is in one of the blocks.
    pub fn place(&self, address: u64) -> Option<Place> {
        let state = self.lock();
        let (_, block) = state.blocks.range(..=address).next_back()?;
        let offset = block.offset(address)?;
        let mapped = block.mapped();
        Some(Place {
            buffer: block.buffer(),
            offset,
            mapped: match mapped.is_null() {
                true => mapped,
                // Safety: within the block.
                false => unsafe { mapped.add(offset as usize) },
            },
        })
    }

    /// Bytes of all blocks.
    pub fn reserved(&self) -> u64 {
        self.lock().reserved
    }

    /// Forgets what is waited for: the device is idle, or lost.
    pub fn forget(&self) {
        self.lock().pending.clear();
    }
}

impl State {
    /// A part as large that was freed on this stream.
    fn freed_on(&mut self, on: &Arc<Timeline>, bytes: u64) -> Option<u64> {
        let is_its = |pending: &Pending| {
            let of = pending.until.last();
            pending.bytes == bytes && of.is_some_and(|point| Arc::ptr_eq(&point.timeline, on))
        };
        let place = self.pending.iter().rposition(is_its)?;
        Some(self.pending.remove(place).at)
    }

    /// Makes what is not in use any more free.
    fn sweep(&mut self) {
        for pending in self
            .pending
            .extract_if(.., |pending| pending.is_done())
            .collect::<Vec<_>>()
        {
            self.put(pending.at, pending.bytes);
        }
    }

    /// As [`sweep`](Self::sweep), of all, which are waited for.
    fn wait(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            // Of a lost device nothing is in use.
            let _ = pending.until.iter().try_for_each(Point::wait);
            self.put(pending.at, pending.bytes);
        }
    }

    fn take(&mut self, bytes: u64, is_own: bool) -> Option<u64> {
        let sizes = if is_own { &self.own_free } else { &self.sizes };
        let (found, at) = *sizes.range((bytes, 0)..).next()?;
        if is_own {
            if found - bytes > found / UNUSED {
                return None;
            }
            self.own_free.remove(&(found, at));
            self.used += found;
        } else {
            self.remove(at, found);
            if found > bytes {
                self.insert(at + bytes, found - bytes);
            }
            self.used += bytes;
        }
        self.most = self.most.max(self.used);
        Some(at)
    }

    /// Makes a part free: a block, or as one with its free neighbours in the same block.
    fn put(&mut self, mut at: u64, mut bytes: u64) {
        if self.own.contains(&at) {
            let bytes = self.blocks.get(&at).map_or(0, Memory::bytes);
            self.used -= bytes;
            self.own_free.insert((bytes, at));
            return;
        }
        self.used -= bytes;
        if let Some((&next, &more)) = self.free.range(at + bytes..).next()
            && next == at + bytes
            && !self.blocks.contains_key(&next)
        {
            self.remove(next, more);
            bytes += more;
        }
        if let Some((&before, &more)) = self.free.range(..at).next_back()
            && before + more == at
            && !self.blocks.contains_key(&at)
        {
            self.remove(before, more);
            (at, bytes) = (before, bytes + more);
        }
        self.insert(at, bytes);
    }

    fn insert(&mut self, at: u64, bytes: u64) {
        self.free.insert(at, bytes);
        self.sizes.insert((bytes, at));
    }

    fn remove(&mut self, at: u64, bytes: u64) {
        self.free.remove(&at);
        self.sizes.remove(&(bytes, at));
    }

    fn add(&mut self, block: Memory, is_own: bool) {
        let (at, bytes) = (block.address, block.bytes());
        if is_own {
            self.own.insert(at);
            self.own_free.insert((bytes, at));
        } else {
            self.insert(at, bytes);
        }
        self.reserved += bytes;
        self.blocks.insert(at, block);
    }

    /// Blocks of which nothing is in use, until so many bytes are left without them.
    fn unused(&self, keep: u64) -> Vec<u64> {
        let bytes = |at: &u64| self.blocks.get(at).map_or(0, Memory::bytes);
        let shared = self.free.iter().map(|(at, bytes)| (*bytes, *at));
        let whole = shared.filter(|(free, at)| *free == bytes(at));
        let mut left = self.reserved;
        let mut unused = Vec::new();
        for (bytes, at) in whole.chain(self.own_free.iter().copied()) {
            if left <= keep {
                break;
            }
            left -= bytes;
            unused.push(at);
        }
        unused
    }

    /// Gives a block back of which nothing is in use.
    fn give(&mut self, at: u64) {
        let Some(block) = self.blocks.remove(&at) else {
            return;
        };
        self.reserved -= block.bytes();
        match self.own.remove(&at) {
            true => drop(self.own_free.remove(&(block.bytes(), at))),
            false => self.remove(at, block.bytes()),
        }
    }
}
