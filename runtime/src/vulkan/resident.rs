//! A Vulkan device as objects use it: memory of pools, streams that are semaphores with
//! values, and shapes that are recorded.

use super::{
    cache, capabilities,
    device::Device,
    event::Event,
    kernels::{Bound, Kernels},
    load,
    memory::{Copies, Memory, Refusal},
    pipeline::Code as Module,
    pool::{Place, Pool},
    replay::Graph,
    timeline::{Point, Timeline},
    words::fault,
};
use crate::{
    Error,
    objects::driver::{
        Code, Driver, Fault, RawBody, RawEvent, RawMemory, RawStream, Replay, Shape,
    },
    objects::{DeviceId, DeviceInfo, DeviceLimits},
    program::Part,
};
use ash::vk;
use qd_artifact::{Origins, Requirements, TargetSpec};
use std::{
    collections::HashMap,
    path::PathBuf,
    ptr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    time::Duration,
};

/// Bytes of a block of memory at least.
const DATA_BLOCK: u64 = 16 << 20;
const WORDS_BLOCK: u64 = 256 << 10;
/// Bytes that are staged at a time, and how many such pieces are under way.
const STAGED: usize = 4 << 20;
const PIECES: usize = 2;
/// Bytes of what commands set.
const WORD: u64 = 4;

/// Drives a Vulkan device.
pub(crate) struct Resident {
    info: DeviceInfo,
    shared: Arc<Shared>,
    /// Where what its driver compiles is kept, if anywhere.
    cache: Option<PathBuf>,
    idle: Mutex<Idle>,
}

/// What was closed and dropped, to be used again.
#[derive(Default)]
struct Idle {
    streams: Vec<RawStream>,
    events: Vec<Event>,
}

/// What graphs are made with, and live as long as.
pub(super) struct Shared {
    pub kernels: Kernels,
    /// What buffers are in.
    data: Pool,
    /// The memory of the launches' kernel arguments.
    pub words: Pool,
    staging: Pool,
    /// The address of a word of each byte, four times over, among the words.
    bytes: u64,
    /// By the number of the stream.
    timelines: RwLock<Vec<Arc<Timeline>>>,
    retired: Mutex<Vec<Retired>>,
    pub device: Arc<Device>,
}

/// What is destroyed when it is not in use any more.
struct Retired {
    commands: vk::CommandPool,
    _code: Vec<Arc<Module>>,
    until: Vec<Point>,
}

/// The device of that number.
pub(crate) fn device(id: &DeviceId) -> Result<Resident, Error> {
    Resident::open(id, Copies::Direct, cache::directory())
}

impl Resident {
    pub(super) fn open(
        id: &DeviceId,
        copies: Copies,
        cache: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let device = Device::at(id.ordinal)?;
        let pool =
            |block, own, make: fn(&Arc<Device>, usize, Copies) -> Result<Memory, Refusal>| {
                let device = device.clone();
                Pool::new(block, own, move |bytes| make(&device, bytes, copies))
            };
        let words = pool(WORDS_BLOCK, u64::MAX, |device, bytes, _| {
            Memory::words(device, bytes)
        });
        let bytes = words.allocate(256 * WORD, None);
        let bytes = bytes.map_err(|refusal| refusal.into_error("kernel arguments", &device))?;
        if let Some(place) = words.place(bytes) {
            for value in 0..=u8::MAX {
                // Safety: as many bytes are mapped.
                unsafe {
                    let word = place.mapped.add(usize::from(value) * WORD as usize);
                    word.write_bytes(value, WORD as usize);
                }
            }
        }
        Ok(Self {
            info: DeviceInfo {
                id: id.clone(),
                name: device.name.clone(),
                driver: device.properties.driver(),
                target: TargetSpec::new("vulkan:1.3")
                    .with(format!("subgroup={}", device.subgroups.usual)),
                decides: false,
                limits: DeviceLimits {
                    subgroup_sizes: device.subgroups.all(),
                    threads: device
                        .properties
                        .base
                        .limits
                        .max_compute_work_group_invocations,
                    shared_bytes: Some(
                        device
                            .properties
                            .base
                            .limits
                            .max_compute_shared_memory_size
                            .into(),
                    ),
                    memory_bytes: Some(device.local_bytes()),
                    capabilities: capabilities::had(&device.features, &device.properties),
                },
            },
            shared: Arc::new(Shared {
                kernels: Kernels::new(&device)?,
                data: pool(DATA_BLOCK, DATA_BLOCK / 2, Memory::new),
                words,
                bytes,
                staging: pool(STAGED as u64, u64::MAX, |device, bytes, _| {
                    Memory::staging(device, bytes)
                }),
                timelines: RwLock::default(),
                retired: Mutex::default(),
                device,
            }),
            cache,
            idle: Mutex::default(),
        })
    }

    #[cfg(test)]
    pub(super) fn kernels(&self) -> &Kernels {
        &self.shared.kernels
    }

    /// What is on the stream from now on is not done before the gate is opened.
    #[cfg(test)]
    pub(super) fn gate(&self, on: RawStream) -> Point {
        let timeline = Timeline::new(&self.shared.device, 0).expect("a semaphore");
        let gate = Point {
            timeline: Arc::new(timeline),
            value: 1,
        };
        self.shared.timeline(on).wait_for(&gate);
        gate
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event whose commands are recorded, and in no use.
    fn event(&self, on: &Arc<Timeline>) -> Result<Event, vk::Result> {
        let mut idle = self.idle();
        for place in 0..idle.events.len() {
            if idle.events[place].point.is_done()? {
                return Ok(idle.events.swap_remove(place));
            }
        }
        drop(idle);
        Event::new(&self.shared.device, on)
    }
}

/// The event of a name.
fn event<'a>(raw: RawEvent) -> &'a Event {
    // Safety: made by `record`, and not dropped.
    unsafe { &*(raw.0 as *const Event) }
}

impl Shared {
    pub fn timeline(&self, stream: RawStream) -> Arc<Timeline> {
        let timelines = self
            .timelines
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        timelines[stream.0 as usize].clone()
    }

    /// The fault that a refusal of memory is.
    fn refused(&self, refusal: Refusal) -> Fault {
        match refusal {
            Refusal::TooLarge(_) => Fault::OutOfMemory { free: None },
            Refusal::Failed(error) => fault(error),
        }
    }

    /// Unused memory for words.
    pub fn allocate_words(&self, bytes: u64) -> Result<(u64, *mut u8), Fault> {
        let refused = |refusal| self.refused(refusal);
        let address = self.words.allocate(bytes, None).map_err(refused)?;
        Ok((address, self.place(&self.words, address)?.mapped))
    }

    /// How many blocks of arrays were given back so far.
    pub fn trimmed(&self) -> u64 {
        self.data.trimmed()
    }

    fn place(&self, pool: &Pool, address: u64) -> Result<Place, Fault> {
        pool.place(address)
            .ok_or_else(|| Fault::Failed("memory that is in no buffer of this device".into()))
    }

    /// Where an address of a buffer is.
    fn data(&self, address: u64) -> Result<Place, Fault> {
        self.place(&self.data, address)
    }

    /// Where an address of a buffer is, or of the host's memory.
    fn copied(&self, address: u64) -> Result<Place, Fault> {
        match self.data.place(address) {
            Some(place) => Ok(place),
            None => self.place(&self.staging, address),
        }
    }

    /// Destroys commands, and drops their code, when they have been done.
    pub fn retire(&self, commands: vk::CommandPool, code: Vec<Arc<Module>>, until: Vec<Point>) {
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        retired.push(Retired {
            commands,
            _code: code,
            until,
        });
        let is_done = |retired: &mut Retired| {
            let mut points = retired.until.iter();
            points.all(|point| point.is_done().unwrap_or(false))
        };
        for retired in retired.extract_if(.., is_done) {
            // Safety: the commands have been done.
            unsafe {
                self.device.raw.destroy_command_pool(retired.commands, None);
            }
        }
    }

    /// Records a copy of bytes between buffers.
    ///
    /// # Safety
    ///
    /// The ranges live until it has been done.
    pub unsafe fn record_copy(
        &self,
        commands: vk::CommandBuffer,
        from: u64,
        to: u64,
        bytes: u64,
    ) -> Result<(), Fault> {
        if bytes > 0 {
            let (from, to) = (self.data(from)?, self.data(to)?);
            // Safety: by contract.
            unsafe { copy(&self.device, commands, from, to, bytes) };
        }
        Ok(())
    }

    /// Records a fill of elements of 1 or 2 bytes, of which `value` is the address: commands set
    /// words, and elements besides them are copied.
    ///
    /// # Safety
    ///
    /// The range and the value live until it has been done.
    pub unsafe fn record_fill(
        &self,
        commands: vk::CommandBuffer,
        size: u64,
        [begin, count, bits]: [u64; 3],
        value: u64,
    ) -> Result<(), Fault> {
        let end = begin + count * size;
        let first = begin.next_multiple_of(WORD).min(end);
        let last = (end / WORD * WORD).max(first);
        let (from, to) = (self.place(&self.words, value)?, self.data(begin)?);
        let edges = (begin..first).chain(last..end);
        let edges: Vec<_> = edges
            .filter(|at| at.is_multiple_of(size))
            .map(|at| {
                vk::BufferCopy::default()
                    .src_offset(from.offset)
                    .dst_offset(to.offset + at - begin)
                    .size(size)
            })
            .collect();
        let word = match size {
            1 => u32::from_ne_bytes([bits as u8; WORD as usize]),
            _ => (bits as u32 & 0xFFFF) * 0x1_0001,
        };
        let raw = &self.device.raw;
        // Safety: by contract.
        unsafe {
            if first < last {
                let at = to.offset + first - begin;
                raw.cmd_fill_buffer(commands, to.buffer, at, last - first, word);
            }
            if !edges.is_empty() {
                raw.cmd_copy_buffer(commands, from.buffer, to.buffer, &edges);
            }
        }
        Ok(())
    }

    /// Copies bytes between buffers, on a stream.
    ///
    /// # Safety
    ///
    /// The ranges live until it has been done.
    unsafe fn copy(
        &self,
        on: &Arc<Timeline>,
        from: Place,
        to: Place,
        bytes: u64,
    ) -> Result<Point, Fault> {
        // Safety: by contract.
        let copied = unsafe { on.once(|commands| copy(&self.device, commands, from, to, bytes)) };
        copied.map_err(fault)
    }

    fn upload(&self, on: &Arc<Timeline>, to: u64, from: &[u8]) -> Result<(), Fault> {
        let mut pieces: Vec<Point> = Vec::new();
        for (i, part) in from.chunks(STAGED).enumerate() {
            if i >= PIECES {
                pieces[i - PIECES].wait()?;
            }
            let bytes = part.len() as u64;
            let staged = self.staged(bytes)?;
            let place = self.place(&self.staging, staged)?;
            let to = self.data(to + (i * STAGED) as u64)?;
            // Safety: as many bytes are mapped, and nothing uses them.
            let copied = unsafe {
                ptr::copy_nonoverlapping(part.as_ptr(), place.mapped, part.len());
                self.copy(on, place, to, bytes)
            };
            self.staging
                .free(staged, bytes, copied.iter().cloned().collect());
            pieces.push(copied?);
        }
        Ok(())
    }

    fn download(&self, on: &Arc<Timeline>, from: u64, to: &mut [u8]) -> Result<(), Fault> {
        for (i, part) in to.chunks_mut(STAGED).enumerate() {
            let bytes = part.len() as u64;
            let from = self.data(from + (i * STAGED) as u64)?;
            let staged = self.staged(bytes)?;
            let place = self.place(&self.staging, staged)?;
            // Safety: as above; the copy is waited for.
            let copied = unsafe { self.copy(on, from, place, bytes) };
            let until = copied.iter().cloned().collect();
            let done = copied.and_then(|point| point.wait());
            if done.is_ok() {
                // Safety: as many bytes are mapped, and they have been written.
                unsafe { ptr::copy_nonoverlapping(place.mapped, part.as_mut_ptr(), part.len()) };
            }
            self.staging.free(staged, bytes, until);
            done?;
        }
        Ok(())
    }

    fn staged(&self, bytes: u64) -> Result<u64, Fault> {
        let staged = self.staging.allocate(bytes, None);
        staged.map_err(|refusal| self.refused(refusal))
    }
}

/// Records a copy.
///
/// # Safety
///
/// The ranges live until it has been done.
unsafe fn copy(device: &Device, commands: vk::CommandBuffer, from: Place, to: Place, bytes: u64) {
    let region = [vk::BufferCopy::default()
        .src_offset(from.offset)
        .dst_offset(to.offset)
        .size(bytes)];
    // Safety: by contract.
    unsafe {
        device
            .raw
            .cmd_copy_buffer(commands, from.buffer, to.buffer, &region);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.device.idle();
        let timelines = self
            .timelines
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        // They hold one another.
        timelines.iter().for_each(|timeline| timeline.forget());
        for pool in [&self.data, &self.words, &self.staging] {
            pool.forget();
        }
        let retired = self
            .retired
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for retired in retired.drain(..) {
            // Safety: the device is idle.
            unsafe {
                self.device.raw.destroy_command_pool(retired.commands, None);
            }
        }
    }
}

// Safety: what is asked for is put onto streams, on addresses that the caller vouches for.
unsafe impl Driver for Resident {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: u64, on: RawStream) -> Result<RawMemory, Fault> {
        let on = self.shared.timeline(on);
        let address = self.shared.data.allocate(bytes, Some(&on));
        Ok(RawMemory {
            address: address.map_err(|refusal| self.shared.refused(refusal))?,
            bytes,
            handle: 0,
        })
    }

    fn free(&self, memory: RawMemory, on: RawStream) {
        let until = self.shared.timeline(on).end();
        self.shared.data.free(memory.address, memory.bytes, until);
    }

    fn reserved(&self) -> Option<u64> {
        Some(self.shared.data.reserved())
    }

    fn trim(&self, keep: u64) -> Result<(), Fault> {
        self.shared.data.give_back(keep);
        self.shared.staging.give_back(0);
        Ok(())
    }

    fn upload(&self, on: RawStream, to: u64, from: &[u8]) -> Result<(), Fault> {
        if from.is_empty() {
            return Ok(());
        }
        let on = self.shared.timeline(on);
        let mapped = self.shared.data(to)?.mapped;
        if mapped.is_null() {
            return self.shared.upload(&on, to, from);
        }
        on.finish()?;
        // Safety: the caller's promise of the address; what used it has been done.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), mapped, from.len()) };
        Ok(())
    }

    fn download(&self, on: RawStream, from: u64, to: &mut [u8]) -> Result<(), Fault> {
        let on = self.shared.timeline(on);
        if to.is_empty() {
            return on.finish();
        }
        let mapped = self.shared.data(from)?.mapped;
        if mapped.is_null() {
            return self.shared.download(&on, from, to);
        }
        on.finish()?;
        // Safety: as above.
        unsafe { ptr::copy_nonoverlapping(mapped, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn pin(&self, bytes: u64) -> Result<RawMemory, Fault> {
        let address = self.shared.staged(bytes)?;
        let place = self.shared.place(&self.shared.staging, address)?;
        Ok(RawMemory {
            address,
            bytes,
            handle: place.mapped as u64,
        })
    }

    fn unpin(&self, memory: RawMemory) {
        let staging = &self.shared.staging;
        staging.free(memory.address, memory.bytes, Vec::new());
    }

    fn copy(&self, on: RawStream, from: u64, to: u64, bytes: u64) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        let (from, to) = (self.shared.copied(from)?, self.shared.copied(to)?);
        let on = self.shared.timeline(on);
        // Safety: the caller's promise of the addresses.
        unsafe { self.shared.copy(&on, from, to, bytes) }.map(drop)
    }

    fn set(&self, on: RawStream, at: u64, bytes: u64, value: u8) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        // Commands set whole words; bytes besides them are copied.
        let end = at + bytes;
        let first = at.next_multiple_of(WORD).min(end);
        let last = (end / WORD * WORD).max(first);
        let shared = &self.shared;
        let from = shared.bytes + u64::from(value) * WORD;
        let (from, to) = (shared.place(&shared.words, from)?, shared.data(at)?);
        let edges = [(at, first), (last, end)];
        let edges: Vec<_> = edges
            .iter()
            .filter(|(from, to)| from < to)
            .map(|(first, end)| {
                vk::BufferCopy::default()
                    .src_offset(from.offset)
                    .dst_offset(to.offset + first - at)
                    .size(end - first)
            })
            .collect();
        let raw = &shared.device.raw;
        // Safety: the caller's promise of the address.
        let cleared = unsafe {
            shared.timeline(on).once(|commands| {
                if first < last {
                    let (begin, word) = (to.offset + first - at, u32::from_ne_bytes([value; 4]));
                    raw.cmd_fill_buffer(commands, to.buffer, begin, last - first, word);
                }
                if !edges.is_empty() {
                    raw.cmd_copy_buffer(commands, from.buffer, to.buffer, &edges);
                }
            })
        };
        cleared.map(drop).map_err(fault)
    }

    fn open_stream(&self, _: bool) -> Result<RawStream, Fault> {
        if let Some(stream) = self.idle().streams.pop() {
            return Ok(stream);
        }
        let shared = &self.shared;
        let mut timelines = shared
            .timelines
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let number = timelines.len();
        let timeline = Timeline::new(&shared.device, number % shared.device.queues());
        timelines.push(Arc::new(timeline.map_err(fault)?));
        Ok(RawStream(number as u64))
    }

    fn close_stream(&self, stream: RawStream) {
        self.idle().streams.push(stream);
    }

    fn synchronize(&self, on: RawStream) -> Result<(), Fault> {
        self.shared.timeline(on).finish()
    }

    fn adopt(&self, _: RawStream) -> Result<(), Fault> {
        Err(Fault::Failed(
            "a Vulkan device cannot use foreign streams".into(),
        ))
    }

    fn owns(&self, address: u64) -> Result<(), String> {
        match self.shared.data.place(address) {
            Some(_) => Ok(()),
            None => Err("no Vulkan buffer that this process made".into()),
        }
    }

    fn record(&self, on: RawStream) -> Result<RawEvent, Fault> {
        let on = self.shared.timeline(on);
        let mut event = self.event(&on).map_err(fault)?;
        // Safety: the event lives until then: it is used again only when this has been done.
        event.point = unsafe { on.submit(&[event.commands]) }.map_err(fault)?;
        Ok(RawEvent(Box::into_raw(Box::new(event)) as u64))
    }

    fn wait(&self, on: RawStream, raw: RawEvent) -> Result<(), Fault> {
        self.shared.timeline(on).wait_for(&event(raw).point);
        Ok(())
    }

    fn is_done(&self, raw: RawEvent) -> Result<bool, Fault> {
        event(raw).point.is_done().map_err(fault)
    }

    fn block(&self, raw: RawEvent) -> Result<(), Fault> {
        event(raw).point.wait()
    }

    fn elapsed(&self, from: RawEvent, to: RawEvent) -> Result<Duration, Fault> {
        let time = |raw| match &event(raw).queries {
            Some(queries) => queries.read::<1>(0).map(|[time]| time).map_err(fault),
            None => Err(Fault::Failed("the device has no timestamps".into())),
        };
        let (from, to) = (time(from)?, time(to)?);
        let clock = self.shared.device.clock;
        Ok(clock.map_or(Duration::ZERO, |clock| clock.between(from, to)))
    }

    fn drop_event(&self, raw: RawEvent) {
        // Safety: made by `record`, and not used any more.
        let event = unsafe { Box::from_raw(raw.0 as *mut Event) };
        self.idle().events.push(*event);
    }

    fn takes(&self, target: &str) -> bool {
        load::takes(&self.shared.device, target)
    }

    fn check(&self, needs: &Requirements, origins: Option<&Origins>) -> Result<(), Error> {
        let device = &self.shared.device;
        capabilities::check(needs, origins, &device.features, &device.properties)
    }

    fn load(&self, part: &Part<'_>) -> Result<Box<dyn Code>, Error> {
        Ok(Box::new(Loaded {
            module: load::code(part, &self.shared.device, self.cache.as_deref())?.into(),
            bodies: Mutex::default(),
        }))
    }

    fn build(&self, shape: &Shape, words: &[u64]) -> Result<Box<dyn Replay>, Fault> {
        Ok(Box::new(Graph::new(&self.shared, shape, words)?))
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        // Events that were dropped may be under way.
        self.shared.device.idle();
    }
}

/// Code on the device.
struct Loaded {
    module: Arc<Module>,
    bodies: Mutex<HashMap<(String, u32), Box<Body>>>,
}

/// A body of a module. Its pipeline is made when a shape is that launches it.
pub(super) struct Body {
    pub code: Arc<Module>,
    name: String,
    threads: u32,
}

impl Body {
    pub fn bound(&self) -> Result<Bound, String> {
        let pipeline = self.code.pipeline(&self.name, self.threads)?;
        Ok((pipeline, self.code.layout))
    }
}

impl Code for Loaded {
    fn body(&self, name: &str, threads: u32) -> Option<RawBody> {
        let code = Some(&self.module).filter(|code| code.has(name))?;
        let mut bodies = self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        let body = bodies.entry((name.into(), threads)).or_insert_with(|| {
            Box::new(Body {
                code: code.clone(),
                name: name.into(),
                threads,
            })
        });
        Some(RawBody(ptr::from_ref(&**body) as u64))
    }
}
