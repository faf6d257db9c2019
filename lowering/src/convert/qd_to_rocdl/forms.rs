//! The forms of AMD's targets: the ops of the dialect and of `math` that they have.

use super::scan;
use crate::{
    convert::gpu_to_llvm::{self, Conversion},
    targets::isa::{Form, Scalar},
};
use qd_dialects::{
    attributes::{INTEGER_KINDS, INVERTIBLE_KINDS},
    ops::simt,
};

/// Every form of an op of ours, the better of two first, and how it is made.
pub(super) const FORMS: &[(Form, Conversion)] = &[
    (
        Form::of(simt::Shuffle::NAME, "ds_bpermute_b32 or DPP")
            .because("each lane reads the register of the lane that it names; a constant xor is a pattern of lanes"),
        gpu_to_llvm::shuffle,
    ),
    (
        Form::of(simt::Broadcast::NAME, "v_readlane_b32")
            .because("one lane's register, as a scalar that all lanes have"),
        gpu_to_llvm::broadcast,
    ),
    (
        Form::of(simt::BroadcastFirst::NAME, "v_readfirstlane_b32")
            .because("the first active lane is lane 0, as all lanes are active where a collective stands"),
        gpu_to_llvm::broadcast_first,
    ),
    (
        Form::of(simt::Ballot::NAME, "v_cmp").because("a comparison writes a bit for each lane"),
        gpu_to_llvm::ballot,
    ),
    (
        SCAN.for_op(simt::InclusiveScan::NAME)
            .combining(&INTEGER_KINDS),
        scan::inclusive,
    ),
    (
        SCAN.for_op(simt::ExclusiveScan::NAME)
            .combining(&INVERTIBLE_KINDS),
        scan::exclusive,
    ),
    (
        LONG_SCAN
            .for_op(simt::InclusiveScan::NAME)
            .combining(&INTEGER_KINDS),
        scan::inclusive,
    ),
    (
        LONG_SCAN
            .for_op(simt::ExclusiveScan::NAME)
            .combining(&INVERTIBLE_KINDS),
        scan::exclusive,
    ),
];

/// Floats are combined in another order so.
const SCAN: Form = Form::of("", "row_shr")
    .on(&[Scalar::Int(32)])
    .because(SCANS);
const LONG_SCAN: Form = Form::of("", "row_shr of both words")
    .on(&[Scalar::Int(64)])
    .because(SCANS);
const SCANS: &str = "rows of 16 lanes take in what stands 1, 2, 4 and 8 lanes below, then the totals of the rows below; without \
     the lane's own by the kind's inverse";

/// What upstream's conversion to LLVM makes of a function without calling one: there is no
/// library.
pub(super) const FUNCTIONS: &[Form] = &[
    Form::of("math.absf", "an operand's modifier"),
    Form::of("math.absi", "v_max_i32"),
    Form::of("math.ceil", "v_ceil"),
    Form::of("math.copysign", "v_bfi_b32"),
    Form::of("math.ctlz", "v_ffbh_u32"),
    Form::of("math.ctpop", "v_bcnt_u32_b32"),
    Form::of("math.cttz", "v_ffbl_b32"),
    Form::of("math.floor", "v_floor"),
    Form::of("math.fma", "v_fma"),
    Form::of("math.fpowi", "a loop of v_mul"),
    Form::of("math.isfinite", "v_cmp_class"),
    Form::of("math.isnan", "v_cmp_class"),
    Form::of("math.round", "a sequence"),
    Form::of("math.roundeven", "v_rndne"),
    Form::of("math.rsqrt", "v_sqrt and a division"),
    Form::of("math.sqrt", "v_sqrt and its correction"),
    Form::of("math.trunc", "v_trunc"),
];
