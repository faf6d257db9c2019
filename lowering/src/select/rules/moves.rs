//! Values that lanes read from one another.

use super::{Guard, Rule};

/// The family.
pub const RULES: &[Rule] = &[
    Rule::new("xor-of-nothing", "(shuffle.xor ?x 0:i32 ?t)", "?x")
        .because("a lane's number with no bit flipped is its own"),
    Rule::new(
        "xor-of-xor",
        "(shuffle.xor (shuffle.xor ?x ?i ?t) ?j ?t)",
        "(shuffle.xor ?x (xor ?i ?j) ?t)",
    )
    .when(&[Guard::Constant("?i"), Guard::Constant("?j")])
    .because("flips of bits compose by xor"),
    Rule::new(
        "idx-is-xor",
        "(shuffle.idx ?x (xor lane ?i) ?t)",
        "(shuffle.xor ?x ?i ?t)",
    )
    .because("the definition of a shuffle by xor"),
    Rule::new(
        "idx-is-broadcast",
        "(shuffle.idx ?x ?i ?t)",
        "(broadcast ?x ?i ?t)",
    )
    .when(&[Guard::Uniform("?i")])
    .because("all lanes read the same lane"),
    Rule::new("idx-of-uniform", "(shuffle.idx ?x ?i ?t)", "?x")
        .when(&[Guard::Uniform("?x")])
        .because("the lane that is read holds what the reader holds"),
    Rule::new("xor-of-uniform", "(shuffle.xor ?x ?i ?t)", "?x")
        .when(&[Guard::Uniform("?x")])
        .because("the lane that is read holds what the reader holds"),
    Rule::new("broadcast-of-uniform", "(broadcast ?x ?i ?t)", "?x")
        .when(&[Guard::Uniform("?x"), Guard::Uniform("?i")])
        .because("the lane that is read holds what the reader holds"),
    Rule::new("first-of-uniform", "(broadcast_first ?x ?t)", "?x")
        .when(&[Guard::Uniform("?x")])
        .because("lane 0 holds what the reader holds"),
    Rule::new(
        "broadcast-of-xor",
        "(broadcast (shuffle.xor ?x ?i ?t) ?j ?t)",
        "(broadcast ?x (xor ?j ?i) ?t)",
    )
    .when(&[Guard::Uniform("?i"), Guard::Uniform("?j")])
    .because("the lane that is read read one whose number differs in the same bits for all"),
    Rule::new(
        "first-of-xor",
        "(broadcast_first (shuffle.xor ?x ?i ?t) ?t)",
        "(broadcast ?x ?i ?t)",
    )
    .when(&[Guard::Uniform("?i")])
    .because("lane 0 read the lane whose number is the mask"),
    Rule::new(
        "idx-of-xor",
        "(shuffle.idx (shuffle.xor ?x ?i ?t) ?j ?t)",
        "(shuffle.idx ?x (xor ?j ?i) ?t)",
    )
    .when(&[Guard::Uniform("?i")])
    .because("the lane that is read read one whose number differs in the same bits for all"),
    Rule::new(
        "idx-of-idx",
        "(shuffle.idx (shuffle.idx ?x ?i ?t) ?j ?t)",
        "(shuffle.idx ?x (shuffle.idx ?i ?j ?t) ?t)",
    )
    .because(
        "lanes that are read say which they read; their numbers are narrower than some values",
    ),
    Rule::new(
        "xor-of-idx",
        "(shuffle.xor (shuffle.idx ?x ?i ?t) ?j ?t)",
        "(shuffle.idx ?x (shuffle.xor ?i ?j ?t) ?t)",
    )
    .when(&[Guard::Uniform("?j")])
    .because(
        "lanes that are read say which they read; their numbers are narrower than some values",
    ),
    Rule::new(
        "lane-zero",
        "(broadcast ?x 0:i32 ?t)",
        "(broadcast_first ?x ?t)",
    )
    .because("lane 0 is the first"),
];
