//! Errors with a location: a pass's result and MLIR's diagnostics. And remarks,
//! which do not fail a pass.

use crate::ir::Op;
use melior::{StringRef, ir::Location};
use mlir_sys::{MlirDiagnosticSeverity, MlirLocation, MlirStringRef};

/// An error at a location in the IR, with notes at others.
///
/// A pass returns it. A warning or a remark, which does not make the pass fail,
/// is [emitted](Self::emit) by the pass itself.
#[derive(Debug)]
pub struct Diagnostic<'c> {
    severity: MlirDiagnosticSeverity,
    location: Location<'c>,
    message: String,
    notes: Vec<(Location<'c>, String)>,
}

/// The result of a pass or a rewrite.
pub type Result<'c, T = ()> = std::result::Result<T, Diagnostic<'c>>;

impl<'c> Diagnostic<'c> {
    /// An error at a location.
    pub fn new(location: Location<'c>, message: impl Into<String>) -> Self {
        Self {
            severity: mlir_sys::MlirDiagnosticSeverity_MlirDiagnosticError,
            location,
            message: message.into(),
            notes: Vec::new(),
        }
    }

    /// An error at an operation, worded as verifiers word theirs:
    /// `'qd.grid.phase' op …`.
    pub fn at(op: Op<'c>, message: impl AsRef<str>) -> Self {
        use crate::ir::OpExt;
        Self::new(
            op.location(),
            format!("'{}' op {}", op.full_name(), message.as_ref()),
        )
    }

    /// A warning at an operation, worded as [`at`](Self::at) words errors.
    pub fn warning(op: Op<'c>, message: impl AsRef<str>) -> Self {
        Self {
            severity: mlir_sys::MlirDiagnosticSeverity_MlirDiagnosticWarning,
            ..Self::at(op, message)
        }
    }

    /// A remark at an operation: information, not a problem.
    pub fn remark(op: Op<'c>, message: impl Into<String>) -> Self {
        Self {
            severity: mlir_sys::MlirDiagnosticSeverity_MlirDiagnosticRemark,
            ..Self::new(op.location(), message)
        }
    }

    /// Adds a note.
    pub fn note(mut self, location: Location<'c>, message: impl Into<String>) -> Self {
        self.notes.push((location, message.into()));
        self
    }

    /// The message without location and notes.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Passes it to the context's diagnostic handlers.
    pub fn emit(self) {
        let text = |s: &str| MlirStringRef {
            data: s.as_ptr().cast(),
            length: s.len(),
        };
        let locations: Vec<MlirLocation> = self.notes.iter().map(|(l, _)| l.to_raw()).collect();
        let notes: Vec<MlirStringRef> = self.notes.iter().map(|(_, n)| text(n)).collect();
        // Safety: all strings outlive the call.
        unsafe {
            qd_sys::qdEmit(
                self.location.to_raw(),
                self.severity,
                StringRef::new(&self.message).to_raw(),
                notes.len() as isize,
                locations.as_ptr(),
                notes.as_ptr(),
            );
        }
    }
}
