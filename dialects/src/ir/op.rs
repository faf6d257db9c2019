//! The handle of an operation, with what `melior` says of operations.

use super::{Block, Value, erased};
use melior::{
    Error,
    ir::{
        Attribute, BlockRef, Identifier, Location, OperationRef, RegionRef,
        operation::OperationLike, operation::OperationResult,
    },
};
use mlir_sys::MlirOperation;
use std::fmt::{self, Debug, Display, Formatter};

/// An operation.
///
/// In debug builds every method panics where the operation was erased; only [`key`], comparison and
/// copies, which do not look at it, may still be used.
///
/// [`key`]: super::OpExt::key
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Op<'c>(OperationRef<'c, 'c>);

impl<'c> Op<'c> {
    /// The operation that a raw handle stands for.
    ///
    /// # Safety
    ///
    /// It is valid, and is used no longer than its owner lives.
    pub unsafe fn from_raw(raw: MlirOperation) -> Self {
        // Safety: by contract.
        Self(unsafe { OperationRef::from_raw(raw) })
    }

    /// The same, of a handle that may be null.
    ///
    /// # Safety
    ///
    /// As above, where it is not null.
    pub unsafe fn from_option_raw(raw: MlirOperation) -> Option<Self> {
        // Safety: by contract.
        unsafe { OperationRef::from_option_raw(raw) }.map(Self)
    }

    /// The handle for MLIR's C API.
    #[track_caller]
    pub fn to_raw(self) -> MlirOperation {
        self.live().to_raw()
    }

    /// Where the operation is, which nothing is asked of.
    pub(super) fn address(self) -> usize {
        self.0.to_raw().ptr as usize
    }

    /// The operation, which was not erased.
    #[track_caller]
    pub(super) fn live(self) -> OperationRef<'c, 'c> {
        erased::check_op(self.0.to_raw());
        self.0
    }

    /// The name.
    #[track_caller]
    pub fn name(self) -> Identifier<'c> {
        self.live().name()
    }

    /// Where it is from.
    #[track_caller]
    pub fn location(self) -> Location<'c> {
        self.live().location()
    }

    /// The block that it is in; `None`: it is detached, or a module at the top.
    #[track_caller]
    pub fn block(self) -> Option<Block<'c>> {
        self.live().block().map(Block::from)
    }

    /// The next operation in its block.
    #[track_caller]
    pub fn next_in_block(self) -> Option<Self> {
        self.live().next_in_block().map(Self)
    }

    /// The operation around it.
    #[track_caller]
    pub fn parent(self) -> Option<Self> {
        self.live().parent_operation().map(Self)
    }

    /// How many operands it has.
    #[track_caller]
    pub fn operand_count(self) -> usize {
        self.live().operand_count()
    }

    /// An operand.
    ///
    /// # Errors
    ///
    /// It has no such operand.
    #[track_caller]
    pub fn operand(self, index: usize) -> Result<Value<'c>, Error> {
        self.live().operand(index)
    }

    /// How many results it has.
    #[track_caller]
    pub fn result_count(self) -> usize {
        self.live().result_count()
    }

    /// A result.
    ///
    /// # Errors
    ///
    /// It has no such result.
    #[track_caller]
    pub fn result(self, index: usize) -> Result<OperationResult<'c, 'c>, Error> {
        self.live().result(index)
    }

    /// How many regions it has.
    #[track_caller]
    pub fn region_count(self) -> usize {
        self.live().region_count()
    }

    /// A region.
    ///
    /// # Errors
    ///
    /// It has no such region.
    #[track_caller]
    pub fn region(self, index: usize) -> Result<RegionRef<'c, 'c>, Error> {
        self.live().region(index)
    }

    /// How many blocks it may branch to.
    #[track_caller]
    pub fn successor_count(self) -> usize {
        self.live().successor_count()
    }

    /// The blocks that it may branch to.
    #[track_caller]
    pub fn successors(self) -> impl Iterator<Item = Block<'c>> {
        let op = self.live();
        (0..op.successor_count()).map(move |i| {
            let successor: BlockRef<'c, 'c> = op.successor(i).expect("a successor in range");
            successor.into()
        })
    }

    /// The attributes with their names, inherent ones included.
    #[track_caller]
    pub fn attributes(self) -> impl Iterator<Item = (Identifier<'c>, Attribute<'c>)> {
        let op = self.live();
        (0..op.attribute_count()).map(move |i| op.attribute_at(i).expect("an attribute in range"))
    }

    /// Whether it and all operations in it pass their verifiers. Errors are reported to
    /// the context's diagnostic handlers.
    #[track_caller]
    pub fn verify(self) -> bool {
        self.live().verify()
    }
}

impl<'c> From<OperationRef<'c, 'c>> for Op<'c> {
    fn from(op: OperationRef<'c, 'c>) -> Self {
        Self(op)
    }
}

/// As MLIR prints it.
impl Display for Op<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.live(), formatter)
    }
}

impl Debug for Op<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let name = self.name();
        let name = name.as_string_ref();
        formatter.debug_tuple("Op").field(&name).finish()
    }
}
