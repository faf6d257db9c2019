//! Arrays on a device.

use super::{
    allocation::{Allocation, Touch, in_order, overlap},
    device::Device,
    driver::{Driver, Fault},
    profiler::{CopyKind, SpanKind},
    reclaim,
    stream::Stream,
};
use crate::{Element, Error, argument::describe_buffer};
use qd_artifact::Dtype;
use std::{
    fmt,
    ops::Range,
    sync::{Arc, atomic::Ordering},
};

/// A row-major array of elements on a device, or a view of part of one. Views and clones share its
/// memory, which is freed after the last use, when the last of them has been dropped.
#[derive(Clone)]
pub struct Buffer {
    pub(super) allocation: Arc<Allocation>,
    /// Bytes from the allocation's start.
    offset: u64,
    dtype: Dtype,
    shape: Arc<[u64]>,
}

impl Buffer {
    /// A buffer with undefined contents. An empty shape is one element.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn new(on: &Stream, dtype: Dtype, shape: &[u64]) -> Result<Self, Error> {
        let what = || describe_buffer(dtype, shape);
        let bytes = bytes_of(dtype, shape).ok_or_else(|| Error::no_memory(what()))?;
        on.0.shared().check()?;
        reclaim::now();
        let allocation = Allocation::new(on, bytes, what)?;
        Ok(Self::whole(allocation, dtype, shape))
    }

    /// All of an allocation.
    pub(super) fn whole(allocation: Arc<Allocation>, dtype: Dtype, shape: &[u64]) -> Self {
        Self {
            allocation,
            offset: 0,
            dtype,
            shape: shape.into(),
        }
    }

    /// A buffer of zeros.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn zeros(on: &Stream, dtype: Dtype, shape: &[u64]) -> Result<Self, Error> {
        Self::filled(on, dtype, shape, 0)
    }

    /// A buffer whose every byte is `byte`.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn filled(on: &Stream, dtype: Dtype, shape: &[u64], byte: u8) -> Result<Self, Error> {
        let buffer = Self::new(on, dtype, shape)?;
        let shared = on.0.shared();
        buffer.used(on, true, shared.driver.is_host(), || {
            let set =
                |driver: &dyn Driver| driver.set(on.0.raw, buffer.address(), buffer.bytes(), byte);
            let set = buffer.moved(on, CopyKind::Clear, set);
            set.map_err(|fault| shared.failed(&format!("filling {buffer:?}"), fault))
        })?;
        Ok(buffer)
    }

    /// A buffer of rank 1 that holds these elements.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn from_slice<T: Element>(on: &Stream, values: &[T]) -> Result<Self, Error> {
        let buffer = Self::new(on, T::DTYPE, &[values.len() as u64])?;
        buffer.write(on, values)?;
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

    /// Elements in all.
    pub fn len(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The extents, shared by all clones.
    pub(super) fn extents(&self) -> &Arc<[u64]> {
        &self.shape
    }

    /// Bytes of the elements.
    pub fn bytes(&self) -> u64 {
        self.len() * self.dtype.size() as u64
    }

    /// The device that it is on.
    pub fn device(&self) -> &Device {
        &self.allocation.device
    }

    /// Whether it is read-only.
    pub fn is_read_only(&self) -> bool {
        self.allocation.is_read_only
    }

    /// Where it begins, as the device's kernels see it.
    pub fn address(&self) -> u64 {
        self.allocation.raw.address + self.offset
    }

    /// Its bytes within its allocation.
    pub(super) fn range(&self) -> Range<u64> {
        self.offset..self.offset + self.bytes()
    }

    /// Its bytes, as the device's kernels see them.
    pub(super) fn addresses(&self) -> Range<u64> {
        self.address()..self.address() + self.bytes()
    }

    /// Some of its rows, as a view.
    ///
    /// # Errors
    ///
    /// It has fewer rows, or is of rank 0.
    pub fn rows(&self, rows: Range<u64>) -> Result<Self, Error> {
        let given = self.shape.first().copied();
        if given.is_none_or(|given| rows.start > rows.end || rows.end > given) {
            return Err(Error::View(format!(
                "{self:?} has no rows {} to {}",
                rows.start, rows.end
            )));
        }
        let row: u64 = self.shape[1..].iter().product();
        let mut shape = self.shape.to_vec();
        shape[0] = rows.end - rows.start;
        Ok(Self {
            offset: self.offset + rows.start * row * self.dtype.size() as u64,
            shape: shape.into(),
            ..self.clone()
        })
    }

    /// The same bytes as elements of another type and shape.
    ///
    /// # Errors
    ///
    /// They are not as many bytes, or do not begin where such an element may.
    pub fn cast(&self, dtype: Dtype, shape: &[u64]) -> Result<Self, Error> {
        let wanted = describe_buffer(dtype, shape);
        if bytes_of(dtype, shape) != Some(self.bytes()) {
            return Err(Error::View(format!(
                "{self:?} has {} bytes, which are no {wanted}",
                self.bytes()
            )));
        }
        if !self.address().is_multiple_of(dtype.size() as u64) {
            return Err(Error::View(format!(
                "{self:?} begins at an address that is not a multiple of {} bytes, as {wanted} requires",
                dtype.size()
            )));
        }
        Ok(Self {
            dtype,
            shape: shape.into(),
            ..self.clone()
        })
    }

    /// Copies the elements to the host, after all writes to them. Waits for the copy.
    ///
    /// # Errors
    ///
    /// The types or lengths differ, or the device failed.
    pub fn read<T: Element>(&self, on: &Stream, to: &mut [T]) -> Result<(), Error> {
        self.check_host::<T>(to.len())?;
        // Safety: elements are plain data of which any bits are a value.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<u8>(), size_of_val(to))
        };
        self.read_bytes(on, bytes)
    }

    /// The elements, copied as [`read`](Self::read) does.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn to_vec<T: Element + Default>(&self, on: &Stream) -> Result<Vec<T>, Error> {
        let mut values = vec![T::default(); self.len() as usize];
        self.read(on, &mut values)?;
        Ok(values)
    }

    /// As [`read`](Self::read), the elements' bytes in the machine's order.
    ///
    /// # Errors
    ///
    /// They are not as many, or the device failed.
    pub fn read_bytes(&self, on: &Stream, to: &mut [u8]) -> Result<(), Error> {
        self.check_bytes(to.len())?;
        let shared = on.0.shared();
        self.used(on, false, true, || {
            let read = |driver: &dyn Driver| driver.download(on.0.raw, self.address(), to);
            let read = self.moved(on, CopyKind::Download, read);
            read.map_err(|fault| shared.failed(&format!("reading {self:?}"), fault))
        })?;
        let downloaded = &shared.counters.downloaded;
        downloaded.fetch_add(self.bytes(), Ordering::Relaxed);
        shared.read_notes(on.0.raw)
    }

    /// Copies elements from the host, after all uses of the buffer. They have been read when it
    /// returns.
    ///
    /// # Errors
    ///
    /// The types or lengths differ, the buffer is read-only, or the device failed.
    pub fn write<T: Element>(&self, on: &Stream, from: &[T]) -> Result<(), Error> {
        self.check_host::<T>(from.len())?;
        // Safety: elements are plain data.
        let bytes =
            unsafe { std::slice::from_raw_parts(from.as_ptr().cast::<u8>(), size_of_val(from)) };
        self.write_bytes(on, bytes)
    }

    /// As [`write`](Self::write), the elements' bytes in the machine's order.
    ///
    /// # Errors
    ///
    /// They are not as many, the buffer is read-only, or the device failed.
    pub fn write_bytes(&self, on: &Stream, from: &[u8]) -> Result<(), Error> {
        self.check_bytes(from.len())?;
        let shared = on.0.shared();
        self.used(on, true, true, || {
            let write = |driver: &dyn Driver| driver.upload(on.0.raw, self.address(), from);
            let written = self.moved(on, CopyKind::Upload, write);
            written.map_err(|fault| shared.failed(&format!("writing {self:?}"), fault))
        })?;
        let uploaded = &shared.counters.uploaded;
        uploaded.fetch_add(self.bytes(), Ordering::Relaxed);
        Ok(())
    }

    /// Copies the elements to another buffer of the same type and size. The stream is of this
    /// one's device. If the other is on another device, the copy goes through the host and is
    /// complete when this returns; work of other threads on either may come between the pieces.
    ///
    /// # Errors
    ///
    /// The types or sizes differ, they share memory, or the device failed.
    pub fn copy_to(&self, on: &Stream, to: &Buffer) -> Result<(), Error> {
        if self.device() != to.device() {
            return self.copy_across(on, to);
        }
        self.check_copy(on.device(), to)?;
        on.0.check_not_captured("a copy")?;
        let shared = on.0.shared();
        let touches = [self.touch(false), to.touch(true)];
        in_order(&on.0, &touches, shared.driver.is_host(), |_| {
            let (from, to) = (self.address(), to.address());
            let copy = |driver: &dyn Driver| driver.copy(on.0.raw, from, to, self.bytes());
            let copied = self.moved(on, CopyKind::Within, copy);
            copied.map_err(|fault| shared.failed(&format!("copying {self:?}"), fault))
        })
    }

    /// Has the driver copy what is as long as this.
    pub(super) fn moved(
        &self,
        on: &Stream,
        kind: CopyKind,
        copy: impl FnOnce(&dyn Driver) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let bytes = self.bytes();
        let _span = tracing::debug_span!("copy", ?kind, bytes).entered();
        let driver = &*on.0.shared().driver;
        on.0.timed(|| SpanKind::Copy { kind, bytes }, || copy(driver))
    }

    pub(super) fn touch(&self, is_write: bool) -> Touch {
        Touch {
            allocation: self.allocation.clone(),
            bytes: self.range(),
            is_write,
        }
    }

    /// A copy from or to the host, in the order of its uses: see [`in_order`].
    pub(super) fn used(
        &self,
        on: &Stream,
        is_write: bool,
        waits: bool,
        what: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.check_device(on.device())?;
        on.0.check_not_captured("copying from or to the host")?;
        if is_write {
            self.check_writable()?;
        }
        in_order(&on.0, &[self.touch(is_write)], waits, |_| what())
    }

    /// Whether its elements can be copied to another.
    pub(super) fn check_copy(&self, on: &Device, to: &Buffer) -> Result<(), Error> {
        self.check_device(on)?;
        to.check_device(on)?;
        to.check_writable()?;
        self.check_alike(to)?;
        match overlap(&self.addresses(), &to.addresses()) {
            false => Ok(()),
            true => Err(Error::View(format!(
                "{self:?} cannot be copied to {to:?}: they share memory"
            ))),
        }
    }

    pub(super) fn check_alike(&self, to: &Buffer) -> Result<(), Error> {
        match (self.dtype, self.bytes()) == (to.dtype, to.bytes()) {
            true => Ok(()),
            false => Err(Error::View(format!("{self:?} cannot be copied to {to:?}"))),
        }
    }

    pub(super) fn check_device(&self, on: &Device) -> Result<(), Error> {
        on.0.check()?;
        match self.device() == on {
            true => Ok(()),
            false => Err(Error::WrongDevice {
                what: format!("{self:?}"),
                is: format!("{:?}", self.device()),
                wanted: format!("{on:?}"),
            }),
        }
    }

    pub(super) fn check_writable(&self) -> Result<(), Error> {
        match self.allocation.is_read_only {
            false => Ok(()),
            true => Err(Error::View(format!("{self:?} is read-only"))),
        }
    }

    fn check_host<T: Element>(&self, length: usize) -> Result<(), Error> {
        match (T::DTYPE, length as u64) == (self.dtype, self.len()) {
            true => Ok(()),
            false => Err(Error::View(format!(
                "{self:?} is not {length} elements of type {}",
                T::DTYPE
            ))),
        }
    }

    fn check_bytes(&self, bytes: usize) -> Result<(), Error> {
        match bytes as u64 == self.bytes() {
            true => Ok(()),
            false => Err(Error::View(format!(
                "{self:?} has {} bytes, not {bytes}",
                self.bytes()
            ))),
        }
    }
}

/// Bytes of so many elements, if a buffer may have as many.
pub(super) fn bytes_of(dtype: Dtype, shape: &[u64]) -> Option<u64> {
    // As if nothing were empty, so that rows and strides of what is have sizes too.
    let mut extents = shape.iter().map(|extent| (*extent).max(1));
    let bytes = extents.try_fold(dtype.size() as u64, u64::checked_mul)?;
    let bytes = (bytes <= isize::MAX as u64).then_some(bytes)?;
    Some(if shape.contains(&0) { 0 } else { bytes })
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe_buffer(self.dtype, &self.shape))
    }
}
