//! `qd-guard-atan2`: two zeros, as C's `atan2` has them, whether or not they are constants.
//!
//! Upstream folds `math.atan2` of two zeros into a NaN, where C has ±0 or ±π, as do the interpreter and every
//! target. So no such pair may reach the folder: where both are zero, the second becomes ±1 with its sign, of which the
//! result is the same. This has to run before anything that folds.
//!
//! Limits: scalars. What is guarded already is guarded again, which changes no result.
//!
//! Before:
//! ```mlir
//! %r = math.atan2 %y, %x : f32
//! ```
//! After:
//! ```mlir
//! %no_y = arith.cmpf oeq, %y, %zero : f32
//! %no_x = arith.cmpf oeq, %x, %zero : f32
//! %neither = arith.andi %no_y, %no_x : i1
//! %unit = math.copysign %one, %x : f32
//! %x1 = arith.select %neither, %unit, %x : f32
//! %r = math.atan2 %y, %x1 : f32
//! ```

use qd_dialects::{
    attributes,
    builder::Builder,
    diagnostic::Result,
    ir::{Op, OpExt, is_float},
    melior::{dialect::DialectHandle, ir::ValueLike},
    pass::{NoOptions, Pass},
};

/// The pass.
pub struct GuardAtan2;

impl Pass for GuardAtan2 {
    type Options = NoOptions;
    const NAME: &'static str = "qd-guard-atan2";
    const SUMMARY: &'static str = "Keep arc tangents of two zeros from upstream's folder";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::arith(), qd_dialects::math_dialect()]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        let is_atan2 = |op: &Op<'c>| op.full_name() == "math.atan2";
        module.nested().into_iter().filter(is_atan2).for_each(guard);
        Ok(())
    }
}

fn guard(op: Op<'_>) {
    let operands = op.operand_values();
    if !is_float(operands[1].r#type()) {
        return;
    }
    let b = Builder::before(op);
    let (y, x) = (b.v(operands[0]), b.v(operands[1]));
    let one = b.constant(attributes::float_constant(b.context(), x.ty(), 1.0), x.ty());
    let neither = y.eq(0) & x.eq(0);
    let unit = b.result("math.copysign", &[one, x], x.ty(), &[]);
    op.set_operand_at(1, neither.select(unit, x).value());
}
