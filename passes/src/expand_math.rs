//! Functions that a target has no library for, as arithmetic.
//!
//! Each function of `math` in the table below that is not kept becomes
//! `arith`, `math.fma`, `math.roundeven`, `math.sqrt` and `math.absf`, inlined.
//! Everything is computed in `f64`, so that what is `f32` is exact but for its
//! last rounding, whatever the series lose; an `f64` is off by a few units in the
//! last place. `arith.remf` is exact. A `math.fma` of theirs that is marked
//! `contract` may as well be a product and a sum.
//!
//! Limits: scalars of `f32` and `f64`, on targets that have `f64`; other types are
//! left as they are. Signalling NaNs and floating-point flags are not looked at.
//!
//! Before:
//! ```mlir
//! %r = math.tanh %x : f64
//! ```
//! After:
//! ```mlir
//! %m = math.absf %x : f64
//! ...
//! %t = arith.divf %e, %d : f64
//! %r = arith.select %small, %x, %signed : f64
//! ```

mod exponential;
mod inverse;
mod logarithm;
mod power;
mod real;
mod remainder;
mod trigonometry;

use qd_dialects::{
    builder::{Builder, V},
    ir::{Op, OpExt, bit_width, is_float},
    melior::{dialect::DialectHandle, ir::ValueLike},
};

/// A function of one or two `f64`.
type Function = for<'b, 'c> fn(&[V<'b, 'c>]) -> V<'b, 'c>;

/// Every function there is an expansion of, one line each.
const FUNCTIONS: &[(&str, Function)] = &[
    ("arith.remf", |x| remainder::remainder(x[0], x[1])),
    ("math.acos", |x| inverse::acos(x[0])),
    ("math.acosh", |x| inverse::acosh(x[0])),
    ("math.asin", |x| inverse::asin(x[0])),
    ("math.asinh", |x| inverse::asinh(x[0])),
    ("math.atan", |x| inverse::atan(x[0])),
    ("math.atan2", |x| inverse::atan2(x[0], x[1])),
    ("math.atanh", |x| inverse::atanh(x[0])),
    ("math.cbrt", |x| power::cbrt(x[0])),
    ("math.cos", |x| trigonometry::cos(x[0])),
    ("math.cosh", |x| exponential::cosh(x[0])),
    ("math.exp", |x| exponential::exp(x[0])),
    ("math.exp2", |x| exponential::exp2(x[0])),
    ("math.expm1", |x| exponential::expm1(x[0])),
    ("math.log", |x| logarithm::log(x[0])),
    ("math.log10", |x| logarithm::log10(x[0])),
    ("math.log1p", |x| logarithm::log1p(x[0])),
    ("math.log2", |x| logarithm::log2(x[0])),
    ("math.powf", |x| power::powf(x[0], x[1])),
    ("math.sin", |x| trigonometry::sin(x[0])),
    ("math.sinh", |x| exponential::sinh(x[0])),
    ("math.tan", |x| trigonometry::tan(x[0])),
    ("math.tanh", |x| exponential::tanh(x[0])),
];

/// Whether there is an expansion of an op of this full name.
pub fn is_expandable(name: &str) -> bool {
    FUNCTIONS.iter().any(|(op, _)| *op == name)
}

/// Dialects of the ops that expansions are made of.
pub fn dialects() -> Vec<DialectHandle> {
    vec![
        DialectHandle::arith(),
        qd_dialects::math_dialect(),
        DialectHandle::scf(),
    ]
}

/// Expands every function below `module`, except those for which `keeps` returns true.
pub fn expand<'c>(module: Op<'c>, keeps: &dyn Fn(Op<'c>) -> bool) {
    for op in module.nested() {
        let name = op.full_name();
        let Some((_, function)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        let r#type = op.first_result().r#type();
        let is_known = is_float(r#type) && matches!(bit_width(r#type), 32 | 64);
        if is_known && !keeps(op) {
            replace(op, *function);
        }
    }
}

fn replace(op: Op<'_>, function: Function) {
    let b = Builder::before(op);
    let r#type = op.first_result().r#type();
    let operands = b.vs(&op.operand_values());
    let result = match bit_width(r#type) {
        64 => function(&operands),
        _ => {
            let double = real::double(&b);
            let wide: Vec<_> = operands
                .iter()
                .map(|x| b.result("arith.extf", &[*x], double, &[]))
                .collect();
            b.result("arith.truncf", &[function(&wide)], r#type, &[])
        }
    };
    op.replace_with(&[result.value()]);
}
