//! The forms of SPIR-V: the ops of the dialect and of `math` that it has.

use super::{Conversion, capabilities::CLUSTERED, reduce, shuffle, vote};
use crate::targets::isa::{Form, Scalar};
use qd_dialects::attributes::INTEGER_KINDS;
use qd_dialects::ops::simt;

/// Every form of an op of ours, the better of two first, and how it is made.
pub(super) const FORMS: &[(Form, Conversion)] = &[
    (
        Form::of(simt::Shuffle::NAME, "OpGroupNonUniformShuffle").because(
            "each lane reads the value of the lane that it names, which is held below the size",
        ),
        shuffle::shuffle,
    ),
    (
        Form::of(simt::Broadcast::NAME, "OpGroupNonUniformBroadcast")
            .because("all lanes name the same lane"),
        shuffle::broadcast,
    ),
    // What a broadcast of lane 0 is folded to.
    (
        Form::of(simt::BroadcastFirst::NAME, "OpGroupNonUniformBroadcast")
            .because("all lanes name lane 0"),
        shuffle::broadcast_first,
    ),
    (
        Form::of(simt::Ballot::NAME, "OpGroupNonUniformBallot")
            .because("bit i is the predicate of lane i"),
        vote::ballot,
    ),
    (
        Form::of(simt::All::NAME, "OpGroupNonUniformAll")
            .of_subgroup()
            .because("true where the predicate is true in each active lane, and all are active"),
        vote::all,
    ),
    (
        Form::of(simt::Any::NAME, "OpGroupNonUniformAny")
            .of_subgroup()
            .because("true where the predicate is true in an active lane, and all are active"),
        vote::any,
    ),
    (REDUCE.for_op(simt::Reduce::NAME), reduce::reduce),
    (REDUCE.for_op(simt::ReduceAll::NAME), reduce::reduce),
    (
        CLUSTERS.for_op(simt::Reduce::NAME),
        reduce::clustered_reduce,
    ),
    (
        CLUSTERS.for_op(simt::ReduceAll::NAME),
        reduce::clustered_reduce,
    ),
    (
        integers("InclusiveScan")
            .for_op(simt::InclusiveScan::NAME)
            .of_subgroup(),
        reduce::inclusive_scan,
    ),
    (
        integers("ExclusiveScan")
            .for_op(simt::ExclusiveScan::NAME)
            .of_subgroup(),
        reduce::exclusive_scan,
    ),
];

const REDUCE: Form = integers("Reduce").of_subgroup();
const CLUSTERS: Form = integers("ClusteredReduce").with_feature(CLUSTERED);

/// A group operation on integers, whose result is the same in any order. That of floats would be
/// the driver's, and so would NaNs and the sign of a zero.
const fn integers(operation: &'static str) -> Form {
    Form::of("", operation)
        .on(&[Scalar::Int(32), Scalar::Int(64)])
        .combining(&INTEGER_KINDS)
        .because("integers combine to the same in any order, and the identities of SPIR-V are those of the kinds")
}

/// Functions that upstream's conversion makes of what SPIR-V has exactly. The others of
/// `GLSL.std.450` are too far off to be a function's value.
pub(super) const FUNCTIONS: &[Form] = &[
    Form::of("math.absf", "FAbs"),
    Form::of("math.ceil", "Ceil"),
    Form::of("math.copysign", "a sequence"),
    Form::of("math.floor", "Floor"),
    Form::of("math.round", "a sequence"),
    Form::of("math.sqrt", "Sqrt"),
];
