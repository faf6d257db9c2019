//! `qd-expand-for-each`: an elementwise phase becomes a plain one.
//!
//! Each `qd.grid.for_each` becomes a `qd.grid.phase` of 256 threads a block. Its
//! grid is a host expression: one block for 256 elements, 65,535 at most, which
//! is the largest grid that every target has in one dimension. The body is a
//! grid-stride loop over tiles of 256, uniform in the block, with an in-bounds
//! predicate per element. Tiles beyond a live count are not visited: a large
//! capacity costs blocks that end at once, not iterations.
//!
//! Limits: the live count is read once, when a block begins. A `for_each` holds
//! no collectives: only the threads in bounds would reach them.
//!
//! Before:
//! ```mlir
//! qd.grid.for_each "scale" %i to %len count(%n : memref<i32>) { BODY(%i) }
//! ```
//! After:
//! ```mlir
//! %tiles = arith.ceildivui %len, %c256 : index
//! %blocks = arith.minui %tiles, %c65535 : index
//! %limit = arith.index_castui (arith.minui %len, 2^31 - 1) : index to i32
//! qd.grid.phase "scale" blocks(%blocks) threads(256) {
//!   %count = memref.load %n[] : memref<i32>
//!   %live = index(%count < 0 ? 0 : arith.minui %count, %limit)
//!   scf.for %tile = %block_id to ceildiv(%live, 256) step %grid_dim {
//!     %i = %tile * 256 + %thread_id
//!     scf.if %i < %live { BODY(%i) }
//!   }
//! }
//! ```

use qd_dialects::{
    builder::Builder,
    diagnostic::Result,
    ir::{InsertionPoint, Op, OpExt, Value, ValueExt, arguments, operations},
    melior::{dialect::DialectHandle, ir::Attribute},
    ops::grid,
    pass::{NoOptions, Pass},
};

/// Threads in a block of an elementwise phase.
pub const THREADS: i64 = 256;
/// Blocks at most: what every target's grids have in their first dimension.
pub const MAX_BLOCKS: i64 = 65_535;

/// The pass.
pub struct ExpandForEach;

impl Pass for ExpandForEach {
    type Options = NoOptions;
    const NAME: &'static str = "qd-expand-for-each";
    const SUMMARY: &'static str = "Expand elementwise phases into plain ones";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::memref(),
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, _: &NoOptions) -> Result<'c> {
        for op in module.nested() {
            if let Some(for_each) = grid::ForEach::of(op) {
                expand(for_each);
            }
        }
        Ok(())
    }
}

/// Replaces one `qd.grid.for_each` by a phase.
pub fn expand(for_each: grid::ForEach) {
    let op = for_each.op();
    let b = Builder::before(op);
    let extent = b.v(for_each.extent());
    let count = for_each.count().map(|count| b.v(count));
    let count = count.map(|count| (count, b.count_limit(count, extent)));
    let name = for_each.name();

    let blocks = extent.ceil_div(THREADS).min(MAX_BLOCKS);
    let phase = b.phase(name.as_deref().unwrap_or_default(), blocks, THREADS, || {
        let live = match count {
            Some((count, limit)) => b.live_count(count, limit),
            None => extent,
        };
        let thread = b.thread_id();
        b.for_(
            b.block_id(),
            live.ceil_div(THREADS),
            b.grid_dim(),
            [],
            |tile, []| {
                let i = tile * THREADS + thread;
                b.if_(i.lt(live), || move_body(op, i.value(), b.insertion_point()));
                []
            },
        );
    });
    if name.is_none() {
        phase.remove_attr("name");
    }
    for (key, value) in discardable(op) {
        phase.set_attr(&key, value);
    }
    op.erase();
}

fn move_body<'c>(op: Op<'c>, i: Value<'c>, at: InsertionPoint<'c>) {
    let Some(body) = op.body() else {
        return;
    };
    if let Some(index) = arguments(body).first() {
        index.replace_all_uses(i);
    }
    for inner in operations(body) {
        inner.move_to(at);
    }
}

/// The attributes a user has put on an op, by name.
fn discardable<'c>(op: Op<'c>) -> Vec<(String, Attribute<'c>)> {
    op.attributes()
        .filter_map(|(name, value)| {
            let name = name.as_string_ref().as_str().ok()?.to_string();
            name.contains('.').then_some((name, value))
        })
        .collect()
}
