//! Arrays that kernels read and write.

use crate::Error;
use qd_artifact::Dtype;
use std::{
    alloc::{Layout, alloc_zeroed},
    fmt,
};

/// Bytes of a cache line. Buffers start at one, so that vector loads are aligned.
const LINE: usize = 64;

/// A row-major array of elements in host memory, aligned to 64 bytes.
pub struct Buffer {
    dtype: Dtype,
    shape: Vec<u64>,
    bytes: usize,
    /// With room to begin at a line, also for a buffer of no bytes: it has an address.
    memory: Vec<u8>,
}

impl Buffer {
    /// A buffer whose every byte is `byte`. An empty shape is one element.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn filled(dtype: Dtype, shape: &[u64], byte: u8) -> Result<Self, Error> {
        let too_large = || Error::OutOfMemory(crate::argument::describe_buffer(dtype, shape));
        let bytes = shape
            .iter()
            .try_fold(dtype.size() as u64, |bytes, extent| {
                bytes.checked_mul(*extent)
            })
            .and_then(|bytes| usize::try_from(bytes).ok())
            .filter(|bytes| *bytes <= isize::MAX as usize)
            .ok_or_else(too_large)?;
        let room = bytes.checked_add(LINE).ok_or_else(too_large)?;
        let memory = match byte {
            0 => zeros(room),
            _ => repeated(byte, room),
        };
        Ok(Self {
            dtype,
            shape: shape.to_vec(),
            bytes,
            memory: memory.ok_or_else(too_large)?,
        })
    }

    /// A buffer of zeros. They take no memory before they are written, where the system
    /// hands it out that way.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn zeros(dtype: Dtype, shape: &[u64]) -> Result<Self, Error> {
        Self::filled(dtype, shape, 0)
    }

    /// A buffer of rank 1 that holds these elements.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn from_slice<T: Element>(values: &[T]) -> Result<Self, Error> {
        let mut buffer = Self::zeros(T::DTYPE, &[values.len() as u64])?;
        buffer.as_mut_slice().copy_from_slice(values);
        Ok(buffer)
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The extent of the outermost dimension; 1 for rank 0.
    pub fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Elements in all.
    pub fn len(&self) -> usize {
        self.bytes / self.dtype.size()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Where the first line begins.
    fn start(&self) -> usize {
        self.memory.as_ptr().align_offset(LINE)
    }

    /// The elements' bytes, in the machine's order.
    pub fn as_bytes(&self) -> &[u8] {
        &self.memory[self.start()..][..self.bytes]
    }

    /// The elements' bytes, in the machine's order.
    pub fn as_mut_bytes(&mut self) -> &mut [u8] {
        let start = self.start();
        &mut self.memory[start..][..self.bytes]
    }

    /// The elements.
    ///
    /// # Panics
    ///
    /// They are of another type.
    pub fn as_slice<T: Element>(&self) -> &[T] {
        assert_eq!(T::DTYPE, self.dtype, "the buffer's element type");
        // Safety: the type has this size, less alignment, and no invalid bits.
        unsafe { std::slice::from_raw_parts(self.as_bytes().as_ptr().cast(), self.len()) }
    }

    /// The elements.
    ///
    /// # Panics
    ///
    /// They are of another type.
    pub fn as_mut_slice<T: Element>(&mut self) -> &mut [T] {
        assert_eq!(T::DTYPE, self.dtype, "the buffer's element type");
        let length = self.len();
        // Safety: as above.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr().cast(), length) }
    }

    /// The address that kernels get.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.as_mut_bytes().as_mut_ptr()
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        let zeros = Self::zeros(self.dtype, &self.shape);
        let mut copy = zeros.unwrap_or_else(|error| panic!("{error}"));
        copy.as_mut_bytes().copy_from_slice(self.as_bytes());
        copy
    }

    fn clone_from(&mut self, source: &Self) {
        match (self.dtype, &self.shape) == (source.dtype, &source.shape) {
            true => self.as_mut_bytes().copy_from_slice(source.as_bytes()),
            false => *self = source.clone(),
        }
    }
}

/// So many zeros, at least one, if there is memory for them.
fn zeros(count: usize) -> Option<Vec<u8>> {
    let layout = Layout::array::<u8>(count).ok()?;
    // Safety: the layout has a size.
    let first = unsafe { alloc_zeroed(layout) };
    // Safety: it was allocated for as many bytes, which are zeros.
    (!first.is_null()).then(|| unsafe { Vec::from_raw_parts(first, count, count) })
}

/// So many times a byte, if there is memory for it.
fn repeated(byte: u8, count: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).ok()?;
    bytes.resize(count, byte);
    Some(bytes)
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&crate::argument::describe_buffer(self.dtype, &self.shape))
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that buffers hold.
pub trait Element: Copy + sealed::Sealed {
    /// How artifacts call it.
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($type:ty => $dtype:ident),* $(,)?) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;
        }
    )*};
}
elements!(i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64,
          u64 => U64, f32 => F32, f64 => F64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_sized() {
        for shape in [&[][..], &[0], &[1], &[17, 3]] {
            let mut buffer = Buffer::filled(Dtype::F64, shape, 0xA5).expect("little memory");
            assert_eq!(buffer.len() as u64, shape.iter().product::<u64>());
            assert_eq!(buffer.as_mut_ptr() as usize % 64, 0);
            assert!(buffer.as_bytes().iter().all(|byte| *byte == 0xA5));
        }
    }

    #[test]
    fn a_copy_is_aligned_and_the_same() {
        let buffer = Buffer::from_slice(&[1.5f64, -2.0, 3.25]).expect("little memory");
        let mut copy = buffer.clone();
        assert_eq!(copy.as_mut_ptr() as usize % LINE, 0);
        assert_eq!(copy.as_slice::<f64>(), [1.5, -2.0, 3.25]);
        let mut other = Buffer::zeros(Dtype::I8, &[2, 7]).expect("little memory");
        other.clone_from(&buffer);
        assert_eq!(other.shape(), [3]);
        assert_eq!(other.as_slice::<f64>(), [1.5, -2.0, 3.25]);
    }

    #[test]
    fn what_is_too_large_is_an_error() {
        for shape in [&[u64::MAX][..], &[1 << 40, 1 << 40], &[1 << 61]] {
            let error = Buffer::zeros(Dtype::I32, shape).expect_err("no such memory");
            assert!(
                error.to_string().starts_with("not enough memory for i32["),
                "{error}"
            );
        }
    }
}
