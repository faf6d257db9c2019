//! Memory and streams of other libraries, used in place.

use super::{
    allocation::{Allocation, Keep},
    buffer::{Buffer, bytes_of},
    stream::{Event, Stream},
};
use crate::{Error, argument::describe_buffer};
use qd_artifact::Dtype;

/// Foreign memory.
#[derive(Clone, Debug)]
pub struct Foreign {
    /// Where it begins, as the device's kernels see it.
    pub address: u64,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its extents, outermost first.
    pub shape: Vec<u64>,
    /// From one element to the next in each dimension, in elements; none: row-major.
    pub strides: Option<Vec<i64>>,
    /// Whether nothing may be written to it.
    pub read_only: bool,
    /// When its contents are ready.
    pub ready: Ready,
}

/// When foreign memory may be used.
#[derive(Clone, Debug)]
pub enum Ready {
    /// At once.
    Now,
    /// After the work on the stream that it is imported on.
    InOrder,
    /// After an event.
    After(Event),
}

impl Buffer {
    /// Imports foreign memory as a buffer. It must be aligned for its elements when a kernel gets
    /// it. Two buffers of the same memory do not know of each other: their uses are ordered on one
    /// stream alone. `keep` is dropped when the last use has ended, in a later call; without it the
    /// owner must keep the memory alive.
    ///
    /// # Safety
    ///
    /// The memory is valid, with the given extents, until `keep` is dropped, or without it until
    /// all uses of the buffer have ended. No one else writes it while it is used, nor reads it
    /// while it is written.
    ///
    /// # Errors
    ///
    /// It belongs to another device, or its elements are not contiguous.
    pub unsafe fn import(on: &Stream, memory: Foreign, keep: Keep) -> Result<Self, Error> {
        let (dtype, shape) = (memory.dtype, &memory.shape);
        let what = || format!("foreign memory, {}", describe_buffer(dtype, shape));
        let shared = on.0.shared();
        shared.check()?;
        let bytes = bytes_of(dtype, shape).ok_or_else(|| Error::no_memory(what()))?;
        if memory
            .strides
            .is_some_and(|given| !is_compact(shape, &given))
        {
            return Err(Error::NotContiguous(what()));
        }
        // Of memory of no bytes the address says nothing.
        if bytes > 0 {
            let is_here = shared.driver.owns(memory.address);
            is_here.map_err(|owner| Error::WrongDevice {
                what: what(),
                is: owner,
                wanted: format!("{:?}", on.device()),
            })?;
        }
        let is_in_order = match &memory.ready {
            Ready::Now => false,
            Ready::InOrder => true,
            Ready::After(event) => {
                on.wait_for(event)?;
                true
            }
        };
        let (address, read_only) = (memory.address, memory.read_only);
        let allocation = Allocation::foreign(on, address, bytes, read_only, is_in_order, keep)?;
        Ok(Buffer::whole(allocation, dtype, shape))
    }
}

/// Whether elements are contiguous and row-major. Where there is one element, or none, no stride
/// matters.
fn is_compact(shape: &[u64], strides: &[i64]) -> bool {
    if strides.len() != shape.len() {
        return false;
    }
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1_i64;
    for (extent, stride) in shape.iter().zip(strides).rev() {
        if *extent != 1 && *stride != expected {
            return false;
        }
        expected = expected.wrapping_mul(*extent as i64);
    }
    true
}

#[cfg(test)]
mod tests;
