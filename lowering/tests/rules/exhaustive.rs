//! Both sides on every input there is: four lanes, an `i32` of two bits, an `i64` of four.
//!
//! A lane without a value is undefined. What is equal is undefined in the same lanes: a class
//! of the e-graph hands out each of its terms for any other.

use super::{Case, PLANTED, Variable, cases};
use egg::{ENodeOrVar, Language, RecExpr};
use qd_dialects::attributes::Kind;
use qd_lowering::select::{
    language::{Head, Node, Operator, Type},
    rules::{self, Rule},
};
use std::collections::HashMap;

const LANES: usize = 4;
const LOG2: u32 = 2;
/// Inputs of a case, at most; one with more has none that a case of narrower values lacks.
const MOST: u64 = 1 << 20;

/// A number in each lane.
type Lanes = [Option<u8>; LANES];

#[derive(Clone, Copy)]
enum Term {
    Value(Lanes, Type),
    Fixed(Head),
}

fn bits(r#type: Type) -> u32 {
    match r#type {
        Type::I1 => 1,
        Type::I32 => 2,
        _ => 4,
    }
}

fn wrap(value: i32, r#type: Type) -> u8 {
    value as u8 & ((1 << bits(r#type)) - 1)
}

fn signed(value: u8, r#type: Type) -> i32 {
    let shift = 32 - bits(r#type);
    (i32::from(value) << shift) >> shift
}

fn combine(kind: Kind, a: u8, b: u8, r#type: Type) -> u8 {
    let (x, y) = (i32::from(a), i32::from(b));
    let is_less = signed(a, r#type) < signed(b, r#type);
    match kind {
        Kind::Add => wrap(x + y, r#type),
        Kind::Mul => wrap(x * y, r#type),
        Kind::And => a & b,
        Kind::Or => a | b,
        Kind::Xor => a ^ b,
        Kind::MinUi => a.min(b),
        Kind::MaxUi => a.max(b),
        Kind::MinSi => {
            if is_less {
                a
            } else {
                b
            }
        }
        Kind::MaxSi => {
            if is_less {
                b
            } else {
                a
            }
        }
        Kind::MinNumF | Kind::MaxNumF => panic!("integers alone"),
    }
}

fn identity(kind: Kind, r#type: Type) -> u8 {
    let ones = wrap(-1, r#type);
    match kind {
        Kind::Mul => 1,
        Kind::And | Kind::MinUi => ones,
        Kind::MinSi => ones >> 1,
        Kind::MaxSi => (ones >> 1) + 1,
        _ => 0,
    }
}

/// What a side comes to.
fn evaluate(side: &RecExpr<ENodeOrVar<Node>>, inputs: &HashMap<String, Term>) -> Term {
    let mut known: Vec<Term> = Vec::new();
    for node in side.iter() {
        let term = match node {
            ENodeOrVar::Var(name) => inputs[&name.to_string()],
            ENodeOrVar::ENode(node) => {
                let operands = node.children().iter().map(|id| known[usize::from(*id)]);
                apply(node.head, &operands.collect::<Vec<_>>())
            }
        };
        known.push(term);
    }
    *known.last().expect("a side is not empty")
}

fn apply(head: Head, operands: &[Term]) -> Term {
    use Operator as Op;
    let operator = match head {
        Head::Op(operator) => operator,
        Head::Constant(value, r#type) => {
            return Term::Value([Some(wrap(value as i32, r#type)); LANES], r#type);
        }
        fixed => return Term::Fixed(fixed),
    };
    let values: Vec<(Lanes, Type)> = (operands[operator.values()].iter())
        .map(|operand| match operand {
            Term::Value(lanes, r#type) => (*lanes, *r#type),
            Term::Fixed(head) => panic!("{head:?} is no value"),
        })
        .collect();
    let value = |at: usize, lane: usize| values[at].0[lane];
    let of = |at: usize| values[at].1;
    let fixed = |at: Option<usize>| match at.map(|at| operands[at]) {
        Some(Term::Fixed(head)) => head,
        _ => panic!("it is no value"),
    };
    let cluster = || match fixed(operator.cluster()) {
        Head::Cluster(log2) => 1usize << log2.unwrap_or(LOG2),
        _ => panic!("no cluster"),
    };
    // Of how many low bits a value is made.
    let counted = || match fixed(operator.bits()) {
        Head::Bits(counted) => counted.unwrap_or(u32::MAX).min(bits(of(0))),
        _ => panic!("no bits"),
    };
    let kind = || match operands[0] {
        Term::Fixed(head) => head.as_kind().expect("a kind"),
        Term::Value(..) => panic!("no kind"),
    };
    let of_cluster = |lane: usize| {
        let size = cluster();
        let first = lane / size * size;
        (first..first + size)
            .map(|lane| value(0, lane))
            .collect::<Option<Vec<u8>>>()
    };
    let fold = |values: &[u8]| {
        let (kind, r#type) = (kind(), of(0));
        values
            .iter()
            .copied()
            .reduce(|a, b| combine(kind, a, b, r#type))
    };
    let mask = |of_lane: &dyn Fn(usize) -> Option<bool>| {
        (0..LANES).try_fold(0u8, |mask, lane| {
            Some(mask | u8::from(of_lane(lane)?) << lane)
        })
    };
    let r#type = match operator {
        Op::Equal | Op::NotEqual | Op::Any | Op::All | Op::AllEqual => Type::I1,
        Op::ZeroExtend32 | Op::PopulationCount | Op::Lane | Op::Width | Op::CountTrue => Type::I32,
        Op::LastSet | Op::Truncate32 => Type::I32,
        Op::ZeroExtend64 | Op::SignExtend64 | Op::LanesBelow | Op::LanesUpTo | Op::ClusterLanes => {
            Type::I64
        }
        Op::Ballot | Op::MatchAny => Type::I64,
        Op::Select => of(1),
        _ => of(0),
    };
    let two = |lane: usize| Some((i32::from(value(0, lane)?), i32::from(value(1, lane)?)));
    let from = |lane: usize| value(0, usize::from(value(1, lane)?) % LANES);
    let in_lane = |lane: usize| -> Option<u8> {
        Some(match operator {
            Op::Add => two(lane).map(|(a, b)| wrap(a + b, r#type))?,
            Op::Sub => two(lane).map(|(a, b)| wrap(a - b, r#type))?,
            Op::Mul => two(lane).map(|(a, b)| wrap(a * b, r#type))?,
            Op::And => two(lane).map(|(a, b)| wrap(a & b, r#type))?,
            Op::Or => two(lane).map(|(a, b)| wrap(a | b, r#type))?,
            Op::Xor => two(lane).map(|(a, b)| wrap(a ^ b, r#type))?,
            Op::Equal => two(lane).map(|(a, b)| u8::from(a == b))?,
            Op::NotEqual => two(lane).map(|(a, b)| u8::from(a != b))?,
            Op::ZeroExtend32 | Op::ZeroExtend64 => value(0, lane)?,
            Op::SignExtend64 => wrap(signed(value(0, lane)?, of(0)), r#type),
            Op::Truncate32 => wrap(value(0, lane)?.into(), r#type),
            Op::PopulationCount => wrap(value(0, lane)?.count_ones() as i32, r#type),
            Op::Lane => lane as u8,
            Op::Width => wrap(LANES as i32, r#type),
            Op::LanesBelow => (1 << value(0, lane)?) - 1,
            Op::LanesUpTo => (2 << value(0, lane)?) - 1,
            Op::LastSet => wrap(7 - value(0, lane)?.leading_zeros() as i32, r#type),
            Op::ClusterLanes => ((1 << cluster()) - 1) << (lane / cluster() * cluster()),
            Op::Select => {
                let (a, b) = (value(1, lane)?, value(2, lane)?);
                if value(0, lane)? != 0 { a } else { b }
            }
            Op::ShuffleIdx | Op::Broadcast => from(lane)?,
            Op::ShuffleXor => value(0, lane ^ (usize::from(value(1, lane)?) % LANES))?,
            Op::BroadcastFirst => value(0, 0)?,
            Op::Ballot => mask(&|lane| Some(value(0, lane)? != 0))?,
            Op::MatchAny => {
                let low = |lane: usize| Some(value(0, lane)? & ((1 << counted()) - 1));
                mask(&|peer| Some(low(peer)? == low(lane)?))?
            }
            Op::Any => u8::from(of_cluster(lane)?.iter().any(|p| *p != 0)),
            Op::All => u8::from(of_cluster(lane)?.iter().all(|p| *p != 0)),
            Op::AllEqual => {
                let all = of_cluster(lane)?;
                u8::from(all.iter().all(|x| *x == all[0]))
            }
            Op::CountTrue => {
                let count = of_cluster(lane)?.iter().filter(|p| **p != 0).count();
                wrap(count as i32, r#type)
            }
            Op::Reduce if !lane.is_multiple_of(cluster()) => return None,
            Op::Reduce | Op::ReduceAll => fold(&of_cluster(lane)?)?,
            Op::InclusiveScan => fold(&of_cluster(lane)?[..=lane % cluster()])?,
            Op::ExclusiveScan => {
                let below = &of_cluster(lane)?[..lane % cluster()];
                fold(below).unwrap_or_else(|| identity(kind(), r#type))
            }
            Op::SegmentedReduce => {
                let all = of_cluster(lane)?;
                let (own, first) = (lane % cluster(), lane / cluster() * cluster());
                let heads = (first..first + cluster()).map(|lane| value(1, lane));
                let heads = heads.collect::<Option<Vec<u8>>>()?;
                let head = (0..=own).rev().find(|at| heads[*at] != 0);
                fold(&all[head.unwrap_or(0)..=own])?
            }
        })
    };
    Term::Value(std::array::from_fn(in_lane), r#type)
}

/// How many inputs a variable has.
fn inputs_of(variable: Variable) -> u64 {
    match variable {
        Variable::Value {
            r#type,
            uniform: true,
            ..
        } => 1 << bits(r#type),
        Variable::Value { r#type, .. } => 1 << (bits(r#type) * LANES as u32),
        Variable::Fixed(_) => 1,
    }
}

fn input(variable: Variable, number: u64) -> Term {
    match variable {
        Variable::Fixed(head) => Term::Fixed(head),
        Variable::Value {
            r#type, uniform, ..
        } => {
            let width = bits(r#type);
            let of = |lane: usize| {
                let shift = if uniform { 0 } else { lane as u32 * width };
                Some((number >> shift) as u8 & ((1 << width) - 1))
            };
            Term::Value(std::array::from_fn(of), r#type)
        }
    }
}

/// The first input for which the sides of a rule differ, in words; and how many there are.
fn difference(rule: &Rule, case: &Case) -> (Option<String>, u64) {
    let (left, right) = rule.sides().unwrap();
    let count: u64 = case
        .iter()
        .map(|(_, variable)| inputs_of(*variable))
        .product();
    if count > MOST {
        return (None, 0);
    }
    for number in 0..count {
        let mut rest = number;
        let inputs = case.iter().map(|(name, variable)| {
            let of = inputs_of(*variable);
            let term = input(*variable, rest % of);
            rest /= of;
            (name.clone(), term)
        });
        let inputs: HashMap<String, Term> = inputs.collect();
        let sides = [&left, &right].map(|side| match evaluate(&side.ast, &inputs) {
            Term::Value(lanes, _) => lanes,
            Term::Fixed(_) => panic!("a rule is of values"),
        });
        if sides[0] != sides[1] {
            let text = format!("'{}' in {case:?}, input {number}: {sides:?}", rule.name);
            return (Some(text), count);
        }
    }
    (None, count)
}

/// The same over all cases of a rule. Where values have too many inputs, they have one bit.
fn difference_in_cases(rule: &Rule) -> (Option<String>, u64) {
    let mut inputs = 0;
    for types in [[Type::I32, Type::I64].as_slice(), &[Type::I1]] {
        for case in cases(rule, LOG2, types) {
            let (difference, count) = difference(rule, &case);
            if difference.is_some() {
                return (difference, count);
            }
            inputs += count;
        }
        if inputs > 0 {
            break;
        }
    }
    (None, inputs)
}

#[test]
fn every_rule_holds_on_every_input() {
    for rule in rules::all() {
        let (difference, inputs) = difference_in_cases(rule);
        assert_eq!(difference, None);
        assert!(inputs > 0, "'{}' was not tried", rule.name);
    }
}

#[test]
fn a_wrong_rule_does_not() {
    for rule in PLANTED {
        let (difference, _) = difference_in_cases(rule);
        assert!(difference.is_some(), "'{}' was not caught", rule.name);
    }
}
