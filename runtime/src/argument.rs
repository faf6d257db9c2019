//! Element types of arrays, and scalar arguments.

use qd_artifact::Dtype;

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

/// A scalar argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its type.
    pub dtype: Dtype,
    /// Its bits, zero-extended.
    pub bits: u64,
}

impl Scalar {
    /// A value.
    pub fn new<T: Element>(value: T) -> Self {
        let mut bits = [0; 8];
        // Safety: elements are at most 8 bytes, all of them initialised. The
        // machine is little-endian, as every host with a driver is.
        unsafe {
            std::ptr::copy_nonoverlapping(
                (&raw const value).cast::<u8>(),
                bits.as_mut_ptr(),
                size_of::<T>(),
            );
        }
        Self {
            dtype: T::DTYPE,
            bits: u64::from_le_bytes(bits),
        }
    }
}

/// `i32[200000, 3]`; `i32[]` is one element.
pub(crate) fn describe_buffer(dtype: Dtype, shape: &[u64]) -> String {
    let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
    format!("{dtype}[{}]", extents.join(", "))
}
