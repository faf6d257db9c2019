//! A device for tests: it defers all work until a wait, then runs work that no event orders
//! in an arbitrary order; it fails a given call, and overwrites freed memory.

use super::{
    device::{DeviceId, DeviceInfo, DeviceLimits},
    driver::{
        Code, Driver, Fault, Op, OpKind, RawBody, RawEvent, RawMemory, RawStream, Replay, Shape,
    },
};
use crate::{
    Error,
    objects::{
        parts::{self, Host, Look, Parts},
        reclaim,
    },
    program::Part,
};
use qd_artifact::TargetSpec;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// What a test's body is: blocks from the first to before the second, and its words.
pub(super) type Body = fn(&[u64]);

/// Freed memory holds this, so that a late use is seen.
const FREED: u8 = 0xDB;

enum Task {
    Do(Box<dyn FnOnce() + Send>),
    Record(u64),
    Wait(u64),
}

#[derive(Default)]
struct State {
    queues: HashMap<u64, VecDeque<Task>>,
    /// Events that have happened, and how many tasks had been done by then.
    done: HashMap<u64, u64>,
    tasks: u64,
    /// Streams of which a task is being done.
    busy: HashSet<u64>,
    /// Streams and events so far.
    names: u64,
    /// Calls so far, and what each was.
    log: Vec<&'static str>,
    random: u64,
    /// Bytes in use, and of what was freed, which it keeps and nothing fits into.
    live: u64,
    pooled: u64,
    /// Whether the next allocation fails, as the last one did.
    is_full: bool,
    /// What of the driver's was dropped so far: itself, its code, replays and events.
    dropped: usize,
    /// Streams under capture, and their graphs so far.
    captured: HashMap<u64, Vec<Spliced>>,
}

/// A call that is part of a captured graph.
struct Spliced {
    ops: Vec<Op>,
    words: Vec<u64>,
    keep: Option<Box<dyn Send + Sync>>,
}

/// A captured graph.
pub(crate) struct Captured(Vec<Spliced>);

impl Captured {
    pub fn replay(&self) {
        for call in &self.0 {
            all(&call.ops, &call.words);
        }
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let held = self.0.iter_mut().filter_map(|call| call.keep.take());
        held.for_each(reclaim::drop_later);
    }
}

/// How the device misbehaves.
#[derive(Clone, Copy, Default)]
pub(super) struct Mood {
    /// Of the order.
    pub seed: u64,
    /// The call that fails, from 0, and the device with it, if it is lost.
    pub fails: Option<(usize, bool)>,
    /// Whether what the failing call asks for is done nevertheless.
    pub is_late: bool,
    /// Whether streams do not wait for events: what a test of the order must notice.
    pub is_hasty: bool,
    /// Whether the host looks at conditions.
    pub asks_host: bool,
    /// Bytes that it has at most, if it is not as many as one likes.
    pub room: Option<u64>,
}

pub(super) struct Fake {
    pub info: DeviceInfo,
    mood: Mood,
    bodies: HashMap<&'static str, Body>,
    state: Arc<Mutex<State>>,
}

/// What a test sees of a device.
#[derive(Clone)]
pub(crate) struct Log(Arc<Mutex<State>>);

impl Log {
    pub fn calls(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().log.clone()
    }

    /// What of the driver's was dropped so far.
    pub fn dropped(&self) -> usize {
        self.0.lock().unwrap().dropped
    }

    /// A stream of the test's own.
    pub fn stream(&self) -> u64 {
        let mut state = self.0.lock().unwrap();
        state.names += 1;
        state.names
    }

    /// Begins to capture a stream.
    pub fn capture(&self, stream: u64) {
        self.0.lock().unwrap().captured.insert(stream, Vec::new());
    }

    /// What has been captured.
    pub fn captured(&self, stream: u64) -> Captured {
        Captured(self.0.lock().unwrap().captured.remove(&stream).unwrap())
    }

    /// How often a call was made.
    pub fn count(&self, call: &str) -> usize {
        self.calls().iter().filter(|made| **made == call).count()
    }
}

/// Of a device, or of a replay, which has one.
impl Drop for Fake {
    fn drop(&mut self) {
        self.state.lock().unwrap().dropped += 1;
    }
}

impl Fake {
    pub fn new(mood: Mood, bodies: &[(&'static str, Body)]) -> (Self, Log) {
        let state = Arc::new(Mutex::new(State {
            random: mood.seed.wrapping_mul(2) + 1,
            ..State::default()
        }));
        let fake = Self {
            info: DeviceInfo {
                id: DeviceId {
                    driver: "fake".into(),
                    ordinal: 0,
                },
                name: "a fake".into(),
                driver: "fake 1".into(),
                target: TargetSpec::new("cpu"),
                decides: !mood.asks_host,
                limits: DeviceLimits::default(),
            },
            mood,
            bodies: bodies.iter().copied().collect(),
            state: state.clone(),
        };
        (fake, Log(state))
    }

    /// Notes a call, which may be the one that fails.
    fn call(&self, name: &'static str) -> Result<(), Fault> {
        let mut state = self.state.lock().unwrap();
        let number = state.log.len();
        state.log.push(name);
        match self.mood.fails {
            Some((at, true)) if number >= at => Err(Fault::Lost("it is a fake".into())),
            Some((at, false)) if number == at => match name {
                "allocate" => {
                    state.is_full = true;
                    Err(Fault::OutOfMemory { free: Some(7) })
                }
                _ => Err(Fault::Failed(format!("{name} fails"))),
            },
            _ => Ok(()),
        }
    }

    /// As [`call`](Self::call), of a call that puts something onto a stream: an error within is to be
    /// returned when that has been done.
    fn submit(&self, name: &'static str) -> Result<Result<(), Fault>, Fault> {
        match self.call(name) {
            Err(fault) if !self.mood.is_late => Err(fault),
            outcome => Ok(outcome),
        }
    }

    fn put(&self, on: RawStream, task: Task) {
        let mut state = self.state.lock().unwrap();
        let is_captured = state.captured.contains_key(&on.0);
        assert!(!is_captured, "what no capture takes");
        state.queues.entry(on.0).or_default().push_back(task);
    }

    fn later(&self, on: RawStream, what: impl FnOnce() + Send + 'static) {
        self.put(on, Task::Do(Box::new(what)));
    }

    /// Does what there is, whichever stream's turn it is, until `is_over`.
    fn work(&self, is_over: impl Fn(&State) -> bool) {
        loop {
            let mut state = self.state.lock().unwrap();
            if is_over(&state) {
                return;
            }
            let is_ready = |state: &State, tasks: &VecDeque<Task>| match tasks.front() {
                Some(Task::Wait(event)) => self.mood.is_hasty || state.done.contains_key(event),
                Some(_) => true,
                None => false,
            };
            let mut ready: Vec<u64> = state
                .queues
                .iter()
                .filter(|(name, tasks)| !state.busy.contains(name) && is_ready(&state, tasks))
                .map(|(name, _)| *name)
                .collect();
            ready.sort_unstable();
            if ready.is_empty() {
                assert!(!state.busy.is_empty(), "streams wait for each other");
                drop(state);
                std::thread::yield_now();
                continue;
            }
            // xorshift64: any order will do.
            let mut random = state.random;
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            state.random = random;
            let name = ready[(random % ready.len() as u64) as usize];
            let task = state.queues.get_mut(&name).and_then(VecDeque::pop_front);
            if let Some(Task::Record(event)) = &task {
                let tasks = state.tasks;
                state.done.insert(*event, tasks);
            }
            state.busy.insert(name);
            drop(state);
            if let Some(Task::Do(what)) = task {
                what();
                self.state.lock().unwrap().tasks += 1;
            }
            self.state.lock().unwrap().busy.remove(&name);
        }
    }

    fn drain(&self, on: RawStream) {
        self.work(|state| {
            let is_empty = state.queues.get(&on.0).is_none_or(VecDeque::is_empty);
            is_empty && !state.busy.contains(&on.0)
        });
    }

    fn name(&self) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.names += 1;
        state.names
    }
}

/// The address of memory that is never let go. Of words, so that any element may be there.
fn memory(bytes: u64) -> u64 {
    let memory = vec![0xA5A5_A5A5_A5A5_A5A5_u64; bytes.div_ceil(8).max(1) as usize];
    Box::leak(memory.into_boxed_slice()).as_mut_ptr() as u64
}

// Safety: it works on memory of this process that its callers vouch for.
unsafe impl Driver for Fake {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: u64, _: RawStream) -> Result<RawMemory, Fault> {
        self.call("allocate")?;
        let mut state = self.state.lock().unwrap();
        if std::mem::take(&mut state.is_full) {
            return Err(Fault::OutOfMemory { free: Some(7) });
        }
        let room = self.mood.room.unwrap_or(u64::MAX);
        let free = room.saturating_sub(state.live + state.pooled);
        if bytes > free {
            return Err(Fault::OutOfMemory { free: Some(free) });
        }
        state.live += bytes;
        Ok(RawMemory {
            address: memory(bytes),
            bytes,
            handle: 0,
        })
    }

    fn free(&self, memory: RawMemory, on: RawStream) {
        let _ = self.call("free");
        // Kept, so that a late use finds the marker.
        let state = self.state.clone();
        self.later(on, move || {
            let mut state = state.lock().unwrap();
            state.live -= memory.bytes;
            state.pooled += memory.bytes;
            // Safety: nothing uses what is freed, and it is as large.
            unsafe {
                std::ptr::write_bytes(memory.address as *mut u8, FREED, memory.bytes as usize);
            }
        });
    }

    fn reserved(&self) -> Option<u64> {
        let state = self.state.lock().unwrap();
        Some(state.live + state.pooled)
    }

    fn trim(&self, keep: u64) -> Result<(), Fault> {
        self.call("trim")?;
        let mut state = self.state.lock().unwrap();
        state.pooled = state.pooled.min(keep.saturating_sub(state.live));
        Ok(())
    }

    fn upload(&self, on: RawStream, to: u64, from: &[u8]) -> Result<(), Fault> {
        let done = self.submit("upload")?;
        let from = from.to_vec();
        // Safety: the destination is valid until its last use.
        self.later(on, move || unsafe {
            std::ptr::copy_nonoverlapping(from.as_ptr(), to as *mut u8, from.len());
        });
        done
    }

    fn download(&self, on: RawStream, from: u64, to: &mut [u8]) -> Result<(), Fault> {
        self.call("download")?;
        self.drain(on);
        // Safety: the source is valid, and what wrote it has ended.
        unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn pin(&self, bytes: u64) -> Result<RawMemory, Fault> {
        self.call("pin")?;
        let address = memory(bytes);
        Ok(RawMemory {
            address,
            bytes,
            handle: address,
        })
    }

    fn unpin(&self, memory: RawMemory) {
        let _ = self.call("unpin");
        // Safety: nothing uses what is unpinned, and it is as large.
        unsafe {
            std::ptr::write_bytes(memory.handle as *mut u8, FREED, memory.bytes as usize);
        }
    }

    fn copy(&self, on: RawStream, from: u64, to: u64, bytes: u64) -> Result<(), Fault> {
        let done = self.submit("copy")?;
        // Safety: both are valid until their last use.
        self.later(on, move || unsafe {
            std::ptr::copy(from as *const u8, to as *mut u8, bytes as usize);
        });
        done
    }

    fn set(&self, on: RawStream, at: u64, bytes: u64, value: u8) -> Result<(), Fault> {
        let done = self.submit("set")?;
        // Safety: the memory is valid until its last use.
        self.later(on, move || unsafe {
            std::ptr::write_bytes(at as *mut u8, value, bytes as usize);
        });
        done
    }

    fn open_stream(&self, _: bool) -> Result<RawStream, Fault> {
        self.call("open_stream")?;
        Ok(RawStream(self.name()))
    }

    fn close_stream(&self, _: RawStream) {
        let _ = self.call("close_stream");
    }

    fn synchronize(&self, on: RawStream) -> Result<(), Fault> {
        self.call("synchronize")?;
        self.drain(on);
        Ok(())
    }

    fn owns(&self, address: u64) -> Result<(), String> {
        match address {
            0 => Err("nobody".into()),
            _ => Ok(()),
        }
    }

    fn is_captured(&self, on: RawStream) -> bool {
        self.state.lock().unwrap().captured.contains_key(&on.0)
    }

    fn splice(
        &self,
        on: RawStream,
        shape: &Shape,
        words: &[u64],
        _: Option<u64>,
        keep: Box<dyn Send + Sync>,
    ) -> Result<(), Fault> {
        self.call("splice")?;
        let mut state = self.state.lock().unwrap();
        state.captured.get_mut(&on.0).unwrap().push(Spliced {
            ops: shape.ops.clone(),
            words: words.to_vec(),
            keep: Some(keep),
        });
        Ok(())
    }

    fn record(&self, on: RawStream) -> Result<RawEvent, Fault> {
        self.call("record")?;
        let event = self.name();
        self.put(on, Task::Record(event));
        Ok(RawEvent(event))
    }

    fn wait(&self, on: RawStream, event: RawEvent) -> Result<(), Fault> {
        self.call("wait")?;
        self.put(on, Task::Wait(event.0));
        Ok(())
    }

    fn is_done(&self, event: RawEvent) -> Result<bool, Fault> {
        self.call("is_done")?;
        Ok(self.state.lock().unwrap().done.contains_key(&event.0))
    }

    fn block(&self, event: RawEvent) -> Result<(), Fault> {
        self.call("block")?;
        self.work(|state| state.done.contains_key(&event.0));
        Ok(())
    }

    /// A task takes a microsecond, and nothing else takes time.
    fn elapsed(&self, from: RawEvent, to: RawEvent) -> Result<Duration, Fault> {
        self.call("elapsed")?;
        let done = &self.state.lock().unwrap().done;
        let tasks = done[&to.0].checked_sub(done[&from.0]);
        Ok(Duration::from_micros(tasks.expect("the later event")))
    }

    fn drop_event(&self, _: RawEvent) {
        self.state.lock().unwrap().dropped += 1;
    }

    fn takes(&self, target: &str) -> bool {
        target == "cpu"
    }

    fn load(&self, _: &Part<'_>) -> Result<Box<dyn Code>, Error> {
        self.call("load")
            .map_err(|fault| Error::Load(fault.to_string()))?;
        Ok(Box::new(Table {
            bodies: self.bodies.clone(),
            state: self.state.clone(),
        }))
    }

    fn build(&self, shape: &Shape, words: &[u64]) -> Result<Box<dyn Replay>, Fault> {
        self.call("build")?;
        Ok(Box::new(Recorded {
            ops: Arc::new(shape.ops.clone()),
            parts: Parts::of(&shape.ops),
            words: words.to_vec(),
            asked: 0,
            done: Arc::default(),
            fake: Self {
                info: self.info.clone(),
                mood: self.mood,
                bodies: HashMap::new(),
                state: self.state.clone(),
            },
        }))
    }
}

struct Table {
    bodies: HashMap<&'static str, Body>,
    state: Arc<Mutex<State>>,
}

impl Drop for Table {
    fn drop(&mut self) {
        self.state.lock().unwrap().dropped += 1;
    }
}

impl Code for Table {
    fn body(&self, name: &str, _: u32) -> Option<RawBody> {
        self.bodies
            .get(name)
            .map(|body| RawBody(*body as usize as u64))
    }
}

struct Recorded {
    ops: Arc<Vec<Op>>,
    parts: Parts,
    words: Vec<u64>,
    /// Replays so far, and those that have been done.
    asked: u64,
    done: Arc<AtomicU64>,
    fake: Fake,
}

impl Replay for Recorded {
    fn patch(&mut self, words: &[u64], changed: &[usize]) -> Result<(), Fault> {
        self.fake.call("patch")?;
        // Only what is said to have changed: the rest had better be the same.
        for place in changed {
            self.words[*place] = words[*place];
        }
        assert_eq!(self.words, words, "words that changed and were not named");
        Ok(())
    }

    fn waits(&self) -> bool {
        self.fake.mood.asks_host && self.parts.looks > 0
    }

    fn replay(&mut self, on: RawStream, limit: Option<u64>) -> Result<(), Fault> {
        let done = self.fake.submit("replay")?;
        if self.waits() {
            let (fake, words) = (&self.fake, &self.words);
            parts::run(&mut Asked { fake, words, on }, &self.parts.parts, limit)?;
            return done;
        }
        // As they are now: a later patch does not change what is under way.
        let (ops, words) = (self.ops.clone(), self.words.clone());
        let (number, asked) = (self.asked, self.done.clone());
        self.asked += 1;
        self.fake.later(on, move || {
            let before = asked.fetch_add(1, Ordering::Relaxed);
            assert_eq!(before, number, "replays of one graph, beside each other");
            all(&ops, &words);
        });
        done
    }
}

/// A replay at whose conditions the host looks.
struct Asked<'a> {
    fake: &'a Fake,
    words: &'a [u64],
    on: RawStream,
}

impl Host for Asked<'_> {
    fn ops(&mut self, _: usize, ops: &[Op]) -> Result<(), Fault> {
        let (ops, words) = (ops.to_vec(), self.words.to_vec());
        // In the plan's order, which is one that they allow.
        let what = move || ops.iter().for_each(|op| one(op, &words));
        self.fake.later(self.on, what);
        Ok(())
    }

    fn is_set(&mut self, look: Look) -> Result<bool, Fault> {
        self.fake.drain(self.on);
        // Safety: the word is the address of a flag, and what wrote it has ended.
        Ok(unsafe { *(self.words[look.word] as *const i32) } != 0)
    }
}

/// Ops in the latest order that they allow.
fn all(ops: &[Op], words: &[u64]) {
    let mut done = vec![false; ops.len()];
    while let Some(next) = (0..ops.len())
        .rev()
        .find(|i| !done[*i] && ops[*i].after.iter().all(|earlier| done[*earlier as usize]))
    {
        one(&ops[next], words);
        done[next] = true;
    }
}

fn one(op: &Op, words: &[u64]) {
    // Safety: the word is the address of a flag, in memory that is held.
    let is_set = |place: usize| unsafe { *(words[place] as *const i32) != 0 };
    match &op.kind {
        OpKind::Launch {
            body, words: mine, ..
        } => {
            if words[mine.start] > 0 {
                // Safety: a raw body of the fake is a function of this type.
                let body = unsafe { std::mem::transmute::<usize, Body>(body.0 as usize) };
                body(&words[mine.clone()]);
            }
        }
        OpKind::Fill { size, words: first } => {
            let [address, count, value] = [0, 1, 2].map(|i| words[first + i]);
            for i in 0..count as usize {
                let to = (address as usize + i * size) as *mut u8;
                // Safety: the memory has as many elements of this size.
                unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), to, *size) };
            }
        }
        OpKind::Copy { words: first } => {
            let [from, to, bytes] = [0, 1, 2].map(|i| words[first + i]);
            let (from, to) = (from as *const u8, to as *mut u8);
            // Safety: both have as many bytes, and do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(from, to, bytes as usize) };
        }
        OpKind::While { flag, ops } => loop {
            all(ops, words);
            if !is_set(*flag) {
                break;
            }
        },
        OpKind::If { condition, ops } => {
            if is_set(*condition) {
                all(ops, words);
            }
        }
        OpKind::Join => {}
    }
}
