//! The library's entrance: compile kernels and run them from your own code.
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
//! What is not here yet: sessions that recompile only what an edit changed, and
//! bindings for C and Python.

use objects::{Device, DeviceId, DeviceOptions, Executable, Kernel};
use qd_dialects::parse;
use std::sync::{Arc, Mutex, Once, PoisonError};

pub use qd_artifact::{Argument, ArgumentKind, Artifact, Dtype};
pub use qd_dialects::builder;
pub use qd_runtime::{Element, Scalar, args, objects};

/// Why a program could not be compiled or run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the compiler had to say, one line each: `line:column: message`.
    #[error("{0}")]
    Compile(String),
    /// What the runtime had to say.
    #[error(transparent)]
    Run(#[from] qd_runtime::Error),
}

/// Compiles a module in text for a target, as `--target=` spells it.
///
/// # Errors
///
/// The text is malformed, the target unknown, or a pass
/// rejects the module.
pub fn compile(source: &str, target: &str) -> Result<Artifact, Error> {
    register();
    let context = qd_dialects::context();
    let said = Arc::new(Mutex::new(Vec::new()));
    let log = said.clone();
    context.attach_diagnostic_handler(move |diagnostic| {
        let text = format!("{}: {}", diagnostic.location(), parse::message(&diagnostic));
        log.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(text);
        true
    });
    let failed = |error: String| {
        let mut lines = said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        lines.push(error);
        Error::Compile(lines.join("\n"))
    };
    let mut module = parse::parse_bytes(&context, source.as_bytes())
        .ok_or_else(|| failed("the module does not parse".into()))?;
    qd_lowering::compile(&mut module, target).map_err(|error| failed(error.to_string()))
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
    /// first device that runs it.
    ///
    /// # Errors
    ///
    /// The text is malformed, the target unknown or without a device, or a pass
    /// rejects the module.
    pub fn compile(source: &str, target: &str) -> Result<Self, Error> {
        let device = open(target)?;
        let executable = device.load(&compile(source, &device.resolve(target))?)?;
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

/// Passes are registered once a process.
fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        qd_dialects::melior::utility::register_all_passes();
        qd_passes::register();
        qd_lowering::register();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_where() {
        let Err(error) = Program::compile("func.func @f() {\n  %x = nonsense\n}", "cpu") else {
            panic!("nonsense compiled");
        };
        let text = error.to_string();
        assert!(text.contains(":2:"), "{text}");
    }

    #[test]
    fn unknown_targets_are_errors() {
        let Err(error) = Program::compile("module {}", "abacus") else {
            panic!("there is no such target");
        };
        assert!(error.to_string().contains("abacus"), "{error}");
    }
}
