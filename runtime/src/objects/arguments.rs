//! The arguments of a launch, and their checks.

use super::{buffer::Buffer, device::Device, recording::Slot};
use crate::{Element, Error, Scalar, argument::describe_buffer};
use qd_artifact::{Access, Argument, ArgumentKind, Dtype, Expr, Kernel, Values};
use std::{cell::Cell, sync::Arc};

/// An argument of a launch.
#[derive(Clone, Debug)]
pub enum Arg<'a> {
    /// An array.
    Buffer(&'a Buffer),
    /// A value.
    Scalar(Scalar),
    /// What a graph is launched with: see [`Recording`](super::Recording).
    Slot(Slot),
    /// An array of this shape without memory: [`Kernel::minimum`](super::Kernel::minimum) alone
    /// takes it.
    Shape(&'a [u64]),
    /// A missing argument. A launch allocates missing scratch (arguments with the role
    /// [`Role::Scratch`](qd_artifact::Role)) from the stream's memory, as long as the kernel uses
    /// it, until the launch has ended.
    Missing,
}

impl Arg<'_> {
    /// The extents of an array; none of anything else.
    pub fn shape(&self) -> &[u64] {
        match self {
            Arg::Buffer(buffer) => buffer.shape(),
            Arg::Shape(shape) => shape,
            Arg::Scalar(_) | Arg::Slot(_) | Arg::Missing => &[],
        }
    }
}

impl<'a> From<&'a Buffer> for Arg<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Arg::Buffer(buffer)
    }
}

impl From<Slot> for Arg<'_> {
    fn from(slot: Slot) -> Self {
        Arg::Slot(slot)
    }
}

impl From<Scalar> for Arg<'_> {
    fn from(scalar: Scalar) -> Self {
        Arg::Scalar(scalar)
    }
}

impl<T: Element> From<T> for Arg<'_> {
    fn from(value: T) -> Self {
        Arg::Scalar(Scalar::new(value))
    }
}

/// The arguments of a launch: `args![&keys, &tmp, 1.5f32]`. `_` is a missing one, such as scratch
/// that the launch allocates.
#[macro_export]
macro_rules! args {
    (@list [$($done:expr,)*]) => { [$($done,)*] };
    (@list [$($done:expr,)*] _ $(, $($rest:tt)*)?) => {
        $crate::args!(@list [$($done,)* $crate::objects::Arg::Missing,] $($($rest)*)?)
    };
    (@list [$($done:expr,)*] $next:expr $(, $($rest:tt)*)?) => {
        $crate::args!(@list [$($done,)* $crate::objects::Arg::from($next),] $($($rest)*)?)
    };
    ($($all:tt)*) => { $crate::args!(@list [] $($all)*) };
}

/// All that a plan is evaluated for, of one argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Input {
    Buffer {
        address: u64,
        bytes: u64,
        dtype: Dtype,
        shape: Arc<[u64]>,
    },
    Scalar(Scalar),
    Missing,
}

impl Input {
    pub fn of(argument: &Arg<'_>) -> Self {
        match argument {
            Arg::Buffer(buffer) => Input::Buffer {
                address: buffer.address(),
                bytes: buffer.bytes(),
                dtype: buffer.dtype(),
                shape: buffer.extents().clone(),
            },
            Arg::Scalar(scalar) => Input::Scalar(*scalar),
            Arg::Shape(shape) => Input::shaped(shape),
            Arg::Slot(_) | Arg::Missing => Input::Missing,
        }
    }

    /// An array that is nowhere, for what depends on lengths alone.
    pub fn shaped(shape: &[u64]) -> Self {
        Input::Buffer {
            address: 0,
            bytes: 0,
            dtype: Dtype::U8,
            shape: shape.into(),
        }
    }

    /// Whether they share memory.
    fn overlaps(&self, other: &Self) -> bool {
        let range = |input: &Self| match input {
            Input::Buffer { address, bytes, .. } => *address..address + bytes,
            Input::Scalar(_) | Input::Missing => 0..0,
        };
        let (a, b) = (range(self), range(other));
        a.start.max(b.start) < a.end.min(b.end)
    }

    /// Whether it is what `argument` is.
    pub fn is(&self, argument: &Arg<'_>) -> bool {
        match (self, argument) {
            (
                Input::Buffer {
                    address,
                    dtype,
                    shape,
                    ..
                },
                Arg::Buffer(buffer),
            ) => {
                *address == buffer.address()
                    && *dtype == buffer.dtype()
                    && (Arc::ptr_eq(shape, buffer.extents()) || **shape == *buffer.shape())
            }
            (Input::Scalar(scalar), Arg::Scalar(given)) => scalar == given,
            _ => false,
        }
    }
}

/// Arguments as expressions see them.
pub(super) struct Given<'a>(pub &'a [Input]);

impl Values for Given<'_> {
    fn scalar(&self, argument: usize) -> u64 {
        match &self.0[argument] {
            Input::Scalar(scalar) => scalar.bits,
            Input::Buffer { .. } | Input::Missing => 0,
        }
    }

    fn length(&self, argument: usize, dimension: usize) -> u64 {
        match &self.0[argument] {
            Input::Buffer { shape, .. } => shape.get(dimension).copied().unwrap_or(1),
            Input::Scalar(_) | Input::Missing => 0,
        }
    }

    fn address(&self, argument: usize) -> u64 {
        match &self.0[argument] {
            Input::Buffer { address, .. } => *address,
            Input::Scalar(_) | Input::Missing => 0,
        }
    }
}

/// As [`Given`], and which argument was asked for that is missing.
struct Asked<'a> {
    inputs: &'a [Input],
    missing: Cell<Option<usize>>,
}

impl Asked<'_> {
    fn note(&self, argument: usize) {
        if let Input::Missing = self.inputs[argument] {
            self.missing.set(Some(argument));
        }
    }
}

impl Values for Asked<'_> {
    fn scalar(&self, argument: usize) -> u64 {
        self.note(argument);
        Given(self.inputs).scalar(argument)
    }

    fn length(&self, argument: usize, dimension: usize) -> u64 {
        self.note(argument);
        Given(self.inputs).length(argument, dimension)
    }
}

/// Rows of an argument, 0 if nothing is said of them; or an argument on which they depend, and which
/// is missing.
pub(super) fn rows(
    kernel: &Kernel,
    place: usize,
    rows: Option<&Expr>,
    inputs: &[Input],
) -> Result<Result<u64, usize>, Error> {
    let Some(rows) = rows else {
        return Ok(Ok(0));
    };
    let asked = Asked {
        inputs,
        missing: Cell::new(None),
    };
    let rows = rows.evaluate(&asked);
    if let Some(missing) = asked.missing.get() {
        return Ok(Err(missing));
    }
    let what = || format!("the length of '{}'", kernel.arguments[place].name);
    let rows = rows.map_err(|e| Error::evaluate(kernel, &what(), e))?;
    Ok(Ok(rows))
}

/// Checks how many there are, and the kind, type, shape and device of each that is not accepted as it
/// is.
pub(super) fn check(
    kernel: &Kernel,
    device: &Device,
    given: &[Arg<'_>],
    accepts: impl Fn(&Argument, &Arg<'_>) -> bool,
) -> Result<(), Error> {
    if given.len() != kernel.arguments.len() {
        return Err(Error::ArgumentCount {
            kernel: kernel.name.clone(),
            expected: kernel.arguments.len(),
            given: given.len(),
        });
    }
    for (expected, given) in kernel.arguments.iter().zip(given) {
        if !accepts(expected, given) {
            check_one(&kernel.name, expected, device, given)?;
        }
    }
    Ok(())
}

/// That there is an array or a value for each.
pub(super) fn all(_: &Argument, _: &Arg<'_>) -> bool {
    false
}

/// That lengths may follow from it: anything may be missing, and a shape will do for an array.
pub(super) fn shapes(expected: &Argument, given: &Arg<'_>) -> bool {
    match (&expected.kind, given) {
        (_, Arg::Missing) => true,
        (ArgumentKind::Buffer { shape, .. }, Arg::Shape(given)) => is_shaped(shape, given),
        _ => false,
    }
}

/// Checks the kind, type, shape and device of what is given for an argument.
pub(super) fn check_one(
    kernel: &str,
    expected: &Argument,
    device: &Device,
    given: &Arg<'_>,
) -> Result<(), Error> {
    if !fits(&expected.kind, given) {
        return Err(Error::ArgumentType {
            kernel: kernel.into(),
            argument: expected.name.clone(),
            expected: expected.kind.to_string(),
            given: describe(given),
        });
    }
    let Arg::Buffer(buffer) = given else {
        return Ok(());
    };
    if buffer.device() != device {
        return Err(Error::WrongDevice {
            what: format!("kernel '{kernel}': argument '{}'", expected.name),
            is: format!("{:?}", buffer.device()),
            wanted: format!("{device:?}"),
        });
    }
    if buffer.is_read_only() && expected.access != Access::Read {
        return Err(Error::ReadOnly {
            kernel: kernel.into(),
            argument: expected.name.clone(),
        });
    }
    let size = buffer.dtype().size();
    match buffer.address().is_multiple_of(size as u64) {
        true => Ok(()),
        false => Err(Error::Misaligned {
            kernel: kernel.into(),
            argument: expected.name.clone(),
            to: size,
        }),
    }
}

/// As messages say it.
pub(super) fn describe(given: &Arg<'_>) -> String {
    match given {
        Arg::Buffer(b) => format!("a buffer {}", describe_buffer(b.dtype(), b.shape())),
        Arg::Scalar(scalar) => format!("a scalar {}", scalar.dtype),
        Arg::Shape(shape) => format!("a shape {shape:?} without an array"),
        Arg::Slot(_) => "a slot, which only a recording takes".into(),
        Arg::Missing => "nothing".into(),
    }
}

/// Checks what arguments are to each other: that buffers are no shorter than they must be, and
/// that what is written is no other argument's.
pub(super) fn check_together(kernel: &Kernel, given: &[Input]) -> Result<(), Error> {
    for (expected, input) in kernel.arguments.iter().zip(given) {
        let (Some(minimum), Input::Buffer { shape, .. }) = (&expected.minimum, input) else {
            continue;
        };
        let minimum = minimum.evaluate(&Given(given)).map_err(|e| {
            Error::evaluate(kernel, &format!("the length of '{}'", expected.name), e)
        })?;
        let rows = shape.first().copied().unwrap_or(1);
        if rows < minimum {
            return Err(Error::TooShort {
                kernel: kernel.name.clone(),
                argument: expected.name.clone(),
                minimum,
                given: rows,
            });
        }
    }
    for (i, a) in kernel.arguments.iter().enumerate() {
        for (j, b) in kernel.arguments.iter().enumerate().skip(i + 1) {
            let is_read = a.access == Access::Read && b.access == Access::Read;
            let may_share = is_read || (a.may_alias && b.may_alias);
            if !may_share && given[i].overlaps(&given[j]) {
                return Err(Error::Overlaps {
                    kernel: kernel.name.clone(),
                    argument: a.name.clone(),
                    other: b.name.clone(),
                });
            }
        }
    }
    Ok(())
}

pub(super) fn fits(expected: &ArgumentKind, given: &Arg<'_>) -> bool {
    match (expected, given) {
        (ArgumentKind::Buffer { dtype, shape }, Arg::Buffer(buffer)) => {
            *dtype == buffer.dtype() && is_shaped(shape, buffer.shape())
        }
        (ArgumentKind::Scalar { dtype }, Arg::Scalar(scalar)) => *dtype == scalar.dtype,
        _ => false,
    }
}

fn is_shaped(expected: &[Option<u64>], given: &[u64]) -> bool {
    let mut extents = expected.iter().zip(given);
    expected.len() == given.len()
        && extents.all(|(expected, given)| expected.is_none_or(|extent| extent == *given))
}
