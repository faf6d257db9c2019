//! What people build on: devices, buffers, streams, kernels and graphs. Each is a handle
//! that may be cloned and sent to other threads; none has a lifetime.
//!
//! A [`Device`] is opened once. What it does is put into [`Stream`]s, which keep their
//! order, and [`Buffer`]s know who used them last, so that work of several streams on one
//! buffer is in the order of the calls. An artifact that is loaded is an [`Executable`],
//! and its [`Kernel`]s are launched on a stream with their arguments where they are.
//!
//! Checks, evaluation of plans, graphs and their patching are in one place (`executor`);
//! a driver (`driver`) does primitives and checks nothing.

mod across;
mod allocation;
mod allocator;
mod arguments;
mod buffer;
mod capture;
mod codes;
mod device;
pub mod dlpack;
pub(crate) mod driver;
mod evaluate;
mod executable;
mod executor;
mod foreign;
mod fork;
mod memory;
pub(crate) mod parts;
mod pinned;
mod profiler;
pub(crate) mod reclaim;
mod recording;
mod stream;
mod target;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use allocation::Keep;
pub use allocator::{Allocate, Allocator};
pub use arguments::Arg;
pub use buffer::Buffer;
pub use device::{Device, DeviceId, DeviceInfo, DeviceOptions, MemoryStats};
pub use executable::{Executable, Kernel, LaunchOptions, Signature};
pub use foreign::{Foreign, Ready};
pub use pinned::{Pending, Pinned};
pub use profiler::{
    Attached, CopyKind, Detail, Profiler, Span, SpanKind, Step, StepTotal, step_totals,
};
pub use recording::{Graph, Recording, Slot};
pub use stream::{Event, Priority, Stream};
