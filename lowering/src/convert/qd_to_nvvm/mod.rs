//! `qd-convert-to-nvvm`: outlined bodies as NVVM kernels.
//!
//! NVIDIA's hooks for [`gpu_to_llvm`], which has the conversion. Runs after
//! `qd-select-subgroup-size` and `qd-expand-collectives`, with `qd.wave = 32`.
//!
//! All lanes of a subgroup reach a collective, which `qd-verify-convergence` has
//! checked: every member mask is full, under subgroup-uniform branches as well.
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

mod forms;
mod hints;
mod kernel;
mod ordered;
mod registers;
mod shuffle;
mod vote;

use crate::{
    convert::gpu_to_llvm::{self, AddressSpaces, Hooks},
    targets::{Target, isa::Form},
};
use melior::dialect::DialectHandle;
use qd_dialects::{
    diagnostic::{Diagnostic, Result},
    ir::Op,
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

/// NVIDIA's GPUs.
const NVVM: Hooks = Hooks {
    // An `alloca` yields generic pointers.
    spaces: AddressSpaces {
        global: 1,
        shared: 3,
        private: 0,
    },
    scopes: ordered::SCOPES,
    // PTX does not assemble more, on no device.
    max_static_shared_bytes: 48 << 10,
    refuses_name: kernel::refuses_name,
    kernel_attributes: kernel::attributes,
    register: registers::register,
    keeps_own: true,
    shuffle: shuffle::move_word,
    ballot: vote::ballot,
    subgroup_barrier: ordered::subgroup_barrier,
    block_barrier: ordered::block_barrier,
    pause: hints::pause,
    prefetch: hints::prefetch,
    forms: forms::FORMS,
};

/// What NVIDIA's targets have.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    forms::FORMS
        .iter()
        .map(|(form, _)| form)
        .chain(forms::FUNCTIONS)
}

impl Pass for ConvertToNvvm {
    type Options = ConvertToNvvmOptions;
    const NAME: &'static str = "qd-convert-to-nvvm";
    const SUMMARY: &'static str = "Turn outlined bodies into NVVM kernels";

    fn dialects() -> Vec<DialectHandle> {
        // Safety: a static handle of the C API.
        let nvvm = unsafe { DialectHandle::from_raw(mlir_sys::mlirGetDialectHandle__nvvm__()) };
        [gpu_to_llvm::dialects(), vec![nvvm]].concat()
    }

    fn run<'c>(module: Op<'c>, options: &ConvertToNvvmOptions) -> Result<'c> {
        let target = Target::parse(&format!("nvptx:{}", options.arch))
            .map_err(|message| Diagnostic::at(module, message))?;
        gpu_to_llvm::convert(module, &target, &NVVM)
    }
}

/// Bytes of shared memory that a launch of a body at the subgroup level has to ask for.
///
/// # Errors
///
/// Its arrays do not fit the target.
pub fn dynamic_shared_bytes<'c>(body: Op<'c>, target: &Target) -> Result<'c, u32> {
    gpu_to_llvm::dynamic_shared_bytes(body, target, &NVVM)
}
