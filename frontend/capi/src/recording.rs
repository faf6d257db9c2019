//! Recordings: launches and copies that one call puts onto a stream.

use crate::{
    argument::{Tensors, given, hold, hold_one, qd_arg},
    device::qd_device,
    handle::{free, get, handles, place, text, write},
    kernel::qd_kernel,
    status::{Failure, Outcome, call, qd_status},
    stream::qd_stream,
};
use qd_frontend::objects::{Graph, Recording, Slot};
use std::{
    ffi::c_char,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Launches and copies that are being recorded. Threads that use one wait for each other.
pub struct qd_recording(Mutex<Option<Recording>>);

/// A recording that can be launched. It keeps the buffers that it was recorded with, and those that are bound. Threads
/// that use one wait for each other.
pub struct qd_graph(Mutex<Graph>);

handles!(qd_recording => "recording", qd_graph => "graph");

impl qd_recording {
    fn with<T>(&self, what: impl FnOnce(&mut Recording) -> Outcome<T>) -> Outcome<T> {
        let mut lock = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        what(lock.as_mut().ok_or_else(finished)?)
    }
}

fn finished() -> Failure {
    Failure::new(
        qd_status::QD_ERROR_RECORDING,
        "the recording has been finished: nothing can be added",
    )
}

impl qd_graph {
    fn lock(&self) -> MutexGuard<'_, Graph> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a recording for a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_recording_new(
    device: *const qd_device,
    recording: *mut *mut qd_recording,
) -> qd_status {
    call!({
        let to = place(recording)?;
        let made = Recording::new(&get(device)?.device);
        to.give(qd_recording(Mutex::new(Some(made))));
        Ok(())
    })
}

/// Frees a recording. A graph that was made of it is not affected.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_recording_free(recording: *mut qd_recording) -> qd_status {
    call!({ free(recording) })
}

/// Makes a slot: an argument that is bound before the graph is launched, and may be bound again. Its kind is that of
/// an argument of a kernel, by name. `slot` gets its number, which qd_slot() takes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_recording_slot(
    recording: *const qd_recording,
    kernel: *const qd_kernel,
    argument: *const c_char,
    slot: *mut u64,
) -> qd_status {
    call!({
        let argument = text(argument, "the argument's name")?;
        let kind = &get(kernel)?.kernel.argument(argument)?.kind;
        let made = get(recording)?.with(|recording| Ok(recording.slot(kind)))?;
        write(slot, made.to_bits())
    })
}

/// Adds a launch. Steps that use the same memory run in the order in which they were added; others are concurrent.
/// The graph makes scratch that is left out. Tensors are refused: import them as buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_recording_launch(
    recording: *const qd_recording,
    kernel: *const qd_kernel,
    arguments: *const qd_arg,
    count: usize,
) -> qd_status {
    call!({
        let held = hold(arguments, count, Tensors::Refused("a recording"))?;
        let kernel = &get(kernel)?.kernel;
        get(recording)?.with(|recording| Ok(recording.launch(kernel, &given(&held))?))
    })
}

/// Adds a copy of a buffer to another of the same type and size; either may be a slot.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_recording_copy(
    recording: *const qd_recording,
    from: *const qd_arg,
    to: *const qd_arg,
) -> qd_status {
    call!({
        let from = hold(from, 1, Tensors::Refused("a recording"))?;
        let to = hold(to, 1, Tensors::Refused("a recording"))?;
        get(recording)?.with(|recording| Ok(recording.copy(from[0].given(), to[0].given())?))
    })
}

/// Makes a graph of a recording, to which nothing can be added from then on. The handle of the recording is still to
/// be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_recording_finish(
    recording: *const qd_recording,
    graph: *mut *mut qd_graph,
) -> qd_status {
    call!({
        let to = place(graph)?;
        let recording = get(recording)?;
        let taken = recording
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let made = taken.ok_or_else(finished)?.finish()?;
        to.give(qd_graph(Mutex::new(made)));
        Ok(())
    })
}

/// Frees a graph. Launches of it go on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_graph_free(graph: *mut qd_graph) -> qd_status {
    call!({ free(graph) })
}

/// Binds a slot for later launches: to a buffer or a value of the slot's kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_graph_bind(
    graph: *const qd_graph,
    slot: u64,
    to: *const qd_arg,
) -> qd_status {
    call!({
        let to = to
            .as_ref()
            .ok_or_else(|| Failure::handle("the argument is null"))?;
        let held = hold_one(to, Tensors::Refused("a graph"))?;
        Ok(get(graph)?
            .lock()
            .bind(Slot::from_bits(slot), held.given())?)
    })
}

/// Puts a graph onto a stream, after all uses of the same buffers and after its last launch; if its owner is capturing
/// the stream, into that graph. QD_ERROR_RECORDING if a slot is not bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_graph_launch(
    graph: *const qd_graph,
    stream: *const qd_stream,
) -> qd_status {
    call!({ Ok(get(graph)?.lock().launch(&get(stream)?.0)?) })
}
