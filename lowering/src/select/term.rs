//! Terms and the IR: which ops are terms, and the op that a term is. Stands here once, for
//! import, materialisation and costs.

use super::language::{Head, Operator, Type};
use qd_dialects::{
    attributes::{self, Kind, names},
    builder::{Builder, Combiner, V},
    interfaces::Collective,
    ir::{Op, OpExt, Value, ValueExt, bit_width},
    melior::ir::{Attribute, ValueLike},
    ops::{LaneRelation, math, simt},
};

/// An operand of a term in the IR.
#[derive(Clone, Copy)]
pub enum Operand<'b, 'c> {
    /// A value.
    Value(V<'b, 'c>),
    /// How values are combined.
    Kind(Kind),
    /// log2 of the lanes in a cluster.
    Cluster(Option<u32>),
    /// How many bits of a value count.
    Bits(Option<u32>),
    /// Where a collective stands, which the IR says by itself.
    Token,
}

/// A number of `arith.cmpi`'s.
const EQUAL: i64 = 0;
const NOT_EQUAL: i64 = 1;

/// The form that an op is to be done by, where the program says so.
pub fn asked_form(op: Op<'_>) -> Option<Attribute<'_>> {
    op.attr(names::FORM)
}

/// The operator that an op is; none if it is no term, or the program says how it is to be done.
pub fn operator_of(op: Op<'_>) -> Option<Operator> {
    let operator = named_operator(op)?;
    let is_free = !promises_more(op) && asked_form(op).is_none();
    is_free.then_some(operator)
}

/// The operator that an op is by itself.
fn named_operator(op: Op<'_>) -> Option<Operator> {
    use Operator as To;
    if op.result_count() != 1 {
        return None;
    }
    let r#type = Type::of(op.first_result().r#type())?;
    let operands = op.operand_values();
    let of = |at: usize| operands.get(at).and_then(|value| Type::of(value.r#type()));
    let is_int = |at: usize| of(at).is_some_and(|t| !matches!(t, Type::F32 | Type::F64));
    let int = |name| op.attr(name).and_then(attributes::int);
    let case = |name| op.attr(name).and_then(attributes::case_of);
    let by_kind = |operator| {
        let of_one = operands.len() == 1 + usize::from(operator == To::SegmentedReduce);
        (of_one && op.attr("kind").is_some()).then_some(operator)
    };
    match op.full_name() {
        "arith.addi" => Some(To::Add),
        "arith.subi" => Some(To::Sub),
        "arith.muli" => Some(To::Mul),
        "arith.andi" => Some(To::And),
        "arith.ori" => Some(To::Or),
        "arith.xori" => Some(To::Xor),
        "arith.cmpi" if is_int(0) => match int("predicate")? {
            EQUAL => Some(To::Equal),
            NOT_EQUAL => Some(To::NotEqual),
            _ => None,
        },
        "arith.extui" => match (of(0)?, r#type) {
            (Type::I1, Type::I32) => Some(To::ZeroExtend32),
            (Type::I1 | Type::I32, Type::I64) => Some(To::ZeroExtend64),
            _ => None,
        },
        "arith.extsi" if of(0)? == Type::I32 && r#type == Type::I64 => Some(To::SignExtend64),
        "arith.trunci" if of(0)? == Type::I64 && r#type == Type::I32 => Some(To::Truncate32),
        "arith.select" => Some(To::Select),
        math::Popcnt::NAME => Some(To::PopulationCount),
        simt::LaneId::NAME => Some(To::Lane),
        simt::SubgroupSize::NAME => Some(To::Width),
        simt::Lanemask::NAME if r#type == Type::I64 => match case("relation")? {
            "lt" => Some(To::LanesBelow),
            "le" => Some(To::LanesUpTo),
            _ => None,
        },
        simt::Shuffle::NAME => match case("mode")? {
            "idx" => Some(To::ShuffleIdx),
            "xor" => Some(To::ShuffleXor),
            // What they read may not be there.
            _ => None,
        },
        simt::Broadcast::NAME => Some(To::Broadcast),
        simt::BroadcastFirst::NAME => Some(To::BroadcastFirst),
        simt::Ballot::NAME => Some(To::Ballot),
        simt::MatchAny::NAME => Some(To::MatchAny),
        simt::Any::NAME => Some(To::Any),
        simt::All::NAME => Some(To::All),
        simt::AllEqual::NAME => Some(To::AllEqual),
        simt::CountTrue::NAME => Some(To::CountTrue),
        simt::Reduce::NAME => by_kind(To::Reduce),
        simt::ReduceAll::NAME => by_kind(To::ReduceAll),
        simt::InclusiveScan::NAME => by_kind(To::InclusiveScan),
        simt::ExclusiveScan::NAME => by_kind(To::ExclusiveScan),
        simt::SegmentedReduce::NAME => by_kind(To::SegmentedReduce),
        _ => None,
    }
}

/// Whether some results are undefined that those of a term are not.
fn promises_more(op: Op<'_>) -> bool {
    let flags = op.attr("overflowFlags");
    flags.is_some_and(|flags| attributes::case_of(flags) != Some("none"))
        || op.attr("nonNeg").is_some()
}

/// The kind and the cluster of an op that is a term.
pub fn details_of(op: Op<'_>) -> (Option<Kind>, Option<u32>) {
    let cluster = Collective::of(op).and_then(|collective| collective.log2_cluster_size);
    (op.attr("kind").and_then(Kind::of), cluster)
}

/// How many bits of its value count, of an op that is a term; none: all.
pub fn bits_of(op: Op<'_>) -> Option<u32> {
    let bits = op.attr("bits").and_then(attributes::int)? as u32;
    let all = op
        .operand_values()
        .first()
        .map(|value| bit_width(value.r#type()));
    (Some(bits) < all).then_some(bits)
}

/// The constant that a value is, of a type that terms have.
pub fn constant_of(value: Value<'_>) -> Option<Head> {
    let r#type = Type::of(value.r#type())?;
    Some(Head::Constant(value.constant_int()?, r#type))
}

/// Inserts what a term with these operands is; nothing of a leaf, or of operands that do not
/// fit.
pub fn insert<'b, 'c>(
    b: &'b Builder<'c>,
    head: Head,
    operands: &[Operand<'b, 'c>],
) -> Option<V<'b, 'c>> {
    use Operand as Is;
    use Operator as Op;
    let operator = match head {
        Head::Constant(value, r#type) => return Some(constant(b, value, r#type)),
        Head::Op(operator) => operator,
        Head::Leaf(_) | Head::Kind(_) | Head::Cluster(_) | Head::Bits(_) | Head::Token(_) => {
            return None;
        }
    };
    let (i1, i32, i64) = (b.int_type(1), b.int_type(32), b.int_type(64));
    let mask = |relation: LaneRelation, lane: V<'b, 'c>| {
        let relation = ("relation", relation.attribute(b.context()));
        b.result(simt::Lanemask::NAME, &[lane], i64, &[relation])
    };
    let tile = |cluster: Option<u32>| {
        let log2 = cluster.map(|log2| attributes::i32(b.context(), log2 as i32));
        log2.map(|log2| ("tile", log2))
    };
    Some(match (operator, operands) {
        (Op::Add, &[Is::Value(x), Is::Value(y)]) => x + y,
        (Op::Sub, &[Is::Value(x), Is::Value(y)]) => x - y,
        (Op::Mul, &[Is::Value(x), Is::Value(y)]) => x * y,
        (Op::And, &[Is::Value(x), Is::Value(y)]) => x & y,
        (Op::Or, &[Is::Value(x), Is::Value(y)]) => x | y,
        (Op::Xor, &[Is::Value(x), Is::Value(y)]) => x ^ y,
        (Op::Equal, &[Is::Value(x), Is::Value(y)]) => x.eq(y),
        (Op::NotEqual, &[Is::Value(x), Is::Value(y)]) => x.ne(y),
        (Op::ZeroExtend32, &[Is::Value(x)]) => x.cast(i32),
        (Op::ZeroExtend64, &[Is::Value(x)]) => x.cast(i64),
        (Op::SignExtend64, &[Is::Value(x)]) => b.result("arith.extsi", &[x], i64, &[]),
        (Op::Truncate32, &[Is::Value(x)]) => x.cast(i32),
        (Op::Select, &[Is::Value(p), Is::Value(x), Is::Value(y)]) => p.select(x, y),
        (Op::PopulationCount, &[Is::Value(x)]) => b.popcnt(x),
        (Op::Lane, &[]) => b.lane_id(),
        (Op::Width, &[]) => b.subgroup_size(),
        (Op::LanesBelow, &[Is::Value(lane)]) => mask(LaneRelation::Lt, lane),
        (Op::LanesUpTo, &[Is::Value(lane)]) => mask(LaneRelation::Le, lane),
        (Op::LastSet, &[Is::Value(x)]) => b.i32(63) - b.clz(x),
        (Op::ClusterLanes, &[Is::Cluster(None)]) => {
            b.i64(-1) >> (b.i64(64) - b.subgroup_size().to_i64())
        }
        (Op::ClusterLanes, &[Is::Cluster(Some(log2))]) => {
            let lanes = -1i64 as u64 >> (64 - (1u32 << log2));
            b.i64(lanes as i64) << (b.lane_id() & -(1i64 << log2)).to_i64()
        }
        (Op::ShuffleIdx, &[Is::Value(x), Is::Value(lane), Is::Token]) => b.shuffle("idx", x, lane),
        (Op::ShuffleXor, &[Is::Value(x), Is::Value(mask), Is::Token]) => b.shuffle("xor", x, mask),
        (Op::Broadcast, &[Is::Value(x), Is::Value(lane), Is::Token]) => {
            b.result(simt::Broadcast::NAME, &[x, lane], x.ty(), &[])
        }
        (Op::BroadcastFirst, &[Is::Value(x), Is::Token]) => {
            b.result(simt::BroadcastFirst::NAME, &[x], x.ty(), &[])
        }
        (Op::Ballot, &[Is::Value(p), Is::Token]) => b.ballot(p),
        (Op::MatchAny, &[Is::Value(x), Is::Bits(bits), Is::Token]) => {
            b.match_any(x, bits.unwrap_or_else(|| bit_width(x.ty())))
        }
        (
            Op::Any | Op::All | Op::AllEqual | Op::CountTrue,
            &[Is::Value(x), Is::Cluster(cluster), Is::Token],
        ) => {
            let (name, r#type) = match operator {
                Op::Any => (simt::Any::NAME, i1),
                Op::All => (simt::All::NAME, i1),
                Op::AllEqual => (simt::AllEqual::NAME, i1),
                _ => (simt::CountTrue::NAME, i32),
            };
            b.result(name, &[x], r#type, tile(cluster).as_slice())
        }
        (
            Op::Reduce | Op::ReduceAll | Op::InclusiveScan | Op::ExclusiveScan,
            &[
                Is::Kind(kind),
                Is::Value(x),
                Is::Cluster(cluster),
                Is::Token,
            ],
        ) => {
            let name = match operator {
                Op::Reduce => simt::Reduce::NAME,
                Op::ReduceAll => simt::ReduceAll::NAME,
                Op::InclusiveScan => simt::InclusiveScan::NAME,
                _ => simt::ExclusiveScan::NAME,
            };
            combining(b, name, kind, &[x], tile(cluster))
        }
        (
            Op::SegmentedReduce,
            &[
                Is::Kind(kind),
                Is::Value(x),
                Is::Value(head),
                Is::Cluster(cluster),
                Is::Token,
            ],
        ) => {
            let name = simt::SegmentedReduce::NAME;
            combining(b, name, kind, &[x, head], tile(cluster))
        }
        _ => return None,
    })
}

fn constant<'b, 'c>(b: &'b Builder<'c>, value: i64, r#type: Type) -> V<'b, 'c> {
    let r#type = match r#type {
        Type::I1 => b.int_type(1),
        Type::I32 => b.int_type(32),
        Type::I64 => b.int_type(64),
        Type::F32 => b.f32_type(),
        Type::F64 => b.f64_type(),
    };
    b.int(r#type, value)
}

fn combining<'b, 'c>(
    b: &'b Builder<'c>,
    name: &'static str,
    kind: Kind,
    operands: &[V<'b, 'c>],
    tile: Option<(&str, Attribute<'c>)>,
) -> V<'b, 'c> {
    let combiner = Combiner::kind(b.context(), kind, operands[0].ty());
    let operands: Vec<_> = operands.iter().map(|operand| operand.value()).collect();
    let op = b.insert(combiner.build(name, b.location(), &operands));
    if let Some((name, tile)) = tile {
        op.set_attr(name, tile);
    }
    b.v(op.first_result())
}
