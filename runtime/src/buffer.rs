//! Arrays that kernels read and write.

use crate::Error;
use qd_artifact::Dtype;
use std::fmt;

/// A cache line, so that buffers start at one and vector loads are aligned.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A row-major array of elements in host memory, aligned to 64 bytes.
#[derive(Clone)]
pub struct Buffer {
    dtype: Dtype,
    shape: Vec<u64>,
    bytes: usize,
    lines: Vec<Line>,
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
        // One line at least, so that an empty buffer still has an address.
        let count = bytes.div_ceil(64).max(1);
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| too_large())?;
        lines.resize(count, Line([byte; 64]));
        Ok(Self {
            dtype,
            shape: shape.to_vec(),
            bytes,
            lines,
        })
    }

    /// A buffer of zeros.
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

    /// The elements' bytes, in the machine's order.
    pub fn as_bytes(&self) -> &[u8] {
        // Safety: the lines hold at least so many bytes, all initialised.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.bytes) }
    }

    /// The elements' bytes, in the machine's order.
    pub fn as_mut_bytes(&mut self) -> &mut [u8] {
        // Safety: as above, and any byte will do.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.bytes) }
    }

    /// The elements.
    ///
    /// # Panics
    ///
    /// They are of another type.
    pub fn as_slice<T: Element>(&self) -> &[T] {
        assert_eq!(T::DTYPE, self.dtype, "the buffer's element type");
        // Safety: the type has this size, less alignment, and no invalid bits.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len()) }
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
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), length) }
    }

    /// The address that kernels get.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }
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
