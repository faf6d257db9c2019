//! Tiles of which a thread has several elements: loaded with neighbouring threads
//! side by side, a block's threads apart, and exchanged in shared memory where
//! a thread needs neighbours of its own.
//!
//! A thread has an odd number of elements: in shared memory, the threads of a
//! subgroup then meet different banks. All of a thread's loads are under way at
//! once.

use super::levels::BLOCK;
use qd_dialects::{
    builder::{Builder, V},
    ir::bit_width,
    melior::ir::Type,
};

/// Threads of a block: with some 80 registers each, three blocks have room on a
/// core, and work while a fourth waits.
pub(super) const THREADS: i64 = BLOCK;

/// How many elements a thread has.
struct Tuning {
    /// Of what a thread holds of each element, at most.
    bytes: i64,
    items: i64,
}

/// Tiles of 20 to 40 KiB, so that loads under way hide their latency and what
/// there is to do once a tile weighs little. At least 5 items: the descriptors of
/// two tiles fit the scratch of any scan from there on.
const TUNINGS: &[Tuning] = &[
    Tuning {
        bytes: 4,
        items: 23,
    },
    Tuning {
        bytes: 8,
        items: 15,
    },
    Tuning {
        bytes: 12,
        items: 11,
    },
    Tuning {
        bytes: 16,
        items: 9,
    },
    Tuning {
        bytes: MOST_BYTES,
        items: 5,
    },
];

/// Bytes of an element that a thread holds, at most, for a tile to fit
/// [`SHARED_BYTES`].
pub(super) const MOST_BYTES: i64 = 32;

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
    /// For so many bytes of each element.
    pub fn of_bytes(b: &'b Builder<'c>, bytes: i64) -> Self {
        let tuning = TUNINGS.iter().find(|tuning| bytes <= tuning.bytes);
        let items = tuning.or(TUNINGS.last()).map_or(1, |tuning| tuning.items);
        Self {
            b,
            threads: THREADS,
            items,
            size: items * THREADS,
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
