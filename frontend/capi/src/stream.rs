//! Streams.

use crate::{
    device::qd_device,
    event::qd_event,
    handle::{free, get, handles, place, write},
    status::{Failure, Outcome, call, qd_status},
};
use qd_frontend::objects::{Priority, Stream};
use std::ffi::c_void;

/// Work of a device, in order. Work of several streams is concurrent, unless it uses the same buffers.
pub struct qd_stream(pub(crate) Stream);

handles!(qd_stream => "stream");

/// The priority of a stream: as any.
pub const QD_PRIORITY_NORMAL: u32 = 0;
/// The priority of a stream: before others, where the device can.
pub const QD_PRIORITY_HIGH: u32 = 1;

/// Called once when the library needs something no more, with its data, by any thread. It must not call the library.
pub type qd_release = Option<unsafe extern "C" fn(data: *mut c_void)>;

/// A program's function that is called when this is dropped.
pub(crate) struct Release {
    function: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
}

// Safety: whoever gave it promised that any thread may call it.
unsafe impl Send for Release {}
// Safety: as above.
unsafe impl Sync for Release {}

impl Drop for Release {
    fn drop(&mut self) {
        // Safety: as above; it is called once.
        unsafe { (self.function)(self.data) };
    }
}

/// What keeps something alive until it is dropped.
pub(crate) fn keep(release: qd_release, data: *mut c_void) -> Option<Box<dyn Send + Sync>> {
    let function = release?;
    Some(Box::new(Release { function, data }))
}

/// Makes a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_new(
    device: *const qd_device,
    priority: u32,
    stream: *mut *mut qd_stream,
) -> qd_status {
    call!({
        let to = place(stream)?;
        let stream = get(device)?.device.stream(self::priority(priority)?)?;
        to.give(qd_stream(stream));
        Ok(())
    })
}

fn priority(number: u32) -> Outcome<Priority> {
    match number {
        QD_PRIORITY_NORMAL => Ok(Priority::Normal),
        QD_PRIORITY_HIGH => Ok(Priority::High),
        _ => Err(Failure::value(format!("{number} is no priority"))),
    }
}

/// Wraps a stream of the caller's, by its driver's handle: a CUstream or cudaStream_t on NVIDIA's devices, any on the
/// cpu. It has to live as long as the handle, and memory that was used on it. While its owner captures it, launches
/// become part of the owner's graph; a call that cannot is QD_ERROR_CAPTURE and leaves the capture as it was. Wrap a
/// stream once only: what is prepared for launches belongs to the wrapper.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_wrap(
    device: *const qd_device,
    raw: *mut c_void,
    stream: *mut *mut qd_stream,
) -> qd_status {
    call!({
        let to = place(stream)?;
        to.give(qd_stream(
            get(device)?.device.wrap_stream(raw as u64, None)?,
        ));
        Ok(())
    })
}

/// As qd_stream_wrap(). `release` is called, with `data`, once the library needs the caller's stream no more; at once
/// if it cannot be wrapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_wrap_kept(
    device: *const qd_device,
    raw: *mut c_void,
    release: qd_release,
    data: *mut c_void,
    stream: *mut *mut qd_stream,
) -> qd_status {
    call!({
        let keep = keep(release, data);
        let to = place(stream)?;
        to.give(qd_stream(
            get(device)?.device.wrap_stream(raw as u64, keep)?,
        ));
        Ok(())
    })
}

/// Frees a handle of a stream. Its work goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_free(stream: *mut qd_stream) -> qd_status {
    call!({ free(stream) })
}

/// Waits until all work of a stream has been done. An error of that work is this call's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_synchronize(stream: *const qd_stream) -> qd_status {
    call!({ Ok(get(stream)?.0.synchronize()?) })
}

/// Has later work of a stream wait for an event of the same device. Returns at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_wait(
    stream: *const qd_stream,
    event: *const qd_event,
) -> qd_status {
    call!({ Ok(get(stream)?.0.wait_for(&get(event)?.0)?) })
}

/// Whether a stream's owner is capturing it now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_stream_is_captured(
    stream: *const qd_stream,
    is_captured: *mut bool,
) -> qd_status {
    call!({ write(is_captured, get(stream)?.0.is_captured()) })
}
