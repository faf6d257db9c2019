//! Values of 64 bits of which 32 are all that there is, or all that anybody asks for.
//!
//! A word of a value moves by itself, and low bits of a sum are those of the summands. What narrows stands on the
//! right, so that nothing grows.

use super::{Domain, Guard, Rule};
use qd_dialects::attributes::Kind;

/// Low bits of what they make of two values follow from the low bits of these.
const BY_LOW_BITS: &[Kind] = &[Kind::Add, Kind::Mul, Kind::And, Kind::Or, Kind::Xor];

const WORD: &[(&str, Domain)] = &[("?x", Domain::Word)];
const LONG: &[(&str, Domain)] = &[("?x", Domain::Long)];

/// The family.
pub const RULES: &[Rule] = &[
    Rule::new("low-of-signed", "(trunc.i32 (sext.i64 ?x))", "?x")
        .proved_for(WORD)
        .because("an extension keeps the low bits"),
    Rule::new("low-of-unsigned", "(trunc.i32 (zext.i64 ?x))", "?x")
        .when(&[Guard::Word("?x")])
        .proved_for(WORD)
        .because("an extension keeps the low bits"),
    Rule::new(
        "low-of-reduce",
        "(trunc.i32 (reduce_all ?o ?x ?c ?t))",
        "(reduce_all ?o (trunc.i32 ?x) ?c ?t)",
    )
    .when(&[Guard::OneOf("?o", BY_LOW_BITS)])
    .proved_for(LONG)
    .because("no high bit reaches a low one"),
    Rule::new(
        "low-of-inclusive",
        "(trunc.i32 (inclusive_scan ?o ?x ?c ?t))",
        "(inclusive_scan ?o (trunc.i32 ?x) ?c ?t)",
    )
    .when(&[Guard::OneOf("?o", BY_LOW_BITS)])
    .proved_for(LONG)
    .because("no high bit reaches a low one"),
    Rule::new(
        "low-of-exclusive",
        "(trunc.i32 (exclusive_scan ?o ?x ?c ?t))",
        "(exclusive_scan ?o (trunc.i32 ?x) ?c ?t)",
    )
    .when(&[Guard::OneOf("?o", BY_LOW_BITS)])
    .proved_for(LONG)
    .because("no high bit reaches a low one"),
    Rule::new(
        "low-of-xor",
        "(trunc.i32 (shuffle.xor ?x ?i ?t))",
        "(shuffle.xor (trunc.i32 ?x) ?i ?t)",
    )
    .when(&[Guard::Uniform("?i")])
    .proved_for(LONG)
    .because("the words of a value move alike"),
    Rule::new(
        "low-of-broadcast",
        "(trunc.i32 (broadcast ?x ?i ?t))",
        "(broadcast (trunc.i32 ?x) ?i ?t)",
    )
    .when(&[Guard::Uniform("?i")])
    .proved_for(LONG)
    .because("the words of a value move alike"),
    Rule::new(
        "low-of-first",
        "(trunc.i32 (broadcast_first ?x ?t))",
        "(broadcast_first (trunc.i32 ?x) ?t)",
    )
    .proved_for(LONG)
    .because("the words of a value move alike"),
    Rule::new(
        "idx-of-signed",
        "(shuffle.idx (sext.i64 ?x) ?i ?t)",
        "(sext.i64 (shuffle.idx ?x ?i ?t))",
    )
    .proved_for(WORD)
    .because("the high word is copies of a bit of the low one"),
    Rule::new(
        "xor-of-signed",
        "(shuffle.xor (sext.i64 ?x) ?i ?t)",
        "(sext.i64 (shuffle.xor ?x ?i ?t))",
    )
    .proved_for(WORD)
    .because("the high word is copies of a bit of the low one"),
    Rule::new(
        "broadcast-of-signed",
        "(broadcast (sext.i64 ?x) ?i ?t)",
        "(sext.i64 (broadcast ?x ?i ?t))",
    )
    .when(&[Guard::Uniform("?i")])
    .proved_for(WORD)
    .because("the high word is copies of a bit of the low one"),
    Rule::new(
        "first-of-signed",
        "(broadcast_first (sext.i64 ?x) ?t)",
        "(sext.i64 (broadcast_first ?x ?t))",
    )
    .proved_for(WORD)
    .because("the high word is copies of a bit of the low one"),
    Rule::new(
        "idx-of-unsigned",
        "(shuffle.idx (zext.i64 ?x) ?i ?t)",
        "(zext.i64 (shuffle.idx ?x ?i ?t))",
    )
    .when(&[Guard::Word("?x")])
    .proved_for(WORD)
    .because("the high word is zero"),
    Rule::new(
        "xor-of-unsigned",
        "(shuffle.xor (zext.i64 ?x) ?i ?t)",
        "(zext.i64 (shuffle.xor ?x ?i ?t))",
    )
    .when(&[Guard::Word("?x")])
    .proved_for(WORD)
    .because("the high word is zero"),
    Rule::new(
        "broadcast-of-unsigned",
        "(broadcast (zext.i64 ?x) ?i ?t)",
        "(zext.i64 (broadcast ?x ?i ?t))",
    )
    .when(&[Guard::Word("?x"), Guard::Uniform("?i")])
    .proved_for(WORD)
    .because("the high word is zero"),
    Rule::new(
        "first-of-unsigned",
        "(broadcast_first (zext.i64 ?x) ?t)",
        "(zext.i64 (broadcast_first ?x ?t))",
    )
    .when(&[Guard::Word("?x")])
    .proved_for(WORD)
    .because("the high word is zero"),
];
