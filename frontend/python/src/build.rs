//! From a record to MLIR.

mod collectives;
mod tasks;

use super::{
    arithmetic,
    dtype::DType,
    record::{Atomic, NONE, Node, Op, Record, SHARED},
};
use collectives::kind;
use qd_dialects::{
    melior::ir::{Type, r#type::MemRefType},
    ops::grid,
};
use qd_frontend::builder::{Builder, Parameter, V};
use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    ops::Range,
};

/// Writes the kernel at the top of a module. Whether threads may do two rounds of a loop: on a device a thread that waits for
/// what it loads does nothing else, and there is no room for more of them.
pub fn build(b: &Builder<'_>, record: &Record, pairs: bool) {
    let mut takes: Vec<_> = record
        .arguments
        .iter()
        .map(|argument| {
            let dtype = argument.dtype;
            match argument.is_array {
                true => {
                    let element = arithmetic::stored_type(b, dtype);
                    let array = Parameter::buffer(&argument.name, element);
                    let array = array.shown_as(dtype.stored());
                    match record.overlapping {
                        true => array.may_alias(),
                        false => array,
                    }
                }
                false => {
                    let number = arithmetic::stored_type(b, dtype);
                    Parameter::scalar(&argument.name, number).shown_as(dtype.stored())
                }
            }
        })
        .collect();
    takes.extend(record.results.iter().enumerate().map(|(i, dtype)| {
        let element = arithmetic::stored_type(b, *dtype);
        Parameter::buffer(&format!("result {i}"), element).shown_as(dtype.stored())
    }));
    b.kernel(&record.name, takes, |arguments: Vec<V<'_, '_>>| {
        let lowering = Lowering {
            b,
            record,
            pairs,
            arguments,
            partners: partners(&record.nodes),
            values: RefCell::new(vec![None; record.nodes.len()]),
            printed: RefCell::default(),
            shared: RefCell::default(),
            is_there: Cell::new(None),
            number: Cell::new(None),
            own: RefCell::default(),
            sets: RefCell::default(),
        };
        lowering.tasks();
    });
}

/// For each node that begins a body, the node that ends it: `Else` and `Do` end one and begin another.
fn partners(nodes: &[Node]) -> Vec<usize> {
    let mut partners = vec![0; nodes.len()];
    let mut open = Vec::new();
    for (i, node) in nodes.iter().enumerate() {
        if matches!(node.op, Op::Else | Op::Do | Op::End)
            && let Some(begin) = open.pop()
        {
            let begin: usize = begin;
            partners[begin] = i;
        }
        if matches!(
            node.op,
            Op::Task(..) | Op::For | Op::If | Op::Else | Op::While | Op::Do
        ) {
            open.push(i);
        }
    }
    partners
}

/// What an atomic leaves of two values, where it is a plain operation.
fn combined<'b, 'c>(atomic: Atomic, old: V<'b, 'c>, value: V<'b, 'c>) -> Option<V<'b, 'c>> {
    match atomic {
        Atomic::Add => Some(old + value),
        Atomic::Mul => Some(old * value),
        Atomic::And => Some(old & value),
        Atomic::Or => Some(old | value),
        Atomic::Xor => Some(old ^ value),
        Atomic::Exchange => Some(value),
        // Of NaNs and zeros they have rules of their own.
        Atomic::Min | Atomic::Max => None,
    }
}

/// A value as it is computed with, of what memory has.
fn loaded<'b, 'c>(value: V<'b, 'c>, dtype: DType) -> V<'b, 'c> {
    match dtype {
        DType::U1 => value.ne(0),
        _ => value,
    }
}

struct Lowering<'b, 'c, 'r> {
    b: &'b Builder<'c>,
    record: &'r Record,
    pairs: bool,
    arguments: Vec<V<'b, 'c>>,
    partners: Vec<usize>,
    /// Of nodes in the present task; of a variable its present value.
    values: RefCell<Vec<Option<V<'b, 'c>>>>,
    /// The values of the next print.
    printed: RefCell<Vec<V<'b, 'c>>>,
    /// The shared arrays of the present task, by their numbers.
    shared: RefCell<HashMap<u32, V<'b, 'c>>>,
    /// In a task with operations of blocks, whether the thread has a number of the loop. Where its last block has more
    /// threads, these follow the last that has one, so that all come to each operation together, and they write nothing.
    is_there: Cell<Option<V<'b, 'c>>>,
    /// The number of the thread's round, and as an index, where loops begin at 0: of what is made of an i32 LLVM does not
    /// know that it has not wrapped, and that elements are in a row.
    number: Cell<Option<(V<'b, 'c>, V<'b, 'c>)>>,
    /// The arrays that are [`owned`](tasks::owned) in the present task.
    own: RefCell<HashSet<u32>>,
    /// What the present node stores in these: an array, an index and a value.
    sets: RefCell<Vec<[V<'b, 'c>; 3]>>,
}

impl<'b, 'c> Lowering<'b, 'c, '_> {
    /// An array: a parameter, or one of the block.
    fn array(&self, number: u32) -> V<'b, 'c> {
        match number & SHARED {
            0 => self.arguments[number as usize],
            _ => self.shared.borrow()[&(number & !SHARED)],
        }
    }

    /// The scope of an atomic on an array.
    fn scope(number: u32) -> &'static str {
        match number & SHARED {
            0 => "device",
            _ => "block",
        }
    }

    /// What threads do that have a number of the loop.
    fn if_there(&self, run: impl FnOnce()) {
        match self.is_there.get() {
            Some(is_there) => self.b.if_(is_there, run),
            None => run(),
        }
    }

    /// A value of these, and 0 of the others.
    fn value_if_there(&self, r#type: Type<'c>, value: impl FnOnce() -> V<'b, 'c>) -> V<'b, 'c> {
        match self.is_there.get() {
            None => value(),
            Some(is_there) => {
                let zero = || [self.b.zero(r#type)];
                let [value] = self.b.if_else(is_there, || [value()], zero);
                value
            }
        }
    }

    /// An element of an array, as an array of rank 0.
    fn place(&self, array: V<'b, 'c>, index: V<'b, 'c>) -> V<'b, 'c> {
        let r#type = MemRefType::new(array.element(), &[], None, None).into();
        self.b
            .result(grid::View::NAME, &[array, index], r#type, &[])
    }

    fn locate(&self, node: Node) {
        let (line, column) = node.at;
        self.b
            .locate(&self.record.file, line as usize, column as usize);
    }

    fn define(&self, i: usize, value: V<'b, 'c>) {
        self.values.borrow_mut()[i] = Some(value);
    }

    fn present(&self, i: usize) -> Option<V<'b, 'c>> {
        self.values.borrow()[i]
    }

    /// A value: of the task, or a pure one from outside, which is computed here.
    fn value(&self, i: u32) -> V<'b, 'c> {
        self.computed(i as usize, &mut HashMap::new())
    }

    fn computed(&self, i: usize, made: &mut HashMap<usize, V<'b, 'c>>) -> V<'b, 'c> {
        if let Some(value) = self.present(i).or_else(|| made.get(&i).copied()) {
            return value;
        }
        let node = self.record.nodes[i];
        let operands = node.operands.map(|o| match o {
            NONE => None,
            o => Some(self.computed(o as usize, made)),
        });
        let value = self.expression(node, operands);
        made.insert(i, value);
        value
    }

    /// The value of a node that is one.
    fn expression(&self, node: Node, [a, b, c]: [Option<V<'b, 'c>>; 3]) -> V<'b, 'c> {
        let builder = self.b;
        let operand = |v: Option<V<'b, 'c>>| v.expect("an operand of the record");
        let type_of = |o: usize| self.record.nodes[node.operands[o] as usize].dtype;
        match node.op {
            Op::Constant(bits) => arithmetic::constant(builder, node.dtype, bits),
            Op::Parameter(number) => {
                let given = self.arguments[number as usize];
                match node.dtype {
                    DType::U1 => given.ne(0),
                    _ => given,
                }
            }
            Op::Extent(array) => self.arguments[array as usize].len().to_i32(),
            Op::Unary(unary) => arithmetic::unary(unary, operand(a), type_of(0)),
            Op::Binary(binary) => {
                arithmetic::binary(binary, operand(a), operand(b), type_of(0), type_of(1))
            }
            Op::Cast => arithmetic::converted(operand(a), type_of(0), node.dtype),
            Op::BitCast => arithmetic::bit_cast(operand(a), node.dtype),
            Op::Select => operand(a).select(operand(b), operand(c)),
            Op::Get => operand(a),
            Op::Load(array) => loaded(self.array(array).at(self.index(node)), node.dtype),
            Op::VolatileLoad(array) => {
                let value = self
                    .array(array)
                    .atomic_at(self.index(node), Self::scope(array));
                loaded(value, node.dtype)
            }
            Op::Atomic(array, atomic) => {
                let scope = Self::scope(array);
                let is_own = self.own.borrow().contains(&array);
                let array = self.array(array);
                let (index, value) = (self.index(node), self.stored(operand(b), node.dtype));
                if is_own {
                    let old = array.at(index);
                    if let Some(new) = combined(atomic, old, value) {
                        self.sets.borrow_mut().push([array, index, new]);
                        return loaded(old, node.dtype);
                    }
                }
                let old = self.value_if_there(value.ty(), || match kind(atomic, node.dtype) {
                    Some(kind) => array.atomic(kind, index, value, scope),
                    None => array.atomic_exchange(index, value, scope),
                });
                loaded(old, node.dtype)
            }
            Op::CompareExchange(array) => {
                let scope = Self::scope(array);
                let array = self.array(array);
                let index = self.index(node);
                let [expected, desired] = [b, c].map(|v| self.stored(operand(v), node.dtype));
                let old = self.value_if_there(desired.ty(), || {
                    array.atomic_cas(index, expected, desired, scope)
                });
                loaded(old, node.dtype)
            }
            Op::ScratchSlots(algorithm, depth) => {
                let slots = builder.scratch_slots(algorithm, operand(a).to_index(), depth as i32);
                slots.to_i32()
            }
            Op::Store(_)
            | Op::Algorithm(_)
            | Op::Subgroup(..)
            | Op::Block(..)
            | Op::Shared(_)
            | Op::Declare
            | Op::Set
            | Op::Task(..)
            | Op::For
            | Op::If
            | Op::Else
            | Op::While
            | Op::Do
            | Op::End
            | Op::Return(_)
            | Op::PrintValue
            | Op::Print(_)
            | Op::Assert(_) => unreachable!("a statement is no operand"),
        }
    }

    /// The first operand as an index.
    fn index(&self, node: Node) -> V<'b, 'c> {
        let index = self.value(node.operands[0]);
        if let Some((number, place)) = self.number.get()
            && number.value() == index.value()
        {
            return place;
        }
        match self.record.nodes[node.operands[0] as usize]
            .dtype
            .is_signed()
        {
            true => {
                let r#type = self.b.index_type();
                self.b.result("arith.index_cast", &[index], r#type, &[])
            }
            false => index.to_index(),
        }
    }

    /// As it lies in memory.
    fn stored(&self, value: V<'b, 'c>, dtype: DType) -> V<'b, 'c> {
        match dtype {
            DType::U1 => value.cast(self.b.int_type(8)),
            _ => value,
        }
    }

    fn walk(&self, nodes: Range<usize>) {
        let mut i = nodes.start;
        while i < nodes.end {
            i = self.step(i);
            self.store();
        }
    }

    /// Stores what a node has left to be stored.
    fn store(&self) {
        for [array, index, value] in self.sets.take() {
            array.set(index, value);
        }
    }

    /// Writes what begins at a node; the node after it.
    fn step(&self, i: usize) -> usize {
        let node = self.record.nodes[i];
        self.locate(node);
        let [a, b, _] = node.operands;
        match node.op {
            Op::Declare => {
                let value = match a {
                    NONE => self.b.zero(arithmetic::type_of(self.b, node.dtype)),
                    a => self.value(a),
                };
                self.define(i, value);
            }
            Op::Set => {
                let from = self.record.nodes[b as usize].dtype;
                // Its type may have been settled after this node was written.
                let to = self.record.nodes[a as usize].dtype;
                let value = arithmetic::converted(self.value(b), from, to);
                self.define(a as usize, value);
            }
            Op::Store(array) => {
                let (index, value) = (self.index(node), self.stored(self.value(b), node.dtype));
                self.if_there(|| self.array(array).set(index, value));
            }
            Op::Return(result) => {
                let value = self.stored(self.value(a), node.dtype);
                let buffer = self.arguments[self.record.arguments.len() + result as usize];
                self.if_there(|| buffer.set(self.b.index(0), value));
            }
            Op::PrintValue => self.printed.borrow_mut().push(self.value(a)),
            Op::Print(format) => {
                let format = &self.record.texts[format as usize];
                let values = self.printed.take();
                self.if_there(|| {
                    self.b.print(format, &values);
                });
            }
            Op::Assert(text) => {
                let holds = self.value(a);
                self.if_there(|| {
                    (self.b).assert(holds, &self.record.texts[text as usize]);
                });
            }
            Op::Subgroup(operation, combine, tile) => {
                if let Some(value) = self.subgroup(node, (operation, combine, tile)) {
                    self.define(i, value);
                }
            }
            Op::Block(operation, combine) => {
                if let Some(value) = self.block(node, operation, combine) {
                    self.define(i, value);
                }
            }
            Op::Shared(_) => {}
            Op::If => return self.branch(i, node),
            Op::For => return self.count(i, node),
            Op::While => return self.repeat(i),
            _ => {
                let operands = node.operands.map(|o| match o {
                    NONE => None,
                    o => Some(self.value(o)),
                });
                let value = self.expression(node, operands);
                self.define(i, value);
            }
        }
        i + 1
    }

    /// The variables from outside that nodes set.
    fn assigned(&self, nodes: Range<usize>) -> Vec<usize> {
        let begin = nodes.start;
        let mut set: Vec<_> = self.record.nodes[nodes]
            .iter()
            .filter(|node| node.op == Op::Set)
            .map(|node| node.operands[0] as usize)
            .filter(|variable| *variable < begin)
            .collect();
        set.sort_unstable();
        set.dedup();
        set
    }

    fn read(&self, variables: &[usize]) -> Vec<V<'b, 'c>> {
        variables.iter().map(|v| self.value(*v as u32)).collect()
    }

    fn write(&self, variables: &[usize], values: Vec<V<'b, 'c>>) {
        for (variable, value) in variables.iter().zip(values) {
            self.define(*variable, value);
        }
    }

    fn branch(&self, i: usize, node: Node) -> usize {
        let middle = self.partners[i];
        let (otherwise, end) = match self.record.nodes[middle].op {
            Op::Else => (middle + 1..self.partners[middle], self.partners[middle]),
            _ => (middle..middle, middle),
        };
        let variables = self.assigned(i..end);
        let before = self.read(&variables);
        let body = |nodes: Range<usize>| {
            self.write(&variables, before.clone());
            self.walk(nodes);
            self.read(&variables)
        };
        let condition = self.value(node.operands[0]);
        let values = match variables.is_empty() {
            true => {
                let run = |nodes: Range<usize>| self.walk(nodes);
                match otherwise.is_empty() {
                    true => self.b.if_(condition, || run(i + 1..middle)),
                    false => self
                        .b
                        .either(condition, || run(i + 1..middle), || run(otherwise)),
                }
                Vec::new()
            }
            false => self
                .b
                .if_else(condition, || body(i + 1..middle), || body(otherwise)),
        };
        self.write(&variables, values);
        end + 1
    }

    fn count(&self, i: usize, node: Node) -> usize {
        let end = self.partners[i];
        let variables = self.assigned(i..end);
        let [first, last] = [node.operands[0], node.operands[1]].map(|o| self.value(o));
        let initial = self.read(&variables);
        let values = self
            .b
            .for_(first, last, self.b.i32(1), initial, |number, carried| {
                self.define(i, number);
                self.write(&variables, carried);
                self.walk(i + 1..end);
                self.read(&variables)
            });
        self.write(&variables, values);
        end + 1
    }

    fn repeat(&self, i: usize) -> usize {
        let middle = self.partners[i];
        let end = self.partners[middle];
        let variables = self.assigned(i..end);
        let values = self.b.while_(
            self.read(&variables),
            |carried| {
                self.write(&variables, carried.clone());
                self.walk(i + 1..middle);
                self.value(self.record.nodes[middle].operands[0])
            },
            |carried| {
                self.write(&variables, carried);
                self.walk(middle + 1..end);
                self.read(&variables)
            },
        );
        self.write(&variables, values);
        end + 1
    }
}
