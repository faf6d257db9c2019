//! Reductions and scans of a block by shared memory alone: no value goes from lane to lane, so that it does not
//! matter how many lanes a subgroup has.
//!
//! A reduction is a tree of neighbours, each level with half the threads of the one before. A scan is that of
//! Hillis and Steele. Either takes one barrier a level: values go from one array to another and back, so that no
//! level writes what another thread still reads.
//!
//! Cost: log2 of the threads in levels, and shared memory for two values a thread, of a reduction for one and a half.

use super::{
    Setting,
    block::Block,
    fold::{Fold, raw},
};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::Result,
    ir::{Op, Value},
};

/// Two arrays for each of a thread's values, which are written by turns.
struct Turns<'b, 'c> {
    arrays: [Vec<V<'b, 'c>>; 2],
    /// Which of them is written next.
    next: usize,
}

impl<'b, 'c> Turns<'b, 'c> {
    fn new(b: &'b Builder<'c>, block: &Block<'c>, values: &[V<'b, 'c>], lengths: [i64; 2]) -> Self {
        let array = |length| {
            let of_value = |value: &V<'b, 'c>| block.shared(b, value.ty(), length);
            values.iter().map(of_value).collect()
        };
        let arrays = lengths.map(array);
        block.settle(b);
        Self { arrays, next: 0 }
    }

    /// Values of the array that was written last.
    fn load(&self, at: V<'b, 'c>) -> Vec<V<'b, 'c>> {
        let last = self.arrays[1 - self.next].iter();
        last.map(|array| array.at(at)).collect()
    }

    fn store(&self, at: V<'b, 'c>, values: &[V<'b, 'c>]) {
        for (array, value) in self.arrays[self.next].iter().zip(values) {
            array.set(at, *value);
        }
    }

    /// Waits until all have written: what comes reads that and writes the other.
    fn swap(&mut self, b: &Builder<'c>) {
        b.sync();
        self.next = 1 - self.next;
    }
}

/// The combination of all, in every thread; of a reduction thread 0's alone is asked for.
pub(super) fn reduce<'c>(b: &Builder<'c>, op: Op<'c>, _: &Setting) -> Result<'c, Vec<Value<'c>>> {
    let (fold, block) = (Fold::of(op), Block::of(op)?);
    let values = fold.values(b, op);
    let thread = b.thread_id();
    let mut count = block.threads;
    let mut turns = Turns::new(b, &block, &values, [count, (count + 1) / 2]);
    turns.store(thread, &values);
    turns.swap(b);
    while count > 1 {
        let pairs = count / 2;
        let first = thread * 2;
        b.if_(thread.lt(pairs), || {
            let (left, right) = (turns.load(first), turns.load(first + 1));
            turns.store(thread, &fold.apply(b, &left, &right));
        });
        // The last one has no neighbour.
        if count % 2 != 0 {
            b.if_(thread.eq(pairs), || turns.store(thread, &turns.load(first)));
        }
        turns.swap(b);
        count -= pairs;
    }
    Ok(raw(&turns.load(b.index(0))))
}

pub(super) fn inclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let (fold, block) = (Fold::of(op), Block::of(op)?);
    Ok(raw(&scan(b, op, &fold, &block).1))
}

pub(super) fn exclusive_scan<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    _: &Setting,
) -> Result<'c, Vec<Value<'c>>> {
    let (fold, block) = (Fold::of(op), Block::of(op)?);
    let thread = b.thread_id();
    let (mut turns, inclusive) = scan(b, op, &fold, &block);
    turns.store(thread, &inclusive);
    turns.swap(b);
    let below = || turns.load(thread - 1);
    Ok(raw(&b.if_else(thread.gt(0), below, || fold.identity(b))))
}

/// The combination of the values up to each thread's, and arrays to go on with.
fn scan<'b, 'c>(
    b: &'b Builder<'c>,
    op: Op<'c>,
    fold: &Fold<'c>,
    block: &Block<'c>,
) -> (Turns<'b, 'c>, Vec<V<'b, 'c>>) {
    let mut values = fold.values(b, op);
    let thread = b.thread_id();
    let mut turns = Turns::new(b, block, &values, [block.threads; 2]);
    let mut distance = 1;
    while distance < block.threads {
        turns.store(thread, &values);
        turns.swap(b);
        let combined = || fold.apply(b, &turns.load(thread - distance), &values);
        values = b.if_else(thread.ge(distance), combined, || values.clone());
        distance *= 2;
    }
    (turns, values)
}
