//! The library's API: compile kernels and run them from your own code.
//!
//! ```no_run
//! use qd_frontend::{
//!     Program, args,
//!     objects::{Buffer, Priority},
//! };
//!
//! let program = Program::compile(
//!     "qd.grid.kernel @double(%a: memref<?xi32>) {
//!        %zero = arith.constant 0 : index
//!        %n = memref.dim %a, %zero : memref<?xi32>
//!        qd.grid.for_each %i to %n {
//!          %x = memref.load %a[%i] : memref<?xi32>
//!          %y = arith.addi %x, %x : i32
//!          memref.store %y, %a[%i] : memref<?xi32>
//!        }
//!      }",
//!     "cpu",
//! )?;
//! let stream = program.device().stream(Priority::Normal)?;
//! let a = Buffer::from_slice(&stream, &[1, 2, 3])?;
//! program.kernel("double")?.launch(&stream, &args![&a])?;
//! assert_eq!(a.to_vec::<i32>(&stream)?, [2, 4, 6]);
//! # Ok::<(), qd_frontend::Error>(())
//! ```
//!
//! [`Program`] is the short way. The long way takes a [`CompileRequest`], which determines the
//! output completely, and yields an [`Artifact`] for one or several targets, or [`Diagnostics`]:
//!
//! ```
//! use qd_frontend::{CompileRequest, Severity, Source, Stage, compile};
//!
//! let mut request = CompileRequest {
//!     source: Source::text("k.mlir", "qd.grid.kernel @k() {}"),
//!     targets: vec!["nvptx:sm_90".parse()?, "cpu,wave=8".parse()?],
//!     ..CompileRequest::default()
//! };
//! let artifact = compile(&request)?;
//! assert_eq!(artifact.targets, ["nvptx:sm_90", "cpu,wave=8"]);
//!
//! request.source = Source::text("k.mlir", "qd.grid.kernel @k() { nonsense }");
//! let errors = compile(&request).expect_err("nonsense is no operation");
//! assert_eq!(errors.len(), 1);
//! assert_eq!((errors[0].severity, errors[0].stage), (Severity::Error, Stage::Parse));
//! assert_eq!(errors[0].at.as_ref().map(|at| (at.line, at.column)), Some((1, 23)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A frontend of your own needs no text: [`build`] gives it the kernel [`builder`], and
//! `docs/how-to/embed.md` shows how.
//!
//! A [`session`] recompiles only what an edit changed, and [`compile_stored`] only what no process
//! has compiled before.
//!
//! `libqd.so` is the same for C: `docs/how-to/use-from-c.md`.

mod build;
#[cfg(test)]
mod cut_tests;
mod diagnostic;
pub mod ir;
mod parsed;
mod request;
pub mod session;
mod source;
mod stored;
mod units;

use ir::Context;
use objects::{Device, DeviceId, DeviceOptions, Executable, Kernel, Opening};
use std::sync::Once;

pub use build::build;
pub use diagnostic::{Diagnostic, Diagnostics, Stage};
pub use parsed::Parsed;
pub use qd_artifact::{
    Access, Argument, ArgumentKind, Artifact, Dtype, Format, Host, Machine,
    Options as CompileOptions, Role, TargetError, TargetSpec,
};
pub use qd_dialects::{
    builder,
    report::{Note, Severity, Span},
};
/// What was selected, as a page.
pub use qd_lowering::select::page as explanations;
pub use qd_lowering::{
    Emit, draw,
    pipelines::{LEVELS, Level},
    this_machine,
};
pub use qd_request::{ModuleBytes, Source, find_stored, keep_valid, kernel_names};
pub use qd_runtime::{Element, Scalar, args, dispatch, objects};
pub use qd_store as store;
pub use request::{CompileRequest, check_targets, compile, compile_text, compile_with};
pub use source::module_bytes;
pub use stored::{CompileProgress, compile_stored, find_or_build};
pub use units::{Unit, units};

/// Why a program could not be compiled or run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The compiler's diagnostics.
    #[error(transparent)]
    Compile(#[from] Diagnostics),
    /// The runtime's error.
    #[error(transparent)]
    Run(#[from] qd_runtime::Error),
}

/// Makes every dialect, pass and pipeline known, those of MLIR and ours. Does so once a process,
/// however often it is called; a [`context`] needs no call.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        qd_dialects::melior::utility::register_all_passes();
        qd_lowering::register();
    });
}

/// A context with all that modules may name and pipelines use, every dialect loaded: operations of
/// all of them can be built. That takes 5 ms; [`lazy_context`] is for those who only read.
pub fn context() -> Context {
    let context = lazy_context();
    context.load_all_available_dialects();
    context
}

/// As [`context`], but that each dialect is loaded when a text or bytecode that is read is first
/// found to have it.
pub fn lazy_context() -> Context {
    register();
    qd_dialects::context()
}

/// Opens the first device that runs what is compiled for a target, as `--target=` spells it.
///
/// # Errors
///
/// There is none.
pub fn open(target: &str) -> Result<Device, Error> {
    let id = DeviceId::for_target(target)?;
    Ok(Device::open(&id, &DeviceOptions::default())?)
}

/// A compiled module on a device.
pub struct Program {
    device: Device,
    executable: Executable,
}

impl Program {
    /// Compiles a module in text for a target, as `--target=` spells it, and loads it onto the
    /// first device that runs it. It is compiled while the device is opened.
    ///
    /// # Errors
    ///
    /// The text is malformed, the target unknown or without a device, or a pass
    /// rejects the module.
    pub fn compile(source: &str, target: &str) -> Result<Self, Error> {
        let id = DeviceId::for_target(target)?;
        let target = target.parse().map_err(Diagnostics::from)?;
        let opening = Opening::begin(id, DeviceOptions::default());
        let (target, opening) = opening.resolve(&target)?;
        let artifact = compile(&CompileRequest::of_text(source, target))?;
        let device = opening.wait()?;
        let executable = device.load(&artifact)?;
        Ok(Self { device, executable })
    }

    /// The device that it is on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A kernel by name.
    ///
    /// # Errors
    ///
    /// There is none: the message lists those there are.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        Ok(self.executable.kernel(name)?)
    }
}

#[cfg(test)]
mod tests;
