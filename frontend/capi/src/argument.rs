//! Types of elements, and arguments of launches.

use crate::{
    buffer::qd_buffer,
    handle::{Lent, array, get},
    status::{Failure, Outcome},
};
use dlpark::ffi;
use qd_frontend::{
    Dtype, Scalar,
    objects::{Arg, Buffer, Foreign, Ready, Slot, Stream},
};
use std::{borrow::Cow, ffi::c_void, ptr};

/// The type of elements: one of the numbers below.
pub type qd_dtype = u32;

/// Elements of one byte that are 0 or 1.
pub const QD_BOOL: u32 = 1;
/// Elements that are signed, of 8 bits.
pub const QD_I8: u32 = 2;
/// Elements that are unsigned, of 8 bits.
pub const QD_U8: u32 = 3;
/// Elements that are signed, of 16 bits.
pub const QD_I16: u32 = 4;
/// Elements that are unsigned, of 16 bits.
pub const QD_U16: u32 = 5;
/// Elements that are signed, of 32 bits.
pub const QD_I32: u32 = 6;
/// Elements that are unsigned, of 32 bits.
pub const QD_U32: u32 = 7;
/// Elements that are signed, of 64 bits.
pub const QD_I64: u32 = 8;
/// Elements that are unsigned, of 64 bits.
pub const QD_U64: u32 = 9;
/// Elements that are floats of IEEE's binary16.
pub const QD_F16: u32 = 10;
/// Elements that are the upper halves of floats of 32 bits.
pub const QD_BF16: u32 = 11;
/// Elements that are floats of 32 bits.
pub const QD_F32: u32 = 12;
/// Elements that are floats of 64 bits.
pub const QD_F64: u32 = 13;

const DTYPES: [(u32, Dtype); 13] = [
    (QD_BOOL, Dtype::Bool),
    (QD_I8, Dtype::I8),
    (QD_U8, Dtype::U8),
    (QD_I16, Dtype::I16),
    (QD_U16, Dtype::U16),
    (QD_I32, Dtype::I32),
    (QD_U32, Dtype::U32),
    (QD_I64, Dtype::I64),
    (QD_U64, Dtype::U64),
    (QD_F16, Dtype::F16),
    (QD_BF16, Dtype::BF16),
    (QD_F32, Dtype::F32),
    (QD_F64, Dtype::F64),
];

pub(crate) fn dtype(number: qd_dtype) -> Outcome<Dtype> {
    let found = DTYPES.iter().find(|(known, _)| *known == number);
    let found = found.ok_or_else(|| Failure::value(format!("{number} is no type of elements")));
    Ok(found?.1)
}

pub(crate) fn dtype_number(dtype: Dtype) -> qd_dtype {
    let found = DTYPES.iter().find(|(_, known)| *known == dtype);
    found.map_or(0, |(number, _)| *number)
}

/// Extents as C gets them.
pub(crate) fn extents(shape: &[u64]) -> (*const u64, usize) {
    (shape.as_ptr(), shape.len())
}

/// The kind of an argument: left out. Scratch may be, and is then made by the launch.
pub const QD_ARG_MISSING: u32 = 0;
/// The kind of an argument: `pointer` is a qd_buffer *.
pub const QD_ARG_BUFFER: u32 = 1;
/// The kind of an argument: a value of type `dtype`, whose bits are in `word`, zero-extended.
pub const QD_ARG_SCALAR: u32 = 2;
/// The kind of an argument: `pointer` is a DLTensor * of DLPack, whose memory is used where it is: it has to be
/// there until the launch has ended, and for a captured launch as long as the graph. It is ready in the order of the
/// stream of the launch.
pub const QD_ARG_TENSOR: u32 = 3;
/// The kind of an argument: a slot, whose number is `word`. Only recordings take it.
pub const QD_ARG_SLOT: u32 = 4;
/// The kind of an argument: an array without memory. `pointer` are its extents (const uint64_t *), and `word` is
/// how many there are. Only qd_kernel_minimum() and its like take it.
pub const QD_ARG_SHAPE: u32 = 5;

/// An argument of a launch. Zeros are a missing one; the functions at the end of this header make the others.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct qd_arg {
    /// Which of the kinds.
    pub kind: u32,
    /// The type of a value.
    pub dtype: qd_dtype,
    /// See the kinds.
    pub pointer: *const c_void,
    /// See the kinds.
    pub word: u64,
}

/// An argument that is held during a call.
pub(crate) enum Held<'a> {
    Buffer(&'a Buffer),
    Imported(Buffer),
    Scalar(Scalar),
    Slot(Slot),
    Shape(Cow<'a, [u64]>),
    Missing,
}

impl Held<'_> {
    pub fn given(&self) -> Arg<'_> {
        match self {
            Held::Buffer(buffer) => Arg::Buffer(buffer),
            Held::Imported(buffer) => Arg::Buffer(buffer),
            Held::Scalar(scalar) => Arg::Scalar(*scalar),
            Held::Slot(slot) => Arg::Slot(*slot),
            Held::Shape(shape) => Arg::Shape(shape),
            Held::Missing => Arg::Missing,
        }
    }
}

pub(crate) fn given<'a>(held: &'a [Held<'_>]) -> Vec<Arg<'a>> {
    held.iter().map(Held::given).collect()
}

/// Arguments as a callback gets them, with the handles that they point to.
pub(crate) fn lent(arguments: &[Arg<'_>]) -> (Vec<qd_arg>, Vec<Lent<qd_buffer>>) {
    let mut handles = Vec::new();
    let arguments = arguments.iter().map(|one| {
        let (kind, dtype, pointer, word) = match one {
            Arg::Buffer(buffer) => {
                let handle = Lent::new(qd_buffer((*buffer).clone()));
                let pointer = handle.handle().cast_const().cast();
                handles.push(handle);
                (QD_ARG_BUFFER, 0, pointer, 0)
            }
            Arg::Scalar(scalar) => {
                let dtype = dtype_number(scalar.dtype);
                (QD_ARG_SCALAR, dtype, ptr::null(), scalar.bits)
            }
            // Those of a launch are neither slots nor shapes.
            Arg::Slot(_) | Arg::Shape(_) | Arg::Missing => (QD_ARG_MISSING, 0, ptr::null(), 0),
        };
        qd_arg {
            kind,
            dtype,
            pointer,
            word,
        }
    });
    (arguments.collect(), handles)
}

/// What tensors are.
#[derive(Clone, Copy)]
pub(crate) enum Tensors<'a> {
    /// Memory to be used on a stream.
    On(&'a Stream),
    /// Their shapes alone.
    Shapes,
    /// Nothing that can be used here: what for.
    Refused(&'a str),
}

/// Arguments as they are used during a call.
///
/// # Safety
///
/// There are as many, and each is as it says.
pub(crate) unsafe fn hold<'a>(
    arguments: *const qd_arg,
    count: usize,
    tensors: Tensors<'_>,
) -> Outcome<Vec<Held<'a>>> {
    // Safety: by contract.
    let arguments: &[qd_arg] = unsafe { array(arguments, count, "the arguments") }?;
    let held = arguments.iter().enumerate().map(|(place, one)| {
        // Safety: by contract.
        let held = unsafe { hold_one(one, tensors) };
        held.map_err(|failure| {
            Failure::new(
                failure.status,
                format!("argument {place}: {}", failure.message),
            )
        })
    });
    held.collect()
}

/// # Safety
///
/// It is as it says.
pub(crate) unsafe fn hold_one<'a>(one: &qd_arg, tensors: Tensors<'_>) -> Outcome<Held<'a>> {
    // Safety: by contract, for all of it.
    unsafe {
        Ok(match one.kind {
            QD_ARG_MISSING => Held::Missing,
            QD_ARG_BUFFER => Held::Buffer(&get(one.pointer.cast::<qd_buffer>())?.0),
            QD_ARG_SCALAR => Held::Scalar(scalar(one)?),
            QD_ARG_TENSOR => tensor(one.pointer.cast(), tensors)?,
            QD_ARG_SLOT => Held::Slot(Slot::from_bits(one.word)),
            QD_ARG_SHAPE => {
                let rank = usize::try_from(one.word).unwrap_or(usize::MAX);
                let shape = array(one.pointer.cast(), rank, "the extents")?;
                Held::Shape(Cow::Borrowed(shape))
            }
            other => {
                return Err(Failure::value(format!("{other} is no kind of argument")));
            }
        })
    }
}

fn scalar(one: &qd_arg) -> Outcome<Scalar> {
    let dtype = dtype(one.dtype)?;
    let bits = one.word;
    let width = 8 * dtype.size() as u32;
    match bits.checked_shr(width) {
        None | Some(0) => Ok(Scalar { dtype, bits }),
        Some(_) => Err(Failure::value(format!(
            "{bits:#x} has more bits than a {dtype}: they are zero-extended"
        ))),
    }
}

/// # Safety
///
/// It is null, or a tensor as it says.
unsafe fn tensor<'a>(tensor: *const ffi::DLTensor, tensors: Tensors<'_>) -> Outcome<Held<'a>> {
    // Safety: by contract.
    let tensor = unsafe { tensor.as_ref() };
    let tensor = tensor.ok_or_else(|| Failure::handle("the tensor is null"))?;
    match tensors {
        Tensors::On(on) => {
            // Safety: by contract.
            let foreign =
                unsafe { Foreign::of_tensor(tensor, on.device(), false, Ready::InOrder) }?;
            // Safety: by contract.
            Ok(Held::Imported(unsafe {
                Buffer::import(on, foreign, None)
            }?))
        }
        Tensors::Shapes => {
            let rank = usize::try_from(tensor.ndim).unwrap_or(0);
            // Safety: by contract.
            let extents: &[i64] = unsafe { array(tensor.shape, rank, "the extents") }?;
            let shape = extents.iter().map(|n| u64::try_from(*n).unwrap_or(0));
            Ok(Held::Shape(shape.collect()))
        }
        Tensors::Refused(what) => Err(Failure::new(
            crate::qd_status::QD_ERROR_FOREIGN,
            format!(
                "{what} takes no tensor, which may be gone when it is used: import it as a buffer"
            ),
        )),
    }
}
