//! Decoupled look-back: how each tile gets its exclusive prefix, the combination of
//! all tiles before it. Blocks wait for each other, so this is for targets with
//! forward progress: a block that has started also ends.
//!
//! A block takes a ticket, which is the number of its tile, and publishes the
//! tile's aggregate. One of its subgroups then looks back over the tiles before, as
//! many at a time as it has lanes. It combines aggregates until it meets a tile
//! whose prefix is published, and then publishes its own tile's prefix.
//!
//! Paper: Merrill & Garland, Single-pass Parallel Prefix Scan with Decoupled
//! Look-back (2016).
//! Deviations: tickets instead of block numbers, as CUB once did, since the order
//! in which blocks start is not specified. Every status word has a flag
//! ([`status`]), which needs neither fences nor wide atomics. A single tile
//! takes no ticket and touches no scratch. Combinations whose order is fixed are
//! [looked for](in_order) otherwise. A tile backs off before it looks back.

mod descriptors;
mod in_order;
pub(super) mod status;

use super::{
    levels::{BLOCK, tiles},
    partials::Partials,
    tiles::SHARED_BYTES,
};
use crate::targets::{Capabilities, ForwardProgress, Orientation, tuning::Tuning};
use descriptors::{Descriptors, Reading};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    ir::Op,
};
use status::Status;

/// Look-back over the tiles of a sweep.
pub(super) struct Chain<'a, 'b, 'c> {
    pub b: &'b Builder<'c>,
    pub combiner: &'a Combiner<'c>,
    /// Where the descriptors are kept, in a phase.
    pub partials: &'a dyn Fn() -> Partials<'b, 'c>,
    /// Whether tiles are combined in the [fixed order](super::fixed_order).
    pub in_order: bool,
    pub tuning: Tuning,
}

/// Whether look-back suits a target.
pub(super) fn suits(capabilities: &Capabilities) -> bool {
    capabilities.orientation == Orientation::Throughput
        && capabilities.forward_progress.is_promised()
        && capabilities.max_shared_bytes >= SHARED_BYTES
}

/// An error at an op that requests look-back on a target without forward progress.
pub(super) fn require<'c>(op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    if capabilities.forward_progress != ForwardProgress::None {
        return Ok(());
    }
    let what = format!(
        "asks for a strategy whose blocks wait for each other: target '{}' does not promise that \
         those waited for go on",
        capabilities.name
    );
    Err(Diagnostic::at(op, what))
}

/// A tile's number and the live number of tiles.
#[derive(Clone, Copy)]
pub(super) struct Position<'b, 'c> {
    /// `i32`.
    pub number: V<'b, 'c>,
    pub tiles: V<'b, 'c>,
}

/// What the lanes of a subgroup have read: one number a lane.
struct Window<'b, 'c> {
    values: Vec<V<'b, 'c>>,
    /// Mask of the lanes whose number has a prefix.
    prefixes: V<'b, 'c>,
    /// The last of them; lane 0 if there is none.
    from: V<'b, 'c>,
}

impl<'b, 'c> Chain<'_, 'b, 'c> {
    fn descriptors(&self) -> Descriptors<'b, 'c> {
        let scratch = (self.partials)();
        Descriptors::new(self.b, scratch, self.combiner, self.tuning.size())
    }

    /// Clears the descriptors of `most` tiles, or of as many as scratch has room
    /// for: it is as long as the live count needs. `name` is the algorithm's.
    pub fn clear(&self, name: &str, most: V<'b, 'c>) {
        let b = self.b;
        let descriptors = self.descriptors();
        let end = most.gt(1).select(descriptors.end(most), b.index(0));
        match descriptors.buffers().as_slice() {
            [buffer] => {
                let zero = b.zero(buffer.element());
                b.fill_range(*buffer, b.index(0), end.min(buffer.len()), zero);
            }
            buffers => {
                let name = format!("{name}.clear");
                b.phase(&name, tiles(end), BLOCK, || {
                    let i = b.block_id() * BLOCK + b.thread_id();
                    for buffer in buffers {
                        b.if_(i.lt(end.min(buffer.len())), || {
                            buffer.set(i, b.zero(buffer.element()));
                        });
                    }
                });
            }
        }
    }

    /// Takes a tile that no other block has. Tiles are taken in the order in which
    /// blocks start. Run by all threads of a block, which share the array `taken` of
    /// one `i32`.
    pub fn take(&self, taken: V<'b, 'c>, tiles: V<'b, 'c>) -> Position<'b, 'c> {
        let b = self.b;
        let number = status::take(b, taken, || {
            let ticket = || [self.descriptors().ticket()];
            let [number] = b.if_else(tiles.gt(1), ticket, || [b.i32(0)]);
            number
        });
        Position { number, tiles }
    }

    /// Publishes the aggregate of the block's own tile. Run by the subgroup that
    /// looks back; its leading lane has the value.
    pub fn publish_aggregate(&self, tile: Position<'b, 'c>, leads: V<'b, 'c>, total: &[V<'b, 'c>]) {
        let b = self.b;
        if self.in_order {
            return self.publish_for_band(tile, leads, total);
        }
        b.if_(leads & !self.is_last(tile), || {
            let status = self.status(tile.number.eq(0));
            self.publish(&self.descriptors(), tile, status, total);
        });
    }

    /// Waits for the exclusive prefix of the tile, in all lanes of the subgroup
    /// that has published the tile's aggregate.
    pub fn wait(
        &self,
        tile: Position<'b, 'c>,
        leads: V<'b, 'c>,
        total: &[V<'b, 'c>],
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let looking = || {
            self.tuning.back_off(tile.number);
            let descriptors = self.descriptors();
            if self.in_order {
                return self.prefix_in_order(&descriptors, tile, leads, total);
            }
            let before = self.look_back(&descriptors, tile);
            b.if_(leads & tile.number.ne(0) & !self.is_last(tile), || {
                let upto = self.combiner.apply(b, &before, total);
                self.publish(&descriptors, tile, b.i32(Status::Prefix as i32), &upto);
            });
            before
        };
        b.if_else(tile.tiles.gt(1), looking, || self.combiner.neutral(b))
    }

    /// The status of an aggregate, which is a prefix where nothing is before it.
    fn status(&self, is_first: V<'b, 'c>) -> V<'b, 'c> {
        let b = self.b;
        is_first.select(
            b.i32(Status::Prefix as i32),
            b.i32(Status::Aggregate as i32),
        )
    }

    /// Whether no tile follows.
    pub fn is_last(&self, tile: Position<'b, 'c>) -> V<'b, 'c> {
        (tile.number + 1).eq(tile.tiles.to_i32())
    }

    fn publish(
        &self,
        descriptors: &Descriptors<'b, 'c>,
        tile: Position<'b, 'c>,
        status: V<'b, 'c>,
        values: &[V<'b, 'c>],
    ) {
        descriptors.publish(tile.number.to_index(), status, values);
    }

    /// Combines windows from the tile backwards, up to one that has a prefix.
    fn look_back(
        &self,
        descriptors: &Descriptors<'b, 'c>,
        tile: Position<'b, 'c>,
    ) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let state = [vec![tile.number, b.bool(false)], self.combiner.neutral(b)].concat();
        let state = b.while_(
            state,
            |state| state[1].eq(0),
            |state| {
                let end = state[0];
                let window = self.window(descriptors, end, &|tile| tile);
                let taken = self.taken(&window, self.combiner.neutral(b));
                let sum = b.combine("reduce_all", self.combiner, taken);
                let before = self.combiner.apply(b, &sum, &state[2..]);
                let next = [end - b.subgroup_size(), window.prefixes.ne(0)];
                [next.to_vec(), before].concat()
            },
        );
        state[2..].to_vec()
    }

    /// What is combined of a window: its last prefix and the aggregates after it, and
    /// `nothing` before it.
    fn taken(&self, window: &Window<'b, 'c>, nothing: Vec<V<'b, 'c>>) -> Vec<V<'b, 'c>> {
        let taken = self.b.lane_id().ge(window.from);
        let either = window.values.iter().zip(nothing);
        either
            .map(|(v, nothing)| taken.select(*v, nothing))
            .collect()
    }

    /// Reads what is before number `end`, one a lane, until all after the last prefix
    /// are published. A number's words are those of a tile. An empty prefix precedes
    /// the first number.
    fn window(
        &self,
        descriptors: &Descriptors<'b, 'c>,
        end: V<'b, 'c>,
        tile: &dyn Fn(V<'b, 'c>) -> V<'b, 'c>,
    ) -> Window<'b, 'c> {
        let b = self.b;
        let number = end - b.subgroup_size() + b.lane_id();
        let none = number.slt(0);
        let at = none.select(b.i32(0), tile(number)).to_index();
        let read = || {
            let Reading { status, values } = descriptors.read(at);
            let nothing = self.combiner.neutral(b);
            let values = values.iter().zip(nothing);
            let values = values.map(|(v, nothing)| none.select(nothing, *v));
            let status = none.select(b.i32(Status::Prefix as i32), status);
            [vec![status], values.collect()].concat()
        };
        let lanes = |status: V<'b, 'c>| {
            let prefixes = b.ballot(status.eq(Status::Prefix as i64));
            let from = b.i32(63) - b.clz(prefixes | 1);
            (prefixes, from)
        };
        let state = b.while_(
            read(),
            |state| {
                let (_, from) = lanes(state[0]);
                (b.ballot(state[0].eq(Status::Nothing as i64)) >> from.to_i64()).ne(0)
            },
            |_| read(),
        );
        let (prefixes, from) = lanes(state[0]);
        Window {
            values: state[1..].to_vec(),
            prefixes,
            from,
        }
    }
}
