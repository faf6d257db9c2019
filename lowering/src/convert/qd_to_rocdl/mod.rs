//! `qd-convert-to-rocdl`: outlined bodies as ROCDL kernels.
//!
//! AMD's hooks for [`gpu_to_llvm`], which has the conversion. Runs after
//! `qd-select-subgroup-size` and `qd-expand-collectives`, with a `qd.wave` that the
//! architecture has.
//!
//! Before:
//! ```mlir
//! func.func private @k(%a: memref<?xf32>) attributes {qd.threads = 64 : i64, qd.wave = 32 : i64} {
//!   %t = qd.simt.block.thread_id
//!   ...
//! }
//! ```
//! After:
//! ```mlir
//! llvm.func @k(%a: !llvm.ptr<1>, %n: i64) attributes {rocdl.kernel, rocdl.flat_work_group_size = "64,64", qd.wave = 32 : i64} {
//!   %tid = rocdl.workitem.id.x : i32
//!   %t = arith.index_castui %tid : i32 to index
//!   ...
//! }
//! ```

mod dpp;
mod forms;
mod intrinsic;
mod kernel;
mod ordered;
mod registers;
mod scan;
mod shuffle;

use crate::{
    convert::gpu_to_llvm::{self, AddressSpaces, Hooks},
    targets::{
        Kind, Target,
        amdgpu::{Architecture, MAX_SHARED_BYTES},
        isa::Form,
    },
};
use melior::dialect::DialectHandle;
use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    ir::Op,
    melior, options,
    pass::Pass,
};

options! {
    /// Options of `qd-convert-to-rocdl`.
    pub struct ConvertToRocdlOptions {
        /// the architecture, such as gfx942
        arch: String = "gfx1100",
    }
}

/// The pass.
pub struct ConvertToRocdl;

/// AMD's GPUs for graphics.
const RDNA: Hooks = Hooks {
    spaces: AddressSpaces {
        global: 1,
        shared: 3,
        private: 5,
    },
    scopes: ordered::RDNA,
    max_static_shared_bytes: MAX_SHARED_BYTES as u64,
    // ELF has no rules.
    refuses_name: |_| None,
    kernel_attributes: kernel::attributes,
    register: registers::register,
    keeps_own: false,
    shuffle: shuffle::move_word,
    ballot: registers::ballot,
    subgroup_barrier: ordered::subgroup_barrier,
    block_barrier: ordered::block_barrier,
    pause: ordered::pause,
    // Before gfx1250 there is none of a lane's own address.
    prefetch: |_| None,
    forms: forms::FORMS,
};

/// Those for computing.
const CDNA: Hooks = Hooks {
    scopes: ordered::CDNA,
    ..RDNA
};

/// What AMD's targets have.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    forms::FORMS
        .iter()
        .map(|(form, _)| form)
        .chain(forms::FUNCTIONS)
}

/// The architecture of a target of AMD's.
fn architecture(target: &Target) -> &'static Architecture {
    match target.capabilities.kind {
        Kind::Amdgpu(architecture) => architecture,
        _ => unreachable!("the pass reads its option as an architecture of AMD's"),
    }
}

impl Pass for ConvertToRocdl {
    type Options = ConvertToRocdlOptions;
    const NAME: &'static str = "qd-convert-to-rocdl";
    const SUMMARY: &'static str = "Turn outlined bodies into ROCDL kernels";

    fn dialects() -> Vec<DialectHandle> {
        // Safety: a static handle of the C API.
        let rocdl = unsafe { DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__rocdl__()) };
        [gpu_to_llvm::dialects(), vec![rocdl]].concat()
    }

    fn run<'c>(module: Op<'c>, options: &ConvertToRocdlOptions) -> Result<'c> {
        let target = Target::parse(&format!("amdgpu:{}", options.arch))
            .map_err(|message| Diagnostic::at(module, message))?;
        let hooks = match architecture(&target).is_rdna {
            true => &RDNA,
            false => &CDNA,
        };
        gpu_to_llvm::convert(module, &target, hooks)
    }
}

/// Bytes of shared memory that a launch of a body at the subgroup level has to ask for.
///
/// # Errors
///
/// Its arrays do not fit the target.
pub fn dynamic_shared_bytes<'c>(body: Op<'c>, target: &Target) -> Result<'c, u32> {
    gpu_to_llvm::dynamic_shared_bytes(body, target, &RDNA)
}
