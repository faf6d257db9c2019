//! Loops that are launches: whose threads do which rounds.

use super::{
    super::{
        arithmetic,
        dtype::DType,
        record::{Node, Op, Record},
    },
    Lowering,
};
use qd_dialects::{
    attributes,
    ir::{self, OpExt},
    ops::SubgroupFill,
};
use qd_frontend::builder::V;
use std::{collections::HashSet, ops::Range};

/// Elements from which on a thread of a short loop does two.
const MANY: i64 = 1 << 20;
/// Nodes of a short loop.
const SHORT: usize = 40;

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
        if let Load(array)
        | VolatileLoad(array)
        | Store(array)
        | Atomic(array, _)
        | CompareExchange(array) = node.op
        {
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

impl<'b, 'c> Lowering<'b, 'c, '_> {
    /// Writes all tasks.
    pub(super) fn tasks(&self) {
        let mut i = 0;
        while i < self.record.nodes.len() {
            let node = self.record.nodes[i];
            if let Op::Algorithm(number) = node.op {
                self.locate(node);
                self.algorithm(node, &self.record.algorithms[number as usize]);
            }
            let Op::Task(threads, meet) = node.op else {
                i += 1;
                continue;
            };
            self.locate(node);
            let end = self.partners[i];
            let [first, last] = [node.operands[0], node.operands[1]].map(|o| self.value(o));
            // In 64 bits: the difference of two i32 may not be one.
            let wide = |v| arithmetic::converted(v, DType::I32, DType::I64);
            let count = (wide(last) - wide(first)).max_signed(0).to_index();
            let mut names = self.record.names.iter();
            let name = match names.find(|(task, _)| *task as usize == i) {
                Some((_, name)) => name.clone(),
                None => format!("{}:{}", self.record.name, node.at.0),
            };
            match meet {
                false => self.elements(i, end, &name, count, threads),
                true => self.blocks(i, end, &name, count, threads),
            }
            self.values.borrow_mut().fill(None);
            i = end + 1;
        }
    }

    /// A task in which each thread has a number, in blocks of so many if that is not 0.
    fn elements(&self, task: usize, end: usize, name: &str, count: V<'b, 'c>, threads: u32) {
        let first = self.record.nodes[task].operands[0];
        let inner = task + 1..end;
        self.own.replace(owned(self.record, task, end));
        let each = match self.pairs && is_short(&self.record.nodes[inner.clone()]) {
            true => self.pairs(name, count, |places| {
                self.rounds(task, first, &inner, places)
            }),
            false => self.b.for_each(name, count, None, |place| {
                self.number(task, first, place);
                self.walk(inner.clone());
            }),
        };
        self.number.set(None);
        self.own.take();
        if threads > 0 {
            let threads = attributes::i64(self.b.context(), threads.into());
            each.set_attr("threads", threads);
        }
        let mut nodes = self.record.nodes[inner].iter();
        if nodes.any(|node| matches!(node.op, Op::Subgroup(..))) {
            let partial = SubgroupFill::Partial.attribute(self.b.context());
            each.set_attr("subgroups", partial);
        }
    }

    /// Rounds of a short loop by one thread, node by node: what one loads is under way before another stores, which may
    /// be to the same array. Such a loop has no control flow.
    fn rounds(&self, task: usize, first: u32, inner: &Range<usize>, places: &[V<'b, 'c>]) {
        let outside = self.values.borrow().clone();
        let begun = places.iter().map(|place| {
            self.values.replace(outside.clone());
            self.number(task, first, *place);
            (self.values.take(), self.number.get())
        });
        let mut begun: Vec<_> = begun.collect();
        for node in inner.clone() {
            for (values, number) in &mut begun {
                self.values.replace(std::mem::take(values));
                self.number.set(*number);
                self.step(node);
                *values = self.values.take();
            }
            self.store();
        }
        self.values.replace(outside);
    }

    /// A loop whose threads do two rounds where it has many.
    fn pairs(&self, name: &str, count: V<'b, 'c>, rounds: impl Fn(&[V<'b, 'c>])) -> ir::Op<'c> {
        let half = (count + 1).div_signed(self.b.index(2));
        let threads = count.slt(MANY).select(count, half);
        self.b.for_each(name, threads, None, |place| {
            let other = place + threads;
            let both = || {
                rounds(&[place, other]);
                []
            };
            // The lesser of the two is the first, which LLVM does not know. It would else load before the branch what both ways
            // load first, and wait there: saxpy, 2^26 elements on an H200, took 223 µs so, and 226 with one round.
            let one = || {
                rounds(&[place.min(other)]);
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
}
