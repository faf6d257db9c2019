//! Arrays of the host: a kernel's inputs, and its printed results.

use qd_artifact::Dtype;
use qd_runtime::{
    Error,
    objects::{Buffer, Stream},
};
use std::{borrow::Cow, fmt, ops::Range};

/// The byte that fills memory that has not been written.
pub const POISON: u8 = 0xA5;

/// A row-major array of elements.
#[derive(Clone)]
pub struct Array {
    dtype: Dtype,
    shape: Vec<u64>,
    content: Content,
}

#[derive(Clone)]
enum Content {
    /// Every byte is this one. It takes no memory here.
    Every(u8),
    Bytes(Vec<u8>),
}

impl Array {
    /// An array whose every byte is `byte`, if this machine might have room for it.
    pub fn filled(dtype: Dtype, shape: &[u64], byte: u8) -> Result<Self, String> {
        let bytes = shape.iter().try_fold(dtype.size() as u64, |bytes, extent| {
            bytes.checked_mul(*extent)
        });
        let array = Self {
            dtype,
            shape: shape.to_vec(),
            content: Content::Every(byte),
        };
        let has_room = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        match bytes.and_then(|bytes| usize::try_from(bytes).ok()) {
            Some(bytes) if has_room(bytes) => Ok(array),
            _ => Err(format!("not enough memory for {array:?}")),
        }
    }

    /// The type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The extents, outermost first. No extent is one element.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The extent of the outermost dimension; 1 for rank 0.
    pub fn rows(&self) -> u64 {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Some of its rows; none of rank 0.
    pub fn of_rows(&self, rows: Range<u64>) -> Option<Self> {
        let row = self.shape.get(1..)?.iter().product::<u64>() as usize * self.dtype.size();
        let mut shape = self.shape.clone();
        shape[0] = rows.end - rows.start;
        let content = match &self.content {
            Content::Every(byte) => Content::Every(*byte),
            Content::Bytes(bytes) => {
                Content::Bytes(bytes[rows.start as usize * row..rows.end as usize * row].to_vec())
            }
        };
        Some(Self {
            dtype: self.dtype,
            shape,
            content,
        })
    }

    /// Elements in all.
    pub fn count(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }

    fn size(&self) -> usize {
        self.count() * self.dtype.size()
    }

    /// The elements' bytes, in the machine's order.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.content {
            Content::Every(byte) => vec![*byte; self.size()].into(),
            Content::Bytes(bytes) => bytes.into(),
        }
    }

    /// The elements' bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if let Content::Every(byte) = self.content {
            self.content = Content::Bytes(vec![byte; self.size()]);
        }
        match &mut self.content {
            Content::Bytes(bytes) => bytes,
            Content::Every(_) => &mut [],
        }
    }

    /// Sets every byte.
    pub fn fill(&mut self, byte: u8) {
        self.content = Content::Every(byte);
    }

    /// An element's bits, zero-extended.
    pub fn element(&self, index: usize) -> Option<u64> {
        if index >= self.count() {
            return None;
        }
        let size = self.dtype.size();
        let mut all = [0; 8];
        match &self.content {
            Content::Every(byte) => all[..size].fill(*byte),
            Content::Bytes(bytes) => all[..size].copy_from_slice(&bytes[index * size..][..size]),
        }
        Some(u64::from_le_bytes(all))
    }

    /// Sets all elements, in order.
    pub fn set_elements(&mut self, mut bits: impl FnMut(u64) -> u64) {
        let size = self.dtype.size();
        for (i, element) in self.bytes_mut().chunks_exact_mut(size).enumerate() {
            element.copy_from_slice(&bits(i as u64).to_le_bytes()[..size]);
        }
    }

    /// The same on a device.
    pub fn upload(&self, on: &Stream) -> Result<Buffer, Error> {
        match &self.content {
            Content::Every(byte) => Buffer::filled(on, self.dtype, &self.shape, *byte),
            Content::Bytes(bytes) => {
                let buffer = Buffer::new(on, self.dtype, &self.shape)?;
                buffer.write_bytes(on, bytes)?;
                Ok(buffer)
            }
        }
    }

    /// Takes what a buffer of the same type and shape holds.
    pub fn download(&mut self, buffer: &Buffer, on: &Stream) -> Result<(), Error> {
        buffer.read_bytes(on, self.bytes_mut())
    }
}

/// `i32[200000, 3]`; `i32[]` is one element.
impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<_> = self.shape.iter().map(u64::to_string).collect();
        write!(f, "{}[{}]", self.dtype, extents.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_holds_what_it_is_filled_with_until_it_is_changed() {
        let mut array = Array::filled(Dtype::U16, &[2, 2], POISON).expect("little memory");
        assert_eq!((array.rows(), array.count()), (2, 4));
        assert_eq!(array.element(3), Some(0xA5A5));
        assert_eq!(array.element(4), None);
        array.bytes_mut()[6] = 1;
        assert_eq!(array.element(3), Some(0xA501));
        assert_eq!(
            *array.bytes(),
            [0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 0xA5, 1, 0xA5]
        );
    }

    #[test]
    fn what_is_too_large_is_an_error() {
        for shape in [&[u64::MAX][..], &[1 << 40, 1 << 40], &[1 << 61]] {
            let error = Array::filled(Dtype::I32, shape, 0).expect_err("no such memory");
            assert!(error.starts_with("not enough memory for i32["), "{error}");
        }
    }
}
