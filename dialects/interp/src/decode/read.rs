//! Reading attributes, types and locations.

use super::Op;
use crate::{
    fault::{Fault, Site},
    program::{Kind, Parameter},
    value::Element,
};
use melior::ir::{
    Attribute, AttributeLike, Identifier, Location, Type, TypeLike, Value, ValueLike,
    attribute::{
        ArrayAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute, DictionaryAttribute,
        FlatSymbolRefAttribute, FloatAttribute, IntegerAttribute, StringAttribute,
    },
    operation::OperationLike,
    r#type::{DimSize, IntegerType, MemRefType, ShapedTypeLike},
};
use mlir_sys::MlirStringRef;
use qd_artifact::Dtype;

/// The text of an operation's or attribute's name.
pub(super) fn text(identifier: Identifier) -> String {
    // Safety: the identifier is valid.
    spelled(unsafe { mlir_sys::mlirIdentifierStr(identifier.to_raw()) })
}

/// MLIR's strings are bytes. What is no UTF-8 becomes `\FF`, as MLIR prints it.
fn spelled(string: MlirStringRef) -> String {
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

/// `file:line:column` of a location, or MLIR's spelling of it.
pub(super) fn location(at: Location) -> String {
    if at.is_file_line_col_range() {
        return format!(
            "{}:{}:{}",
            text(at.file_line_col_range_filename()),
            at.file_line_col_range_start_line(),
            at.file_line_col_range_start_column()
        );
    }
    if at.is_name() {
        let child = at.name_child_location();
        if child.is_file_line_col_range() {
            return location(child);
        }
        return text(at.name_value());
    }
    if at.is_call_site() {
        return location(at.call_site_callee());
    }
    if at.is_fused() && at.fused_num_locations() > 0 {
        return location(at.fused_location(0));
    }
    at.to_string()
}

pub(super) fn site(op: Op) -> Site {
    Site {
        location: location(op.location()),
        operation: text(op.name()),
    }
}

/// A fault at an operation.
pub(super) fn fault(op: Op, message: impl Into<String>) -> Fault {
    site(op).fault(message)
}

/// An attribute that the operation must have.
pub(super) fn required<'c>(op: Op<'c, '_>, name: &str) -> Result<Attribute<'c>, Fault> {
    op.attribute(name)
        .map_err(|_| fault(op, format!("lacks the attribute '{name}'")))
}

pub(super) fn integer(op: Op, name: &str) -> Option<i64> {
    let attribute = op.attribute(name).ok()?;
    IntegerAttribute::try_from(attribute)
        .ok()
        .map(|attribute| attribute.value())
}

pub(super) fn required_integer(op: Op, name: &str) -> Result<i64, Fault> {
    integer(op, name).ok_or_else(|| fault(op, format!("lacks the integer attribute '{name}'")))
}

pub(super) fn required_u32(op: Op, name: &str) -> Result<u32, Fault> {
    let value = required_integer(op, name)?;
    u32::try_from(value).map_err(|_| fault(op, format!("has '{name}' = {value}, out of range")))
}

/// log2 of the tile a collective works on, within the subgroup.
pub(super) fn tile(op: Op, wave: u32) -> Result<Option<u32>, Fault> {
    let Some(tile) = integer(op, "tile") else {
        return Ok(None);
    };
    match u32::try_from(tile) {
        Ok(tile) if tile < 32 && 1 << tile <= wave => Ok(Some(tile)),
        _ => Err(fault(
            op,
            format!("has tile({tile}), more than a subgroup of {wave} lanes holds"),
        )),
    }
}

pub(super) fn integers(op: Op, name: &str) -> Vec<i64> {
    let Ok(attribute) = op.attribute(name) else {
        return Vec::new();
    };
    if let Ok(array) = DenseI64ArrayAttribute::try_from(attribute) {
        return (0..array.len())
            .filter_map(|index| array.element(index).ok())
            .collect();
    }
    let Ok(array) = DenseI32ArrayAttribute::try_from(attribute) else {
        return Vec::new();
    };
    (0..array.len())
        .filter_map(|index| array.element(index).ok().map(i64::from))
        .collect()
}

/// What the sites of a `qd.grid.faults` are called: `"text" at file:line:column`.
pub(super) fn sites(op: Op) -> Result<Vec<String>, Fault> {
    let all = described(op, ["text", "at"])?.into_iter();
    Ok(all
        .map(|[text, at]| format!("\"{text}\" at {at}"))
        .collect())
}

/// What the sites of a `qd.grid.prints` print: a format, and the types of its values.
pub(super) fn prints(op: Op) -> Result<Vec<(String, Vec<Dtype>)>, Fault> {
    let all = described(op, ["text", "types"])?.into_iter();
    let all = all.map(|[format, types]| {
        let types = types.split_terminator(',').map(str::parse);
        let types = types.collect::<Result<_, _>>();
        Ok((format, types.map_err(|why: String| fault(op, why))?))
    });
    all.collect()
}

/// The strings of these names that each site of an op has.
fn described<const N: usize>(op: Op, names: [&str; N]) -> Result<Vec<[String; N]>, Fault> {
    let sites = ArrayAttribute::try_from(required(op, "sites")?)
        .map_err(|_| fault(op, "'sites' is not an array"))?;
    let said = |site: &DictionaryAttribute, name: &str| {
        let attribute = StringAttribute::try_from(site.element_by_name(name)?).ok()?;
        // Safety: it is a string attribute.
        Some(spelled(unsafe {
            mlir_sys::mlirStringAttrGetValue(attribute.to_raw())
        }))
    };
    let of = |place: usize| {
        let site = DictionaryAttribute::try_from(sites.element(place).ok()?).ok()?;
        let all: Vec<String> = names.iter().filter_map(|name| said(&site, name)).collect();
        all.try_into().ok()
    };
    let all = (0..sites.len()).map(|place| {
        of(place).ok_or_else(|| fault(op, format!("has a site without {}", names.join(" and "))))
    });
    all.collect()
}

pub(super) fn string(op: Op, name: &str) -> Option<String> {
    let attribute = StringAttribute::try_from(op.attribute(name).ok()?).ok()?;
    // Safety: it is a string attribute.
    Some(spelled(unsafe {
        mlir_sys::mlirStringAttrGetValue(attribute.to_raw())
    }))
}

pub(super) fn symbol(op: Op, name: &str) -> Result<String, Fault> {
    FlatSymbolRefAttribute::try_from(required(op, name)?)
        .map(|attribute| {
            // Safety: it is a symbol reference.
            spelled(unsafe { mlir_sys::mlirFlatSymbolRefAttrGetValue(attribute.to_raw()) })
        })
        .map_err(|_| fault(op, format!("'{name}' is not the name of a symbol")))
}

/// The case of an enumeration: the last word of `#qd.kind<add>` or
/// `#qd<shuffle_mode xor>`.
pub(super) fn case<T>(op: Op, name: &str, parse: fn(&str) -> Option<T>) -> Result<T, Fault> {
    let printed = required(op, name)?.to_string();
    let inner = printed.rsplit('<').next().unwrap_or_default();
    let word = inner
        .trim_end_matches('>')
        .split_whitespace()
        .last()
        .unwrap_or_default();
    parse(word).ok_or_else(|| {
        fault(
            op,
            format!("has '{name}' = {printed}, which is unknown here"),
        )
    })
}

pub(super) fn kind(op: Op) -> Result<Option<Kind>, Fault> {
    if op.has_attribute("kind") {
        case(op, "kind", Kind::parse).map(Some)
    } else {
        Ok(None)
    }
}

/// The bits of a numeric attribute as a value of a type.
pub(super) fn constant(attribute: Attribute, element: Element) -> Option<u64> {
    if let Ok(value) = FloatAttribute::try_from(attribute) {
        return element.is_float().then(|| element.rounded(value.value()));
    }
    let value = IntegerAttribute::try_from(attribute).ok()?;
    (!element.is_float()).then(|| value.value() as u64 & element.mask())
}

/// A scalar type that has reference semantics.
pub(super) fn element(of: Type) -> Option<Element> {
    if of.is_index() {
        return Some(Element::Index);
    }
    if of.is_f16() {
        return Some(Element::F16);
    }
    if of.is_bf16() {
        return Some(Element::BF16);
    }
    if of.is_f32() {
        return Some(Element::F32);
    }
    if of.is_f64() {
        return Some(Element::F64);
    }
    match IntegerType::try_from(of).ok()?.width() {
        1 => Some(Element::I1),
        8 => Some(Element::I8),
        16 => Some(Element::I16),
        32 => Some(Element::I32),
        64 => Some(Element::I64),
        _ => None,
    }
}

/// The scalar type of a value.
pub(super) fn element_of(op: Op, value: Value) -> Result<Element, Fault> {
    element(value.r#type()).ok_or_else(|| {
        fault(
            op,
            format!("has no reference semantics on {}", value.r#type()),
        )
    })
}

/// Element type and shape of a memref type.
pub(super) fn memref(op: Op, of: Type) -> Result<(Element, Vec<Option<usize>>), Fault> {
    let unsupported = || fault(op, format!("has no reference semantics on {of}"));
    let shaped = MemRefType::try_from(of).map_err(|_| unsupported())?;
    let element = element(shaped.element()).ok_or_else(unsupported)?;
    let shape = (0..shaped.rank()).map(|at| match shaped.dim_size(at) {
        Ok(DimSize::Static(size)) => Some(size as usize),
        _ => None,
    });
    Ok((element, shape.collect()))
}

/// Element type and shape of a memref type of static shape, row-major.
pub(super) fn static_memref(op: Op, of: Type) -> Result<(Element, Vec<usize>), Fault> {
    let (element, shape) = memref(op, of)?;
    let all: Option<Vec<usize>> = shape.into_iter().collect();
    let identity = MemRefType::try_from(of).is_ok_and(|of| of.affine_map().is_identity());
    // What is interpreted is small; a huge array is a mistake.
    let small = |shape: &[usize]| {
        let length = shape
            .iter()
            .try_fold(1usize, |sum, &size| sum.checked_mul(size));
        length.is_some_and(|length| length <= 1 << 24)
    };
    match all {
        Some(shape) if identity && !small(&shape) => {
            Err(fault(op, format!("has {of}, too large to interpret")))
        }
        Some(shape) if identity => Ok((element, shape)),
        _ => Err(fault(
            op,
            format!("needs a static shape without a layout, but has {of}"),
        )),
    }
}

/// Whether a kernel's argument carries an attribute.
pub(super) fn has_of_argument(op: Op, argument: usize, name: &str) -> bool {
    let all = op.attribute("arg_attrs").and_then(ArrayAttribute::try_from);
    let of_one = all.and_then(|all| all.element(argument));
    let of_one = of_one.and_then(DictionaryAttribute::try_from);
    of_one.is_ok_and(|attributes| attributes.element_by_name(name).is_some())
}

/// The type of a kernel's argument.
pub(super) fn parameter(op: Op, of: Type) -> Result<Parameter, Fault> {
    if let Some(element) = element(of) {
        return Ok(Parameter::Scalar(element));
    }
    let (element, shape) = memref(op, of)?;
    if !MemRefType::try_from(of).is_ok_and(|of| of.affine_map().is_identity()) {
        return Err(fault(
            op,
            format!("takes {of}, but buffers are passed dense and row-major"),
        ));
    }
    Ok(Parameter::Memref { element, shape })
}

/// The groups of dimensions that an attribute lists.
pub(super) fn groups(op: Op, name: &str) -> Vec<Vec<usize>> {
    let groups = op.attribute(name).map(list).unwrap_or_default();
    let number = |of: Attribute| Some(IntegerAttribute::try_from(of).ok()?.value() as usize);
    groups
        .into_iter()
        .map(|group| list(group).into_iter().filter_map(number).collect())
        .collect()
}

fn list<'c>(of: Attribute<'c>) -> Vec<Attribute<'c>> {
    let all = ArrayAttribute::try_from(of).ok();
    let all = all.map(|all| {
        (0..all.len())
            .filter_map(|at| all.element(at).ok())
            .collect()
    });
    all.unwrap_or_default()
}

/// Number of each of an operation's operand groups.
pub(super) fn segments(op: Op) -> Vec<usize> {
    integers(op, "operandSegmentSizes")
        .into_iter()
        .map(|size| size as usize)
        .collect()
}

/// A key for a value.
pub(super) fn identity(value: Value) -> usize {
    value.to_raw().ptr as usize
}

/// The attribute printed, or nothing if it is not there.
pub(super) fn printed(op: Op, name: &str) -> String {
    op.attribute(name)
        .map(|attribute| attribute.to_string())
        .unwrap_or_default()
}
