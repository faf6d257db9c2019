//! A shape as a list of submissions, which every call makes anew: launches, fills and copies on
//! one stream, in the plan's order, which satisfies their dependencies.

use super::{
    api::{self, Code, Handle},
    device::{Device, Entered},
};
use crate::objects::{
    driver::{Fault, Label, Op, OpKind, RawBody, RawStream, Replay, Shape},
    parts::{self, Host, Look, Parts},
};
use std::{ffi::c_void, ops::Range, ptr, sync::Arc};

pub(super) struct InOrder {
    device: Arc<Device>,
    parts: Parts,
    labels: Vec<Label>,
    words: Vec<u64>,
}

impl InOrder {
    pub fn new(device: &Arc<Device>, shape: &Shape, words: &[u64]) -> Self {
        Self {
            device: device.clone(),
            parts: Parts::of(&shape.ops),
            labels: shape.labels.clone(),
            words: words.to_vec(),
        }
    }
}

impl Replay for InOrder {
    fn waits(&self) -> bool {
        self.parts.looks > 0
    }

    fn patch(&mut self, words: &[u64], _: &[usize]) -> Result<(), Fault> {
        self.words.copy_from_slice(words);
        Ok(())
    }

    fn replay(&mut self, on: RawStream, max_iterations: Option<u64>) -> Result<(), Fault> {
        let device = &*self.device;
        let _entered = Entered::new(device).map_err(|code| device.fault(code))?;
        let mut run = Run {
            device,
            labels: &self.labels,
            words: &self.words,
            on: on.0 as Handle,
        };
        parts::run(&mut run, &self.parts.parts, max_iterations)
    }
}

/// One replay. The device has been entered.
struct Run<'a> {
    device: &'a Device,
    labels: &'a [Label],
    words: &'a [u64],
    on: Handle,
}

impl Host for Run<'_> {
    fn ops(&mut self, _: usize, ops: &[Op]) -> Result<(), Fault> {
        for op in ops {
            self.op(&op.kind).map_err(|fault| match fault {
                Fault::Failed(reason) => {
                    Fault::Failed(format!("phase '{}': {reason}", self.labels[op.label].step))
                }
                fault => fault,
            })?;
        }
        Ok(())
    }

    fn is_set(&mut self, look: Look) -> Result<bool, Fault> {
        let (mut value, from) = (0_i32, self.words[look.word] as *const c_void);
        let (to, api) = ((&raw mut value).cast(), self.device.api);
        // Safety: within a buffer or a kernel's control; the copy is waited for.
        unsafe {
            let bytes = size_of::<i32>();
            let copied = api.copy(to, from, bytes, api::DEVICE_TO_HOST, self.on);
            copied.and_then(|()| api.synchronize_stream(self.on))
        }
        .map_err(|code| self.device.fault(code))?;
        Ok(value != 0)
    }
}

impl Run<'_> {
    fn op(&self, kind: &OpKind) -> Result<(), Fault> {
        let three = |first: usize| [0, 1, 2].map(|i| self.words[first + i]);
        match kind {
            OpKind::Launch {
                body,
                threads,
                dynamic_shared_bytes,
                words,
            } => self.launch(*body, *threads, *dynamic_shared_bytes, words.clone()),
            OpKind::Fill { size, words } => {
                let [at, count, value] = three(*words);
                self.fill(at, count, value, *size)
            }
            OpKind::Copy { words } => {
                let [from, to, bytes] = three(*words);
                self.done(self.copy(from, to, bytes))
            }
            // A part holds no other ops.
            OpKind::Join | OpKind::While { .. } | OpKind::If { .. } => Ok(()),
        }
    }

    fn done(&self, outcome: Result<(), Code>) -> Result<(), Fault> {
        outcome.map_err(|code| self.device.fault(code))
    }

    fn launch(
        &self,
        body: RawBody,
        threads: u32,
        dynamic_shared_bytes: u32,
        words: Range<usize>,
    ) -> Result<(), Fault> {
        let words = &self.words[words];
        let (count, arguments) = (words[0], &words[1..]);
        if count == 0 {
            return Ok(());
        }
        // HIP counts the threads of a launch in 32 bits.
        let blocks = u32::try_from(count)
            .ok()
            .filter(|blocks| blocks.checked_mul(threads).is_some());
        let blocks = blocks.ok_or_else(|| {
            Fault::Failed(format!(
                "{count} blocks of {threads} threads are more than HIP launches: \
                 fewer than 2^32 threads"
            ))
        })?;
        let mut bytes = size_of_val(arguments);
        let mut extra = [
            api::BUFFER_POINTER,
            arguments.as_ptr().cast_mut().cast(),
            api::BUFFER_SIZE,
            (&raw mut bytes).cast(),
            api::END,
        ];
        // Safety: the kernel takes these arguments, which are copied; its module is loaded.
        let launched = unsafe {
            self.device.api.launch(
                body.0 as Handle,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                dynamic_shared_bytes,
                self.on,
                ptr::null_mut(),
                extra.as_mut_ptr(),
            )
        };
        self.done(launched)
    }

    /// Sets `count` elements of `size` bytes each to the low bytes of `value`.
    fn fill(&self, at: u64, count: u64, value: u64, size: usize) -> Result<(), Fault> {
        if count == 0 {
            return Ok(());
        }
        let (api, to, elements) = (self.device.api, at as *mut c_void, count as usize);
        // Safety: the range is within a buffer.
        let filled = unsafe {
            match size {
                1 => api.set_8(to, value as u8, elements, self.on),
                2 => api.set_16(to, value as u16, elements, self.on),
                4 => api.set_32(to, value as i32, elements, self.on),
                8 => self.fill_pairs(at, count, value),
                _ => return Err(Fault::Failed(format!("a fill of elements of {size} bytes"))),
            }
        };
        self.done(filled)
    }

    /// Sets elements of 8 bytes, which HIP has no function for: the first one by halves, and the
    /// others by copies of all before, each twice as long as the last.
    ///
    /// # Safety
    ///
    /// The range is within a buffer.
    unsafe fn fill_pairs(&self, at: u64, count: u64, value: u64) -> Result<(), Code> {
        let (low, high) = (value as i32, (value >> 32) as i32);
        let api = self.device.api;
        let mut done = 1;
        // Safety: by contract.
        unsafe {
            if low == high {
                return api.set_32(at as *mut c_void, low, count as usize * 2, self.on);
            }
            api.set_32(at as *mut c_void, low, 1, self.on)?;
            api.set_32((at + 4) as *mut c_void, high, 1, self.on)?;
        }
        while done < count {
            let next = done.min(count - done);
            self.copy(at, at + 8 * done, 8 * next)?;
            done += next;
        }
        Ok(())
    }

    fn copy(&self, from: u64, to: u64, bytes: u64) -> Result<(), Code> {
        if bytes == 0 {
            return Ok(());
        }
        let (from, to) = (from as *const c_void, to as *mut c_void);
        // Safety: within two buffers that do not overlap, or two parts of one.
        unsafe {
            let api = self.device.api;
            api.copy(to, from, bytes as usize, api::BY_ADDRESS, self.on)
        }
    }
}
