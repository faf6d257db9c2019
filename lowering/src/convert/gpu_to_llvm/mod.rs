//! Outlined bodies as kernels in the LLVM dialect, for any vendor's GPU.
//!
//! A vendor's conversion, such as `qd-convert-to-nvvm`, calls [`convert`](convert()) with its
//! [`Hooks`]: what differs between vendors, one field each. Everything else is here: kernel
//! parameters (`kernel.rs`), shared arrays (`shared.rs`) and private ones (`private.rs`), ids
//! from a few registers (`ids.rs`), values of two words (`shuffle.rs`), memory ordering
//! (`ordered.rs`, on the `memory.rs` that the cpu uses, too), the table of ops (below), and
//! errors.
//!
//! Runs after `qd-select-subgroup-size` and `qd-expand-collectives`. Each outlined body becomes an
//! `llvm.func`, and every `qd` op in it one or a few ops of LLVM's dialect and the vendor's. All
//! other ops are left to upstream's conversions.
//!
//! All lanes of a subgroup reach a collective, which `qd-verify-convergence` has checked.
//!
//! Memrefs become descriptors of generic pointers, made by casts from the global, shared and
//! private address spaces: LLVM follows pointers through branches and loops and infers the space
//! of each access.
//!
//! Errors: an op that is neither in the table below nor has a form that fits; a subgroup size
//! that the target does not have; more shared memory than it has; a name that it cannot spell; a
//! function that it lacks.

mod ballot;
mod extent;
mod hints;
mod hooks;
mod ids;
mod kernel;
mod ordered;
mod private;
mod shared;
mod shuffle;
#[cfg(test)]
mod tests;

pub use ballot::ballot;
pub use hooks::{AddressSpaces, Attributes, Hooks, Launch, Prefetch, Register, Source};
pub use shared::dynamic_shared_bytes;
pub use shuffle::{broadcast, broadcast_first, shuffle};

use crate::{convert, targets::Target};
use melior::{dialect::DialectHandle, ir::ValueLike};
use qd_dialects::{
    attributes::{Kind, names},
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    interfaces::accessed,
    ir::{Op, OpExt, Value, bit_width, element_type, is_float, operations},
    melior,
    ops::{self, grid, simt},
};

/// What conversions depend on besides the op.
pub struct Setting<'t> {
    /// What the vendor does its own way.
    pub hooks: &'static Hooks,
    /// What the bodies are to run on.
    pub target: &'t Target,
    /// Lanes in a subgroup.
    pub wave: i64,
    /// Whether there may be atomics in the body that become loops, which compare and swap until that holds.
    pub has_swaps: bool,
}

/// What an op becomes at the builder's insertion point: its results.
pub type Conversion = for<'c> fn(&Builder<'c>, Op<'c>, &Setting<'_>) -> Result<'c, Vec<Value<'c>>>;

/// The conversions of ops that every target has, one line each, besides the classes of floats.
/// `qd.simt.block.shared` is made with its kernel, and what not every target has is among the
/// vendor's forms.
const CONVERSIONS: &[(&str, Conversion)] = &[
    (simt::LaneId::NAME, ids::lane_id),
    (simt::SubgroupId::NAME, ids::subgroup_id),
    (simt::BlockId::NAME, ids::block_id),
    (simt::BlockDim::NAME, ids::block_dim),
    (simt::NumSubgroups::NAME, ids::num_subgroups),
    (simt::BlockThreadId::NAME, ids::thread_id),
    (simt::GridDim::NAME, ids::grid_dim),
    (simt::Sync::NAME, ordered::subgroup_sync),
    (simt::MemFence::NAME, ordered::block_fence),
    (simt::BlockSync::NAME, ordered::block_sync),
    (simt::BlockMemFence::NAME, ordered::block_fence),
    (grid::MemFence::NAME, ordered::device_fence),
    (grid::View::NAME, ordered::view),
    (grid::AtomicRmw::NAME, ordered::atomic_rmw),
    (grid::AtomicLoad::NAME, ordered::atomic_load),
    (grid::AtomicStore::NAME, ordered::atomic_store),
    (grid::AtomicExchange::NAME, ordered::atomic_exchange),
    (grid::AtomicCas::NAME, ordered::atomic_cas),
    (simt::Pause::NAME, hints::pause),
    ("memref.dim", extent::extent),
    ("memref.prefetch", hints::prefetch),
    ("memref.alloca", private::alloca),
];

/// The dialects that conversions make, besides the vendor's.
pub fn dialects() -> Vec<DialectHandle> {
    vec![
        DialectHandle::arith(),
        DialectHandle::llvm(),
        DialectHandle::memref(),
        DialectHandle::scf(),
    ]
}

/// Makes kernels of a module's bodies.
///
/// # Errors
///
/// See the module.
pub fn convert<'c>(module: Op<'c>, target: &Target, hooks: &'static Hooks) -> Result<'c> {
    convert::erase_kernels(module);
    let block = module.body().expect("a module's body");
    for op in operations(block) {
        let setting = Setting {
            hooks,
            target,
            wave: subgroup_size(op, target)?,
            has_swaps: op.nested().into_iter().any(may_swap),
        };
        let root = match is_body(op) {
            true => {
                convert::check_arguments(op)?;
                kernel::convert(op, &setting)?
            }
            false => op,
        };
        convert_ops(root, &setting)?;
    }
    Ok(())
}

fn is_body(op: Op<'_>) -> bool {
    op.is("func.func") && op.attr(names::THREADS).is_some()
}

/// The subgroup size that ops in one of a module's ops are for.
fn subgroup_size<'c>(op: Op<'c>, target: &Target) -> Result<'c, i64> {
    let is_ours = |op: &Op<'c>| op.full_name().starts_with(ops::PREFIX);
    match *target.capabilities.waves {
        // Then a body alone has to say it.
        [only] if !is_body(op) => Ok(only.into()),
        _ if is_body(op) || op.nested().iter().any(is_ours) => convert::subgroup_size(op, target),
        // Nothing in it asks.
        _ => Ok(0),
    }
}

/// Whether an op may become a loop that compares and swaps, or be part of one; a function that is called may have one.
fn may_swap(op: Op<'_>) -> bool {
    let name = op.full_name();
    let is_native = || {
        let kind = op.attr("kind").and_then(Kind::of);
        let memory = accessed(op).and_then(|at| element_type(op.operand_values()[at].r#type()));
        let is_word = |element| !is_float(element) && bit_width(element) >= 32;
        memory.is_some_and(is_word) && kind.is_none_or(|kind| kind != Kind::Mul)
    };
    match name {
        grid::AtomicCas::NAME | "memref.atomic_rmw" | "func.call" => true,
        grid::AtomicRmw::NAME | grid::AtomicExchange::NAME => !is_native(),
        _ => false,
    }
}

/// Converts every op of ours below `root`.
fn convert_ops<'c>(root: Op<'c>, setting: &Setting<'_>) -> Result<'c> {
    for op in root.nested() {
        let name = op.full_name();
        let mut types = op.result_values().into_iter().map(|value| value.r#type());
        if let Some(wide) = types.find(|t| is_float(*t) && bit_width(*t) > 64) {
            let target = &setting.target.capabilities.name;
            return Err(Diagnostic::at(
                op,
                format!("computes in {wide}, which target '{target}' does not have"),
            ));
        }
        let builder = Builder::before(op);
        let named = CONVERSIONS.iter().find(|(known, _)| *known == name);
        let named = named.map(|(_, conversion)| conversion);
        let capabilities = &setting.target.capabilities;
        let form = capabilities.find(setting.hooks.forms, op, setting.wave);
        let conversion = form.or(named);
        let mut classes = convert::classes::CLASSES.iter();
        let class = classes.find(|(known, _)| *known == name);
        let results = match (conversion, class) {
            (Some(conversion), _) => conversion(&builder, op, setting)?,
            (None, Some((_, class))) => class(&builder, op)?,
            (None, None) => {
                convert::check(op, setting.wave, setting.target)?;
                continue;
            }
        };
        op.replace_with(&results);
    }
    Ok(())
}
