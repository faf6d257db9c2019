//! Random kernels that are valid by the dialect's rules.
//!
//! [`kernel`] strings phases, algorithms and loops together, [`body`] fills a
//! phase, [`scalar`] and [`collective`] take an op from the definitions and give
//! it operands it is defined for, and [`algorithms`] knows the buffers of a device
//! algorithm. Undefined behaviour, races, and results that depend on a device's
//! rounding are avoided at the source, so that nearly every program is a test: the
//! interpreter, which finds the rest, faults on few.

mod algorithms;
mod body;
mod collective;
mod function;
mod kernel;
mod memory;
mod scalar;
mod views;

use crate::{
    compare::TRANSLATED,
    forms::Forms,
    ods::{self, OpDef},
    program::{Block, Comparison, Contents, Node, Parameter, Program, Value},
    types::{Class, Info, Level, Ty},
};
use fastrand::Rng;
use std::collections::HashMap;

pub use body::DOUBTFUL;
pub use kernel::generate;
pub use scalar::left_out;

/// Attributes that promise something of the operands, or let targets differ.
const PROMISES: &[&str] = &[
    "fastmath",
    "overflowFlags",
    "isExact",
    "isDisjoint",
    "nonNeg",
    "roundingmode",
    "in_range",
];

/// What the targets of a kernel have.
#[derive(Clone, Copy, Debug)]
pub struct Has {
    doubles: bool,
    /// Atomics of 64 bits.
    wide_atomics: bool,
}

impl Has {
    /// What targets have that are to take a kernel: of those that are translated alone, what each of them has.
    pub fn of(targets: &[String]) -> Self {
        let runs = targets.iter().any(|target| !target.starts_with(TRANSLATED));
        Self {
            doubles: runs,
            wide_atomics: runs,
        }
    }
}

/// A buffer of the kernel.
#[derive(Clone, Debug)]
struct Buffer {
    value: Value,
    ty: Ty,
    class: Class,
    /// What the buffer is for.
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// One element for each thread: read anywhere, or written at one's own place.
    Elements,
    /// Added to by atomics of one kind, and read by later phases alone.
    Counters(&'static str),
    /// Results of functions that targets round in their own way.
    Loose,
    /// 0 and 1.
    Flags,
    /// Words that some threads set to one number, whichever comes first.
    Marks(i64),
    /// Scratch that a `for_each` has written all of.
    Produced,
    /// One row for each thread, of these extents: read anywhere, or written in one's own row. They may be open in its type.
    Rows {
        row: &'static [usize],
        is_open: bool,
    },
    /// So many elements of another buffer, by its number, or copies of them, maybe as a table of so many columns: read
    /// anywhere, or written at one's own place where the other buffer is not used.
    View {
        of: usize,
        length: usize,
        columns: Option<usize>,
    },
}

/// A function that phases call.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    parameters: Vec<Ty>,
    result: Ty,
}

/// An array of a thread's own, all of which has been written.
#[derive(Clone, Copy, Debug)]
struct Private {
    array: Value,
    ty: Ty,
    length: i64,
}

/// Makes one program.
struct Generator<'f> {
    random: Rng,
    has: Has,
    forms: &'f mut Forms,
    types: Vec<String>,
    info: Vec<Info>,
    /// The blocks that are being written, outermost first.
    blocks: Vec<Vec<Node>>,
    /// The values that may be used here.
    scope: Vec<Value>,
    parameters: Vec<Parameter>,
    symbols: Vec<Node>,
    functions: Vec<Function>,
    buffers: Vec<Buffer>,
    /// The arrays of a thread's own that may be used here.
    privates: Vec<Private>,
    /// The last op that lanes execute together, its attributes and its operands.
    last_collective: Option<(&'static OpDef, String, Vec<Value>)>,
    /// Constants of the block that is written, so that they are not made anew.
    constants: HashMap<(usize, Ty, i64), Value>,
    least_wave: u32,
    /// Threads and blocks of the last phase.
    last_shape: Option<(usize, usize)>,
    /// Whether the program is compiled with checks.
    is_checked: bool,
    /// Whether something that may fail is there already, and a print.
    has_doubt: bool,
    has_print: bool,
    /// Whether what is written stands in a loop around phases.
    is_repeated: bool,
    /// Length of the buffers with an element for each thread.
    length: usize,
    /// Of how many elements an algorithm is, some of whose operands are parts of buffers.
    part: Option<usize>,
    /// What holds for the phase that is written.
    phase: Phase,
}

/// The phase that is written.
#[derive(Clone, Debug, Default)]
struct Phase {
    threads: i64,
    /// How often the body is executed at most.
    invocations: usize,
    /// This thread's own place in a buffer.
    place: Option<Value>,
    /// Buffers that may be read, and those written at one's own place.
    reads: Vec<usize>,
    writes: Vec<usize>,
    /// Its block's number among those being written.
    block: usize,
    /// Whether it is a `for_each`, whose threads are no one's.
    is_for_each: bool,
    /// Whether it is a `for_each` whose elements share subgroups.
    has_subgroups: bool,
    /// Whether it is a function's body, which has no memory but its own.
    is_function: bool,
    /// Whether it is to be computed where it is read.
    is_plain: bool,
    /// How deep control is nested.
    depth: usize,
    /// Bytes of shared arrays.
    shared: i64,
    /// Ops that may still be made.
    budget: usize,
}

impl Phase {
    /// Whether lanes may meet.
    fn meets(&self) -> bool {
        !self.is_for_each || self.has_subgroups
    }
}

impl<'f> Generator<'f> {
    fn new(seed: u64, has: Has, forms: &'f mut Forms) -> Self {
        let mut random = Rng::with_seed(seed);
        let least_wave = [4, 4, 4, 4, 8, 8, 16, 32][random.usize(0..8)];
        // Some have blocks of up to 1,024 threads.
        let length = match random.usize(0..16) {
            0 => 1100,
            _ => [64, 100, 192, 257, 300][random.usize(0..5)],
        };
        let is_checked = random.usize(0..6) == 0;
        Self {
            random,
            has,
            forms,
            types: Vec::new(),
            info: Vec::new(),
            blocks: vec![Vec::new()],
            scope: Vec::new(),
            parameters: Vec::new(),
            symbols: Vec::new(),
            functions: Vec::new(),
            buffers: Vec::new(),
            privates: Vec::new(),
            last_collective: None,
            constants: HashMap::new(),
            least_wave,
            last_shape: None,
            is_checked,
            has_doubt: false,
            has_print: false,
            is_repeated: false,
            length,
            part: None,
            phase: Phase::default(),
        }
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.random.usize(0..n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        match from.len() {
            0 => None,
            n => Some(from[self.random.usize(0..n)]),
        }
    }

    /// How often numbers are added where there is one for each element, as a logarithm.
    fn log_length(&self) -> i32 {
        self.length.next_power_of_two().ilog2() as i32
    }

    /// A type of elements; mostly one of which there are buffers.
    fn element(&mut self) -> Ty {
        let of: &[Ty] = if self.one_in(4) {
            &Ty::NARROW
        } else {
            &Ty::WIDE
        };
        let ty = of[self.random.usize(0..of.len())];
        self.had(ty)
    }

    /// Any type of values.
    fn any_type(&mut self) -> Ty {
        let ty = Ty::ALL[self.random.usize(0..Ty::ALL.len())];
        self.had(ty)
    }

    /// A type, or another one where the targets do not have it.
    fn had(&self, ty: Ty) -> Ty {
        match ty {
            Ty::F64 if !self.has.doubles => Ty::F32,
            ty => ty,
        }
    }

    /// Whether there are atomics on elements of a type.
    fn is_atomic(&self, ty: Ty) -> bool {
        ty.bits() < 64 || self.has.wide_atomics
    }

    /// What an op's results may be that the targets have.
    fn forms_of(&mut self, op: &OpDef, operands: &[Ty], properties: &str) -> Vec<Vec<Ty>> {
        let mut forms = self.forms.results(op, operands, properties).to_vec();
        forms.retain(|types| types.iter().all(|ty| self.had(*ty) == *ty));
        forms
    }

    /// A value of a type; nothing defines it yet.
    fn value(&mut self, r#type: impl Into<String>, info: Info) -> Value {
        self.types.push(r#type.into());
        self.info.push(info);
        (self.types.len() - 1) as Value
    }

    fn scalar(&mut self, ty: Ty, level: Level, class: Class) -> Value {
        let info = Info {
            ty: Some(ty),
            level,
            class,
        };
        self.value(ty.to_string(), info)
    }

    fn memory(&mut self, r#type: impl Into<String>) -> Value {
        let info = Info {
            ty: None,
            level: Level::Block,
            class: Class::Integer,
        };
        self.value(r#type, info)
    }

    fn of(&self, value: Value) -> Info {
        self.info[value as usize]
    }

    fn level(&self, value: Value) -> Level {
        self.of(value).level
    }

    fn ty(&self, value: Value) -> Ty {
        self.of(value).ty.expect("a scalar")
    }

    /// Adds an op to the block that is written.
    fn push(&mut self, op: &str, properties: &str, operands: &[Value], results: &[Value]) {
        self.push_with(op, properties, operands, results, Vec::new());
    }

    fn push_with(
        &mut self,
        op: &str,
        properties: &str,
        operands: &[Value],
        results: &[Value],
        regions: Vec<Block>,
    ) {
        let node = Node {
            op: op.into(),
            properties: properties.into(),
            operands: operands.to_vec(),
            results: results.to_vec(),
            regions,
        };
        self.blocks.last_mut().expect("a block").push(node);
    }

    /// An op with one scalar result of this type, the same between as many threads
    /// as its operands.
    fn op(&mut self, op: &str, properties: &str, operands: &[Value], ty: Ty) -> Value {
        let level = operands
            .iter()
            .map(|v| self.level(*v))
            .min()
            .unwrap_or(Level::Block);
        let class = match ty.is_float() {
            true => Class::Rounded,
            false => Class::Integer,
        };
        let result = self.scalar(ty, level, class);
        self.push(op, properties, operands, &[result]);
        result
    }

    /// A constant, as text and with its number for [`Self::constant`].
    fn literal(&mut self, ty: Ty, text: &str, class: Class) -> Value {
        let result = self.scalar(ty, Level::Block, class);
        let value = match ty {
            Ty::I1 => format!("value = {text}"),
            _ => format!("value = {text} : {ty}"),
        };
        self.push("arith.constant", &value, &[], &[result]);
        result
    }

    /// A small constant.
    fn constant(&mut self, ty: Ty, number: i64) -> Value {
        let key = (self.blocks.len(), ty, number);
        if let Some(known) = self.constants.get(&key) {
            return *known;
        }
        let class = Class::Exact {
            mag: 64 - number.unsigned_abs().leading_zeros() as i32,
            frac: 0,
        };
        let made = match ty {
            Ty::I1 => self.literal(
                ty,
                if number == 0 { "false" } else { "true" },
                Class::Integer,
            ),
            _ if ty.is_float() => self.literal(ty, &format!("{number}.0"), class),
            _ => self.literal(ty, &number.to_string(), Class::Integer),
        };
        self.constants.insert(key, made);
        made
    }

    /// Writes a region: what `write` makes, with these arguments in scope.
    fn region(&mut self, arguments: &[Value], write: impl FnOnce(&mut Self)) -> Block {
        let (outside, privates) = (self.scope.len(), self.privates.len());
        self.scope.extend(arguments);
        self.blocks.push(Vec::new());
        let level = self.blocks.len();
        self.constants.retain(|(at, ..), _| *at < level);
        write(self);
        self.constants.retain(|(at, ..), _| *at < level);
        self.scope.truncate(outside);
        self.privates.truncate(privates);
        Block {
            arguments: arguments.to_vec(),
            nodes: self.blocks.pop().expect("the block just pushed"),
        }
    }

    /// The values of a type in scope that are the same between at least so many threads.
    fn in_scope(&self, ty: Ty, level: Level) -> Vec<Value> {
        let is_such = |v: &Value| self.of(*v).ty == Some(ty) && self.level(*v) >= level;
        self.scope.iter().copied().filter(is_such).collect()
    }

    /// A value of a type that is the same between at least so many threads: one
    /// in scope, or made of one, or a constant.
    fn find(&mut self, ty: Ty, level: Level) -> Value {
        let found = self.in_scope(ty, level);
        if found.is_empty()
            && let Some(made) = self.resized(ty, level)
        {
            return made;
        }
        // Younger values more often: they are what the program is about.
        let recent = &found[found.len().saturating_sub(6)..];
        let chosen = if self.random.bool() { recent } else { &found };
        match self.pick(chosen) {
            Some(value) => value,
            None => {
                let mut number = self.random.i64(0..7);
                if matches!(ty, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64) && self.one_in(4) {
                    let least = i64::MIN >> (64 - ty.bits());
                    number = [-1, least, !least][self.random.usize(0..3)];
                }
                self.constant(ty, number)
            }
        }
    }

    /// An `i32` in scope as an integer of another width, mostly.
    fn resized(&mut self, ty: Ty, level: Level) -> Option<Value> {
        let op = match ty {
            Ty::I8 | Ty::I16 => "arith.trunci",
            Ty::I64 => "arith.extsi",
            _ => return None,
        };
        let word = self.pick(&self.in_scope(Ty::I32, level))?;
        (!self.one_in(4)).then(|| self.op(op, "", &[word], ty))
    }

    /// A new argument of the kernel.
    fn parameter(
        &mut self,
        element: Ty,
        length: Option<usize>,
        contents: Contents,
        comparison: Comparison,
    ) -> Value {
        self.table_parameter(element, length, &[], false, contents, comparison)
    }

    /// A new argument whose type says its length.
    fn fixed_parameter(
        &mut self,
        element: Ty,
        length: usize,
        contents: Contents,
        comparison: Comparison,
    ) -> Value {
        let value = self.parameter(element, Some(length), contents, comparison);
        let parameter = self.parameters.last_mut().expect("the one just made");
        parameter.is_fixed = true;
        self.types[value as usize] = parameter.memref();
        value
    }

    /// A new argument of rows of these extents, which its type may leave open.
    fn table_parameter(
        &mut self,
        element: Ty,
        length: Option<usize>,
        row: &[usize],
        is_open: bool,
        contents: Contents,
        comparison: Comparison,
    ) -> Value {
        let mut parameter = Parameter {
            value: 0,
            element: element.to_string(),
            length,
            row: row.to_vec(),
            is_open,
            is_fixed: false,
            contents,
            comparison,
            seed: self.random.u64(..),
            may_alias: false,
            part: None,
        };
        parameter.value = self.memory(parameter.memref());
        let value = parameter.value;
        self.parameters.push(parameter);
        value
    }

    /// Attributes of an op, chosen among the values that its definition allows.
    fn properties(&mut self, op: &OpDef) -> Option<String> {
        let mut all = Vec::new();
        for attribute in &op.attributes {
            if PROMISES.contains(&attribute.name.as_str()) {
                continue;
            }
            if attribute.is_optional && (attribute.values.is_empty() || self.random.bool()) {
                continue;
            }
            let value = attribute.values.len();
            let value = match value {
                0 => return None,
                n => &attribute.values[self.random.usize(0..n)],
            };
            all.push(format!("{} = {value}", attribute.name));
        }
        Some(all.join(", "))
    }

    fn finish(mut self, seed: u64) -> Program {
        let body = self.blocks.pop().expect("the kernel's block");
        Program {
            seed,
            least_wave: self.least_wave,
            is_checked: self.is_checked,
            types: self.types,
            parameters: self.parameters,
            symbols: self.symbols,
            body,
        }
    }
}

/// Ops of these families whose operands are scalars.
fn family(prefixes: &[&str]) -> Vec<&'static OpDef> {
    let of = |op: &&OpDef| prefixes.iter().any(|prefix| op.name.starts_with(prefix));
    ods::OPS.iter().filter(of).collect()
}
