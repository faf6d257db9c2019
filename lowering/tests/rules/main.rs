//! Every rule of the search is proved: exhaustively in subgroups of four lanes with integers of
//! a few bits, by a solver in four and eight lanes with integers of some more, and by the interpreter in
//! subgroups of 4 to 64 lanes on numbers that look random. A rule that is wrong is caught by each.
#![allow(missing_docs)]

mod exhaustive;
mod interpreted;
mod smt;

use egg::{ENodeOrVar, Pattern};
use qd_dialects::attributes::{KINDS, Kind};
use qd_lowering::select::{
    language::{Head, Node, Type},
    rules::{self, Domain, Guard, Rule},
};
use std::{collections::BTreeSet, fs, path::Path};

/// What a rule's variable is in one case of its proof.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Variable {
    /// A value of a type. A lane is below the subgroup's size.
    Value {
        r#type: Type,
        is_lane: bool,
        uniform: bool,
        constant: bool,
    },
    /// A kind, a cluster or a token.
    Fixed(Head),
}

/// A case: each variable by its name.
type Case = Vec<(String, Variable)>;

/// Every case of a rule in subgroups of `1 << log2` lanes, as its proof says what its variables are.
fn cases(rule: &Rule, log2: u32, types: &[Type]) -> Vec<Case> {
    let all = cases_by(rule, Rule::domain, log2, types);
    assert!(!all.is_empty(), "rule '{}' has no case", rule.name);
    all
}

/// Every case of a rule that its guards allow, whatever its proof says.
fn guarded_cases(rule: &Rule, log2: u32, types: &[Type]) -> Vec<Case> {
    cases_by(rule, by_guards, log2, types)
}

/// What a variable may stand for by the rule's guards alone.
fn by_guards(rule: &Rule, name: &str) -> Domain {
    let of_guard = |guard: &Guard| match guard {
        Guard::Word(v) if *v == name => Some(Domain::Word),
        Guard::Integer(v) if *v == name => Some(Domain::Integer),
        _ => None,
    };
    match rule.domain(name) {
        Domain::Scalar | Domain::Integer | Domain::Word | Domain::Long => {
            let guarded = rule.guards.iter().find_map(of_guard);
            guarded.unwrap_or(Domain::Scalar)
        }
        other => other,
    }
}

fn cases_by(
    rule: &Rule,
    domain: fn(&Rule, &str) -> Domain,
    log2: u32,
    types: &[Type],
) -> Vec<Case> {
    let (left, right) = rule.sides().unwrap();
    let mut names: Vec<String> = Vec::new();
    for side in [&left, &right] {
        for name in side.vars().iter().map(ToString::to_string) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let has = |kind: Domain| names.iter().any(|name| domain(rule, name) == kind);
    // What a rule does not speak of has one case.
    let kinds = KINDS.map(|(kind, _)| kind);
    let kinds = &kinds[..if has(Domain::Kind) { kinds.len() } else { 1 }];
    let clusters = (0..=log2).map(Some).chain([None]);
    let clusters = clusters.take(if has(Domain::Cluster) { 8 } else { 1 });
    let counted = [None, Some(1), Some(2)];
    let counted = &counted[..if has(Domain::Bits) { counted.len() } else { 1 }];
    let mut all = Vec::new();
    for (r#type, kind) in types
        .iter()
        .flat_map(|t| kinds.iter().map(move |k| (*t, *k)))
    {
        for (cluster, bits) in clusters
            .clone()
            .flat_map(|c| counted.iter().map(move |b| (c, *b)))
        {
            let case = names.iter().map(|name| {
                let variable =
                    variable(rule, name, domain(rule, name), r#type, kind, cluster, bits)?;
                Some((name.clone(), variable))
            });
            // What values are combined is of one type.
            if let Some(case) = case.collect::<Option<Case>>()
                && suits(&case, &[&left, &right], kind, r#type)
                && !all.contains(&case)
            {
                all.push(case);
            }
        }
    }
    all
}

fn variable(
    rule: &Rule,
    name: &str,
    domain: Domain,
    r#type: Type,
    kind: Kind,
    cluster: Option<u32>,
    bits: Option<u32>,
) -> Option<Variable> {
    let is = |guard: fn(&'static str) -> Guard| {
        let mut guards = rule.guards.iter();
        guards.any(|known| matches!((known, guard("")), (Guard::Uniform(v), Guard::Uniform(_)) | (Guard::Constant(v), Guard::Constant(_)) if *v == name))
    };
    let (uniform, constant) = (is(Guard::Uniform), is(Guard::Constant));
    let value = |r#type, is_lane| Variable::Value {
        r#type,
        is_lane,
        uniform: uniform || constant,
        constant,
    };
    Some(match domain {
        Domain::Scalar => value(r#type, false),
        Domain::Integer if r#type.is_integer() => value(r#type, false),
        Domain::Word if r#type == Type::I32 => value(r#type, false),
        Domain::Long if r#type == Type::I64 => value(r#type, false),
        Domain::Integer | Domain::Word | Domain::Long => return None,
        Domain::Predicate => value(Type::I1, false),
        Domain::Lane => value(Type::I32, true),
        Domain::Kind => {
            let allowed = rule.guards.iter().all(|guard| match guard {
                Guard::OneOf(v, kinds) if *v == name => kinds.contains(&kind),
                _ => true,
            });
            return allowed.then(|| Variable::Fixed(Head::kind(kind)));
        }
        Domain::Cluster => {
            let is_part = |guard: &Guard| matches!(guard, Guard::Cluster(v) if *v == name);
            let allowed = cluster.is_some() || !rule.guards.iter().any(is_part);
            return allowed.then_some(Variable::Fixed(Head::Cluster(cluster)));
        }
        Domain::Bits => Variable::Fixed(Head::Bits(bits)),
        Domain::Token => Variable::Fixed(Head::Token(0)),
    })
}

/// Whether a kind combines values of the type: floats have kinds of their own.
fn suits(case: &Case, sides: &[&Pattern<Node>], kind: Kind, r#type: Type) -> bool {
    let of_case = |(_, v): &(String, Variable)| matches!(v, Variable::Fixed(Head::Kind(_)));
    if !case.iter().any(of_case) {
        return true;
    }
    let nodes = sides.iter().flat_map(|side| side.ast.iter());
    // A predicate's number is an i32.
    let widens = |node: &ENodeOrVar<Node>| node.to_string() == "zext.i32";
    let r#type = match nodes.into_iter().any(widens) {
        true => Type::I32,
        false => r#type,
    };
    match r#type {
        Type::F32 | Type::F64 => {
            matches!(kind, Kind::Add | Kind::Mul | Kind::MinNumF | Kind::MaxNumF)
        }
        _ => !matches!(kind, Kind::MinNumF | Kind::MaxNumF),
    }
}

/// Rules that are wrong, each in a way of its own.
const PLANTED: &[Rule] = &[
    planted(
        "back and forth",
        "(exclusive_scan add ?x ?c ?t)",
        "(add (inclusive_scan add ?x ?c ?t) ?x)",
    ),
    planted(
        "with its own",
        "(popcnt (and (ballot ?p ?t) (below lane)))",
        "(inclusive_scan add (zext.i32 ?p) whole ?t)",
    ),
    planted(
        "the first prefix",
        "(broadcast (inclusive_scan ?o ?x whole ?t) 0:i32 ?t)",
        "(reduce_all ?o ?x whole ?t)",
    ),
    planted("anywhere", "(any ?p ?c ?t)", "(ne (ballot ?p ?t) 0:i64)"),
    planted(
        "in lane 0 alone",
        "(reduce ?o ?x whole ?t)",
        "(reduce_all ?o ?x whole ?t)",
    ),
    planted("not uniform", "(broadcast_first ?x ?t)", "?x"),
    planted(
        "one bit more",
        "(all ?p ?c ?t)",
        "(xor (any ?p ?c ?t) 1:i1)",
    ),
    planted(
        "one lane less",
        "(exclusive_scan add (zext.i32 (xor ?p 1:i1)) whole ?t)",
        "(sub lane (popcnt (ballot ?p ?t)))",
    ),
    planted(
        "every lane has one",
        "(and (any ?p ?c ?t) (any ?q ?c ?t))",
        "(any (and ?p ?q) ?c ?t)",
    ),
    planted(
        "a factor of its own",
        "(reduce_all add (mul ?x ?y) ?c ?t)",
        "(mul (reduce_all add ?x ?c ?t) ?y)",
    ),
    planted("not idempotent", "(reduce_all ?o ?x ?c ?t)", "?x"),
    planted(
        "over the head",
        "(segmented_reduce add ?x ?h ?c ?t)",
        "(inclusive_scan add ?x ?c ?t)",
    ),
    planted(
        "the head alone",
        "(segmented_reduce add (zext.i32 ?p) ?h whole ?t)",
        "(popcnt (and (ballot ?p ?t) (upto lane)))",
    ),
    planted(
        "no head in front",
        "(segmented_reduce add ?x ?h whole ?t)",
        "(sub (inclusive_scan add ?x whole ?t)
              (shuffle.idx (exclusive_scan add ?x whole ?t) (last (and (ballot ?h ?t) (upto lane))) ?t))",
    ),
    planted(
        "of the whole",
        "(count_true ?p ?c ?t)",
        "(popcnt (ballot ?p ?t))",
    ),
    planted(
        "by a mask of its own",
        "(broadcast_first (shuffle.xor ?x ?i ?t) ?t)",
        "(broadcast ?x ?i ?t)",
    ),
    planted(
        "who is read",
        "(shuffle.xor (shuffle.idx ?x ?i ?t) 1:i32 ?t)",
        "(shuffle.idx ?x (xor ?i 1:i32) ?t)",
    ),
    planted(
        "over the cluster",
        "(segmented_reduce add (zext.i32 ?p) ?h ?c ?t)",
        "(popcnt (and (and (ballot ?p ?t) (upto lane))
                      (xor (below (last (or (and (ballot ?h ?t) (upto lane)) 1:i64))) -1:i64)))",
    ),
    planted(
        "who votes",
        "(match_any (zext.i32 ?p) ?b ?t)",
        "(ballot ?p ?t)",
    ),
];

/// Rules that are right of integers and wrong of floats: a guard is missing, or a sum is in another order. Nothing that is
/// not told what floats are catches them.
const PLANTED_OF_FLOATS: &[Rule] = &[
    Rule {
        guards: &[Guard::Uniform("?x")],
        ..of_floats("equal to itself", "(all_equal ?x ?c ?t)", "1:i1")
    },
    of_floats(
        "equal by bits",
        "(all_equal ?x whole ?t)",
        "(eq (match_any ?x every_bit ?t) (lanes whole))",
    ),
    of_floats(
        "equal by a comparison of integers",
        "(all_equal ?x whole ?t)",
        "(all (eq ?x (broadcast_first ?x ?t)) whole ?t)",
    ),
    of_floats(
        "from the next lane on",
        "(reduce_all add (shuffle.idx ?x (and (add lane 1:i32) (sub width 1:i32)) ?t) whole ?t)",
        "(reduce_all add ?x whole ?t)",
    ),
    of_floats(
        "an inverse",
        "(exclusive_scan add ?x ?c ?t)",
        "(sub (inclusive_scan add ?x ?c ?t) ?x)",
    ),
];

const fn of_floats(name: &'static str, left: &'static str, right: &'static str) -> Rule {
    Rule {
        proof: &[],
        ..planted(name, left, right)
    }
}

const fn planted(name: &'static str, left: &'static str, right: &'static str) -> Rule {
    Rule {
        name,
        left,
        right,
        both_ways: false,
        guards: &[],
        reason: "it is wrong",
        proof: &[("?x", Domain::Integer), ("?y", Domain::Integer)],
    }
}

#[test]
fn every_rule_is_found_by_its_name_and_says_why() {
    let mut names: Vec<_> = rules::all().map(|rule| rule.name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "two rules have one name");
    for rule in rules::all() {
        assert!(!rule.reason.is_empty(), "'{}' has no reason", rule.name);
        rule.rewrites().unwrap();
    }
}

/// Rules whose guard holds of each op that is right, so that no test can be of one of which it does not: the lane
/// that a broadcast reads is the same in all lanes.
const ALWAYS_GUARDED: &[&str] = &["low-of-broadcast", "broadcast-of-signed"];

/// The names that FileCheck's directives have, a word each: of those that ask for something, or of those that say
/// what may not be there.
fn checked(forbidden: bool) -> BTreeSet<String> {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let folder = folders
        .map(|above| above.join("tests/filecheck/select"))
        .find(|folder| folder.exists())
        .expect("the repository");
    let entries = fs::read_dir(folder).expect("a folder");
    let files = entries.map(|entry| entry.expect("a file").path());
    let files = files.filter(|file| file.extension().is_some_and(|ending| ending == "mlir"));
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(file).expect("a text");
        for (directive, said) in text.lines().filter_map(directive) {
            if directive.ends_with("-NOT") == forbidden {
                let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
                let words = said.split(|c: char| !is_of_name(c));
                names.extend(words.map(str::to_owned));
            }
        }
    }
    names
}

/// What FileCheck reads of a line: `CHECK-NEXT`, or another prefix, and what follows.
fn directive(line: &str) -> Option<(&str, &str)> {
    let (directive, said) = line.trim_start().strip_prefix("// ")?.split_once(':')?;
    let is_of_directive = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    (directive != "RUN" && directive.chars().all(is_of_directive)).then_some((directive, said))
}

#[test]
fn every_rule_fires_in_a_test_and_does_not_where_its_guard_forbids_it() {
    let lacking = |names: BTreeSet<String>| {
        let lacking = rules::all().filter(move |rule| !names.contains(rule.name));
        lacking.collect::<Vec<_>>()
    };
    let unfired = lacking(checked(false)).into_iter().map(|rule| rule.name);
    let unfired: Vec<_> = unfired.collect();
    let may_fail = |rule: &&Rule| !rule.guards.is_empty() && !ALWAYS_GUARDED.contains(&rule.name);
    let unforbidden = lacking(checked(true)).into_iter().filter(may_fail);
    let unforbidden: Vec<_> = unforbidden.map(|rule| rule.name).collect();
    assert!(
        unfired.is_empty() && unforbidden.is_empty(),
        "tests/filecheck/select has no test in which these fire: {unfired:?}; and none in which the guard of \
         these forbids it: {unforbidden:?}"
    );
}
