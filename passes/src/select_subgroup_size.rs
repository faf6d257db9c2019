//! `qd-select-subgroup-size`: choose how many lanes a subgroup has.
//!
//! Code above this level is wave-polymorphic. The pass records the wave as the attribute
//! `qd.wave` of each phase, outlined body and function, makes constants of the ops that depend on it
//! (`subgroup_size`, `log2_subgroup_size`, `num_subgroups`, `block.dim`), and
//! gives every collective on clusters an explicit cluster size: `tile` is log2
//! of the wave by default.
//!
//! Errors: a wave that is no power of two from 4 to 64; another wave than was
//! chosen for a body before; a tile that is larger than the wave.
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
    attributes::{self, names},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    interfaces::Collective,
    ir::{Op, OpExt, context_of},
    melior::dialect::DialectHandle,
    ops::{grid, simt},
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
        for (body, threads) in bodies(module) {
            if let Some(before) = wave_at(body)
                && before != wave
            {
                let message = format!("is for subgroups of {before}, and cannot be for {wave}");
                return Err(Diagnostic::at(body, message));
            }
            tile_body(body, threads, wave);
        }
        for op in module.nested() {
            if threads_of(op).is_some() || (op.is("func.func") && op.body().is_some()) {
                op.set_attr(names::WAVE, attributes::i64(context_of(module), wave));
            }
            // Last: it may erase the op.
            tile_op(op, wave)?;
        }
        Ok(())
    }
}

/// Gives one body, or a function that bodies call, a subgroup size, as the pass gives it to all.
///
/// # Errors
///
/// As of the pass.
pub fn set_wave<'c>(body: Op<'c>, wave: i64) -> Result<'c> {
    if let Some(threads) = threads_of(body) {
        tile_body(body, threads, wave);
    }
    body.set_attr(names::WAVE, attributes::i64(context_of(body), wave));
    body.nested()
        .into_iter()
        .try_for_each(|op| tile_op(op, wave))
}

/// Lanes in a subgroup of the body that an op is or is in, once that has been chosen.
pub fn wave_of(op: Op) -> Option<i64> {
    let mut around = Some(op);
    while let Some(at) = around {
        if let Some(wave) = wave_at(at) {
            return Some(wave);
        }
        around = at.parent();
    }
    None
}

/// The subgroup size that an op itself says.
pub fn wave_at(op: Op) -> Option<i64> {
    op.attr(names::WAVE).and_then(attributes::int)
}

/// The phases and outlined bodies below an op, and the threads in their blocks.
pub fn bodies<'c>(module: Op<'c>) -> Vec<(Op<'c>, i64)> {
    let all = module.nested().into_iter();
    all.filter_map(|op| Some((op, threads_of(op)?))).collect()
}

/// The threads in a block of a phase or an outlined body.
pub fn threads_of(op: Op) -> Option<i64> {
    match op.full_name() {
        grid::Phase::NAME => Some(grid::Phase::cast(op).threads()),
        "func.func" => op.attr(names::THREADS).and_then(attributes::int),
        _ => None,
    }
}

fn tile_body(body: Op, threads: i64, wave: i64) {
    for op in body.nested() {
        let value = match op.full_name() {
            simt::BlockDim::NAME => threads,
            simt::NumSubgroups::NAME => threads.div_euclid(wave) + i64::from(threads % wave != 0),
            _ => continue,
        };
        fold(op, value);
    }
}

fn tile_op<'c>(op: Op<'c>, wave: i64) -> Result<'c> {
    match op.full_name() {
        simt::SubgroupSize::NAME | simt::Log2SubgroupSize::NAME => fold_size(op, wave),
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

/// Makes a constant of a `subgroup_size` or a `log2_subgroup_size`.
pub fn fold_size(op: Op<'_>, wave: i64) {
    match op.is(simt::SubgroupSize::NAME) {
        true => fold(op, wave),
        false => fold(op, wave.trailing_zeros().into()),
    }
}

fn fold(op: Op, value: i64) {
    use qd_dialects::melior::ir::ValueLike;
    let b = Builder::before(op);
    let constant = b.int(op.first_result().r#type(), value);
    op.replace_with(&[constant.value()]);
}
