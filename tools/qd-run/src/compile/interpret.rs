//! Kernels run by the reference interpreter.

use melior::ir::{Module, ValueLike};
use qd_artifact::{ArgumentKind, Dtype, Kernel};
use qd_dialects::{
    attributes,
    ir::{self, OpExt, Value, arguments, operations},
    ops::grid,
};
use qd_interp::{Element, Fault, Options, Schedule};
use qd_run::{
    array::Array,
    bind::{Argument, Bound, Part},
};
use qd_thin::Failure;

/// Reads `in-order` or `random:SEED`.
pub fn schedule(text: &str) -> Result<Schedule, String> {
    match text.split_once(':') {
        None if text == "in-order" => Ok(Schedule::InOrder),
        Some(("random", seed)) => match seed.parse() {
            Ok(seed) => Ok(Schedule::Random { seed }),
            Err(_) => Err(format!(
                "--schedule={text}: '{seed}' is no seed: expected a number"
            )),
        },
        _ => Err(format!(
            "--schedule={text}: expected in-order or random:SEED"
        )),
    }
}

/// Runs the kernel. Of what is `uninitialised` nothing may be used before it is written.
pub fn run(
    module: &Module,
    kernel: &Kernel,
    bound: &mut Bound,
    options: &Options,
) -> Result<String, Failure> {
    let elements = elements(module, kernel);
    let mut converted: Vec<qd_interp::Argument> = (0..bound.arguments.len())
        .map(|i| match &bound.arguments[i] {
            Argument::Scalar(scalar) => qd_interp::Scalar {
                element: elements[i],
                bits: scalar.bits,
            }
            .into(),
            Argument::Array(array) => match &bound.parts[i] {
                Some(part) => part_of(part, array).into(),
                None => buffer_of(array, elements[i], bound.uninitialised[i]).into(),
            },
        })
        .collect();
    let report = qd_interp::interpret(module, &kernel.name, &mut converted, options)
        .map_err(|fault| said(&fault))?;
    for (argument, result) in bound.arguments.iter_mut().zip(converted) {
        if let (Argument::Array(array), qd_interp::Argument::Buffer(result)) = (argument, result) {
            array.bytes_mut().copy_from_slice(&result.data);
        }
    }
    for (i, part) in bound.parts.iter().enumerate() {
        let Some(part) = part else { continue };
        if let Argument::Array(whole) = &bound.arguments[part.of]
            && let Some(rows) = whole.of_rows(part.rows.clone())
        {
            bound.arguments[i] = rows.into();
        }
    }
    Ok(format!(
        "{} phases, {} blocks, {} operations",
        report.phases, report.blocks, report.operations
    ))
}

/// The rows of another argument.
fn part_of(part: &Part, rows: &Array) -> qd_interp::Part {
    let shape: Vec<usize> = rows.shape().iter().map(|extent| *extent as usize).collect();
    let row: usize = shape[1..].iter().product();
    qd_interp::Part {
        of: part.of,
        first: part.rows.start as usize * row,
        shape,
    }
}

/// A fault, worded as MLIR words errors.
fn said(fault: &Fault) -> Failure {
    let text = fault.to_string();
    match text.strip_prefix(&format!("{}: ", fault.location)) {
        Some(what) if !fault.location.is_empty() => {
            Failure::Located(format!("{}: error: {what}", fault.location))
        }
        _ => Failure::Message(text.trim_start_matches(": ").to_string()),
    }
}

/// The element types of a kernel's arguments. Reflection says `i64` for what
/// MLIR calls `index`, and `f16` also for its bits in an `i16`.
fn elements(module: &Module, kernel: &Kernel) -> Vec<Element> {
    let types = argument_types(module, &kernel.name);
    let reflected = kernel
        .arguments
        .iter()
        .map(|parameter| match parameter.kind {
            ArgumentKind::Buffer { dtype, .. } | ArgumentKind::Scalar { dtype } => element(dtype),
        });
    reflected
        .enumerate()
        .map(|(i, element)| match types.get(i) {
            Some(Some(said)) => *said,
            _ => element,
        })
        .collect()
}

/// For each argument of a kernel what it holds, where reflection does not tell.
fn argument_types(module: &Module, kernel: &str) -> Vec<Option<Element>> {
    let found = operations(module.body().into()).into_iter().find(|op| {
        op.is(grid::Kernel::NAME)
            && op.attr("sym_name").and_then(attributes::text).as_deref() == Some(kernel)
    });
    let Some(body) = found.and_then(OpExt::body) else {
        return Vec::new();
    };
    let said = |value: &Value| {
        let r#type = value.r#type();
        let element = ir::element_type(r#type).unwrap_or(r#type);
        Some(match &*element.to_string() {
            "index" => Element::Index,
            "i1" => Element::I1,
            "f16" => Element::F16,
            "bf16" => Element::BF16,
            _ => return None,
        })
    };
    arguments(body).iter().map(said).collect()
}

fn buffer_of(array: &Array, element: Element, uninitialised: bool) -> qd_interp::Buffer {
    let shape: Vec<usize> = array
        .shape()
        .iter()
        .map(|extent| *extent as usize)
        .collect();
    if uninitialised {
        return qd_interp::Buffer::uninitialised(element, &shape);
    }
    let mut converted = qd_interp::Buffer::from_slice::<u8>(&array.bytes());
    converted.element = element;
    converted.shape = shape;
    converted
}

fn element(dtype: Dtype) -> Element {
    match dtype {
        Dtype::Bool | Dtype::I8 | Dtype::U8 => Element::I8,
        Dtype::I16 | Dtype::U16 | Dtype::F16 | Dtype::BF16 => Element::I16,
        Dtype::I32 | Dtype::U32 => Element::I32,
        Dtype::I64 | Dtype::U64 => Element::I64,
        Dtype::F32 => Element::F32,
        Dtype::F64 => Element::F64,
    }
}
