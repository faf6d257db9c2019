//! Tiles of which a thread has several elements. Loads are striped: neighbouring
//! threads load neighbouring elements, and a thread's own are a block's threads
//! apart. Where a thread needs a blocked arrangement, consecutive elements of its
//! own, they are exchanged in shared memory.
//!
//! All of a thread's loads are in flight at once.

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
    let of = |t: &Type| i64::from(bit_width(*t).div_ceil(8));
    types.iter().map(of).sum()
}

/// The shape of tiles.
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
    /// From a tuning.
    pub fn new(b: &'b Builder<'c>, tuning: &Tuning) -> Self {
        Self {
            b,
            threads: tuning.threads,
            items: tuning.items,
            size: tuning.size(),
        }
    }

    /// Tiles that `elements` elements make.
    pub fn number(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        (elements + (self.size - 1)) / self.size
    }

    /// The place of this thread's `nth` element in a striped arrangement.
    pub fn striped(&self, nth: i64) -> V<'b, 'c> {
        self.b.thread_id() + nth * self.threads
    }

    /// Its place in a blocked arrangement.
    pub fn blocked(&self, nth: i64) -> V<'b, 'c> {
        self.b.thread_id() * self.items + nth
    }

    /// Shared arrays for a tile.
    pub fn shared(&self, types: &[Type<'c>]) -> Vec<V<'b, 'c>> {
        let array = |t: &Type<'c>| self.b.shared(*t, self.size);
        types.iter().map(array).collect()
    }

    /// Scalars of this thread's elements, in a striped arrangement, of the tile
    /// that begins at `start`; `nothing` beyond the `count` elements.
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

    /// From a striped to a blocked arrangement.
    pub fn exchange(&self, arrays: &[V<'b, 'c>], values: &[Vec<V<'b, 'c>>]) -> Vec<Vec<V<'b, 'c>>> {
        for (nth, value) in (0..).zip(values) {
            store(arrays, self.striped(nth), value);
        }
        self.b.sync();
        (0..self.items)
            .map(|nth| load(arrays, self.blocked(nth)))
            .collect()
    }
}

/// Prefetches a later tile: the tuning's prefetch distance after the one that
/// begins at `start`.
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

/// Prefetches the tile that begins at `first`.
pub(super) fn prefetch_tile<'b, 'c>(
    tuning: &Tuning,
    buffers: &[V<'b, 'c>],
    first: V<'b, 'c>,
    count: V<'b, 'c>,
) {
    /// Bytes of a cache line.
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

/// The number of elements from `first` on, of `count`. It is compared with
/// constants, where each element's index would take a register.
pub(super) fn rest<'b, 'c>(count: V<'b, 'c>, first: V<'b, 'c>) -> V<'b, 'c> {
    count.max(first) - first
}

/// An element of several arrays.
pub(super) fn load<'b, 'c>(arrays: &[V<'b, 'c>], at: V<'b, 'c>) -> Vec<V<'b, 'c>> {
    arrays.iter().map(|array| array.at(at)).collect()
}

/// Stores an element of several arrays.
pub(super) fn store<'b, 'c>(arrays: &[V<'b, 'c>], at: V<'b, 'c>, values: &[V<'b, 'c>]) {
    for (array, value) in arrays.iter().zip(values) {
        array.set(at, *value);
    }
}
