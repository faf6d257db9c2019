//! The runtime's API: devices, buffers, streams, kernels and graphs. Each is a handle
//! that may be cloned and sent to other threads; none has a lifetime.
//!
//! A [`Device`] is opened once. Its work is put onto [`Stream`]s, which are in order, and
//! [`Buffer`]s know their last uses, so that work of several streams on one buffer is in
//! the order of the calls. A loaded artifact is an [`Executable`], and its [`Kernel`]s
//! are launched on a stream with arguments that stay on the device.
//!
//! A dropped object cannot be used, nor freed twice: such a program does not compile.
//!
//! ```compile_fail,E0382
//! # fn show(x: qd_runtime::objects::Buffer, on: qd_runtime::objects::Stream) {
//! drop(x);
//! let elements = x.to_vec::<f32>(&on); // borrow of moved value
//! # }
//! ```
//!
//! ```compile_fail,E0382
//! # fn show(graph: qd_runtime::objects::Graph) {
//! drop(graph);
//! drop(graph); // use of moved value
//! # }
//! ```
//!
//! Only one thread at a time uses a graph:
//!
//! ```compile_fail,E0596
//! # use qd_runtime::objects::{Graph, Stream};
//! fn launch(graph: &Graph, on: &Stream) {
//!     let _ = graph.launch(on); // cannot borrow as mutable
//! }
//! ```
//!
//! Checks, evaluation of plans, graphs and their patching are in one place (`executor`);
//! a driver (`driver`) implements primitives and checks nothing.

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
mod faults;
mod foreign;
mod fork;
mod memory;
mod numbers;
mod opening;
pub(crate) mod parts;
mod pinned;
mod prints;
mod profiler;
pub(crate) mod reclaim;
mod recording;
mod scratch;
mod stream;
mod sync;
mod target;
mod tasks;

#[cfg(test)]
mod fake;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use allocation::Keep;
pub use allocator::{Allocate, Allocator};
pub use arguments::Arg;
pub use buffer::Buffer;
pub use device::{Device, DeviceId, DeviceInfo, DeviceLimits, DeviceOptions, Devices, MemoryStats};
pub use executable::{Executable, Kernel, LaunchOptions, Signature};
pub use foreign::{Foreign, Ready};
pub use opening::Opening;
pub use pinned::{Pending, Pinned};
pub use prints::Printer;
pub use profiler::{
    Attached, CopyKind, Detail, Profiler, Span, SpanKind, Step, StepTotal, step_totals,
};
pub use recording::{Graph, Recording, Slot};
pub use stream::{Event, Priority, Stream};

/// What is one thread's at a time may go to another, and the rest is everybody's.
const _: () = {
    const fn moves<T: Send>() {}
    const fn is_shared<T: Clone + Send + Sync>() {}
    moves::<Recording>();
    moves::<Graph>();
    is_shared::<Device>();
    is_shared::<Stream>();
    is_shared::<Event>();
    is_shared::<Buffer>();
    is_shared::<Executable>();
    is_shared::<Kernel>();
    is_shared::<Profiler>();
};
