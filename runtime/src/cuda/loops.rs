//! Loops with a limit: a counter on the device for each, and a page shared by host and device, to
//! which the first loop that was stopped writes its kernel's number.

use super::{
    device::{Device, failed},
    resident::{Entered, Shared, fault},
};
use crate::{Error, objects::driver::Fault};
use cudarc::driver::{
    result,
    sys::{self, CUstream},
};
use std::{
    ptr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The page in which a device reports which loop it stopped.
pub(super) struct Report {
    /// A kernel's number, from 1, and after it the limit.
    host: *mut [AtomicU64; 2],
    /// The same as the device sees it.
    pub address: u64,
    /// Kernels by their numbers.
    names: Mutex<Vec<Arc<str>>>,
    device: Arc<Device>,
}

// Safety: what is pointed to is atomic.
unsafe impl Send for Report {}
// Safety: as above.
unsafe impl Sync for Report {}

impl Report {
    /// The device has been entered.
    pub fn new(device: &Arc<Device>) -> Result<Self, Error> {
        let what = "memory that the device and the host share";
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        let bytes = size_of::<[AtomicU64; 2]>();
        // Safety: it is written before anybody has its address.
        let host = unsafe {
            let host = result::malloc_host(bytes, flags).map_err(|e| failed(what, e))?;
            let host = host.cast::<[AtomicU64; 2]>();
            host.write([AtomicU64::new(0), AtomicU64::new(0)]);
            host
        };
        let mut report = Self {
            host,
            address: 0,
            names: Mutex::default(),
            device: device.clone(),
        };
        // Safety: it is the device's, too.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&mut report.address, host.cast(), 0) }
            .result()
            .map_err(|e| failed(what, e))?;
        Ok(report)
    }

    /// A kernel's number.
    pub fn number(&self, kernel: &Arc<str>) -> u64 {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let place = names.iter().position(|name| name == kernel);
        let place = place.unwrap_or_else(|| {
            names.push(kernel.clone());
            names.len() - 1
        });
        place as u64 + 1
    }

    /// An error if a loop has been stopped since the last time.
    pub fn take(&self) -> Result<(), Fault> {
        // Safety: it lives as long as this.
        let [number, limit] = unsafe { &*self.host };
        if number.load(Ordering::Acquire) == 0 {
            return Ok(());
        }
        // The device writes the limit before the number, and neither while the number is there.
        let limit = limit.load(Ordering::Relaxed);
        let number = number.swap(0, Ordering::AcqRel);
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        match names.get((number as usize).wrapping_sub(1)) {
            Some(name) => Err(Fault::WentOn {
                kernel: name.to_string(),
                limit,
            }),
            None => Ok(()),
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        let _entered = Entered::relaxed(&self.device);
        // Safety: made by `new`, and no graph is left that writes it.
        let _ = unsafe { result::free_host(self.host.cast()) };
    }
}

/// The number of iterations after which loops are stopped; 0 for never. A body runs at least
/// once.
pub(super) fn limit_of(max_iterations: Option<u64>) -> u64 {
    max_iterations.map_or(0, |limit| limit.max(1))
}

/// How a graph's loops are counted.
#[derive(Clone, Copy, Default)]
pub(super) struct Counting {
    /// 0: not at all.
    pub limit: u64,
    /// Where the counters begin, and the report.
    pub counters: u64,
    pub report: u64,
}

impl Counting {
    /// Where a counter is, from 0.
    pub fn counter(&self, place: usize) -> u64 {
        self.counters + 8 * place as u64
    }
}

/// Counters on the device, which are 0 between launches.
pub(super) struct Counters {
    shared: Arc<Shared>,
    pub address: u64,
}

impl Counters {
    /// For what comes onto a stream from now on. The device has been entered.
    pub fn on(stream: CUstream, shared: &Arc<Shared>, count: usize) -> Result<Self, Fault> {
        let bytes = 8 * count;
        // Safety: of as many bytes, which are not in use yet.
        unsafe {
            let counters = Self {
                shared: shared.clone(),
                address: result::malloc_sync(bytes).map_err(fault)?,
            };
            result::memset_d8_async(counters.address, 0, bytes, stream).map_err(fault)?;
            Ok(counters)
        }
    }

    /// For whatever comes from now on. The device has been entered.
    pub fn new(shared: &Arc<Shared>, count: usize) -> Result<Self, Fault> {
        let mut beside = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // Safety: the stream is the only one that knows of the counters.
        unsafe {
            sys::cuStreamCreate(&mut beside, flags)
                .result()
                .map_err(fault)?;
            let counters = Self::on(beside, shared, count);
            let cleared = result::stream::synchronize(beside).map_err(fault);
            let _ = result::stream::destroy(beside);
            cleared.and(counters)
        }
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        let _entered = Entered::relaxed(&self.shared.device);
        // Safety: made by `new`. It waits for what is under way.
        let _ = unsafe { result::free_sync(self.address) };
    }
}
