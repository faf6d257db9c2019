//! Scans that begin anew at every head. A lane's segment reaches from the last head up to it, or lane 0,
//! to the lane: a range of a mask.

use super::{Domain, Guard, Rule, scans::IDEMPOTENT};
use qd_dialects::attributes::Kind;

/// The lane in which a lane's segment begins.
macro_rules! head {
    () => {
        "(last (or (and (ballot ?h ?t) (upto lane)) 1:i64))"
    };
}

/// The same within a cluster, whose first lane is its lowest bit.
macro_rules! head_in_cluster {
    () => {
        "(last (or (and (ballot ?h ?t) (upto lane)) (and (lanes ?c) (sub 0:i64 (lanes ?c)))))"
    };
}

/// The family.
pub const RULES: &[Rule] = &[
    Rule::new(
        "segment-without-heads",
        "(segmented_reduce ?o ?x 0:i1 ?c ?t)",
        "(inclusive_scan ?o ?x ?c ?t)",
    )
    .because("all lanes are one segment, combined in the same order"),
    Rule::new(
        "segment-of-one",
        "(segmented_reduce ?o ?x 1:i1 ?c ?t)",
        "?x",
    )
    .because("each lane is a segment of its own"),
    Rule::new(
        "idempotent-segment-of-uniform",
        "(segmented_reduce ?o ?x ?h ?c ?t)",
        "?x",
    )
    .when(&[Guard::Uniform("?x"), Guard::OneOf("?o", IDEMPOTENT)])
    .proved_for(&[("?x", Domain::Integer)])
    .because("a value combined with itself is itself"),
    Rule::new(
        "segment-by-prefixes",
        "(segmented_reduce add ?x ?h whole ?t)",
        concat!(
            "(sub (inclusive_scan add ?x whole ?t) (shuffle.idx (exclusive_scan add ?x whole ?t) ",
            head!(),
            " ?t))"
        ),
    )
    .when(&[Guard::Integer("?x"), Guard::Number("?x")])
    .proved_for(&[("?x", Domain::Integer)])
    .because("what is before the segment is subtracted from the prefix"),
    Rule::new(
        "segment-of-copies",
        "(segmented_reduce add ?x ?h whole ?t)",
        concat!("(mul ?x (add (sub lane ", head!(), ") 1:i32))"),
    )
    .when(&[Guard::Uniform("?x"), Guard::Word("?x")])
    .proved_for(&[("?x", Domain::Word)])
    .because("as many copies as there are lanes from the head on"),
    Rule::new(
        "count-in-segment",
        "(segmented_reduce add (zext.i32 ?p) ?h whole ?t)",
        concat!(
            "(popcnt (and (and (ballot ?p ?t) (upto lane)) (xor (below ",
            head!(),
            ") -1:i64)))"
        ),
    )
    .because("the bits from the head to the lane"),
    Rule::new(
        "any-in-segment",
        "(segmented_reduce ?o (zext.i32 ?p) ?h whole ?t)",
        concat!(
            "(zext.i32 (ne (and (and (ballot ?p ?t) (upto lane)) (xor (below ",
            head!(),
            ") -1:i64)) 0:i64))"
        ),
    )
    .when(&[Guard::OneOf("?o", &[Kind::Or, Kind::MaxUi, Kind::MaxSi])])
    .because("some bit from the head to the lane"),
    Rule::new(
        "all-in-segment",
        "(segmented_reduce ?o (zext.i32 ?p) ?h whole ?t)",
        concat!(
            "(zext.i32 (eq (and (and (ballot (xor ?p 1:i1) ?t) (upto lane)) (xor (below ",
            head!(),
            ") -1:i64)) 0:i64))"
        ),
    )
    .when(&[Guard::OneOf("?o", &[Kind::And, Kind::MinUi, Kind::MinSi])])
    .because("no bit is missing from the head to the lane"),
    Rule::new(
        "segment-in-cluster-by-prefixes",
        "(segmented_reduce add ?x ?h ?c ?t)",
        concat!(
            "(sub (inclusive_scan add ?x ?c ?t) (shuffle.idx (exclusive_scan add ?x ?c ?t) ",
            head_in_cluster!(),
            " ?t))"
        ),
    )
    .when(&[
        Guard::Integer("?x"),
        Guard::Number("?x"),
        Guard::Cluster("?c"),
    ])
    .proved_for(&[("?x", Domain::Integer)])
    .because("what is before the segment is subtracted from the prefix"),
    Rule::new(
        "segment-of-copies-in-cluster",
        "(segmented_reduce add ?x ?h ?c ?t)",
        concat!("(mul ?x (add (sub lane ", head_in_cluster!(), ") 1:i32))"),
    )
    .when(&[
        Guard::Uniform("?x"),
        Guard::Word("?x"),
        Guard::Cluster("?c"),
    ])
    .proved_for(&[("?x", Domain::Word)])
    .because("as many copies as there are lanes from the head on"),
    Rule::new(
        "count-in-segment-of-cluster",
        "(segmented_reduce add (zext.i32 ?p) ?h ?c ?t)",
        concat!(
            "(popcnt (and (and (ballot ?p ?t) (upto lane)) (xor (below ",
            head_in_cluster!(),
            ") -1:i64)))"
        ),
    )
    .when(&[Guard::Cluster("?c")])
    .because("the bits from the head to the lane"),
    Rule::new(
        "any-in-segment-of-cluster",
        "(segmented_reduce ?o (zext.i32 ?p) ?h ?c ?t)",
        concat!(
            "(zext.i32 (ne (and (and (ballot ?p ?t) (upto lane)) (xor (below ",
            head_in_cluster!(),
            ") -1:i64)) 0:i64))"
        ),
    )
    .when(&[
        Guard::OneOf("?o", &[Kind::Or, Kind::MaxUi, Kind::MaxSi]),
        Guard::Cluster("?c"),
    ])
    .because("some bit from the head to the lane"),
    Rule::new(
        "all-in-segment-of-cluster",
        "(segmented_reduce ?o (zext.i32 ?p) ?h ?c ?t)",
        concat!(
            "(zext.i32 (eq (and (and (ballot (xor ?p 1:i1) ?t) (upto lane)) (xor (below ",
            head_in_cluster!(),
            ") -1:i64)) 0:i64))"
        ),
    )
    .when(&[
        Guard::OneOf("?o", &[Kind::And, Kind::MinUi, Kind::MinSi]),
        Guard::Cluster("?c"),
    ])
    .because("no bit is missing from the head to the lane"),
];
