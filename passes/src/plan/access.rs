//! Which buffers a step reads and writes, and which part of them.
//!
//! Inside a body, ops' interfaces give their effects on a buffer; any other use,
//! an escape through a region or a call for instance, counts as reading and
//! writing. On the host, a buffer is traced through views to the kernel argument
//! it is part of.

use super::host::{Host, Linear};
use qd_dialects::{
    argument_attributes, attributes,
    attributes::names,
    interfaces::{Use, view_source},
    ir::{
        Block, Key, Op, OpExt, Value, ValueExt, arguments, bit_width, element_type, operations,
        row_length,
    },
    melior::ir::ValueLike,
    ops::grid,
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
    /// It is not accessed.
    pub const NONE: Self = Self {
        reads: false,
        writes: false,
    };
    /// It may be read and written.
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

/// A body's effects on each of the buffers it is given. Effects on other memory,
/// except the body's own, are `other`.
pub struct BodyEffects {
    of: HashMap<Key, Effect>,
    /// Effects on memory that it was not given, such as globals.
    pub other: Effect,
}

impl BodyEffects {
    /// Of a body that takes these values from outside.
    pub fn of<'c>(body: Block<'c>, given: &[Value<'c>]) -> Self {
        let mut effects = Self {
            of: HashMap::new(),
            other: Effect::NONE,
        };
        // The buffer that each value is part of.
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

    /// The effect on a value that it was given.
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
        /// Whether it has `qd.may_alias`.
        may_alias: bool,
    },
    /// The kernel's control words (`qd.grid.control`), or the device's record or ring (`qd.grid.faults`, `qd.grid.prints`).
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
    /// Whether it overlaps only itself and unknown memory.
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
    /// Which part of it; all, if not known.
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

    /// Whether two accesses conflict: they may overlap, and one writes.
    pub fn conflicts(&self, other: &Self) -> bool {
        (self.effect.writes || other.effect.writes)
            && (self.effect != Effect::NONE && other.effect != Effect::NONE)
            && self.root.may_overlap(other.root)
            && !self.is_disjoint(other)
    }

    /// Whether every access that conflicts with `other` also conflicts with this
    /// one, and this one with `other`, where the two are of different steps that
    /// are in order.
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

/// An access of a body, and the body's value for the memory; none if the body was
/// not given it.
pub type Known<'c> = (Option<Value<'c>>, Access);

/// The functions that launches run, looked up once for all kernels. Functions
/// must not change while it is used; kernels may.
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
        match step.full_name() {
            grid::Launch::NAME => self.of_launch(grid::Launch::cast(step)),
            grid::Phase::NAME => self.of_phase(step),
            grid::ForEach::NAME => {
                let count = grid::ForEach::cast(step).count();
                let read = count.map(|n| self.access(n, Effect::READ));
                let mut all: Vec<_> = read.into_iter().collect();
                all.extend(self.of_phase(step));
                all
            }
            grid::Fill::NAME => self.of_fill(grid::Fill::cast(step)),
            grid::DoWhile::NAME => self.of_sequence(step, grid::DoWhile::cast(step).flag()),
            grid::If::NAME => self.of_sequence(step, grid::If::cast(step).condition()),
            // A dispatched kernel may do anything to what it is given.
            _ => self.given(&step.operand_values()),
        }
    }

    /// Of a sequence of steps, and the word that says whether they run.
    fn of_sequence(&mut self, sequence: Op<'c>, word: Value<'c>) -> Vec<Access> {
        let mut all = vec![self.access(word, Effect::READ)];
        for inner in crate::outline_phases::steps(sequence) {
            all.extend(self.of(inner));
        }
        all
    }

    fn given(&mut self, operands: &[Value<'c>]) -> Vec<Access> {
        operands
            .iter()
            .filter(|v| element_type(v.r#type()).is_some())
            .map(|v| self.access(*v, Effect::BOTH))
            .collect()
    }

    fn of_launch(&mut self, launch: grid::Launch<'c>) -> Vec<Access> {
        match self.of_passed(launch) {
            Some((_, passed)) => passed.into_iter().map(|(_, access)| access).collect(),
            None => self.given(&launch.args()),
        }
    }

    /// The function a launch runs, and what it reads and writes. Nothing if there
    /// is no such function.
    pub fn of_passed(&mut self, launch: grid::Launch<'c>) -> Option<(Op<'c>, Vec<Known<'c>>)> {
        let functions = self.functions.clone()?;
        let function = *functions.by_name.get(&launch.body())?;
        let body = function.body()?;
        let effects = functions.effects(function, body);
        let passed = self.pairs(&launch.args(), &arguments(body), &effects);
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

    fn of_fill(&mut self, fill: grid::Fill<'c>) -> Vec<Access> {
        let dest = fill.dest();
        let mut access = self.access(dest, Effect::WRITE);
        let bits = element_type(dest.r#type()).map_or(0, |t| i64::from(bit_width(t)));
        // What has no bounds has one element.
        let lower = fill
            .lower()
            .map_or_else(Linear::default, |v| self.host.linear(v));
        let upper = fill
            .upper()
            .map_or_else(|| Linear::constant(1), |v| self.host.linear(v));
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
            let view = grid::View::of(memref.defining_op()?)?;
            let row = row_length(memref.r#type()).unwrap_or(1);
            let bits = row * i64::from(bit_width(element_type(memref.r#type())?));
            let one = || Linear::constant(1);
            let size = view.size().map_or_else(one, |size| self.host.linear(size));
            Some(Part {
                offset,
                size: size.times(bits)?,
            })
        });
        Access { root, effect, part }
    }

    /// What a memref is part of, and the bits before it, if they are known.
    fn root(&mut self, memref: Value<'c>) -> (Root, Option<Linear>) {
        if let Some((_, index)) = memref.block_argument() {
            let may_alias = argument_attributes::has(self.kernel, index, names::MAY_ALIAS);
            return (Root::Argument { index, may_alias }, Some(Linear::default()));
        }
        let Some(op) = memref.defining_op() else {
            return (Root::Unknown, None);
        };
        let is_own = [grid::Control::NAME, grid::Faults::NAME, grid::Prints::NAME];
        if is_own.iter().any(|name| op.is(name)) {
            return (Root::Control(memref.key()), Some(Linear::default()));
        }
        let Some(source) = view_source(op) else {
            return (Root::Unknown, None);
        };
        let (root, start) = self.root(source);
        let offset = match op.full_name() {
            grid::View::NAME => (|| {
                let bits = i64::from(bit_width(element_type(source.r#type())?));
                start?.plus(bits, &self.host.linear(grid::View::cast(op).offset()))
            })(),
            "memref.cast" => start,
            _ => None,
        };
        (root, offset)
    }
}
