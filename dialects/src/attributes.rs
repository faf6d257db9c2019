//! Making and reading attributes.

pub mod names;

use crate::ir::Context;
use melior::{
    StringRef,
    ir::{
        Attribute, AttributeLike, Type, TypeLike,
        attribute::{
            ArrayAttribute, BoolAttribute, DenseI64ArrayAttribute, IntegerAttribute,
            StringAttribute,
        },
        r#type::IntegerType,
    },
};
use mlir_sys as sys;
use std::{fmt, str::FromStr};

/// A boolean.
pub fn bool(context: &Context, value: bool) -> Attribute<'_> {
    BoolAttribute::new(context, value).into()
}

/// An `i32` constant.
pub fn i32(context: &Context, value: i32) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 32).into(), value.into()).into()
}

/// An `i64` constant.
pub fn i64(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 64).into(), value).into()
}

/// A string.
pub fn string<'c>(context: &'c Context, value: &str) -> Attribute<'c> {
    StringAttribute::new(context, value).into()
}

/// A unit attribute.
pub fn unit(context: &Context) -> Attribute<'_> {
    Attribute::unit(context)
}

/// A reference to a symbol.
pub fn symbol<'c>(context: &'c Context, name: &str) -> Attribute<'c> {
    melior::ir::attribute::FlatSymbolRefAttribute::new(context, name).into()
}

/// A dense array of `i64`.
pub fn i64_array<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// An attribute of ours that wraps an enum: `#qd.kind<add>`.
///
/// # Panics
///
/// If the dialect has no such attribute or case: a mistake in the caller.
pub fn case<'c>(context: &'c Context, attribute: &str, case: &str) -> Attribute<'c> {
    // Safety: strings are copied, and null is none.
    let made = unsafe {
        let (mnemonic, name) = (StringRef::new(attribute), StringRef::new(case));
        let raw = qd_sys::qdCase(context.to_raw(), mnemonic.to_raw(), name.to_raw());
        Attribute::from_option_raw(raw)
    };
    made.unwrap_or_else(|| panic!("#qd.{attribute} has no case '{case}'"))
}

/// The case that an attribute of ours holds, `add` of `#qd.kind<add>`; `none` of an arithmetic op's flags
/// that promise nothing.
pub fn case_of(attribute: Attribute<'_>) -> Option<&'static str> {
    // Safety: the names of cases are constants of the program's.
    let name = unsafe { StringRef::from_raw(qd_sys::qdCaseOf(attribute.to_raw())).as_str() };
    name.ok().filter(|name| !name.is_empty())
}

/// The value of an integer attribute, sign-extended from its type's width
/// (a boolean is 0 or 1).
pub fn int(attribute: Attribute<'_>) -> Option<i64> {
    // Safety: each query is made of an attribute of its kind.
    unsafe {
        let raw = attribute.to_raw();
        if !sys::mlirAttributeIsAInteger(raw) {
            return None;
        }
        if sys::mlirAttributeIsABool(raw) {
            return Some(sys::mlirBoolAttrGetValue(raw).into());
        }
        Some(sys::mlirIntegerAttrGetValueInt(raw))
    }
}

/// The type of an integer or float attribute.
pub fn type_of<'c>(attribute: Attribute<'c>) -> Type<'c> {
    // Safety: the attribute is valid.
    unsafe { Type::from_raw(sys::mlirAttributeGetType(attribute.to_raw())) }
}

/// The value of a float attribute.
pub fn float(attribute: Attribute<'_>) -> Option<f64> {
    // Safety: the value is read of a float attribute only.
    unsafe {
        let raw = attribute.to_raw();
        sys::mlirAttributeIsAFloat(raw).then(|| sys::mlirFloatAttrGetValueDouble(raw))
    }
}

/// The text of a string attribute; bytes that are no UTF-8 as MLIR prints them.
pub fn text(attribute: Attribute<'_>) -> Option<String> {
    let raw = attribute.to_raw();
    // Safety: the value is read of a string attribute only.
    unsafe { sys::mlirAttributeIsAString(raw).then(|| spelled(sys::mlirStringAttrGetValue(raw))) }
}

/// The name a symbol reference holds, spelled as [`text`] does.
pub fn symbol_name(attribute: Attribute<'_>) -> Option<String> {
    let raw = attribute.to_raw();
    // Safety: the value is read of a reference without a path only.
    unsafe {
        sys::mlirAttributeIsAFlatSymbolRef(raw)
            .then(|| spelled(sys::mlirFlatSymbolRefAttrGetValue(raw)))
    }
}

/// Adds the symbols that an attribute names, in arrays and dictionaries, too: of a reference with a
/// path the first, which is looked up where the others are in what it finds.
pub fn add_symbols(attribute: Attribute<'_>, to: &mut Vec<String>) {
    let raw = attribute.to_raw();
    // Safety: each query is made of an attribute of its kind, and in range.
    unsafe {
        if sys::mlirAttributeIsASymbolRef(raw) {
            to.push(spelled(sys::mlirSymbolRefAttrGetRootReference(raw)));
        } else if sys::mlirAttributeIsAArray(raw) {
            for i in 0..sys::mlirArrayAttrGetNumElements(raw) {
                add_symbols(
                    Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, i)),
                    to,
                );
            }
        } else if sys::mlirAttributeIsADictionary(raw) {
            for i in 0..sys::mlirDictionaryAttrGetNumElements(raw) {
                let entry = sys::mlirDictionaryAttrGetElement(raw, i);
                add_symbols(Attribute::from_raw(entry.attribute), to);
            }
        }
    }
}

/// MLIR's strings are bytes. What is no UTF-8 becomes `\FF`, so that two names stay
/// two.
pub(crate) fn spelled(string: sys::MlirStringRef) -> String {
    if string.length == 0 {
        return String::new();
    }
    // Safety: attributes and identifiers live as long as the context.
    let bytes = unsafe { std::slice::from_raw_parts(string.data.cast::<u8>(), string.length) };
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text += chunk.valid();
        for byte in chunk.invalid() {
            text += &format!("\\{byte:02X}");
        }
    }
    text
}

/// The elements of a dense array of `i64`; none of any other attribute.
pub fn i64s(attribute: Attribute<'_>) -> Vec<i64> {
    let raw = attribute.to_raw();
    // Safety: asked of a dense array of i64 alone, and in range.
    unsafe {
        if !sys::mlirAttributeIsADenseI64Array(raw) {
            return Vec::new();
        }
        (0..sys::mlirDenseArrayGetNumElements(raw))
            .map(|i| sys::mlirDenseI64ArrayGetElement(raw, i))
            .collect()
    }
}

/// The entries of a dictionary, by name; none of any other attribute.
pub fn entries<'c>(attribute: Attribute<'c>) -> Option<Vec<(String, Attribute<'c>)>> {
    let raw = attribute.to_raw();
    // Safety: asked of a dictionary alone, and in range; names live as long as the
    // context.
    unsafe {
        if !sys::mlirAttributeIsADictionary(raw) {
            return None;
        }
        let entry = |i| {
            let entry = sys::mlirDictionaryAttrGetElement(raw, i);
            let name = spelled(sys::mlirIdentifierStr(entry.name));
            (name, Attribute::from_raw(entry.attribute))
        };
        Some(
            (0..sys::mlirDictionaryAttrGetNumElements(raw))
                .map(entry)
                .collect(),
        )
    }
}

/// The entries of a dictionary that hold strings.
pub fn strings(attribute: Attribute<'_>) -> Vec<(String, String)> {
    let entries = entries(attribute).unwrap_or_default();
    let string = |(name, value)| Some((name, text(value)?));
    entries.into_iter().filter_map(string).collect()
}

/// The elements of an array attribute.
pub fn elements<'c>(attribute: Attribute<'c>) -> Vec<Attribute<'c>> {
    let Ok(array) = ArrayAttribute::try_from(attribute) else {
        return Vec::new();
    };
    (0..array.len())
        .map(|i| array.element(i).expect("an element in range"))
        .collect()
}

/// How values are combined. Spelled as upstream's `vector.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Add,
    Mul,
    MinSi,
    MinUi,
    MinNumF,
    MaxSi,
    MaxUi,
    MaxNumF,
    And,
    Or,
    Xor,
}

/// The kinds that combine integers, whose results are the same in any order.
pub const INTEGER_KINDS: [Kind; 9] = [
    Kind::Add,
    Kind::Mul,
    Kind::MinSi,
    Kind::MinUi,
    Kind::MaxSi,
    Kind::MaxUi,
    Kind::And,
    Kind::Or,
    Kind::Xor,
];

/// The kinds of which a value that was combined with an integer can be had without it.
pub const INVERTIBLE_KINDS: [Kind; 2] = [Kind::Add, Kind::Xor];

/// Every kind and its spelling.
pub const KINDS: [(Kind, &str); 11] = [
    (Kind::Add, "add"),
    (Kind::Mul, "mul"),
    (Kind::MinSi, "minsi"),
    (Kind::MinUi, "minui"),
    (Kind::MinNumF, "minnumf"),
    (Kind::MaxSi, "maxsi"),
    (Kind::MaxUi, "maxui"),
    (Kind::MaxNumF, "maxnumf"),
    (Kind::And, "and"),
    (Kind::Or, "or"),
    (Kind::Xor, "xor"),
];

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (_, name) = KINDS
            .iter()
            .find(|(kind, _)| kind == self)
            .expect("every kind is listed");
        f.write_str(name)
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        KINDS
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(kind, _)| *kind)
            .ok_or_else(|| format!("unknown combining kind '{text}'"))
    }
}

impl Kind {
    /// The attribute `#qd.kind<…>`.
    pub fn attribute(self, context: &Context) -> Attribute<'_> {
        case(context, "kind", &self.to_string())
    }

    /// The kind an attribute holds.
    pub fn of(attribute: Attribute<'_>) -> Option<Self> {
        case_of(attribute)?.parse().ok()
    }

    /// What combining nothing yields, as a constant of `type`: 0 for `add`, `or` and
    /// `xor`, 1 for `mul`, all ones for `and`, +inf or the largest integer for minima,
    /// −inf or the smallest for maxima.
    pub fn identity<'c>(self, context: &'c Context, r#type: Type<'c>) -> Attribute<'c> {
        if crate::ir::is_float(r#type) {
            let value = match self {
                Kind::Mul => 1.0,
                Kind::MinNumF => f64::INFINITY,
                Kind::MaxNumF => f64::NEG_INFINITY,
                _ => 0.0,
            };
            return float_constant(context, r#type, value);
        }
        let width = crate::ir::bit_width(r#type);
        let signed_min = i64::MIN >> (64 - width);
        let value = match self {
            Kind::Mul => 1,
            Kind::And | Kind::MinUi => -1,
            Kind::MinSi => !signed_min,
            Kind::MaxSi => signed_min,
            _ => 0,
        };
        IntegerAttribute::new(r#type, value).into()
    }

    /// What may be combined with any value and does not show. That is the identity, but
    /// for `minnumf` and `maxnumf` a NaN: those ignore it, while an infinity would take
    /// the place of NaNs that are all there is.
    pub fn neutral<'c>(self, context: &'c Context, r#type: Type<'c>) -> Attribute<'c> {
        match self {
            Kind::MinNumF | Kind::MaxNumF => float_constant(context, r#type, f64::NAN),
            _ => self.identity(context, r#type),
        }
    }
}

/// A float constant of the given type.
pub fn float_constant<'c>(context: &'c Context, r#type: Type<'c>, value: f64) -> Attribute<'c> {
    // Safety: the type is a float of this context.
    unsafe {
        Attribute::from_raw(sys::mlirFloatAttrDoubleGet(
            context.to_raw(),
            r#type.to_raw(),
            value,
        ))
    }
}
