//! Tiles of which a thread has several elements: loaded with neighbouring threads
//! side by side, a block's threads apart, and exchanged in shared memory where
//! a thread needs neighbours of its own.
//!
//! All of a thread's loads are under way at once.

use crate::targets::tuning::Tuning;
use qd_dialects::{
    builder::{Builder, V},
    ir::bit_width,
    melior::ir::Type,
};

/// Shared memory that a block may take.
pub(super) const SHARED_BYTES: u32 = 48 << 10;

/// Bytes of a scalar of each type.
pub(super) fn bytes(types: &[Type]) -> i64 {
    types.iter().map(|t| i64::from(bit_width(*t)) / 8).sum()
}

/// The form of tiles.
#[derive(Clone, Copy)]
pub(super) struct Tiles<'b, 'c> {
    b: &'b Builder<'c>,
    /// Threads of a block.
    pub threads: i64,
    /// Elements of a thread.
    pub items: i64,
    /// Elements of a tile.
    pub size: i64,
}

impl<'b, 'c> Tiles<'b, 'c> {
    /// Of this form.
    pub fn new(b: &'b Builder<'c>, tuning: &Tuning) -> Self {
        Self {
            b,
            threads: tuning.threads,
            items: tuning.items,
            size: tuning.size(),
        }
    }

    /// Tiles that so many elements make.
    pub fn number(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        (elements + (self.size - 1)) / self.size
    }

    /// Where this thread's `nth` element is, of those a block apart.
    pub fn apart(&self, nth: i64) -> V<'b, 'c> {
        self.b.thread_id() + nth * self.threads
    }

    /// Where it is, of neighbours.
    pub fn own(&self, nth: i64) -> V<'b, 'c> {
        self.b.thread_id() * self.items + nth
    }

    /// Shared arrays for a tile.
    pub fn shared(&self, types: &[Type<'c>]) -> Vec<V<'b, 'c>> {
        let array = |t: &Type<'c>| self.b.shared(*t, self.size);
        types.iter().map(array).collect()
    }

    /// Scalars of this thread's elements of the tile that begins at `start`, a
    /// block apart; `nothing` where there are no elements of `count`.
    pub fn load(
        &self,
        start: V<'b, 'c>,
        count: V<'b, 'c>,
        load: &dyn Fn(V<'b, 'c>) -> Vec<V<'b, 'c>>,
        nothing: &dyn Fn() -> Vec<V<'b, 'c>>,
    ) -> Vec<Vec<V<'b, 'c>>> {
        let b = self.b;
        let first = start + b.thread_id();
        let rest = rest(count, first);
        let i = |nth: i64| first + nth * self.threads;
        let all = b.if_else(
            (start + self.size).le(count),
            || (0..self.items).flat_map(|nth| load(i(nth))).collect(),
            || {
                let exists = |nth| rest.gt(nth * self.threads);
                let guarded = |nth| b.if_else(exists(nth), || load(i(nth)), nothing);
                (0..self.items).flat_map(guarded).collect::<Vec<_>>()
            },
        );
        let scalars = all.len() / self.items as usize;
        all.chunks(scalars).map(<[_]>::to_vec).collect()
    }

    /// From elements a block apart to neighbours.
    pub fn exchange(&self, arrays: &[V<'b, 'c>], values: &[Vec<V<'b, 'c>>]) -> Vec<Vec<V<'b, 'c>>> {
        for (nth, value) in (0..).zip(values) {
            store(arrays, self.apart(nth), value);
        }
        self.b.sync();
        (0..self.items)
            .map(|nth| load(arrays, self.own(nth)))
            .collect()
    }
}

/// Asks for the elements of a tile to come, as far ahead of the one that begins at
/// `start` as the tuning says.
pub(super) fn prefetch<'b, 'c>(
    tuning: &Tuning,
    buffers: &[V<'b, 'c>],
    start: V<'b, 'c>,
    count: V<'b, 'c>,
) {
    if tuning.ahead > 0 {
        let first = start + tuning.ahead * tuning.size();
        prefetch_tile(tuning, buffers, first, count);
    }
}

/// Asks for the elements of the tile that begins at `first`.
pub(super) fn prefetch_tile<'b, 'c>(
    tuning: &Tuning,
    buffers: &[V<'b, 'c>],
    first: V<'b, 'c>,
    count: V<'b, 'c>,
) {
    /// Bytes that come together.
    const LINE: i64 = 128;
    let b = first.builder();
    for buffer in buffers {
        let of_line = LINE / bytes(&[buffer.element()]);
        let lines = (tuning.size() + (of_line - 1)) / of_line;
        for nth in 0..(lines + (tuning.threads - 1)) / tuning.threads {
            let line = b.thread_id() + nth * tuning.threads;
            let i = first + line * of_line;
            b.if_(line.lt(lines) & i.lt(count), || buffer.prefetch(i));
        }
    }
}

/// How many elements of `count` there are from `first` on: what is compared with
/// constants, where each element's own number would take a register.
pub(super) fn rest<'b, 'c>(count: V<'b, 'c>, first: V<'b, 'c>) -> V<'b, 'c> {
    count.max(first) - first
}

/// An element of several arrays.
pub(super) fn load<'b, 'c>(arrays: &[V<'b, 'c>], at: V<'b, 'c>) -> Vec<V<'b, 'c>> {
    arrays.iter().map(|array| array.at(at)).collect()
}

/// Sets an element of several arrays.
pub(super) fn store<'b, 'c>(arrays: &[V<'b, 'c>], at: V<'b, 'c>, values: &[V<'b, 'c>]) {
    for (array, value) in arrays.iter().zip(values) {
        array.set(at, *value);
    }
}
