//! The driver of NVIDIA devices: pooled memory, streams, events, and graphs whose arguments are
//! patched.

use super::{
    capability, capture,
    conditions::Conditions,
    device::{Device, Function, Module, failed, reason},
    foreign::{self, Relaxed},
    loops::{Counters, Counting, Report, limit_of},
    moves::Moves,
    replay::Graph,
};
use crate::{
    Error,
    objects::driver::{
        Code, Driver, Fault, RawBody, RawEvent, RawMemory, RawStream, Replay, Shape,
    },
    objects::{DeviceId, DeviceInfo, DeviceLimits, DeviceOptions},
    program::Part,
};
use cudarc::driver::{DriverError, result, sys};
use qd_artifact::{Body, Format, TargetSpec};
use std::{
    collections::HashMap,
    mem, ptr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Drives an NVIDIA device.
pub(crate) struct Cuda {
    info: DeviceInfo,
    shared: Arc<Shared>,
    pool: sys::CUmemoryPool,
    /// Unused events: creating one takes longer than recording it.
    idle: Mutex<Vec<u64>>,
}

/// State that graphs share and keep alive.
pub(super) struct Shared {
    pub moves: Moves,
    /// Unless the driver has none.
    pub conditions: Option<Conditions>,
    /// Of loops that were stopped.
    pub report: Report,
    pub device: Arc<Device>,
}

impl Shared {
    /// How loops with these counters are counted up to a limit.
    pub fn counting(&self, limit: u64, counters: &Counters) -> Counting {
        Counting {
            limit,
            counters: counters.address,
            report: self.report.address,
        }
    }
}

// Safety: the pool may be used from any thread.
unsafe impl Send for Cuda {}
// Safety: as above.
unsafe impl Sync for Cuda {}

/// The device of that number.
pub(crate) fn device(id: &DeviceId, _: &DeviceOptions) -> Result<Cuda, Error> {
    let device = Arc::new(Device::open(id.ordinal)?);
    let entered = Entered::relaxed(&device).map_err(|e| failed("entering its context", e))?;
    let moves = Moves::new(&device)?;
    let conditions = Conditions::new(&device);
    let report = Report::new(&device)?;
    let pool = pool(id.ordinal).map_err(|e| failed("a pool of memory", e))?;
    drop(entered);
    Ok(Cuda {
        info: DeviceInfo {
            id: id.clone(),
            name: device.name.clone(),
            driver: device.driver.clone(),
            target: TargetSpec::new(format!("nvptx:sm_{}", device.capability)),
            decides: conditions.is_some(),
            limits: DeviceLimits {
                subgroup_sizes: vec![32],
                threads: device.max_threads,
                shared_bytes: Some(device.max_shared_bytes.into()),
                memory_bytes: device.memory_bytes(),
                capabilities: Vec::new(),
            },
        },
        shared: Arc::new(Shared {
            moves,
            conditions,
            report,
            device,
        }),
        pool,
        idle: Mutex::default(),
    })
}

/// A pool of our own, independent of other users' settings, which keeps freed memory.
fn pool(ordinal: u32) -> Result<sys::CUmemoryPool, DriverError> {
    // Safety: plain data, of which zeros are a value.
    let mut properties: sys::CUmemPoolProps = unsafe { mem::zeroed() };
    properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = ordinal as i32;
    let mut pool = ptr::null_mut();
    let mut keep = u64::MAX;
    let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // Safety: the structure is filled in; the attribute is a 64-bit number.
    unsafe {
        sys::cuMemPoolCreate(&mut pool, &properties).result()?;
        let set = sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut keep).cast());
        set.result().inspect_err(|_| {
            let _ = sys::cuMemPoolDestroy(pool);
        })?;
    }
    Ok(pool)
}

/// Makes the device's context current until this is dropped, which restores the one before.
pub(super) struct Entered {
    /// Set if all calls are allowed during captures. Ends when this does.
    relaxed: Option<Relaxed>,
    /// Whether another one was the thread's before.
    is_pushed: bool,
}

impl Entered {
    /// For what is part of a capture if the stream is being captured.
    pub fn new(device: &Device) -> Result<Self, DriverError> {
        let mut current = ptr::null_mut();
        // Asking is quicker than pushing and popping. Safety: it writes a handle.
        unsafe { sys::cuCtxGetCurrent(&mut current) }.result()?;
        let is_pushed = current != device.context;
        if is_pushed {
            // Safety: the context lives as long as the device.
            unsafe { sys::cuCtxPushCurrent_v2(device.context) }.result()?;
        }
        Ok(Self {
            relaxed: None,
            is_pushed,
        })
    }

    /// For what is part of none, and would break those of others.
    pub fn relaxed(device: &Device) -> Result<Self, DriverError> {
        let mut entered = Self::new(device)?;
        entered.relaxed = Some(Relaxed::new());
        Ok(entered)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.relaxed = None;
        if self.is_pushed {
            let mut left = ptr::null_mut();
            // Safety: pushed by `new`.
            let _ = unsafe { sys::cuCtxPopCurrent_v2(&mut left) };
        }
    }
}

/// What a driver's error means for the device.
pub(super) fn fault(error: DriverError) -> Fault {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Fault::OutOfMemory {
            free: result::mem_get_info().ok().map(|(free, _)| free as u64),
        },
        lost if is_lost(lost) => Fault::Lost(reason(error)),
        _ => Fault::Failed(reason(error)),
    }
}

/// Whether nothing can be done any more when a call has said this: CUDA documents that all calls
/// of the process fail from then on, that the context is gone, or that the hardware has failed.
/// `CUDA_ERROR_UNKNOWN` is not among these: whether it stays the next call says.
fn is_lost(error: sys::CUresult) -> bool {
    use sys::CUresult::*;
    /// What drivers say that are newer than the interface that is used here.
    const CUDA_ERROR_CONTAINED: u32 = 226;
    const CUDA_ERROR_TENSOR_MEMORY_LEAK: u32 = 721;
    let is_known = matches!(
        error,
        CUDA_ERROR_DEINITIALIZED
            | CUDA_ERROR_ECC_UNCORRECTABLE
            | CUDA_ERROR_NVLINK_UNCORRECTABLE
            | CUDA_ERROR_ILLEGAL_ADDRESS
            | CUDA_ERROR_LAUNCH_TIMEOUT
            | CUDA_ERROR_CONTEXT_IS_DESTROYED
            | CUDA_ERROR_ASSERT
            | CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUDA_ERROR_MISALIGNED_ADDRESS
            | CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUDA_ERROR_INVALID_PC
            | CUDA_ERROR_LAUNCH_FAILED
            | CUDA_ERROR_MPS_CLIENT_TERMINATED
            | CUDA_ERROR_EXTERNAL_DEVICE
    );
    is_known || [CUDA_ERROR_CONTAINED, CUDA_ERROR_TENSOR_MEMORY_LEAK].contains(&(error as u32))
}

impl Cuda {
    fn enter(&self) -> Result<Entered, Fault> {
        Entered::relaxed(&self.shared.device).map_err(fault)
    }
}

fn stream(raw: RawStream) -> sys::CUstream {
    raw.0 as sys::CUstream
}

fn event(raw: RawEvent) -> sys::CUevent {
    raw.0 as sys::CUevent
}

// Safety: work is put onto streams, on addresses that the caller vouches for.
unsafe impl Driver for Cuda {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: u64, on: RawStream) -> Result<RawMemory, Fault> {
        let _entered = self.enter()?;
        let mut address = 0;
        // At least one, so that it has an address.
        let size = usize::try_from(bytes.max(1)).map_err(|_| Fault::OutOfMemory { free: None })?;
        // Safety: the pool and the stream exist.
        unsafe { sys::cuMemAllocFromPoolAsync(&mut address, size, self.pool, stream(on)) }
            .result()
            .map_err(fault)?;
        Ok(RawMemory {
            address,
            bytes,
            handle: 0,
        })
    }

    fn free(&self, memory: RawMemory, on: RawStream) {
        // A failure cannot be reported.
        if let Ok(_entered) = self.enter() {
            // Safety: allocated above; all that uses it is before this on the stream.
            let _ = unsafe { sys::cuMemFreeAsync(memory.address, stream(on)) };
        }
    }

    fn reserved(&self) -> Option<u64> {
        let _entered = self.enter().ok()?;
        let mut bytes = 0_u64;
        let held = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
        // Safety: the pool exists; the attribute is a 64-bit number.
        let asked = unsafe { sys::cuMemPoolGetAttribute(self.pool, held, (&raw mut bytes).cast()) };
        asked.result().is_ok().then_some(bytes)
    }

    fn trim(&self, keep: u64) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: the pool exists.
        unsafe { sys::cuMemPoolTrimTo(self.pool, keep as usize) }
            .result()
            .map_err(fault)
    }

    fn within(&self, what: &mut dyn FnMut()) -> Result<(), Fault> {
        let _entered = self.enter()?;
        what();
        Ok(())
    }

    fn upload(&self, on: RawStream, to: u64, from: &[u8]) -> Result<(), Fault> {
        if from.is_empty() {
            return Ok(());
        }
        let _entered = self.enter()?;
        // Safety: the caller's promise of the address. Memory that is not pinned has been copied
        // aside when this returns.
        unsafe { result::memcpy_htod_async(to, from, stream(on)) }.map_err(fault)?;
        match is_pinned(from.as_ptr()) {
            // Safety: the stream exists.
            true => unsafe { result::stream::synchronize(stream(on)) }.map_err(fault),
            false => Ok(()),
        }
    }

    fn download(&self, on: RawStream, from: u64, to: &mut [u8]) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: as above; the stream is waited for.
        unsafe {
            if !to.is_empty() {
                result::memcpy_dtoh_async(to, from, stream(on)).map_err(fault)?;
            }
            result::stream::synchronize(stream(on)).map_err(fault)?;
        }
        self.shared.report.take()
    }

    fn pin(&self, bytes: u64) -> Result<RawMemory, Fault> {
        let _entered = self.enter()?;
        let size = usize::try_from(bytes.max(1)).map_err(|_| Fault::OutOfMemory { free: None })?;
        // All devices of the process see it at the same address.
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
        // Safety: it is of at least one byte.
        let made = unsafe { result::malloc_host(size, flags) };
        let address = made.map_err(|error| match fault(error) {
            // What is free on the device says nothing of the host.
            Fault::OutOfMemory { .. } => Fault::OutOfMemory { free: None },
            fault => fault,
        })? as u64;
        Ok(RawMemory {
            address,
            bytes,
            handle: address,
        })
    }

    fn unpin(&self, memory: RawMemory) {
        // A failure cannot be reported.
        if let Ok(_entered) = self.enter() {
            // Safety: made by `pin`, and not in use.
            let _ = unsafe { result::free_host(memory.handle as *mut _) };
        }
    }

    fn copy(&self, on: RawStream, from: u64, to: u64, bytes: u64) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.enter()?;
        // Safety: as above. Which of both is the host's is in the addresses.
        unsafe { sys::cuMemcpyAsync(to, from, bytes as usize, stream(on)) }
            .result()
            .map_err(fault)
    }

    fn set(&self, on: RawStream, at: u64, bytes: u64, value: u8) -> Result<(), Fault> {
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.enter()?;
        // Safety: as above.
        unsafe { result::memset_d8_async(at, value, bytes as usize, stream(on)) }.map_err(fault)
    }

    fn open_stream(&self, is_urgent: bool) -> Result<RawStream, Fault> {
        let _entered = self.enter()?;
        let (mut least, mut most, mut made) = (0, 0, ptr::null_mut());
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // Safety: they write what they are given places for.
        unsafe {
            sys::cuCtxGetStreamPriorityRange(&mut least, &mut most)
                .result()
                .map_err(fault)?;
            let priority = if is_urgent { most } else { least };
            sys::cuStreamCreateWithPriority(&mut made, flags, priority)
                .result()
                .map_err(fault)?;
        }
        Ok(RawStream(made as u64))
    }

    fn close_stream(&self, raw: RawStream) {
        if let Ok(_entered) = self.enter() {
            // Safety: it exists, and what is on it is still done.
            let _ = unsafe { result::stream::destroy(stream(raw)) };
        }
    }

    fn synchronize(&self, on: RawStream) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: the stream exists.
        unsafe { result::stream::synchronize(stream(on)) }.map_err(fault)?;
        self.shared.report.take()
    }

    fn owns(&self, address: u64) -> Result<(), String> {
        let _entered = self.enter().map_err(|fault| fault.to_string())?;
        foreign::check(address, &self.info.id)
    }

    fn adopt(&self, on: RawStream) -> Result<(), Fault> {
        let _entered = self.enter()?;
        foreign::check_stream(stream(on), &self.shared.device)
    }

    fn is_captured(&self, on: RawStream) -> bool {
        // Each call on the stream asks, so that no more is done than has to be.
        let has_none = foreign::goes_with_context(stream(on));
        let _entered = has_none.then(|| Entered::new(&self.shared.device));
        capture::is_active(stream(on))
    }

    fn splice(
        &self,
        on: RawStream,
        shape: &Shape,
        words: &[u64],
        max_iterations: Option<u64>,
        keep: Box<dyn Send + Sync>,
    ) -> Result<(), Fault> {
        let _entered = self.enter()?;
        let (on, limit) = (stream(on), limit_of(max_iterations));
        capture::splice(&self.shared, on, shape, words, limit, keep)
    }

    fn record(&self, on: RawStream) -> Result<RawEvent, Fault> {
        let _entered = self.enter()?;
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let raw = match idle {
            Some(idle) => RawEvent(idle),
            None => {
                let made = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT);
                RawEvent(made.map_err(fault)? as u64)
            }
        };
        // Safety: both exist.
        let recorded = unsafe { result::event::record(event(raw), stream(on)) };
        match recorded {
            Ok(()) => Ok(raw),
            Err(error) => {
                self.drop_event(raw);
                Err(fault(error))
            }
        }
    }

    fn wait(&self, on: RawStream, raw: RawEvent) -> Result<(), Fault> {
        let _entered = self.enter()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // Safety: both exist.
        unsafe { result::stream::wait_event(stream(on), event(raw), flags) }.map_err(fault)
    }

    fn is_done(&self, raw: RawEvent) -> Result<bool, Fault> {
        let _entered = self.enter()?;
        // Safety: it exists.
        match unsafe { sys::cuEventQuery(event(raw)) } {
            sys::CUresult::CUDA_SUCCESS => Ok(true),
            sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            error => Err(fault(DriverError(error))),
        }
    }

    fn block(&self, raw: RawEvent) -> Result<(), Fault> {
        let _entered = self.enter()?;
        // Safety: it exists.
        unsafe { sys::cuEventSynchronize(event(raw)) }
            .result()
            .map_err(fault)?;
        self.shared.report.take()
    }

    fn elapsed(&self, from: RawEvent, to: RawEvent) -> Result<Duration, Fault> {
        let _entered = self.enter()?;
        // Safety: both exist and have happened.
        let milliseconds =
            unsafe { result::event::elapsed(event(from), event(to)) }.map_err(fault)?;
        Ok(Duration::from_secs_f64(
            f64::from(milliseconds.max(0.0)) / 1e3,
        ))
    }

    fn drop_event(&self, raw: RawEvent) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(raw.0);
    }

    fn takes(&self, target: &str) -> bool {
        capability(target).is_some_and(|wanted| wanted <= self.shared.device.capability)
    }

    fn load(&self, part: &Part<'_>) -> Result<Box<dyn Code>, Error> {
        let device = &self.shared.device;
        let _entered = Entered::relaxed(device).map_err(|e| failed("entering its context", e))?;
        let module = {
            let _span = tracing::info_span!("driver compiles").entered();
            Module::new(device, part.code(Format::Ptx)?)?
        };
        let mut functions = HashMap::new();
        for Body { name, .. } in &part.module.bodies {
            let function = module.function(name)?;
            // The most that launches will ask for, which is set once a body and holds for graphs
            // as well.
            if let Some(shared) = part.shared.get(&**name) {
                shared.check(&device.name, device.max_shared_bytes)?;
                let allowed = function.allow_dynamic_shared(shared.bytes);
                allowed.map_err(|e| failed(&shared.asks(), e))?;
            }
            functions.insert(name.clone(), function);
        }
        Ok(Box::new(Compiled {
            functions,
            _module: module,
        }))
    }

    fn build(&self, shape: &Shape, words: &[u64]) -> Result<Box<dyn Replay>, Fault> {
        let _entered = self.enter()?;
        Ok(Box::new(Graph::new(&self.shared, shape, words)?))
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        let Ok(_entered) = self.enter() else { return };
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Safety: nothing of the device is held any more.
        unsafe {
            for raw in idle.drain(..) {
                let _ = result::event::destroy(event(RawEvent(raw)));
            }
            let _ = sys::cuMemPoolDestroy(self.pool);
        }
    }
}

/// Whether the device reads host memory where it is.
fn is_pinned(address: *const u8) -> bool {
    let mut kind = 0u32;
    let mut attribute = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    let mut to = (&raw mut kind).cast();
    // Safety: it writes a number, which stays 0 for memory that the driver does not know.
    let asked = unsafe { sys::cuPointerGetAttributes(1, &mut attribute, &mut to, address as u64) };
    asked.result().is_ok() && kind != 0
}

/// Code on the device.
struct Compiled {
    functions: HashMap<String, Function>,
    /// Owns what `functions` are.
    _module: Module,
}

impl Code for Compiled {
    fn body(&self, name: &str, _: u32) -> Option<RawBody> {
        let function = self.functions.get(name)?;
        Some(RawBody(function.0 as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_stay_lose_the_device() {
        use sys::CUresult::*;
        for error in [
            CUDA_ERROR_NVLINK_UNCORRECTABLE,
            CUDA_ERROR_ILLEGAL_ADDRESS,
            CUDA_ERROR_MPS_CLIENT_TERMINATED,
            CUDA_ERROR_EXTERNAL_DEVICE,
        ] {
            assert!(is_lost(error), "{error:?}");
        }
        for error in [
            CUDA_ERROR_INVALID_VALUE,
            CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
            CUDA_ERROR_UNKNOWN,
        ] {
            assert!(!is_lost(error), "{error:?}");
        }
    }
}
