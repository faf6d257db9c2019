//! Packing: the flagged elements of a subgroup tile gather at its front, the others at
//! its back in reverse order, and both are written from there.

use super::{Compact, subgroup_tile::SubgroupTile};
use qd_dialects::builder::{Builder, V};

/// The flags of a subgroup's lanes.
#[derive(Clone, Copy)]
pub(in crate::algorithms) struct Flags<'b, 'c> {
    /// One bit a lane, `i64`.
    pub mask: V<'b, 'c>,
    /// Whether this lane's bit is set.
    pub own: V<'b, 'c>,
}

impl<'b, 'c> Flags<'b, 'c> {
    /// From the flag that each lane has loaded.
    pub fn new(b: &'b Builder<'c>, flag: V<'b, 'c>) -> Self {
        let own = flag.ne(0);
        Self {
            mask: b.ballot(own),
            own,
        }
    }
}

/// How a subgroup tile is packed.
pub(in crate::algorithms) struct Packed<'a, 'b, 'c> {
    subgroup_tile: &'a SubgroupTile<'b, 'c>,
    /// Where in the subgroup tile this lane's own elements go, `i32`.
    places: Vec<V<'b, 'c>>,
    /// How many are flagged, `i32`.
    pub flagged: V<'b, 'c>,
}

/// Where a packed subgroup tile is written from.
#[derive(Clone, Copy)]
pub(in crate::algorithms) enum Source<'b, 'c> {
    /// Packed in shared memory, from this place on, `i32`.
    Staged { array: V<'b, 'c>, from: V<'b, 'c> },
    /// Straight from the input, without staging.
    Input,
}

/// Where in the output a packed subgroup tile goes. Places are relative to an origin:
/// relative to a lane's first place they are constants, which take no registers.
struct Destination<'b, 'c> {
    /// Places before this one hold flagged elements, `i32`.
    flagged_end: V<'b, 'c>,
    /// Where the element at the origin goes, if it is flagged.
    flagged: V<'b, 'c>,
    others: Option<OthersDestination<'b, 'c>>,
}

struct OthersDestination<'b, 'c> {
    /// Places from here on hold unflagged elements, `i32`. None if these follow the
    /// flagged ones without a gap for elements that do not exist.
    begin: Option<V<'b, 'c>>,
    /// Where the element at the origin goes, if it is not flagged; later ones go before
    /// it.
    at_origin: V<'b, 'c>,
}

impl<'a, 'b, 'c> Packed<'a, 'b, 'c> {
    /// From the lanes' flags of each item.
    pub fn new(
        b: &'b Builder<'c>,
        subgroup_tile: &'a SubgroupTile<'b, 'c>,
        flags: &[Flags<'b, 'c>],
    ) -> Self {
        let lanes_below = b.lanemask_lt(b.lane_id());
        let opposite = subgroup_tile.size() - 1 - b.lane_id();
        let mut front = b.i32(0);
        let place = |(nth, flags): (i64, &Flags<'b, 'c>)| {
            let ahead = front + b.popcnt(flags.mask & lanes_below);
            front = front + b.popcnt(flags.mask);
            // From the back, by the number of unflagged elements before this one.
            let behind = opposite - b.subgroup_size() * nth + ahead;
            flags.own.select(ahead, behind)
        };
        let places = (0..).zip(flags).map(place).collect();
        Self {
            subgroup_tile,
            places,
            flagged: front,
        }
    }

    /// Puts this lane's elements where they go within the subgroup tile, which begins at
    /// `from` of a shared array.
    pub fn stage(&self, array: V<'b, 'c>, from: V<'b, 'c>, values: &[V<'b, 'c>]) {
        for (place, value) in self.places.iter().zip(values) {
            array.set((from + *place).to_index(), *value);
        }
    }

    /// Writes the flagged elements, of which `i32` as many stand before this subgroup
    /// tile, and the others after all `total` flagged ones, unless they are dropped.
    pub fn write(
        &self,
        compact: &Compact<'b, 'c>,
        source: Source<'b, 'c>,
        before: V<'b, 'c>,
        total: Option<V<'b, 'c>>,
    ) {
        let b = before.builder();
        let write = |full| self.write_if(compact, source, before, total, full);
        match total {
            None => write(true),
            Some(_) => b.either(self.subgroup_tile.full, || write(true), || write(false)),
        }
    }

    fn write_if(
        &self,
        compact: &Compact<'b, 'c>,
        source: Source<'b, 'c>,
        before: V<'b, 'c>,
        total: Option<V<'b, 'c>>,
        full: bool,
    ) {
        let b = before.builder();
        let output = compact.output;
        let to = |origin| self.destination(before, total, origin, full);
        match source {
            Source::Staged { array, from } => {
                let to = to(b.lane_id());
                for nth in 0..self.subgroup_tile.items {
                    deliver(b.subgroup_size() * nth, &to, |i| {
                        let at = from + self.subgroup_tile.within(nth);
                        output.set(i, array.at(at.to_index()));
                    });
                }
            }
            Source::Input => {
                let to = to(b.i32(0));
                for (nth, place) in (0..).zip(&self.places) {
                    deliver(*place, &to, |i| {
                        output.copy_element(i, compact.input, self.subgroup_tile.element(nth));
                    });
                }
            }
        }
    }

    /// For places relative to `origin`, possibly for full subgroup tiles alone.
    fn destination(
        &self,
        before: V<'b, 'c>,
        total: Option<V<'b, 'c>>,
        origin: V<'b, 'c>,
        full: bool,
    ) -> Destination<'b, 'c> {
        let subgroup_tile = self.subgroup_tile;
        let before = before.to_index();
        let missing = subgroup_tile.size() - subgroup_tile.length;
        Destination {
            flagged_end: self.flagged - origin,
            flagged: before + origin.to_index(),
            others: total.map(|total| OthersDestination {
                begin: (!full).then(|| self.flagged + missing - origin),
                at_origin: total.to_index()
                    + (subgroup_tile.start - before)
                    + (subgroup_tile.size() - 1 - origin).to_index(),
            }),
        }
    }
}

/// Writes the element at a place to its destination, if it has one.
fn deliver<'b, 'c>(place: V<'b, 'c>, to: &Destination<'b, 'c>, put: impl Fn(V<'b, 'c>)) {
    let b = place.builder();
    let is_flagged = place.slt(to.flagged_end);
    let flagged = to.flagged + place.to_index();
    let Some(others) = &to.others else {
        return b.if_(is_flagged, || put(flagged));
    };
    let either = || {
        let other = others.at_origin - place.to_index();
        put(is_flagged.select(flagged, other));
    };
    match others.begin {
        Some(begin) => b.if_(is_flagged | begin.sle(place), either),
        None => either(),
    }
}
