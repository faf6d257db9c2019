//! Both sides as kernels, built as the search builds terms and run by the interpreter, in
//! subgroups of every size. Results are compared bit by bit.

use super::{Case, PLANTED, Variable, cases};
use egg::{ENodeOrVar, Language, RecExpr};
use qd_dialects::{
    builder::{Builder, V},
    ir::{Op, OpExt, Value},
    melior::{
        Context,
        ir::{Module, operation::OperationLike},
    },
};
use qd_interp::{Argument, Buffer, Options, interpret};
use qd_lowering::select::{
    language::{Head, Node, Type},
    rules::{self, Rule},
    term::{self, Operand},
};
use std::{collections::HashMap, fmt::Write};

const THREADS: usize = 192;
const TYPES: [Type; 4] = [Type::I32, Type::I64, Type::F32, Type::F64];

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

    fn buffer(&mut self, r#type: Type) -> Argument {
        let many: Vec<u64> = (0..THREADS).map(|_| self.integer()).collect();
        let many = many.into_iter();
        match r#type {
            Type::I1 => Buffer::from_slice(&many.map(|x| x & 1 == 1).collect::<Vec<_>>()).into(),
            Type::I32 => Buffer::from_slice(&many.map(|x| x as i32).collect::<Vec<_>>()).into(),
            Type::I64 => Buffer::from_slice(&many.map(|x| x as i64).collect::<Vec<_>>()).into(),
            Type::F32 => {
                let all: Vec<f32> = (0..THREADS).map(|_| self.float() as f32).collect();
                Buffer::from_slice(&all).into()
            }
            Type::F64 => {
                let all: Vec<f64> = (0..THREADS).map(|_| self.float()).collect();
                Buffer::from_slice(&all).into()
            }
        }
    }
}

/// What an error of [`compare`] begins with where both sides ran, and where one faulted.
const DIFFER: &str = "differ";
const FAULT: &str = "fault";

/// Runs both sides. An error says how they differ, or what is wrong with one.
fn compare(context: &Context, rule: &Rule, case: &Case, wave: u32) -> Result<(), String> {
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
        arguments.push(numbers.buffer(r#type));
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
    for (side, store) in [&left, &right].into_iter().zip(stores) {
        let b = Builder::before(store);
        let built = build(&b, &side.ast, case, &values);
        store.set_operand_at(0, as_i64(built).value());
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
    let count = arguments.len();
    match arguments[count - 2] == arguments[count - 1] {
        true => Ok(()),
        false => Err(format!(
            "{DIFFER} at wave {wave}:\n{}",
            module.as_operation()
        )),
    }
}

fn build<'b, 'c>(
    b: &'b Builder<'c>,
    side: &RecExpr<ENodeOrVar<Node>>,
    case: &Case,
    values: &HashMap<String, Value<'c>>,
) -> V<'b, 'c> {
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
            ENodeOrVar::ENode(node) => fixed(node.head).unwrap_or_else(|| {
                let operands = node.children().iter().map(|id| known[usize::from(*id)]);
                let operands: Vec<_> = operands.collect();
                let built = term::insert(b, node.head, &operands);
                Operand::Value(built.unwrap_or_else(|| panic!("{node} cannot be built")))
            }),
        });
    }
    match known.pop() {
        Some(Operand::Value(value)) => value,
        _ => panic!("a side is a value"),
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
            for case in cases(rule, log2, &TYPES) {
                if let Err(message) = compare(&context, rule, &case, 1 << log2) {
                    panic!("'{}' in {case:?}: {message}", rule.name);
                }
            }
        }
    }
}

/// Whether the sides of a rule differ, or one is undefined alone, in some case; a case has to be valid.
fn is_caught(context: &Context, rule: &Rule, cases: &[Case], wave: u32) -> bool {
    let found = cases
        .iter()
        .find_map(|case| compare(context, rule, case, wave).err());
    found.is_some_and(|message| {
        let is_wrong = message.starts_with(DIFFER) || message.starts_with(FAULT);
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
