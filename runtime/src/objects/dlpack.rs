//! Import and export of arrays by [DLPack](https://dmlc.github.io/dlpack), without copies.
//!
//! Its structures are `dlpark`'s. This module accepts major version 1 and unversioned tensors,
//! elements of kernels' types, row-major.

use super::{
    allocation::in_order,
    buffer::Buffer,
    device::{Device, DeviceId},
    foreign::{Foreign, Ready},
    stream::Stream,
};
use crate::Error;
use dlpark::{DlpackFlags, ffi};
use qd_artifact::Dtype;
use std::{ffi::c_void, ptr::NonNull};

/// An array that one library passes to another. It is spent once it has been taken. A capsule that is
/// dropped before calls the tensor's deleter.
#[derive(Debug)]
pub struct Capsule(Option<Managed>);

/// Which of DLPack's structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `DLManagedTensorVersioned`.
    Versioned,
    /// `DLManagedTensor`, as it was before version 1. It cannot say that it is read-only.
    Legacy,
}

/// A tensor whose deleter is called when this is dropped.
#[derive(Debug)]
enum Managed {
    Versioned(NonNull<ffi::DLManagedTensorVersioned>),
    Legacy(NonNull<ffi::DLManagedTensor>),
}

// Safety: DLPack's consumers may call a deleter from any thread, and read from any.
unsafe impl Send for Managed {}
// Safety: as above.
unsafe impl Sync for Managed {}

impl Drop for Managed {
    fn drop(&mut self) {
        // Safety: the tensor's maker gave the deleter, which is called once: what takes the tensor
        // out forgets this.
        unsafe {
            match *self {
                Managed::Versioned(tensor) => {
                    if let Some(delete) = (*tensor.as_ptr()).deleter {
                        delete(tensor.as_ptr());
                    }
                }
                Managed::Legacy(tensor) => {
                    if let Some(delete) = (*tensor.as_ptr()).deleter {
                        delete(tensor.as_ptr());
                    }
                }
            }
        }
    }
}

impl Capsule {
    /// Takes another library's tensor.
    ///
    /// # Safety
    ///
    /// It is a tensor, and nothing else calls its deleter.
    ///
    /// # Errors
    ///
    /// There is none: it is spent.
    pub unsafe fn versioned(tensor: *mut ffi::DLManagedTensorVersioned) -> Result<Self, Error> {
        let tensor = NonNull::new(tensor).ok_or_else(spent)?;
        Ok(Self(Some(Managed::Versioned(tensor))))
    }

    /// As [`versioned`](Self::versioned), in the form from before versions.
    ///
    /// # Safety
    ///
    /// As for [`versioned`](Self::versioned).
    ///
    /// # Errors
    ///
    /// There is none: it is spent.
    pub unsafe fn legacy(tensor: *mut ffi::DLManagedTensor) -> Result<Self, Error> {
        let tensor = NonNull::new(tensor).ok_or_else(spent)?;
        Ok(Self(Some(Managed::Legacy(tensor))))
    }

    /// Whether it has been taken.
    pub fn is_spent(&self) -> bool {
        self.0.is_none()
    }

    /// Gives it to another library, which calls the deleter.
    ///
    /// # Errors
    ///
    /// It is spent, or of the other form.
    pub fn take_versioned(&mut self) -> Result<*mut ffi::DLManagedTensorVersioned, Error> {
        match self.0.as_ref().ok_or_else(spent)? {
            Managed::Versioned(tensor) => {
                let tensor = tensor.as_ptr();
                std::mem::forget(self.0.take());
                Ok(tensor)
            }
            Managed::Legacy(_) => Err(Error::Foreign("a DLPack tensor has no version".into())),
        }
    }

    /// As [`take_versioned`](Self::take_versioned), in the form from before versions.
    ///
    /// # Errors
    ///
    /// It is spent, or of the other form.
    pub fn take_legacy(&mut self) -> Result<*mut ffi::DLManagedTensor, Error> {
        match self.0.as_ref().ok_or_else(spent)? {
            Managed::Legacy(tensor) => {
                let tensor = tensor.as_ptr();
                std::mem::forget(self.0.take());
                Ok(tensor)
            }
            Managed::Versioned(_) => Err(Error::Foreign("a DLPack tensor has a version".into())),
        }
    }
}

fn spent() -> Error {
    Error::Foreign("a DLPack tensor was taken already".into())
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::Foreign(format!("a DLPack tensor {why}"))
}

impl Foreign {
    /// The memory of a tensor of a device, which its description is copied of: the tensor itself need not be
    /// kept.
    ///
    /// # Safety
    ///
    /// The tensor's description is true.
    ///
    /// # Errors
    ///
    /// It is of another device, or of elements that no kernel takes.
    pub unsafe fn of_tensor(
        tensor: &ffi::DLTensor,
        here: &Device,
        read_only: bool,
        ready: Ready,
    ) -> Result<Self, Error> {
        check_device(tensor.device, here)?;
        let dtype = dtype(tensor.dtype)?;
        let rank = usize::try_from(tensor.ndim);
        let rank = rank.map_err(|_| refused(format!("of {} dimensions", tensor.ndim)))?;
        // Safety: the caller's promise.
        let extents = unsafe { numbers(tensor.shape, rank) };
        let extents = match (rank, extents) {
            (0, _) => &[][..],
            (_, Some(extents)) => extents,
            (_, None) => return Err(refused("without a shape")),
        };
        let extent =
            |n: &i64| u64::try_from(*n).map_err(|_| refused(format!("with an extent of {n}")));
        let shape = extents.iter().map(extent).collect::<Result<Vec<_>, _>>()?;
        // Safety: as above. Without strides it is row-major.
        let strides = unsafe { numbers(tensor.strides, rank) };
        let address = (tensor.data as u64).checked_add(tensor.byte_offset);
        Ok(Self {
            address: match tensor.data.is_null() {
                true => 0,
                false => address.ok_or_else(|| refused("that ends beyond the address space"))?,
            },
            dtype,
            shape,
            strides: strides.map(<[i64]>::to_vec),
            read_only,
            ready,
        })
    }
}

impl Buffer {
    /// Imports another library's array as a buffer. The capsule is spent, also if the array is
    /// refused: its deleter is called then, and otherwise when the last use of the buffer has
    /// ended.
    ///
    /// # Safety
    ///
    /// The tensor's description is true, and so is `ready`. No one else writes it while it is used,
    /// nor reads it while it is written.
    ///
    /// # Errors
    ///
    /// The capsule is spent; the tensor is of another version or device, of elements that no kernel
    /// takes, or not row-major.
    pub unsafe fn from_dlpack(
        on: &Stream,
        capsule: &mut Capsule,
        ready: Ready,
    ) -> Result<Self, Error> {
        let managed = capsule.0.take().ok_or_else(spent)?;
        // Safety: the caller's promise. Of another major version nothing but the version and the
        // deleter is looked at, which is what all of them begin with.
        let (tensor, read_only) = unsafe {
            match &managed {
                Managed::Versioned(tensor) => {
                    let version = (*tensor.as_ptr()).version;
                    if version.major != ffi::DLPACK_MAJOR_VERSION {
                        return Err(refused(format!(
                            "of version {}.{}: only those of version {} are known",
                            version.major,
                            version.minor,
                            ffi::DLPACK_MAJOR_VERSION
                        )));
                    }
                    let tensor = tensor.as_ref();
                    let flags = tensor.flags;
                    (&tensor.dl_tensor, flags.contains(DlpackFlags::READ_ONLY))
                }
                Managed::Legacy(tensor) => (&tensor.as_ref().dl_tensor, false),
            }
        };
        // Safety: the caller's promise.
        let memory = unsafe { Foreign::of_tensor(tensor, on.device(), read_only, ready) }?;
        // Safety: the caller's promise; the tensor is there until its deleter is called.
        unsafe { Self::import(on, memory, Some(Box::new(managed))) }
    }

    /// Exports the buffer to another library, which uses it on that stream: after its current uses.
    /// Later uses here come after the stream's work up to the call of the deleter. Until then its
    /// memory stays.
    ///
    /// # Errors
    ///
    /// DLPack cannot describe the device, or that the buffer is read-only.
    pub fn to_dlpack(&self, on: &Stream, form: Form) -> Result<Capsule, Error> {
        if form == Form::Legacy && self.is_read_only() {
            return Err(Error::Foreign(format!(
                "{self:?} is read-only, which a DLPack tensor without version cannot say"
            )));
        }
        let tensor = self.tensor()?;
        self.check_device(on.device())?;
        on.0.check_not_captured("giving an array away")?;
        let touches = [self.touch(!self.is_read_only())];
        in_order(&on.0, &touches, false, |_| Ok(()))?;
        Ok(Capsule(Some(match form {
            Form::Versioned => {
                Managed::Versioned(
                    self.give(on, tensor, |tensor| ffi::DLManagedTensorVersioned {
                        version: ffi::DLPackVersion {
                            major: ffi::DLPACK_MAJOR_VERSION,
                            minor: ffi::DLPACK_MINOR_VERSION,
                        },
                        manager_ctx: std::ptr::null_mut(),
                        deleter: Some(delete::<ffi::DLManagedTensorVersioned>),
                        flags: match self.is_read_only() {
                            true => DlpackFlags::READ_ONLY,
                            false => DlpackFlags::empty(),
                        },
                        dl_tensor: tensor,
                    }),
                )
            }
            Form::Legacy => Managed::Legacy(self.give(on, tensor, |tensor| ffi::DLManagedTensor {
                dl_tensor: tensor,
                manager_ctx: std::ptr::null_mut(),
                deleter: Some(delete::<ffi::DLManagedTensor>),
            })),
        })))
    }

    /// What is said of it, but for its extents.
    fn tensor(&self) -> Result<ffi::DLTensor, Error> {
        let (code, bits) = code(self.dtype());
        Ok(ffi::DLTensor {
            data: match self.is_empty() {
                true => std::ptr::null_mut(),
                false => self.address() as *mut c_void,
            },
            device: device(&self.device().info().id).ok_or_else(|| {
                Error::Foreign(format!("DLPack knows no memory of {:?}", self.device()))
            })?,
            ndim: self.shape().len() as i32,
            dtype: ffi::DLDataType {
                code,
                bits,
                lanes: 1,
            },
            shape: std::ptr::null_mut(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        })
    }

    /// Puts it where a deleter finds what is held.
    fn give<M>(
        &self,
        on: &Stream,
        mut tensor: ffi::DLTensor,
        managed: impl FnOnce(ffi::DLTensor) -> M,
    ) -> NonNull<M> {
        let mut shape: Vec<i64> = self.shape().iter().map(|n| *n as i64).collect();
        let mut strides = vec![1; shape.len()];
        for i in (1..shape.len()).rev() {
            strides[i - 1] = strides[i] * shape[i].max(1);
        }
        // They stay where they are when their owners are moved.
        tensor.shape = shape.as_mut_ptr();
        tensor.strides = strides.as_mut_ptr();
        let given = Box::new(Given {
            managed: managed(tensor),
            _extents: [shape, strides],
            buffer: self.clone(),
            stream: on.clone(),
        });
        NonNull::from(Box::leak(given)).cast()
    }
}

/// What a tensor of ours is part of.
#[repr(C)]
struct Given<M> {
    /// At the beginning, so that its address is that of all of it.
    managed: M,
    _extents: [Vec<i64>; 2],
    buffer: Buffer,
    stream: Stream,
}

/// The deleter of our tensors.
unsafe extern "C" fn delete<M>(managed: *mut M) {
    if managed.is_null() {
        return;
    }
    // Safety: made by `give`, and a deleter is called once.
    let given = unsafe { Box::from_raw(managed.cast::<Given<M>>()) };
    let Given { buffer, stream, .. } = &*given;
    // Nothing of a device that is lost, or another process's, is kept in order.
    if stream.0.shared().check().is_err() {
        return;
    }
    // What the other library has put onto the stream uses it. What it has captured does not count:
    // the other library's graph holds what it uses itself.
    buffer.touch(!buffer.is_read_only()).note(&stream.0);
}

/// # Safety
///
/// There are as many, unless it is null.
unsafe fn numbers<'a>(first: *const i64, count: usize) -> Option<&'a [i64]> {
    match first.is_null() {
        true => None,
        // Safety: the caller's promise.
        false => Some(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// DLPack's name for a device of ours.
fn device(id: &DeviceId) -> Option<ffi::DLDevice> {
    let device_type = match id.driver.as_str() {
        "cpu" => ffi::DLDeviceType::CPU,
        "cuda" => ffi::DLDeviceType::CUDA,
        _ => return None,
    };
    Some(ffi::DLDevice {
        device_type,
        device_id: id.ordinal as i32,
    })
}

/// Memory of the host that NVIDIA's devices see is there on both sides.
fn check_device(given: ffi::DLDevice, here: &Device) -> Result<(), Error> {
    let id = &here.info().id;
    let is_shared = matches!(
        given.device_type,
        ffi::DLDeviceType::CUDAHOST | ffi::DLDeviceType::CUDAMANAGED
    );
    // The host is one device, whatever its number.
    let is_host = given.device_type == ffi::DLDeviceType::CPU && id.driver == "cpu";
    if is_host || device(id).is_some_and(|device| is_shared || device == given) {
        return Ok(());
    }
    let name = match given.device_type {
        ffi::DLDeviceType::CPU => "the host".into(),
        ffi::DLDeviceType::CUDA => format!("cuda:{}", given.device_id),
        ffi::DLDeviceType(other) => format!("DLPack's kind {other}, number {}", given.device_id),
    };
    Err(Error::WrongDevice {
        what: "a DLPack tensor".into(),
        is: name,
        wanted: format!("{here:?}"),
    })
}

/// Elements that buffers have.
const TYPES: [Dtype; 13] = [
    Dtype::Bool,
    Dtype::I8,
    Dtype::U8,
    Dtype::I16,
    Dtype::U16,
    Dtype::I32,
    Dtype::U32,
    Dtype::I64,
    Dtype::U64,
    Dtype::F16,
    Dtype::BF16,
    Dtype::F32,
    Dtype::F64,
];

/// Its name for elements, in so many bits.
fn code(dtype: Dtype) -> (ffi::DLDataTypeCode, u8) {
    let code = match dtype {
        Dtype::Bool => ffi::DLDataTypeCode::BOOL,
        Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => ffi::DLDataTypeCode::INT,
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => ffi::DLDataTypeCode::UINT,
        Dtype::F16 | Dtype::F32 | Dtype::F64 => ffi::DLDataTypeCode::FLOAT,
        Dtype::BF16 => ffi::DLDataTypeCode::BFLOAT,
    };
    (code, 8 * dtype.size() as u8)
}

fn dtype(given: ffi::DLDataType) -> Result<Dtype, Error> {
    let ffi::DLDataType { code, bits, lanes } = given;
    let is = |dtype: &&Dtype| lanes == 1 && self::code(**dtype) == (code, bits);
    let found = TYPES.iter().find(is).copied();
    found.ok_or_else(|| {
        let kind = match code {
            ffi::DLDataTypeCode::BOOL => "bool".into(),
            ffi::DLDataTypeCode::INT => "i".into(),
            ffi::DLDataTypeCode::UINT => "u".into(),
            ffi::DLDataTypeCode::FLOAT => "f".into(),
            ffi::DLDataTypeCode::BFLOAT => "bf".into(),
            ffi::DLDataTypeCode::COMPLEX => "complex ".into(),
            ffi::DLDataTypeCode(other) => format!("kind {other} of "),
        };
        let vector = match lanes {
            1 => String::new(),
            lanes => format!(" in vectors of {lanes}"),
        };
        refused(format!(
            "of elements that no kernel takes: {kind}{bits}{vector}"
        ))
    })
}

#[cfg(test)]
mod tests;
