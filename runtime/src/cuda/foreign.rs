//! Whether foreign memory and streams belong to this device.

use super::{device::Device, resident::fault};
use crate::objects::{DeviceId, driver::Fault};
use cudarc::driver::sys;
use std::ptr;

/// Says whose memory it is if the device does not reach it.
pub(super) fn check(address: u64, id: &DeviceId) -> Result<(), String> {
    let (mut kind, mut ordinal) = (0_u32, -1_i32);
    let mut attributes = [
        sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    ];
    let mut to = [(&raw mut kind).cast(), (&raw mut ordinal).cast()];
    // Safety: it writes two numbers, or what stands for memory that the driver does not know.
    let asked = unsafe {
        sys::cuPointerGetAttributes(2, attributes.as_mut_ptr(), to.as_mut_ptr(), address)
    };
    let host = sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32;
    match (asked.result().is_ok(), kind) {
        (false, _) | (_, 0) => Err("the host, or no device".into()),
        // Of the host, where devices see it.
        (_, kind) if kind == host => Ok(()),
        _ if i64::from(ordinal) == i64::from(id.ordinal) => Ok(()),
        _ => Err(format!("cuda:{ordinal}")),
    }
}

/// What `CU_STREAM_PER_THREAD` is.
const PER_THREAD: usize = 2;

/// Whether a stream is the legacy one, which goes with the thread's context and is no handle.
pub(super) fn goes_with_context(stream: sys::CUstream) -> bool {
    stream as usize <= 1
}

pub(super) fn check_stream(stream: sys::CUstream, device: &Device) -> Result<(), Fault> {
    if stream as usize == PER_THREAD {
        return Err(Fault::Failed(
            "the per-thread default stream is a different stream in each thread: make one by \
             cuStreamCreate"
                .into(),
        ));
    }
    if goes_with_context(stream) {
        return Ok(());
    }
    let mut context = ptr::null_mut();
    // Safety: the caller's promise of the stream.
    unsafe { sys::cuStreamGetCtx(stream, &mut context) }
        .result()
        .map_err(fault)?;
    match context == device.context {
        true => Ok(()),
        false => Err(Fault::Failed(format!("it is not of {}", device.name))),
    }
}

/// Calls of this thread meanwhile are not part of a capture, and do not break one.
pub(super) struct Relaxed(sys::CUstreamCaptureMode);

impl Relaxed {
    pub fn new() -> Self {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        Self(exchange(mode))
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        exchange(self.0);
    }
}

/// Sets the thread's mode, and returns the one before.
fn exchange(mut mode: sys::CUstreamCaptureMode) -> sys::CUstreamCaptureMode {
    // Safety: it reads and writes a mode. There is nothing that it fails for.
    let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) };
    mode
}
