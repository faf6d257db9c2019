//! `qd-convert-to-nvvm`: outlined bodies as NVVM kernels.
//!
//! After `qd-select-subgroup-size` and `qd-expand-collectives`, with `qd.wave = 32`. Each
//! outlined body becomes an `llvm.func` with `nvvm.kernel` and its block size
//! (`kernel.rs` has the ABI, `shared.rs` the shared arrays), and every op of ours in it one or a few of `nvvm`
//! and `llvm`, by the table below. What is not ours is left to upstream's
//! conversions.
//!
//! All lanes of a subgroup are there at a collective, which
//! `qd-verify-convergence` has made sure of: every mask of members is full,
//! under subgroup-uniform branches as well.
//!
//! Memrefs become descriptors of generic pointers, made by casts from the
//! global and shared address spaces: LLVM follows pointers through branches and
//! loops and infers the space of each access.
//!
//! Errors: an op that is not in the table; a subgroup that is not of 32; more
//! shared memory than the target has; a name that PTX cannot spell.
//!
//! Before:
//! ```mlir
//! func.func private @k(%a: memref<?xf32>) attributes {qd.threads = 64 : i64} {
//!   %t = qd.simt.block.thread_id
//!   ...
//! }
//! ```
//! After:
//! ```mlir
//! llvm.func @k(%a: !llvm.ptr<1> {llvm.noalias}, %n: i64) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
//!   %tid = nvvm.read.ptx.sreg.tid.x : i32
//!   %t = arith.index_castui %tid : i32 to index
//!   ...
//! }
//! ```

mod hints;
mod identity;
mod kernel;
mod math;
mod ordered;
mod private;
mod shared;
mod shuffle;
mod vote;

pub use shared::dynamic_shared_bytes;

use crate::{convert, targets::Target};
use melior::{dialect::DialectHandle, ir::ValueLike};
use qd_dialects::{
    builder::Builder,
    diagnostic::{Diagnostic, Result},
    ir::{Op, OpExt, Value, bit_width, is_float, operations},
    melior, options,
    pass::Pass,
};

options! {
    /// Options of `qd-convert-to-nvvm`.
    pub struct ConvertToNvvmOptions {
        /// the virtual architecture, such as sm_90
        arch: String = "sm_80",
    }
}

/// The pass.
pub struct ConvertToNvvm;

/// Lanes in a warp.
const WARP: i64 = 32;

/// What an op becomes at the builder's insertion point: its results.
type Conversion = for<'c> fn(&Builder<'c>, Op<'c>) -> Result<'c, Vec<Value<'c>>>;

/// Every op that has a conversion, one line each, besides the classes of floats.
/// `qd.simt.block.shared` is made with its kernel.
const CONVERSIONS: &[(&str, Conversion)] = &[
    ("qd.simt.lane_id", identity::lane_id),
    ("qd.simt.subgroup_id", identity::subgroup_id),
    ("qd.simt.block.id", identity::block_id),
    ("qd.simt.block.dim", identity::block_dim),
    ("qd.simt.num_subgroups", identity::num_subgroups),
    ("qd.simt.block.thread_id", identity::thread_id),
    ("qd.simt.grid.dim", identity::grid_dim),
    ("qd.simt.elect", identity::elect),
    ("qd.simt.shuffle", shuffle::shuffle),
    ("qd.simt.broadcast", shuffle::broadcast),
    ("qd.simt.broadcast_first", shuffle::broadcast_first),
    ("qd.simt.all", vote::all),
    ("qd.simt.any", vote::any),
    ("qd.simt.ballot", vote::ballot),
    ("qd.simt.match_any", vote::match_any),
    ("qd.simt.reduce", vote::reduce),
    ("qd.simt.reduce_all", vote::reduce),
    ("qd.simt.sync", ordered::subgroup_sync),
    ("qd.simt.mem_fence", ordered::block_fence),
    ("qd.simt.block.sync", ordered::block_sync),
    ("qd.simt.block.mem_fence", ordered::block_fence),
    ("qd.grid.mem_fence", ordered::device_fence),
    ("qd.grid.view", ordered::view),
    ("qd.grid.atomic.rmw", ordered::atomic_rmw),
    ("qd.grid.atomic.load", ordered::atomic_load),
    ("qd.grid.atomic.store", ordered::atomic_store),
    ("qd.grid.atomic.cas", ordered::atomic_cas),
    ("qd.simt.pause", hints::pause),
    ("memref.prefetch", hints::prefetch),
    ("memref.alloca", private::alloca),
    ("cf.assert", ordered::assert),
];

impl Pass for ConvertToNvvm {
    type Options = ConvertToNvvmOptions;
    const NAME: &'static str = "qd-convert-to-nvvm";
    const SUMMARY: &'static str = "Turn outlined bodies into NVVM kernels";

    fn dialects() -> Vec<DialectHandle> {
        vec![
            DialectHandle::arith(),
            DialectHandle::llvm(),
            DialectHandle::memref(),
            // Safety: a static handle of the C API.
            unsafe { DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__nvvm__()) },
            DialectHandle::scf(),
        ]
    }

    fn run<'c>(module: Op<'c>, options: &ConvertToNvvmOptions) -> Result<'c> {
        let target = Target::parse(&format!("nvptx:{}", options.arch))
            .map_err(|message| Diagnostic::at(module, message))?;
        convert::subgroup_size(module, &target)?;
        convert::erase_kernels(module);
        let block = module.body().expect("a module's body");
        for op in operations(block) {
            if op.is("func.func") && op.attr("qd.threads").is_some() {
                let kernel = kernel::convert(op, &target)?;
                convert_ops(kernel, &target)?;
            } else {
                convert_ops(op, &target)?;
            }
        }
        Ok(())
    }
}

/// Converts every op of ours below `root`.
fn convert_ops<'c>(root: Op<'c>, target: &Target) -> Result<'c> {
    for op in root.nested() {
        let name = op.full_name();
        if name == "memref.prefetch" && !hints::has_prefetch(target) {
            op.erase();
            continue;
        }
        let mut types = op.result_values().into_iter().map(|value| value.r#type());
        if let Some(wide) = types.find(|t| is_float(*t) && bit_width(*t) > 64) {
            let target = &target.capabilities.name;
            return Err(Diagnostic::at(
                op,
                format!("computes in {wide}, which target '{target}' does not have"),
            ));
        }
        let conversion = CONVERSIONS
            .iter()
            .chain(convert::classes::CLASSES)
            .find(|(known, _)| *known == name);
        if let Some((_, conversion)) = conversion {
            let results = conversion(&Builder::before(op), op)?;
            op.replace_with(&results);
        } else if name.starts_with("qd.") {
            return Err(convert::lacks(op, target));
        } else {
            math::check(op, target)?;
        }
    }
    Ok(())
}
