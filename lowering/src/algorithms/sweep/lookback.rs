//! A scan in one pass, with decoupled look-back. Blocks wait for each other: for
//! targets on which a block that has started also ends.
//!
//! 1. *Clear*: the tiles' descriptors and the counter of tickets are set to 0.
//! 2. *Sweep*: a block takes a ticket, which says which tile is its own. It
//!    scans the tile and publishes what that comes to, its aggregate. Its last
//!    subgroup then looks back over the tiles before, as many at a time as it
//!    has lanes: aggregates are combined until a tile is met whose prefix is
//!    known, and the own prefix is published. The others wait for it at one
//!    barrier, and what they scanned goes out behind it.
//!
//! Papers: Merrill & Garland, Single-pass Parallel Prefix Scan with Decoupled
//! Look-back (2016).
//! Deviations: tickets instead of block numbers, as CUB once did, for nothing
//! is said of the order in which blocks start. A flag is in every word of a
//! state ([`descriptors`](super::descriptors)), which needs neither fences nor
//! wide atomics. Where a combiner rounds, prefixes are combined from the left, a
//! tile at a time, whatever was known when: float sums depend on the input
//! and the capacity alone, for twice the reads of descriptors. What
//! fits one tile takes no ticket and touches no scratch; a capacity of 256 is a
//! staircase of one step.
//! A total that is needed before the last phase is found by a phase of its own,
//! with atomics.
//! Cost: reads each element once, or twice with a total before; a tile takes two
//! slots of scratch for each scalar. A fill and a phase, or two.

use super::{
    Element, Sweep, Total,
    descriptors::{AGGREGATE, Descriptors, PREFIX, Reading},
};
use crate::algorithms::{
    levels::{BLOCK, tiles},
    tiles::{MOST_BYTES, SHARED_BYTES, THREADS, Tiles, bytes, load, rest, store},
};
use crate::targets::{Capabilities, Cores, ForwardProgress};
use qd_dialects::{
    attributes::Kind,
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    ir::{Op, is_float},
    melior::ir::Type,
};

/// Whether look-back is the form to take for sums of these types.
pub(in crate::algorithms) fn suits(types: &[Type], capabilities: &Capabilities) -> bool {
    capabilities.cores == Cores::Many
        && capabilities.forward_progress != ForwardProgress::None
        && capabilities.max_shared_bytes >= SHARED_BYTES
        && fits(types)
}

/// Whether there are tiles of these types.
fn fits(types: &[Type]) -> bool {
    bytes(types) <= MOST_BYTES
}

/// An error where look-back is asked for and cannot be had.
pub(in crate::algorithms) fn check<'c>(op: Op<'c>, types: &[Type]) -> Result<'c> {
    if fits(types) {
        return Ok(());
    }
    Err(Diagnostic::at(
        op,
        format!(
            "combines elements of {} bytes: strategy 'lookback' is for {MOST_BYTES} at most",
            bytes(types)
        ),
    ))
}

/// A one-pass sweep under construction.
struct LookBack<'a, 's, 'b, 'c> {
    b: &'b Builder<'c>,
    sweep: &'a Sweep<'s, 'b, 'c>,
    combiner: &'a Combiner<'c>,
    form: Tiles<'b, 'c>,
}

/// What a thread has of its elements, a thread's number apart.
struct Loaded<'b, 'c> {
    values: Vec<Vec<V<'b, 'c>>>,
    ahead: Vec<Vec<V<'b, 'c>>>,
}

/// The tile of a block.
struct Tile<'b, 'c> {
    /// The live number of elements.
    count: V<'b, 'c>,
    /// The live number of tiles.
    tiles: V<'b, 'c>,
    /// Its number, `i32`.
    number: V<'b, 'c>,
    /// Its first element.
    start: V<'b, 'c>,
    /// Whether all of its elements exist.
    full: V<'b, 'c>,
}

/// What the whole block gets to know.
struct Known<'b, 'c> {
    /// What the tiles before come to.
    before: Vec<V<'b, 'c>>,
    /// What all come to, if it was to be known beforehand.
    total: Option<Vec<V<'b, 'c>>>,
}

/// What the lanes of a subgroup have read of as many tiles.
struct Window<'b, 'c> {
    values: Vec<V<'b, 'c>>,
    /// Mask of the lanes whose tile has its prefix.
    prefixes: V<'b, 'c>,
    /// The last of them; lane 0 if there is none.
    from: V<'b, 'c>,
}

impl<'b, 'c> Sweep<'_, 'b, 'c> {
    pub(super) fn lookback(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        if self.depth == 1 {
            return self.staircase(last);
        }
        let held = bytes(self.combiner.types()) + bytes(&self.ahead.types);
        let look_back = LookBack {
            b: self.b,
            sweep: self,
            combiner: self.combiner,
            form: Tiles::of_bytes(self.b, held),
        };
        look_back.build(last);
    }
}

impl<'b, 'c> LookBack<'_, '_, 'b, 'c> {
    fn build(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let tiles = self.tiles(self.sweep.capacity);
        self.clear(tiles);
        if let Some(kind) = self.counts() {
            let name = format!("{}.count", self.sweep.name);
            self.b.phase(&name, tiles, THREADS, || self.count(kind));
        }
        let name = format!("{}.sweep", self.sweep.name);
        self.b.phase(&name, tiles, THREADS, || self.sweep(last));
    }

    /// Tiles that so many elements make.
    fn tiles(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        let tiles = self.form.number(elements);
        match self.sweep.total.is_used() {
            true => tiles.max(1),
            false => tiles,
        }
    }

    /// The kind of combiner, where a total is needed before the last phase: it is
    /// found by atomics, so it must be of integers.
    fn counts(&self) -> Option<Kind> {
        match self.sweep.total {
            Total::Before(_) => self.combiner.as_kind(),
            _ => None,
        }
    }

    fn descriptors(&self) -> Descriptors<'b, 'c> {
        let scratch = (self.sweep.partials)();
        Descriptors::new(self.b, scratch, self.combiner, self.counts().is_some())
    }

    /// Clears the descriptors of as many tiles, as far as there are any: scratch
    /// is as long as the live count needs.
    fn clear(&self, most: V<'b, 'c>) {
        let b = self.b;
        let descriptors = self.descriptors();
        let end = most.gt(1).select(descriptors.end(most), b.index(0));
        match descriptors.buffers() {
            [buffer] => {
                let zero = b.zero(buffer.element());
                b.fill_range(*buffer, b.index(0), end.min(buffer.len()), zero);
            }
            buffers => {
                let name = format!("{}.clear", self.sweep.name);
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

    /// Combines all elements, unless there is one tile.
    fn count(&self, kind: Kind) {
        let b = self.b;
        let count = (self.sweep.count)();
        let tiles = self.tiles(count);
        b.if_(tiles.gt(1) & b.block_id().lt(tiles), || {
            let start = b.block_id() * self.form.size;
            let identity = || self.combiner.identity(b);
            let values = self.form.load(start, count, self.sweep.load, &identity);
            let own = self.combine_all(&values);
            let sum = b.combine("block.reduce", self.combiner, own);
            b.if_(b.thread_id().eq(0), || {
                self.descriptors().add_to_total(kind, sum[0]);
            });
        });
    }

    /// What a block does.
    fn sweep(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let b = self.b;
        let types = self.combiner.types();
        let elements = self.form.shared(types);
        let single = || -> Vec<_> { types.iter().map(|t| b.shared(*t, 1)).collect() };
        let prefix = single();
        let of_one = self.counts().map(|_| single());
        let ticket = b.shared(b.int_type(32), 1);
        let count = (self.sweep.count)();
        let tiles = self.tiles(count);
        b.if_(b.block_id().lt(tiles), || {
            let tile = self.take(ticket, count, tiles);
            let loaded = self.load(&tile);
            let own = self.form.exchange(&elements, &loaded.values);
            let sum = self.combine_all(&own);
            let within = b.combine("block.exclusive_scan", self.combiner, sum.clone());
            b.if_(b.subgroup_id().eq(b.num_subgroups() - 1), || {
                let leads = b.lane_id().eq(b.subgroup_size() - 1);
                let total = self.combiner.apply(b, &within, &sum);
                let before = self.before(&tile, leads, &total);
                b.if_(leads, || {
                    store(&prefix, b.index(0), &before);
                    if let Some(of_one) = &of_one {
                        store(of_one, b.index(0), &total);
                    }
                    if let Total::AtTheEnd(end) | Total::Before(end) = self.sweep.total {
                        let is_last = (tile.number + 1).eq(tiles.to_i32());
                        b.if_(is_last, || end(&self.combiner.apply(b, &before, &total)));
                    }
                });
            });
            self.scan(&elements, within, &own);
            b.sync();
            let before = load(&prefix, b.index(0));
            let total = of_one.map(|of_one| {
                let several = || vec![self.descriptors().total()];
                b.if_else(tiles.gt(1), several, || load(&of_one, b.index(0)))
            });
            let known = Known { before, total };
            let finish = || self.finish(&tile, &elements, &known, &loaded, last);
            b.either(tile.full, finish, finish);
        });
    }

    /// Takes a tile, which nobody else has, in an order in which blocks start.
    fn take(&self, ticket: V<'b, 'c>, count: V<'b, 'c>, tiles: V<'b, 'c>) -> Tile<'b, 'c> {
        let b = self.b;
        let (t, zero) = (b.thread_id(), b.index(0));
        b.if_(t.eq(0), || {
            let several = || [self.descriptors().ticket()];
            let [taken] = b.if_else(tiles.gt(1), several, || [b.i32(0)]);
            ticket.set(zero, taken);
        });
        b.sync();
        let number = ticket.at(zero);
        let start = number.to_index() * self.form.size;
        Tile {
            count,
            tiles,
            number,
            start,
            full: (start + self.form.size).le(count),
        }
    }

    /// Loads this thread's elements; the identity where there are none.
    fn load(&self, tile: &Tile<'b, 'c>) -> Loaded<'b, 'c> {
        let (b, ahead) = (self.b, &self.sweep.ahead);
        let each = |i| [(self.sweep.load)(i), (ahead.load)(i, tile.count)].concat();
        let nothing = || {
            let zeros = ahead.types.iter().map(|t| b.zero(*t)).collect();
            [self.combiner.identity(b), zeros].concat()
        };
        let all = self.form.load(tile.start, tile.count, &each, &nothing);
        let scalars = self.combiner.types().len();
        let (values, ahead) = all
            .iter()
            .map(|all| (all[..scalars].to_vec(), all[scalars..].to_vec()))
            .unzip();
        Loaded { values, ahead }
    }

    fn combine_all(&self, own: &[Vec<V<'b, 'c>>]) -> Vec<V<'b, 'c>> {
        let first = own[0].clone();
        let combine = |sum: Vec<_>, value: &Vec<_>| self.combiner.apply(self.b, &sum, value);
        own[1..].iter().fold(first, combine)
    }

    /// Scans this thread's elements behind those of the threads below.
    fn scan(&self, elements: &[V<'b, 'c>], within: Vec<V<'b, 'c>>, own: &[Vec<V<'b, 'c>>]) {
        let mut before = within;
        for (nth, value) in (0..).zip(own) {
            let upto = self.combiner.apply(self.b, &before, value);
            let scanned = if self.sweep.inclusive { &upto } else { &before };
            store(elements, self.form.own(nth), scanned);
            before = upto;
        }
    }

    /// Hands over the elements, those a block apart.
    fn finish(
        &self,
        tile: &Tile<'b, 'c>,
        elements: &[V<'b, 'c>],
        known: &Known<'b, 'c>,
        loaded: &Loaded<'b, 'c>,
        last: &dyn Fn(&Element<'b, 'c>),
    ) {
        let b = self.b;
        let first = tile.start + b.thread_id();
        let rest = rest(tile.count, first);
        for nth in 0..self.form.items {
            let within = load(elements, self.form.apart(nth));
            let i = first + nth * THREADS;
            last(&Element {
                i,
                exists: tile.full | rest.gt(nth * THREADS),
                count: tile.count,
                value: loaded.values[nth as usize].clone(),
                scanned: self.combiner.apply(b, &known.before, &within),
                total: known.total.clone(),
                ahead: Some(loaded.ahead[nth as usize].clone()),
            });
        }
    }

    /// What the tiles before come to, to all lanes of the one subgroup that
    /// asks; the lane that leads knows what the own tile comes to.
    fn before(&self, tile: &Tile<'b, 'c>, leads: V<'b, 'c>, total: &[V<'b, 'c>]) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let looking = || {
            let descriptors = self.descriptors();
            let publish = |status, values: &[V<'b, 'c>]| {
                descriptors.publish(tile.number.to_index(), tile.tiles, status, values);
            };
            let is_first = tile.number.eq(0);
            let status = is_first.select(b.i32(PREFIX as i32), b.i32(AGGREGATE as i32));
            b.if_(leads, || publish(status, total));
            let before = match self.rounds() {
                true => self.look_back_in_order(&descriptors, tile),
                false => self.look_back(&descriptors, tile),
            };
            b.if_(leads & !is_first, || {
                let upto = self.combiner.apply(b, &before, total);
                publish(b.i32(PREFIX as i32), &upto);
            });
            before
        };
        b.if_else(tile.tiles.gt(1), looking, || self.combiner.identity(b))
    }

    /// Whether the order in which prefixes are combined can be seen.
    fn rounds(&self) -> bool {
        let floats = self.combiner.types().iter().any(|t| is_float(*t));
        floats && matches!(self.combiner.as_kind(), None | Some(Kind::Add | Kind::Mul))
    }

    /// Combines windows from the tile on backwards, up to one that has a prefix.
    fn look_back(&self, descriptors: &Descriptors<'b, 'c>, tile: &Tile<'b, 'c>) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let state = [vec![tile.number, b.bool(false)], self.combiner.identity(b)].concat();
        let state = b.while_(
            state,
            |state| state[1].eq(0),
            |state| {
                let end = state[0];
                let window = self.window(descriptors, tile, end);
                let sum = b.combine("reduce_all", self.combiner, self.taken(&window));
                let before = self.combiner.apply(b, &sum, &state[2..]);
                let next = [end - b.subgroup_size(), window.prefixes.ne(0)];
                [next.to_vec(), before].concat()
            },
        );
        state[2..].to_vec()
    }

    /// The same from the left: first back to a window that has a prefix, and
    /// from there forwards again, tile by tile.
    fn look_back_in_order(
        &self,
        descriptors: &Descriptors<'b, 'c>,
        tile: &Tile<'b, 'c>,
    ) -> Vec<V<'b, 'c>> {
        /// Lanes whose values are asked for together; the fewest of a subgroup.
        const TOGETHER: i32 = 4;
        let b = self.b;
        let size = b.subgroup_size();
        let [end] = b.while_(
            [tile.number],
            |[end]| self.window(descriptors, tile, *end).prefixes.eq(0),
            |[end]| [end - size],
        );
        let state = [vec![end], self.combiner.identity(b)].concat();
        let state = b.while_(
            state,
            |state| state[0].sle(tile.number),
            |state| {
                let window = self.window(descriptors, tile, state[0]);
                let values = self.taken(&window);
                let first = (window.from & !b.i32(TOGETHER - 1)).to_index();
                let step = b.index(TOGETHER.into());
                let before = state[1..].to_vec();
                let before = b.for_(first, size.to_index(), step, before, |lane, before| {
                    let lanes: Vec<_> = (0..TOGETHER.into())
                        .map(|nth| (lane + nth).to_i32())
                        .collect();
                    let values: Vec<Vec<_>> = lanes
                        .iter()
                        .map(|lane| {
                            let ask = |value: &V<'b, 'c>| b.shuffle("idx", *value, *lane);
                            values.iter().map(ask).collect()
                        })
                        .collect();
                    lanes
                        .iter()
                        .zip(&values)
                        .fold(before, |before, (lane, value)| {
                            let is_prefix = ((window.prefixes >> lane.to_i64()) & 1).ne(0);
                            let upto = self.combiner.apply(b, &before, value);
                            let either = value.iter().zip(upto);
                            either.map(|(v, upto)| is_prefix.select(*v, upto)).collect()
                        })
                });
                [vec![state[0] + size], before].concat()
            },
        );
        state[1..].to_vec()
    }

    /// What is combined of a window: the last prefix and what is behind it.
    fn taken(&self, window: &Window<'b, 'c>) -> Vec<V<'b, 'c>> {
        let b = self.b;
        let taken = b.lane_id().ge(window.from);
        let either = window.values.iter().zip(self.combiner.identity(b));
        either.map(|(v, none)| taken.select(*v, none)).collect()
    }

    /// Waits until of the tiles before `end`, a lane each, all are known behind
    /// the last prefix. Before the first tile all is known: a prefix of nothing.
    fn window(
        &self,
        descriptors: &Descriptors<'b, 'c>,
        tile: &Tile<'b, 'c>,
        end: V<'b, 'c>,
    ) -> Window<'b, 'c> {
        let b = self.b;
        let number = end - b.subgroup_size() + b.lane_id();
        let none = number.slt(0);
        let at = none.select(b.i32(0), number).to_index();
        let read = || {
            let Reading { status, values } = descriptors.read(at, tile.tiles);
            let identity = self.combiner.identity(b);
            let values = values.iter().zip(identity);
            let values = values.map(|(v, nothing)| none.select(nothing, *v));
            let status = none.select(b.i32(PREFIX as i32), status);
            [vec![status], values.collect()].concat()
        };
        let lanes = |status: V<'b, 'c>| {
            let prefixes = b.ballot(status.eq(PREFIX));
            let from = b.i32(63) - b.clz(prefixes | 1);
            (prefixes, from)
        };
        let state = b.while_(
            read(),
            |state| {
                let (_, from) = lanes(state[0]);
                (b.ballot(state[0].eq(0)) >> from.to_i64()).ne(0)
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
