//! `index` as an integer: SPIR-V has no type whose width depends on the target.

use crate::convert::descriptor;
use melior::ir::{
    Type, ValueLike,
    attribute::{IntegerAttribute, TypeAttribute},
};
use qd_dialects::{
    attributes,
    builder::Builder,
    ir::{self, Op, OpExt, Value, arguments, context_of},
    melior,
};

/// Makes integers of `bits` of every `index` in a function.
pub(super) fn convert<'c>(function: Op<'c>, bits: u32) {
    let b = &Builder::before(function);
    let (index, word) = (b.index_type(), b.int_type(bits));
    let retype = |value: Value<'c>| {
        if descriptor::same(value.r#type(), index) {
            value.set_type(word);
        }
    };
    for op in function.walk_all() {
        op.result_values().into_iter().for_each(retype);
        for region in 0..op.region_count() {
            let mut block = op.region_block(region);
            while let Some(current) = block {
                arguments(current).into_iter().for_each(retype);
                block = current.next_in_region();
            }
        }
    }
    for op in function.nested() {
        match op.full_name() {
            "arith.constant" => constant(op, index, word),
            "arith.index_cast" => cast(op, "arith.extsi"),
            "arith.index_castui" => cast(op, "arith.extui"),
            _ => {}
        }
    }
    if function.is("func.func") {
        signature(function);
    }
}

fn constant<'c>(op: Op<'c>, index: Type<'c>, word: Type<'c>) {
    let value = op.attr("value").filter(|value| {
        let r#type = attributes::type_of(*value);
        descriptor::same(r#type, index)
    });
    if let Some(value) = value.and_then(attributes::int) {
        op.set_attr("value", IntegerAttribute::new(word, value).into());
    }
}

/// What a conversion to or from `index` is between integers.
fn cast(op: Op<'_>, extension: &str) {
    let b = &Builder::before(op);
    let (from, to) = (b.v(op.operand_values()[0]), op.first_result().r#type());
    let name = match ir::bit_width(from.ty()).cmp(&ir::bit_width(to)) {
        std::cmp::Ordering::Equal => return op.replace_with(&[from.value()]),
        std::cmp::Ordering::Less => extension,
        std::cmp::Ordering::Greater => "arith.trunci",
    };
    op.replace_with(&[b.result(name, &[from], to, &[]).value()]);
}

/// The types of a function, as its values have them now.
fn signature<'c>(function: Op<'c>) {
    let Some(body) = function.body() else {
        return;
    };
    let types = |values: &[Value<'c>]| values.iter().map(|v| v.r#type()).collect::<Vec<_>>();
    let end = ir::operations(body).pop();
    let r#type = melior::ir::r#type::FunctionType::new(
        context_of(function),
        &types(&arguments(body)),
        &types(&end.map(|end| end.operand_values()).unwrap_or_default()),
    );
    function.set_attr("function_type", TypeAttribute::new(r#type.into()).into());
}
