//! Look-back in the [fixed order](crate::algorithms::fixed_order), whichever words were
//! published when.
//!
//! A tile's prefix is that of its band, and the aggregates of the band's tiles before
//! it, from the left. The last tile of a band has no aggregate of its own to publish,
//! for no other needs it: its words have the band's.
//!
//! Deviations: a tile waits for all tiles of its band before it, and bands take the
//! place of tiles in the look-back. From the last band with a prefix it goes forwards,
//! as the prefix comes first in the order. Without bands a tile has hundreds of tiles to
//! combine one after the other, and waits for that.

use super::{
    Chain, Position, Window,
    descriptors::{Descriptors, Reading},
    status::Status,
};
use crate::algorithms::fixed_order::BAND;
use qd_dialects::builder::V;

/// Lanes whose values are loaded together; the smallest subgroup has as many.
const TOGETHER: i64 = 4;

impl<'b, 'c> Chain<'_, 'b, 'c> {
    /// Publishes a tile's aggregate for the tiles after it in its band.
    pub(super) fn publish_for_band(
        &self,
        tile: Position<'b, 'c>,
        leads: V<'b, 'c>,
        total: &[V<'b, 'c>],
    ) {
        let b = self.b;
        let is_read = !self.is_last(tile) & !ends_band(tile);
        b.if_(leads & is_read, || {
            let status = b.i32(Status::Aggregate as i32);
            self.publish(&self.descriptors(), tile, status, total);
        });
    }

    /// Waits for the exclusive prefix of the tile.
    pub(super) fn prefix_in_order(
        &self,
        descriptors: &Descriptors<'b, 'c>,
        tile: Position<'b, 'c>,
        leads: V<'b, 'c>,
        total: &[V<'b, 'c>],
    ) -> Vec<V<'b, 'c>> {
        let (b, combiner) = (self.b, self.combiner);
        let band = tile.number / BAND;
        let within = self.within_band(descriptors, tile.number, band * BAND);
        let publishes = leads & ends_band(tile) & !self.is_last(tile);
        let is_first = band.eq(0);
        b.if_(publishes, || {
            let all = combiner.apply(b, &within, total);
            let prefix = combiner.apply(b, &combiner.neutral(b), &all);
            let all = prefix.iter().zip(&all);
            let all: Vec<_> = all
                .map(|(prefix, all)| is_first.select(*prefix, *all))
                .collect();
            self.publish(descriptors, tile, self.status(is_first), &all);
        });
        let before = self.before_band(descriptors, band);
        b.if_(publishes & !is_first, || {
            let all = combiner.apply(b, &within, total);
            let prefix = combiner.apply(b, &before, &all);
            self.publish(descriptors, tile, b.i32(Status::Prefix as i32), &prefix);
        });
        combiner.apply(b, &before, &within)
    }

    /// The combination of the tiles from `first` to before `end`, of one band.
    fn within_band(
        &self,
        descriptors: &Descriptors<'b, 'c>,
        end: V<'b, 'c>,
        first: V<'b, 'c>,
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let state = [vec![first], self.combiner.exact_neutral(b)].concat();
        let state = b.while_(
            state,
            |state| state[0].slt(end),
            |state| {
                let values = self.aggregates(descriptors, state[0], end);
                let number = (end - state[0]).min_signed(b.subgroup_size());
                let upto = self.combine_lanes(&values, b.i32(0), number, state[1..].to_vec());
                [vec![state[0] + b.subgroup_size()], upto].concat()
            },
        );
        state[1..].to_vec()
    }

    /// Reads the aggregates of the tiles from `first` to before `end`, one a lane, until
    /// all are published.
    fn aggregates(
        &self,
        descriptors: &Descriptors<'b, 'c>,
        first: V<'b, 'c>,
        end: V<'b, 'c>,
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let tile = first + b.lane_id();
        let exists = tile.slt(end);
        let at = exists.select(tile, first).to_index();
        let read = || {
            let Reading { status, values } = descriptors.read(at);
            [vec![status], values].concat()
        };
        let state = b.while_(
            read(),
            |state| b.ballot(state[0].eq(Status::Nothing as i64)).ne(0),
            |_| read(),
        );
        let values = state[1..].iter().zip(self.combiner.exact_neutral(b));
        values
            .map(|(value, nothing)| exists.select(*value, nothing))
            .collect()
    }

    /// The combination of all bands before one.
    fn before_band(&self, descriptors: &Descriptors<'b, 'c>, band: V<'b, 'c>) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let last = |band: V<'b, 'c>| band * BAND + (BAND - 1);
        let window = |end: V<'b, 'c>| {
            let Window {
                values,
                prefixes,
                from,
            } = self.window(descriptors, end, &last);
            [vec![end, prefixes, from], values].concat()
        };
        let read = |state: &[V<'b, 'c>]| Window {
            values: state[3..].to_vec(),
            prefixes: state[1],
            from: state[2],
        };
        let found = b.while_(
            window(band),
            |state| state[1].eq(0),
            |state| window(state[0] - b.subgroup_size()),
        );
        let nothing = self.combiner.exact_neutral(b);
        let upto = self.combine_window(&read(&found), &nothing);
        let state = b.while_(
            [vec![found[0]], upto].concat(),
            |state| state[0].slt(band),
            |state| {
                let next = window(state[0] + b.subgroup_size());
                let upto = self.combine_window(&read(&next), &state[1..]);
                [vec![next[0]], upto].concat()
            },
        );
        state[1..].to_vec()
    }

    /// What is before a window and then the window. A prefix in it, which may have come
    /// since, is of all before it.
    fn combine_window(&self, window: &Window<'b, 'c>, before: &[V<'b, 'c>]) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let has_prefix = window.prefixes.ne(0);
        let before = before.iter().zip(self.combiner.exact_neutral(b));
        let before = before.map(|(v, nothing)| has_prefix.select(nothing, *v));
        let values = self.taken(window, self.combiner.exact_neutral(b));
        self.combine_lanes(&values, window.from, b.subgroup_size(), before.collect())
    }

    /// Combines the values of lanes from the left, after `before`. Some lanes before `from`
    /// and from `end` on are combined, too: they have nothing.
    fn combine_lanes(
        &self,
        values: &[V<'b, 'c>],
        from: V<'b, 'c>,
        end: V<'b, 'c>,
        before: Vec<V<'b, 'c>>,
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let from = (from / TOGETHER * TOGETHER).to_index();
        b.for_(
            from,
            end.to_index(),
            b.index(TOGETHER),
            before,
            |lane, before| {
                let of_lane = |nth: i64| {
                    let from = (lane + nth).to_i32();
                    let shuffled = values.iter().map(|v| b.shuffle("idx", *v, from));
                    shuffled.collect::<Vec<_>>()
                };
                let lanes: Vec<_> = (0..TOGETHER).map(of_lane).collect();
                let combine = |sum: Vec<_>, value: &Vec<_>| self.combiner.apply(b, &sum, value);
                lanes.iter().fold(before, combine)
            },
        )
    }
}

/// Whether a tile is the last of its band.
fn ends_band<'b, 'c>(tile: Position<'b, 'c>) -> V<'b, 'c> {
    (tile.number & (BAND - 1)).eq(BAND - 1)
}
