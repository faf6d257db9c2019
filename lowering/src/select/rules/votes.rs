//! Predicates of all lanes, and masks of the lanes whose predicate holds.

use super::{Domain, Guard, Rule};
use qd_dialects::attributes::Kind;

/// The family.
pub const RULES: &[Rule] = &[
    // In front of what other votes are made of: the first rule that says what a term is, is the one that is named.
    Rule::new("any-of-uniform", "(any ?p ?c ?t)", "?p")
        .when(&[Guard::Uniform("?p")])
        .because("each lane votes alike"),
    Rule::new("all-of-uniform", "(all ?p ?c ?t)", "?p")
        .when(&[Guard::Uniform("?p")])
        .because("each lane votes alike"),
    Rule::new(
        "any-is-ballot",
        "(any ?p whole ?t)",
        "(ne (ballot ?p ?t) 0:i64)",
    )
    .both_ways()
    .because("some bit is set"),
    Rule::new(
        "all-is-not-any",
        "(all ?p ?c ?t)",
        "(xor (any (xor ?p 1:i1) ?c ?t) 1:i1)",
    )
    .because("De Morgan"),
    Rule::new("one-or-none", "(select ?p 1:i32 0:i32)", "(zext.i32 ?p)")
        .because("a predicate is one bit"),
    Rule::new("not-of-not", "(xor (xor ?p 1:i1) 1:i1)", "?p").because("a bit flipped twice"),
    Rule::new("equal-if-uniform", "(all_equal ?x ?c ?t)", "1:i1")
        .when(&[Guard::Uniform("?x"), Guard::Integer("?x")])
        .proved_for(&[("?x", Domain::Integer)])
        .because("an integer is equal to itself, which a NaN is not"),
    Rule::new(
        "count-is-popcnt",
        "(count_true ?p whole ?t)",
        "(popcnt (ballot ?p ?t))",
    )
    .both_ways()
    .because("the definition of a ballot"),
    Rule::new(
        "count-is-sum",
        "(count_true ?p ?c ?t)",
        "(reduce_all add (zext.i32 ?p) ?c ?t)",
    )
    .both_ways()
    .because("a count is a sum of ones"),
    Rule::new(
        "rank-is-scan",
        "(exclusive_scan add (zext.i32 ?p) whole ?t)",
        "(popcnt (and (ballot ?p ?t) (below lane)))",
    )
    .both_ways()
    .because("the lanes below are the low bits of a mask"),
    Rule::new(
        "or-of-bits",
        "(reduce_all ?o (zext.i32 ?p) ?c ?t)",
        "(zext.i32 (any ?p ?c ?t))",
    )
    .when(&[Guard::OneOf("?o", &[Kind::Or, Kind::MaxUi, Kind::MaxSi])])
    .because("the largest bit is set if some bit is"),
    Rule::new(
        "and-of-bits",
        "(reduce_all ?o (zext.i32 ?p) ?c ?t)",
        "(zext.i32 (all ?p ?c ?t))",
    )
    .when(&[Guard::OneOf("?o", &[Kind::And, Kind::MinUi, Kind::MinSi])])
    .because("the smallest bit is set if all are"),
    Rule::new(
        "ballot-of-and",
        "(and (ballot ?p ?t) (ballot ?q ?t))",
        "(ballot (and ?p ?q) ?t)",
    )
    .both_ways()
    .because("bit by bit"),
    Rule::new(
        "ballot-of-or",
        "(or (ballot ?p ?t) (ballot ?q ?t))",
        "(ballot (or ?p ?q) ?t)",
    )
    .both_ways()
    .because("bit by bit"),
    Rule::new(
        "ballot-of-xor",
        "(xor (ballot ?p ?t) (ballot ?q ?t))",
        "(ballot (xor ?p ?q) ?t)",
    )
    .both_ways()
    .because("bit by bit"),
    Rule::new(
        "any-of-or",
        "(or (any ?p ?c ?t) (any ?q ?c ?t))",
        "(any (or ?p ?q) ?c ?t)",
    )
    .because("some lane has one of them"),
    Rule::new(
        "all-of-and",
        "(and (all ?p ?c ?t) (all ?q ?c ?t))",
        "(all (and ?p ?q) ?c ?t)",
    )
    .because("every lane has both"),
    Rule::new(
        "count-of-not",
        "(count_true (xor ?p 1:i1) whole ?t)",
        "(sub width (popcnt (ballot ?p ?t)))",
    )
    .because("lanes that do not are those left of all"),
    Rule::new(
        "rank-of-not",
        "(exclusive_scan add (zext.i32 (xor ?p 1:i1)) whole ?t)",
        "(sub lane (popcnt (and (ballot ?p ?t) (below lane))))",
    )
    .because("as many lanes are below as the lane's number says"),
    Rule::new(
        "rank-with-own",
        "(inclusive_scan add (zext.i32 ?p) whole ?t)",
        "(popcnt (and (ballot ?p ?t) (upto lane)))",
    )
    .both_ways()
    .because("the lanes up to the lane are the low bits of a mask"),
    Rule::new(
        "any-in-cluster",
        "(any ?p ?c ?t)",
        "(ne (and (ballot ?p ?t) (lanes ?c)) 0:i64)",
    )
    .when(&[Guard::Cluster("?c")])
    .because("some bit of the cluster's is set"),
    Rule::new(
        "count-in-cluster",
        "(count_true ?p ?c ?t)",
        "(popcnt (and (ballot ?p ?t) (lanes ?c)))",
    )
    .when(&[Guard::Cluster("?c")])
    .because("the set bits of the cluster's"),
    Rule::new(
        "rank-in-cluster",
        "(exclusive_scan add (zext.i32 ?p) ?c ?t)",
        "(popcnt (and (and (ballot ?p ?t) (lanes ?c)) (below lane)))",
    )
    .when(&[Guard::Cluster("?c")])
    .because("the lanes below that are of the cluster"),
    Rule::new(
        "rank-in-cluster-with-own",
        "(inclusive_scan add (zext.i32 ?p) ?c ?t)",
        "(popcnt (and (and (ballot ?p ?t) (lanes ?c)) (upto lane)))",
    )
    .when(&[Guard::Cluster("?c")])
    .because("the lanes up to the lane that are of the cluster"),
    Rule::new("ballot-of-all", "(ballot 1:i1 ?t)", "(lanes whole)")
        .because("every lane is of the subgroup"),
    Rule::new("ballot-of-none", "(ballot 0:i1 ?t)", "0:i64").because("no bit is set"),
    Rule::new(
        "match-of-bit",
        "(match_any (zext.i32 ?p) ?b ?t)",
        "(select ?p (ballot ?p ?t) (ballot (xor ?p 1:i1) ?t))",
    )
    .because("a lane's peers are those that vote as it does"),
    Rule::new("match-of-uniform", "(match_any ?x ?b ?t)", "(lanes whole)")
        .when(&[Guard::Uniform("?x")])
        .proved_for(&[("?x", Domain::Integer)])
        .because("each lane holds the same"),
    Rule::new(
        "equal-is-match",
        "(all_equal ?x whole ?t)",
        "(eq (match_any ?x every_bit ?t) (lanes whole))",
    )
    .when(&[Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer)])
    .because("every lane is a peer; a NaN is one and is not equal"),
    Rule::new(
        "equal-is-all",
        "(all_equal ?x whole ?t)",
        "(all (eq ?x (broadcast_first ?x ?t)) whole ?t)",
    )
    .when(&[Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer)])
    .because("what equals one of them equals the others"),
];
