//! This machine as a device. The calling thread does all work before the call returns, so
//! that streams and events have nothing to order.

use super::{
    host,
    link::{Body, Linked, link},
    pool::{self, Pool},
};
use crate::{
    Error,
    objects::driver::{
        Code, Driver, Fault, Op, OpKind, RawBody, RawEvent, RawMemory, RawStream, Replay, Shape,
    },
    objects::parts::{self, Host, Look, Parts},
    objects::{DeviceId, DeviceInfo, DeviceLimits, DeviceOptions},
    program::Part,
};
use qd_artifact::{Format, Origins, Requirements, TargetSpec, machine};
use std::{
    alloc::{Layout, alloc, dealloc},
    collections::HashMap,
    ptr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Bytes of a cache line. Memory begins at one, so that vector loads are aligned.
const LINE: usize = 64;

/// Drives this machine.
pub(crate) struct Cpu {
    info: DeviceInfo,
    /// Launches run one at a time: each uses all threads.
    pool: Arc<Mutex<Pool>>,
}

/// This machine.
pub(crate) fn device(id: &DeviceId, options: &DeviceOptions) -> Result<Cpu, Error> {
    let threads = options.threads.unwrap_or_else(pool::default_threads).max(1);
    Ok(Cpu {
        info: DeviceInfo {
            id: id.clone(),
            name: machine::name(),
            driver: match threads {
                1 => "1 thread".into(),
                _ => format!("{threads} threads"),
            },
            target: TargetSpec::new("cpu"),
            decides: true,
            limits: DeviceLimits {
                // Threads are iterations of loops, and subgroups are vectors, of any width.
                subgroup_sizes: vec![4, 8, 16, 32, 64],
                threads: 1024,
                shared_bytes: None,
                memory_bytes: memory_bytes(),
                capabilities: Vec::new(),
            },
        },
        pool: Arc::new(Mutex::new(Pool::new(threads).map_err(Error::Thread)?)),
    })
}

/// Bytes of the machine's memory.
fn memory_bytes() -> Option<u64> {
    // Safety: these ask for numbers.
    let [pages, size] =
        [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|which| unsafe { libc::sysconf(which) });
    let (pages, size) = (u64::try_from(pages).ok()?, u64::try_from(size).ok()?);
    pages.checked_mul(size)
}

/// Of at least one byte: memory of none has an address, too.
fn layout(bytes: u64) -> Option<Layout> {
    Layout::from_size_align(usize::try_from(bytes.max(1)).ok()?, LINE).ok()
}

// Safety: all work is synchronous, on memory of this process.
unsafe impl Driver for Cpu {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn is_host(&self) -> bool {
        true
    }

    fn allocate(&self, bytes: u64, _: RawStream) -> Result<RawMemory, Fault> {
        let layout = layout(bytes).ok_or(Fault::OutOfMemory { free: None })?;
        // Safety: the layout has a size.
        let address = unsafe { alloc(layout) };
        match address.is_null() {
            true => Err(Fault::OutOfMemory { free: None }),
            false => Ok(RawMemory {
                address: address as u64,
                bytes,
                handle: 0,
            }),
        }
    }

    fn free(&self, memory: RawMemory, _: RawStream) {
        if let Some(layout) = layout(memory.bytes) {
            // Safety: allocated with this layout, and nothing is being done.
            unsafe { dealloc(memory.address as *mut u8, layout) };
        }
    }

    fn upload(&self, _: RawStream, to: u64, from: &[u8]) -> Result<(), Fault> {
        // Safety: the caller's promise of the address.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to as *mut u8, from.len()) };
        Ok(())
    }

    fn download(&self, _: RawStream, from: u64, to: &mut [u8]) -> Result<(), Fault> {
        // Safety: as above.
        unsafe { ptr::copy_nonoverlapping(from as *const u8, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn pin(&self, bytes: u64) -> Result<RawMemory, Fault> {
        let memory = self.allocate(bytes, RawStream(0))?;
        Ok(RawMemory {
            handle: memory.address,
            ..memory
        })
    }

    fn unpin(&self, memory: RawMemory) {
        self.free(memory, RawStream(0));
    }

    fn copy(&self, _: RawStream, from: u64, to: u64, bytes: u64) -> Result<(), Fault> {
        // Safety: as above; views of one buffer may overlap.
        unsafe { ptr::copy(from as *const u8, to as *mut u8, bytes as usize) };
        Ok(())
    }

    fn set(&self, _: RawStream, at: u64, bytes: u64, value: u8) -> Result<(), Fault> {
        // Safety: as above.
        unsafe { ptr::write_bytes(at as *mut u8, value, bytes as usize) };
        Ok(())
    }

    fn open_stream(&self, _: bool) -> Result<RawStream, Fault> {
        Ok(RawStream(0))
    }

    fn close_stream(&self, _: RawStream) {}

    fn synchronize(&self, _: RawStream) -> Result<(), Fault> {
        Ok(())
    }

    fn owns(&self, address: u64) -> Result<(), String> {
        match address {
            0 => Err("no device: it has no address".into()),
            _ => Ok(()),
        }
    }

    fn record(&self, _: RawStream) -> Result<RawEvent, Fault> {
        Ok(RawEvent(Box::into_raw(Box::new(Instant::now())) as u64))
    }

    fn wait(&self, _: RawStream, _: RawEvent) -> Result<(), Fault> {
        Ok(())
    }

    fn is_done(&self, _: RawEvent) -> Result<bool, Fault> {
        Ok(true)
    }

    fn block(&self, _: RawEvent) -> Result<(), Fault> {
        Ok(())
    }

    fn elapsed(&self, from: RawEvent, to: RawEvent) -> Result<Duration, Fault> {
        // Safety: made by `record`, and not dropped.
        let [from, to] = [from, to].map(|event| unsafe { *(event.0 as *const Instant) });
        Ok(to.saturating_duration_since(from))
    }

    fn drop_event(&self, event: RawEvent) {
        // Safety: as above, and not used any more.
        drop(unsafe { Box::from_raw(event.0 as *mut Instant) });
    }

    fn takes(&self, target: &str) -> bool {
        target.split(',').next() == Some("cpu")
    }

    fn check(&self, needs: &Requirements, _: Option<&Origins>) -> Result<(), Error> {
        host::check(needs)
    }

    fn load(&self, part: &Part<'_>) -> Result<Box<dyn Code>, Error> {
        let linked = link(part.code(Format::Object)?)?;
        let bodies = part.module.bodies.iter();
        let bodies = bodies.map(|body| Ok((body.name.clone(), linked.body(&body.name)?)));
        Ok(Box::new(Bodies {
            bodies: bodies.collect::<Result<_, Error>>()?,
            _linked: linked,
        }))
    }

    fn build(&self, shape: &Shape, words: &[u64]) -> Result<Box<dyn Replay>, Fault> {
        Ok(Box::new(InOrder {
            parts: Parts::of(&shape.ops),
            words: words.to_vec(),
            pool: self.pool.clone(),
        }))
    }
}

/// Code in this process.
struct Bodies {
    bodies: HashMap<String, Body>,
    /// Owns what `bodies` points to.
    _linked: Linked,
}

impl Code for Bodies {
    fn body(&self, name: &str, _: u32) -> Option<RawBody> {
        self.bodies
            .get(name)
            .map(|body| RawBody(*body as usize as u64))
    }
}

/// Ops one after the other, in the plan's order, which satisfies their dependencies.
struct InOrder {
    parts: Parts,
    words: Vec<u64>,
    pool: Arc<Mutex<Pool>>,
}

impl Replay for InOrder {
    fn patch(&mut self, words: &[u64], _: &[usize]) -> Result<(), Fault> {
        self.words.copy_from_slice(words);
        Ok(())
    }

    fn replay(&mut self, _: RawStream, max_iterations: Option<u64>) -> Result<(), Fault> {
        // A pool is only threads that wait: nothing in it breaks with a panic.
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        let mut run = Run {
            words: &self.words,
            pool: &mut pool,
        };
        parts::run(&mut run, &self.parts.parts, max_iterations)
    }
}

/// One replay.
struct Run<'a> {
    words: &'a [u64],
    pool: &'a mut Pool,
}

impl Host for Run<'_> {
    fn ops(&mut self, _: usize, ops: &[Op]) -> Result<(), Fault> {
        for op in ops {
            match &op.kind {
                OpKind::Launch { body, words, .. } => {
                    let words = &self.words[words.clone()];
                    // Safety: a body's address has the type of `Bodies::body`; the compiler
                    // generated it for these arguments, and blocks may run concurrently.
                    unsafe {
                        let body = std::mem::transmute::<usize, Body>(body.0 as usize);
                        self.pool.launch(body, words[0], &words[1..]);
                    }
                }
                OpKind::Fill { size, words } => {
                    let words = &self.words[*words..][..3];
                    // Safety: the range is within a buffer, and no launch is running.
                    unsafe { fill(words[0], words[1], words[2], *size) };
                }
                OpKind::Copy { words } => {
                    let words = &self.words[*words..][..3];
                    let (from, to) = (words[0] as *const u8, words[1] as *mut u8);
                    // Safety: as above, within two buffers that do not overlap.
                    unsafe { ptr::copy_nonoverlapping(from, to, words[2] as usize) };
                }
                // A part holds no other ops.
                OpKind::Join | OpKind::While { .. } | OpKind::If { .. } => {}
            }
        }
        Ok(())
    }

    fn is_set(&mut self, look: Look) -> Result<bool, Fault> {
        let address = self.words[look.word] as *const i32;
        // Safety: within a buffer or a kernel's control, and no launch is running.
        Ok(unsafe { address.read_unaligned() } != 0)
    }
}

/// Sets `count` elements of `size` bytes each to the low bytes of `value`.
///
/// # Safety
///
/// The range must be memory of this process that nothing else uses.
unsafe fn fill(address: u64, count: u64, value: u64, size: usize) {
    let element = &value.to_le_bytes()[..size];
    // Safety: by contract.
    let range =
        unsafe { std::slice::from_raw_parts_mut(address as *mut u8, count as usize * size) };
    // A part of the pattern that fits the cache, and copies of it.
    let length = range.len().min(4096);
    for chunk in range[..length].chunks_exact_mut(size) {
        chunk.copy_from_slice(element);
    }
    let (pattern, rest) = range.split_at_mut(length);
    for chunk in rest.chunks_mut(length.max(1)) {
        chunk.copy_from_slice(&pattern[..chunk.len()]);
    }
}
