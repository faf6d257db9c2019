//! The forms of NVIDIA's targets: the ops of the dialect and of `math` that they have.

use super::vote;
use crate::{
    convert::gpu_to_llvm::{self, Conversion},
    targets::isa::{Form, Scalar},
};
use qd_dialects::{attributes::Kind, ops::simt};

/// Every form of an op of ours, the better of two first, and how it is made.
pub(super) const FORMS: &[(Form, Conversion)] = &[
    (
        Form::of(simt::Shuffle::NAME, "shfl.sync")
            .because("each lane reads the register of the lane that it names, and its own where there is none"),
        gpu_to_llvm::shuffle,
    ),
    (
        Form::of(simt::Broadcast::NAME, "shfl.sync.idx")
            .because("all lanes name the same lane"),
        gpu_to_llvm::broadcast,
    ),
    // What a broadcast of lane 0 is folded to.
    (
        Form::of(simt::BroadcastFirst::NAME, "shfl.sync.idx").because("all lanes name lane 0"),
        gpu_to_llvm::broadcast_first,
    ),
    (
        Form::of(simt::Ballot::NAME, "vote.sync.ballot")
            .because("bit i is the predicate of lane i"),
        gpu_to_llvm::ballot,
    ),
    // Not `vote.sync.all` and `any`: ptxas may vote again in the branch that needs the result, in which not all lanes
    // are (docs/rationale/nvptx.md).
    (
        Form::of(simt::All::NAME, "vote.sync.ballot, compared")
            .of_subgroup()
            .because("true where the ballot of a predicate has all lanes"),
        vote::all,
    ),
    (
        Form::of(simt::Any::NAME, "vote.sync.ballot, compared")
            .of_subgroup()
            .because("true where the ballot of a predicate has a lane"),
        vote::any,
    ),
    // A match goes through the values that there are one after the other, which costs more than
    // a ballot of each of a few bits.
    (
        Form::of(simt::MatchAny::NAME, "vote.sync.ballot of each bit")
            .up_to_bits(16)
            .because("lanes agree that agree in each bit that counts"),
        vote::match_by_ballots,
    ),
    (
        Form::of(simt::MatchAny::NAME, "match.any.sync")
            .because("the mask of the lanes with the same word, from which bits that do not count are shifted out"),
        vote::match_any,
    ),
    (REDUX.for_op(simt::Reduce::NAME), vote::reduce),
    (REDUX.for_op(simt::ReduceAll::NAME), vote::reduce),
];

const REDUX: Form = Form::of("", "redux.sync")
    .on(&[Scalar::Int(32)])
    .combining(&[
        Kind::Add,
        Kind::MinSi,
        Kind::MinUi,
        Kind::MaxSi,
        Kind::MaxUi,
        Kind::And,
        Kind::Or,
        Kind::Xor,
    ])
    .of_subgroup()
    .because("integers combine to the same in any order, and all lanes have the result");

/// What upstream's conversion to LLVM makes of a function without calling one: there is no
/// library.
pub(super) const FUNCTIONS: &[Form] = &[
    Form::of("math.absf", "abs"),
    Form::of("math.absi", "abs"),
    Form::of("math.ceil", "cvt.rpi"),
    Form::of("math.copysign", "copysign"),
    Form::of("math.ctlz", "clz"),
    Form::of("math.ctpop", "popc"),
    Form::of("math.cttz", "brev and clz"),
    // What else PTX approximates is too far off to be a function's value.
    Form::of("math.exp2", "ex2.approx").on(&[Scalar::Float(32)]),
    Form::of("math.floor", "cvt.rmi"),
    Form::of("math.fma", "fma.rn"),
    Form::of("math.fpowi", "a loop of mul"),
    Form::of("math.isfinite", "testp.finite"),
    Form::of("math.isnan", "testp.notanumber"),
    Form::of("math.round", "a sequence"),
    Form::of("math.roundeven", "cvt.rni"),
    Form::of("math.rsqrt", "sqrt.rn and div.rn"),
    Form::of("math.sqrt", "sqrt.rn"),
    Form::of("math.trunc", "cvt.rzi"),
];
