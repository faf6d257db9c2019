//! What a kernel is given, and whether it is what the kernel takes.

use crate::{Buffer, Element, Error};
use qd_artifact::{ArgumentKind, Dtype, Kernel, Values};

/// A value that is passed by itself.
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

/// What is passed for one argument of a kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// An array. What the kernel writes is in it afterwards.
    Buffer(Buffer),
    /// A value.
    Scalar(Scalar),
}

impl Argument {
    /// The buffer, if it is one.
    pub fn as_buffer(&self) -> Option<&Buffer> {
        match self {
            Argument::Buffer(buffer) => Some(buffer),
            Argument::Scalar(_) => None,
        }
    }
}

impl From<Buffer> for Argument {
    fn from(buffer: Buffer) -> Self {
        Argument::Buffer(buffer)
    }
}

impl From<Scalar> for Argument {
    fn from(scalar: Scalar) -> Self {
        Argument::Scalar(scalar)
    }
}

/// `i32[200000, 3]`; `i32[]` is one element.
pub(crate) fn describe_buffer(dtype: Dtype, shape: &[u64]) -> String {
    let extents: Vec<_> = shape.iter().map(u64::to_string).collect();
    format!("{dtype}[{}]", extents.join(", "))
}

/// What a plan is evaluated for, of one argument: all but a buffer's contents.
#[derive(PartialEq)]
enum Shape {
    Buffer(Dtype, Vec<u64>),
    Scalar(Scalar),
}

/// The arguments that a kernel was prepared for.
pub(crate) struct Shapes(Vec<Shape>);

impl Shapes {
    pub fn of(arguments: &[Argument]) -> Self {
        let shape = |argument: &Argument| match argument {
            Argument::Buffer(buffer) => Shape::Buffer(buffer.dtype(), buffer.shape().to_vec()),
            Argument::Scalar(scalar) => Shape::Scalar(*scalar),
        };
        Self(arguments.iter().map(shape).collect())
    }

    /// Checks that others differ in their buffers' contents alone.
    pub fn check(&self, kernel: &Kernel, arguments: &[Argument]) -> Result<(), Error> {
        match Self::of(arguments).0 == self.0 {
            true => Ok(()),
            false => Err(Error::OtherArguments {
                kernel: kernel.name.clone(),
            }),
        }
    }
}

/// Arguments as expressions see them.
pub(crate) struct Given<'a>(pub &'a [Argument]);

impl Values for Given<'_> {
    fn scalar(&self, argument: usize) -> u64 {
        match &self.0[argument] {
            Argument::Scalar(scalar) => scalar.bits,
            Argument::Buffer(_) => 0,
        }
    }

    fn length(&self, argument: usize, dimension: usize) -> u64 {
        match &self.0[argument] {
            Argument::Buffer(buffer) => buffer.shape().get(dimension).copied().unwrap_or(1),
            Argument::Scalar(_) => 0,
        }
    }
}

/// Checks that the arguments are what the kernel takes: how many, of which
/// kind, type and shape, and no shorter than they must be.
///
/// # Errors
///
/// The first argument that is not, with both types.
pub fn check(kernel: &Kernel, arguments: &[Argument]) -> Result<(), Error> {
    if arguments.len() != kernel.arguments.len() {
        return Err(Error::ArgumentCount {
            kernel: kernel.name.clone(),
            expected: kernel.arguments.len(),
            given: arguments.len(),
        });
    }
    for (expected, given) in kernel.arguments.iter().zip(arguments) {
        if !fits(&expected.kind, given) {
            return Err(Error::ArgumentType {
                kernel: kernel.name.clone(),
                argument: expected.name.clone(),
                expected: expected.kind.to_string(),
                given: match given {
                    Argument::Buffer(b) => {
                        format!("a buffer {}", describe_buffer(b.dtype(), b.shape()))
                    }
                    Argument::Scalar(scalar) => format!("a scalar {}", scalar.dtype),
                },
            });
        }
    }
    for (expected, given) in kernel.arguments.iter().zip(arguments) {
        let (Some(minimum), Argument::Buffer(buffer)) = (&expected.minimum, given) else {
            continue;
        };
        let minimum = minimum.evaluate(&Given(arguments)).map_err(|e| {
            Error::evaluate(kernel, &format!("the length of '{}'", expected.name), e)
        })?;
        if buffer.rows() < minimum {
            return Err(Error::TooShort {
                kernel: kernel.name.clone(),
                argument: expected.name.clone(),
                minimum,
                given: buffer.rows(),
            });
        }
    }
    Ok(())
}

fn fits(expected: &ArgumentKind, given: &Argument) -> bool {
    match (expected, given) {
        (ArgumentKind::Buffer { dtype, shape }, Argument::Buffer(buffer)) => {
            *dtype == buffer.dtype()
                && shape.len() == buffer.shape().len()
                && shape
                    .iter()
                    .zip(buffer.shape())
                    .all(|(expected, given)| expected.is_none_or(|extent| extent == *given))
        }
        (ArgumentKind::Scalar { dtype }, Argument::Scalar(scalar)) => *dtype == scalar.dtype,
        _ => false,
    }
}
