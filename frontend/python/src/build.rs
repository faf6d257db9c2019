//! From a record to MLIR.

use super::{
    arithmetic,
    dtype::DType,
    record::{Atomic, Block, NONE, Node, Op, Record, SHARED, Step, Subgroup},
};
use qd_dialects::{
    attributes,
    ir::{self, OpExt},
    melior::ir::{Type, r#type::MemRefType},
    ops::{SubgroupFill, grid, simt},
};
use qd_frontend::builder::{Algorithm, Builder, Combiner, Kind, Order, Parameter, V, Workspace};
use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    ops::Range,
};

/// Elements from which on a thread of a short loop does two.
const MANY: i64 = 1 << 20;
/// Nodes of a short loop.
const SHORT: usize = 40;

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
            Op::Task(_) | Op::For | Op::If | Op::Else | Op::While | Op::Do
        ) {
            open.push(i);
        }
    }
    partners
}

/// Whether the rounds of a loop are a few accesses to memory, and what is computed between.
fn is_short(nodes: &[Node]) -> bool {
    let is_simple = |node: &Node| {
        use Op::*;
        let effect = matches!(node.op, Return(_) | PrintValue | Print(_) | Assert(_));
        !effect && !matches!(node.op, For | If | While | Subgroup(..) | Block(..))
    };
    nodes.len() <= SHORT && nodes.iter().all(is_simple)
}

/// The arrays of which each round of a loop accesses the element with its own number, and no other: nothing else does meanwhile, so that
/// atomics on them need not be.
fn owned(record: &Record, task: usize, end: usize) -> HashSet<u32> {
    let inner = &record.nodes[task + 1..end];
    let set = inner.iter().filter(|node| node.op == Op::Set);
    let set: HashSet<u32> = set.map(|node| node.operands[0]).collect();
    let is_number = |value: u32| {
        let node = record.nodes[value as usize];
        let variable = node.operands[0];
        let is_of_task = || record.nodes[variable as usize].operands[0] as usize == task;
        node.op == Op::Get && !set.contains(&variable) && is_of_task()
    };
    let (mut owned, mut others) = (HashSet::new(), HashSet::new());
    for node in inner {
        use Op::*;
        if let Load(array) | Store(array) | Atomic(array, _) | CompareExchange(array) = node.op {
            match is_number(node.operands[0]) {
                true => owned.insert(array),
                false => others.insert(array),
            };
        }
    }
    match record.overlapping {
        true => HashSet::new(),
        false => owned.difference(&others).copied().collect(),
    }
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

/// How an atomic combines values of a type; none if it exchanges them.
fn kind(atomic: Atomic, dtype: DType) -> Option<Kind> {
    let of = |real, signed, unsigned| match (dtype.is_real(), dtype.is_signed()) {
        (true, _) => real,
        (_, true) => signed,
        _ => unsigned,
    };
    Some(match atomic {
        Atomic::Add => Kind::Add,
        Atomic::Mul => Kind::Mul,
        Atomic::Min => of(Kind::MinNumF, Kind::MinSi, Kind::MinUi),
        Atomic::Max => of(Kind::MaxNumF, Kind::MaxSi, Kind::MaxUi),
        Atomic::And => Kind::And,
        Atomic::Or => Kind::Or,
        Atomic::Xor => Kind::Xor,
        Atomic::Exchange => return None,
    })
}

/// The parts of a node of a subgroup's operation.
type Parts = (Subgroup, Option<Atomic>, Option<u32>);

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
    /// The arrays that are [`owned`] in the present task.
    own: RefCell<HashSet<u32>>,
}

impl<'b, 'c> Lowering<'b, 'c, '_> {
    fn tasks(&self) {
        let mut i = 0;
        while i < self.record.nodes.len() {
            let node = self.record.nodes[i];
            if let Op::Algorithm(number) = node.op {
                self.locate(node);
                self.algorithm(node, &self.record.algorithms[number as usize]);
            }
            let Op::Task(threads) = node.op else {
                i += 1;
                continue;
            };
            self.locate(node);
            let end = self.partners[i];
            let [first, last] = [node.operands[0], node.operands[1]].map(|o| self.value(o));
            // In 64 bits: the difference of two i32 may not be one.
            let wide = |v| arithmetic::converted(v, DType::I32, DType::I64);
            let count = (wide(last) - wide(first)).max_signed(0).to_index();
            let name = format!("{}:{}", self.record.name, node.at.0);
            match threads {
                0 => self.elements(i, end, &name, count),
                _ => self.blocks(i, end, &name, count, threads),
            }
            self.values.borrow_mut().fill(None);
            i = end + 1;
        }
    }

    /// A task in which each thread has a number.
    fn elements(&self, task: usize, end: usize, name: &str, count: V<'b, 'c>) {
        let first = self.record.nodes[task].operands[0];
        let inner = task + 1..end;
        self.own.replace(owned(self.record, task, end));
        let round = |place| {
            self.number(task, first, place);
            self.walk(inner.clone());
        };
        let each = match self.pairs && is_short(&self.record.nodes[inner.clone()]) {
            true => self.pairs(name, count, round),
            false => self.b.for_each(name, count, None, round),
        };
        self.number.set(None);
        self.own.take();
        let mut nodes = self.record.nodes[inner].iter();
        if nodes.any(|node| matches!(node.op, Op::Subgroup(..))) {
            let partial = SubgroupFill::Partial.attribute(self.b.context());
            each.set_attr("subgroups", partial);
        }
    }

    /// A loop whose threads do two rounds where it has many: the loads of both are under way at once.
    fn pairs(&self, name: &str, count: V<'b, 'c>, round: impl Fn(V<'b, 'c>)) -> ir::Op<'c> {
        let half = (count + 1).div_signed(self.b.index(2));
        let threads = count.slt(MANY).select(count, half);
        self.b.for_each(name, threads, None, |place| {
            let other = place + threads;
            let both = || {
                round(place);
                round(other);
                []
            };
            let one = || {
                round(place);
                []
            };
            let [] = self.b.if_else(other.slt(count), both, one);
        })
    }

    /// Defines the number of a thread's round, of those from `first` on.
    fn number(&self, task: usize, first: u32, place: V<'b, 'c>) {
        let is_place = self.record.nodes[first as usize].op == Op::Constant(0);
        let number = match is_place {
            true => place.to_i32(),
            false => self.value(first) + place.to_i32(),
        };
        self.define(task, number);
        self.number.set(is_place.then_some((number, place)));
    }

    /// A task whose threads are in blocks of so many.
    fn blocks(&self, task: usize, end: usize, name: &str, count: V<'b, 'c>, threads: u32) {
        let b = self.b;
        let threads = i64::from(threads);
        let blocks = (count + (threads - 1)).div_signed(b.index(threads));
        b.phase(name, blocks, threads, || {
            let place = b.block_id() * threads + b.thread_id();
            let is_there = place.slt(count);
            self.is_there.set(Some(is_there));
            for node in &self.record.nodes[task + 1..end] {
                if let Op::Shared(number) = node.op {
                    let (dtype, length) = self.record.shared[number as usize];
                    let array = b.shared(arithmetic::stored_type(b, dtype), length.into());
                    self.shared.borrow_mut().insert(number, array);
                }
            }
            let place = is_there.select(place, count - 1);
            let first = self.record.nodes[task].operands[0];
            self.number(task, first, place);
            self.walk(task + 1..end);
        });
        self.is_there.set(None);
        self.number.set(None);
    }

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

    /// A value of these, and another one of the others.
    fn or_neutral(&self, value: V<'b, 'c>, neutral: impl FnOnce() -> V<'b, 'c>) -> V<'b, 'c> {
        match self.is_there.get() {
            Some(is_there) => is_there.select(value, neutral()),
            None => value,
        }
    }

    /// An operation of a block; none of one without a value.
    fn block(&self, node: Node, operation: Block, combine: Option<Atomic>) -> Option<V<'b, 'c>> {
        let b = self.b;
        Some(match operation {
            Block::Sync => {
                b.sync();
                return None;
            }
            Block::MemFence => {
                b.op(simt::BlockMemFence::NAME, &[], &[], &[]);
                return None;
            }
            Block::GridFence => {
                b.op(grid::MemFence::NAME, &[], &[], &[]);
                return None;
            }
            Block::ThreadId => b.thread_id().to_i32(),
            Block::GlobalThreadId => (b.block_id() * b.block_dim() + b.thread_id()).to_i32(),
            Block::Reduce | Block::ReduceAll | Block::InclusiveScan | Block::ExclusiveScan => {
                let kind = combine.and_then(|combine| kind(combine, node.dtype));
                let kind = kind.expect("a combination that is recorded");
                let value = self.value(node.operands[0]);
                let combiner = Combiner::kind(b.context(), kind, value.ty());
                let value = self.or_neutral(value, || combiner.neutral(b)[0]);
                let [value] = b.combine(operation.name(), &combiner, [value]);
                value
            }
        })
    }

    fn algorithm(&self, node: Node, step: &Step) {
        let b = self.b;
        let array = |at: usize| self.arguments[step.arrays[at] as usize];
        let first = |at: usize| self.place(array(at), b.index(0));
        let dtype = |at: usize| self.record.arguments[step.arrays[at] as usize].dtype;
        let combiner = |at: usize| {
            let kind = step.combine.and_then(|combine| kind(combine, dtype(at)));
            let kind = kind.expect("an algorithm that combines says how");
            Combiner::kind(b.context(), kind, array(at).element())
        };
        let count = self.place(self.arguments[step.count as usize], self.index(node));
        let scratch = self.arguments[step.scratch as usize];
        let mut workspace = Workspace::new(scratch, count, step.log256_max_n as i32);
        if step.is_deterministic {
            workspace = workspace.deterministic();
        }
        match step.algorithm {
            Algorithm::Reduce => b.reduce(&combiner(0), array(0), first(1), &workspace),
            Algorithm::ExclusiveScan => {
                b.exclusive_scan(&combiner(0), array(0), array(1), &workspace)
            }
            Algorithm::Select => b.select(array(0), array(1), array(2), first(3), &workspace),
            Algorithm::ReduceByKey => {
                let (inputs, outputs) = ([array(0), array(1)], [array(2), array(3)]);
                b.reduce_by_key(&combiner(1), inputs, outputs, first(4), &workspace)
            }
            Algorithm::Sort => {
                let is_unsigned = !dtype(0).is_real() && !dtype(0).is_signed();
                let order = match is_unsigned {
                    true => Order::unsigned(),
                    false => Order::signed(),
                };
                let order = match step.end_bit {
                    Some(bits) => order.low_bits(bits as i32),
                    None => order,
                };
                match step.arrays.len() {
                    2 => b.sort(array(0), array(1), order, &workspace),
                    _ => {
                        let (keys, values) = ([array(0), array(1)], [array(2), array(3)]);
                        b.sort_pairs(keys, values, order, &workspace)
                    }
                }
            }
            _ => unreachable!("the recorder names no other algorithm"),
        };
    }

    /// An operation of a subgroup; none of one without a value.
    fn subgroup(&self, node: Node, (operation, combine, tile): Parts) -> Option<V<'b, 'c>> {
        let b = self.b;
        let operand = |at: usize| self.value(node.operands[at]);
        let tile = tile.map(|log2| ("tile", attributes::i32(b.context(), log2 as i32)));
        let tile: Vec<_> = tile.into_iter().collect();
        let name = format!("{}{}", simt::PREFIX, operation.name());
        let bit = || b.int_type(1);
        Some(match operation {
            Subgroup::Sync | Subgroup::MemFence => {
                b.op(&name, &[], &[], &[]);
                return None;
            }
            Subgroup::LaneId => b.lane_id(),
            Subgroup::Elect => b.result(&name, &[], bit(), &[]),
            Subgroup::Shuffle
            | Subgroup::ShuffleUp
            | Subgroup::ShuffleDown
            | Subgroup::ShuffleXor => b.shuffle(operation.name(), operand(0), operand(1)),
            Subgroup::Broadcast => {
                let value = operand(0);
                b.result(&name, &[value, operand(1)], value.ty(), &[])
            }
            Subgroup::BroadcastFirst => {
                let value = operand(0);
                b.result(&name, &[value], value.ty(), &[])
            }
            Subgroup::Ballot => b.ballot(self.or_neutral(operand(0), || b.bool(false))),
            Subgroup::All | Subgroup::Any => {
                let is_all = operation == Subgroup::All;
                let predicate = self.or_neutral(operand(0), || b.bool(is_all));
                b.result(&name, &[predicate], bit(), &tile)
            }
            Subgroup::AllEqual => b.result(&name, &[operand(0)], bit(), &tile),
            Subgroup::Reduce
            | Subgroup::ReduceAll
            | Subgroup::InclusiveScan
            | Subgroup::ExclusiveScan
            | Subgroup::SegmentedReduce => {
                let dtype = self.record.nodes[node.operands[0] as usize].dtype;
                let kind = combine.and_then(|combine| kind(combine, dtype));
                let kind = kind.expect("a combination that is recorded");
                let value = operand(0);
                let combiner = Combiner::kind(b.context(), kind, value.ty());
                let value = self.or_neutral(value, || combiner.neutral(b)[0]);
                let mut operands = vec![value.value()];
                if operation == Subgroup::SegmentedReduce {
                    operands.push(operand(1).value());
                }
                let op = b.insert(combiner.build(&name, b.location(), &operands));
                for (name, value) in tile {
                    op.set_attr(name, value);
                }
                b.v(op.first_result())
            }
        })
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
            Op::Load(array) => {
                let value = self.array(array).at(self.index(node));
                match node.dtype {
                    DType::U1 => value.ne(0),
                    _ => value,
                }
            }
            Op::Atomic(array, atomic) => {
                let scope = Self::scope(array);
                let is_own = self.own.borrow().contains(&array);
                let array = self.array(array);
                let (index, value) = (self.index(node), operand(b));
                if is_own {
                    let old = array.at(index);
                    if let Some(new) = combined(atomic, old, value) {
                        array.set(index, new);
                        return old;
                    }
                }
                self.value_if_there(value.ty(), || match kind(atomic, node.dtype) {
                    Some(kind) => array.atomic(kind, index, value, scope),
                    None => array.atomic_exchange(index, value, scope),
                })
            }
            Op::CompareExchange(array) => {
                let scope = Self::scope(array);
                let array = self.array(array);
                let (index, expected, desired) = (self.index(node), operand(b), operand(c));
                self.value_if_there(desired.ty(), || {
                    array.atomic_cas(index, expected, desired, scope)
                })
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
            | Op::Task(_)
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
