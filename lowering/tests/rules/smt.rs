//! Both sides as bit-vectors, a solver's: four and eight lanes, an `i32` of five bits, an `i64` of eight. It
//! looks for inputs for which they differ, where there are too many to try each.
//!
//! A value has an expression in each lane, and one that says whether it is defined there. Floats are
//! left to the interpreter.

use super::{Case, PLANTED, Variable, cases};
use egg::{ENodeOrVar, Language, RecExpr};
use qd_dialects::attributes::Kind;
use qd_lowering::select::{
    language::{Head, Node, Operator, Type},
    rules::{self, Rule},
};
use std::{collections::HashMap, fmt::Write as _, fs, path::Path, process::Command};

/// What a question may take of z3's own count of its work, which is the same on every machine, as no time is. What is not
/// settled by then is asked in parts, of which each takes less than a hundredth of it (z3 4.8.12).
const RESOURCES: u32 = 3_000_000;

/// log2 of the lanes.
const SIZES: [u32; 2] = [2, 3];

/// What a value is in a lane.
#[derive(Clone)]
struct Lane {
    value: String,
    defined: String,
}

#[derive(Clone)]
enum Term {
    Value(Vec<Lane>, Type),
    Fixed(Head),
}

fn bits(r#type: Type) -> u32 {
    match r#type {
        Type::I1 => 1,
        Type::I32 => 5,
        _ => 8,
    }
}

fn number(value: i64, width: u32) -> String {
    format!("(_ bv{} {width})", value as u64 & ((1 << width) - 1))
}

fn bit(condition: &str) -> String {
    format!("(ite {condition} #b1 #b0)")
}

/// Whether all of them hold.
fn all_of<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = parts.into_iter().filter(|part| *part != "true").collect();
    all.sort_unstable();
    all.dedup();
    match all.as_slice() {
        [] => "true".into(),
        [only] => (*only).into(),
        several if several.contains(&"false") => "false".into(),
        several => format!("(and {})", several.join(" ")),
    }
}

/// `text` with as many zeros before it as make `to` bits of `from`, or without its high ones.
fn resized(text: &str, from: u32, to: u32) -> String {
    match from <= to {
        true => format!("((_ zero_extend {}) {text})", to - from),
        false => format!("((_ extract {} 0) {text})", to - 1),
    }
}

fn combine(kind: Kind, a: &str, b: &str) -> String {
    let op = match kind {
        Kind::Add => "bvadd",
        Kind::Mul => "bvmul",
        Kind::And => "bvand",
        Kind::Or => "bvor",
        Kind::Xor => "bvxor",
        Kind::MinUi => return format!("(ite (bvult {a} {b}) {a} {b})"),
        Kind::MaxUi => return format!("(ite (bvult {a} {b}) {b} {a})"),
        Kind::MinSi => return format!("(ite (bvslt {a} {b}) {a} {b})"),
        Kind::MaxSi => return format!("(ite (bvslt {a} {b}) {b} {a})"),
        Kind::MinNumF | Kind::MaxNumF => panic!("integers alone"),
    };
    format!("({op} {a} {b})")
}

fn identity(kind: Kind, width: u32) -> String {
    let value = match kind {
        Kind::Mul => 1,
        Kind::And | Kind::MinUi => -1,
        Kind::MinSi => (1 << (width - 1)) - 1,
        Kind::MaxSi => 1 << (width - 1),
        _ => 0,
    };
    number(value, width)
}

/// A script of questions.
#[derive(Default)]
struct Script {
    text: String,
    names: usize,
}

/// One question's lanes.
struct Lanes<'a> {
    script: &'a mut Script,
    log2: u32,
}

impl Lanes<'_> {
    fn count(&self) -> usize {
        1 << self.log2
    }

    /// A name for an expression, which is used several times.
    fn named(&mut self, value: &str, sort: &str) -> String {
        if !value.starts_with("(i") && !value.starts_with("(bv") && !value.starts_with("((") {
            return value.to_owned();
        }
        let name = format!("n{}", self.script.names);
        self.script.names += 1;
        let _ = writeln!(self.script.text, "(define-fun {name} () {sort} {value})");
        name
    }

    /// Of a variable that has a value in each lane; `known`: the values of a predicate, as a mask.
    fn input(&mut self, variable: Variable, known: Option<u64>) -> Term {
        if let (
            Some(mask),
            Variable::Value {
                r#type: Type::I1, ..
            },
        ) = (known, variable)
        {
            let lanes = (0..self.count()).map(|lane| Lane {
                value: number((mask >> lane) as i64, 1),
                defined: "true".into(),
            });
            return Term::Value(lanes.collect(), Type::I1);
        }
        let (r#type, is_lane, uniform) = match variable {
            Variable::Fixed(head) => return Term::Fixed(head),
            Variable::Value {
                r#type,
                is_lane,
                uniform,
                ..
            } => (r#type, is_lane, uniform),
        };
        let width = bits(r#type);
        let mut new = || {
            let name = format!("x{}", self.script.names);
            self.script.names += 1;
            let text = &mut self.script.text;
            let _ = writeln!(text, "(declare-const {name} (_ BitVec {width}))");
            if is_lane {
                let count = number(1 << self.log2, width);
                let _ = writeln!(text, "(assert (bvult {name} {count}))");
            }
            Lane {
                value: name,
                defined: "true".into(),
            }
        };
        let count = 1usize << self.log2;
        Term::Value(
            match uniform {
                true => vec![new(); count],
                false => (0..count).map(|_| new()).collect(),
            },
            r#type,
        )
    }

    fn evaluate(
        &mut self,
        side: &RecExpr<ENodeOrVar<Node>>,
        inputs: &HashMap<String, Term>,
    ) -> Vec<Lane> {
        let mut known: Vec<Term> = Vec::new();
        for node in side.iter() {
            let term = match node {
                ENodeOrVar::Var(name) => inputs[&name.to_string()].clone(),
                ENodeOrVar::ENode(node) => {
                    let operands = node.children().iter().map(|id| &known[usize::from(*id)]);
                    let operands: Vec<Term> = operands.cloned().collect();
                    self.apply(node.head, &operands)
                }
            };
            known.push(term);
        }
        match known.pop() {
            Some(Term::Value(lanes, _)) => lanes,
            _ => panic!("a rule is of values"),
        }
    }

    fn apply(&mut self, head: Head, operands: &[Term]) -> Term {
        use Operator as Op;
        let operator = match head {
            Head::Op(operator) => operator,
            Head::Constant(value, r#type) => {
                let lane = Lane {
                    value: number(value, bits(r#type)),
                    defined: "true".into(),
                };
                return Term::Value(vec![lane; self.count()], r#type);
            }
            fixed => return Term::Fixed(fixed),
        };
        let values: Vec<(&[Lane], Type)> = (operands[operator.values()].iter())
            .map(|operand| match operand {
                Term::Value(lanes, r#type) => (lanes.as_slice(), *r#type),
                Term::Fixed(head) => panic!("{head:?} is no value"),
            })
            .collect();
        let of = |at: usize| values[at].1;
        let r#type = match operator {
            Op::Equal | Op::NotEqual | Op::Any | Op::All | Op::AllEqual => Type::I1,
            Op::ZeroExtend32 | Op::PopulationCount | Op::Lane | Op::Width => Type::I32,
            Op::CountTrue | Op::LastSet | Op::Truncate32 => Type::I32,
            Op::ZeroExtend64
            | Op::SignExtend64
            | Op::LanesBelow
            | Op::LanesUpTo
            | Op::ClusterLanes => Type::I64,
            Op::Ballot | Op::MatchAny => Type::I64,
            Op::Select => of(1),
            _ => of(0),
        };
        let sort = format!("(_ BitVec {})", bits(r#type));
        let lanes = (0..self.count()).map(|lane| {
            let made = self.in_lane(operator, operands, &values, r#type, lane);
            Lane {
                value: self.named(&made.value, &sort),
                defined: made.defined,
            }
        });
        Term::Value(lanes.collect(), r#type)
    }

    fn in_lane(
        &self,
        operator: Operator,
        operands: &[Term],
        values: &[(&[Lane], Type)],
        r#type: Type,
        lane: usize,
    ) -> Lane {
        use Operator as Op;
        let width = bits(r#type);
        let count = self.count();
        let fixed = |at: usize| match &operands[at] {
            Term::Fixed(head) => *head,
            Term::Value(..) => panic!("a value"),
        };
        let of = |at: usize| values[at].1;
        let own = |at: usize| values[at].0[lane].value.as_str();
        let plain = |value: String| Lane {
            value,
            defined: all_of(values.iter().map(|(lanes, _)| lanes[lane].defined.as_str())),
        };
        // Of all lanes of a range, all values are there.
        let over = |range: std::ops::Range<usize>, value: String| Lane {
            value,
            defined: all_of((values.iter()).flat_map(|(lanes, _)| {
                lanes[range.clone()]
                    .iter()
                    .map(|lane| lane.defined.as_str())
            })),
        };
        let cluster = operator.cluster().map(|at| match fixed(at) {
            Head::Cluster(log2) => {
                let size = 1usize << log2.unwrap_or(self.log2);
                let first = lane / size * size;
                first..first + size
            }
            _ => panic!("no cluster"),
        });
        let cluster = cluster.unwrap_or(0..count);
        let kind = || fixed(0).as_kind().expect("a kind");
        let two = |op: &str| plain(format!("({op} {} {})", own(0), own(1)));
        let value = |at: usize, lane: usize| values[at].0[lane].value.as_str();
        let sum = |ones: Vec<String>| {
            ones.into_iter()
                .reduce(|a, b| format!("(bvadd {a} {b})"))
                .unwrap_or_else(|| number(0, width))
        };
        let fold = |range: std::ops::Range<usize>| {
            let all = range.map(|lane| value(0, lane).to_owned());
            all.reduce(|a, b| combine(kind(), &a, &b))
        };
        // Of the lane whose distance or number `index` says, by its low bits.
        let read = |index: &Lane, source: &dyn Fn(usize) -> usize| {
            let low = format!("((_ extract {} 0) {})", self.log2 - 1, index.value);
            let mut result = values[0].0[source(count - 1)].clone();
            for k in (0..count - 1).rev() {
                let from = &values[0].0[source(k)];
                let is_it = format!("(= {low} {})", number(k as i64, self.log2));
                result.value = format!("(ite {is_it} {} {})", from.value, result.value);
                if from.defined != result.defined {
                    result.defined = format!("(ite {is_it} {} {})", from.defined, result.defined);
                }
            }
            result.defined = all_of([result.defined.as_str(), index.defined.as_str()]);
            result
        };
        match operator {
            Op::Add => two("bvadd"),
            Op::Sub => two("bvsub"),
            Op::Mul => two("bvmul"),
            Op::And => two("bvand"),
            Op::Or => two("bvor"),
            Op::Xor => two("bvxor"),
            Op::Equal => plain(bit(&format!("(= {} {})", own(0), own(1)))),
            Op::NotEqual => plain(bit(&format!("(not (= {} {}))", own(0), own(1)))),
            Op::ZeroExtend32 | Op::ZeroExtend64 => plain(resized(own(0), bits(of(0)), width)),
            Op::SignExtend64 => {
                let more = width - bits(of(0));
                plain(format!("((_ sign_extend {more}) {})", own(0)))
            }
            Op::Truncate32 => plain(format!("((_ extract {} 0) {})", width - 1, own(0))),
            Op::Select => plain(format!("(ite (= {} #b1) {} {})", own(0), own(1), own(2))),
            Op::PopulationCount => plain(sum((0..bits(of(0)))
                .map(|at| resized(&format!("((_ extract {at} {at}) {})", own(0)), 1, width))
                .collect())),
            Op::Lane => plain(number(lane as i64, width)),
            Op::Width => plain(number(count as i64, width)),
            Op::LanesBelow | Op::LanesUpTo => {
                let above = number(1 + i64::from(operator == Op::LanesUpTo), width);
                let lane = resized(own(0), bits(of(0)), width);
                plain(format!(
                    "(bvsub (bvshl {above} {lane}) {})",
                    number(1, width)
                ))
            }
            Op::LastSet => plain((0..bits(of(0))).fold(number(-1, width), |below, at| {
                let is_set = format!("(= ((_ extract {at} {at}) {}) #b1)", own(0));
                format!("(ite {is_set} {} {below})", number(at.into(), width))
            })),
            Op::ClusterLanes => {
                let mask = ((1i64 << cluster.len()) - 1) << cluster.start;
                plain(number(mask, width))
            }
            Op::ShuffleIdx | Op::Broadcast => read(&values[1].0[lane], &|k| k),
            Op::ShuffleXor => read(&values[1].0[lane], &|k| lane ^ k),
            Op::BroadcastFirst => values[0].0[0].clone(),
            Op::Ballot => {
                let lanes = (0..count).rev().map(|lane| value(0, lane));
                let mask = format!("(concat {})", lanes.collect::<Vec<_>>().join(" "));
                over(0..count, resized(&mask, count as u32, width))
            }
            Op::MatchAny => {
                let counted = match fixed(1) {
                    Head::Bits(bits) => bits.unwrap_or(u32::MAX),
                    _ => panic!("no bits"),
                };
                let counted = counted.min(bits(of(0)));
                let low =
                    |lane: usize| format!("((_ extract {} 0) {})", counted - 1, value(0, lane));
                let peers = (0..count).rev();
                let peers = peers.map(|peer| bit(&format!("(= {} {})", low(peer), low(lane))));
                let mask = format!("(concat {})", peers.collect::<Vec<_>>().join(" "));
                over(0..count, resized(&mask, count as u32, width))
            }
            Op::Any | Op::All => {
                let op = if operator == Op::Any { "bvor" } else { "bvand" };
                let lanes = cluster.clone().map(|lane| value(0, lane).to_owned());
                let folded = lanes.reduce(|a, b| format!("({op} {a} {b})"));
                over(cluster, folded.expect("a cluster has lanes"))
            }
            Op::AllEqual => {
                let first = value(0, cluster.start);
                let equal = cluster
                    .clone()
                    .map(|lane| format!("(= {first} {})", value(0, lane)));
                let equal = equal.collect::<Vec<_>>().join(" ");
                over(cluster, bit(&format!("(and {equal})")))
            }
            Op::CountTrue => {
                let ones = cluster
                    .clone()
                    .map(|lane| resized(value(0, lane), 1, width));
                over(cluster, sum(ones.collect()))
            }
            Op::Reduce if lane != cluster.start => Lane {
                value: number(0, width),
                defined: "false".into(),
            },
            Op::Reduce | Op::ReduceAll => {
                let folded = fold(cluster.clone());
                over(cluster, folded.expect("a cluster has lanes"))
            }
            // Elsewhere in the cluster values may be undefined, too: they are given by all lanes.
            Op::InclusiveScan => {
                let folded = fold(cluster.start..lane + 1);
                over(cluster, folded.expect("the lane's own"))
            }
            Op::ExclusiveScan => {
                let folded = fold(cluster.start..lane);
                over(cluster, folded.unwrap_or_else(|| identity(kind(), width)))
            }
            Op::SegmentedReduce => {
                let first = value(0, cluster.start).to_owned();
                let folded = (cluster.start + 1..lane + 1).fold(first, |before, lane| {
                    let (head, own) = (value(1, lane), value(0, lane));
                    let combined = combine(kind(), &before, own);
                    format!("(ite (= {head} #b1) {own} {combined})")
                });
                over(cluster, folded)
            }
        }
    }
}

impl Script {
    /// Asks for an input for which the sides of a rule differ, of all inputs or of those that are `asked` about.
    fn ask(&mut self, Question { rule, case, log2 }: &Question, asked: Asked) {
        let log2 = *log2;
        let (known, only) = match asked {
            Asked::All => (None, 0..1usize << log2),
            Asked::Predicates(known) => (Some(known), 0..1usize << log2),
            Asked::Lane(lane) => (None, lane..lane + 1),
        };
        let (left, right) = rule.sides().unwrap();
        let _ = writeln!(self.text, "(push)");
        let mut lanes = Lanes { script: self, log2 };
        let inputs = case.iter();
        let inputs = inputs.map(|(name, variable)| (name.clone(), lanes.input(*variable, known)));
        let inputs: HashMap<String, Term> = inputs.collect();
        let [left, right] = [&left, &right].map(|side| lanes.evaluate(&side.ast, &inputs));
        let same = left.iter().zip(&right).skip(only.start).take(only.len());
        let same = same.map(|(a, b)| {
            let equal = format!("(= {} {})", a.value, b.value);
            let (a, b) = (&a.defined, &b.defined);
            format!("(= {a} {b}) (=> {a} {equal})")
        });
        let same = same.collect::<Vec<_>>().join("\n  ");
        let _ = writeln!(self.text, "(assert (not (and {same})))\n(check-sat)\n(pop)");
    }

    /// The answer to each question: `sat` if there is such an input, `unsat` if there is none, `unknown` if it takes
    /// more than [`RESOURCES`] to tell.
    fn answers(&self, name: &str) -> Vec<String> {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, &self.text).unwrap();
        let limit = format!("rlimit={RESOURCES}");
        let output = Command::new("z3").arg(limit).arg(&path).output();
        let output = output.expect("z3 starts: `cargo xtask setup` installs it");
        let text = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<String> = text.lines().map(str::to_owned).collect();
        let is_answer = |line: &String| matches!(line.as_str(), "sat" | "unsat" | "unknown");
        assert!(answers.iter().all(is_answer), "{}: {text}", path.display());
        answers
    }
}

/// Which inputs and results a solver is asked about.
#[derive(Clone, Copy)]
enum Asked {
    All,
    /// Those whose predicates have these values.
    Predicates(u64),
    /// The results of one lane.
    Lane(usize),
}

/// A rule in a case without floats, in so many lanes.
struct Question {
    rule: &'static Rule,
    case: Case,
    log2: u32,
}

fn questions(rule: &'static Rule) -> impl Iterator<Item = Question> {
    SIZES.into_iter().flat_map(move |log2| {
        let cases = cases(rule, log2, &[Type::I32, Type::I64]).into_iter();
        cases.map(move |case| Question { rule, case, log2 })
    })
}

impl Question {
    /// How many values its predicate has; none if it has no predicate, or several.
    fn splits(&self) -> Option<u64> {
        let is_predicate = |(_, variable): &&(String, Variable)| {
            let of = Variable::Value {
                r#type: Type::I1,
                is_lane: false,
                uniform: false,
                constant: false,
            };
            *variable == of
        };
        let count = self.case.iter().filter(is_predicate).count();
        (count == 1).then_some(1 << (1 << self.log2))
    }

    /// Parts that are easier to settle, which are all of it together.
    fn parts(&self) -> Vec<Asked> {
        match self.splits() {
            Some(values) => (0..values).map(Asked::Predicates).collect(),
            None => (0..1 << self.log2).map(Asked::Lane).collect(),
        }
    }

    fn text(&self) -> String {
        let (name, lanes) = (self.rule.name, 1 << self.log2);
        format!("'{name}' in {lanes} lanes: {:?}", self.case)
    }
}

#[test]
fn a_solver_finds_no_input_for_which_a_rule_fails() {
    let all: Vec<Question> = rules::all().flat_map(questions).collect();
    let mut script = Script::default();
    for question in &all {
        script.ask(question, Asked::All);
    }
    let answers = script.answers("rules.smt2");
    assert_eq!(answers.len(), all.len());
    for (question, answer) in all.iter().zip(&answers) {
        assert_ne!(answer, "sat", "{}", question.text());
    }
    // Sums that a predicate cuts are hard: they are asked for with each of its values. Others, lane by lane.
    let open = all.iter().zip(&answers);
    let open = open.filter(|(_, answer)| *answer == "unknown");
    for (number, (question, _)) in open.enumerate() {
        let parts = question.parts();
        let mut script = Script::default();
        for part in &parts {
            script.ask(question, *part);
        }
        let answers = script.answers(&format!("split{number}.smt2"));
        assert_eq!(answers.len(), parts.len());
        let are_settled = answers.iter().all(|answer| answer == "unsat");
        assert!(are_settled, "{}: {answers:?}", question.text());
    }
}

#[test]
fn it_finds_one_for_each_wrong_rule() {
    for (number, rule) in PLANTED.iter().enumerate() {
        let mut script = Script::default();
        for question in questions(rule) {
            script.ask(&question, Asked::All);
        }
        let answers = script.answers(&format!("planted{number}.smt2"));
        let caught = answers.iter().any(|answer| answer == "sat");
        assert!(caught, "'{}' was not caught", rule.name);
    }
}
