//! The library's entrance: compile kernels and run them from your own code.
//!
//! ```no_run
//! use qd_frontend::{Argument, Buffer, Program};
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
//! let mut arguments = [Argument::Buffer(Buffer::from_slice(&[1, 2, 3])?)];
//! program.run("double", &mut arguments)?;
//! assert_eq!(arguments[0].as_buffer().unwrap().as_slice::<i32>(), [2, 4, 6]);
//! # Ok::<(), qd_frontend::Error>(())
//! ```
//!
//! What is not here yet: sessions that recompile only what an edit changed, and
//! bindings for C and Python.

use qd_dialects::parse;
use std::sync::{Arc, Mutex, Once, PoisonError};

pub use qd_artifact::{Artifact, Dtype};
pub use qd_dialects::builder;
pub use qd_runtime::{Argument, Buffer, Element, Loaded, Options, Prepared, Scalar, Timing};
pub use qd_runtime::{args, objects};

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

/// A compiled module, ready to run.
pub struct Program {
    loaded: Box<dyn Loaded>,
}

impl Program {
    /// Compiles a module in text for a target, as `--target=` spells it, and loads it.
    ///
    /// # Errors
    ///
    /// The text is malformed, the target unknown or without a driver, or a pass
    /// rejects the module.
    pub fn compile(source: &str, target: &str) -> Result<Self, Error> {
        let target = &*qd_runtime::resolve(target)?;
        let loaded = qd_runtime::driver(target)?.load(&compile(source, target)?)?;
        Ok(Self { loaded })
    }

    /// Runs a kernel to its end; its results are in the buffers.
    ///
    /// # Errors
    ///
    /// There is no such kernel, or the arguments are not what it takes.
    pub fn run(&self, kernel: &str, arguments: &mut [Argument]) -> Result<Timing, Error> {
        self.run_with(kernel, arguments, &Options::default())
    }

    /// Takes a kernel's arguments to the device, to run it on them as often as
    /// one likes.
    ///
    /// # Errors
    ///
    /// As [`Program::run`], or the device has no room for them.
    pub fn prepare<'a>(
        &'a self,
        kernel: &str,
        arguments: &[Argument],
        options: &Options,
    ) -> Result<Box<dyn Prepared + 'a>, Error> {
        Ok(self.loaded.prepare(kernel, arguments, options)?)
    }

    /// As [`Program::run`], with options.
    ///
    /// # Errors
    ///
    /// As [`Program::run`].
    pub fn run_with(
        &self,
        kernel: &str,
        arguments: &mut [Argument],
        options: &Options,
    ) -> Result<Timing, Error> {
        Ok(self.loaded.run(kernel, arguments, options)?)
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
