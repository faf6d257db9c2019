//! Subgroup tiles: the elements that a subgroup takes together.

use crate::algorithms::tiles::rest;
use qd_dialects::builder::{Builder, V};

/// Consecutive elements of a subgroup, in a striped arrangement: neighbouring
/// lanes load neighbouring elements.
pub(in crate::algorithms) struct SubgroupTile<'b, 'c> {
    b: &'b Builder<'c>,
    /// Elements of a lane.
    pub items: i64,
    /// The index of its first element.
    pub start: V<'b, 'c>,
    /// How many of its elements exist, `i32`.
    pub length: V<'b, 'c>,
    /// Whether all of them exist.
    pub full: V<'b, 'c>,
}

impl<'b, 'c> SubgroupTile<'b, 'c> {
    /// From element `start` on, of `count`.
    pub fn new(b: &'b Builder<'c>, items: i64, start: V<'b, 'c>, count: V<'b, 'c>) -> Self {
        let size = Self::size_of(b, items);
        let length = rest(count, start).min(size.to_index()).to_i32();
        Self {
            b,
            items,
            start,
            length,
            full: length.eq(size),
        }
    }

    /// Elements of a subgroup tile, `i32`.
    pub fn size_of(b: &'b Builder<'c>, items: i64) -> V<'b, 'c> {
        b.subgroup_size() * items
    }

    /// The number of its elements, `i32`, including those that do not exist.
    pub fn size(&self) -> V<'b, 'c> {
        Self::size_of(self.b, self.items)
    }

    /// The place in it of this lane's `nth` element, `i32`.
    pub fn within(&self, nth: i64) -> V<'b, 'c> {
        self.b.lane_id() + self.b.subgroup_size() * nth
    }

    /// The index of that element.
    pub fn element(&self, nth: i64) -> V<'b, 'c> {
        let (lane, step) = (self.b.lane_id(), self.b.subgroup_size());
        self.start + lane.to_index() + step.to_index() * nth
    }

    /// Whether that element exists.
    pub fn exists(&self, nth: i64) -> V<'b, 'c> {
        let step = self.b.subgroup_size();
        (step * nth).slt(self.length - self.b.lane_id())
    }

    /// This lane's elements of each buffer; 0 where there are none.
    pub fn load(&self, buffers: &[V<'b, 'c>]) -> Vec<Vec<V<'b, 'c>>> {
        let each = buffers.iter();
        let each = each.flat_map(|buffer| (0..self.items).map(move |nth| (*buffer, nth)));
        let nothing = |(buffer, _): (V<'b, 'c>, i64)| self.b.zero(buffer.element());
        let loaded = self.of_each(
            each.collect(),
            |(buffer, nth)| buffer.at(self.element(nth)),
            |(_, nth)| self.exists(nth),
            nothing,
        );
        let each = loaded.chunks(self.items as usize);
        each.map(<[_]>::to_vec).collect()
    }

    /// A value for each element; in a full subgroup tile all exist.
    pub fn of_each<T: Copy>(
        &self,
        each: Vec<T>,
        there: impl Fn(T) -> V<'b, 'c>,
        exists: impl Fn(T) -> V<'b, 'c>,
        nothing: impl Fn(T) -> V<'b, 'c>,
    ) -> Vec<V<'b, 'c>> {
        let if_there = |one: T| {
            let [value] = self
                .b
                .if_else(exists(one), || [there(one)], || [nothing(one)]);
            value
        };
        let all = || each.iter().map(|one| there(*one)).collect::<Vec<_>>();
        let some = || each.iter().map(|one| if_there(*one)).collect();
        self.b.if_else(self.full, all, some)
    }
}
