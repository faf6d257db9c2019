//! Arrays in memory of a device.

use super::launch::failed;
use pyo3::prelude::*;
use qd_frontend::{
    Error,
    objects::{Buffer, Stream},
};
use std::slice;

/// An array of one dimension in memory of a device. Copies are in the order of launches.
#[pyclass(frozen)]
pub struct Memory {
    pub buffer: Buffer,
    pub stream: Stream,
    /// Whether kernels may not write to it.
    pub is_read_only: bool,
}

#[pymethods]
impl Memory {
    /// Copies `count` elements, from `first` on, to an address of the host.
    fn read(&self, py: Python<'_>, first: u64, count: u64, address: u64) -> PyResult<()> {
        py.detach(|| {
            let part = self.buffer.rows(first..first + count)?;
            // Safety: the caller has an array of so many elements there.
            unsafe { download(&part, &self.stream, address) }
        })
        .map_err(failed)
    }

    /// Copies `count` elements, from `first` on, from an address of the host.
    fn write(&self, py: Python<'_>, first: u64, count: u64, address: u64) -> PyResult<()> {
        py.detach(|| {
            let part = self.buffer.rows(first..first + count)?;
            // Safety: as in `read`.
            unsafe { upload(&part, &self.stream, address) }
        })
        .map_err(failed)
    }

    /// Copies all elements to another array, of the same type and length.
    fn copy_to(&self, py: Python<'_>, other: Py<Self>) -> PyResult<()> {
        py.detach(|| self.buffer.copy_to(&self.stream, &other.get().buffer))
            .map_err(|error| failed(Error::from(error)))
    }

    /// The addresses of the first byte and of that after the last, as the device has them.
    #[getter]
    pub fn addresses(&self) -> (u64, u64) {
        let first = self.buffer.address();
        (first, first + self.buffer.bytes())
    }
}

/// Copies a buffer to an address of the host.
///
/// # Safety
///
/// There is memory for it that is used by nobody else meanwhile.
pub unsafe fn download(from: &Buffer, on: &Stream, address: u64) -> Result<(), Error> {
    if from.is_empty() {
        return Ok(());
    }
    // Safety: the caller's promise; bytes have any value.
    let to = unsafe { slice::from_raw_parts_mut(address as *mut u8, from.bytes() as usize) };
    Ok(from.read_bytes(on, to)?)
}

/// Sets a buffer to what is at an address of the host.
///
/// # Safety
///
/// So many bytes are there, which nobody writes meanwhile.
pub unsafe fn upload(to: &Buffer, on: &Stream, address: u64) -> Result<(), Error> {
    if to.is_empty() {
        return Ok(());
    }
    // Safety: the caller's promise.
    let from = unsafe { slice::from_raw_parts(address as *const u8, to.bytes() as usize) };
    Ok(to.write_bytes(on, from)?)
}
