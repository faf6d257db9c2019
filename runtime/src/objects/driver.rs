//! What a driver does for the executor: primitives. Nothing is checked here, as all checks
//! are above.

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
    /// As kernels see it.
    pub address: u64,
    /// What was asked for.
    pub bytes: u64,
    /// The driver's own name for it.
    pub handle: u64,
}

/// A body as a driver launches it; valid as long as its [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawBody(pub u64);

/// What went wrong, before anybody knows what it was for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is no room; so many bytes are free, where that is known.
    OutOfMemory { free: Option<u64> },
    /// The device does nothing any more.
    Lost(String),
    /// A call failed, as the driver says it.
    Failed(String),
    /// A loop was still running after as many iterations as it may have.
    TooManyIterations { label: usize, limit: u64 },
    /// The same of an earlier call, as the device has said since.
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

/// One thing to do. Where it is in the device's memory and on how much of it are words, so
/// that two calls that differ in these alone have equal ops.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Op {
    /// Which ops of the same list, all before this one, must have finished.
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
        /// The number of blocks, and behind it the body's own words.
        words: Range<usize>,
    },
    /// Sets elements of so many bytes each. Three words: the address, how many, and the bits.
    Fill { size: usize, words: usize },
    /// Copies bytes that do not overlap. Three words: from where, to where, and how many.
    Copy { words: usize },
    /// Does the ops, and again while the `i32` at the word's address is not 0.
    While { flag: usize, ops: Vec<Op> },
    /// Does the ops if the `i32` at the word's address is not 0 before them.
    If { condition: usize, ops: Vec<Op> },
    /// Where others wait, and nothing is done.
    Join,
}

/// What is done by one call, but for its words.
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
/// Addresses that are given are the device's, and what they point to lives until what was
/// asked for has been done; the driver may not touch anything else.
pub(crate) unsafe trait Driver: Send + Sync {
    fn info(&self) -> &DeviceInfo;
    /// Whether what is asked for has been done on return, by the thread that asks.
    fn is_host(&self) -> bool {
        false
    }

    /// Memory that holds anything, of at least one byte, for use on the stream from now on.
    fn allocate(&self, bytes: u64, on: RawStream) -> Result<RawMemory, Fault>;
    /// Gives memory back behind all that is on the stream.
    fn free(&self, memory: RawMemory, on: RawStream);
    /// Bytes that it holds to allocate from; none: it keeps nothing of what is freed.
    fn reserved(&self) -> Option<u64> {
        None
    }
    /// Gives back what nobody uses, until it holds about so many bytes.
    fn trim(&self, _keep: u64) -> Result<(), Fault> {
        Ok(())
    }
    /// Does something that may call the device's own library, as if nothing were being captured.
    fn within(&self, what: &mut dyn FnMut()) -> Result<(), Fault> {
        what();
        Ok(())
    }
    /// Copies bytes in; they have been read on return.
    fn upload(&self, on: RawStream, to: u64, from: &[u8]) -> Result<(), Fault>;
    /// Copies bytes out, behind all that is on the stream; they are there on return.
    fn download(&self, on: RawStream, from: u64, to: &mut [u8]) -> Result<(), Fault>;
    /// Host memory of at least one byte that the device copies from and to: its address is what
    /// [`copy`](Self::copy) takes, its handle where the host sees it.
    fn pin(&self, bytes: u64) -> Result<RawMemory, Fault>;
    /// Gives such memory back, which nobody uses any more.
    fn unpin(&self, memory: RawMemory);
    fn copy(&self, on: RawStream, from: u64, to: u64, bytes: u64) -> Result<(), Fault>;
    /// Sets bytes to one value.
    fn set(&self, on: RawStream, at: u64, bytes: u64, value: u8) -> Result<(), Fault>;

    fn open_stream(&self, is_urgent: bool) -> Result<RawStream, Fault>;
    /// Nothing comes onto it any more; what is on it is still done.
    fn close_stream(&self, stream: RawStream);
    fn synchronize(&self, on: RawStream) -> Result<(), Fault>;

    /// Whether somebody else's stream is this device's.
    fn adopt(&self, _: RawStream) -> Result<(), Fault> {
        Ok(())
    }
    /// Whether somebody else's memory is there for this device; otherwise whose it is.
    fn owns(&self, _: u64) -> Result<(), String> {
        Err("somebody whose memory this driver does not take".into())
    }
    /// Whether what is asked of a stream now becomes part of somebody's graph.
    fn is_captured(&self, _: RawStream) -> bool {
        false
    }
    /// Adds a shape to that graph behind what is on the stream, and has the graph hold `keep`, which
    /// goes by [`drop_later`](super::reclaim::drop_later). An error leaves the capture as it was.
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

    /// An event behind all that is on the stream.
    fn record(&self, on: RawStream) -> Result<RawEvent, Fault>;
    /// What comes onto the stream from now on waits for the event.
    fn wait(&self, on: RawStream, event: RawEvent) -> Result<(), Fault>;
    fn is_done(&self, event: RawEvent) -> Result<bool, Fault>;
    fn block(&self, event: RawEvent) -> Result<(), Fault>;
    /// Time on the device between two events that have happened.
    fn elapsed(&self, from: RawEvent, to: RawEvent) -> Result<Duration, Fault>;
    fn drop_event(&self, event: RawEvent);

    /// Whether it runs code for a target, as `--target=` spells it.
    fn takes(&self, target: &str) -> bool;
    /// Refuses code that needs what the device lacks, and says what of the source does.
    fn check(&self, _: &Requirements, _: Option<&Origins>) -> Result<(), Error> {
        Ok(())
    }
    /// Makes a module's bodies ready to be launched. Several threads load side by side.
    fn load(&self, part: &Part<'_>) -> Result<Box<dyn Code>, Error>;

    /// Makes what replays a shape.
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
    /// Takes other words; those at the places in `changed`, which ascend, differ from the last
    /// ones.
    fn patch(&mut self, words: &[u64], changed: &[usize]) -> Result<(), Fault>;
    /// Puts it onto a stream, behind its last replay. Loops end with an error after so many iterations.
    fn replay(&mut self, on: RawStream, max_iterations: Option<u64>) -> Result<(), Fault>;
}
