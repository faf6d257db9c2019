//! Ops that compute a scalar from scalars, each on operands that it is defined
//! for.

use super::{Generator, family};
use crate::{
    ods::OpDef,
    program::Value,
    types::{Class, Level, Ty},
};
use qd_dialects::ops::simt;
use std::sync::LazyLock;

/// Ops that are not generated, and why. Anything else that has operands and
/// results which are scalars is, as soon as it has a definition.
const LEFT_OUT: &[(&str, &str)] = &[
    ("arith.constant", "made where one is needed"),
    ("index.constant", "made where one is needed"),
    ("index.bool.constant", "made where one is needed"),
    ("index.sizeof", "the width of an index is the target's"),
    ("arith.scaling_extf", "types that no target has"),
    ("arith.scaling_truncf", "types that no target has"),
    ("arith.convertf", "types that no target has"),
    ("math.clampf", "written with minima and maxima by hand"),
    ("math.erf", "no reference semantics"),
    ("math.erfc", "no reference semantics"),
    ("math.sincos", "no reference semantics"),
    ("math.fpowi", "no reference semantics"),
];

/// Why an op is left out, if it is.
pub fn left_out(name: &str) -> Option<&'static str> {
    LEFT_OUT
        .iter()
        .find(|(op, _)| *op == name)
        .map(|(_, why)| *why)
}

static SCALAR: LazyLock<Vec<&'static OpDef>> = LazyLock::new(|| {
    let mut ops = family(&["arith.", "math.", "index.", "qd.math."]);
    ops.push(crate::ods::op(simt::Lanemask::NAME).expect("it is defined"));
    ops.retain(|op| left_out(&op.name).is_none() && is_interpreted(&op.name));
    ops
});

fn is_interpreted(name: &str) -> bool {
    qd_interp::supported_operations().any(|known| known == name)
}

/// On `index`, whose width is the target's, only what small numbers survive.
const ON_INDEX: &[&str] = &[
    "arith.addi",
    "arith.muli",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.minsi",
    "arith.minui",
    "arith.maxsi",
    "arith.maxui",
    "arith.divui",
    "arith.remui",
    "arith.cmpi",
    "arith.select",
    "arith.index_cast",
    "arith.index_castui",
];

/// Float ops whose result is the rounded exact one on every target.
const ROUNDED: &[&str] = &[
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.negf",
    "arith.minnumf",
    "arith.maxnumf",
    "arith.minimumf",
    "arith.maximumf",
    "arith.select",
    "arith.cmpf",
    "arith.extf",
    "arith.truncf",
    "arith.sitofp",
    "arith.uitofp",
    "arith.fptosi",
    "arith.fptoui",
    "math.absf",
    "math.floor",
    "math.ceil",
    "math.trunc",
    "math.round",
    "math.roundeven",
    "math.copysign",
    "math.isnan",
    "math.isinf",
    "math.isfinite",
    "math.isnormal",
];

impl Generator<'_> {
    /// One more scalar op, in scope if it is exact.
    pub(super) fn scalar_op(&mut self) {
        for _ in 0..12 {
            let op = SCALAR[self.random.usize(0..SCALAR.len())];
            if self.try_scalar(op) {
                return;
            }
        }
    }

    fn try_scalar(&mut self, op: &'static OpDef) -> bool {
        let Some(properties) = self.properties(op) else {
            return false;
        };
        let mut types = Vec::new();
        for i in 0..op.operands.len() {
            // An op of many operands is of one type.
            let same = i > 0 && (op.operands.len() > 3 || !self.one_in(4));
            let last = types.last().copied();
            let ty = match (same, last) {
                (true, Some(ty)) => ty,
                _ => self.any_type(),
            };
            types.push(ty);
        }
        let possible = self.forms_of(op, &types, &properties);
        if possible.is_empty() {
            return false;
        }
        let results = possible[self.random.usize(0..possible.len())].clone();
        let on_index = types.contains(&Ty::Index) || results.contains(&Ty::Index);
        let is_index_op = op.name.starts_with("index.");
        if on_index && !is_index_op && !ON_INDEX.contains(&op.name.as_str()) {
            return false;
        }
        let mut operands: Vec<Value> = Vec::new();
        for ty in &types {
            let any = self.find(*ty, Level::Varying);
            operands.push(any);
        }
        let floats = types.iter().chain(&results).any(|ty| ty.is_float());
        let is_rounded = ROUNDED.contains(&op.name.as_str());
        if floats && !is_rounded {
            return self.loose(op, &properties, &operands, results[0]);
        }
        if !self.guard(op, &mut operands, results[0]) {
            return false;
        }
        let class = self.class(op, &operands, results[0]);
        let level = operands.iter().map(|v| self.level(*v)).min();
        let level = level.unwrap_or(Level::Block);
        let mut made = Vec::new();
        for ty in &results {
            let class = if ty.is_float() { class } else { Class::Integer };
            made.push(self.scalar(*ty, level, class));
        }
        self.push(&op.name, &properties, &operands, &made);
        for result in made {
            let kept = match self.ty(result) {
                Ty::Index => {
                    let mask = self.constant(Ty::Index, 1023);
                    self.op("arith.andi", "", &[result, mask], Ty::Index)
                }
                _ => result,
            };
            self.scope.push(kept);
        }
        true
    }

    /// Replaces operands that the op is undefined for, or that targets differ on, and some
    /// by what is an end of what the op takes.
    fn guard(&mut self, op: &OpDef, operands: &mut [Value], result: Ty) -> bool {
        let short = op.name.split_once('.').map_or("", |(_, short)| short);
        let is_divided = short.starts_with("div")
            || short.starts_with("rem")
            || short.starts_with("ceildiv")
            || short.starts_with("floordiv");
        let is_of_bits = op.name.contains("math.") && operands.len() == 1;
        for (i, operand) in operands.iter_mut().enumerate() {
            let value = *operand;
            let ty = self.ty(value);
            *operand = match (short, i) {
                _ if ty == Ty::Index && is_divided && i == 1 => {
                    let one = self.constant(ty, 1);
                    let small = self.masked(value, 255);
                    self.op("arith.addi", "", &[small, one], ty)
                }
                ("shl" | "shrs" | "shru", 1) if ty == Ty::Index => self.masked(value, 7),
                _ if ty == Ty::Index => self.masked(value, 1023),
                _ if is_divided && i == 1 && !ty.is_float() => {
                    if ty == Ty::I1 {
                        return false;
                    }
                    let one = self.constant(ty, 1);
                    let small = self.masked(value, 255);
                    self.op("arith.addi", "", &[small, one], ty)
                }
                ("shli" | "shrsi" | "shrui", 1) => match ty {
                    Ty::I1 => return false,
                    _ => self.masked(value, ty.bits() - 1),
                },
                ("ipowi", 1) => match ty {
                    Ty::I1 => return false,
                    _ => self.masked(value, 7),
                },
                ("sitofp" | "uitofp", 0) if ty != Ty::I1 => self.masked(value, 1023),
                // To an index, which is small.
                ("index_cast" | "index_castui" | "casts" | "castu", 0)
                    if result == Ty::Index && ty != Ty::I1 =>
                {
                    self.masked(value, 1023)
                }
                ("fptosi" | "fptoui", 0) => {
                    let Class::Exact { mag, .. } = self.of(value).class else {
                        return false;
                    };
                    if mag > 24 || !matches!(result, Ty::I32 | Ty::I64) {
                        return false;
                    }
                    match short {
                        "fptoui" => {
                            let class = self.of(value).class;
                            let absolute = self.op("math.absf", "", &[value], ty);
                            self.info[absolute as usize].class = class;
                            absolute
                        }
                        _ => value,
                    }
                }
                // A device may take another zero's sign, or another NaN.
                ("bitcast", 0) if ty.is_float() => match self.of(value).class {
                    Class::Exact { .. } => self.without_zeros(value),
                    _ => return false,
                },
                ("bitcast", 0) if result.is_float() => return false,
                ("copysign", 1) => match self.of(value).class {
                    Class::Exact { .. } => self.without_zeros(value),
                    _ => return false,
                },
                // Of each 32 bits there are so many.
                ("simt.lanemask", 0) => self.masked(value, 31),
                ("math.fns", 1) => self.masked(value, 31),
                // What counts bits has its ends where there are few.
                _ if is_of_bits && !ty.is_float() && self.one_in(3) => {
                    let bit = self.random.i64(0..ty.bits());
                    let mask = self.constant(ty, 1 << bit);
                    self.op("arith.andi", "", &[value, mask], ty)
                }
                _ => value,
            };
        }
        true
    }

    /// The lowest bits of an integer, which is not negative then.
    pub(super) fn masked(&mut self, value: Value, mask: i64) -> Value {
        let ty = self.ty(value);
        let mask = match ty.bits() {
            1 => mask,
            bits => mask & (i64::MAX >> (64 - bits)),
        };
        let mask = self.constant(ty, mask);
        self.op("arith.andi", "", &[value, mask], ty)
    }

    /// The float, or 1 where it is 0.
    fn without_zeros(&mut self, value: Value) -> Value {
        let (ty, class) = (self.ty(value), self.of(value).class);
        let (zero, one) = (self.constant(ty, 0), self.constant(ty, 1));
        let is_zero = self.op("arith.cmpf", "predicate = 1 : i64", &[value, zero], Ty::I1);
        let kept = self.op("arith.select", "", &[is_zero, one, value], ty);
        self.info[kept as usize].class = class.join(self.of(one).class);
        kept
    }

    /// What is known of a float result.
    fn class(&self, op: &OpDef, operands: &[Value], result: Ty) -> Class {
        if !result.is_float() {
            return Class::Integer;
        }
        let of = |i: usize| self.of(operands[i]).class;
        let class = match op.name.as_str() {
            "arith.addf" | "arith.subf" => of(0).join(of(1)).summed(1),
            "arith.mulf" => of(0).multiplied(of(1)),
            "arith.minnumf" | "arith.maxnumf" | "arith.minimumf" | "arith.maximumf" => {
                of(0).join(of(1))
            }
            "arith.select" => of(1).join(of(2)),
            "arith.sitofp" | "arith.uitofp" => Class::Exact { mag: 10, frac: 0 },
            "math.floor" | "math.ceil" | "math.round" | "math.roundeven" => of(0).summed(1),
            "arith.negf" | "arith.extf" | "arith.truncf" | "math.absf" | "math.trunc"
            | "math.copysign" => of(0),
            _ => Class::Rounded,
        };
        class.fitted(result)
    }

    /// A function that targets round in their own way: of an argument between −1
    /// and 1, or where it is defined, and straight into a buffer of its own.
    fn loose(
        &mut self,
        op: &'static OpDef,
        properties: &str,
        operands: &[Value],
        result: Ty,
    ) -> bool {
        if !result.is_float() || self.phase.place.is_none() || !properties.is_empty() {
            return false;
        }
        let mut scaled = Vec::new();
        for value in operands {
            let ty = self.ty(*value);
            let Class::Exact { mag, .. } = self.of(*value).class else {
                return false;
            };
            if ty != result || mag > 20 {
                return false;
            }
            let factor = format!("{:?}", 2f64.powi(-mag - 1));
            let factor = self.literal(ty, &factor, Class::Rounded);
            scaled.push(self.op("arith.mulf", "", &[*value, factor], ty));
        }
        let short = op.name.split_once('.').map_or("", |(_, short)| short);
        let positive: &[usize] = match short {
            "log" | "log2" | "log10" | "log1p" | "sqrt" | "rsqrt" | "cbrt" | "acosh" | "powf" => {
                &[0]
            }
            "divf" | "remf" | "atan2" => &[1],
            _ => &[],
        };
        for i in positive {
            let ty = self.ty(scaled[*i]);
            let one = self.constant(ty, 1);
            let absolute = self.op("math.absf", "", &[scaled[*i]], ty);
            scaled[*i] = self.op("arith.addf", "", &[absolute, one], ty);
        }
        let value = self.op(&op.name, "", &scaled, result);
        self.store_loose(value);
        true
    }
}
