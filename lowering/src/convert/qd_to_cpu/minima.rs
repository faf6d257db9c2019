//! Minima and maxima of floats, which order −0 below +0.
//!
//! Upstream's `arith-expand` makes comparisons of them, for which zeros of both signs
//! are equal. The bits of two equal operands are combined here: by an `or` for the
//! minimum, by an `and` for the maximum. On a processor that is as fast as comparisons,
//! where scans have a dependent chain of them; LLVM's `minimumnum` takes four times as
//! long there.

use melior::ir::ValueLike;
use qd_dialects::{
    attributes,
    builder::{Builder, V},
    ir::{Op, OpExt, bit_width, is_float},
    melior,
};

/// A function of two floats.
type Function = for<'b, 'c> fn(V<'b, 'c>, V<'b, 'c>) -> V<'b, 'c>;

const FUNCTIONS: [(&str, Function); 4] = [
    ("arith.maximumf", |x, y| or_nan(x, y, larger(x, y))),
    ("arith.maxnumf", |x, y| number(x, y, larger(x, y))),
    ("arith.minimumf", |x, y| or_nan(x, y, smaller(x, y))),
    ("arith.minnumf", |x, y| number(x, y, smaller(x, y))),
];

/// Replaces those of scalars below `root`.
pub(super) fn lower(root: Op<'_>) {
    for op in root.nested() {
        let name = op.full_name();
        let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        if is_float(op.first_result().r#type()) {
            let b = Builder::before(op);
            let operands = b.vs(&op.operand_values());
            op.replace_with(&[function(operands[0], operands[1]).value()]);
        }
    }
}

fn bits<'b, 'c>(x: V<'b, 'c>) -> V<'b, 'c> {
    x.bitcast(x.builder().int_type(bit_width(x.ty())))
}

/// The smaller; the second if one is a NaN.
fn smaller<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    let of_equals = (bits(x) | bits(y)).bitcast(x.ty());
    x.eq(y).select(of_equals, x.lt(y).select(x, y))
}

/// The larger; the second if one is a NaN.
fn larger<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>) -> V<'b, 'c> {
    let of_equals = (bits(x) & bits(y)).bitcast(x.ty());
    x.eq(y).select(of_equals, x.gt(y).select(x, y))
}

/// A NaN loses; `chosen` is the second if one is a NaN.
fn number<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>, chosen: V<'b, 'c>) -> V<'b, 'c> {
    y.ne(y).select(x, chosen)
}

/// A NaN wins.
fn or_nan<'b, 'c>(x: V<'b, 'c>, y: V<'b, 'c>, chosen: V<'b, 'c>) -> V<'b, 'c> {
    let b = x.builder();
    let nan = attributes::float_constant(b.context(), x.ty(), f64::NAN);
    (x.ne(x) | y.ne(y)).select(b.constant(nan, x.ty()), chosen)
}
