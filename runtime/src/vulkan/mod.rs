//! Vulkan devices.
//!
//! Modules are SPIR-V with an entry point per body. There are no descriptors: a body is pushed
//! the address of its words, which are the number of blocks and the words of the op. A call is
//! command buffers (see [`replay`]), which are recorded once and put onto a stream as often as it
//! is made; the host goes round loops.

mod barriers;
mod cache;
mod capabilities;
mod choice;
mod clock;
mod device;
mod event;
mod features;
mod hazards;
mod instance;
mod kernels;
mod load;
mod memory;
mod modes;
mod pipeline;
mod pool;
mod recording;
mod replay;
mod resident;
mod spirv;
mod subgroup;
mod timeline;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use resident::device;
