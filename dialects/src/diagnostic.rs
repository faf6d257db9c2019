//! Errors with a location: what a pass returns and what MLIR prints.

use crate::ir::Op;
use melior::{StringRef, ir::Location, ir::operation::OperationLike};
use mlir_sys::{MlirLocation, MlirStringRef};

/// An error at a place in the IR, with notes at others.
#[derive(Debug)]
pub struct Diagnostic<'c> {
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

    /// Adds a note.
    pub fn note(mut self, location: Location<'c>, message: impl Into<String>) -> Self {
        self.notes.push((location, message.into()));
        self
    }

    /// The message without location and notes.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Hands the error to the context's diagnostic handlers.
    pub fn emit(self) {
        let text = |s: &str| MlirStringRef {
            data: s.as_ptr().cast(),
            length: s.len(),
        };
        let locations: Vec<MlirLocation> = self.notes.iter().map(|(l, _)| l.to_raw()).collect();
        let notes: Vec<MlirStringRef> = self.notes.iter().map(|(_, n)| text(n)).collect();
        // Safety: all strings outlive the call.
        unsafe {
            qd_sys::qdEmitError(
                self.location.to_raw(),
                StringRef::new(&self.message).to_raw(),
                notes.len() as isize,
                locations.as_ptr(),
                notes.as_ptr(),
            );
        }
    }
}
