//! Scan in one pass, over large tiles whose blocks wait for each other.
//!
//! 1. *Clear*: the tiles' descriptors and the ticket counter are set to 0.
//! 2. *Sweep*: a block takes a tile, publishes its aggregate, and scans it in shared
//!    memory. Its last subgroup looks back for the tile's exclusive prefix
//!    ([`Chain`]). The other subgroups wait for it at one barrier, and write their
//!    results after it.
//!
//! Papers: see [`Chain`].
//! Deviations: a tile is prefetched when the tile some hundred before it is loaded,
//! because every later tile waits for one whose loads are slow. A capacity of 256 is
//! a hierarchy of one level.
//! Cost: reads and writes each element once; a tile takes 32 bytes of scratch for
//! each scalar. A fill and a phase.

use super::{Scan, sweep};
use crate::algorithms::{
    chain::{self, Chain, Position},
    fixed_order::{Runs, Shape},
    levels::combine_below,
    partials::Partials,
    sweep::Form,
    tiles::{Tiles, bytes, load, prefetch, rest, store},
};
use crate::targets::{Capabilities, tuning::Tuning};
use qd_dialects::{
    builder::{Builder, V},
    diagnostic::{Diagnostic, Result},
    ir::Op,
    melior::ir::Type,
};

/// The largest element, in bytes, that a thread may hold for a tile to fit a block's
/// shared memory.
const MOST_BYTES: i64 = 32;

/// Whether tiles of these types fit.
pub(super) fn fits(types: &[Type]) -> bool {
    bytes(types) <= MOST_BYTES
}

/// Builds a fill and a phase, or a phase.
pub(super) fn expand<'c>(b: &Builder<'c>, op: Op<'c>, capabilities: &Capabilities) -> Result<'c> {
    let scan = Scan::of(b, op);
    let types = scan.combiner.types();
    let shape = Shape::of(types);
    if !fits(types) {
        let what = format!(
            "combines elements of {} bytes: strategy 'lookback' is for {MOST_BYTES} at most",
            bytes(types)
        );
        return Err(Diagnostic::at(op, what));
    }
    if scan.depth == 1 {
        let form = match scan.in_order {
            true => Form::FixedOrder(shape),
            false => Form::Hierarchical,
        };
        return sweep::expand(b, op, form);
    }
    chain::require(op, capabilities)?;
    let mut tuning = Tuning::of(op, "scan", bytes(types), capabilities)?;
    if scan.in_order {
        tuning = tuning.in_shape(op, shape)?;
    }
    let look_back = LookBack {
        b,
        chain: Chain {
            b,
            combiner: &scan.combiner,
            partials: &|| Partials::Separate(scan.scratch.clone()),
            in_order: scan.in_order,
            tuning,
        },
        form: Tiles::new(b, &tuning),
        scan: &scan,
        tuning,
    };
    look_back.build();
    Ok(())
}

/// A scan under construction.
struct LookBack<'a, 'b, 'c> {
    b: &'b Builder<'c>,
    scan: &'a Scan<'b, 'c>,
    chain: Chain<'a, 'b, 'c>,
    form: Tiles<'b, 'c>,
    tuning: Tuning,
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

impl<'b, 'c> LookBack<'_, 'b, 'c> {
    fn build(&self) {
        let (b, scan) = (self.b, self.scan);
        let tiles = self.form.number(scan.count.capacity);
        self.chain.clear(scan.name, tiles);
        let name = format!("{}.sweep", scan.name);
        self.tuning.phase(b, &name, tiles, || self.sweep());
    }

    /// The body of the phase.
    fn sweep(&self) {
        let (b, combiner) = (self.b, &self.scan.combiner);
        let types = combiner.types();
        let elements = self.form.shared(types);
        let prefix: Vec<_> = types.iter().map(|t| b.shared(*t, 1)).collect();
        let ticket = b.shared(b.int_type(32), 1);
        let runs = self.scan.in_order.then(|| Runs::new(b, combiner));
        let count = self.scan.count.live();
        let tiles = self.form.number(count);
        b.if_(b.block_id().lt(tiles), || {
            let tile = self.take(ticket, count, tiles);
            let own = self.form.exchange(&elements, &self.load(&tile));
            let sum = self.combine_all(&own);
            let (within, total) = match &runs {
                Some(runs) => {
                    runs.combine(&sum);
                    runs.before_and_total()
                }
                None => {
                    let within = combine_below(b, combiner, sum.clone());
                    let total = combiner.apply(b, &within, &sum);
                    (within, total)
                }
            };
            let looks_back = b.subgroup_id().eq(b.num_subgroups() - 1);
            let leads = b.lane_id().eq(b.subgroup_size() - 1);
            b.if_(looks_back, || {
                self.chain.publish_aggregate(tile.position, leads, &total);
            });
            self.scan(&elements, within, &own);
            b.if_(looks_back, || {
                let before = self.chain.wait(tile.position, leads, &total);
                b.if_(leads, || store(&prefix, b.index(0), &before));
            });
            b.sync();
            let before = load(&prefix, b.index(0));
            let finish = || self.finish(&tile, &elements, &before);
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

    /// Loads this thread's elements; neutral values where there are none.
    fn load(&self, tile: &Tile<'b, 'c>) -> Vec<Vec<V<'b, 'c>>> {
        let (b, inputs) = (self.b, &self.scan.inputs);
        let each = |i| inputs.iter().map(|input| input.at(i)).collect();
        let nothing = || match self.scan.in_order {
            true => self.scan.combiner.exact_neutral(b),
            false => self.scan.combiner.neutral(b),
        };
        let loaded = self.form.load(tile.start, tile.count, &each, &nothing);
        prefetch(&self.tuning, inputs, tile.start, tile.count);
        loaded
    }

    fn combine_all(&self, own: &[Vec<V<'b, 'c>>]) -> Vec<V<'b, 'c>> {
        let combiner = &self.scan.combiner;
        let combine = |sum: Vec<_>, value: &Vec<_>| combiner.apply(self.b, &sum, value);
        own[1..].iter().fold(own[0].clone(), combine)
    }

    /// Scans this thread's elements, after those of the threads below.
    fn scan(&self, elements: &[V<'b, 'c>], within: Vec<V<'b, 'c>>, own: &[Vec<V<'b, 'c>>]) {
        let (b, combiner) = (self.b, &self.scan.combiner);
        let (mut before, below) = match self.scan.in_order {
            true => (combiner.exact_neutral(b), Some(within)),
            false => (within, None),
        };
        for (nth, value) in (0..).zip(own) {
            let upto = combiner.apply(b, &before, value);
            let scanned = if self.scan.inclusive { &upto } else { &before };
            let scanned = match &below {
                Some(below) => &combiner.apply(b, below, scanned),
                None => scanned,
            };
            store(elements, self.form.blocked(nth), scanned);
            before = upto;
        }
    }

    /// Writes the elements, in a striped arrangement.
    fn finish(&self, tile: &Tile<'b, 'c>, elements: &[V<'b, 'c>], before: &[V<'b, 'c>]) {
        let b = self.b;
        let first = tile.start + b.thread_id();
        let rest = rest(tile.count, first);
        for nth in 0..self.form.items {
            let exists = tile.full | rest.gt(nth * self.form.threads);
            b.if_(exists, || {
                let within = load(elements, self.form.striped(nth));
                let scanned = self.scan.combiner.apply(b, before, &within);
                self.scan.write(first + nth * self.form.threads, &scanned);
            });
        }
    }
}
