//! Which buffers a step reads and writes, and which part of them.
//!
//! Inside a body, ops say what they do with a buffer; any use of which they do
//! not, an escape through a region or a call for instance, counts as reading and
//! writing. On the host, a buffer is followed through views to the kernel
//! argument it is part of.

use super::host::{Host, Linear};
use qd_dialects::{
    argument_attributes, attributes,
    interfaces::{Use, view_source},
    ir::{Block, Key, Op, OpExt, Value, ValueExt, arguments, bit_width, element_type, operations},
    melior::ir::ValueLike,
};
use std::{cell::RefCell, collections::HashMap, fmt, rc::Rc};

/// Whether something is read, written, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// It is read.
    pub reads: bool,
    /// It is written.
    pub writes: bool,
}

impl Effect {
    /// Nothing happens to it.
    pub const NONE: Self = Self {
        reads: false,
        writes: false,
    };
    /// Anything may happen to it.
    pub const BOTH: Self = Self {
        reads: true,
        writes: true,
    };
    /// It is only read.
    pub const READ: Self = Self {
        reads: true,
        writes: false,
    };
    const WRITE: Self = Self {
        reads: false,
        writes: true,
    };

    /// Either.
    pub fn or(self, other: Self) -> Self {
        Self {
            reads: self.reads || other.reads,
            writes: self.writes || other.writes,
        }
    }
}

/// What a body does to each of the buffers it is given. Memory that is none of
/// them, but not the body's own either, is `other`.
pub struct BodyEffects {
    of: HashMap<Key, Effect>,
    /// What it does to memory it was not given, such as globals.
    pub other: Effect,
}

impl BodyEffects {
    /// Of a body that takes these values from outside.
    pub fn of<'c>(body: Block<'c>, given: &[Value<'c>]) -> Self {
        let mut effects = Self {
            of: HashMap::new(),
            other: Effect::NONE,
        };
        // What each value is part of.
        let mut roots: HashMap<Key, Key> = given.iter().map(|v| (v.key(), v.key())).collect();
        for op in operations(body).into_iter().flat_map(OpExt::walk_all) {
            if op.is("memref.get_global") || op.is("func.call") {
                effects.other = Effect::BOTH;
            }
            for (index, operand) in op.operand_values().into_iter().enumerate() {
                let Some(root) = roots.get(&operand.key()).copied() else {
                    continue;
                };
                if element_type(operand.r#type()).is_none() {
                    continue;
                }
                let effect = match Use::of(op, index) {
                    Use::Access(effects) => Effect {
                        reads: effects.reads,
                        writes: effects.writes,
                    },
                    Use::Unknown => Effect::BOTH,
                    Use::View => {
                        roots.extend(op.result_values().iter().map(|view| (view.key(), root)));
                        continue;
                    }
                };
                let known = effects.of.entry(root).or_default();
                *known = known.or(effect);
            }
        }
        effects
    }

    /// What it does to a value it was given.
    pub fn on(&self, value: Value) -> Effect {
        self.of.get(&value.key()).copied().unwrap_or_default()
    }
}

/// Memory as the host sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// A kernel's argument, and whether it may overlap others of its kind.
    Argument {
        /// Its number.
        index: usize,
        /// Carries `qd.may_alias`.
        may_alias: bool,
    },
    /// Words of the kernel's own (`qd.grid.control`).
    Control(Key),
    /// Anything.
    Unknown,
}

impl fmt::Display for Root {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Argument { index, .. } => write!(f, "argument {index}"),
            Self::Control(_) => f.write_str("control words"),
            Self::Unknown => f.write_str("memory that is no argument"),
        }
    }
}

impl Root {
    /// Whether it shares no memory but with itself, and with what is unknown.
    pub fn overlaps_itself_alone(self) -> bool {
        match self {
            Self::Argument { may_alias, .. } => !may_alias,
            Self::Control(_) => true,
            Self::Unknown => false,
        }
    }

    /// Whether two may share memory.
    pub fn may_overlap(self, other: Self) -> bool {
        match (self, other) {
            (
                Self::Argument {
                    index: a,
                    may_alias: x,
                },
                Self::Argument {
                    index: b,
                    may_alias: y,
                },
            ) => a == b || (x && y),
            (Self::Unknown, _) | (_, Self::Unknown) => true,
            (a, b) => a == b,
        }
    }
}

/// Part of a buffer: where it starts, and how long it is, in bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    offset: Linear,
    size: Linear,
}

/// One access of a step.
#[derive(Clone, Debug)]
pub struct Access {
    /// Which buffer.
    pub root: Root,
    /// What happens to it.
    pub effect: Effect,
    /// Which part of it; all, if that is not known.
    part: Option<Part>,
}

impl Access {
    /// The same memory, only read.
    pub fn as_read(&self) -> Self {
        Self {
            effect: Effect::READ,
            ..self.clone()
        }
    }

    /// Whether two accesses are in conflict: they may touch the same memory, and
    /// one writes.
    pub fn conflicts(&self, other: &Self) -> bool {
        (self.effect.writes || other.effect.writes)
            && (self.effect != Effect::NONE && other.effect != Effect::NONE)
            && self.root.may_overlap(other.root)
            && !self.is_disjoint(other)
    }

    /// Whether all that is in conflict with `other` is so with this, and this with
    /// `other`, where the two are of different steps that are in order.
    pub fn stands_for(&self, other: &Self) -> bool {
        let is_all = |part: &Option<Part>| part.is_none() || self.root == Root::Unknown;
        (self.effect.writes || !other.effect.writes)
            && self.effect != Effect::NONE
            && (self.root == other.root || self.root == Root::Unknown)
            && (is_all(&self.part) || self.part == other.part)
    }

    fn is_disjoint(&self, other: &Self) -> bool {
        // Parts of different arguments that alias cannot be compared.
        if self.root != other.root || self.root == Root::Unknown {
            return false;
        }
        let (Some(a), Some(b)) = (&self.part, &other.part) else {
            return false;
        };
        let before = |a: &Part, b: &Part| {
            let end = a.offset.plus(1, &a.size)?;
            Some(b.offset.plus(-1, &end)?.is_not_negative())
        };
        before(a, b) == Some(true) || before(b, a) == Some(true)
    }
}

/// An access of a body, and as which value the body knows the memory; none if it
/// was not given it.
pub type Known<'c> = (Option<Value<'c>>, Access);

/// What launches run, looked up once for all kernels. Functions must stay as they
/// are as long as it is used; kernels may change.
#[derive(Default)]
pub struct Functions<'c> {
    of_modules: HashMap<Key, Rc<Module<'c>>>,
}

/// The functions of one module.
struct Module<'c> {
    by_name: HashMap<String, Op<'c>>,
    /// Of those that have been asked for.
    effects: RefCell<HashMap<Key, Rc<BodyEffects>>>,
}

impl<'c> Functions<'c> {
    /// Those of the module around a kernel.
    fn around(&mut self, kernel: Op<'c>) -> Option<Rc<Module<'c>>> {
        let module = kernel.parent()?;
        let known = self.of_modules.entry(module.key());
        Some(Rc::clone(known.or_insert_with(|| {
            let named = |op: Op<'c>| Some((op.attr("sym_name").and_then(attributes::text)?, op));
            let all = module.body().map(operations).unwrap_or_default();
            Rc::new(Module {
                by_name: all.into_iter().filter_map(named).collect(),
                effects: RefCell::default(),
            })
        })))
    }
}

impl Module<'_> {
    /// What a function does to its arguments.
    fn effects(&self, function: Op, body: Block) -> Rc<BodyEffects> {
        let mut known = self.effects.borrow_mut();
        let effects = known.entry(function.key());
        let compute = || Rc::new(BodyEffects::of(body, &arguments(body)));
        Rc::clone(effects.or_insert_with(compute))
    }
}

/// Finds the accesses of a kernel's steps.
pub struct Accesses<'c> {
    kernel: Op<'c>,
    host: Host,
    functions: Option<Rc<Module<'c>>>,
}

impl<'c> Accesses<'c> {
    /// For the steps of one kernel.
    pub fn new(kernel: Op<'c>, functions: &mut Functions<'c>) -> Self {
        Self {
            kernel,
            host: Host::default(),
            functions: functions.around(kernel),
        }
    }

    /// The host expressions seen so far.
    pub fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    /// What a step reads and writes.
    pub fn of(&mut self, step: Op<'c>) -> Vec<Access> {
        let operands = step.operand_values();
        match step.full_name() {
            "qd.grid.launch" => self.of_launch(step, &operands[1..]),
            "qd.grid.phase" => self.of_phase(step),
            "qd.grid.for_each" => {
                let counts = operands[1..].iter();
                let mut all: Vec<_> = counts.map(|n| self.access(*n, Effect::READ)).collect();
                all.extend(self.of_phase(step));
                all
            }
            "qd.grid.fill" => self.of_fill(&operands),
            "qd.grid.do_while" | "qd.grid.if" => {
                let mut all = vec![self.access(operands[0], Effect::READ)];
                for inner in crate::outline_phases::steps(step) {
                    all.extend(self.of(inner));
                }
                all
            }
            // A dispatched kernel may do anything to what it is given.
            _ => self.given(&operands),
        }
    }

    fn given(&mut self, operands: &[Value<'c>]) -> Vec<Access> {
        operands
            .iter()
            .filter(|v| element_type(v.r#type()).is_some())
            .map(|v| self.access(*v, Effect::BOTH))
            .collect()
    }

    fn of_launch(&mut self, launch: Op<'c>, operands: &[Value<'c>]) -> Vec<Access> {
        match self.of_passed(launch) {
            Some((_, passed)) => passed.into_iter().map(|(_, access)| access).collect(),
            None => self.given(operands),
        }
    }

    /// The function a launch runs, and what it reads and writes. Nothing if there
    /// is no such function.
    pub fn of_passed(&mut self, launch: Op<'c>) -> Option<(Op<'c>, Vec<Known<'c>>)> {
        let name = launch.attr("body").and_then(attributes::symbol_name)?;
        let functions = self.functions.clone()?;
        let function = *functions.by_name.get(&name)?;
        let body = function.body()?;
        let effects = functions.effects(function, body);
        let passed = self.pairs(&launch.operand_values()[1..], &arguments(body), &effects);
        Some((function, passed))
    }

    fn of_phase(&mut self, phase: Op<'c>) -> Vec<Access> {
        let captured = self.of_captured(phase);
        captured.into_iter().map(|(_, access)| access).collect()
    }

    /// What a phase reads and writes.
    pub fn of_captured(&mut self, phase: Op<'c>) -> Vec<Known<'c>> {
        let Some(body) = phase.body() else {
            return Vec::new();
        };
        let given = crate::outline_phases::captures(phase).1;
        let effects = BodyEffects::of(body, &given);
        self.pairs(&given, &given, &effects)
    }

    /// `outside[i]` is what the body knows as `inside[i]`.
    fn pairs(
        &mut self,
        outside: &[Value<'c>],
        inside: &[Value<'c>],
        effects: &BodyEffects,
    ) -> Vec<Known<'c>> {
        let mut all = Vec::new();
        for (outside, inside) in outside.iter().zip(inside) {
            if element_type(outside.r#type()).is_some() {
                all.push((Some(*inside), self.access(*outside, effects.on(*inside))));
            }
        }
        if effects.other != Effect::NONE {
            let unknown = Access {
                root: Root::Unknown,
                effect: effects.other,
                part: None,
            };
            all.push((None, unknown));
        }
        all
    }

    fn of_fill(&mut self, operands: &[Value<'c>]) -> Vec<Access> {
        let (dest, lower, upper) = (operands[0], operands[1], operands[2]);
        let mut access = self.access(dest, Effect::WRITE);
        let bits = element_type(dest.r#type()).map_or(0, |t| i64::from(bit_width(t)));
        let (lower, upper) = (self.host.linear(lower), self.host.linear(upper));
        let start = match &access.part {
            Some(part) => Some(part.offset.clone()),
            None => (self.root(dest).1.is_some()).then(Linear::default),
        };
        access.part = (|| {
            Some(Part {
                offset: start?.plus(bits, &lower)?,
                size: upper.plus(-1, &lower)?.times(bits)?,
            })
        })();
        vec![access]
    }

    /// An access to a whole memref that the host knows.
    pub fn access(&mut self, memref: Value<'c>, effect: Effect) -> Access {
        let (root, offset) = self.root(memref);
        let part = offset.and_then(|offset| {
            let op = memref.defining_op().filter(|op| op.is("qd.grid.view"))?;
            let bits = i64::from(bit_width(element_type(memref.r#type())?));
            let size = self.host.linear(op.operand_values()[2]).times(bits)?;
            Some(Part { offset, size })
        });
        Access { root, effect, part }
    }

    /// What a memref is part of, and the bits before it, if they are known.
    fn root(&mut self, memref: Value<'c>) -> (Root, Option<Linear>) {
        if let Some((_, index)) = memref.block_argument() {
            let may_alias = argument_attributes::has(self.kernel, index, "qd.may_alias");
            return (Root::Argument { index, may_alias }, Some(Linear::default()));
        }
        let Some(op) = memref.defining_op() else {
            return (Root::Unknown, None);
        };
        if op.is("qd.grid.control") {
            return (Root::Control(memref.key()), Some(Linear::default()));
        }
        let Some(source) = view_source(op) else {
            return (Root::Unknown, None);
        };
        let (root, start) = self.root(source);
        let offset = match op.full_name() {
            "qd.grid.view" => (|| {
                let bits = i64::from(bit_width(element_type(source.r#type())?));
                start?.plus(bits, &self.host.linear(op.operand_values()[1]))
            })(),
            "memref.cast" => start,
            _ => None,
        };
        (root, offset)
    }
}
