//! What differs between vendors' GPUs, in the LLVM dialect.
//!
//! A vendor is a constant of [`Hooks`], as a kind of target is a row of `emit::backend`. Whether
//! a target has something is in its capabilities; a hook is how it is expressed.

use super::{Conversion, Setting};
use crate::{
    convert::memory::Scopes,
    targets::{Target, isa::Form},
};
use melior::ir::Attribute;
use qd_dialects::{
    builder::{Builder, V},
    ir::Context,
    melior,
};

/// The hooks of a vendor.
pub struct Hooks {
    /// The address spaces of buffers, shared and private arrays.
    pub spaces: AddressSpaces,
    /// LLVM's names of its synchronization scopes, and which memory orders its back end heeds.
    pub scopes: Scopes,
    /// Bytes of a block's static shared arrays, at most. A kernel with more gets one external
    /// array, whose size is that of the launch.
    pub max_static_shared_bytes: u64,
    /// Why it cannot spell a symbol; nothing if it can.
    pub refuses_name: fn(&str) -> Option<&'static str>,
    /// The attributes that make a function a kernel with these launches.
    pub kernel_attributes: for<'c> fn(&'c Context, &Launch, &Setting<'_>) -> Attributes<'c>,
    /// Reads a special register: an `i32` that is never negative.
    pub register: for<'b, 'c> fn(&'b Builder<'c>, Register) -> V<'b, 'c>,
    /// Whether a lane keeps its own word if the lane that many up or down does not exist, for distances
    /// that are less than the lanes of a subgroup.
    pub keeps_own: bool,
    /// Reads a word (`i32` or `f32`) of another lane.
    pub shuffle: for<'b, 'c> fn(V<'b, 'c>, Source<'b, 'c>, &Setting<'_>) -> V<'b, 'c>,
    /// An integer whose bits are the lanes' predicates, with the first lane's as the lowest. It
    /// has 32 or 64 bits; bits without a lane are 0.
    pub ballot: for<'b, 'c> fn(V<'b, 'c>, &Setting<'_>) -> V<'b, 'c>,
    /// Waits for the lanes of the subgroup, and orders their memory accesses.
    pub subgroup_barrier: fn(&Builder<'_>),
    /// The same for the threads of the block.
    pub block_barrier: fn(&Builder<'_>),
    /// Waits for about this many nanoseconds, an `i32` attribute.
    pub pause: for<'c> fn(&Builder<'c>, Attribute<'c>),
    /// Prefetches the memory at a generic pointer into the device's cache; nothing if the target
    /// cannot.
    pub prefetch: fn(&Target) -> Option<Prefetch>,
    /// The forms of collectives that it has, the better of two first, with their conversions: for
    /// shuffles, broadcasts and ballots those of this module, which call the hooks above, and for
    /// ops that not every vendor has its own.
    pub forms: &'static [(Form, Conversion)],
}

/// Named attributes of an operation.
pub type Attributes<'c> = Vec<(&'static str, Attribute<'c>)>;

/// Makes a prefetch of the memory at a generic pointer.
pub type Prefetch = for<'b, 'c> fn(V<'b, 'c>);

/// LLVM's numbers of address spaces; 0 is the generic one.
pub struct AddressSpaces {
    /// Of buffers.
    pub global: u32,
    /// Of shared memory.
    pub shared: u32,
    /// Of an `alloca`.
    pub private: u32,
}

/// What all launches of a kernel have in common.
pub struct Launch {
    /// Threads of a block.
    pub threads: i32,
    /// Blocks that an SM or CU is to have room for (occupancy), if the body says so.
    pub blocks_per_core: Option<i32>,
    /// Whether a block's threads share arrays: then they wait for each other.
    pub has_shared_arrays: bool,
}

/// The special registers of a thread. Blocks and grids have one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// The thread's number in its block.
    ThreadId,
    /// The block's number.
    BlockId,
    /// Threads of a block.
    BlockDim,
    /// Blocks.
    GridDim,
}

/// The lane whose word a lane reads. If that lane does not exist, the result is undefined.
#[derive(Clone, Copy)]
pub enum Source<'b, 'c> {
    /// The lane of this number, which each lane chooses.
    Lane(V<'b, 'c>),
    /// The lane of this number, which is the same in all.
    Uniform(V<'b, 'c>),
    /// The first lane.
    First,
    /// So many lanes below.
    Up(V<'b, 'c>),
    /// So many lanes above.
    Down(V<'b, 'c>),
    /// The lane whose number differs in these bits.
    Xor(V<'b, 'c>),
}
