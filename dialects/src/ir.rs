//! Handles to operations, values and blocks, and how to change them.
//!
//! Handles are `Copy` and refer into IR that a pass or a builder owns. As in
//! C++, a handle to an erased operation must not be used again. Debug builds detect such a use: an
//! operation that was [erased](OpExt::erase) is kept until the pass ends, and using it, an operation
//! in it, its blocks or its values panics with the location where it was erased, which fails the
//! pass. Release builds destroy it at once and check nothing.
//!
//! What no build detects is the use of:
//!
//! - handles to what MLIR itself destroys: below the operation that is given to
//!   [`canonical::clean`](crate::canonical::clean) and the functions beside it, to a
//!   [`PatternSet`](crate::pattern::PatternSet) or, outside of a pass, to
//!   [`run_pipeline`](crate::pass::run_pipeline);
//! - handles to what is in a `Module`, an `Operation`, a `Region` or a `Block` of `melior`'s that is
//!   dropped by its owner;
//! - a [`Value`] or a [`Region`] by `melior`'s own methods: in a debug build the memory can still be
//!   read, but nothing panics.

mod block;
mod erased;
mod op;
mod parallel;

pub use block::Block;
pub(crate) use erased::Edit;
pub use erased::edit;
pub use op::Op;
pub use parallel::{read_both, read_each};

use melior::ir::{
    Attribute, BlockLike, Identifier, Location, OperationRef, RegionLike, RegionRef, Type,
    TypeLike, ValueLike, block::BlockArgument, operation::OperationBuilder,
    operation::OperationResult, r#type::MemRefType,
};
use mlir_sys as sys;
use smallvec::SmallVec;
use std::ffi::c_void;

/// A value: an operation's result or a block's argument.
pub type Value<'c> = melior::ir::Value<'c, 'c>;

/// Values of an operation: few have more, and a list is asked for often.
pub type Values<'c> = SmallVec<[Value<'c>; 4]>;

/// A region.
pub type Region<'c> = RegionRef<'c, 'c>;
/// The context that owns all types and attributes.
pub type Context = melior::Context;

/// Where new operations go.
#[derive(Clone, Copy, Debug)]
pub enum InsertionPoint<'c> {
    /// After the last operation of a block.
    End(Block<'c>),
    /// Before an operation.
    Before(Op<'c>),
}

impl<'c> InsertionPoint<'c> {
    /// Inserts a detached operation here.
    ///
    /// # Panics
    ///
    /// The operation to insert before is in no block.
    #[track_caller]
    pub fn insert(self, op: melior::ir::Operation<'c>) -> Op<'c> {
        match self {
            Self::End(block) => block.append_operation(op),
            Self::Before(next) => {
                let (block, next) = (self.block().to_raw(), next.to_raw());
                let raw = op.into_raw();
                // Safety: all are valid, `next` is in the block, and the block takes ownership.
                unsafe {
                    sys::mlirBlockInsertOwnedOperationBefore(block, next, raw);
                    Op::from_raw(raw)
                }
            }
        }
    }

    /// The block new operations go to.
    ///
    /// # Panics
    ///
    /// As of [`insert`](Self::insert).
    #[track_caller]
    pub fn block(self) -> Block<'c> {
        match self {
            Self::End(block) => block,
            Self::Before(op) => op.block().expect("an insertion point is in a block"),
        }
    }
}

/// The context of an operation, for as long as the IR lives. Loads our dialect into a context that
/// lacks it.
pub fn context_of<'c>(op: Op<'c>) -> &'c Context {
    // A context is its handle, of which the dialect keeps one where it lives as long as the context.
    const { assert!(size_of::<Context>() == size_of::<sys::MlirContext>()) }
    // Safety: IR does not outlive its context, which owns the dialect.
    unsafe { &*qd_sys::qdContextOf(op.to_raw()).cast() }
}

/// The identity of an operation, a value or a block, as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(usize);

/// The block's identity, for use in maps.
pub fn block_key(block: Block<'_>) -> Key {
    Key(block.address())
}

/// Methods on operations that `melior` lacks. In debug builds all but `handle` and `key` panic if
/// the operation was erased.
pub trait OpExt<'c>: Sized + Copy {
    /// The operation itself, as our handle.
    fn handle(self) -> Op<'c>;

    /// The full name, such as `qd.simt.shuffle`.
    #[track_caller]
    fn full_name(self) -> &'c str {
        std::str::from_utf8(checked_name_of(self.handle())).unwrap_or("?")
    }

    /// The operation's identity, for use in maps.
    fn key(self) -> Key {
        Key(self.handle().address())
    }

    /// Whether the operation has this full name.
    #[track_caller]
    fn is(self, name: &str) -> bool {
        checked_name_of(self.handle()) == name.as_bytes()
    }

    /// Whether it has the same name and attributes as another operation.
    #[track_caller]
    fn is_alike(self, other: Op<'c>) -> bool {
        // Safety: both operations are valid.
        unsafe { qd_sys::qdHaveSameAttributes(self.handle().to_raw(), other.to_raw()) }
    }

    /// All operands.
    #[track_caller]
    fn operand_values(self) -> Values<'c> {
        let op = self.handle();
        let count = op.operand_count();
        let mut all = Values::with_capacity(count);
        // A value is its handle.
        const { assert!(size_of::<Value<'_>>() == size_of::<sys::MlirValue>()) }
        // Safety: the operation is valid, and there is room for its operands, which are all written.
        unsafe {
            qd_sys::qdOperands(op.to_raw(), all.as_mut_ptr().cast());
            all.set_len(count);
        }
        all
    }

    /// All results.
    #[track_caller]
    fn result_values(self) -> Values<'c> {
        let op = self.handle().to_raw();
        // Safety: the operation is valid and has as many results.
        unsafe {
            let results = 0..sys::mlirOperationGetNumResults(op);
            let results = results.map(|at| Value::from_raw(sys::mlirOperationGetResult(op, at)));
            results.collect()
        }
    }

    /// The only or first result.
    #[track_caller]
    fn first_result(self) -> Value<'c> {
        self.handle()
            .result(0)
            .expect("an operation with a result")
            .into()
    }

    /// The operand groups of an op with `AttrSizedOperandSegments`, and the
    /// operands as they are for any other op.
    #[track_caller]
    fn operand_segments(self) -> Vec<Vec<Value<'c>>> {
        let all = self.operand_values();
        let Some(sizes) = self.attr("operandSegmentSizes") else {
            return all.into_iter().map(|v| vec![v]).collect();
        };
        // Safety: the attribute is a dense array of i32, by its trait.
        let count = unsafe { sys::mlirDenseArrayGetNumElements(raw(sizes)) };
        let mut rest = all.into_iter();
        (0..count)
            .map(|i| {
                // Safety: `i` is in range.
                let size = unsafe { sys::mlirDenseI32ArrayGetElement(raw(sizes), i) };
                rest.by_ref().take(size as usize).collect()
            })
            .collect()
    }

    /// An attribute by name, inherent ones included.
    #[track_caller]
    fn attr(self, name: &str) -> Option<Attribute<'c>> {
        let name = melior::StringRef::new(name);
        // Safety: the operation is valid; null where it has none of the name.
        unsafe {
            let op = self.handle().to_raw();
            Attribute::from_option_raw(sys::mlirOperationGetAttributeByName(op, name.to_raw()))
        }
    }

    /// Sets an attribute.
    #[track_caller]
    fn set_attr(self, name: &str, value: Attribute<'c>) {
        let name = melior::StringRef::new(name);
        // Safety: the operation is valid.
        unsafe {
            sys::mlirOperationSetAttributeByName(self.handle().to_raw(), name.to_raw(), raw(value))
        }
    }

    /// Removes an attribute if it is there.
    #[track_caller]
    fn remove_attr(self, name: &str) {
        let name = melior::StringRef::new(name);
        // Safety: the operation is valid.
        unsafe {
            sys::mlirOperationRemoveAttributeByName(self.handle().to_raw(), name.to_raw());
        }
    }

    /// The first block of the first region.
    #[track_caller]
    fn body(self) -> Option<Block<'c>> {
        self.region_block(0)
    }

    /// The first block of a region, by its index.
    #[track_caller]
    fn region_block(self, index: usize) -> Option<Block<'c>> {
        // Asked first, because `melior`'s error holds the operation as text, and
        // to print one verifies the whole module.
        if index >= self.handle().region_count() {
            return None;
        }
        let block = self.handle().region(index).ok()?.first_block();
        block.map(Block::from)
    }

    /// The operation before this one in its block.
    #[track_caller]
    fn previous_in_block(self) -> Option<Op<'c>> {
        // Safety: the operation is valid; null where it is the first.
        unsafe { Op::from_option_raw(qd_sys::qdPreviousInBlock(self.handle().to_raw())) }
    }

    /// Sets the location.
    #[track_caller]
    fn set_location(self, location: Location<'c>) {
        // Safety: both are valid.
        unsafe { sys::mlirOperationSetLocation(self.handle().to_raw(), location.to_raw()) }
    }

    /// Removes the operation from its block and destroys it, in debug builds when the pass ends.
    /// Outside of passes see [`edit`]. A pattern erases by its
    /// [`Rewriter`](crate::pattern::Rewriter).
    ///
    /// # Panics
    ///
    /// A value of it or of an operation in it is still used elsewhere; it is in no block; a pass is
    /// running on it or on an operation in it. In debug builds also if a pattern is running.
    #[track_caller]
    fn erase(self) {
        erased::erase(self.handle());
    }

    /// Replaces all uses of the results and erases the operation.
    ///
    /// # Panics
    ///
    /// As [`erase`](Self::erase), and if there is not a value for each result.
    #[track_caller]
    fn replace_with(self, values: &[Value<'c>]) {
        let results = self.result_values();
        assert_eq!(
            results.len(),
            values.len(),
            "'{}' is replaced by as many values as it has results",
            self.full_name()
        );
        for (old, new) in results.into_iter().zip(values) {
            old.replace_all_uses(*new);
        }
        self.erase();
    }

    /// Moves the operation to an insertion point.
    ///
    /// # Panics
    ///
    /// It is in no block, or the point is in it.
    #[track_caller]
    fn move_to(self, at: InsertionPoint<'c>) {
        let op = self.handle();
        assert!(op.block().is_some(), "what moves is in a block");
        if matches!(at, InsertionPoint::Before(next) if next == op) {
            return;
        }
        let around = at.block().parent_operation();
        // Safety: both operations are valid.
        let is_within =
            |around: Op<'c>| unsafe { qd_sys::qdIsWithin(around.to_raw(), op.to_raw()) };
        assert!(
            !around.is_some_and(is_within),
            "'{}' is moved into itself",
            op.full_name()
        );
        // Safety: the operation is valid and in a block; another takes it over.
        unsafe {
            sys::mlirOperationRemoveFromParent(op.to_raw());
            at.insert(melior::ir::Operation::from_raw(op.to_raw()));
        }
    }

    /// A deep copy, detached; operands still refer to the originals.
    #[track_caller]
    fn detached_clone(self) -> melior::ir::Operation<'c> {
        // Safety: cloning a valid operation yields a valid, owned one.
        unsafe { melior::ir::Operation::from_raw(sys::mlirOperationClone(self.handle().to_raw())) }
    }

    /// Sets one operand.
    #[track_caller]
    fn set_operand_at(self, index: usize, value: Value<'c>) {
        // Safety: the index is in range by the caller's contract; checked here.
        assert!(index < self.handle().operand_count(), "operand index");
        // Safety: the operation and the value are valid, and it has such an operand.
        unsafe { sys::mlirOperationSetOperand(self.handle().to_raw(), index as isize, live(value)) }
    }

    /// Every operation below this one and itself, in pre-order.
    #[track_caller]
    fn walk_all(self) -> Vec<Op<'c>> {
        let mut all = vec![self.handle()];
        collect_nested(self.handle().live(), &mut all);
        all
    }

    /// Every operation below this one, in pre-order.
    #[track_caller]
    fn nested(self) -> Vec<Op<'c>> {
        let mut all = Vec::new();
        collect_nested(self.handle().live(), &mut all);
        all
    }
}

#[track_caller]
fn checked_name_of<'c>(op: Op<'c>) -> &'c [u8] {
    // Safety: the context lives as long as the operation.
    unsafe { name_of(op.to_raw()) }
}

/// An operation's full name, which need not be UTF-8 in MLIR.
///
/// # Safety
///
/// The operation was not destroyed, and the context lives as long as the result is used.
unsafe fn name_of<'c>(op: sys::MlirOperation) -> &'c [u8] {
    // Safety: by contract; identifiers live as long as the context.
    unsafe {
        let name = sys::mlirIdentifierStr(sys::mlirOperationGetName(op));
        std::slice::from_raw_parts(name.data.cast::<u8>(), name.length)
    }
}

/// What is in an operation that was not erased was not, either.
fn collect_nested<'c>(op: OperationRef<'c, 'c>, into: &mut Vec<Op<'c>>) {
    // Safety: the operation is valid, and `push` is called before the call returns.
    unsafe { qd_sys::qdNested(op.to_raw(), push, std::ptr::from_mut(into).cast()) }
}

/// Appends an operation to a vector of them.
unsafe extern "C" fn push(op: sys::MlirOperation, all: *mut c_void) {
    // Safety: `all` is such a vector, by the calls that are given this.
    unsafe { (*all.cast::<Vec<Op<'_>>>()).push(Op::from_raw(op)) }
}

impl<'c> OpExt<'c> for Op<'c> {
    fn handle(self) -> Op<'c> {
        self
    }
}

fn raw(attribute: Attribute<'_>) -> sys::MlirAttribute {
    use melior::ir::AttributeLike;
    attribute.to_raw()
}

/// The operations of a block, as they are now: the block may be changed while
/// the list is walked.
#[track_caller]
pub fn operations(block: Block<'_>) -> Vec<Op<'_>> {
    let mut all: Vec<Op<'_>> = Vec::new();
    // Safety: the block is valid, and `push` is called before the call returns.
    unsafe { qd_sys::qdOperations(block.to_raw(), push, std::ptr::from_mut(&mut all).cast()) }
    all
}

/// The arguments of a block.
#[track_caller]
pub fn arguments(block: Block<'_>) -> Vec<Value<'_>> {
    let block = block.live();
    (0..block.argument_count())
        .map(|i| block.argument(i).expect("an argument in range").into())
        .collect()
}

/// Methods on values that `melior` lacks. In debug builds all but `handle` and `key` panic if the
/// operation that yields the value, or one around the block whose argument it is, was erased.
pub trait ValueExt<'c>: Copy {
    /// The value itself, as our handle.
    fn handle(self) -> Value<'c>;

    /// The value's identity, for use in maps.
    fn key(self) -> Key {
        Key(self.handle().to_raw().ptr as usize)
    }

    /// The operation that yields it, unless it is a block's argument.
    #[track_caller]
    fn defining_op(self) -> Option<Op<'c>> {
        let value = live(self.handle());
        if !self.handle().is_operation_result() {
            return None;
        }
        // Safety: the value is an operation's result.
        unsafe { Some(Op::from_raw(sys::mlirOpResultGetOwner(value))) }
    }

    /// Which of its operation's results it is.
    #[track_caller]
    fn result_number(self) -> Option<usize> {
        live(self.handle());
        if !self.handle().is_operation_result() {
            return None;
        }
        OperationResult::try_from(self.handle())
            .ok()
            .map(|r| r.result_number())
    }

    /// The block and index of a block's argument.
    #[track_caller]
    fn block_argument(self) -> Option<(Block<'c>, usize)> {
        let value = live(self.handle());
        // Asked first, because a failed conversion prints the value, and for that
        // verifies the whole module.
        if self.handle().is_operation_result() {
            return None;
        }
        let argument = BlockArgument::try_from(self.handle()).ok()?;
        // Safety: the block lives as long as its argument.
        let owner = unsafe { Block::from_raw(sys::mlirBlockArgumentGetOwner(value)) };
        Some((owner, argument.argument_number()))
    }

    /// The users and which of their operands this value is.
    #[track_caller]
    fn uses(self) -> Vec<(Op<'c>, usize)> {
        let mut all = Vec::new();
        let value = live(self.handle());
        // Safety: walking the use list of a valid value.
        unsafe {
            let mut operand = sys::mlirValueGetFirstUse(value);
            while !operand.ptr.is_null() {
                all.push((
                    Op::from_raw(sys::mlirOpOperandGetOwner(operand)),
                    sys::mlirOpOperandGetOperandNumber(operand) as usize,
                ));
                operand = sys::mlirOpOperandGetNextUse(operand);
            }
        }
        all
    }

    /// Makes every user use `with` instead.
    #[track_caller]
    fn replace_all_uses(self, with: Value<'c>) {
        let (old, new) = (live(self.handle()), live(with));
        // Safety: both values are valid.
        unsafe { sys::mlirValueReplaceAllUsesOfWith(old, new) }
    }

    /// The integer a constant holds.
    #[track_caller]
    fn constant_int(self) -> Option<i64> {
        let op = self.defining_op()?;
        if !is_constant(op) {
            return None;
        }
        crate::attributes::int(op.attr("value")?)
    }
}

/// Whether an op is a constant, of `arith` or of `index`, which folds its own to such.
pub fn is_constant(op: Op<'_>) -> bool {
    ["arith.constant", "index.constant", "index.bool.constant"].contains(&op.full_name())
}

/// A value of an operation that was not erased, for MLIR's C API.
#[track_caller]
fn live(value: Value<'_>) -> sys::MlirValue {
    let raw = value.to_raw();
    erased::check_value(raw);
    raw
}

impl<'c> ValueExt<'c> for Value<'c> {
    fn handle(self) -> Value<'c> {
        self
    }
}

/// A new block with arguments of these types.
pub fn new_block<'c>(types: &[Type<'c>], location: Location<'c>) -> melior::ir::Block<'c> {
    let typed: Vec<_> = types.iter().map(|t| (*t, location)).collect();
    melior::ir::Block::new(&typed)
}

/// Builds an operation by name: of our own ops, the `NAME` in [`crate::ops`].
///
/// # Panics
///
/// Where the op's types cannot be inferred: a mistake in the caller.
#[track_caller]
pub fn build<'c>(
    name: &str,
    location: Location<'c>,
    operands: &[Value<'c>],
    results: &[Type<'c>],
    attributes: &[(&str, Attribute<'c>)],
    regions: Vec<melior::ir::Region<'c>>,
) -> melior::ir::Operation<'c> {
    operands.iter().for_each(|operand| {
        live(*operand);
    });
    let context = location.context();
    // Safety: a location lives in its context; `context` stays where it is
    // while the reference to it is used.
    let context = unsafe { context.to_ref() };
    let named: Vec<_> = attributes
        .iter()
        .map(|(name, value)| (Identifier::new(context, name), *value))
        .collect();
    OperationBuilder::new(name, location)
        .add_operands(operands)
        .add_results(results)
        .add_attributes(&named)
        .add_regions_vec(regions)
        .build()
        .unwrap_or_else(|error| panic!("building {name}: {error}"))
}

/// The element type of a memref.
pub fn element_type<'c>(memref: Type<'c>) -> Option<Type<'c>> {
    use melior::ir::ShapedTypeLike;
    as_memref(memref).map(|t| t.element())
}

/// Scalars in each row of a memref with a trailing static dimension; none if its elements are scalars themselves.
pub fn row_length(memref: Type<'_>) -> Option<i64> {
    use melior::ir::{ShapedTypeLike, r#type::DimSize};
    match as_memref(memref)?.dim_size(1) {
        Ok(DimSize::Static(length)) => Some(length as i64),
        _ => None,
    }
}

/// A type as that of a memref, if it is one.
pub fn as_memref(r#type: Type<'_>) -> Option<MemRefType<'_>> {
    // Asked first, for the error of what is none holds it printed.
    r#type
        .is_mem_ref()
        .then(|| MemRefType::try_from(r#type).ok())?
}

/// The width in bits of an integer or float type; 64 for `index`.
pub fn bit_width(r#type: Type<'_>) -> u32 {
    // Safety: each query is made of a type of its kind.
    unsafe {
        let t = r#type.to_raw();
        if sys::mlirTypeIsAInteger(t) {
            sys::mlirIntegerTypeGetWidth(t)
        } else if sys::mlirTypeIsAFloat(t) {
            sys::mlirFloatTypeGetWidth(t)
        } else {
            64
        }
    }
}

/// Whether a type is a float.
pub fn is_float(r#type: Type<'_>) -> bool {
    // Safety: the type is valid.
    unsafe { sys::mlirTypeIsAFloat(r#type.to_raw()) }
}
