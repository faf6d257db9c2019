//! Events.

use crate::{
    handle::{free, get, handles, place, write},
    status::{call, qd_status},
    stream::qd_stream,
};
use qd_frontend::objects::Event;

/// A point in the work of a stream.
pub struct qd_event(pub(crate) Event);

handles!(qd_event => "event");

/// Makes an event after all work that is on a stream now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_event_record(
    stream: *const qd_stream,
    event: *mut *mut qd_event,
) -> qd_status {
    call!({
        let to = place(event)?;
        to.give(qd_event(get(stream)?.0.record()?));
        Ok(())
    })
}

/// Frees a handle of an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_event_free(event: *mut qd_event) -> qd_status {
    call!({ free(event) })
}

/// Whether all work before an event has been done. Does not wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_event_is_done(event: *const qd_event, is_done: *mut bool) -> qd_status {
    call!({ write(is_done, get(event)?.0.is_done()?) })
}

/// Waits until all work before an event has been done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_event_wait(event: *const qd_event) -> qd_status {
    call!({ Ok(get(event)?.0.wait()?) })
}

/// The time on the device from one event to a later one, in nanoseconds; 0 if the second is earlier. Waits for both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_event_elapsed(
    from: *const qd_event,
    to: *const qd_event,
    nanoseconds: *mut u64,
) -> qd_status {
    call!({
        let elapsed = get(to)?.0.since(&get(from)?.0)?;
        write(
            nanoseconds,
            u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        )
    })
}
