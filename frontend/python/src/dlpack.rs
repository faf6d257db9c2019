//! Capsules of DLPack: arrays on a device that are other libraries'.

use super::{
    dtype::DType,
    launch::{Device, failed},
    memory::Memory,
};
use pyo3::{exceptions::PyBufferError, ffi, prelude::*};
use qd_frontend::{
    Dtype,
    objects::{
        self, Buffer, Ready,
        dlpack::{Capsule, Form},
    },
};
use qd_runtime::Error as RunError;
use std::ffi::{CStr, c_void};

const LEGACY: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
/// What a capsule is called once its tensor has been taken.
const USED_LEGACY: &CStr = c"used_dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// A stream of another library.
#[pyclass(frozen)]
pub struct Stream(pub objects::Stream);

#[pymethods]
impl Stream {
    /// By its driver's handle. `owner` is held as long as anything is on the stream.
    #[new]
    fn new(py: Python<'_>, device: &Device, handle: u64, owner: Py<PyAny>) -> PyResult<Self> {
        let keep = Some(Box::new(owner) as Box<_>);
        // Safety: the owner keeps the stream, and is kept.
        let wrap = || unsafe { device.device.wrap_stream(handle, keep) };
        Ok(Self(py.detach(wrap).map_err(failed)?))
    }
}

/// Takes the array of a capsule, whose contents are ready in the order of the stream: its memory, the name of its
/// type, and its shape. It is read-only if either side says so.
#[pyfunction]
pub fn imported(
    py: Python<'_>,
    capsule: &Bound<'_, PyAny>,
    stream: &Stream,
    is_read_only: bool,
) -> PyResult<(Memory, String, Vec<u64>)> {
    let (memory, dtype, shape) = import(py, capsule, stream, is_read_only)?;
    Ok((memory, dtype.to_string(), shape))
}

/// As [`imported`].
pub fn import(
    py: Python<'_>,
    capsule: &Bound<'_, PyAny>,
    stream: &Stream,
    is_read_only: bool,
) -> PyResult<(Memory, DType, Vec<u64>)> {
    // Safety: who made the capsule says so.
    let mut tensor = unsafe { taken(capsule.as_ptr()) }?;
    let array = py.detach(|| {
        // Safety: the other library says so.
        let buffer = unsafe { Buffer::from_dlpack(&stream.0, &mut tensor, Ready::InOrder) }?;
        let given = buffer.dtype();
        let shape = buffer.shape().to_vec();
        // Kernels take arrays of one dimension, and booleans as bytes.
        let dtype = DType::of_memory(given);
        let stored = dtype.map_or(given, DType::stored);
        let buffer = buffer.cast(stored, &[buffer.len()])?;
        Ok::<_, RunError>((buffer, dtype.ok_or(given), shape))
    });
    let (buffer, dtype, shape) = array.map_err(not_shared)?;
    let missing = |given| PyBufferError::new_err(format!("arrays of '{given}' aren't there yet"));
    let memory = Memory {
        is_read_only: is_read_only || buffer.is_read_only(),
        stream: stream.0.clone(),
        buffer,
    };
    Ok((memory, dtype.map_err(missing)?, shape))
}

/// A capsule of an array of a type, by its name, for use on a stream; without one nobody waits.
#[pyfunction]
pub fn exported(
    py: Python<'_>,
    memory: &Memory,
    dtype: &str,
    shape: Vec<u64>,
    stream: Option<&Stream>,
    is_versioned: bool,
) -> PyResult<Py<PyAny>> {
    let (form, name) = match is_versioned {
        true => (Form::Versioned, VERSIONED),
        false => (Form::Legacy, LEGACY),
    };
    let on = stream.map_or(&memory.stream, |stream| &stream.0);
    let given = py.detach(|| {
        let stored = match DType::named(dtype) {
            Some(DType::U1) => Dtype::Bool,
            _ => memory.buffer.dtype(),
        };
        let mut tensor = memory.buffer.cast(stored, &shape)?.to_dlpack(on, form)?;
        Ok::<_, RunError>(match form {
            Form::Versioned => tensor.take_versioned()? as usize,
            Form::Legacy => tensor.take_legacy()? as usize,
        })
    });
    let given = given.map_err(not_shared)? as *mut c_void;
    // Safety: Python is attached; who takes the tensor renames the capsule, and calls the deleter.
    unsafe {
        let capsule = ffi::PyCapsule_New(given, name.as_ptr(), Some(dropped));
        Bound::from_owned_ptr_or_err(py, capsule).map(Bound::unbind)
    }
}

/// Calls the deleter of a tensor that nobody took.
unsafe extern "C" fn dropped(capsule: *mut ffi::PyObject) {
    // Safety: Python calls it with a capsule of ours.
    unsafe { taken(capsule) }.ok();
}

/// The tensor of a capsule, which has none then.
///
/// # Safety
///
/// Python is attached, and what the capsule is called says what is in it.
unsafe fn taken(capsule: *mut ffi::PyObject) -> PyResult<Capsule> {
    // Safety: the caller's promise.
    let tensor = |name: &CStr, used: &CStr| unsafe {
        let is_here = ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 1;
        is_here.then(|| {
            let tensor = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
            ffi::PyCapsule_SetName(capsule, used.as_ptr());
            tensor
        })
    };
    // Safety: as above.
    let capsule = unsafe {
        if let Some(tensor) = tensor(VERSIONED, USED_VERSIONED) {
            Capsule::versioned(tensor.cast())
        } else if let Some(tensor) = tensor(LEGACY, USED_LEGACY) {
            Capsule::legacy(tensor.cast())
        } else {
            return Err(PyBufferError::new_err("it is no capsule of DLPack"));
        }
    };
    capsule.map_err(not_shared)
}

fn not_shared(error: RunError) -> PyErr {
    PyBufferError::new_err(error.to_string())
}
