//! Data of the device rows, the same that the peer makes for itself.

use qd_frontend::{
    Dtype, Element,
    objects::{Buffer, Stream},
};
use rayon::prelude::*;

/// Numbers that look random (splitmix64), as in `cub.cu`.
pub fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// An element of the table.
pub trait Value:
    'static + Element + Copy + Default + Send + Sync + PartialEq + PartialOrd + std::fmt::Debug
{
    /// How MLIR calls it.
    const MLIR: &'static str;
    /// How sorts and reflection call it.
    const DTYPE_NAME: &'static str;
    /// Whether a sort needs to be told that it has no sign.
    const UNSIGNED: bool;
    /// The type of scratch for it.
    const SLOT: &'static str;
    /// The operation that multiplies.
    const TIMES: &'static str;
    /// The value of random bits.
    fn of(bits: u64) -> Self;
    /// The sum, as the algorithm adds.
    fn plus(self, other: Self) -> Self;
    /// The product, as `TIMES` multiplies.
    fn times(self, other: Self) -> Self;
    /// Whether a sum of `count` elements is as good as the other.
    fn close(self, other: Self, count: usize) -> bool;
}

macro_rules! integer {
    ($type:ty, $mlir:literal, $name:literal) => {
        impl Value for $type {
            const MLIR: &'static str = $mlir;
            const DTYPE_NAME: &'static str = $name;
            const UNSIGNED: bool = true;
            const SLOT: &'static str = $mlir;
            const TIMES: &'static str = "arith.muli";
            fn of(bits: u64) -> Self {
                bits as $type
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn close(self, other: Self, _: usize) -> bool {
                self == other
            }
        }
    };
}
integer!(u32, "i32", "u32");
integer!(u64, "i64", "u64");

macro_rules! float {
    ($type:ident, $slot:literal, $unused:literal, $range:literal) => {
        impl Value for $type {
            const MLIR: &'static str = stringify!($type);
            const DTYPE_NAME: &'static str = stringify!($type);
            const UNSIGNED: bool = false;
            const SLOT: &'static str = $slot;
            const TIMES: &'static str = "arith.mulf";
            fn of(bits: u64) -> Self {
                (bits >> $unused) as $type / $range
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn close(self, other: Self, count: usize) -> bool {
                // Both are sums of `count` roundings; in a tree far fewer.
                let bound = $type::EPSILON * (count as $type).sqrt().max(16.0);
                (self - other).abs() <= bound * other.abs().max(1.0)
            }
        }
    };
}
float!(f32, "i32", 40, 16_777_216.0);
float!(f64, "i64", 11, 9_007_199_254_740_992.0);

/// Elements that are summed one after the other to check a sum: all of them in a
/// row would make a sum of floats that is worse than ours.
pub const CHUNK: usize = 1 << 10;

/// Their sum.
pub fn added<T: Value>(values: impl Iterator<Item = T>) -> T {
    values.fold(T::of(0), T::plus)
}

/// `n` elements that look random.
pub fn random<T: Value>(n: usize) -> Vec<T> {
    made(n, |i| T::of(mix(i)))
}

/// `n` integers of 16 values.
pub fn few<T: Value>(n: usize) -> Vec<T> {
    made(n, |i| T::of(mix(i) & 15))
}

/// `n` integers in order.
pub fn sorted<T: Value>(n: usize) -> Vec<T> {
    made(n, T::of)
}

/// `n` elements by their index.
fn made<T: Value>(n: usize, of: impl Fn(u64) -> T + Send + Sync) -> Vec<T> {
    (0..n as u64).into_par_iter().map(of).collect()
}

/// Keys in runs of eight on average.
pub fn runs(n: usize) -> Vec<u32> {
    let mut run = 0;
    (0..n as u64)
        .map(|i| {
            run += u32::from(mix(i) & 7 == 0);
            run
        })
        .collect()
}

/// A buffer of `n` elements that hold nothing in particular.
pub fn empty<T: Element>(on: &Stream, n: u64) -> anyhow::Result<Buffer> {
    Ok(Buffer::filled(on, T::DTYPE, &[n], 0xA5)?)
}

/// Scratch for elements of this type.
pub fn slots<T: Value>(on: &Stream, slots: u64) -> anyhow::Result<Buffer> {
    match T::SLOT {
        "i64" => empty::<i64>(on, slots),
        _ => empty::<i32>(on, slots),
    }
}

/// A count of rank 0.
pub fn count(on: &Stream, n: usize) -> anyhow::Result<Buffer> {
    let buffer = Buffer::from_slice(on, &[i32::try_from(n)?])?;
    Ok(buffer.cast(Dtype::I32, &[])?)
}

/// The same elements in other memory of the device.
pub fn copy(on: &Stream, buffer: &Buffer) -> anyhow::Result<Buffer> {
    let copy = Buffer::new(on, buffer.dtype(), buffer.shape())?;
    buffer.copy_to(on, &copy)?;
    Ok(copy)
}
