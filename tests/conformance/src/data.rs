//! Contents of buffers, and comparison of results.

use qd_artifact::Dtype;
use qd_interp::Element;
use qd_runtime::{
    Error,
    objects::{Buffer, Stream},
};

/// The bytes of what has not been written.
const GARBAGE: u8 = 0xA5;

/// What a buffer holds.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Data {
    /// `i1`.
    Bool(Vec<bool>),
    /// `f16`, by their bits.
    F16(Vec<u16>),
    /// `bf16`, by their bits.
    BF16(Vec<u16>),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Elements as rows of so many: [`Data::rows`].
    Rows(Box<Data>, usize),
    /// The one element of a rank-0 buffer.
    Count(i32),
    /// The same, of 64 bits.
    LongCount(i64),
    /// A number that is passed as such.
    Number(i32),
}

/// How two results are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    /// Bit for bit, but any NaN is any other.
    Same,
    /// As `Same`, but what Vulkan leaves to a device.
    Device {
        /// How far it may be off, in units in the last place.
        units: u32,
        /// Whether zero will do where a denormal is expected.
        or_zero: bool,
    },
    /// As `Same`, but only so many elements as argument number this holds.
    Prefix(usize),
    /// Within this much: sums of floats, whose trees differ.
    Close(f64),
    /// As `Close`, on so many elements as argument number this holds.
    ClosePrefix(f64, usize),
    /// As `Same`, where the interpreter has written; uninitialised before.
    Written,
    /// Not at all.
    Ignored,
    /// Scratch: uninitialised before, garbage afterwards.
    Scratch,
    /// Scratch that a compiled kernel has no use for: it is left as it was.
    Unused,
    /// Not by itself: it is as many elements of another argument's buffer, which it overlaps.
    Part {
        /// The number of that argument.
        of: usize,
        /// The first of the elements.
        first: usize,
    },
}

impl Data {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Data::Bool(v) => v.len(),
            Data::F16(v) | Data::BF16(v) => v.len(),
            Data::I8(v) => v.len(),
            Data::I16(v) => v.len(),
            Data::I32(v) => v.len(),
            Data::I64(v) => v.len(),
            Data::Rows(of, _) => of.len(),
            Data::F32(v) => v.len(),
            Data::F64(v) => v.len(),
            Data::Count(_) | Data::LongCount(_) | Data::Number(_) => 1,
        }
    }

    /// These elements as rows of so many.
    pub fn rows(self, of: usize) -> Self {
        Data::Rows(Box::new(self), of)
    }

    /// The extents of the buffer.
    fn shape(&self) -> Vec<usize> {
        match self {
            Data::Rows(of, row) => {
                let inner = of.shape();
                let (first, rest) = inner.split_first().expect("there are elements");
                [&[first / row, *row], rest].concat()
            }
            Data::Count(_) | Data::LongCount(_) | Data::Number(_) => Vec::new(),
            _ => vec![self.len()],
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// It, as an argument of the interpreter's.
    pub(crate) fn interpreted(&self, expect: Expect) -> qd_interp::Argument {
        match (self, expect) {
            (Data::Number(number), _) => qd_interp::Scalar {
                element: Element::I32,
                bits: u64::from(*number as u32),
            }
            .into(),
            (_, Expect::Part { of, first }) => qd_interp::Part {
                of,
                first,
                shape: self.shape(),
            }
            .into(),
            _ => self.for_interpreter(expect).into(),
        }
    }

    fn element(&self) -> Element {
        match self {
            Data::Bool(_) => Element::I1,
            Data::F16(_) => Element::F16,
            Data::BF16(_) => Element::BF16,
            Data::I8(_) => Element::I8,
            Data::I16(_) => Element::I16,
            Data::I32(_) | Data::Count(_) | Data::Number(_) => Element::I32,
            Data::I64(_) | Data::LongCount(_) => Element::I64,
            Data::F32(_) => Element::F32,
            Data::F64(_) => Element::F64,
            Data::Rows(of, _) => of.element(),
        }
    }

    fn for_interpreter(&self, expect: Expect) -> qd_interp::Buffer {
        use qd_interp::Buffer;
        if expect.is_uninitialised() {
            return Buffer::uninitialised(self.element(), &self.shape());
        }
        let flat = match self {
            Data::Bool(v) => Buffer::from_slice(v),
            Data::F16(v) => halves(v, Element::F16),
            Data::BF16(v) => halves(v, Element::BF16),
            Data::I8(v) => Buffer::from_slice(v),
            Data::I16(v) => Buffer::from_slice(v),
            Data::I32(v) => Buffer::from_slice(v),
            Data::I64(v) => Buffer::from_slice(v),
            Data::Rows(of, _) => of.for_interpreter(expect),
            Data::F32(v) => Buffer::from_slice(v),
            Data::F64(v) => Buffer::from_slice(v),
            Data::Count(n) | Data::Number(n) => Buffer::scalar(*n),
            Data::LongCount(n) => Buffer::scalar(*n),
        };
        flat.reshaped(&self.shape()).expect("as many elements")
    }

    /// The bytes of what it is on the target at first. Not zeros where it is uninitialised: what
    /// needs clearing must be cleared.
    pub(crate) fn bytes(&self, expect: Expect) -> Vec<u8> {
        if expect.is_uninitialised() {
            let elements = self.shape().iter().product::<usize>();
            return vec![GARBAGE; elements * self.dtype().size()];
        }
        self.for_interpreter(expect).data
    }

    fn dtype(&self) -> Dtype {
        match self {
            Data::Bool(_) => Dtype::Bool,
            Data::F16(_) => Dtype::F16,
            Data::BF16(_) => Dtype::BF16,
            Data::I8(_) => Dtype::I8,
            Data::I16(_) => Dtype::I16,
            Data::I32(_) | Data::Count(_) | Data::Number(_) => Dtype::I32,
            Data::I64(_) | Data::LongCount(_) => Dtype::I64,
            Data::Rows(of, _) => of.dtype(),
            Data::F32(_) => Dtype::F32,
            Data::F64(_) => Dtype::F64,
        }
    }

    /// The same on a device.
    pub(crate) fn upload(&self, expect: Expect, on: &Stream) -> Result<Buffer, Error> {
        self.upload_as(self.dtype(), expect, on)
    }

    /// The same for an argument that is shown as this: unsigned, perhaps.
    pub(crate) fn upload_as(
        &self,
        shown: Dtype,
        expect: Expect,
        on: &Stream,
    ) -> Result<Buffer, Error> {
        let shape: Vec<_> = self.shape().iter().map(|extent| *extent as u64).collect();
        let dtype = match (self.dtype(), shown) {
            (Dtype::I32, Dtype::U32) | (Dtype::I64, Dtype::U64) => shown,
            (own, _) => own,
        };
        let buffer = Buffer::new(on, dtype, &shape)?;
        buffer.write_bytes(on, &self.bytes(expect))?;
        Ok(buffer)
    }

    /// With zeros for denormals, and how many those were.
    pub fn without_denormals(mut self) -> (Self, usize) {
        let mut count = 0;
        macro_rules! replace {
            ($values:expr) => {
                for x in $values.iter_mut().filter(|x| x.is_subnormal()) {
                    *x *= 0.0;
                    count += 1;
                }
            };
        }
        match &mut self {
            Data::F32(v) => replace!(v),
            Data::F64(v) => replace!(v),
            _ => {}
        }
        (self, count)
    }

    /// The sum of the magnitudes: what the rounding errors of a sum are in
    /// proportion to.
    pub fn magnitude(&self) -> f64 {
        match self {
            Data::F32(v) => v.iter().map(|x| f64::from(x.abs())).sum(),
            Data::F64(v) => v.iter().map(|x| x.abs()).sum(),
            _ => 0.0,
        }
    }
}

/// A buffer of 16-bit floats with these bits.
fn halves(bits: &[u16], element: Element) -> qd_interp::Buffer {
    let mut buffer = qd_interp::Buffer::from_slice(bits);
    buffer.element = element;
    buffer
}

/// What a buffer of the target holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The type of the elements.
    pub dtype: Dtype,
    /// Theirs, in the machine's order.
    pub bytes: Vec<u8>,
}

impl Held {
    /// Copies it from the device.
    pub(crate) fn read(buffer: &Buffer, on: &Stream) -> Result<Self, Error> {
        let mut bytes = vec![0; buffer.bytes() as usize];
        buffer.read_bytes(on, &mut bytes)?;
        Ok(Self {
            dtype: buffer.dtype(),
            bytes,
        })
    }

    fn len(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    /// Its bytes as words of 4.
    pub(crate) fn words(&self) -> Vec<i32> {
        let words = self.bytes.as_chunks().0.iter();
        words.map(|word| i32::from_le_bytes(*word)).collect()
    }
}

pub(crate) fn first_as_count(buffer: &qd_interp::Buffer) -> Option<usize> {
    if buffer.element != Element::I32 || buffer.len() != 1 || !buffer.is_initialised(0) {
        return None;
    }
    usize::try_from(buffer.to_vec::<i32>()[0]).ok()
}

fn as_floats(buffer: &qd_interp::Buffer) -> Option<Vec<f64>> {
    match buffer.element {
        Element::F32 => Some(buffer.to_vec::<f32>().into_iter().map(f64::from).collect()),
        Element::F64 => Some(buffer.to_vec::<f64>()),
        _ => None,
    }
}

/// Element `i` of floats.
pub(crate) fn float_at(held: &Held, i: usize) -> f64 {
    let size = held.dtype.size();
    let mut bits = [0; 8];
    bits[..size].copy_from_slice(&held.bytes[i * size..][..size]);
    let bits = u64::from_le_bytes(bits);
    match size {
        4 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

/// The magnitude of a 16-bit float's infinity, by its bits.
fn infinity(element: Element) -> Option<u16> {
    match element {
        Element::F16 => Some(0x7C00),
        Element::BF16 => Some(0x7F80),
        _ => None,
    }
}

/// Whether bits of a 16-bit float stand for a NaN.
fn is_nan(bits: &[u8], infinity: u16) -> bool {
    u16::from_le_bytes([bits[0], bits[1]]) & 0x7FFF > infinity
}

/// The unit in the last place of a number.
fn unit(element: Element, x: f64) -> f64 {
    match element {
        Element::F32 => {
            let exponent = ((x as f32).to_bits() >> 23 & 0xFF).max(1);
            2f64.powi(exponent as i32 - 127 - 23)
        }
        _ => {
            let exponent = (x.to_bits() >> 52 & 0x7FF).max(1);
            // In two steps: the least of them is a denormal.
            2f64.powi(exponent as i32 - 1023) * 2f64.powi(-52)
        }
    }
}

impl Expect {
    fn is_uninitialised(self) -> bool {
        matches!(self, Expect::Scratch | Expect::Unused | Expect::Written)
    }

    /// How many units in the last place the results are apart, where that may be.
    pub(crate) fn compare(
        self,
        expected: &qd_interp::Buffer,
        got: &Held,
        counts: &[Option<usize>],
    ) -> Result<f64, String> {
        let (allowed, or_zero) = match self {
            Expect::Device { units, or_zero } => (f64::from(units), or_zero),
            _ => (0.0, false),
        };
        let mut apart = 0f64;
        let (tolerance, prefix) = match self {
            Expect::Scratch | Expect::Ignored | Expect::Part { .. } => return Ok(apart),
            Expect::Unused => {
                let changed = got.bytes.iter().position(|byte| *byte != GARBAGE);
                return changed.map_or(Ok(apart), |at| Err(format!("byte {at} was written")));
            }
            Expect::Same | Expect::Written | Expect::Device { .. } => (0.0, None),
            Expect::Close(within) => (within, None),
            Expect::Prefix(of) => (0.0, Some(of)),
            Expect::ClosePrefix(within, of) => (within, Some(of)),
        };
        let length = match prefix {
            Some(of) => counts[of].ok_or("its count is not a count")?,
            None => expected.len(),
        };
        if got.len() != expected.len() {
            return Err(format!(
                "{} elements instead of {}",
                got.len(),
                expected.len()
            ));
        }
        let floats = as_floats(expected);
        let least_normal = match expected.element {
            Element::F32 => f64::from(f32::MIN_POSITIVE),
            _ => f64::MIN_POSITIVE,
        };
        let size = expected.element.bytes();
        for i in 0..length {
            if !expected.is_initialised(i) {
                continue;
            }
            let bytes = [&expected.data, &got.bytes].map(|data| &data[i * size..][..size]);
            if let Some(infinity) = infinity(expected.element)
                && bytes.iter().all(|bits| is_nan(bits, infinity))
            {
                continue;
            }
            if let Some(floats) = &floats {
                let (want, have) = (floats[i], float_at(got, i));
                let is_lax = or_zero || tolerance > 0.0;
                let is_same_zero = is_lax || want.is_sign_negative() == have.is_sign_negative();
                let same = (want == have && (want != 0.0 || is_same_zero))
                    || (or_zero && have == 0.0 && want.abs() < least_normal)
                    || (want.is_nan() && have.is_nan())
                    || (tolerance > 0.0 && (want - have).abs() <= tolerance);
                if same {
                    continue;
                }
                let units = (want - have).abs() / unit(expected.element, want);
                if want.is_finite() && units <= allowed {
                    apart = apart.max(units);
                } else {
                    let off = match units.is_finite() {
                        true => format!("{units} units in the last place off, "),
                        false => String::new(),
                    };
                    return Err(format!(
                        "[{i}] is {have:?}, not {want:?} ({off}of {length})"
                    ));
                }
            } else if bytes[0] != bytes[1] {
                return Err(format!(
                    "[{i}] has bytes {:x?}, not {:x?} (of {length})",
                    bytes[1], bytes[0],
                ));
            }
        }
        Ok(apart)
    }
}
