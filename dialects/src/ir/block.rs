//! The handle of a block, with what `melior` says of blocks.

use super::{Op, Value, erased};
use melior::ir::{BlockLike, BlockRef, Location, Operation, Type};
use mlir_sys::MlirBlock;
use std::fmt::{self, Debug, Formatter};

/// A block. In debug builds its methods panic where an operation around it was erased.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Block<'c>(BlockRef<'c, 'c>);

impl<'c> Block<'c> {
    /// The block that a raw handle stands for.
    ///
    /// # Safety
    ///
    /// It is valid, and is used no longer than its owner lives.
    pub unsafe fn from_raw(raw: MlirBlock) -> Self {
        // Safety: by contract.
        Self(unsafe { BlockRef::from_raw(raw) })
    }

    /// The handle for MLIR's C API.
    #[track_caller]
    pub fn to_raw(self) -> MlirBlock {
        self.live().to_raw()
    }

    /// Where the block is, which nothing is asked of.
    pub(super) fn address(self) -> usize {
        self.0.to_raw().ptr as usize
    }

    /// The block, of which nothing around was erased.
    #[track_caller]
    pub(super) fn live(self) -> BlockRef<'c, 'c> {
        erased::check_block(self.0.to_raw());
        self.0
    }

    /// The first operation.
    #[track_caller]
    pub fn first_operation(self) -> Option<Op<'c>> {
        self.live().first_operation().map(Op::from)
    }

    /// The last operation, where it is one that may end a block.
    #[track_caller]
    pub fn terminator(self) -> Option<Op<'c>> {
        self.live().terminator().map(Op::from)
    }

    /// The operation around it.
    #[track_caller]
    pub fn parent_operation(self) -> Option<Op<'c>> {
        self.live().parent_operation().map(Op::from)
    }

    /// The next block in its region.
    #[track_caller]
    pub fn next_in_region(self) -> Option<Self> {
        self.live().next_in_region().map(Self)
    }

    /// Appends an argument.
    #[track_caller]
    pub fn add_argument(self, r#type: Type<'c>, location: Location<'c>) -> Value<'c> {
        self.live().add_argument(r#type, location)
    }

    /// Appends an operation.
    #[track_caller]
    pub fn append_operation(self, op: Operation<'c>) -> Op<'c> {
        self.live().append_operation(op).into()
    }
}

impl<'c> From<BlockRef<'c, 'c>> for Block<'c> {
    fn from(block: BlockRef<'c, 'c>) -> Self {
        Self(block)
    }
}

impl Debug for Block<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Block")
            .field(&self.address())
            .finish()
    }
}
