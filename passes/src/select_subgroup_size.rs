//! `qd-select-subgroup-size`: choose how many lanes a subgroup has.
//!
//! Until here code is wave-polymorphic. This pass records the wave as the
//! module's attribute `qd.wave`, makes constants of what depends on it
//! (`subgroup_size`, `log2_subgroup_size`, `num_subgroups`, `block.dim`), and
//! gives every collective that can work on tiles an explicit one: `tile` is
//! log2 of the wave where nothing was said.
//!
//! Errors: a wave that is no power of two from 4 to 64; another wave than one
//! that was chosen before; a tile that is larger than the wave; a block whose
//! threads are not a multiple of the wave.
//!
//! Limits: `block.dim` and `num_subgroups` outside a phase or an outlined body,
//! in a function that is still to be inlined, stay.
//!
//! Before:
//! ```mlir
//! %size = qd.simt.subgroup_size
//! %sum = qd.simt.reduce_all add %v : i32
//! ```
//! After, with `wave=32`:
//! ```mlir
//! %size = arith.constant 32 : i32
//! %sum = qd.simt.reduce_all add %v tile(5) : i32
//! ```

use qd_dialects::{
    attributes,
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    interfaces::Collective,
    ir::{Op, OpExt, context_of},
    melior::dialect::DialectHandle,
    options,
    pass::Pass,
};

options! {
    /// Options of `qd-select-subgroup-size`.
    pub struct SelectSubgroupSizeOptions {
        /// lanes in a subgroup: 4, 8, 16, 32 or 64
        wave: i64 = 32,
    }
}

/// Sizes that a subgroup may have.
pub const WAVES: [u32; 5] = [4, 8, 16, 32, 64];

/// The pass.
pub struct SelectSubgroupSize;

impl Pass for SelectSubgroupSize {
    type Options = SelectSubgroupSizeOptions;
    const NAME: &'static str = "qd-select-subgroup-size";
    const FORMER_NAME: Option<&'static str> = Some("qd-tile");
    const SUMMARY: &'static str = "Choose the subgroup size, and with it every collective's tile";

    fn dialects() -> Vec<DialectHandle> {
        vec![DialectHandle::arith()]
    }

    fn run<'c>(module: Op<'c>, options: &SelectSubgroupSizeOptions) -> Result<'c> {
        let wave = options.wave;
        if !WAVES.map(i64::from).contains(&wave) {
            return Err(Diagnostic::at(
                module,
                format!("cannot have subgroups of {wave}: expected 4, 8, 16, 32 or 64"),
            ));
        }
        if let Some(before) = module.attr("qd.wave").and_then(attributes::int)
            && before != wave
        {
            return Err(Diagnostic::at(
                module,
                format!("is for subgroups of {before}, and cannot be for {wave}"),
            ));
        }
        for (body, threads) in bodies(module) {
            tile_body(body, threads, wave);
        }
        for op in module.nested() {
            tile_op(op, wave)?;
        }
        module.set_attr("qd.wave", attributes::i64(context_of(module), wave));
        Ok(())
    }
}

/// The phases and outlined bodies below an op, and the threads in their blocks.
pub fn bodies<'c>(module: Op<'c>) -> Vec<(Op<'c>, i64)> {
    let all = module.nested().into_iter();
    all.filter_map(|op| Some((op, threads_of(op)?))).collect()
}

/// The threads in a block of a phase or an outlined body.
pub fn threads_of(op: Op) -> Option<i64> {
    let name = match op.full_name() {
        "qd.grid.phase" => "threads",
        "func.func" => "qd.threads",
        _ => return None,
    };
    op.attr(name).and_then(attributes::int)
}

fn tile_body(body: Op, threads: i64, wave: i64) {
    for op in body.nested() {
        let value = match op.full_name() {
            "qd.simt.block.dim" => threads,
            "qd.simt.num_subgroups" => threads / wave,
            _ => continue,
        };
        fold(op, value);
    }
}

fn tile_op<'c>(op: Op<'c>, wave: i64) -> Result<'c> {
    let log2 = wave.trailing_zeros();
    match op.full_name() {
        "qd.simt.subgroup_size" => fold(op, wave),
        "qd.simt.log2_subgroup_size" => fold(op, log2.into()),
        _ => match Collective::of(op) {
            Some(collective) if collective.supports_clusters => {
                return tile_collective(op, collective, wave);
            }
            _ => {}
        },
    }
    Ok(())
}

fn tile_collective<'c>(op: Op<'c>, collective: Collective<'c>, wave: i64) -> Result<'c> {
    let log2 = wave.trailing_zeros();
    match collective.log2_cluster_size {
        None => op.set_attr("tile", attributes::i32(context_of(op), log2 as i32)),
        Some(tile) if tile > log2 => {
            return Err(Diagnostic::at(
                op,
                format!(
                    "works on tiles of {} lanes, but a subgroup has {wave}",
                    1u64 << tile
                ),
            ));
        }
        Some(_) => {}
    }
    Ok(())
}

fn fold(op: Op, value: i64) {
    use qd_dialects::melior::ir::ValueLike;
    let b = Builder::before(op);
    let constant = b.int(op.first_result().r#type(), value);
    op.replace_with(&[constant.value()]);
}
