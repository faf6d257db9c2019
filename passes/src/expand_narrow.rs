//! `qd-expand-narrow`: values of less than 32 bits as what every target has.
//!
//! Runs once algorithms are phases. Afterwards a module holds no `f16` and no `bf16`, no
//! memory of `i1`, and no collective on less than 32 bits:
//!
//! | what | becomes | file |
//! |---|---|---|
//! | a collective | one on 32 bits, of widened values | `collectives.rs` |
//! | `memref.atomic_rmw` on `i8` or `i16` | `qd.grid.atomic` of the same, relaxed | `atomics.rs` |
//! | an atomic on `f16` or `bf16` | compare-and-swap of its bits | `atomics.rs` |
//! | arithmetic on `f16` and `bf16` | that of `f32`, rounded | `floats.rs`, `halves.rs` |
//! | a print of `f16` or `bf16` | one of `f32` | `floats.rs` |
//! | values and memory of `f16` and `bf16` | `i16`, their bits | here |
//! | memory of `i1` | `i8`, of 0 or 1 | here |
//!
//! So all targets compute the same bits, whichever of these types they have. Arguments keep
//! their element type as `qd.dtype`.
//!
//! Limits: `i8` and `i16` themselves stay, in memory and in arithmetic: every target has them.
//! `memref.atomic_rmw`, which has no order, is left to `qd.grid.atomic.rmw` on these types.
//!
//! Before:
//! ```mlir
//! %x = memref.load %a[%i] : memref<?xbf16>
//! %y = arith.addf %x, %x : bf16
//! ```
//! After:
//! ```mlir
//! %x = memref.load %a[%i] : memref<?xi16>
//! %wide = arith.extui %x : i16 to i32
//! %bits = arith.shli %wide, %c16 : i32
//! %quiet = arith.select %is_nan, %with_quiet_bit, %bits : i32
//! %float = arith.bitcast %quiet : i32 to f32
//! %sum = arith.addf %float, %float : f32
//! ...
//! %y = arith.trunci %rounded : i32 to i16
//! ```

mod atomics;
mod collectives;
mod floats;
mod halves;
pub mod widths;

pub use collectives::widen_region;

use qd_dialects::{
    argument_attributes,
    attributes::{self, names},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    interfaces::accessed,
    ir::{self, Context, InsertionPoint, Op, OpExt, Value, ValueExt, arguments, context_of},
    melior::{
        dialect::DialectHandle,
        ir::{
            Type, TypeLike, ValueLike,
            attribute::TypeAttribute,
            r#type::{FunctionType, IntegerType},
        },
    },
    ops::grid,
    pass::{NoOptions, Pass},
};

/// The pass.
pub struct ExpandNarrow;

impl Pass for ExpandNarrow {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-narrow";
    const SUMMARY: &'static str = "Expand values of less than 32 bits to what every target has";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            qd_dialects::math_dialect(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        for op in module.nested() {
            collectives::expand(op);
        }
        for op in module.nested() {
            atomics::expand(op)?;
        }
        for op in module.nested() {
            floats::expand(op)?;
        }
        let all = module.nested();
        for op in &all {
            booleans(*op);
        }
        retype(&all);
        for op in all {
            if op.is("arith.bitcast")
                && op.operand_values()[0].r#type() == op.first_result().r#type()
            {
                op.replace_with(&op.operand_values());
            }
        }
        Ok(())
    }
}

/// Whether a type is a float of 16 bits.
fn is_half(r#type: Type<'_>) -> bool {
    r#type.is_f16() || r#type.is_bf16()
}

/// Whether a memref holds booleans.
fn is_of_booleans(r#type: Type<'_>) -> bool {
    ir::element_type(r#type)
        .is_some_and(|element| element.is_integer() && ir::bit_width(element) == 1)
}

/// What holds the bits of a type; nothing if it holds them itself.
fn bits<'c>(context: &'c Context, r#type: Type<'c>) -> Option<Type<'c>> {
    if is_half(r#type) {
        return Some(IntegerType::new(context, 16).into());
    }
    let element = ir::element_type(r#type)?;
    let new = match (is_half(element), is_of_booleans(r#type)) {
        (true, _) => "i16",
        (_, true) => "i8",
        _ => return None,
    };
    // The element type ends the shape: `memref<?x3xf16, #gpu.address_space<workgroup>>`.
    let (text, old) = (r#type.to_string(), element.to_string());
    let end = text.find([',', '>']).expect("a memref's type");
    let shape = text[..end]
        .strip_suffix(old.as_str())
        .expect("its element type");
    let text = format!("{shape}{new}{}", &text[end..]);
    Some(Type::parse(context, &text).expect("a memref's type"))
}

/// Booleans in memory are bytes: what is loaded is compared with 0, and what is stored is
/// extended. The types of the memory change later.
fn booleans(op: Op<'_>) {
    let memory = op.operand_values();
    let Some(at) = memory.iter().position(|v| is_of_booleans(v.r#type())) else {
        return;
    };
    let is_access = accessed(op).is_some() || op.is(grid::Fill::NAME);
    if !is_access {
        return;
    }
    let b = Builder::before(op);
    let byte = b.int_type(8);
    // A fill's value comes last, every other op's first.
    let values = match op.full_name() {
        grid::Fill::NAME => memory.len() - 1..memory.len(),
        _ => 0..at,
    };
    for i in values {
        op.set_operand_at(i, b.v(memory[i]).cast(byte).value());
    }
    let Some(result) = op.result_values().first().copied() else {
        return;
    };
    let uses = result.uses();
    result.set_type(byte);
    if let Some(next) = op.next_in_block() {
        let truth = b.at(InsertionPoint::Before(next), || b.v(result).ne(0).value());
        for (user, operand) in uses {
            user.set_operand_at(operand, truth);
        }
    }
}

/// Gives all values the types that hold their bits.
fn retype<'c>(all: &[Op<'c>]) {
    let Some(context) = all.first().map(|op| context_of(*op)) else {
        return;
    };
    let change = |value: Value<'c>| {
        if let Some(new) = bits(context, value.r#type()) {
            value.set_type(new);
        }
    };
    for op in all {
        let is_function = matches!(op.full_name(), grid::Kernel::NAME | "func.func");
        if is_function {
            name_elements(*op);
        }
        op.result_values().into_iter().for_each(change);
        for region in 0..op.region_count() {
            let mut block = op.region_block(region);
            while let Some(current) = block {
                arguments(current).into_iter().for_each(change);
                block = current.next_in_region();
            }
        }
        if is_function {
            sign(*op);
        }
    }
}

/// Arguments say what they hold.
fn name_elements(function: Op<'_>) {
    let (Some(body), context) = (function.body(), context_of(function)) else {
        return;
    };
    for (i, argument) in arguments(body).into_iter().enumerate() {
        let r#type = argument.r#type();
        if bits(context, r#type).is_none() || argument_attributes::has(function, i, names::DTYPE) {
            continue;
        }
        let name = match is_of_booleans(r#type) {
            true => "bool".to_string(),
            false => ir::element_type(r#type).unwrap_or(r#type).to_string(),
        };
        let name = attributes::string(context, &name);
        argument_attributes::set(function, i, names::DTYPE, Some(name));
    }
}

/// Gives a function the type that its arguments have now.
fn sign(function: Op<'_>) {
    let (Some(body), Some(old)) = (function.body(), function.attr("function_type")) else {
        return;
    };
    let Ok(old) = TypeAttribute::try_from(old).map(|old| old.value()) else {
        return;
    };
    let Ok(old) = FunctionType::try_from(old) else {
        return;
    };
    let inputs: Vec<_> = arguments(body).iter().map(|v| v.r#type()).collect();
    let results = (0..old.result_count()).filter_map(|i| old.result(i).ok());
    let context = context_of(function);
    let results: Vec<_> = results.map(|t| bits(context, t).unwrap_or(t)).collect();
    let new = FunctionType::new(context, &inputs, &results);
    function.set_attr("function_type", TypeAttribute::new(new.into()).into());
}

/// An error at an op on a type that it is not for.
fn refuse<'c>(op: Op<'c>, r#type: Type<'c>, instead: &str) -> Result<'c> {
    Err(Diagnostic::at(op, format!("is not for {type}: {instead}")))
}
