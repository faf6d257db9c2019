//! The interface of a driver: primitives for the executor. A driver checks nothing; all checks are
//! above it.

use super::device::DeviceInfo;
use crate::{Error, program::Part};
use qd_artifact::{Origins, Requirements};
use std::{fmt, ops::Range, time::Duration};

/// A driver's own name for a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawStream(pub u64);

/// A driver's own name for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawEvent(pub u64);

/// Memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawMemory {
    /// Its address, as kernels see it.
    pub address: u64,
    /// The requested size.
    pub bytes: u64,
    /// The driver's own name for it.
    pub handle: u64,
}

/// A body as a driver launches it; valid as long as its [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawBody(pub u64);

/// A failure, without the object that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no room; so many bytes are free, where that is known.
    OutOfMemory { free: Option<u64> },
    /// The device is lost.
    Lost(String),
    /// A call failed, as the driver says it.
    Failed(String),
    /// A loop was still running after as many iterations as it may have.
    TooManyIterations { label: usize, limit: u64 },
    /// The same in an earlier call, as the device has reported since.
    WentOn { kernel: String, limit: u64 },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::OutOfMemory { free: None } => f.write_str("out of memory"),
            Fault::OutOfMemory { free: Some(free) } => {
                write!(f, "out of memory: {free} bytes are free")
            }
            Fault::Lost(reason) | Fault::Failed(reason) => f.write_str(reason),
            Fault::TooManyIterations { limit, .. } | Fault::WentOn { limit, .. } => {
                write!(f, "a loop was still running after {limit} iterations")
            }
        }
    }
}

/// One operation of a shape. Addresses and sizes are words outside of it, so that two calls that
/// differ only in these have equal ops.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Op {
    /// The ops of the same list, all before this one, that must have finished.
    pub after: Vec<u32>,
    /// What it is called: its place among the shape's labels.
    pub label: usize,
    pub kind: OpKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OpKind {
    Launch {
        body: RawBody,
        threads: u32,
        /// Shared memory of a block besides what its body declares.
        dynamic_shared_bytes: u32,
        /// The number of blocks, and after it the kernel arguments.
        words: Range<usize>,
    },
    /// Sets elements of `size` bytes each. Three words: the address, the number, and the bits.
    Fill { size: usize, words: usize },
    /// Copies bytes that do not overlap. Three words: source, destination, and the number.
    Copy { words: usize },
    /// Runs the ops, and repeats them while the `i32` at the word's address is not 0.
    While { flag: usize, ops: Vec<Op> },
    /// Runs the ops if the `i32` at the word's address is not 0 before them.
    If { condition: usize, ops: Vec<Op> },
    /// Joins dependencies, and does nothing.
    Join,
}

/// The ops of one call, without their words (addresses, sizes and kernel arguments).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    pub ops: Vec<Op>,
    pub labels: Vec<Label>,
}

impl Shape {
    /// Launches of bodies in it.
    pub fn launches(&self) -> u64 {
        fn of(ops: &[Op]) -> u64 {
            let each = ops.iter().map(|op| match &op.kind {
                OpKind::Launch { .. } => 1,
                OpKind::While { ops, .. } | OpKind::If { ops, .. } => of(ops),
                OpKind::Fill { .. } | OpKind::Copy { .. } | OpKind::Join => 0,
            });
            each.sum()
        }
        of(&self.ops)
    }
}

/// What an op is called, in messages and traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub kernel: std::sync::Arc<str>,
    /// The phase's name, or what the step is.
    pub step: std::sync::Arc<str>,
    /// The step's number in the plan.
    pub id: u64,
}

/// Drives one device.
///
/// # Safety
///
/// Addresses that are passed in are the device's, and their memory stays valid until the requested
/// work has completed; the driver may access nothing else.
pub(crate) unsafe trait Driver: Send + Sync {
    fn info(&self) -> &DeviceInfo;
    /// Whether all work is done on return, by the calling thread.
    fn is_host(&self) -> bool {
        false
    }

    /// Allocates memory with undefined contents, of at least one byte, for later work on the
    /// stream.
    fn allocate(&self, bytes: u64, on: RawStream) -> Result<RawMemory, Fault>;
    /// Frees memory after all work on the stream.
    fn free(&self, memory: RawMemory, on: RawStream);
    /// Bytes in its pool; none if it has no pool.
    fn reserved(&self) -> Option<u64> {
        None
    }
    /// Releases unused memory until the pool holds about `keep` bytes.
    fn trim(&self, _keep: u64) -> Result<(), Fault> {
        Ok(())
    }
    /// Runs a function that may call the device's own library, outside of captures.
    fn within(&self, what: &mut dyn FnMut()) -> Result<(), Fault> {
        what();
        Ok(())
    }
    /// Copies bytes to the device; they have been read on return.
    fn upload(&self, on: RawStream, to: u64, from: &[u8]) -> Result<(), Fault>;
    /// Copies bytes to the host, after all work on the stream; the copy is complete on return.
    fn download(&self, on: RawStream, from: u64, to: &mut [u8]) -> Result<(), Fault>;
    /// Allocates page-locked host memory of at least one byte: its address is what
    /// [`copy`](Self::copy) takes, its handle is the host's address.
    fn pin(&self, bytes: u64) -> Result<RawMemory, Fault>;
    /// Frees such memory, which must not be in use.
    fn unpin(&self, memory: RawMemory);
    fn copy(&self, on: RawStream, from: u64, to: u64, bytes: u64) -> Result<(), Fault>;
    /// Sets bytes to one value.
    fn set(&self, on: RawStream, at: u64, bytes: u64, value: u8) -> Result<(), Fault>;

    fn open_stream(&self, is_urgent: bool) -> Result<RawStream, Fault>;
    /// Closes it to further work; submitted work still completes.
    fn close_stream(&self, stream: RawStream);
    fn synchronize(&self, on: RawStream) -> Result<(), Fault>;

    /// Whether a foreign stream belongs to this device.
    fn adopt(&self, _: RawStream) -> Result<(), Fault> {
        Ok(())
    }
    /// Whether this device can access foreign memory; otherwise whose it is.
    fn owns(&self, _: u64) -> Result<(), String> {
        Err("an owner whose memory this driver does not take".into())
    }
    /// Whether work on a stream becomes part of its owner's graph now.
    fn is_captured(&self, _: RawStream) -> bool {
        false
    }
    /// Adds a shape to that graph after the stream's work, and has the graph own `keep`, which is
    /// dropped by [`drop_later`](super::reclaim::drop_later). An error leaves the capture
    /// unchanged.
    fn splice(
        &self,
        _: RawStream,
        _: &Shape,
        _: &[u64],
        _max_iterations: Option<u64>,
        _keep: Box<dyn Send + Sync>,
    ) -> Result<(), Fault> {
        Err(Fault::Failed(
            "streams of this device are not captured".into(),
        ))
    }

    /// Records an event after all work on the stream.
    fn record(&self, on: RawStream) -> Result<RawEvent, Fault>;
    /// Makes later work on the stream wait for the event.
    fn wait(&self, on: RawStream, event: RawEvent) -> Result<(), Fault>;
    fn is_done(&self, event: RawEvent) -> Result<bool, Fault>;
    fn block(&self, event: RawEvent) -> Result<(), Fault>;
    /// Time on the device between two events that have happened.
    fn elapsed(&self, from: RawEvent, to: RawEvent) -> Result<Duration, Fault>;
    fn drop_event(&self, event: RawEvent);

    /// Whether it runs code for a target, as `--target=` spells it.
    fn takes(&self, target: &str) -> bool;
    /// Refuses code that requires a feature the device lacks, and names the op that needs it.
    fn check(&self, _: &Requirements, _: Option<&Origins>) -> Result<(), Error> {
        Ok(())
    }
    /// Loads a module, so that its bodies can be launched.
    fn load(&self, part: &Part<'_>) -> Result<Box<dyn Code>, Error>;

    /// Builds the replay of a shape.
    fn build(&self, shape: &Shape, words: &[u64]) -> Result<Box<dyn Replay>, Fault>;
}

/// Code on a device.
pub(crate) trait Code: Send + Sync {
    /// A body by its symbol, for blocks of so many threads.
    fn body(&self, name: &str, threads: u32) -> Option<RawBody>;
}

/// A shape as the driver replays it.
pub(crate) trait Replay: Send {
    /// Whether the host waits for the device before all of a replay is on its stream.
    fn waits(&self) -> bool {
        false
    }
    /// Sets other words; those at the places in `changed`, which ascend, differ from the last ones.
    fn patch(&mut self, words: &[u64], changed: &[usize]) -> Result<(), Fault>;
    /// Puts it onto a stream, after its last replay. Loops end with an error after
    /// `max_iterations`.
    fn replay(&mut self, on: RawStream, max_iterations: Option<u64>) -> Result<(), Fault>;
}
