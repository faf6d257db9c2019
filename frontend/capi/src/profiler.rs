//! Profilers: when a stream did what, on the device.

use crate::{
    device::qd_device,
    handle::{c_text, free, get, handles, place},
    status::{Failure, Outcome, call, qd_status},
    stream::qd_stream,
};
use qd_frontend::objects::{Attached, CopyKind, Detail, Profiler, Span, SpanKind};
use std::{
    ffi::{c_char, c_void},
    ptr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Times what streams of a device do.
pub struct qd_profiler {
    profiler: Profiler,
    attached: Mutex<Vec<Attached>>,
}

handles!(qd_profiler => "profiler");

/// The detail of a profile: calls as they are.
pub const QD_DETAIL_CALLS: u32 = 0;
/// The detail of a profile: each step of a call by itself, too. A call then takes longer; the times of its steps are
/// right.
pub const QD_DETAIL_STEPS: u32 = 1;

/// What a stream did: a call of a kernel, or of a graph.
pub const QD_SPAN_CALL: u32 = 0;
/// What a stream did: a step of a call, whose span this one lies in.
pub const QD_SPAN_STEP: u32 = 1;
/// What a stream did: a copy from the host.
pub const QD_SPAN_UPLOAD: u32 = 2;
/// What a stream did: a copy to the host.
pub const QD_SPAN_DOWNLOAD: u32 = 3;
/// What a stream did: a copy from one buffer to another.
pub const QD_SPAN_COPY: u32 = 4;
/// What a stream did: it set all bytes of a buffer.
pub const QD_SPAN_CLEAR: u32 = 5;
/// What a stream did: it waited for another one.
pub const QD_SPAN_WAIT: u32 = 6;

/// Something that a stream did. Valid until the callback returns.
#[repr(C)]
pub struct qd_span {
    /// Which of the kinds.
    pub kind: u32,
    /// Which of its device's streams.
    pub stream: u64,
    /// The name of a call's kernel, of a graph those of its kernels; of a step the phase's name, or what it is; null
    /// of others.
    pub name: *const c_char,
    /// When it began on the device, in nanoseconds from the profiler's making.
    pub start: u64,
    /// How long it took, in nanoseconds.
    pub duration: u64,
    /// Blocks of a step that is a launch; 0 of others.
    pub blocks: u64,
    /// Bytes of a copy, or of a step that is a fill or a copy; 0 of others.
    pub bytes: u64,
}

/// Makes a profiler that is attached to no stream yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_profiler_new(
    device: *const qd_device,
    detail: u32,
    profiler: *mut *mut qd_profiler,
) -> qd_status {
    call!({
        let to = place(profiler)?;
        let detail = match detail {
            QD_DETAIL_CALLS => Detail::Calls,
            QD_DETAIL_STEPS => Detail::Steps,
            other => return Err(Failure::value(format!("{other} is no detail of a profile"))),
        };
        let made = Profiler::new(&get(device)?.device, detail)?;
        to.give(qd_profiler {
            profiler: made,
            attached: Mutex::default(),
        });
        Ok(())
    })
}

/// Frees a profiler, and detaches it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_profiler_free(profiler: *mut qd_profiler) -> qd_status {
    call!({ free(profiler) })
}

/// Times later work of a stream, until qd_profiler_detach(). Captured launches are not timed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_profiler_attach(
    profiler: *const qd_profiler,
    stream: *const qd_stream,
) -> qd_status {
    call!({
        let profiler = get(profiler)?;
        let attached = profiler.profiler.attach(&get(stream)?.0)?;
        profiler.attached().push(attached);
        Ok(())
    })
}

/// Times no later work. What has been timed is not lost.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_profiler_detach(profiler: *const qd_profiler) -> qd_status {
    call!({
        get(profiler)?.attached().clear();
        Ok(())
    })
}

/// Calls `each` with all that has ended and was not taken yet, in the order in which it began, and with `data`. Waits
/// for nothing: synchronize the stream first to have all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_profiler_take(
    profiler: *const qd_profiler,
    each: Option<unsafe extern "C" fn(span: *const qd_span, data: *mut c_void)>,
    data: *mut c_void,
) -> qd_status {
    call!({
        let each = each.ok_or_else(|| Failure::handle("`each` is null"))?;
        for span in get(profiler)?.profiler.take()? {
            give(&span, |span| each(span, data))?;
        }
        Ok(())
    })
}

impl qd_profiler {
    fn attached(&self) -> MutexGuard<'_, Vec<Attached>> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn give(span: &Span, to: impl FnOnce(&qd_span)) -> Outcome {
    let (kind, name, blocks, bytes) = match &span.kind {
        SpanKind::Call { name } => (QD_SPAN_CALL, Some(name), 0, 0),
        SpanKind::Step(step) => (QD_SPAN_STEP, Some(&step.name), step.blocks, step.bytes),
        SpanKind::Copy { kind, bytes } => {
            let kind = match kind {
                CopyKind::Upload => QD_SPAN_UPLOAD,
                CopyKind::Download => QD_SPAN_DOWNLOAD,
                CopyKind::Within => QD_SPAN_COPY,
                CopyKind::Clear => QD_SPAN_CLEAR,
            };
            (kind, None, 0, *bytes)
        }
        SpanKind::Wait => (QD_SPAN_WAIT, None, 0, 0),
        other => {
            let why = format!("the C interface does not know {other:?}");
            return Err(Failure::new(qd_status::QD_ERROR_INTERNAL, why));
        }
    };
    let name = name.map(c_text);
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    to(&qd_span {
        kind,
        stream: span.stream,
        name: name.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
        start: nanoseconds(span.start),
        duration: nanoseconds(span.duration),
        blocks,
        bytes,
    });
    Ok(())
}
