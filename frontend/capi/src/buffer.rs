//! Buffers: the library's own, and other libraries' memory.

use crate::{
    argument::{dtype, dtype_number, extents, qd_dtype},
    event::qd_event,
    handle::{array, array_mut, free, get, handles, place, write},
    status::{Failure, Outcome, call, qd_status},
    stream::{keep, qd_release, qd_stream},
};
use dlpark::ffi;
use qd_frontend::objects::{
    Buffer, Foreign, Ready,
    dlpack::{Capsule, Form},
};
use std::ffi::c_void;

/// A row-major array of elements on a device, or a view of part of one, which shares its memory. The memory is freed
/// after the last use, when the last handle of it has been freed.
pub struct qd_buffer(pub(crate) Buffer);

handles!(qd_buffer => "buffer");

/// A description of a buffer.
#[repr(C)]
pub struct qd_buffer_info {
    /// The type of its elements.
    pub dtype: qd_dtype,
    /// Whether it is read-only.
    pub read_only: bool,
    /// How many extents it has.
    pub rank: usize,
    /// The extents, outermost first. Valid as long as the handle.
    pub shape: *const u64,
    /// Bytes of its elements.
    pub bytes: u64,
    /// Where it begins, as the device's kernels see it.
    pub address: u64,
}

/// When foreign memory may be used: at once.
pub const QD_READY_NOW: u32 = 0;
/// When foreign memory may be used: after the work that is on the stream that it is imported on.
pub const QD_READY_IN_ORDER: u32 = 1;
/// When foreign memory may be used: after an event.
pub const QD_READY_AFTER: u32 = 2;

/// Memory that is not the library's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct qd_foreign {
    /// Where it begins, as the device's kernels see it.
    pub address: u64,
    /// The type of its elements.
    pub dtype: qd_dtype,
    /// Whether nothing may be written to it.
    pub read_only: bool,
    /// How many extents there are.
    pub rank: usize,
    /// The extents, outermost first.
    pub shape: *const u64,
    /// From one element to the next in each dimension, in elements; null: row-major, as it has to be.
    pub strides: *const i64,
    /// QD_READY_NOW, QD_READY_IN_ORDER or QD_READY_AFTER.
    pub ready: u32,
    /// For QD_READY_AFTER.
    pub after: *const qd_event,
    /// Called, with `release_data`, when the last use of the memory has ended, in a later call; at once if the memory
    /// cannot be imported. Null: the caller keeps the memory until all uses have ended.
    pub release: qd_release,
    /// For `release`.
    pub release_data: *mut c_void,
}

/// A tensor of DLPack: DLManagedTensorVersioned.
pub const QD_DLPACK_VERSIONED: u32 = 0;
/// A tensor of DLPack from before its version 1: DLManagedTensor.
pub const QD_DLPACK_LEGACY: u32 = 1;

fn form(number: u32) -> Outcome<Form> {
    match number {
        QD_DLPACK_VERSIONED => Ok(Form::Versioned),
        QD_DLPACK_LEGACY => Ok(Form::Legacy),
        _ => Err(Failure::value(format!("{number} is no form of DLPack's"))),
    }
}

/// # Safety
///
/// The event is null or a handle.
unsafe fn ready(number: u32, after: *const qd_event) -> Outcome<Ready> {
    match number {
        QD_READY_NOW => Ok(Ready::Now),
        QD_READY_IN_ORDER => Ok(Ready::InOrder),
        // Safety: by contract.
        QD_READY_AFTER => Ok(Ready::After(unsafe { get(after) }?.0.clone())),
        _ => Err(Failure::value(format!(
            "{number} does not say when memory is ready"
        ))),
    }
}

/// Makes a buffer of undefined contents. A rank of 0 is one element.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_new(
    stream: *const qd_stream,
    dtype: qd_dtype,
    shape: *const u64,
    rank: usize,
    buffer: *mut *mut qd_buffer,
) -> qd_status {
    call!({
        let to = place(buffer)?;
        let (on, dtype) = (&get(stream)?.0, self::dtype(dtype)?);
        let shape = array(shape, rank, "the extents")?;
        to.give(qd_buffer(Buffer::new(on, dtype, shape)?));
        Ok(())
    })
}

/// Makes a buffer of zeros.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_zeros(
    stream: *const qd_stream,
    dtype: qd_dtype,
    shape: *const u64,
    rank: usize,
    buffer: *mut *mut qd_buffer,
) -> qd_status {
    call!({
        let to = place(buffer)?;
        let (on, dtype) = (&get(stream)?.0, self::dtype(dtype)?);
        let shape = array(shape, rank, "the extents")?;
        to.give(qd_buffer(Buffer::zeros(on, dtype, shape)?));
        Ok(())
    })
}

/// Uses memory of the caller's as a buffer. It must be of the stream's device, hold what the description says, and be
/// left alone by others while it is used. Buffers of the same memory do not know of each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_import(
    stream: *const qd_stream,
    memory: *const qd_foreign,
    buffer: *mut *mut qd_buffer,
) -> qd_status {
    call!({
        let memory = memory.as_ref();
        let memory = memory.ok_or_else(|| Failure::handle("the description is null"))?;
        let keep = keep(memory.release, memory.release_data);
        let to = place(buffer)?;
        let on = &get(stream)?.0;
        let shape = array(memory.shape, memory.rank, "the extents")?;
        let strides = match memory.strides.is_null() {
            true => None,
            false => Some(array(memory.strides, memory.rank, "the strides")?.to_vec()),
        };
        let foreign = Foreign {
            address: memory.address,
            dtype: dtype(memory.dtype)?,
            shape: shape.to_vec(),
            strides,
            read_only: memory.read_only,
            ready: ready(memory.ready, memory.after)?,
        };
        to.give(qd_buffer(Buffer::import(on, foreign, keep)?));
        Ok(())
    })
}

/// Takes another library's array, by DLPack: `tensor` is a DLManagedTensorVersioned * or, for QD_DLPACK_LEGACY, a
/// DLManagedTensor *. Its deleter is called when the last use of the buffer has ended, or at once if the array is
/// refused: in any case it is the library's from now on. `after` is for QD_READY_AFTER, and null otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_from_dlpack(
    stream: *const qd_stream,
    form: u32,
    tensor: *mut c_void,
    ready: u32,
    after: *const qd_event,
    buffer: *mut *mut qd_buffer,
) -> qd_status {
    call!({
        let mut capsule = match self::form(form)? {
            Form::Versioned => Capsule::versioned(tensor.cast::<ffi::DLManagedTensorVersioned>())?,
            Form::Legacy => Capsule::legacy(tensor.cast::<ffi::DLManagedTensor>())?,
        };
        let to = place(buffer)?;
        let (on, ready) = (&get(stream)?.0, self::ready(ready, after)?);
        to.give(qd_buffer(Buffer::from_dlpack(on, &mut capsule, ready)?));
        Ok(())
    })
}

/// Gives an array to another library, by DLPack: to `tensor` goes a DLManagedTensorVersioned * or a DLManagedTensor *,
/// whose deleter that library calls. It uses it on `stream`, after the buffer's uses so far; later uses here wait for
/// that stream's work up to the deleter's call. The buffer's memory stays until then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_to_dlpack(
    buffer: *const qd_buffer,
    stream: *const qd_stream,
    form: u32,
    tensor: *mut *mut c_void,
) -> qd_status {
    call!({
        if tensor.is_null() {
            return Err(Failure::handle("the place for the tensor is null"));
        }
        let form = self::form(form)?;
        let mut capsule = get(buffer)?.0.to_dlpack(&get(stream)?.0, form)?;
        let raw = match form {
            Form::Versioned => capsule.take_versioned()?.cast(),
            Form::Legacy => capsule.take_legacy()?.cast(),
        };
        write(tensor, raw)
    })
}

/// Frees a handle of a buffer. Its memory goes behind its last use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_free(buffer: *mut qd_buffer) -> qd_status {
    call!({ free(buffer) })
}

/// Describes a buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_describe(
    buffer: *const qd_buffer,
    info: *mut qd_buffer_info,
) -> qd_status {
    call!({
        let buffer = &get(buffer)?.0;
        let (shape, rank) = extents(buffer.shape());
        write(
            info,
            qd_buffer_info {
                dtype: dtype_number(buffer.dtype()),
                read_only: buffer.is_read_only(),
                rank,
                shape,
                bytes: buffer.bytes(),
                address: buffer.address(),
            },
        )
    })
}

/// Some rows of a buffer, from `begin` to before `end`, as another handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_rows(
    buffer: *const qd_buffer,
    begin: u64,
    end: u64,
    view: *mut *mut qd_buffer,
) -> qd_status {
    call!({
        let to = place(view)?;
        to.give(qd_buffer(get(buffer)?.0.rows(begin..end)?));
        Ok(())
    })
}

/// The bytes of a buffer as elements of another type and shape, as another handle. They must be as many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_cast(
    buffer: *const qd_buffer,
    dtype: qd_dtype,
    shape: *const u64,
    rank: usize,
    view: *mut *mut qd_buffer,
) -> qd_status {
    call!({
        let to = place(view)?;
        let shape = array(shape, rank, "the extents")?;
        to.give(qd_buffer(get(buffer)?.0.cast(self::dtype(dtype)?, shape)?));
        Ok(())
    })
}

/// Copies all elements of a buffer to the host, after all writes to them, and waits for that. `bytes` must be all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_read(
    buffer: *const qd_buffer,
    stream: *const qd_stream,
    to: *mut c_void,
    bytes: usize,
) -> qd_status {
    call!({
        let to = array_mut(to.cast::<u8>(), bytes, "where the elements go")?;
        Ok(get(buffer)?.0.read_bytes(&get(stream)?.0, to)?)
    })
}

/// Copies all elements of a buffer from the host, after all its uses. They have been read when it returns. `bytes`
/// must be all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_write(
    buffer: *const qd_buffer,
    stream: *const qd_stream,
    from: *const c_void,
    bytes: usize,
) -> qd_status {
    call!({
        let from = array(from.cast::<u8>(), bytes, "the elements")?;
        Ok(get(buffer)?.0.write_bytes(&get(stream)?.0, from)?)
    })
}

/// Copies a buffer to another of the same type and size, which may be on another device: then the copy is complete
/// when it returns. The stream is of the first one's device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qd_buffer_copy(
    from: *const qd_buffer,
    stream: *const qd_stream,
    to: *const qd_buffer,
) -> qd_status {
    call!({ Ok(get(from)?.0.copy_to(&get(stream)?.0, &get(to)?.0)?) })
}
