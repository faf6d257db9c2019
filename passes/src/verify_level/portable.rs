//! Types and ops that are legal in a kernel and the functions that it calls, for any
//! target.
//!
//! A conversion would leave any other op behind, and report casts and translations that
//! are not in the source. Here the operation is still that of the source.

use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    ir::{self, Op, OpExt, Value, arguments},
    melior::ir::{ShapedTypeLike, Type, ValueLike, attribute::IntegerAttribute, r#type::DimSize},
    ops::grid,
};

/// The legal element types of a kernel's buffers and scalars. Data files have others as
/// well; `qd.dtype` names them.
const ELEMENTS: &[&str] = &[
    "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "index",
];

/// The most private memory of a thread, in bytes: CUDA's local memory. Targets with
/// less report that themselves.
const MOST_PRIVATE: i64 = 512 << 10;

/// The first error, since it often causes the others; preferably one with a location,
/// which constants that were merged do not have.
pub(super) fn verify<'c>(all: &[Op<'c>]) -> Result<'c> {
    let mut faulty = all.iter().filter(|op| fault(**op).is_some());
    let first = faulty.next();
    let is_placed = |op: &Op<'c>| op.location().to_string() != "loc(unknown)";
    let shown = match first {
        Some(first) if !is_placed(first) => faulty.find(|op| is_placed(op)).or(Some(first)),
        first => first,
    };
    shown.and_then(|op| fault(*op)).map_or(Ok(()), Err)
}

/// What is wrong with an operation, if something is.
fn fault<'c>(op: Op<'c>) -> Option<Diagnostic<'c>> {
    let name = op.full_name();
    if name == grid::Kernel::NAME {
        let body = op.body()?;
        let wrong = arguments(body)
            .into_iter()
            .enumerate()
            .find_map(|(i, argument)| Some((i, wrong_argument(argument)?)));
        if let Some((i, why)) = wrong {
            return Some(Diagnostic::at(op, format!("argument {i} {why}")));
        }
    }
    let results = op.result_values();
    if let Some(value) = results.iter().find(|value| bytes(**value).is_none()) {
        return Some(Diagnostic::at(op, too_large(*value)));
    }
    let parameters = op.body().map(arguments).unwrap_or_default();
    let mut values = results.iter().chain(&parameters);
    if let Some(value) = values.find(|value| is_nowhere(**value)) {
        let message = format!(
            "has a value of type '{}', whose memory space no target has",
            value.r#type()
        );
        return Some(Diagnostic::at(op, message));
    }
    let private = match name {
        "memref.alloca" => results.first().copied().and_then(bytes).unwrap_or(0),
        _ => 0,
    };
    (private > MOST_PRIVATE).then(|| {
        let most = format!("{MOST_PRIVATE} are the most that a target has for one");
        Diagnostic::at(
            op,
            format!("is {private} bytes of private memory for each thread, but {most}"),
        )
    })
}

fn wrong_argument(argument: Value<'_>) -> Option<String> {
    let r#type = argument.r#type();
    let element = ir::element_type(r#type).unwrap_or(r#type);
    if !ELEMENTS.contains(&element.to_string().as_str()) {
        return Some(no_data(r#type));
    }
    if ir::as_memref(r#type).is_some_and(|memref| memref.memory_space().is_some()) {
        return Some(format!(
            "is of type '{}', but a buffer lies in the default memory space",
            r#type
        ));
    }
    bytes(argument).is_none().then(|| too_large(argument))
}

/// Whether a buffer lies in a memory space of no meaning to us: those that have one are
/// integers and what `gpu` calls them.
fn is_nowhere(value: Value<'_>) -> bool {
    let space = ir::as_memref(value.r#type()).and_then(|memref| memref.memory_space());
    space.is_some_and(|space| {
        IntegerAttribute::try_from(space).is_err()
            && !space.to_string().starts_with("#gpu.address_space")
    })
}

/// What is said of an argument whose elements are none of these.
pub fn no_data(r#type: Type<'_>) -> String {
    let elements = ELEMENTS.join(", ");
    format!(
        "is of type '{}', which no kernel takes: expected elements of {elements}",
        r#type
    )
}

fn too_large(value: Value<'_>) -> String {
    format!(
        "is of type '{}', which no address reaches the end of",
        value.r#type()
    )
}

/// The bytes that the known extents of a buffer span, or none if they are more
/// than an offset can say. Of anything else, no bytes.
fn bytes(value: Value<'_>) -> Option<i64> {
    let r#type = value.r#type();
    let Some(memref) = ir::as_memref(r#type) else {
        return Some(0);
    };
    let element = ir::element_type(r#type).map_or(8, ir::bit_width);
    (0..memref.rank()).try_fold(i64::from(element.div_ceil(8)), |bytes, i| {
        match memref.dim_size(i) {
            Ok(DimSize::Static(extent)) => bytes.checked_mul(i64::try_from(extent).ok()?),
            _ => Some(bytes),
        }
    })
}
