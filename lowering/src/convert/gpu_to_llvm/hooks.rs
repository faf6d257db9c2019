//! What differs between vendors' GPUs, in the LLVM dialect.
//!
//! A vendor is a constant of [`Hooks`], as a kind of target is a row of `emit::backend`. What
//! the target may have or not is asked of its capabilities; a hook is how.

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

/// A vendor's own.
pub struct Hooks {
    /// Where memory is.
    pub spaces: AddressSpaces,
    /// How LLVM names scopes for it, and what its back end does with orders.
    pub scopes: Scopes,
    /// Bytes of a block's static shared arrays, at most. A kernel with more gets one external
    /// array, whose size is that of the launch.
    pub max_static_shared_bytes: u64,
    /// Why it cannot spell a symbol; nothing if it can.
    pub refuses_name: fn(&str) -> Option<&'static str>,
    /// What makes a function a kernel of that launch.
    pub kernel_attributes: for<'c> fn(&'c Context, &Launch, &Setting<'_>) -> Attributes<'c>,
    /// An `i32` that is never negative.
    pub register: for<'b, 'c> fn(&'b Builder<'c>, Register) -> V<'b, 'c>,
    /// Whether a lane keeps its own word where there is no lane so far up or down, for distances
    /// that are less than a subgroup's lanes.
    pub keeps_own: bool,
    /// A word (`i32` or `f32`) of another lane's.
    pub shuffle: for<'b, 'c> fn(V<'b, 'c>, Source<'b, 'c>, &Setting<'_>) -> V<'b, 'c>,
    /// An integer whose bits are the lanes' predicates, the first lane's the lowest. It has
    /// 32 or 64 bits, those of no lane clear.
    pub ballot: for<'b, 'c> fn(V<'b, 'c>, &Setting<'_>) -> V<'b, 'c>,
    /// Waits for the lanes of the subgroup, and orders what they do with memory.
    pub subgroup_barrier: fn(&Builder<'_>),
    /// The same for the threads of the block.
    pub block_barrier: fn(&Builder<'_>),
    /// Waits for about so many nanoseconds, which are an attribute of `i32`.
    pub pause: for<'c> fn(&Builder<'c>, Attribute<'c>),
    /// How it brings what is at a generic pointer into the device's cache; nothing if the
    /// target cannot.
    pub prefetch: fn(&Target) -> Option<Prefetch>,
    /// Collectives that it has, the better form of two first, and how each is made: shuffles,
    /// broadcasts and ballots by the conversions of this module, which ask the hooks above, and
    /// what not every vendor has by its own.
    pub forms: &'static [(Form, Conversion)],
}

/// Named attributes of an operation.
pub type Attributes<'c> = Vec<(&'static str, Attribute<'c>)>;

/// Makes a prefetch of what is at a generic pointer.
pub type Prefetch = for<'b, 'c> fn(V<'b, 'c>);

/// LLVM's numbers of address spaces; 0 is the generic one.
pub struct AddressSpaces {
    /// What buffers are in.
    pub global: u32,
    /// What a block's threads share.
    pub shared: u32,
    /// Where an `alloca` is.
    pub private: u32,
}

/// What is known of a kernel's launches.
pub struct Launch {
    /// Threads of a block.
    pub threads: i32,
    /// How many blocks a core is to have room for, if the body says so.
    pub blocks_per_core: Option<i32>,
    /// Whether a block's threads share arrays: then they wait for each other.
    pub has_shared_arrays: bool,
}

/// What a thread knows of itself and its launch, in the one dimension that there is.
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

/// Whose word a lane gets. Of a lane that does not exist, it is undefined.
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
