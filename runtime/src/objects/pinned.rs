//! Asynchronous copies, from and to page-locked host memory.

use super::{
    buffer::Buffer,
    device::Device,
    driver::RawMemory,
    fork,
    profiler::CopyKind,
    reclaim,
    stream::{Event, Stream},
};
use crate::{Element, Error};
use std::{
    fmt,
    ops::{Deref, DerefMut},
    slice,
    sync::atomic::Ordering,
};

/// Page-locked host memory for asynchronous copies, aligned for any element. Reuse it: allocating
/// it takes longer than a copy.
pub struct Pinned {
    device: Device,
    /// As the device sees it; its handle is where the host does.
    raw: RawMemory,
    /// After its last use by the device.
    last: Option<Event>,
    /// Whether it cannot be known when its last use ends: then it is never freed.
    is_lost: bool,
}

impl Pinned {
    /// So many zeros.
    ///
    /// # Errors
    ///
    /// There is no such memory, or the device is lost.
    pub fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let shared = &device.0;
        shared.check()?;
        reclaim::now();
        let raw = shared.driver.pin(bytes as u64);
        let what = || format!("{bytes} bytes of the host for {device:?}");
        let raw = raw.map_err(|fault| shared.failed(&what(), fault))?;
        // Safety: as many are there, and nothing else has them.
        unsafe { (raw.handle as *mut u8).write_bytes(0, bytes) };
        Ok(Self {
            device: device.clone(),
            raw,
            last: None,
            is_lost: false,
        })
    }

    /// What copies from and to it.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its bytes as elements, as many as are whole.
    pub fn elements<T: Element>(&self) -> &[T] {
        // Safety: elements are plain data of which any bits are a value, and begin where they may.
        unsafe { slice::from_raw_parts(self.raw.handle as *const T, self.len() / size_of::<T>()) }
    }

    /// As [`elements`](Self::elements).
    pub fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        let length = self.len() / size_of::<T>();
        // Safety: as above.
        unsafe { slice::from_raw_parts_mut(self.raw.handle as *mut T, length) }
    }

    /// Whether a buffer can be copied from and to its first bytes.
    fn check(&self, on: &Device, buffer: &Buffer) -> Result<(), Error> {
        if self.device != *on {
            return Err(Error::WrongDevice {
                what: format!("{self:?}"),
                is: format!("{:?}", self.device),
                wanted: format!("{on:?}"),
            });
        }
        match self.raw.bytes >= buffer.bytes() {
            true => Ok(()),
            false => Err(Error::View(format!(
                "{buffer:?} has {} bytes, which do not fit into {self:?}",
                buffer.bytes()
            ))),
        }
    }
}

impl Deref for Pinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // Safety: as many are there and have been written; the device uses none of them while
        // anybody has this.
        unsafe { slice::from_raw_parts(self.raw.handle as *const u8, self.raw.bytes as usize) }
    }
}

impl DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // Safety: as above.
        unsafe { slice::from_raw_parts_mut(self.raw.handle as *mut u8, self.raw.bytes as usize) }
    }
}

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of the host", self.len())
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if fork::check().is_err() || self.is_lost {
            return;
        }
        let (device, raw, last) = (self.device.clone(), self.raw, self.last.take());
        let let_go = move || {
            // An event of a lost device never happens.
            let is_done =
                |last: &Event| matches!(last.is_done(), Ok(true) | Err(Error::Lost { .. }));
            let is_over = last.as_ref().is_none_or(is_done);
            if is_over {
                device.0.driver.unpin(raw);
            }
            is_over
        };
        if !let_go() {
            reclaim::later(Box::new(let_go));
        }
    }
}

/// Memory that the device is using. If it is dropped before that ends, a later call frees it.
#[derive(Debug)]
pub struct Pending<T> {
    of: T,
    event: Event,
}

impl<T> Pending<T> {
    /// Whether the device has done with it.
    ///
    /// # Errors
    ///
    /// The device is lost.
    pub fn is_done(&self) -> Result<bool, Error> {
        self.event.is_done()
    }

    /// Waits until the device has done with it.
    ///
    /// # Errors
    ///
    /// As of [`Event::wait`].
    pub fn wait(self) -> Result<T, Error> {
        self.event.wait()?;
        Ok(self.of)
    }
}

impl Buffer {
    /// As [`read_bytes`](Self::read_bytes), but asynchronous: the host memory begins with these
    /// bytes when the copy is done.
    ///
    /// # Errors
    ///
    /// They do not fit, the memory is for another device, or the device failed.
    pub fn read_async(&self, on: &Stream, mut to: Pinned) -> Result<Pending<Pinned>, Error> {
        let event = self.copy_async(on, &mut to, CopyKind::Download)?;
        Ok(Pending { of: to, event })
    }

    /// As [`write_bytes`](Self::write_bytes), but asynchronous: the first bytes of the host memory,
    /// as many as are needed, have been read when the copy is done.
    ///
    /// # Errors
    ///
    /// They are too few, the memory is for another device, the buffer is read-only, or the device
    /// failed.
    pub fn write_async(&self, on: &Stream, mut from: Pinned) -> Result<Pending<Pinned>, Error> {
        let event = self.copy_async(on, &mut from, CopyKind::Upload)?;
        Ok(Pending { of: from, event })
    }

    /// As [`read_async`](Self::read_async), for languages that cannot be kept from the memory
    /// meanwhile: it stays where it is, also where this fails.
    ///
    /// # Errors
    ///
    /// As of [`read_async`](Self::read_async).
    ///
    /// # Safety
    ///
    /// Nothing reads or writes the memory until the event.
    pub unsafe fn read_beside(&self, on: &Stream, to: &mut Pinned) -> Result<Event, Error> {
        self.copy_async(on, to, CopyKind::Download)
    }

    /// As [`read_beside`](Self::read_beside), to the buffer.
    ///
    /// # Errors
    ///
    /// As of [`write_async`](Self::write_async).
    ///
    /// # Safety
    ///
    /// Nothing writes the memory until the event.
    pub unsafe fn write_beside(&self, on: &Stream, from: &mut Pinned) -> Result<Event, Error> {
        self.copy_async(on, from, CopyKind::Upload)
    }

    fn copy_async(&self, on: &Stream, host: &mut Pinned, kind: CopyKind) -> Result<Event, Error> {
        host.check(on.device(), self)?;
        let shared = on.0.shared();
        let is_write = kind == CopyKind::Upload;
        let (from, to, counter) = match is_write {
            true => (host.raw.address, self.address(), &shared.counters.uploaded),
            false => (
                self.address(),
                host.raw.address,
                &shared.counters.downloaded,
            ),
        };
        self.used(on, is_write, shared.driver.is_host(), || {
            let copied = self.moved(on, kind, |driver| {
                driver.copy(on.0.raw, from, to, self.bytes())
            });
            copied.map_err(|fault| shared.failed(&format!("copying {self:?}"), fault))
        })?;
        counter.fetch_add(self.bytes(), Ordering::Relaxed);
        let event = on.record();
        match &event {
            Ok(event) => host.last = Some(event.clone()),
            Err(_) => host.is_lost |= on.synchronize().is_err(),
        }
        event
    }
}

#[cfg(test)]
mod tests;
