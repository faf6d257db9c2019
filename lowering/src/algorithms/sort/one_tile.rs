//! The whole sort in one block and one launch, for what fits a tile.
//!
//! Keys stay in registers from pass to pass, and are exchanged through shared
//! memory by their ranks; values go with them. Of rows only the index goes
//! along, and rows are moved once, through the workspace.
//!
//! Paper: Satish, Harris & Garland, Designing Efficient Sorting Algorithms for
//! Manycore GPUs (2009), for the sort of a block.
//! Deviations: digits of 8 bits, ranked as in [`tile`](super::tile).
//! Cost: reads and writes each key and value once, rows twice. 1 launch.

use super::{
    DIGITS, RADIX_BITS, Sort,
    staged::{Shape, Staged},
    tile::{Layout, Ranking, THREADS},
};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
};

/// Builds a phase that does nothing if there are more keys than a tile holds.
pub(super) fn build<'b, 'c>(
    b: &'b Builder<'c>,
    sort: &Sort<'b, 'c>,
    shape: &Shape,
    capacity: V<'b, 'c>,
) {
    let fits = capacity.le(shape.size());
    let blocks = fits.select(capacity.min(b.index(1)), b.index(0));
    b.phase("sort.tile", blocks, THREADS, || {
        let words = shape.words_in_turn(b);
        let tile = OneTile {
            b,
            sort,
            shape,
            layout: Layout::new(b, shape.items),
            ranking: Ranking::new(b, words),
            words,
            count: sort.count.live(),
        };
        b.if_(tile.count.gt(0), || tile.run());
    });
}

struct OneTile<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    sort: &'a Sort<'b, 'c>,
    shape: &'a Shape,
    layout: Layout<'b, 'c>,
    ranking: Ranking<'b, 'c>,
    words: V<'b, 'c>,
    /// The live number of keys.
    count: V<'b, 'c>,
}

impl<'b, 'c> OneTile<'_, 'b, 'c> {
    fn run(&self) {
        let b = self.b;
        let initial = [self.keys(), self.payload()].concat();
        let passes = b.i32(self.sort.passes() as i32);
        let sorted = b.for_(b.i32(0), passes, b.i32(1), initial, |pass, items| {
            self.pass(pass, &items)
        });
        let (keys, payload) = sorted.split_at(self.shape.items as usize);
        self.write(keys, payload);
    }

    /// The places in the tile of this thread's items.
    fn items(&self) -> impl Iterator<Item = V<'b, 'c>> {
        (0..self.shape.items).map(|nth| self.layout.item(self.b.index(0), nth))
    }

    /// The place of an item, or of the last one that exists.
    fn existing(&self, i: V<'b, 'c>) -> V<'b, 'c> {
        i.min(self.count - 1)
    }

    /// Loads and maps the keys. Items beyond the last key rank after it.
    fn keys(&self) -> Vec<V<'b, 'c>> {
        let Sort { order, data, .. } = self.sort;
        let key = |i: V<'b, 'c>| {
            let key = order.map(data.keys.at(self.existing(i)));
            i.lt(self.count).select(key, key.same(-1))
        };
        self.items().map(key).collect()
    }

    /// The keys' payload: the bits of values, or the indices of rows.
    fn payload(&self) -> Vec<V<'b, 'c>> {
        let Some(values) = self.sort.data.values else {
            return Vec::new();
        };
        let bits = self.b.int_type(self.shape.value_bits.max(32));
        let payload = |i: V<'b, 'c>| match self.shape.value_bits {
            0 => i.to_i32(),
            _ => values.at_as(self.existing(i), bits),
        };
        self.items().map(payload).collect()
    }

    /// Sorts by a digit.
    fn pass(&self, pass: V<'b, 'c>, items: &[V<'b, 'c>]) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let (keys, payload) = items.split_at(self.shape.items as usize);
        let digit = |key: &V<'b, 'c>| {
            let shift = (pass * i64::from(RADIX_BITS)).cast(key.ty());
            ((*key >> shift) & (DIGITS - 1)).to_i32()
        };
        let digits: Vec<_> = keys.iter().map(digit).collect();
        self.ranking.clear();
        b.sync();
        digits
            .iter()
            .for_each(|digit| _ = self.ranking.count(*digit));
        b.sync();
        let add = Combiner::kind(b.context(), Kind::Add, b.int_type(32));
        let [start] = b.combine("block.exclusive_scan", &add, [self.ranking.total()]);
        self.ranking.begin(start);
        b.sync();
        let ranks = self.ranking.rank(&digits);
        let keys = self.exchange(keys, &ranks, self.sort.order.width());
        let payload = match payload {
            [] => Vec::new(),
            _ => self.exchange(payload, &ranks, self.shape.value_bits.max(32)),
        };
        [keys, payload].concat()
    }

    /// Exchanges items: each goes to the thread and item of its rank.
    fn exchange(&self, items: &[V<'b, 'c>], ranks: &[V<'b, 'c>], bits: u32) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let staged = Staged::new(self.words, self.shape, bits);
        // Earlier contents have been read.
        b.sync();
        staged.put(items, ranks);
        b.sync();
        let items = self.items().map(|i| staged.get(i)).collect();
        b.sync();
        items
    }

    fn write(&self, keys: &[V<'b, 'c>], payload: &[V<'b, 'c>]) {
        let b = self.b;
        let Sort {
            order, data, tmp, ..
        } = self.sort;
        let each = |write: &dyn Fn(usize, V<'b, 'c>)| {
            for (nth, i) in self.items().enumerate() {
                b.if_(i.lt(self.count), || write(nth, i));
            }
        };
        each(&|nth, i| data.keys.set(i, order.unmap(keys[nth])));
        let (Some(values), Some(workspace)) = (data.values, tmp.values) else {
            return;
        };
        if self.shape.value_bits > 0 {
            return each(&|nth, i| values.set(i, payload[nth]));
        }
        each(&|nth, i| workspace.copy_element(i, values, payload[nth].to_index()));
        // All rows have been read.
        b.sync();
        each(&|_, i| values.copy_element(i, workspace, i));
    }
}
