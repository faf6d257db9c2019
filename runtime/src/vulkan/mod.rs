//! Vulkan devices.
//!
//! Modules are SPIR-V with an entry point per body. There are no descriptors: the push constant
//! is the address of a launch's kernel arguments, which are the number of blocks and the words of
//! the op. A call is command buffers (see [`replay`]), which are recorded once and submitted at
//! every call; the host decides whether loops go on.

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

pub(crate) use device::count;
pub(crate) use resident::device;
