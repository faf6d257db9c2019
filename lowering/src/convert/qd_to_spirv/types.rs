//! Types of the `spirv` dialect.

use melior::ir::{Attribute, Type};
use qd_dialects::{
    builder::{Builder, V},
    ir, melior,
};

/// Where memory is, as far as it matters to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A buffer.
    Device,
    /// A block's.
    Workgroup,
    /// A block's, in which an element of less than 32 bits has a word.
    Words,
    /// A thread's private memory.
    Function,
}

impl Storage {
    /// As SPIR-V spells it.
    pub fn name(self) -> &'static str {
        match self {
            Storage::Device => "PhysicalStorageBuffer",
            Storage::Workgroup | Storage::Words => "Workgroup",
            Storage::Function => "Function",
        }
    }
}

/// A type or an attribute of the dialect, which every context that gets here has.
pub fn parse<'c>(b: &Builder<'c>, text: &str) -> Type<'c> {
    Type::parse(b.context(), text).unwrap_or_else(|| panic!("{text} is a type"))
}

/// See [`parse`].
pub fn attribute<'c>(b: &Builder<'c>, text: &str) -> Attribute<'c> {
    Attribute::parse(b.context(), text).unwrap_or_else(|| panic!("{text} is an attribute"))
}

/// A case of an enum of the dialect: `#spirv.scope<Subgroup>`.
pub fn case<'c>(b: &Builder<'c>, name: &str, case: &str) -> Attribute<'c> {
    attribute(b, &format!("#spirv.{name}<{case}>"))
}

/// A pointer to what is spelled `to`.
pub fn pointer<'c>(b: &Builder<'c>, to: &str, storage: Storage) -> Type<'c> {
    parse(b, &format!("!spirv.ptr<{to}, {}>", storage.name()))
}

/// How memory of unknown length is spelled: a block of these elements.
pub fn buffer(element: Type<'_>) -> String {
    let bytes = ir::bit_width(element) / 8;
    format!("!spirv.struct<(!spirv.rtarray<{element}, stride={bytes}> [0])>")
}

/// A number that has to be known, such as that of a member.
pub fn constant<'b, 'c>(b: &'b Builder<'c>, number: i32) -> V<'b, 'c> {
    let number = qd_dialects::attributes::i32(b.context(), number);
    b.result("spirv.Constant", &[], b.int_type(32), &[("value", number)])
}

/// The pointer to a member or an element.
pub fn access<'b, 'c>(
    b: &'b Builder<'c>,
    base: V<'b, 'c>,
    indices: &[V<'b, 'c>],
    to: Type<'c>,
) -> V<'b, 'c> {
    let mut operands = vec![base];
    operands.extend(indices);
    b.result("spirv.AccessChain", &operands, to, &[])
}

/// What an access of `type` says: other threads may access the same memory,
/// and what it is aligned to.
pub fn accessing<'c>(
    b: &Builder<'c>,
    storage: Storage,
    r#type: Type<'c>,
) -> Vec<(&'static str, Attribute<'c>)> {
    let access = match storage {
        Storage::Device => "Aligned|NonPrivatePointer",
        Storage::Workgroup | Storage::Words => "NonPrivatePointer",
        Storage::Function => return Vec::new(),
    };
    let mut attributes = vec![(
        "memory_access",
        attribute(b, &format!("#spirv.memory_access<{access}>")),
    )];
    if storage == Storage::Device {
        let bytes = ir::bit_width(r#type) / 8;
        attributes.push((
            "alignment",
            qd_dialects::attributes::i32(b.context(), bytes as i32),
        ));
    }
    attributes
}
