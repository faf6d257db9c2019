//! Algorithms on elements of less than 32 bits, as those on 32 bits.
//!
//! Strategies keep partial results in words. So what is combined or compared is widened where
//! it is loaded, and narrowed where it is stored: a strategy is given *wide views* of its
//! buffers, which this file replaces again once the phases are made. What is only moved stays
//! as it is.
//!
//! | op | buffers | how |
//! |---|---|---|
//! | `reduce`, scans | inputs, outputs | integers as their bits, of signed extremes in the upper ones; floats as `f32`; a region's as their bits |
//! | `reduce_by_key` | keys, values | keys as bits or `f32`, values as above |
//! | `sort`, `parallel_sort` | keys | as the unsigned integers that order alike, so that there is a digit for each byte |
//! | `sort` | values, if they are scalars | as their bits |
//!
//! A sum or product of `f16` or `bf16` is rounded after each combination: the op says so with
//! `qd.rounds`, which its [`Combiner`] reads.

use super::sort::KeyOrder;
use qd_dialects::{
    attributes::{self, Kind, names::ROUNDS},
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, ValueExt, bit_width, element_type, is_float},
    melior::ir::{Type, ValueLike, attribute::TypeAttribute},
    ops::{algo, grid},
};
use qd_passes::expand_narrow::{
    widen_region,
    widths::{Widening, is_narrow},
};

/// What is between an op and its buffer while it is expanded; no dialect of ours has to have it.
const VIEW: &str = "builtin.unrealized_conversion_cast";

/// How elements are widened.
#[derive(Clone, Copy)]
enum Form<'c> {
    Widened(Widening),
    Ordered(KeyOrder<'c>),
}

/// A wide view of a buffer.
pub(super) struct View<'c> {
    cast: Op<'c>,
    form: Form<'c>,
}

/// Gives an algorithm wide views of the narrow buffers that it computes with.
pub(super) fn widen<'c>(op: Op<'c>) -> Vec<View<'c>> {
    let mut views = Vec::new();
    match op.full_name() {
        algo::Sort::NAME | algo::ParallelSort::NAME => sort(op, &mut views),
        algo::ReduceByKey::NAME => {
            let values = algo::ReduceByKey::cast(op).values();
            let how = combining(op, &elements(&values));
            // Keys, and then their values; of what is read, and of what is written.
            let with_keys = 1 + values.len();
            for i in 0..2 * with_keys {
                let form = if i % with_keys == 0 { equal } else { how };
                view(op, i, form, &mut views);
            }
        }
        algo::Reduce::NAME | algo::InclusiveScan::NAME | algo::ExclusiveScan::NAME => {
            let inputs = algo::Combine::cast(op).inputs();
            let how = combining(op, &elements(&inputs));
            for i in 0..2 * inputs.len() {
                view(op, i, how, &mut views);
            }
        }
        _ => {}
    }
    views
}

fn elements<'c>(buffers: &[Value<'c>]) -> Vec<Type<'c>> {
    let elements = buffers.iter().map(|buffer| element_type(buffer.r#type()));
    elements.flatten().collect()
}

/// How elements are widened that are compared.
fn equal(r#type: Type<'_>) -> Widening {
    match is_float(r#type) {
        true => Widening::Float,
        false => Widening::Bits,
    }
}

/// How elements are widened that the op combines; changes its combiner accordingly.
fn combining<'c>(op: Op<'c>, types: &[Type<'c>]) -> fn(Type<'_>) -> Widening {
    if !types.iter().any(|r#type| is_narrow(*r#type)) {
        return equal;
    }
    match op.attr("kind").and_then(Kind::of) {
        Some(Kind::MinSi | Kind::MaxSi) => |_| Widening::High,
        Some(Kind::Add | Kind::Mul) if is_float(types[0]) => {
            op.set_attr(ROUNDS, TypeAttribute::new(types[0]).into());
            equal
        }
        Some(_) => equal,
        None => {
            widen_region(op, types);
            |_| Widening::Bits
        }
    }
}

/// Keys as the unsigned integers that order as they do, values as their bits. Rows are only moved.
fn sort<'c>(op: Op<'c>, views: &mut Vec<View<'c>>) {
    let b = Builder::before(op);
    if op.is(algo::Sort::NAME)
        && let Some(values) = algo::Sort::cast(op).values()
        && b.v(values).row_length().is_none()
    {
        // They and their workspace come after the keys and theirs.
        for i in [2, 3] {
            view(op, i, |_| Widening::Bits, views);
        }
    }
    let key = element_type(op.operand_values()[0].r#type()).expect("a buffer of keys");
    if !is_narrow(key) {
        return;
    }
    let is_unsigned = op.attr("is_unsigned").is_some();
    let order = KeyOrder::of(&b, key, is_unsigned);
    op.set_attr("is_unsigned", attributes::unit(b.context()));
    let mut keys = vec![0];
    if op.is(algo::Sort::NAME) {
        let bits = algo::Sort::cast(op).end_bit();
        // A boolean is the lowest bit of a digit.
        let bits = bits.unwrap_or(i64::from(bit_width(key).max(8)));
        op.set_attr("end_bit", attributes::i32(b.context(), bits as i32));
        keys.push(1);
    }
    for i in keys {
        add(op, i, Form::Ordered(order), b.int_type(32), views);
    }
}

/// Gives an op a wide view of its operand of this number, if that is narrow.
fn view<'c>(
    op: Op<'c>,
    operand: usize,
    how: impl Fn(Type<'c>) -> Widening,
    views: &mut Vec<View<'c>>,
) {
    let element = element_type(op.operand_values()[operand].r#type());
    let Some(element) = element.filter(|element| is_narrow(*element)) else {
        return;
    };
    let how = how(element);
    let wide = how.wide(&Builder::before(op));
    add(op, operand, Form::Widened(how), wide, views);
}

fn add<'c>(op: Op<'c>, operand: usize, form: Form<'c>, wide: Type<'c>, views: &mut Vec<View<'c>>) {
    let b = Builder::before(op);
    let buffer = op.operand_values()[operand];
    let r#type = with_element(buffer.r#type(), wide, &b);
    let cast = b.op(VIEW, &[buffer], &[r#type], &[]);
    op.set_operand_at(operand, cast.first_result());
    views.push(View { cast, form });
}

/// A buffer's type with other elements.
fn with_element<'c>(buffer: Type<'c>, element: Type<'c>, b: &Builder<'c>) -> Type<'c> {
    let old = element_type(buffer).expect("a buffer").to_string();
    let text = buffer.to_string();
    let end = text.find([',', '>']).expect("a memref's type");
    let shape = text[..end]
        .strip_suffix(old.as_str())
        .expect("its element type");
    let text = format!("{shape}{element}{}", &text[end..]);
    Type::parse(b.context(), &text).expect("a memref's type")
}

/// Replaces all wide views: a load from one widens, and a store to one narrows.
///
/// # Errors
///
/// Any other use of one: the strategy of the algorithm has no form for narrow elements.
pub(super) fn resolve<'c>(mut views: Vec<View<'c>>) -> Result<'c> {
    let mut gone = Vec::new();
    // Views of views are added behind.
    let mut next = 0;
    while let Some(View { cast, form }) = views.get(next) {
        let (cast, form) = (*cast, *form);
        next += 1;
        gone.push(cast);
        let (buffer, wide) = (cast.operand_values()[0], cast.first_result());
        for (user, operand) in wide.uses() {
            use_narrow(user, operand, buffer, form, &mut views)?;
        }
    }
    gone.into_iter().rev().for_each(OpExt::erase);
    Ok(())
}

fn use_narrow<'c>(
    user: Op<'c>,
    operand: usize,
    buffer: Value<'c>,
    form: Form<'c>,
    views: &mut Vec<View<'c>>,
) -> Result<'c> {
    let element = element_type(buffer.r#type()).expect("a buffer");
    let b = Builder::before(user);
    match user.full_name() {
        "memref.load" => {
            let indices = b.vs(&user.operand_values()[1..]);
            let loaded = b.v(buffer).load(&indices);
            user.replace_with(&[form.widen(loaded).value()]);
        }
        "memref.store" => {
            let value = form.narrow(b.v(user.operand_values()[0]), element);
            user.set_operand_at(0, value.value());
            user.set_operand_at(operand, buffer);
        }
        "memref.dim" | "memref.prefetch" => user.set_operand_at(operand, buffer),
        grid::View::NAME | "memref.cast" | "memref.subview" => {
            let result = user.first_result();
            let wide = result.r#type();
            let uses = result.uses();
            user.set_operand_at(operand, buffer);
            result.set_type(with_element(wide, element, &b));
            let next = user.next_in_block().expect("a view is used");
            let cast = Builder::before(next).op(VIEW, &[result], &[wide], &[]);
            for (user, operand) in uses {
                user.set_operand_at(operand, cast.first_result());
            }
            views.push(View { cast, form });
        }
        name => {
            let message = format!(
                "is expanded to a '{name}' of elements of {element}, which there is no form of"
            );
            return Err(Diagnostic::at(user, message));
        }
    }
    Ok(())
}

impl<'c> Form<'c> {
    fn widen<'b>(self, value: V<'b, 'c>) -> V<'b, 'c> {
        match self {
            Self::Widened(how) => how.widen(value),
            Self::Ordered(order) => Widening::Bits.widen(order.map(value)),
        }
    }

    fn narrow<'b>(self, wide: V<'b, 'c>, to: Type<'c>) -> V<'b, 'c> {
        match self {
            Self::Widened(how) => how.narrow(wide, to),
            Self::Ordered(order) => {
                let mapped = wide.builder().int_type(bit_width(to));
                order.unmap(wide.cast(mapped))
            }
        }
    }
}
