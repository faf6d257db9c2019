//! Least-significant-digit radix sort over long chunks, for latency-oriented
//! targets.
//!
//! For each digit of 8 bits, from the lowest:
//!
//! 1. *Histogram*: each block counts the digits of its chunk.
//! 2. *Offsets*: one block computes from the counts where each chunk's keys of
//!    each digit begin.
//! 3. *Scatter*: each block goes through its chunk in order and writes every key
//!    at its digit's next place.
//!
//! One thread of a block does this: the sort is stable because keys of one digit
//! arrive in order, and a core runs one thread at a time.
//!
//! Papers: Zagha & Blelloch, Radix Sort for Vector Multiprocessors (1991), in
//! its plain form of one thread a chunk.
//! Deviations: the table has a row for each chunk, since one block adds it up, a
//! thread for each digit. Keys go straight to the output: collecting them in
//! lines first costs more than it saves where a cache holds a line for each
//! digit.
//! Cost, per pass: reads each key twice and each value once, writes each once. 3
//! phases a pass, whatever the depth.

use super::{DIGITS, Pass, Sort};
use crate::algorithms::{
    chunks::{self, Chunk},
    levels::BLOCK,
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::Result,
    ir::Op,
};

/// Builds 3 phases for each digit.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<'c> {
    let sort = Sort::of(b, op);
    let capacity = sort.count.capacity;
    let blocks = chunks::most(capacity);
    sort.for_passes(b, capacity, |pass| {
        b.phase(&pass.name("histogram"), blocks, BLOCK, || histogram(&pass));
        b.phase(&pass.name("offsets"), b.index(1), BLOCK, || offsets(&pass));
        b.phase(&pass.name("scatter"), blocks, BLOCK, || scatter(&pass));
    });
    Ok(())
}

/// This thread's entry in a chunk's row of the table.
fn entry<'b, 'c>(chunk: V<'b, 'c>) -> V<'b, 'c> {
    chunk * DIGITS + chunk.builder().thread_id()
}

/// Goes through a chunk in order, with the mapped keys and their digits.
fn in_order<'b, 'c>(
    pass: &Pass<'_, 'b, 'c>,
    chunk: &Chunk<'b, 'c>,
    each: impl FnOnce(V<'b, 'c>, V<'b, 'c>, V<'b, 'c>),
) {
    let visit = |i, none| {
        let key = pass.key(i);
        each(i, key, pass.digit_of(key).to_index());
        none
    };
    let b = pass.b;
    b.if_(b.thread_id().eq(0), || {
        chunk.in_order([], visit);
    });
}

fn histogram(pass: &Pass) {
    let Pass { b, sort, .. } = *pass;
    let counts = b.shared(b.int_type(32), DIGITS);
    let chunk = Chunk::of(b, sort.count.live());
    b.if_(chunk.any(false), || {
        let digit = b.thread_id();
        counts.set(digit, b.i32(0));
        b.sync();
        in_order(pass, &chunk, |_, _, digit| {
            counts.set(digit, counts.at(digit) + 1);
        });
        b.sync();
        sort.scratch.set(entry(b.block_id()), counts.at(digit));
    });
}

/// Replaces each count by the number of keys that have a smaller digit, or the
/// same digit in an earlier chunk.
fn offsets(pass: &Pass) {
    let Pass { b, sort, .. } = *pass;
    let chunk = Chunk::of(b, sort.count.live());
    let add = Combiner::kind(b.context(), Kind::Add, b.int_type(32));
    let (zero, one) = (b.index(0), b.index(1));
    let [keys] = b.for_(zero, chunk.number, one, [b.i32(0)], |row, [sum]| {
        [sum + sort.scratch.at(entry(row))]
    });
    let smaller = b.combine("block.exclusive_scan", &add, [keys]);
    b.for_(zero, chunk.number, one, smaller, |row, [before]| {
        let count = sort.scratch.at(entry(row));
        sort.scratch.set(entry(row), before);
        [before + count]
    });
}

fn scatter(pass: &Pass) {
    let Pass { b, sort, .. } = *pass;
    let next = b.shared(b.int_type(32), DIGITS);
    let chunk = Chunk::of(b, sort.count.live());
    b.if_(chunk.any(false), || {
        next.set(b.thread_id(), sort.scratch.at(entry(b.block_id())));
        b.sync();
        in_order(pass, &chunk, |i, key, digit| {
            let position = next.at(digit);
            next.set(digit, position + 1);
            pass.put(position.to_index(), key, i);
        });
    });
}
