//! The classes of ops of which no target has forms, by which the table of costs has them.

use super::{
    language::{Head, Type},
    price::Shape,
};
use crate::targets::isa::Scalar;
use qd_dialects::{
    interfaces::Collective,
    ir::{self, Op, OpExt, Value, ValueExt, bit_width},
    melior::ir::ValueLike,
    ops::{grid, math, simt},
};
use qd_passes::expand_collectives::is_expandable;

/// As what an op of a class costs where it is the same in a subgroup, or is not.
pub fn in_subgroup(class: &'static str, is_uniform: bool) -> &'static str {
    match class {
        "int" | "int64" | "mask" | "popc" if is_uniform => "uniform",
        class => class,
    }
}

/// As what an op costs that is done in one way alone, and that no target has forms of; none if it is no
/// such op.
pub fn plain_class(op: Op<'_>) -> Option<Option<&'static str>> {
    let is_plain = Collective::of(op).is_none() && !is_expandable(op.full_name());
    is_plain.then(|| neutral_class(op))
}

/// As what a term costs that is no collective; none: nothing.
pub fn class_of(shape: &Shape) -> Option<&'static str> {
    use super::language::Operator as Op;
    match shape.head {
        // Registers hold them.
        Head::Op(Op::Lane | Op::Width) => None,
        // A constant, once the size is one.
        Head::Op(Op::ClusterLanes) if shape.cluster.is_none() => None,
        Head::Op(Op::LanesBelow | Op::LanesUpTo | Op::ClusterLanes) => Some("int64"),
        Head::Op(Op::Select) => match shape.values.get(1) {
            Some((Type::I64 | Type::F64, _)) => Some("int64"),
            _ => Some("int"),
        },
        Head::Op(Op::ZeroExtend64 | Op::SignExtend64) => Some("int"),
        Head::Op(Op::PopulationCount) => Some("popc"),
        // The low register is there.
        Head::Op(Op::Truncate32) => None,
        Head::Op(_) => match shape.values.first() {
            Some((Type::I64, _)) => Some("int64"),
            _ => Some("int"),
        },
        _ => None,
    }
}

/// As what an op costs that is no collective; none: nothing.
pub fn neutral_class(op: Op<'_>) -> Option<&'static str> {
    let name = op.full_name();
    // A comparison is of its operands' type.
    let values = match name {
        "arith.cmpi" | "arith.cmpf" => op.operand_values(),
        _ => op.result_values(),
    };
    let scalar = values.first().and_then(|value| Scalar::of(value.r#type()));
    let is_shared = |operand: usize| {
        let memref = op.operand_values().get(operand).map(|v| v.r#type());
        // What has a memory space is the block's.
        memref.is_some_and(|memref| {
            ir::as_memref(memref).is_some_and(|memref| memref.memory_space().is_some())
        })
    };
    let bits = |value: Option<&Value<'_>>| value.map(|value| bit_width(value.r#type()));
    match name {
        "memref.load" if is_shared(0) => Some("shared"),
        "memref.store" if is_shared(1) => Some("shared"),
        "memref.load" => Some("load"),
        "memref.store" => Some("store"),
        simt::BlockSync::NAME | simt::Sync::NAME => Some("barrier"),
        "scf.if" | "scf.for" | "scf.while" | "scf.index_switch" | "func.call" => Some("branch"),
        // Each iteration ends with one.
        "scf.condition" => Some("branch"),
        "scf.yield" if op.parent().is_some_and(|parent| parent.is("scf.for")) => Some("branch"),
        // Registers, addresses, and what code generation leaves nothing of.
        "arith.constant" | "arith.index_cast" | "arith.index_castui" | "arith.bitcast" => None,
        // The low register is there, and the high one is one instruction.
        "arith.trunci" if bits(values.first()) == Some(32) => None,
        "arith.extui" | "arith.extsi" => Some("int"),
        "math.ctpop" | math::Popcnt::NAME => Some("popc"),
        grid::AtomicRmw::NAME if is_shared(1) => Some("shared atomic"),
        _ if name.contains("atomic") => Some("atomic"),
        _ if name.starts_with("math.") && !counts_bits(name) => Some("math"),
        _ if ["arith.", "math.", "qd.math."]
            .iter()
            .any(|of| name.starts_with(of)) =>
        {
            match scalar {
                Some(Scalar::Float(64)) => Some("double"),
                Some(Scalar::Float(_)) if is_minimum(name) => Some("minmax"),
                Some(Scalar::Float(_)) => Some("float"),
                Some(Scalar::Int(64)) if is_of_masks(op) => Some("mask"),
                Some(Scalar::Int(64)) => Some("int64"),
                _ => Some("int"),
            }
        }
        _ => None,
    }
}

fn is_minimum(name: &str) -> bool {
    ["arith.minnumf", "arith.maxnumf"].contains(&name)
}

/// Whether an op on 64 bits is made of masks of lanes: with a subgroup's size, LLVM knows of which of their bits nothing
/// comes.
fn is_of_masks(op: Op<'_>) -> bool {
    fn is_mask(value: Value<'_>, depth: u32) -> bool {
        let Some(op) = value.defining_op() else {
            return false;
        };
        let masks = [
            simt::Ballot::NAME,
            simt::MatchAny::NAME,
            simt::MatchAll::NAME,
            simt::ActiveMask::NAME,
            simt::Lanemask::NAME,
        ];
        if masks.contains(&op.full_name()) {
            return true;
        }
        depth > 0 && keeps_masks(op) && is_made_of_some(op, depth)
    }
    fn is_made_of_some(op: Op<'_>, depth: u32) -> bool {
        let operands = op.operand_values();
        operands.iter().any(|value| is_mask(*value, depth - 1))
    }
    /// As far as one looks.
    const DEPTH: u32 = 4;
    (keeps_masks(op) || op.is("arith.cmpi")) && is_made_of_some(op, DEPTH)
}

/// Whether what an op makes of masks is one.
fn keeps_masks(op: Op<'_>) -> bool {
    let names = ["arith.andi", "arith.ori", "arith.xori", "arith.select"];
    names.contains(&op.full_name())
}

/// Whether a function is an instruction on integers other than `popc`, as `qd.math`'s of the same kind are.
fn counts_bits(name: &str) -> bool {
    ["math.ctlz", "math.cttz"].contains(&name)
}
