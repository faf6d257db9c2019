//! The driver of AMD devices: memory of a pool, streams and events.

use super::{
    api::{self, Code as Refused, Handle, PointerAttributes, PoolProperties, failed},
    architecture,
    device::{Device, Entered, Module},
    replay::InOrder,
};
use crate::{
    Error,
    objects::driver::{
        Code, Driver, Fault, RawBody, RawEvent, RawMemory, RawStream, Replay, Shape,
    },
    objects::{DeviceId, DeviceInfo, DeviceLimits},
    program::Part,
};
use qd_artifact::{Body, Format, TargetSpec};
use std::{
    collections::HashMap,
    ffi::{c_int, c_void},
    mem, ptr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Drives an AMD device.
pub(crate) struct Hip {
    info: DeviceInfo,
    device: Arc<Device>,
    pool: Handle,
    /// Unused events: creating one takes longer than recording it.
    idle: Mutex<Vec<RawEvent>>,
}

// Safety: the pool may be used from any thread.
unsafe impl Send for Hip {}
// Safety: as above.
unsafe impl Sync for Hip {}

/// The device of that number.
/// Threads of a block, on all of AMD's devices.
const MOST_THREADS: u32 = 1024;

pub(crate) fn device(id: &DeviceId) -> Result<Hip, Error> {
    let device = Arc::new(Device::open(id.ordinal)?);
    let entered = Entered::new(&device).map_err(|code| failed("entering the device", code))?;
    let pool = pool(&device).map_err(|code| failed("a pool of memory", code))?;
    let memory_bytes = device.memory_bytes();
    let version = device.api.version();
    let version = version.map_err(|code| failed("the HIP runtime's version", code))?;
    drop(entered);
    Ok(Hip {
        info: DeviceInfo {
            id: id.clone(),
            name: device.name.clone(),
            driver: format!("HIP {}", api::dotted(version)),
            target: TargetSpec::new(format!("amdgpu:{}", device.architecture)),
            decides: false,
            limits: DeviceLimits {
                // Code may ask for twice as many as are usual, but 64 are the most.
                subgroup_sizes: (device.wave..=64).step_by(32).collect(),
                threads: MOST_THREADS,
                shared_bytes: Some(device.max_shared_bytes.into()),
                memory_bytes,
                capabilities: Vec::new(),
            },
        },
        device,
        pool,
        idle: Mutex::default(),
    })
}

/// A pool of our own, independent of other users' settings, which keeps freed memory.
fn pool(device: &Device) -> Result<Handle, Refused> {
    let (api, properties) = (device.api, PoolProperties::of(device.number));
    let (mut pool, mut keep) = (ptr::null_mut(), u64::MAX);
    // Safety: the structure is filled in; the attribute is a 64-bit number.
    unsafe {
        api.create_pool(&mut pool, &properties)?;
        let set = api.set_pool_attribute(pool, api::RELEASE_THRESHOLD, (&raw mut keep).cast());
        set.inspect_err(|_| {
            let _ = api.destroy_pool(pool);
        })?;
    }
    Ok(pool)
}

fn stream(raw: RawStream) -> Handle {
    raw.0 as Handle
}

fn event(raw: RawEvent) -> Handle {
    raw.0 as Handle
}

fn host(address: u64) -> *mut c_void {
    address as *mut c_void
}

impl Hip {
    fn enter(&self) -> Result<Entered, Fault> {
        Entered::new(&self.device).map_err(|code| self.device.fault(code))
    }

    fn done(&self, outcome: Result<(), Refused>) -> Result<(), Fault> {
        outcome.map_err(|code| self.device.fault(code))
    }

    fn size(bytes: u64) -> Result<usize, Fault> {
        // At least one byte, so that it has an address.
        usize::try_from(bytes.max(1)).map_err(|_| Fault::OutOfMemory { free: None })
    }

    /// Copies bytes of which each side is the host's or the device's, and there may be none.
    ///
    /// # Safety
    ///
    /// Both ranges are valid until the copy has been done.
    unsafe fn put(&self, on: RawStream, from: u64, to: u64, bytes: usize) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        let (from, to) = (host(from).cast_const(), host(to));
        let api = self.device.api;
        // Safety: by contract.
        self.done(unsafe { api.copy(to, from, bytes, api::BY_ADDRESS, stream(on)) })
    }
}

// Safety: work is put onto streams, on addresses that the caller vouches for.
unsafe impl Driver for Hip {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: u64, on: RawStream) -> Result<RawMemory, Fault> {
        let _entered = self.enter()?;
        let (api, size, mut made) = (self.device.api, Self::size(bytes)?, ptr::null_mut());
        // Safety: the pool and the stream exist.
        self.done(unsafe { api.allocate(&mut made, size, self.pool, stream(on)) })?;
        Ok(RawMemory {
            address: made as u64,
            bytes,
            handle: 0,
        })
    }

    fn free(&self, memory: RawMemory, on: RawStream) {
        // A failure cannot be reported.
        if let Ok(_entered) = self.enter() {
            // Safety: allocated above; all that uses it is before this on the stream.
            let _ = unsafe { self.device.api.free(host(memory.address), stream(on)) };
        }
    }

    fn reserved(&self) -> Option<u64> {
        let _entered = self.enter().ok()?;
        let (api, mut bytes) = (self.device.api, 0_u64);
        let to = (&raw mut bytes).cast();
        // Safety: the pool exists; the attribute is a 64-bit number.
        let asked = unsafe { api.pool_attribute(self.pool, api::RESERVED_MEM_CURRENT, to) };
        asked.is_ok().then_some(bytes)
    }

    fn trim(&self, keep: u64) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: the pool exists.
        self.done(unsafe { self.device.api.trim_pool(self.pool, keep as usize) })
    }

    fn within(&self, what: &mut dyn FnMut()) -> Result<(), Fault> {
        let _entered = self.enter()?;
        what();
        Ok(())
    }

    fn upload(&self, on: RawStream, to: u64, from: &[u8]) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // HIP does not promise that memory has been read when this returns. Safety: the caller's
        // promise of the address; the copy is waited for.
        unsafe {
            self.put(on, from.as_ptr() as u64, to, from.len())?;
            self.done(self.device.api.synchronize_stream(stream(on)))
        }
    }

    fn download(&self, on: RawStream, from: u64, to: &mut [u8]) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: as above.
        unsafe {
            self.put(on, from, to.as_mut_ptr() as u64, to.len())?;
            self.done(self.device.api.synchronize_stream(stream(on)))
        }
    }

    fn pin(&self, bytes: u64) -> Result<RawMemory, Fault> {
        let _entered = self.enter()?;
        let (api, size, mut made) = (self.device.api, Self::size(bytes)?, ptr::null_mut());
        // Safety: it is of at least one byte.
        let outcome = unsafe { api.allocate_host(&mut made, size, api::PORTABLE) };
        outcome.map_err(|code| match code {
            // What is free on the device says nothing of the host.
            Refused::OUT_OF_MEMORY => Fault::OutOfMemory { free: None },
            code => self.device.fault(code),
        })?;
        Ok(RawMemory {
            address: made as u64,
            bytes,
            handle: made as u64,
        })
    }

    fn unpin(&self, memory: RawMemory) {
        // A failure cannot be reported.
        if let Ok(_entered) = self.enter() {
            // Safety: made by `pin`, and not in use.
            let _ = unsafe { self.device.api.free_host(host(memory.handle)) };
        }
    }

    fn copy(&self, on: RawStream, from: u64, to: u64, bytes: u64) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: the caller's promise of the addresses.
        unsafe { self.put(on, from, to, bytes as usize) }
    }

    fn set(&self, on: RawStream, at: u64, bytes: u64, value: u8) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.enter()?;
        let api = self.device.api;
        // Safety: as above.
        self.done(unsafe { api.set_8(host(at), value, bytes as usize, stream(on)) })
    }

    fn open_stream(&self, is_urgent: bool) -> Result<RawStream, Fault> {
        let _entered = self.enter()?;
        let (api, mut made) = (self.device.api, ptr::null_mut());
        let (mut least, mut greatest) = (0, 0);
        // Safety: they write what they are given places for.
        unsafe {
            self.done(api.priorities(&mut least, &mut greatest))?;
            // HIP has a priority below the normal one, which is 0.
            let priority = if is_urgent { greatest } else { 0 };
            self.done(api.create_stream(&mut made, api::NON_BLOCKING, priority))?;
        }
        Ok(RawStream(made as u64))
    }

    fn close_stream(&self, raw: RawStream) {
        if let Ok(_entered) = self.enter() {
            let api = self.device.api;
            // HIP does not promise that what is on a stream is still done when it is destroyed.
            // Safety: it exists.
            unsafe {
                let _ = api.synchronize_stream(stream(raw));
                let _ = api.destroy_stream(stream(raw));
            }
        }
    }

    fn synchronize(&self, on: RawStream) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: the stream exists.
        self.done(unsafe { self.device.api.synchronize_stream(stream(on)) })
    }

    fn owns(&self, address: u64) -> Result<(), String> {
        let _entered = self.enter().map_err(|fault| fault.to_string())?;
        let mut found = PointerAttributes::new();
        // Safety: it fills in the structure, for any address.
        let asked = unsafe {
            let api = self.device.api;
            api.pointer_attributes(&mut found, host(address).cast_const())
        };
        match (asked, found.kind) {
            (Err(_), _) | (_, api::UNREGISTERED) => Err("the host, or no device".into()),
            // Of the host, where devices see it.
            (_, api::HOST) => Ok(()),
            _ if found.device == self.device.number => Ok(()),
            _ => Err(format!("hip:{}", found.device)),
        }
    }

    fn adopt(&self, on: RawStream) -> Result<(), Fault> {
        /// What `hipStreamPerThread` is.
        const PER_THREAD: u64 = 2;
        if on.0 == PER_THREAD {
            return Err(Fault::Failed(
                "the per-thread default stream is a different stream in each thread: make one by \
                 hipStreamCreate"
                    .into(),
            ));
        }
        let _entered = self.enter()?;
        let (api, mut number): (_, c_int) = (self.device.api, -1);
        // Safety: the caller's promise of the stream.
        self.done(unsafe { api.stream_device(stream(on), &mut number) })?;
        match number == self.device.number {
            true => Ok(()),
            false => Err(Fault::Failed(format!("it is not of {}", self.device.name))),
        }
    }

    fn is_captured(&self, on: RawStream) -> bool {
        let _entered = self.enter();
        let mut status = 0;
        // Safety: the stream exists; it writes a number.
        let asked = unsafe { self.device.api.capture_status(stream(on), &mut status) };
        asked.is_ok() && status != 0
    }

    fn record(&self, on: RawStream) -> Result<RawEvent, Fault> {
        let _entered = self.enter()?;
        let api = self.device.api;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let raw = idle.pop();
        drop(idle);
        let raw = match raw {
            Some(idle) => idle,
            None => {
                let mut made = ptr::null_mut();
                // Safety: it writes a handle. No flag: it has a time.
                self.done(unsafe { api.create_event(&mut made, 0) })?;
                RawEvent(made as u64)
            }
        };
        // Safety: both exist.
        let recorded = self.done(unsafe { api.record_event(event(raw), stream(on)) });
        recorded.map(|()| raw).inspect_err(|_| self.drop_event(raw))
    }

    fn wait(&self, on: RawStream, raw: RawEvent) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: both exist. There are no flags.
        self.done(unsafe { self.device.api.wait_event(stream(on), event(raw), 0) })
    }

    fn is_done(&self, raw: RawEvent) -> Result<bool, Fault> {
        let _entered = self.enter()?;
        // Safety: it exists.
        match unsafe { self.device.api.query_event(event(raw)) } {
            Ok(()) => Ok(true),
            Err(Refused::NOT_READY) => Ok(false),
            Err(code) => Err(self.device.fault(code)),
        }
    }

    fn block(&self, raw: RawEvent) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: it exists.
        self.done(unsafe { self.device.api.synchronize_event(event(raw)) })
    }

    fn elapsed(&self, from: RawEvent, to: RawEvent) -> Result<Duration, Fault> {
        let _entered = self.enter()?;
        let (api, mut milliseconds) = (self.device.api, 0.0);
        // Safety: both exist and have happened.
        self.done(unsafe { api.elapsed(&mut milliseconds, event(from), event(to)) })?;
        let seconds = f64::from(milliseconds.max(0.0)) / 1e3;
        Ok(Duration::from_secs_f64(seconds))
    }

    fn drop_event(&self, raw: RawEvent) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(raw);
    }

    fn takes(&self, target: &str) -> bool {
        architecture(target) == Some(&*self.device.architecture)
    }

    fn load(&self, part: &Part<'_>) -> Result<Box<dyn Code>, Error> {
        let device = &self.device;
        let _entered = Entered::new(device).map_err(|code| failed("entering the device", code))?;
        let module = Module::new(device, part.code(Format::Hsaco)?)?;
        let mut functions = HashMap::new();
        for Body { name, wave } in &part.module.bodies {
            // Devices with waves of 32 lanes run code for 64 as well.
            if *wave < device.wave {
                return Err(Error::Load(format!(
                    "'{name}' is for waves of {wave} lanes, and those of {} have {}",
                    device.name, device.wave
                )));
            }
            if let Some(shared) = part.shared.get(&**name) {
                shared.check(&device.name, device.max_shared_bytes)?;
            }
            functions.insert(name.clone(), module.function(name)? as u64);
        }
        Ok(Box::new(Loaded {
            functions,
            _module: module,
        }))
    }

    fn build(&self, shape: &Shape, words: &[u64]) -> Result<Box<dyn Replay>, Fault> {
        Ok(Box::new(InOrder::new(&self.device, shape, words)))
    }
}

impl Drop for Hip {
    fn drop(&mut self) {
        let Ok(_entered) = self.enter() else { return };
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        let api = self.device.api;
        // Safety: nothing of the device is held any more.
        unsafe {
            for raw in mem::take(idle) {
                let _ = api.destroy_event(event(raw));
            }
            let _ = api.destroy_pool(self.pool);
        }
    }
}

/// Code on the device.
struct Loaded {
    functions: HashMap<String, u64>,
    /// Owns what `functions` are.
    _module: Module,
}

impl Code for Loaded {
    fn body(&self, name: &str, _: u32) -> Option<RawBody> {
        self.functions.get(name).map(|function| RawBody(*function))
    }
}
