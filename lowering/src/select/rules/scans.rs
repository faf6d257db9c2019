//! Reductions and scans of a subgroup. Floats only where no order of combination changes: what
//! a sum of floats is depends on it.

use super::{Domain, Guard, Rule};
use qd_dialects::attributes::Kind;

/// `x ∘ x = x`.
pub(super) const IDEMPOTENT: &[Kind] = &[
    Kind::And,
    Kind::Or,
    Kind::MinSi,
    Kind::MinUi,
    Kind::MaxSi,
    Kind::MaxUi,
];

/// The family.
pub const RULES: &[Rule] = &[
    Rule::new(
        "first-of-reduce",
        "(broadcast_first (reduce ?o ?x whole ?t) ?t)",
        "(reduce_all ?o ?x whole ?t)",
    )
    .because("lane 0 has what every lane is to have, combined in the same order"),
    Rule::new(
        "last-of-scan",
        "(broadcast (inclusive_scan ?o ?x whole ?t) (sub width 1:i32) ?t)",
        "(reduce_all ?o ?x whole ?t)",
    )
    .when(&[Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer)])
    .because("the last prefix is the whole; integers combine in any order"),
    Rule::new("idempotent-of-uniform", "(reduce_all ?o ?x ?c ?t)", "?x")
        .when(&[Guard::Uniform("?x"), Guard::OneOf("?o", IDEMPOTENT)])
        .proved_for(&[("?x", Domain::Integer)])
        .because("a value combined with itself is itself"),
    Rule::new(
        "idempotent-scan-of-uniform",
        "(inclusive_scan ?o ?x ?c ?t)",
        "?x",
    )
    .when(&[Guard::Uniform("?x"), Guard::OneOf("?o", IDEMPOTENT)])
    .proved_for(&[("?x", Domain::Integer)])
    .because("a value combined with itself is itself"),
    Rule::new(
        "sum-of-uniform",
        "(reduce_all add ?x whole ?t)",
        "(mul ?x width)",
    )
    .when(&[Guard::Uniform("?x"), Guard::Word("?x")])
    .proved_for(&[("?x", Domain::Word)])
    .because("as many copies as there are lanes"),
    Rule::new(
        "exclusive-is-inclusive",
        "(exclusive_scan add ?x ?c ?t)",
        "(sub (inclusive_scan add ?x ?c ?t) ?x)",
    )
    .when(&[Guard::Integer("?x"), Guard::Number("?x")])
    .proved_for(&[("?x", Domain::Integer)])
    .because("sums of integers have inverses"),
    Rule::new(
        "inclusive-is-exclusive",
        "(inclusive_scan add ?x ?c ?t)",
        "(add (exclusive_scan add ?x ?c ?t) ?x)",
    )
    .when(&[Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer)])
    .because("the lane's own value comes on top of those below"),
    Rule::new(
        "sum-of-sums",
        "(add (reduce_all add ?x ?c ?t) (reduce_all add ?y ?c ?t))",
        "(reduce_all add (add ?x ?y) ?c ?t)",
    )
    .when(&[Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer), ("?y", Domain::Integer)])
    .because("sums of integers add up in any order"),
    Rule::new(
        "and-of-ands",
        "(and (reduce_all and ?x ?c ?t) (reduce_all and ?y ?c ?t))",
        "(reduce_all and (and ?x ?y) ?c ?t)",
    )
    .when(&[Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer), ("?y", Domain::Integer)])
    .because("bits that all lanes have of both"),
    Rule::new(
        "or-of-ors",
        "(or (reduce_all or ?x ?c ?t) (reduce_all or ?y ?c ?t))",
        "(reduce_all or (or ?x ?y) ?c ?t)",
    )
    .when(&[Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer), ("?y", Domain::Integer)])
    .because("bits that some lane has of either"),
    Rule::new(
        "xor-of-xors",
        "(xor (reduce_all xor ?x ?c ?t) (reduce_all xor ?y ?c ?t))",
        "(reduce_all xor (xor ?x ?y) ?c ?t)",
    )
    .when(&[Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer), ("?y", Domain::Integer)])
    .because("parities add up in any order"),
    Rule::new(
        "uniform-factor",
        "(reduce_all add (mul ?x ?y) ?c ?t)",
        "(mul (reduce_all add ?x ?c ?t) ?y)",
    )
    .when(&[Guard::Uniform("?y"), Guard::Integer("?x")])
    .proved_for(&[("?x", Domain::Integer), ("?y", Domain::Integer)])
    .because("multiplication distributes over addition"),
    Rule::new(
        "exclusive-of-uniform",
        "(exclusive_scan add ?x whole ?t)",
        "(mul ?x lane)",
    )
    .when(&[Guard::Uniform("?x"), Guard::Word("?x")])
    .proved_for(&[("?x", Domain::Word)])
    .because("as many copies as there are lanes below"),
    Rule::new(
        "inclusive-of-uniform",
        "(inclusive_scan add ?x whole ?t)",
        "(mul ?x (add lane 1:i32))",
    )
    .when(&[Guard::Uniform("?x"), Guard::Word("?x")])
    .proved_for(&[("?x", Domain::Word)])
    .because("as many copies as there are lanes below, and its own"),
];
