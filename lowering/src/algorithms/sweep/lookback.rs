//! A scan in one pass, over large tiles whose blocks wait for each other.
//!
//! 1. *Clear*: the tiles' descriptors and the counter of tickets are set to 0.
//! 2. *Sweep*: a block takes a tile and scans it. Its last subgroup finds out what
//!    the tiles before come to ([`Chain`]). The others wait for it at one barrier,
//!    and what they scanned goes out behind it.
//!
//! Papers: see [`Chain`].
//! Deviations: a capacity of 256 is a staircase of one step.
//! Cost: reads each element once; a tile takes two slots of scratch for each
//! scalar. A fill and a phase.

use super::{
    Element, Sweep, Total,
    chain::{Chain, Position},
};
use crate::algorithms::tiles::{MOST_BYTES, SHARED_BYTES, Tiles, bytes, load, rest, store};
use crate::targets::{Capabilities, Cores, ForwardProgress};
use qd_dialects::{
    builder::{Builder, Combiner, V},
    diagnostic::{Diagnostic, Result},
    ir::Op,
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
    chain: Chain<'a, 'b, 'c>,
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
    position: Position<'b, 'c>,
    /// Its first element.
    start: V<'b, 'c>,
    /// Whether all of its elements exist.
    full: V<'b, 'c>,
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
            chain: Chain {
                b: self.b,
                combiner: self.combiner,
                partials: self.partials,
                has_total: false,
                deterministic: self.deterministic,
            },
            form: Tiles::of_bytes(self.b, held),
        };
        look_back.build(last);
    }
}

impl<'b, 'c> LookBack<'_, '_, 'b, 'c> {
    fn build(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let tiles = self.tiles(self.sweep.capacity);
        self.chain.clear(self.sweep.name, tiles);
        let name = format!("{}.sweep", self.sweep.name);
        self.b
            .phase(&name, tiles, self.form.threads, || self.sweep(last));
    }

    /// Tiles that so many elements make.
    fn tiles(&self, elements: V<'b, 'c>) -> V<'b, 'c> {
        let tiles = self.form.number(elements);
        match self.sweep.total.is_used() {
            true => tiles.max(1),
            false => tiles,
        }
    }

    /// What a block does.
    fn sweep(&self, last: &dyn Fn(&Element<'b, 'c>)) {
        let b = self.b;
        let types = self.combiner.types();
        let elements = self.form.shared(types);
        let prefix: Vec<_> = types.iter().map(|t| b.shared(*t, 1)).collect();
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
                let before = self.chain.before(tile.position, leads, &total);
                b.if_(leads, || {
                    store(&prefix, b.index(0), &before);
                    if let Total::AtTheEnd(end) = self.sweep.total {
                        let is_last = (tile.position.number + 1).eq(tiles.to_i32());
                        b.if_(is_last, || end(&self.combiner.apply(b, &before, &total)));
                    }
                });
            });
            self.scan(&elements, within, &own);
            b.sync();
            let before = load(&prefix, b.index(0));
            let finish = || self.finish(&tile, &elements, &before, &loaded, last);
            b.either(tile.full, finish, finish);
        });
    }

    /// Takes a tile.
    fn take(&self, ticket: V<'b, 'c>, count: V<'b, 'c>, tiles: V<'b, 'c>) -> Tile<'b, 'c> {
        let position = self.chain.take(ticket, tiles);
        let start = position.number.to_index() * self.form.size;
        Tile {
            count,
            position,
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
        before: &[V<'b, 'c>],
        loaded: &Loaded<'b, 'c>,
        last: &dyn Fn(&Element<'b, 'c>),
    ) {
        let b = self.b;
        let first = tile.start + b.thread_id();
        let rest = rest(tile.count, first);
        for nth in 0..self.form.items {
            let within = load(elements, self.form.apart(nth));
            let i = first + nth * self.form.threads;
            last(&Element {
                i,
                exists: tile.full | rest.gt(nth * self.form.threads),
                count: tile.count,
                value: loaded.values[nth as usize].clone(),
                scanned: self.combiner.apply(b, before, &within),
                total: None,
                ahead: Some(loaded.ahead[nth as usize].clone()),
            });
        }
    }
}
