//! Handles to operations, values and blocks, and how to change them.
//!
//! Handles are `Copy` and refer into IR that a pass or a builder owns. As in
//! C++, a handle to an erased operation must not be used again.

use melior::ir::{
    Attribute, BlockLike, BlockRef, Identifier, Location, OperationRef, RegionLike, RegionRef,
    Type, TypeLike, ValueLike, block::BlockArgument, operation::OperationBuilder,
    operation::OperationLike, operation::OperationResult, r#type::MemRefType,
};
use mlir_sys as sys;

/// An operation.
pub type Op<'c> = OperationRef<'c, 'c>;
/// A value: an operation's result or a block's argument.
pub type Value<'c> = melior::ir::Value<'c, 'c>;
/// A block.
pub type Block<'c> = BlockRef<'c, 'c>;
/// A region.
pub type Region<'c> = RegionRef<'c, 'c>;
/// The context that owns all types and attributes.
pub type Context = melior::Context;

/// Where new operations go.
#[derive(Clone, Copy, Debug)]
pub enum InsertionPoint<'c> {
    /// Behind the last operation of a block.
    End(Block<'c>),
    /// Before an operation.
    Before(Op<'c>),
}

impl<'c> InsertionPoint<'c> {
    /// Inserts a detached operation here.
    pub fn insert(self, op: melior::ir::Operation<'c>) -> Op<'c> {
        match self {
            Self::End(block) => block.append_operation(op),
            // Safety: both operations are valid, and the block takes ownership.
            Self::Before(next) => unsafe {
                let raw = op.into_raw();
                let block = sys::mlirOperationGetBlock(next.to_raw());
                sys::mlirBlockInsertOwnedOperationBefore(block, next.to_raw(), raw);
                OperationRef::from_raw(raw)
            },
        }
    }

    /// The block new operations go to.
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

/// What tells this block from every other, for use in maps.
pub fn block_key(block: Block<'_>) -> Key {
    Key(block.to_raw().ptr as usize)
}

/// What `melior` lacks on operations.
pub trait OpExt<'c>: Sized + Copy {
    /// The operation itself, as our handle.
    fn handle(self) -> Op<'c>;

    /// The full name, such as `qd.simt.shuffle`.
    fn full_name(self) -> &'c str {
        std::str::from_utf8(name_of(self.handle())).unwrap_or("?")
    }

    /// What tells this operation from every other, for use in maps.
    fn key(self) -> Key {
        Key(self.handle().to_raw().ptr as usize)
    }

    /// Whether the operation has this full name.
    fn is(self, name: &str) -> bool {
        name_of(self.handle()) == name.as_bytes()
    }

    /// Whether it is called as another operation is, and has the same attributes.
    fn is_alike(self, other: Op<'c>) -> bool {
        // Safety: both operations are valid.
        unsafe { qd_sys::qdHaveSameAttributes(self.handle().to_raw(), other.to_raw()) }
    }

    /// All operands.
    fn operand_values(self) -> Vec<Value<'c>> {
        let op = self.handle();
        (0..op.operand_count())
            .map(|i| op.operand(i).expect("an operand in range"))
            .collect()
    }

    /// All results.
    fn result_values(self) -> Vec<Value<'c>> {
        let op = self.handle();
        (0..op.result_count())
            .map(|i| op.result(i).expect("a result in range").into())
            .collect()
    }

    /// The only or first result.
    fn first_result(self) -> Value<'c> {
        self.handle()
            .result(0)
            .expect("an operation with a result")
            .into()
    }

    /// The operand groups of an op with `AttrSizedOperandSegments`, and the
    /// operands as they are for any other op.
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
    fn attr(self, name: &str) -> Option<Attribute<'c>> {
        self.handle().attribute(name).ok()
    }

    /// Sets an attribute.
    fn set_attr(self, name: &str, value: Attribute<'c>) {
        let name = melior::StringRef::new(name);
        // Safety: the operation is valid.
        unsafe {
            sys::mlirOperationSetAttributeByName(self.handle().to_raw(), name.to_raw(), raw(value))
        }
    }

    /// Removes an attribute if it is there.
    fn remove_attr(self, name: &str) {
        let name = melior::StringRef::new(name);
        // Safety: the operation is valid.
        unsafe {
            sys::mlirOperationRemoveAttributeByName(self.handle().to_raw(), name.to_raw());
        }
    }

    /// The first block of the first region.
    fn body(self) -> Option<Block<'c>> {
        self.region_block(0)
    }

    /// The first block of a region, by its index.
    fn region_block(self, index: usize) -> Option<Block<'c>> {
        // Asked first, because `melior`'s error holds the operation as text, and
        // to print one verifies the whole module.
        if index >= self.handle().region_count() {
            return None;
        }
        self.handle().region(index).ok()?.first_block()
    }

    /// The operation before this one in its block.
    fn previous_in_block(self) -> Option<Op<'c>> {
        // Safety: the operation is valid; null where it is the first.
        unsafe { OperationRef::from_option_raw(qd_sys::qdPreviousInBlock(self.handle().to_raw())) }
    }

    /// Says that the operation is from somewhere else.
    fn set_location(self, location: Location<'c>) {
        // Safety: both are valid.
        unsafe { sys::mlirOperationSetLocation(self.handle().to_raw(), location.to_raw()) }
    }

    /// The operation around this one.
    fn parent(self) -> Option<Op<'c>> {
        self.handle().parent_operation()
    }

    /// Takes the operation out of its block and destroys it. It must have no
    /// uses left.
    fn erase(self) {
        // Safety: the operation is valid and no longer used.
        unsafe { qd_sys::qdErase(self.handle().to_raw()) }
    }

    /// Replaces all uses of the results and erases the operation.
    fn replace_with(self, values: &[Value<'c>]) {
        for (old, new) in self.result_values().into_iter().zip(values) {
            old.replace_all_uses(*new);
        }
        self.erase();
    }

    /// Moves the operation to an insertion point.
    fn move_to(self, at: InsertionPoint<'c>) {
        let op = self.handle().to_raw();
        // Safety: the operation is valid; the block takes it over.
        unsafe {
            sys::mlirOperationRemoveFromParent(op);
            at.insert(melior::ir::Operation::from_raw(op));
        }
    }

    /// A deep copy, detached; operands still refer to the originals.
    fn detached_clone(self) -> melior::ir::Operation<'c> {
        // Safety: cloning a valid operation yields a valid, owned one.
        unsafe { melior::ir::Operation::from_raw(sys::mlirOperationClone(self.handle().to_raw())) }
    }

    /// Sets one operand.
    fn set_operand_at(self, index: usize, value: Value<'c>) {
        // Safety: the index is in range by the caller's contract; checked here.
        assert!(index < self.handle().operand_count(), "operand index");
        // Safety: the operation and the value are valid, and it has such an operand.
        unsafe {
            sys::mlirOperationSetOperand(self.handle().to_raw(), index as isize, value.to_raw())
        }
    }

    /// Every operation below this one and itself, in pre-order.
    fn walk_all(self) -> Vec<Op<'c>> {
        let mut all = vec![self.handle()];
        collect_nested(self.handle(), &mut all);
        all
    }

    /// Every operation below this one, in pre-order.
    fn nested(self) -> Vec<Op<'c>> {
        let mut all = Vec::new();
        collect_nested(self.handle(), &mut all);
        all
    }
}

/// An operation's full name, which MLIR does not hold to be UTF-8.
fn name_of<'c>(op: Op<'c>) -> &'c [u8] {
    // Safety: identifiers live as long as the context.
    unsafe {
        let name = sys::mlirIdentifierStr(sys::mlirOperationGetName(op.to_raw()));
        std::slice::from_raw_parts(name.data.cast::<u8>(), name.length)
    }
}

fn collect_nested<'c>(op: Op<'c>, into: &mut Vec<Op<'c>>) {
    for index in 0..op.region_count() {
        let region: Region<'c> = op.region(index).expect("a region in range");
        let mut block = region.first_block();
        while let Some(current) = block {
            let mut next = current.first_operation();
            while let Some(inner) = next {
                into.push(inner);
                collect_nested(inner, into);
                next = inner.next_in_block();
            }
            block = current.next_in_region();
        }
    }
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
pub fn operations(block: Block<'_>) -> Vec<Op<'_>> {
    let mut all = Vec::new();
    let mut next = block.first_operation();
    while let Some(op) = next {
        all.push(op);
        next = op.next_in_block();
    }
    all
}

/// The arguments of a block.
pub fn arguments(block: Block<'_>) -> Vec<Value<'_>> {
    (0..block.argument_count())
        .map(|i| block.argument(i).expect("an argument in range").into())
        .collect()
}

/// What `melior` lacks on values.
pub trait ValueExt<'c>: Copy {
    /// The value itself, as our handle.
    fn handle(self) -> Value<'c>;

    /// What tells this value from every other, for use in maps.
    fn key(self) -> Key {
        Key(self.handle().to_raw().ptr as usize)
    }

    /// The operation that yields it, unless it is a block's argument.
    fn defining_op(self) -> Option<Op<'c>> {
        let value = self.handle();
        if !value.is_operation_result() {
            return None;
        }
        // Safety: the value is an operation's result.
        unsafe {
            Some(OperationRef::from_raw(sys::mlirOpResultGetOwner(
                value.to_raw(),
            )))
        }
    }

    /// Which of its operation's results it is.
    fn result_number(self) -> Option<usize> {
        if !self.handle().is_operation_result() {
            return None;
        }
        OperationResult::try_from(self.handle())
            .ok()
            .map(|r| r.result_number())
    }

    /// The block and index of a block's argument.
    fn block_argument(self) -> Option<(Block<'c>, usize)> {
        // Asked first, because a failed conversion prints the value, and for that
        // verifies the whole module.
        if self.handle().is_operation_result() {
            return None;
        }
        let argument = BlockArgument::try_from(self.handle()).ok()?;
        // Safety: the block lives as long as its argument.
        let owner =
            unsafe { BlockRef::from_raw(sys::mlirBlockArgumentGetOwner(self.handle().to_raw())) };
        Some((owner, argument.argument_number()))
    }

    /// The users and which of their operands this value is.
    fn uses(self) -> Vec<(Op<'c>, usize)> {
        let mut all = Vec::new();
        // Safety: walking the use list of a valid value.
        unsafe {
            let mut operand = sys::mlirValueGetFirstUse(self.handle().to_raw());
            while !operand.ptr.is_null() {
                all.push((
                    OperationRef::from_raw(sys::mlirOpOperandGetOwner(operand)),
                    sys::mlirOpOperandGetOperandNumber(operand) as usize,
                ));
                operand = sys::mlirOpOperandGetNextUse(operand);
            }
        }
        all
    }

    /// Makes every user use `with` instead.
    fn replace_all_uses(self, with: Value<'c>) {
        // Safety: both values are valid.
        unsafe { sys::mlirValueReplaceAllUsesOfWith(self.handle().to_raw(), with.to_raw()) }
    }

    /// The integer a constant holds.
    fn constant_int(self) -> Option<i64> {
        let op = self.defining_op()?;
        if !op.is("arith.constant") {
            return None;
        }
        crate::attributes::int(op.attr("value")?)
    }
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

/// Builds an operation by name. For ops of our own prefer [`crate::ops`].
///
/// # Panics
///
/// Where the op's types cannot be inferred: a mistake in the caller.
pub fn build<'c>(
    name: &str,
    location: Location<'c>,
    operands: &[Value<'c>],
    results: &[Type<'c>],
    attributes: &[(&str, Attribute<'c>)],
    regions: Vec<melior::ir::Region<'c>>,
) -> melior::ir::Operation<'c> {
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
