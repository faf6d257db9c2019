//! Both sides as kernels, built as the search builds terms and run by the interpreter, in
//! subgroups of every size. Results are compared bit by bit, but that any NaN is as good as another where floats are
//! combined: which one a combination is, is unspecified.
//!
//! A rule is tried on all types for which its guards let its left side be a term, whatever its proof says: where a
//! guard is missing, a float or a narrower integer shows it.

use super::{Case, PLANTED, PLANTED_OF_FLOATS, Variable, cases, guarded_cases};
use egg::{ENodeOrVar, Language, RecExpr};
use qd_dialects::{
    builder::{Builder, V},
    ir::{Op, OpExt, Value, ValueExt},
    melior::{
        Context,
        ir::{Module, operation::OperationLike},
    },
    report,
};
use qd_interp::{Argument, Buffer, Options, interpret};
use qd_lowering::select::{
    language::{Head, Node, Operator, Type},
    rules::{self, Guard, Rule},
    term::{self, Operand},
};
use std::{collections::HashMap, fmt::Write};

const THREADS: usize = 192;
const TYPES: [Type; 4] = [Type::I32, Type::I64, Type::F32, Type::F64];
const FLOATS: [Type; 2] = [Type::F32, Type::F64];

/// Which floats are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Draw {
    /// Numbers of which sums are exact in no order but by chance.
    Ordinary,
    /// The same, and in a few lanes special ones: a sum of many is rarely a NaN in every lane.
    Some,
    /// Special ones alone.
    Special,
}

const DRAWS: [Draw; 3] = [Draw::Ordinary, Draw::Some, Draw::Special];

/// Floats that rules forget: NaNs (quiet, signalling, of either sign), zeros of both signs, infinities, the smallest and
/// the largest denormal and normal ones. Denormals are kept, as the interpreter keeps them. In the order in which
/// the first subgroups hold one where it is the same in all lanes.
const SPECIAL: [(u32, u64); 12] = [
    (0x7FC0_0000, 0x7FF8_0000_0000_0000),
    (0x8000_0000, 0x8000_0000_0000_0000),
    (0xFF80_0000, 0xFFF0_0000_0000_0000),
    (0x0000_0000, 0x0000_0000_0000_0000),
    (0x7F80_0000, 0x7FF0_0000_0000_0000),
    (0xFFC0_0001, 0xFFF8_0000_0000_0001),
    (0x7F80_0001, 0x7FF0_0000_0000_0001),
    (0x0000_0001, 0x0000_0000_0000_0001),
    (0x807F_FFFF, 0x800F_FFFF_FFFF_FFFF),
    (0x0080_0000, 0x0010_0000_0000_0000),
    (0x7F7F_FFFF, 0x7FEF_FFFF_FFFF_FFFF),
    (0x3F80_0000, 0x3FF0_0000_0000_0000),
];

/// Numbers that look random, the same each time (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Large, small and extreme ones, by turns.
    fn integer(&mut self) -> u64 {
        match self.next() % 4 {
            0 => self.next(),
            1 => self.next() % 4,
            2 => u64::MAX - self.next() % 2,
            _ => 1 << (self.next() % 64),
        }
    }

    /// Sums of these are exact in no order but by chance.
    fn float(&mut self) -> f64 {
        (self.next() % 2001) as f64 / 7.0 - 143.0
    }

    /// The special float that an element is, if it is one.
    fn special(&mut self, draw: Draw, at: usize, uniform: bool) -> Option<(u32, u64)> {
        let any = self.next() as usize;
        match draw {
            Draw::Ordinary => None,
            // A few lanes, and as many subgroups that hold one value.
            Draw::Some if !any.is_multiple_of(32) => None,
            Draw::Special if uniform => Some(SPECIAL[at % SPECIAL.len()]),
            Draw::Some | Draw::Special => Some(SPECIAL[any / 32 % SPECIAL.len()]),
        }
    }

    fn buffer(&mut self, r#type: Type, draw: Draw, uniform: bool) -> Argument {
        let many: Vec<u64> = (0..THREADS).map(|_| self.integer()).collect();
        let many = many.into_iter();
        match r#type {
            Type::I1 => Buffer::from_slice(&many.map(|x| x & 1 == 1).collect::<Vec<_>>()).into(),
            Type::I32 => Buffer::from_slice(&many.map(|x| x as i32).collect::<Vec<_>>()).into(),
            Type::I64 => Buffer::from_slice(&many.map(|x| x as i64).collect::<Vec<_>>()).into(),
            Type::F32 => {
                let one = |at| match self.special(draw, at, uniform) {
                    Some((bits, _)) => f32::from_bits(bits),
                    None => self.float() as f32,
                };
                Buffer::from_slice(&(0..THREADS).map(one).collect::<Vec<_>>()).into()
            }
            Type::F64 => {
                let one = |at| match self.special(draw, at, uniform) {
                    Some((_, bits)) => f64::from_bits(bits),
                    None => self.float(),
                };
                Buffer::from_slice(&(0..THREADS).map(one).collect::<Vec<_>>()).into()
            }
        }
    }
}

/// What an error of [`compare`] begins with where both sides ran, where one faulted, and where the right one is no term.
const DIFFER: &str = "differ";
const FAULT: &str = "fault";
const NO_TERM: &str = "no term";

/// Runs both sides on each draw. An error says how they differ, or what is wrong with one. Whether the side that the rule
/// finds is a term of the case's types at all: if it is none, nothing was run.
fn compare(context: &Context, rule: &Rule, case: &Case, wave: u32) -> Result<bool, String> {
    let is_float = |(_, variable): &(String, Variable)| match variable {
        Variable::Value { r#type, .. } => FLOATS.contains(r#type),
        Variable::Fixed(_) => false,
    };
    let draws = match case.iter().any(is_float) {
        true => DRAWS.as_slice(),
        false => &DRAWS[..1],
    };
    let back = Rule {
        left: rule.right,
        right: rule.left,
        ..*rule
    };
    for draw in draws.iter().copied() {
        let is_term = compare_drawn(context, rule, case, wave, draw)?;
        let is_term_back = || compare_drawn(context, &back, case, wave, draw);
        if !(is_term || rule.both_ways && is_term_back()?) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn compare_drawn(
    context: &Context,
    rule: &Rule,
    case: &Case,
    wave: u32,
    draw: Draw,
) -> Result<bool, String> {
    let mut numbers = Numbers(u64::from(wave));
    let (mut parameters, mut body) = (String::new(), String::new());
    let mut arguments = Vec::new();
    for (at, (_, variable)) in case.iter().enumerate() {
        let Variable::Value {
            r#type,
            is_lane,
            uniform,
            constant,
        } = *variable
        else {
            continue;
        };
        let name = r#type.name();
        if constant {
            let value = numbers.next() % u64::from(wave);
            let _ = writeln!(body, "%v{at} = arith.constant {value} : {name}");
            continue;
        }
        let _ = write!(parameters, "%b{at}: memref<?x{name}>, ");
        arguments.push(numbers.buffer(r#type, draw, uniform));
        let index = if uniform { "%subgroup" } else { "%t" };
        let loaded = if is_lane { "w" } else { "v" };
        let _ = writeln!(
            body,
            "%{loaded}{at} = memref.load %b{at}[{index}] : memref<?x{name}>"
        );
        if is_lane {
            let _ = writeln!(body, "%last{at} = arith.constant {} : i32", wave - 1);
            let _ = writeln!(body, "%v{at} = arith.andi %w{at}, %last{at} : i32");
        }
    }
    let text = format!(
        "qd.grid.kernel @k({parameters}%left: memref<?xi64>, %right: memref<?xi64>) {{
           %g = arith.constant 1 : index
           qd.grid.phase blocks(%g) threads({THREADS}) {{
             %t = qd.simt.block.thread_id
             %id = qd.simt.subgroup_id
             %subgroup = arith.index_cast %id : i32 to index
             {body}
             %here = arith.constant 0 : index
             %l0 = arith.constant 0 : i64
             memref.store %l0, %left[%t] : memref<?xi64>
             memref.store %l0, %right[%t] : memref<?xi64>
           }}
         }}"
    );
    let module = Module::parse(context, &text).ok_or_else(|| format!("not valid:\n{text}"))?;
    // Safety: the module outlives the handle.
    let root = unsafe { Op::from_raw(module.as_operation().to_raw()) };
    let ops = root.nested();
    let stores: Vec<Op<'_>> = ops
        .iter()
        .copied()
        .filter(|op| op.is("memref.store"))
        .collect();
    // Values in the order of the text: what each variable is was defined last for it.
    let mut values: HashMap<String, Value<'_>> = HashMap::new();
    let mut defined = ops
        .iter()
        .copied()
        .skip_while(|op| !op.is("arith.index_cast"))
        .skip(1);
    for (name, variable) in case {
        let Variable::Value { is_lane, .. } = variable else {
            continue;
        };
        let mut op = defined.next();
        if *is_lane && op.is_some_and(|op| op.is("memref.load")) {
            op = defined.nth(1);
        }
        values.insert(
            name.clone(),
            op.expect("as many as variables").first_result(),
        );
    }
    let (left, right) = rule.sides()?;
    let mut types = Vec::new();
    for (side, store) in [&left, &right].into_iter().zip(stores) {
        let b = Builder::before(store);
        let built = build(&b, &side.ast, case, &values);
        let is_valid = built.is_some() && is_valid(context, &module);
        let Some(built) = built.filter(|_| is_valid) else {
            return match types.is_empty() {
                true => Ok(false),
                false => Err(format!("{NO_TERM}: {side} in {case:?}")),
            };
        };
        types.push(Type::of(built.ty()));
        store.set_operand_at(0, as_i64(built).value());
    }
    if types[0] != types[1] {
        return Err(format!(
            "{NO_TERM}: {left} is a {:?}, {right} a {:?}",
            types[0], types[1]
        ));
    }
    if !module.as_operation().verify() {
        return Err(format!("not valid: {}", module.as_operation()));
    }
    let room: Argument = Buffer::from_slice(&[0i64; THREADS]).into();
    arguments.extend([room.clone(), room]);
    let options = Options {
        wave,
        ..Options::default()
    };
    let ran = interpret(&module, "k", &mut arguments, &options);
    ran.map_err(|fault| format!("{FAULT} at wave {wave}: {fault}\n{}", module.as_operation()))?;
    if [&left, &right].iter().any(|side| combines(&side.ast)) {
        for result in arguments.iter_mut().rev().take(2) {
            forget_which_nan(result, types[0]);
        }
    }
    let count = arguments.len();
    match arguments[count - 2] == arguments[count - 1] {
        true => Ok(true),
        false => Err(format!(
            "{DIFFER} at wave {wave} on {draw:?} floats:\n{}",
            module.as_operation()
        )),
    }
}

/// Whether a module is valid, without a word if it is not.
fn is_valid(context: &Context, module: &Module<'_>) -> bool {
    report::listen(context, || module.as_operation().verify()).0
}

fn combines(side: &RecExpr<ENodeOrVar<Node>>) -> bool {
    side.iter().any(|node| match node {
        ENodeOrVar::ENode(node) => matches!(node.head, Head::Op(operator) if operator.combines()),
        ENodeOrVar::Var(_) => false,
    })
}

/// Makes one NaN of all, of a result as [`as_i64`] stores it.
fn forget_which_nan(result: &mut Argument, r#type: Option<Type>) {
    let Argument::Buffer(buffer) = result else {
        panic!("a result is a buffer");
    };
    for element in buffer.data.chunks_exact_mut(8) {
        let bits = u64::from_le_bytes((&*element).try_into().expect("eight bytes"));
        let is_nan = match r#type {
            Some(Type::F32) => f32::from_bits(bits as u32).is_nan(),
            Some(Type::F64) => f64::from_bits(bits).is_nan(),
            _ => false,
        };
        if is_nan {
            element.copy_from_slice(&f64::NAN.to_bits().to_le_bytes());
        }
    }
}

/// A side as the search builds it; none if an op of it is not the term that it was built for, as a sum of floats is none.
fn build<'b, 'c>(
    b: &'b Builder<'c>,
    side: &RecExpr<ENodeOrVar<Node>>,
    case: &Case,
    values: &HashMap<String, Value<'c>>,
) -> Option<V<'b, 'c>> {
    let mut known: Vec<Operand<'b, 'c>> = Vec::new();
    let fixed = |head: Head| match head {
        Head::Cluster(cluster) => Some(Operand::Cluster(cluster)),
        Head::Bits(bits) => Some(Operand::Bits(bits)),
        Head::Token(_) => Some(Operand::Token),
        _ => head.as_kind().map(Operand::Kind),
    };
    for node in side.iter() {
        known.push(match node {
            ENodeOrVar::Var(name) => {
                let name = name.to_string();
                let variable = case.iter().find(|(known, _)| *known == name);
                match variable.expect("a variable of the rule").1 {
                    Variable::Fixed(head) => fixed(head).expect("no value"),
                    Variable::Value { .. } => Operand::Value(b.v(values[&name])),
                }
            }
            ENodeOrVar::ENode(node) => match fixed(node.head) {
                Some(operand) => operand,
                None => {
                    let operands = node.children().iter().map(|id| known[usize::from(*id)]);
                    let operands: Vec<_> = operands.collect();
                    let built = term::insert(b, node.head, &operands);
                    let built = built.unwrap_or_else(|| panic!("{node} cannot be built"));
                    if !is_read_back(built, node.head) {
                        return None;
                    }
                    Operand::Value(built)
                }
            },
        });
    }
    match known.pop() {
        Some(Operand::Value(value)) => Some(value),
        _ => panic!("a side is a value"),
    }
}

/// Whether the search reads what it built as the same term. It builds the last set bit and a cluster's lanes of several
/// ops, and reads neither.
fn is_read_back(built: V<'_, '_>, head: Head) -> bool {
    match head {
        Head::Op(Operator::LastSet | Operator::ClusterLanes) | Head::Constant(..) => true,
        Head::Op(operator) => {
            let op = built.value().defining_op();
            op.and_then(term::operator_of) == Some(operator)
        }
        _ => false,
    }
}

fn as_i64<'b, 'c>(value: V<'b, 'c>) -> V<'b, 'c> {
    let b = value.builder();
    let bits = match Type::of(value.ty()) {
        Some(Type::F32) => value.bitcast(b.int_type(32)),
        Some(Type::F64) => value.bitcast(b.int_type(64)),
        _ => value,
    };
    bits.cast(b.int_type(64))
}

#[test]
fn every_rule_holds_at_every_size() {
    let context = qd_dialects::context();
    for rule in rules::all() {
        for log2 in 2..=6 {
            let mut tried = Vec::new();
            for case in guarded_cases(rule, log2, &TYPES) {
                match compare(&context, rule, &case, 1 << log2) {
                    Ok(true) => tried.push(case),
                    Ok(false) => {}
                    Err(message) => panic!("'{}' in {case:?}: {message}", rule.name),
                }
            }
            let proved = cases(rule, log2, &TYPES);
            let left_out = proved.iter().find(|case| !tried.contains(case));
            assert_eq!(left_out, None, "'{}' is not tried", rule.name);
        }
    }
}

/// Whether the sides of a rule differ, or one is undefined alone, in some case; a case has to be valid.
fn is_caught(context: &Context, rule: &Rule, cases: &[Case], wave: u32) -> bool {
    let found = cases
        .iter()
        .find_map(|case| compare(context, rule, case, wave).err());
    found.is_some_and(|message| {
        let is_wrong = [DIFFER, FAULT, NO_TERM]
            .iter()
            .any(|way| message.starts_with(way));
        assert!(is_wrong, "'{}': {message}", rule.name);
        true
    })
}

#[test]
fn a_wrong_rule_does_not() {
    let context = qd_dialects::context();
    for rule in PLANTED {
        for log2 in [3, 5] {
            let caught = is_caught(&context, rule, &cases(rule, log2, &TYPES), 1 << log2);
            assert!(
                caught,
                "'{}' was not caught in {} lanes",
                rule.name,
                1 << log2
            );
        }
    }
}

#[test]
fn what_is_wrong_of_floats_alone_does_not() {
    let context = qd_dialects::context();
    for rule in PLANTED_OF_FLOATS {
        for log2 in 2..=6 {
            let of = |types: &[Type]| {
                let cases = guarded_cases(rule, log2, types);
                is_caught(&context, rule, &cases, 1 << log2)
            };
            assert!(!of(&[Type::I32, Type::I64]), "'{}' of integers", rule.name);
            for r#type in FLOATS {
                let lanes = 1 << log2;
                assert!(
                    of(&[r#type]),
                    "'{}' of {type:?} in {lanes} lanes",
                    rule.name
                );
            }
        }
    }
}

/// Rules that would be right without their guard of a type. Their left side is a term of bits besides integers of several
/// bits, and both sides are the same of these: the guard is there for what moves or sums of bits cost. And the
/// interpreter's scans of floats are trees as its reductions are, so that the last prefix is the total, which no page
/// promises.
const RIGHT_WITHOUT_ITS_TYPE: &[&str] = &[
    "idx-of-unsigned",
    "xor-of-unsigned",
    "broadcast-of-unsigned",
    "first-of-unsigned",
    "last-of-scan",
    "sum-of-sums",
    "and-of-ands",
    "or-of-ors",
    "xor-of-xors",
    "uniform-factor",
];

#[test]
fn a_guard_of_a_type_is_missed() {
    let context = qd_dialects::context();
    let types = [&TYPES[..], &[Type::I1]].concat();
    let is_of_type = |guard: &Guard| matches!(guard, Guard::Integer(_) | Guard::Word(_));
    let guarded = rules::all().filter(|rule| rule.guards.iter().any(is_of_type));
    let free = guarded.filter(|rule| {
        let others = rule.guards.iter().filter(|guard| !is_of_type(guard));
        let others: Vec<Guard> = others.copied().collect();
        let unguarded = Rule {
            guards: others.leak(),
            ..**rule
        };
        !is_caught(
            &context,
            &unguarded,
            &guarded_cases(&unguarded, 5, &types),
            32,
        )
    });
    let free: Vec<_> = free.map(|rule| rule.name).collect();
    assert_eq!(free, RIGHT_WITHOUT_ITS_TYPE);
}
