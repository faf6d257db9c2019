//! Buffers: loads, stores, lengths, views, shared arrays, atomics.

use super::{Builder, V};
use crate::{
    attributes::{self, Kind},
    ir::{self, OpExt, Value},
    ops::{grid, simt},
};
use melior::ir::{
    Attribute, ShapedTypeLike, Type, attribute::DenseI32ArrayAttribute, r#type::MemRefType,
};

/// Rows of this many scalars and more are copied by a loop.
const UNROLLED: i64 = 17;

impl<'b, 'c> V<'b, 'c> {
    /// The element type of this buffer.
    pub fn element(self) -> Type<'c> {
        ir::element_type(self.ty()).expect("a buffer")
    }

    /// Its number of elements (rows).
    pub fn len(self) -> V<'b, 'c> {
        let b = self.builder();
        b.result("memref.dim", &[self, b.index(0)], b.index_type(), &[])
    }

    /// Element `i`.
    pub fn at(self, i: V<'b, 'c>) -> V<'b, 'c> {
        self.load(&[i])
    }

    /// Element `i` of the type `to`, which has the same width.
    pub fn at_as(self, i: V<'b, 'c>, to: Type<'c>) -> V<'b, 'c> {
        self.at(i).bitcast(to)
    }

    /// Sets element `i`, whose bits are `value`'s.
    pub fn set(self, i: V<'b, 'c>, value: V<'b, 'c>) {
        self.store(&[i], value.bitcast(self.element()));
    }

    /// The one element of a rank-0 buffer.
    pub fn get(self) -> V<'b, 'c> {
        self.load(&[])
    }

    /// The first element: the only one of a rank-0 buffer.
    pub fn first(self) -> V<'b, 'c> {
        self.load(&self.first_index())
    }

    /// Sets the first element: the only one of a rank-0 buffer.
    pub fn set_first(self, value: V<'b, 'c>) {
        self.store(&self.first_index(), value);
    }

    fn first_index(self) -> Vec<V<'b, 'c>> {
        let shape = MemRefType::try_from(self.ty()).expect("a buffer");
        (0..shape.rank()).map(|_| self.builder().index(0)).collect()
    }

    /// An element, by one index a dimension.
    pub fn load(self, indices: &[V<'b, 'c>]) -> V<'b, 'c> {
        let mut operands = vec![self];
        operands.extend(indices);
        self.builder()
            .result("memref.load", &operands, self.element(), &[])
    }

    /// Sets an element, by one index a dimension.
    pub fn store(self, indices: &[V<'b, 'c>], value: V<'b, 'c>) {
        let mut operands: Vec<Value<'c>> = vec![value.value(), self.value()];
        operands.extend(indices.iter().map(|i| i.value()));
        self.builder().op("memref.store", &operands, &[], &[]);
    }

    /// Prefetches element `i`, which exists: a hint.
    pub fn prefetch(self, i: V<'b, 'c>) {
        /// Of 3: moderate temporal locality.
        const LOCALITY: i32 = 2;
        let b = self.builder();
        let attributes = [
            ("isWrite", attributes::bool(b.context(), false)),
            ("localityHint", attributes::i32(b.context(), LOCALITY)),
            ("isDataCache", attributes::bool(b.context(), true)),
        ];
        let operands = [self.value(), i.value()];
        b.op("memref.prefetch", &operands, &[], &attributes);
    }

    /// Scalars in each row of a buffer with a trailing static dimension; none if
    /// its elements are scalars themselves.
    pub fn row_length(self) -> Option<i64> {
        ir::row_length(self.ty())
    }

    /// Sets element (row) `i` to element `j` of `from`, which has the same type.
    pub fn copy_element(self, i: V<'b, 'c>, from: V<'b, 'c>, j: V<'b, 'c>) {
        let b = self.builder();
        match self.row_length() {
            None => self.store(&[i], from.load(&[j])),
            Some(length @ ..UNROLLED) => {
                // All loads first, so that they overlap.
                let columns: Vec<_> = (0..length).map(|column| b.index(column)).collect();
                let row: Vec<_> = columns.iter().map(|c| from.load(&[j, *c])).collect();
                for (column, value) in columns.into_iter().zip(row) {
                    self.store(&[i, column], value);
                }
            }
            Some(length) => {
                b.for_(
                    b.index(0),
                    b.index(length),
                    b.index(1),
                    [],
                    |column, none| {
                        self.store(&[i, column], from.load(&[j, column]));
                        none
                    },
                );
            }
        }
    }

    /// `size` elements from element `offset` on, as buffer of `element`.
    pub fn view(self, offset: V<'b, 'c>, size: V<'b, 'c>, element: Type<'c>) -> V<'b, 'c> {
        let b = self.builder();
        b.result(
            grid::View::NAME,
            &[self, offset, size],
            b.buffer_type(element),
            &[],
        )
    }

    /// Combines `value` into element `i` atomically, relaxed, and yields what it
    /// held before. `scope`: `block` or `device`.
    pub fn atomic(self, kind: Kind, i: V<'b, 'c>, value: V<'b, 'c>, scope: &str) -> V<'b, 'c> {
        self.rmw(kind, i, value, scope, "relaxed")
    }

    /// The same with acquire and release order: later acquirers see the thread's earlier
    /// writes, and it sees those of earlier releasers.
    pub fn atomic_acq_rel(
        self,
        kind: Kind,
        i: V<'b, 'c>,
        value: V<'b, 'c>,
        scope: &str,
    ) -> V<'b, 'c> {
        self.rmw(kind, i, value, scope, "acq_rel")
    }

    fn rmw(
        self,
        kind: Kind,
        i: V<'b, 'c>,
        value: V<'b, 'c>,
        scope: &str,
        order: &str,
    ) -> V<'b, 'c> {
        let b = self.builder();
        let [scope, order] = b.ordered(scope, order);
        b.result(
            grid::AtomicRmw::NAME,
            &[value, self, i],
            value.ty(),
            &[("kind", kind.attribute(b.context())), scope, order],
        )
    }

    /// Element `i`, loaded atomically, relaxed.
    pub fn atomic_at(self, i: V<'b, 'c>, scope: &str) -> V<'b, 'c> {
        let b = self.builder();
        let relaxed = b.ordered(scope, "relaxed");
        b.result(grid::AtomicLoad::NAME, &[self, i], self.element(), &relaxed)
    }

    /// Sets element `i` atomically, relaxed.
    pub fn atomic_set(self, i: V<'b, 'c>, value: V<'b, 'c>, scope: &str) {
        let b = self.builder();
        let operands = [value, self, i].map(|v| v.value());
        b.op(
            grid::AtomicStore::NAME,
            &operands,
            &[],
            &b.ordered(scope, "relaxed"),
        );
    }

    /// The same with release order: who acquires it sees the thread's earlier writes.
    pub fn atomic_release(self, i: V<'b, 'c>, value: V<'b, 'c>, scope: &str) {
        let b = self.builder();
        let operands = [value, self, i].map(|v| v.value());
        b.op(
            grid::AtomicStore::NAME,
            &operands,
            &[],
            &b.ordered(scope, "release"),
        );
    }

    /// Sets element `i` atomically, relaxed, and yields what it held before.
    pub fn atomic_exchange(self, i: V<'b, 'c>, value: V<'b, 'c>, scope: &str) -> V<'b, 'c> {
        let b = self.builder();
        b.result(
            grid::AtomicExchange::NAME,
            &[value, self, i],
            self.element(),
            &b.ordered(scope, "relaxed"),
        )
    }

    /// Sets element `i` to `desired` if it is `expected`, relaxed, and yields what it held
    /// before.
    pub fn atomic_cas(
        self,
        i: V<'b, 'c>,
        expected: V<'b, 'c>,
        desired: V<'b, 'c>,
        scope: &str,
    ) -> V<'b, 'c> {
        let b = self.builder();
        b.result(
            grid::AtomicCas::NAME,
            &[expected, desired, self, i],
            self.element(),
            &b.ordered(scope, "relaxed"),
        )
    }
}

impl<'c> Builder<'c> {
    /// The attributes of an atomic.
    fn ordered(&self, scope: &str, order: &str) -> [(&'static str, Attribute<'c>); 2] {
        let case = |name, case| (name, attributes::case(self.context(), name, case));
        [case("scope", scope), case("order", order)]
    }

    /// `words` control words (`qd.grid.control`): `i32` that are 0 when the kernel begins,
    /// and must be left 0. At the top of a kernel or a loop.
    pub fn control(&self, words: i64) -> V<'_, 'c> {
        let r#type = Type::parse(self.context(), &format!("memref<{words}xi32>"));
        self.result(grid::Control::NAME, &[], r#type.expect("a buffer"), &[])
    }

    /// An array of `length` elements in the block's shared memory. At the top
    /// of a phase only.
    pub fn shared(&self, element: Type<'c>, length: i64) -> V<'_, 'c> {
        let r#type = Type::parse(
            self.context(),
            &format!("memref<{length}x{element}, #gpu.address_space<workgroup>>"),
        )
        .expect("a shared array of scalars");
        self.result(simt::BlockShared::NAME, &[], r#type, &[])
    }

    /// Sets `dest[lower … upper)`; a step of a kernel, like a phase.
    pub fn fill_range(
        &self,
        dest: V<'_, 'c>,
        lower: V<'_, 'c>,
        upper: V<'_, 'c>,
        value: V<'_, 'c>,
    ) {
        let operands = [dest, lower, upper, value].map(|v| v.value());
        let one_each = DenseI32ArrayAttribute::new(self.context(), &[1; 4]);
        let named = [("operandSegmentSizes", one_each.into())];
        self.op(grid::Fill::NAME, &operands, &[], &named);
    }

    /// The limit of a live count where there are `most` elements, in the type of the buffer
    /// that holds the count: `most`, or the largest of that type if that is less. For
    /// [`live_count`](Self::live_count), and computed by the host: a device then clamps in
    /// the width of the count, which may be half of that of `index`.
    pub fn count_limit<'b>(&'b self, count: V<'b, 'c>, most: V<'b, 'c>) -> V<'b, 'c> {
        let r#type = count.element();
        match crate::ir::bit_width(r#type) {
            // An index may be narrower.
            64 => most.cast(r#type),
            width => most.min((1 << (width - 1)) - 1).cast(r#type),
        }
    }

    /// The live count in a buffer of the device, as `index`: clamped to 0 and the limit.
    /// Read on the device: inside a phase only.
    pub fn live_count<'b>(&'b self, count: V<'b, 'c>, limit: V<'b, 'c>) -> V<'b, 'c> {
        let count = count.first();
        // No maximum with 0: where LLVM knows that a count is never negative it narrows some
        // of the arithmetic, and a sweep of 8-byte elements takes 74 registers for 72: an
        // occupancy of one block less.
        count
            .slt(0)
            .select(count.same(0), count.min(limit))
            .to_index()
    }

    /// A plain operation's first result, for what has no method here.
    pub fn first(&self, op: crate::ir::Op<'c>) -> V<'_, 'c> {
        self.v(op.first_result())
    }
}
