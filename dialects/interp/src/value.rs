//! Values at the interpreter's border: element types, scalars and buffers.

use qd_artifact::Dtype;
use std::fmt;

/// The type of a scalar, or of a buffer's elements. MLIR's integers have no
/// sign; `u32` data is [`Element::I32`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A boolean, one byte in memory.
    I1,
    /// 8-bit integer.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// IEEE binary16.
    F16,
    /// The upper half of an `f32`.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// MLIR's `index`, 64 bits wide here.
    Index,
}

impl Element {
    /// Bytes one element takes in memory.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I1 | Self::I8 => 1,
            Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 | Self::Index => 8,
        }
    }

    /// Width of the value in bits.
    pub(crate) const fn width(self) -> u32 {
        match self {
            Self::I1 => 1,
            other => other.bytes() as u32 * 8,
        }
    }

    /// Whether a kernel that takes this may be given that: what lowering has made of `i1`, `f16`
    /// and `bf16` is their bytes.
    pub(crate) fn holds(self, given: Self) -> bool {
        let bits = match given {
            Self::I1 => Self::I8,
            Self::F16 | Self::BF16 => Self::I16,
            other => other,
        };
        self == given || self == bits
    }

    /// The bits a value of this type may have set.
    pub(crate) const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width())
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// The bits read as a two's complement number.
    pub(crate) const fn signed(self, bits: u64) -> i64 {
        let unused = 64 - self.width();
        ((bits << unused) as i64) >> unused
    }

    /// Whether two values are equal: a NaN equals nothing, and zeros of both signs are.
    pub(crate) fn equal(self, x: u64, y: u64) -> bool {
        match self.is_float() {
            true => self.float(x) == self.float(y),
            false => x == y,
        }
    }

    /// The float that the bits stand for, widened (exactly) to `f64`.
    pub(crate) fn float(self, bits: u64) -> f64 {
        match self {
            Self::F16 => Half::F16.value(bits),
            Self::BF16 => Half::BF16.value(bits),
            Self::F32 => f32::from_bits(bits as u32) as f64,
            _ => f64::from_bits(bits),
        }
    }

    /// As what it is printed.
    pub(crate) fn dtype(self) -> Dtype {
        match self {
            Self::I1 => Dtype::Bool,
            Self::I8 => Dtype::I8,
            Self::I16 => Dtype::I16,
            Self::I32 => Dtype::I32,
            Self::I64 | Self::Index => Dtype::I64,
            Self::F16 => Dtype::F16,
            Self::BF16 => Dtype::BF16,
            Self::F32 => Dtype::F32,
            Self::F64 => Dtype::F64,
        }
    }

    /// What [`printing::text`](qd_artifact::printing::text) takes of a value.
    pub(crate) fn as_printed(self, bits: u64) -> (Dtype, u64) {
        let bits = match self {
            Self::F16 | Self::BF16 => (self.float(bits) as f32).to_bits().into(),
            _ => bits,
        };
        (self.dtype(), bits)
    }

    /// The bits of a float, rounded to this type: to nearest, ties to even.
    pub(crate) fn rounded(self, value: f64) -> u64 {
        match self {
            Self::F16 => Half::F16.rounded(value),
            Self::BF16 => Half::BF16.rounded(value),
            Self::F32 => (value as f32).to_bits() as u64,
            _ => value.to_bits(),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::I1 => "i1",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Index => "index",
        })
    }
}

/// A float of 16 bits: a sign, an exponent and a fraction.
struct Half {
    fraction: u32,
    /// The exponent of the smallest normal number.
    least: i32,
}

impl Half {
    const F16: Self = Self {
        fraction: 10,
        least: -14,
    };
    const BF16: Self = Self {
        fraction: 7,
        least: -126,
    };

    /// The magnitude of infinity.
    fn infinity(&self) -> u64 {
        0x7FFF & !((1 << self.fraction) - 1)
    }

    fn value(&self, bits: u64) -> f64 {
        let (magnitude, sign) = (bits & 0x7FFF, bits & 0x8000 != 0);
        let (exponent, fraction) = (magnitude >> self.fraction, magnitude & !self.infinity());
        let value = match (magnitude.cmp(&self.infinity()), exponent) {
            (std::cmp::Ordering::Greater, _) => f64::NAN,
            (std::cmp::Ordering::Equal, _) => f64::INFINITY,
            (_, 0) => fraction as f64 * self.unit(self.least),
            (_, exponent) => {
                let digits = fraction + (1 << self.fraction);
                digits as f64 * self.unit(exponent as i32 - 1 + self.least)
            }
        };
        if sign { -value } else { value }
    }

    /// What the last digit of a number of this exponent stands for.
    fn unit(&self, exponent: i32) -> f64 {
        2f64.powi(exponent - self.fraction as i32)
    }

    fn rounded(&self, value: f64) -> u64 {
        let sign = u64::from(value.is_sign_negative()) << 15;
        if value.is_nan() {
            return sign | self.infinity() | 1 << (self.fraction - 1);
        }
        let exponent = (value.to_bits() >> 52 & 0x7FF) as i32 - 1023;
        if exponent > -self.least + 1 {
            return sign | self.infinity();
        }
        let exponent = exponent.max(self.least);
        let digits = (value.abs() / self.unit(exponent)).round_ties_even() as u64;
        // A digit more than there are is one of the exponent's.
        let bits = ((exponent - self.least) as u64) << self.fraction;
        sign | (bits + digits).min(self.infinity())
    }
}

/// A Rust type that corresponds to an [`Element`].
pub trait Native: Copy {
    /// What values of this type are made into.
    const ELEMENT: Element;
    /// The value's bits, zero-extended.
    fn to_bits(self) -> u64;
    /// The value with these bits; those beyond its width are ignored.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! native_integer {
    ($($type:ty as $unsigned:ty => $element:ident),*) => {$(
        impl Native for $type {
            const ELEMENT: Element = Element::$element;
            fn to_bits(self) -> u64 {
                self as $unsigned as u64
            }
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }
        }
    )*};
}
native_integer!(i8 as u8 => I8, u8 as u8 => I8, i16 as u16 => I16, u16 as u16 => I16,
                i32 as u32 => I32, u32 as u32 => I32, i64 as u64 => I64, u64 as u64 => I64,
                isize as usize => Index, usize as usize => Index);

macro_rules! native_float {
    ($($type:ty as $unsigned:ty => $element:ident),*) => {$(
        impl Native for $type {
            const ELEMENT: Element = Element::$element;
            fn to_bits(self) -> u64 {
                <$type>::to_bits(self) as u64
            }
            fn from_bits(bits: u64) -> Self {
                <$type>::from_bits(bits as $unsigned)
            }
        }
    )*};
}
native_float!(f32 as u32 => F32, f64 as u64 => F64);

impl Native for bool {
    const ELEMENT: Element = Element::I1;
    fn to_bits(self) -> u64 {
        self as u64
    }
    fn from_bits(bits: u64) -> Self {
        bits & 1 != 0
    }
}

/// A scalar argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its type.
    pub element: Element,
    /// Its bits, zero-extended.
    pub bits: u64,
}

impl<T: Native> From<T> for Scalar {
    fn from(value: T) -> Self {
        Self {
            element: T::ELEMENT,
            bits: value.to_bits(),
        }
    }
}

/// A buffer argument of a kernel: dense, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Type of the elements.
    pub element: Element,
    /// Extent of each dimension; empty for the one element of a `memref<i32>`.
    pub shape: Vec<usize>,
    /// The elements' bytes, little-endian.
    pub data: Vec<u8>,
    /// Which elements hold a value; empty if all do.
    pub(crate) known: Vec<bool>,
}

impl Buffer {
    /// A buffer of rank 1 with these elements.
    pub fn from_slice<T: Native>(values: &[T]) -> Self {
        let size = T::ELEMENT.bytes();
        let mut data = Vec::with_capacity(values.len() * size);
        for value in values {
            data.extend_from_slice(&value.to_bits().to_le_bytes()[..size]);
        }
        Self {
            element: T::ELEMENT,
            shape: vec![values.len()],
            data,
            known: Vec::new(),
        }
    }

    /// A buffer of rank 0, such as a live count.
    pub fn scalar<T: Native>(value: T) -> Self {
        Self {
            shape: Vec::new(),
            ..Self::from_slice(&[value])
        }
    }

    /// A buffer whose elements hold nothing yet, as scratch arrives: reading
    /// one yields poison, and using that is a fault.
    pub fn uninitialised(element: Element, shape: &[usize]) -> Self {
        let length = shape.iter().product();
        Self {
            element,
            shape: shape.to_vec(),
            data: vec![0xA5; length * element.bytes()],
            known: vec![false; length],
        }
    }

    /// The same elements in another shape; `None` if their number differs.
    pub fn reshaped(self, shape: &[usize]) -> Option<Self> {
        (shape.iter().product::<usize>() == self.len()).then(|| Self {
            shape: shape.to_vec(),
            ..self
        })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the element at this row-major position holds a value. False
    /// beyond the end.
    pub fn is_initialised(&self, index: usize) -> bool {
        index < self.len() && self.known.get(index).copied().unwrap_or(true)
    }

    /// The elements in row-major order, whatever the rank. Those that are not
    /// initialised are garbage.
    ///
    /// # Panics
    ///
    /// If the buffer does not hold elements of type `T`.
    pub fn to_vec<T: Native>(&self) -> Vec<T> {
        assert_eq!(
            self.element,
            T::ELEMENT,
            "the buffer holds {} elements",
            self.element
        );
        self.data
            .chunks_exact(T::ELEMENT.bytes())
            .map(|bytes| T::from_bits(bits_of(bytes)))
            .collect()
    }
}

/// Up to eight little-endian bytes, zero-extended.
pub(crate) fn bits_of(bytes: &[u8]) -> u64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(all)
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// For a memref; holds what the kernel left in it afterwards.
    Buffer(Buffer),
    /// For a memref that overlaps another: elements of that one's buffer, which holds what the kernel left in them.
    Part(Part),
    /// For an integer, index or float.
    Scalar(Scalar),
}

/// Consecutive elements of a buffer that is an argument itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The number of that argument.
    pub of: usize,
    /// The first of the elements.
    pub first: usize,
    /// Extent of each dimension.
    pub shape: Vec<usize>,
}

impl Argument {
    /// The buffer, if it is one.
    pub fn buffer(&self) -> Option<&Buffer> {
        match self {
            Self::Buffer(buffer) => Some(buffer),
            Self::Part(_) | Self::Scalar(_) => None,
        }
    }
}

impl From<Buffer> for Argument {
    fn from(buffer: Buffer) -> Self {
        Self::Buffer(buffer)
    }
}

impl From<Part> for Argument {
    fn from(part: Part) -> Self {
        Self::Part(part)
    }
}

impl From<Scalar> for Argument {
    fn from(scalar: Scalar) -> Self {
        Self::Scalar(scalar)
    }
}
