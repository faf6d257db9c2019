//! Devices: opened once, shared by all objects on them.

use super::{
    allocation::Keep,
    allocator::Allocator,
    codes::Codes,
    driver::{Driver, Fault},
    executable::Executable,
    faults::Faults,
    fork::{self, Here},
    prints::Prints,
    reclaim,
    stream::{Priority, Stream},
};
use crate::{Error, cpu, cuda, hip, vulkan};
use qd_artifact::{Artifact, TargetSpec};
use std::{
    collections::HashMap,
    fmt,
    str::FromStr,
    sync::{
        Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

/// Which device: `cpu`, `cuda:0`, `hip:0`, `vulkan:1`. Without a number it is the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceId {
    /// The name of its driver.
    pub driver: String,
    /// Its index among that driver's devices, from 0.
    pub ordinal: u32,
}

/// The names of the drivers.
const DRIVERS: [&str; 4] = ["cpu", "cuda", "hip", "vulkan"];

impl FromStr for DeviceId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (driver, ordinal) = match text.split_once(':') {
            Some((driver, ordinal)) => (driver, ordinal.parse().ok()),
            None => (text, Some(0)),
        };
        match ordinal.filter(|_| DRIVERS.contains(&driver)) {
            Some(ordinal) => Ok(Self {
                driver: driver.into(),
                ordinal,
            }),
            None => Err(Error::Device(format!(
                "'{text}' is not a device: expected one of {}, followed by a colon and a number",
                DRIVERS.join(", ")
            ))),
        }
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.driver.as_str(), self.ordinal) {
            ("cpu", _) => f.write_str("cpu"),
            (driver, ordinal) => write!(f, "{driver}:{ordinal}"),
        }
    }
}

/// How a device is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DeviceOptions {
    /// Worker threads, if the device is the host; by default as many as the machine has hardware
    /// threads.
    pub threads: Option<usize>,
    /// The allocator of arrays and of kernels' other memory, instead of the device's own pool:
    /// everywhere but on Vulkan's devices.
    pub allocator: Option<Allocator>,
}

/// A description of a device.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// The id by which it is opened.
    pub id: DeviceId,
    /// The vendor's name of it.
    pub name: String,
    /// The driver and its version, as far as it says so; of the host, how many threads it uses.
    /// Times of kernels are only comparable where it and the name are the same.
    pub driver: String,
    /// The target to compile for.
    pub target: TargetSpec,
    /// Whether the device decides if a loop goes on. Otherwise the host reads the flag, and a
    /// launch with a loop or an `if` returns after its last read.
    pub decides: bool,
    /// What it has.
    pub limits: DeviceLimits,
}

/// What code may be compiled for on a device, and what it may ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Subgroup sizes, ascending.
    pub subgroup_sizes: Vec<u32>,
    /// Threads of a block at most; a kernel's blocks have 1024 at most.
    pub threads: u32,
    /// Bytes of shared memory of a block at most, where there is a limit.
    pub shared_bytes: Option<u64>,
    /// Bytes of its memory, where that is known.
    pub memory_bytes: Option<u64>,
    /// The capabilities of SPIR-V that it has, by their names there; none where code is no SPIR-V.
    pub capabilities: Vec<&'static str>,
}

/// The devices of this machine, and why drivers have none.
#[derive(Debug, Default)]
pub struct Devices {
    /// In the order of drivers and numbers.
    pub found: Vec<DeviceInfo>,
    /// What cannot be used, and why: the name of a driver without devices, or the id of a
    /// device that cannot be opened.
    pub refusals: Vec<(String, Error)>,
}

impl Devices {
    /// Opens every device for a moment.
    pub fn list() -> Self {
        let describe = |id: &DeviceId| {
            let device = Device::open(id, &DeviceOptions::default())?;
            Ok(device.info().clone())
        };
        Self::by(count, describe)
    }

    /// Those that `count` says a driver has, and `describe` describes.
    pub(super) fn by(
        count: impl Fn(&str) -> Result<u32, Error>,
        describe: impl Fn(&DeviceId) -> Result<DeviceInfo, Error>,
    ) -> Self {
        let mut devices = Self::default();
        for driver in DRIVERS {
            let count = count(driver).unwrap_or_else(|error| {
                devices.refusals.push((driver.into(), error));
                0
            });
            for ordinal in 0..count {
                let id = DeviceId {
                    driver: driver.into(),
                    ordinal,
                };
                match describe(&id) {
                    Ok(info) => devices.found.push(info),
                    Err(error) => devices.refusals.push((id.to_string(), error)),
                }
            }
        }
        devices
    }
}

/// Memory that is allocated on a device, and bytes copied to and from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// In use.
    pub live: u64,
    /// Reserved for that, in use or not: [`Device::trim`] may release what is beyond `live`.
    pub reserved: u64,
    /// The peak of `live`.
    pub peak: u64,
    /// Allocations so far.
    pub allocations: u64,
    /// Copied from the host so far.
    pub uploaded: u64,
    /// Copied to the host so far.
    pub downloaded: u64,
}

/// A device. There is one for each id and options in a process, as long as one of its objects is
/// held.
#[derive(Clone)]
pub struct Device(pub(super) Arc<Shared>);

/// What all handles of a device share.
pub(super) struct Shared {
    pub driver: Here<Box<dyn Driver>>,
    /// Where memory comes from, if not from the driver.
    pub allocator: Option<Allocator>,
    pub counters: Counters,
    pub codes: Codes,
    pub faults: Faults,
    pub prints: Prints,
    /// Why the device is lost.
    lost: OnceLock<String>,
    /// Kernels that were launched last, for messages.
    recent: Mutex<Vec<Arc<str>>>,
    streams: AtomicU64,
    allocations: AtomicU64,
}

/// [`MemoryStats`] as they are counted.
#[derive(Default)]
pub(super) struct Counters {
    live: AtomicU64,
    peak: AtomicU64,
    allocations: AtomicU64,
    pub uploaded: AtomicU64,
    pub downloaded: AtomicU64,
}

impl Counters {
    pub fn allocated(&self, bytes: u64) {
        self.allocations.fetch_add(1, Ordering::Relaxed);
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(live, Ordering::Relaxed);
    }

    pub fn live(&self) -> u64 {
        self.live.load(Ordering::Relaxed)
    }

    pub fn freed(&self, bytes: u64) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Kernels that a message about a lost device names at most.
const SUSPECTS: usize = 4;

type Open = HashMap<(DeviceId, DeviceOptions), Weak<Shared>>;
static OPEN: LazyLock<Mutex<Open>> = LazyLock::new(Mutex::default);

/// How many devices a driver has, at least one.
fn count(driver: &str) -> Result<u32, Error> {
    match driver {
        "cuda" => cuda::count(),
        "hip" => hip::count(),
        "vulkan" => vulkan::count(),
        _ => Ok(1),
    }
}

/// What drives a device that is not open yet.
fn driver(id: &DeviceId, options: &DeviceOptions) -> Result<Box<dyn Driver>, Error> {
    Ok(match id.driver.as_str() {
        "cpu" if id.ordinal == 0 => Box::new(cpu::device(id, options)?),
        "cuda" => Box::new(cuda::device(id, options)?),
        "hip" => Box::new(hip::device(id)?),
        "vulkan" if options.allocator.is_some() => {
            return Err(Error::Device(format!(
                "{id} takes no memory of an allocator: its arrays are in Vulkan buffers of its own"
            )));
        }
        "vulkan" => Box::new(vulkan::device(id)?),
        _ => return Err(Error::Device(format!("there is no device {id}"))),
    })
}

impl Device {
    /// Opens a device, or returns the open one. A lost device is opened again, if its driver can.
    ///
    /// # Errors
    ///
    /// There is no such device, or it cannot be used: the message names what is missing.
    pub fn open(id: &DeviceId, options: &DeviceOptions) -> Result<Self, Error> {
        fork::watch();
        fork::check()?;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, shared| shared.strong_count() > 0);
        let key = (id.clone(), options.clone());
        let found = open.get(&key).and_then(Weak::upgrade);
        if let Some(shared) = found.as_ref().filter(|shared| shared.lost.get().is_none()) {
            return Ok(Self(shared.clone()));
        }
        let driver = driver(id, options);
        let driver = driver.map_err(|error| {
            // What cannot be opened again is lost for this process.
            let lost = found.and_then(|shared| shared.check().err());
            lost.unwrap_or(error)
        })?;
        let device = Self::with(driver, options.allocator.clone());
        open.insert(key, Arc::downgrade(&device.0));
        Ok(device)
    }

    /// A device with this driver.
    #[cfg(test)]
    pub(crate) fn of(driver: Box<dyn Driver>) -> Self {
        Self::with(driver, None)
    }

    pub(super) fn with(driver: Box<dyn Driver>, allocator: Option<Allocator>) -> Self {
        Self(Arc::new(Shared {
            driver: Here::new(driver),
            allocator,
            counters: Counters::default(),
            codes: Codes::default(),
            faults: Faults::default(),
            prints: Prints::default(),
            lost: OnceLock::new(),
            recent: Mutex::default(),
            streams: AtomicU64::new(0),
            allocations: AtomicU64::new(0),
        }))
    }

    /// What it is.
    pub fn info(&self) -> &DeviceInfo {
        self.0.driver.info()
    }

    /// What is on it, and what was copied.
    pub fn memory(&self) -> MemoryStats {
        let counters = &self.0.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        MemoryStats {
            live: counters.live(),
            reserved: self.0.reserved(),
            peak: read(&counters.peak),
            allocations: read(&counters.allocations),
            uploaded: read(&counters.uploaded),
            downloaded: read(&counters.downloaded),
        }
    }

    /// Releases unused memory to the system, block by block, until about `keep_bytes` are held.
    /// Memory that running work may still use stays.
    ///
    /// # Errors
    ///
    /// The device is lost.
    pub fn trim(&self, keep_bytes: u64) -> Result<(), Error> {
        self.0.check()?;
        reclaim::now();
        let trimmed = self.0.driver.trim(keep_bytes);
        trimmed.map_err(|fault| self.0.failed("giving memory back", fault))
    }

    /// A new stream.
    ///
    /// # Errors
    ///
    /// The device is lost or cannot create one.
    pub fn stream(&self, priority: Priority) -> Result<Stream, Error> {
        Stream::open(self, priority)
    }

    /// Wraps a foreign stream, by its driver's handle: on NVIDIA's devices a `CUstream`. While its
    /// owner captures it, launches become part of the owner's graph; a call that cannot is an error,
    /// which leaves the capture unchanged. Wrap a stream only once: prepared launches belong to the
    /// wrapper. `keep` is dropped with the last handle, the last memory that was used on it and the
    /// last kernel that was launched on it.
    ///
    /// # Safety
    ///
    /// There is such a stream until `keep` is dropped, or without it as long as there are a handle
    /// and memory that was used on it.
    ///
    /// # Errors
    ///
    /// It is another device's stream or the per-thread default stream, or the device is lost.
    pub unsafe fn wrap_stream(&self, raw: u64, keep: Keep) -> Result<Stream, Error> {
        Stream::wrap(self, raw, keep)
    }

    /// Prepares an artifact's kernels for launches.
    ///
    /// # Errors
    ///
    /// It is for another target, damaged, or requires features that the device lacks.
    pub fn load(&self, artifact: &Artifact) -> Result<Executable, Error> {
        Executable::load(self, artifact)
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.info().id, self.info().name)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !fork::is_copy() {
            self.drop_ring();
            self.drop_record();
        }
    }
}

impl Shared {
    /// An error if nothing can be asked of it any more.
    pub fn check(&self) -> Result<(), Error> {
        fork::check()?;
        match self.lost.get() {
            Some(why) => Err(self.is_lost(why)),
            None => Ok(()),
        }
    }

    fn is_lost(&self, why: &str) -> Error {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        Error::Lost {
            device: self.driver.info().id.to_string(),
            suspects: recent.iter().map(|name| name.to_string()).collect(),
            reason: why.into(),
        }
    }

    /// What a driver says, as an error about `what`.
    pub fn failed(&self, what: &str, fault: Fault) -> Error {
        match fault {
            Fault::OutOfMemory { free } => Error::OutOfMemory {
                what: what.into(),
                bytes: None,
                free,
                pooled: None,
            },
            Fault::Lost(why) => {
                let why = self.lost.get_or_init(|| why);
                self.is_lost(why)
            }
            Fault::Failed(reason) => Error::Device(format!("{what}: {reason}")),
            Fault::WentOn { kernel, limit } => Error::TooManyIterations { kernel, limit },
            Fault::TooManyIterations { .. } => Error::Device(format!("{what}: {fault}")),
        }
    }

    /// Remembers a kernel that is launched, for messages.
    pub fn launched(&self, kernel: &Arc<str>) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.last().is_some_and(|last| Arc::ptr_eq(last, kernel)) {
            return;
        }
        recent.retain(|name| !Arc::ptr_eq(name, kernel));
        if recent.len() == SUSPECTS {
            recent.remove(0);
        }
        recent.push(kernel.clone());
    }

    pub fn next_stream(&self) -> u64 {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    pub fn next_allocation(&self) -> u64 {
        self.allocations.fetch_add(1, Ordering::Relaxed)
    }
}
