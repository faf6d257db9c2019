//! Page-locked host memory, and asynchronous copies.

use crate::{
    buffer::qd_buffer,
    device::qd_device,
    event::qd_event,
    handle::{free, get, handles, place, write},
    status::{call, qd_status},
    stream::qd_stream,
};
use qd_frontend::objects::Pinned;
use std::{
    ffi::c_void,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Page-locked host memory of a device, for asynchronous copies. Use it again: making it takes longer than a copy.
pub struct qd_pinned(Mutex<Pinned>);

handles!(qd_pinned => "pinned memory");

impl qd_pinned {
    fn lock(&self) -> MutexGuard<'_, Pinned> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes so many bytes of page-locked memory, which are 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_pinned_new(
    device: *const qd_device,
    bytes: usize,
    pinned: *mut *mut qd_pinned,
) -> qd_status {
    call!({
        let to = place(pinned)?;
        let made = Pinned::new(&get(device)?.device, bytes)?;
        to.give(qd_pinned(Mutex::new(made)));
        Ok(())
    })
}

/// Frees page-locked memory, once no copy uses it any more: it does not wait for that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_pinned_free(pinned: *mut qd_pinned) -> qd_status {
    call!({ free(pinned) })
}

/// Where the memory is, aligned for any element, and how much. It stays there until it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_pinned_data(
    pinned: *const qd_pinned,
    data: *mut *mut c_void,
    bytes: *mut usize,
) -> qd_status {
    call!({
        let mut memory = get(pinned)?.lock();
        write(data, memory.as_mut_ptr().cast())?;
        write(bytes, memory.len())
    })
}

/// As qd_buffer_read(), but asynchronous: the memory begins with the buffer's elements after the event that is given,
/// and must not be used before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_read_async(
    buffer: *const qd_buffer,
    stream: *const qd_stream,
    to: *const qd_pinned,
    done: *mut *mut qd_event,
) -> qd_status {
    call!({
        let event = place(done)?;
        let copied = get(buffer)?
            .0
            .read_beside(&get(stream)?.0, &mut get(to)?.lock())?;
        event.give(qd_event(copied));
        Ok(())
    })
}

/// As qd_buffer_write(), but asynchronous: the first bytes of the memory, as many as the buffer has, have been read
/// after the event that is given, and must not be written before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_write_async(
    buffer: *const qd_buffer,
    stream: *const qd_stream,
    from: *const qd_pinned,
    done: *mut *mut qd_event,
) -> qd_status {
    call!({
        let event = place(done)?;
        let copied = get(buffer)?
            .0
            .write_beside(&get(stream)?.0, &mut get(from)?.lock())?;
        event.give(qd_event(copied));
        Ok(())
    })
}
